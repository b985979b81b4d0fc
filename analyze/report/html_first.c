#include "analyze/report/html_internal.h"

#include "analyze/report/diagnosis.h"
#include "analyze/report/headline.h"
#include "analyze/report/html_timeline.h"
#include "analyze/report/page.h"
#include "analyze/report/run_sheet.h"
#include "analyze/write/html.h"
#include "libcommon/units.h"

#include <string.h>

#define FIRST_SHOWN 3 /* findings, or all problems up to twice as many; others are a click away */

/* ---- Can it be trusted ---- */

void html_trust(FILE *f, int64_t n, int64_t n_ok, const struct findings *all)
{
    const struct headline findings = headline_findings(all, n);

    if (n == 0)
        html_page_badge(f, HTML_PAGE_NONE, "There are no figures: there is no request to analyse.");
    else if (n_ok == 0)
        html_page_badge(f, HTML_PAGE_NONE, "There are no figures: no request succeeded. %s.",
                        findings.s);
    else if (findings_have_problem(all))
        html_page_badge(f, HTML_PAGE_POOR, "Read the findings before the figures. %s.", findings.s);
    else
        html_page_badge(f, HTML_PAGE_GOOD, "The figures can be taken as they are. %s.", findings.s);
}

/* Of successful requests what the page is about counts alone. */
static void put_trust(FILE *f, const struct analysis *a, const struct html_course *c)
{
    int64_t n = 0, n_ok = 0;

    for (size_t k = 0; k < a->n_operations; k++) {
        const struct operation *op = &a->operations[k];
        n += op->n_requests;
        n_ok += html_course_prepares(c, k) ? 0 : op->n_requests - op->n_errors;
    }
    html_trust(f, n, n_ok, &a->findings);
}

const char *html_statistics_doubt(const struct statistics *s)
{
    return s == NULL ? "" : diagnosis_doubt(s->by_objects ? &s->objects : &s->bytes);
}

/* ---- What happened ---- */

static size_t operation_of(const struct analysis *a, const struct html_course *c, const char *op)
{
    for (size_t k = 0; op != NULL && k < a->n_operations; k++)
        if (strcmp(a->operations[k].op, op) == 0)
            return k;
    return c->main >= 0 ? (size_t)c->main : 0;
}

struct run {
    const struct analysis *a;
    const struct html_course *c;
};

/* The table of its operation that shows a finding. */
static void put_place(FILE *f, const struct finding *x, const void *ctx)
{
    const struct run *run = ctx;
    const struct analysis *a = run->a;
    size_t k = operation_of(a, run->c, x->op);
    const struct operation *op = a->n_operations > 0 ? &a->operations[k] : NULL;

    if (op == NULL || op->n_requests == 0)
        return;
    if ((x->scope == SCOPE_HOST || strcmp(x->kind, "uneven-hosts") == 0) && op->n_host_results > 0)
        fprintf(f, " <a href=\"#op%zu-throughput-by-host\">hosts</a>", k);
    else if (x->scope == SCOPE_CLIENT && op->n_client_results > 0)
        fprintf(f, " <a href=\"#op%zu-throughput-by-client\">clients</a>", k);
    else if (strcmp(x->kind, "errors") == 0 && op->n_error_groups > 0)
        fprintf(f, " <a href=\"#op%zu-errors\">errors</a>", k);
    else
        fprintf(f, " <a href=\"#op%zu\">figures</a>", k);
}

static void put_finding(FILE *f, const struct html_findings *of, size_t i)
{
    const struct finding *x = &of->all->v[i];
    bool names_op = x->op != NULL && strstr(x->sentence, x->op) == NULL;

    fprintf(f, "<li id=\"finding%zu\"><strong>%s</strong>: ", i + 1, headline_severity(x));
    html_text(f, names_op ? x->op : "");
    html_text(f, names_op ? ": " : "");
    html_text(f, x->sentence);
    for (size_t k = 0; k < x->n_because; k++)
        fprintf(f, "%s<a href=\"#finding%zu\">%zu</a>", k == 0 ? " \xe2\x80\x93 because of " : ", ",
                x->because[k] + 1, x->because[k] + 1);
    fputs(" <small>", f);
    if (html_timeline_marks(of->timeline, of->all, i))
        fprintf(f, " <a href=\"#timeline\">timeline&nbsp;%zu</a>", i + 1);
    of->put_place(f, x, of->ctx);
    fputs("</small></li>\n", f);
}

void html_findings(FILE *f, const struct html_findings *of)
{
    size_t n = of->all->n, n_first = 0;

    while (n_first < n &&
           (n_first < FIRST_SHOWN ||
            (n_first < (size_t)2 * FIRST_SHOWN && of->all->v[n_first].severity == FINDING_PROBLEM)))
        n_first++;
    n_first += n == n_first + 1;
    if (n == 0)
        return;
    fputs("<ol class=\"findings\">\n", f);
    for (size_t i = 0; i < n_first; i++)
        put_finding(f, of, i);
    fputs("</ol>\n", f);
    if (n == n_first)
        return;
    fprintf(f, "<details><summary>%zu more</summary><ol class=\"findings\" start=\"%zu\">\n",
            n - n_first, n_first + 1);
    for (size_t i = n_first; i < n; i++)
        put_finding(f, of, i);
    fputs("</ol></details>\n", f);
}

/* ---- The operations ---- */

void html_course_name(FILE *f, const void *ctx, size_t k)
{
    const struct html_course *c = ctx;

    fprintf(f, "<a href=\"#op%zu\">", k);
    html_text(f, c->ops[k].op);
    fprintf(f, "</a>%s", html_course_prepares(c, k) ? " <small>before the benchmark</small>" : "");
}

void html_course_spark(FILE *f, const void *ctx, size_t k)
{
    html_timeline_spark(f, &((const struct html_course *)ctx)->ops[k]);
}

bool html_first(FILE *f, const struct analysis *a, const struct html_course *c, struct err *e)
{
    const struct run_sheet_page page = {html_course_name, html_course_spark, c, c->main >= 0};
    const struct run run = {a, c};
    struct sheet s = {0};

    fputs("<section id=\"first\">\n<p class=\"headline\">", f);
    html_text(f, headline(a).s);
    fputs("</p>\n", f);
    if (c->main >= 0 && *html_statistics_doubt(a->operations[c->main].statistics) != '\0')
        html_element(f, "p", "%s.", html_statistics_doubt(a->operations[c->main].statistics));
    put_trust(f, a, c);
    html_findings(f, &(struct html_findings){&a->findings, &c->all, put_place, &run});
    if (c->n_ops > 0) {
        html_timeline(f, &(struct html_timeline){&c->all, c->ops, c->n_ops, &a->findings, ""});
        run_sheet_summary(&s, a, &page);
    }
    bool ok = sheet_write_html(&s, f, "first", e);
    sheet_free(&s);
    fputs("</section>\n", f);
    return ok;
}
