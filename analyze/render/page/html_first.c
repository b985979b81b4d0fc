#include "analyze/render/page/html_internal.h"

#include "analyze/render/page/chart.h"
#include "analyze/render/page/page.h"
#include "analyze/render/report/headline.h"
#include "analyze/write/html.h"

#include <string.h>

#define FIRST_SHOWN 3 /* findings, or all problems up to twice as many; others are a click away */

/* ---- Can it be trusted ---- */

static void put_trust(FILE *f, const struct html_first *x)
{
    if (x->n == 0)
        html_page_badge(f, HTML_PAGE_NONE, "There are no figures: there is no request to analyse.");
    else if (x->n_ok == 0)
        html_page_badge(f, HTML_PAGE_NONE, "There are no figures: no request succeeded. %s.",
                        x->said.s);
    else if (!x->has_rate)
        html_page_badge(f, HTML_PAGE_NONE,
                        "There is no throughput: too few requests count for one. %s.", x->said.s);
    else if (findings_have_problem(x->findings))
        html_page_badge(f, HTML_PAGE_POOR, "Read the findings before the figures. %s.%s%s%s",
                        x->said.s, *x->doubt != '\0' ? " " : "", x->doubt,
                        *x->doubt != '\0' ? "." : "");
    else if (*x->doubt != '\0')
        html_page_badge(f, HTML_PAGE_POOR, "%s. %s.", x->doubt, x->said.s);
    else if (x->n < FINDING_LEAST_REQUESTS)
        html_page_badge(f, HTML_PAGE_POOR, "Mind that requests are few. %s.", x->said.s);
    else
        html_page_badge(f, HTML_PAGE_GOOD, "The figures can be taken as they are. %s.", x->said.s);
}

/* ---- What happened ---- */

static size_t operation_of(const struct html_course *c, const char *op)
{
    for (size_t k = 0; op != NULL && k < c->n_ops; k++)
        if (strcmp(c->ops[k].op, op) == 0)
            return k;
    return c->main >= 0 ? (size_t)c->main : 0;
}

/* Writes a link to the table that shows a finding, in the section of its operation. */
static void put_place(FILE *f, const struct finding *x, const struct html_course *c)
{
    size_t k = operation_of(c, x->op);
    const struct html_tables *has = k < c->n_ops ? &c->tables[k] : NULL;
    enum finding_table table = x->kind->table;

    if (has == NULL || !has->any)
        return;
    if (x->scope == SCOPE_HOST && x->kind->is_slowness && has->slow_hosts)
        fprintf(f, " <a href=\"#op%zu-chart-host-latency\">latency by host</a>", k);
    if ((x->scope == SCOPE_HOST || table == FINDING_IN_HOSTS) && has->hosts)
        fprintf(f, " <a href=\"#op%zu-throughput-by-host\">hosts</a>", k);
    else if (x->scope == SCOPE_CLIENT && has->clients)
        fprintf(f, " <a href=\"#op%zu-throughput-by-client\">clients</a>", k);
    else if (table == FINDING_IN_ERRORS && has->errors)
        fprintf(f, " <a href=\"#op%zu-errors\">errors</a>", k);
    else
        fprintf(f, " <a href=\"#op%zu\">figures</a>", k);
}

static void put_finding(FILE *f, const struct html_first *of, size_t i)
{
    const struct finding *x = &of->findings->v[i];
    const char *op = headline_op(x);

    fprintf(f, "<li id=\"finding%zu\"><strong>%s</strong>: ", i + 1, headline_severity(x));
    html_textf(f, "%s%s", op, *op != '\0' ? ": " : "");
    html_text(f, x->sentence);
    for (size_t k = 0; k < x->n_because; k++)
        fprintf(f, "%s<a href=\"#finding%zu\">%zu</a>", k == 0 ? " \xe2\x80\x93 because of " : ", ",
                x->because[k] + 1, x->because[k] + 1);
    fputs(" <small>", f);
    if (html_timeline_marks(&of->course->all, of->findings, i))
        fprintf(f, " <a href=\"#timeline\">timeline&nbsp;%zu</a>", i + 1);
    put_place(f, x, of->course);
    fputs("</small></li>\n", f);
}

/* Writes the findings, worst first; many are folded away. */
static void put_findings(FILE *f, const struct html_first *of)
{
    size_t n = of->findings->n, n_first = 0;

    while (n_first < n &&
           (n_first < FIRST_SHOWN || (n_first < (size_t)2 * FIRST_SHOWN &&
                                      of->findings->v[n_first].severity == FINDING_PROBLEM)))
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

    if (c->shown[k])
        fprintf(f, "<a href=\"#op%zu\">", k);
    html_text(f, c->ops[k].op);
    fputs(c->shown[k] ? "</a>" : "", f);
}

void html_course_spark(FILE *f, const void *ctx, size_t k)
{
    chart_spark(f, &((const struct html_course *)ctx)->ops[k]);
}

bool html_first(FILE *f, const struct html_first *x, struct err *e)
{
    const struct html_course *c = x->course;

    html_within(f, "<section id=\"first\">\n<p class=\"headline\">", x->headline, "</p>\n");
    put_trust(f, x);
    put_findings(f, x);
    if (c->n_ops > 0)
        html_timeline(f, x);
    bool ok = html_page_sheet(x->summary, f, "first", e);
    fputs("</section>\n", f);
    return ok;
}
