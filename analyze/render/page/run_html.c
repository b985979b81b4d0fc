#include "analyze/render/page/pages.h"

#include "analyze/render/json/documents.h"
#include "analyze/render/page/html_internal.h"
#include "analyze/render/page/page.h"
#include "analyze/render/report/headline.h"
#include "analyze/render/report/run.h"
#include "analyze/summary/estimate/confidence.h"
#include "analyze/summary/requests/slowest.h"
#include "analyze/tools/compare/sha256.h"
#include "analyze/write/html.h"
#include "libcommon/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct html_definition definitions[] = {
    {"Active range",
     "The time that counts: from the moment the last thread has finished its first request to the "
     "moment the first thread begins its last one. Where requests failed, operations ran at once, "
     "one host was picked, or the run was an open loop: from the second start to the last end "
     "before the last start."},
    {"Segment",
     "A slice of the active range, all of the same length. A request that runs over an edge gives "
     "each slice its share of bytes and objects, in proportion to the time spent there."},
    {"Average throughput",
     "Bytes (objects) of the successful requests within the active range, divided by its length. "
     "MiB is 1,048,576 bytes."},
    {"Fastest, median, slowest segment",
     "Segments sorted by bytes, or by objects where there are no bytes; of n, number round(n p), "
     "counted from 0 and at most n - 1; p is 1, 0.5, 0."},
    {"Duration, p50, p90, p99",
     "Of the successful requests that lie in the active range, sorted by time: of n, number "
     "round(n p), counted from 0 and at most n - 1. Service time in a closed loop: a request that "
     "had to wait for its turn is not seen waiting."},
    {"Response time",
     "Of an open loop, whose requests are due at given times: from when a request was due to its "
     "end, the waiting for its turn included."},
    {"TTFB",
     "Time to first byte: from the start of a request to the first byte of its answer's body; of "
     "an upload, where it was recorded, from the last byte sent to the end."},
    {"First access, last access", "The first and the last request to each object."},
    {"Throughput of single requests",
     "Where sizes differ: bytes of a request over its duration, the highest first. Those without "
     "bytes or duration are unrated."},
    {"Outside all segments",
     "Requests, and parts of them, before the first segment or after the last one: "
     "no figure of a segment counts them."},
    {"95 % confidence interval",
     "95 of 100 such intervals hold the true value, as far as the noise within this run shows. "
     "Those of means are by batch means, which allow for neighbouring segments being alike, those "
     "of quantiles by order statistics with an effective number of requests. A single run cannot "
     "show how much runs differ from each other."},
    {0},
};

/* Terms on the page of a run that is known only by the second. */
static const struct html_definition definitions_by_second[] = {
    {"Aggregated capture", "The recorder kept sums, throughput by second and figures of groups of "
                           "10 s, not the requests. "
                           "What cannot be known from these is left out."},
    {"Segment", "A whole clock second, without the first two and the last two. A request's bytes "
                "and objects are spread evenly over its time; failed requests are among them."},
    {"Average throughput",
     "Bytes and objects of successful requests from the first start to the last end; not "
     "given where some of unknown size failed, since the file counts their bytes as delivered."},
    {"Percentiles", "Those of a group of 10 s hold for these 10 s alone. The mean of such "
                    "percentiles, which the recorder prints, is no percentile of the run."},
    {0},
};

/* Sets the title of the page: the label, or the captures. */
static bool title_of(char **title, const struct analysis *a, const char *label, struct err *e)
{
    const struct dataset *d = a->dataset;

    if (label != NULL && *label != '\0')
        return mem_text(title, label, e);
    if (d->n_inputs > 1)
        return mem_format(title, e, "%s and %zu more", figures_file(d->inputs[0].path),
                          d->n_inputs - 1);
    return mem_text(title, d->n_inputs > 0 ? figures_file(d->inputs[0].path) : "no capture", e);
}

static void put_header(FILE *f, const struct analysis *a, const char *words)
{
    int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
    for (size_t i = 0; i < a->dataset->n_inputs; i++) {
        const struct dataset_input *in = &a->dataset->inputs[i];
        start_ns = int64_min(start_ns, in->first_start_ns);
        end_ns = int64_max(end_ns, in->last_end_ns);
    }
    if (start_ns <= end_ns)
        html_element(f, "p", "%s%s", figures_run((int64_t)a->n_rows, start_ns, end_ns - start_ns).s,
                     a->mixed ? ", operations mixed" : "");
    for (size_t i = 0; i < ANALYSIS_LEFT_OUT_PARTS; i++) {
        const struct left_out_part part = analysis_left_out(a, i);
        if (part.n > 0)
            html_element(f, "p", "Left out: %s %s.", units_counted(part.n, "request").s, part.why);
    }
    html_page_main(f, "Analysed with: ", words);
}

static void slowest_sheet(struct sheet *s, const struct analysis *a, int main)
{
    struct slow_request v[ANALYSIS_SLOWEST];
    size_t n = analysis_slowest(a, main, v);

    sheet_table(s, "rrllwrrw", "The slowest requests, in the active range or not");
    SHEET_HEADINGS(s, "Duration", "Start, UTC", "Operation", "Host", "Key", "Size", "Thread",
                   "Outcome");
    for (size_t i = 0; i < n; i++) {
        SHEET_ROW(s, TEXT_PLAIN, units_duration(v[i].dur_ns).s,
                  figures_time(run_has_dates(a), v[i].start_ns).s, v[i].op, intern_shown(v[i].host),
                  v[i].key != NULL ? v[i].key : "-", units_size((double)v[i].bytes).s);
        sheet_cell(s, "%" PRIu32, v[i].thread);
        SHEET_CELLS(s, *v[i].error != '\0' ? v[i].error : "done");
    }
}

/* ---- The inputs ---- */

static const char *range_text(enum range_kind kind)
{
    switch (kind) {
    case RANGE_SINGLE:
        return "from the second start to the last end before the last start (single range)";
    case RANGE_FULL:
        return "from the first start to the last end";
    case RANGE_ALL:
    case RANGE_INNER: /* only in comparisons */
    case RANGE_AUTO:
        break;
    }
    return "while all threads were running";
}

static bool inputs_sheet(struct sheet *s, const struct analysis *a, struct err *e)
{
    const struct dataset *d = a->dataset;

    run_sheet_captures(s, a);
    sheet_table(s, "lrrrrrw", "Captures");
    SHEET_HEADINGS(s, "Capture", "Generation", "Requests", "Dropped", "First start, UTC",
                   "Last end, UTC", "SHA-256");
    for (size_t i = 0; i < d->n_inputs; i++) {
        const struct dataset_input *in = &d->inputs[i];
        struct sha256_text sum = {""};
        bool has_rows = in->first_start_ns <= in->last_end_ns;

        if (!sha256_file(in->path, &sum, e))
            return false;
        SHEET_ROW(s, TEXT_PLAIN, in->path, recfile_generation(&in->info),
                  units_count((int64_t)in->n_rows).s,
                  units_count((int64_t)recfile_n_dropped(&in->info)).s,
                  has_rows ? figures_moment(in->first_start_ns).s : "-",
                  has_rows ? figures_moment(in->last_end_ns).s : "-",
                  sum.s[0] != '\0' ? sum.s : "- (cannot be read twice)");
    }
    sheet_line(s, TEXT_PLAIN, "The time that counts: %s.", range_text(a->range));
    return true;
}

/* Writes the comments that the captures contain. */
static void put_comments(FILE *f, const struct dataset *d)
{
    for (size_t i = 0; i < d->n_inputs; i++) {
        if (d->inputs[i].comments.n == 0)
            continue;
        html_element(f, "h3", "What the recorder wrote into %s", figures_file(d->inputs[i].path));
        fputs("<pre>", f);
        for (size_t k = 0; k < d->inputs[i].comments.n; k++)
            html_textf(f, "%s\n", keptlines_get(&d->inputs[i].comments, k));
        fputs("</pre>\n", f);
    }
}

/* ---- The page ---- */

static bool put_operation(FILE *f, const struct html_course *c, size_t k, bool is_first,
                          struct err *e)
{
    const struct operation *op = &c->a->operations[k];
    const char *beside = run_sheet_beside(op->role);
    const char *fold = beside != NULL || is_first ? beside : "Operation";
    char section[24];
    struct sheet s = {0};

    snprintf(section, sizeof section, "op%zu", k);
    html_section(f, section, op->op, fold);
    if ((int)k != c->main)
        html_timeline(f, c, (int)k);
    if (op->n_requests > 0 &&
        !html_page_charts(f, c->charts, section, html_course_series(c, k), op->op, e))
        return false;
    run_sheet_operation(&s, c->a, op);
    bool ok = html_page_sheet(&s, f, section, e);
    html_section_end(f, fold);
    return ok;
}

/* Writes a section for each operation that is shown: first those of the benchmark, then those
 * beside it; all but the first are folded away. */
static bool put_operations(FILE *f, const struct html_course *c, struct err *e)
{
    bool ok = true, is_first = c->main >= 0;

    for (int beside = 0; beside < 2; beside++)
        for (size_t k = 0; ok && k < c->a->n_operations; k++)
            if (c->shown[k] && role_is_benchmark(c->a->operations[k].role) == (beside == 0)) {
                ok = put_operation(f, c, k, is_first, e);
                is_first = false;
            }
    return ok;
}

static void put_contents(FILE *f, const struct html_course *c)
{
    char id[24];

    html_page_contents(f);
    if (c->a->total.present)
        html_page_link(f, "all", "All together");
    /* As below: what prepared the benchmark, or cleaned up after it, comes last. */
    for (size_t i = 0, n = c->a->n_operations; i < 2 * n; i++) {
        size_t k = i % n;

        snprintf(id, sizeof id, "op%zu", k);
        if (c->shown[k] && role_is_benchmark(c->a->operations[k].role) == (i < n))
            html_page_link(f, id, c->a->operations[k].op);
    }
    html_page_contents_end(f);
}

static bool put_total(FILE *f, const struct analysis *a, const struct html_charts *charts,
                      struct err *e)
{
    struct sheet s = {0};
    if (a->total.present) {
        fputs("<h2 id=\"all\">All operations together</h2>\n", f);
        run_sheet_total(&s, a);
    }
    return html_page_charts(f, charts, "all", 0, "", e) && html_page_sheet(&s, f, "all", e);
}

/* Writes the analysis as JSON, without the operations that the page does not show. */
static bool write_analysis(const void *course, FILE *f, struct err *e)
{
    const struct html_course *c = course;
    struct analysis shown = *c->a;

    if (!mem_new(&shown.operations, c->a->n_operations + 1, e))
        return false;
    shown.n_operations = 0;
    for (size_t k = 0; k < c->a->n_operations; k++)
        if (c->shown[k])
            shown.operations[shown.n_operations++] = c->a->operations[k];
    bool ok = report_json(&shown, f, e);
    free(shown.operations);
    return ok;
}

static bool put_page(FILE *f, const struct html_course *c, const char *title, const char *command,
                     struct err *e)
{
    const struct analysis *a = c->a;
    struct sheet s = {0};

    put_contents(f, c);
    slo_sheet(&s, a->slo);
    if (!html_page_sheet(&s, f, "slo", e) || !html_first(f, c, e))
        return false;
    run_sheet_damage(&s, a);
    if (!html_page_warnings(f, c->charts, &s, e) || !put_total(f, a, c->charts, e) ||
        !put_operations(f, c, e) || !profile_html_section(a->dataset, f, e))
        return false;
    if (a->dataset->n_tables > 0)
        slowest_sheet(&s, a, c->main);
    if (!html_page_sheet(&s, f, "slowest", e))
        return false;
    html_page_inputs(f, command);
    bool ok = inputs_sheet(&s, a, e);
    if (!html_page_sheet(&s, f, "inputs", e) || !ok)
        return false;
    put_comments(f, a->dataset);
    html_fold_end(f);
    html_page_definitions(f, a->series_note != NULL ? definitions_by_second : definitions);
    return html_data(f, title, write_analysis, c, c, e);
}

bool report_html(const struct analysis *a, const char *label, const char *words,
                 const char *command, FILE *f, struct err *e)
{
    struct html_charts charts = {0};
    struct html_course course = {0};
    char *title = NULL;
    bool ok = title_of(&title, a, label, e) && html_course_init(&course, a, e) &&
              html_charts_init(&charts, e);

    charts.options.benchmark_only = true;
    charts.options.operations = course.shown;
    charts.operands = "CAPTURE...";
    course.charts = &charts;
    ok = ok && plot_add_analysis(&charts.set, a, &charts.options, e);
    if (ok) {
        html_charts_draw(&charts);
        ok = html_page_begin(f, &charts, title, headline(a).s, e);
        put_header(f, a, words);
        ok = ok && put_page(f, &course, title, command, e);
        html_page_end(f);
    }
    free(title);
    html_charts_fini(&charts);
    html_course_fini(&course);
    return ok;
}
