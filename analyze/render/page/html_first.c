#include "analyze/render/page/html_internal.h"

#include "analyze/render/page/chart.h"
#include "analyze/render/report/headline.h"
#include "analyze/render/report/run.h"
#include "analyze/summary/model/role.h"
#include "analyze/write/html.h"
#include "libcommon/units.h"

#include <string.h>

#define FIRST_SHOWN 3 /* findings, or all problems up to twice as many; others are a click away */

/* ---- What happened ---- */

static size_t operation_of(const struct html_course *c, const char *op)
{
    for (size_t k = 0; op != NULL && k < c->a->n_operations; k++)
        if (strcmp(c->a->operations[k].op, op) == 0)
            return k;
    return c->main >= 0 ? (size_t)c->main : 0;
}

/* Writes a link to the table that shows a finding, in the section of its operation. */
static void put_place(FILE *f, const struct finding *x, const struct html_course *c)
{
    size_t k = operation_of(c, x->op);
    const struct operation *op = k < c->a->n_operations ? &c->a->operations[k] : NULL;
    enum finding_table table = x->kind->table;

    if (op == NULL || !c->shown[k] || op->n_requests == 0)
        return;
    if (x->scope == SCOPE_HOST && x->kind->is_slowness &&
        html_page_has_chart(c->charts, "host-latency", op->op))
        fprintf(f, " <a href=\"#op%zu-chart-host-latency\">latency by host</a>", k);
    if ((x->scope == SCOPE_HOST || table == FINDING_IN_HOSTS) && op->n_host_results > 0)
        fprintf(f, " <a href=\"#op%zu-throughput-by-host\">hosts</a>", k);
    else if (x->scope == SCOPE_CLIENT && op->n_client_results > 0)
        fprintf(f, " <a href=\"#op%zu-throughput-by-client\">clients</a>", k);
    else if (table == FINDING_IN_ERRORS && op->n_error_groups > 0)
        fprintf(f, " <a href=\"#op%zu-errors\">errors</a>", k);
    else
        fprintf(f, " <a href=\"#op%zu\">figures</a>", k);
}

static void put_finding(FILE *f, const struct html_course *c, size_t i)
{
    const struct finding *x = &c->a->findings.v[i];
    const char *op = headline_op(x);

    fprintf(f, "<li id=\"finding%zu\"><strong>%s</strong>: ", i + 1, headline_severity(x));
    html_textf(f, "%s%s", op, *op != '\0' ? ": " : "");
    html_text(f, x->sentence);
    for (size_t k = 0; k < x->n_because; k++)
        fprintf(f, "%s<a href=\"#finding%zu\">%zu</a>", k == 0 ? " \xe2\x80\x93 because of " : ", ",
                x->because[k] + 1, x->because[k] + 1);
    fputs(" <small>", f);
    if (html_timeline_marks(c, i))
        fprintf(f, " <a href=\"#timeline\">timeline&nbsp;%zu</a>", i + 1);
    put_place(f, x, c);
    fputs("</small></li>\n", f);
}

/* Writes the findings, worst first; many are folded away. */
static void put_findings(FILE *f, const struct html_course *c)
{
    const struct findings *all = &c->a->findings;
    size_t n = all->n, n_first = 0;

    while (n_first < n && (n_first < FIRST_SHOWN || (n_first < (size_t)2 * FIRST_SHOWN &&
                                                     all->v[n_first].severity == FINDING_PROBLEM)))
        n_first++;
    n_first += n == n_first + 1;
    if (n == 0)
        return;
    fputs("<ol class=\"findings\">\n", f);
    for (size_t i = 0; i < n_first; i++)
        put_finding(f, c, i);
    fputs("</ol>\n", f);
    if (n == n_first)
        return;
    fprintf(f, "<details><summary>%zu more</summary><ol class=\"findings\" start=\"%zu\">\n",
            n - n_first, n_first + 1);
    for (size_t i = n_first; i < n; i++)
        put_finding(f, c, i);
    fputs("</ol></details>\n", f);
}

/* ---- The operations ---- */

/* Callbacks of sheet_markup: write the name of operation k, which links to its section, and a small
 * drawing of its course, if it is shown. */

static void put_name(FILE *f, const void *ctx, size_t k)
{
    const struct html_course *c = ctx;

    if (c->shown[k])
        fprintf(f, "<a href=\"#op%zu\">", k);
    html_text(f, c->a->operations[k].op);
    fputs(c->shown[k] ? "</a>" : "", f);
}

static void put_spark(FILE *f, const void *ctx, size_t k)
{
    chart_spark(f, &((const struct html_course *)ctx)->ops[k]);
}

bool html_first(FILE *f, const struct html_course *c, struct err *e)
{
    const struct analysis *a = c->a;
    struct sheet s = {0};
    struct headline says;
    enum exit_code verdict = headline_verdict(a, &says);

    html_within(f, "<section id=\"first\">\n<p class=\"headline\">", headline(a).s, "</p>\n");
    sheet_verdict(&s, verdict, "%s.", says.s);
    bool ok = html_page_sheet(&s, f, "first", e);
    put_findings(f, c);
    if (c->n_shown < a->n_operations)
        sheet_line(
            &s, TEXT_PLAIN,
            "This page shows %zu of the %s operations in full: those with the most requests. "
            "For another one: s3analyze analyze --op NAME --html FILE.",
            c->n_shown, units_count((int64_t)a->n_operations).s);
    /* Of several operations the table comes first: a line each says more than their sum. */
    if (a->n_operations > 0 && c->main >= 0)
        html_timeline(f, c, c->main);
    if (a->n_operations > 0)
        run_sheet_summary(&s, a, &(struct run_sheet_page){put_name, put_spark, c});
    run_sheet_together(&s, &a->together);
    ok = html_page_sheet(&s, f, "first", e) && ok;
    if (a->n_operations > 0 && c->main < 0)
        html_timeline(f, c, c->main);
    fputs("</section>\n", f);
    return ok;
}
