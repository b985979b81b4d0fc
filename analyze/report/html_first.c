#include "analyze/report/html_internal.h"

#include "analyze/report/diagnosis.h"
#include "analyze/report/headline.h"
#include "analyze/report/html_timeline.h"
#include "analyze/report/page.h"
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

static void put_throughput_cells(FILE *f, const struct throughput *t, bool with_objects)
{
    HTML_CELLS(f, t->present && t->n_bytes > 0 ? units_byte_rate(t->bytes_per_s).s : "-",
               t->present ? units_rate(t->ops_ended_per_s).s : "-");
    if (with_objects)
        html_cell(f, "%s", t->present ? units_rate(t->objects_per_s).s : "-");
}

static void put_operation(FILE *f, const struct analysis *a, const struct html_course *c, size_t k,
                          bool with_objects)
{
    const struct operation *op = &a->operations[k];
    const struct times *d = &op->requests.all.dur;
    const int64_t q[] = {d->p50_ns, d->p90_ns, d->p99_ns};

    html_row(f);
    fprintf(f, "<th scope=\"row\" class=\"l\"><a href=\"#op%zu\">", k);
    html_text(f, op->op);
    fprintf(f, "</a>%s</th><td class=\"l\">",
            html_course_prepares(c, k) ? " <small>before the benchmark</small>" : "");
    html_timeline_spark(f, &c->ops[k]);
    fputs("</td>", f);
    html_cell(f, "%s", units_count(op->n_requests).s);
    fputs(op->n_errors > 0 ? "<td class=\"bad\">" : "<td>", f);
    html_textf(f, "%s", units_count(op->n_errors).s);
    fputs("</td>", f);
    put_throughput_cells(f, &op->throughput, with_objects);
    for (size_t i = 0; i < 3; i++)
        html_cell(f, "%s", d->present ? units_duration(q[i]).s : "-");
    html_cell(f, "%s", c->slowest_ns[k] >= 0 ? units_duration(c->slowest_ns[k]).s : "-");
    html_row_end(f);
}

static void put_operations(FILE *f, const struct analysis *a, const struct html_course *c)
{
    static const char *const names[] = {"Operation", "Course", "Requests", "Failed", "Throughput",
                                        "req/s",     "50%",    "90%",      "99%",    "Slowest"};
    static const char *const with_objects[] = {"Operation",  "Course", "Requests", "Failed",
                                               "Throughput", "req/s",  "obj/s",    "50%",
                                               "90%",        "99%",    "Slowest"};
    int64_t n_requests = 0, n_errors = 0;
    bool objects = false;

    for (size_t k = 0; k < a->n_operations; k++)
        objects |=
            a->operations[k].objects_per_op > 1 ||
            (a->operations[k].throughput.present &&
             a->operations[k].n_objects != a->operations[k].n_requests - a->operations[k].n_errors);
    html_table(f, "first", "Operations", objects ? with_objects : names,
               objects ? "llrrrrrrrrr" : "llrrrrrrrr");
    for (size_t i = 0; i < a->n_operations; i++) {
        size_t k = c->main < 0 ? i : a->n_operations - 1 - i;
        n_requests += a->operations[k].n_requests;
        n_errors += a->operations[k].n_errors;
        put_operation(f, a, c, k, objects);
    }
    if (a->total.present && a->total.throughput.present) {
        html_row(f);
        fputs("<th scope=\"row\" class=\"l\"><a href=\"#all\">All together</a></th>"
              "<td class=\"l\"></td>",
              f);
        HTML_CELLS(f, units_count(n_requests).s, units_count(n_errors).s);
        put_throughput_cells(f, &a->total.throughput, objects);
        fputs("<td></td><td></td><td></td><td></td></tr>\n", f);
    }
    html_table_end(f);
}

void html_first(FILE *f, const struct analysis *a, const struct html_course *c)
{
    const struct run run = {a, c};

    fputs("<section id=\"first\">\n<p class=\"headline\">", f);
    html_text(f, headline(a).s);
    fputs("</p>\n", f);
    if (c->main >= 0 && *html_statistics_doubt(a->operations[c->main].statistics) != '\0')
        html_element(f, "p", "%s.", html_statistics_doubt(a->operations[c->main].statistics));
    put_trust(f, a, c);
    html_findings(f, &(struct html_findings){&a->findings, &c->all, put_place, &run});
    if (c->n_ops > 0) {
        html_timeline(f, &(struct html_timeline){&c->all, c->ops, c->n_ops, &a->findings, ""});
        put_operations(f, a, c);
    }
    fputs("</section>\n", f);
}
