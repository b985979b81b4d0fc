#include "analyze/render/report/run.h"

#include "analyze/analysis/run/analysis.h"
#include "analyze/render/report/headline.h"
#include "libcommon/int64.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

bool run_has_dates(const struct analysis *a)
{
    int64_t first_day = INT64_MAX, last_day = INT64_MIN;

    for (size_t i = 0; i < a->n_operations; i++) {
        const struct operation *op = &a->operations[i];
        if (op->n_requests == 0)
            continue;
        first_day = int64_min(first_day, op->start_ns / NS_PER_D);
        last_day = int64_max(last_day, op->end_ns / NS_PER_D);
    }
    return first_day < last_day;
}

/* ---- What was read ---- */

static void put_input(struct sheet *s, const struct dataset_input *in)
{
    if (in->first_start_ns > in->last_end_ns)
        sheet_line(s, TEXT_PLAIN, "%s: no requests", in->path);
    else
        sheet_line(s, TEXT_PLAIN, "%s: %s", in->path,
                   figures_run((int64_t)in->n_rows, in->first_start_ns,
                               in->last_end_ns - in->first_start_ns)
                       .s);
    if (in->info.generation == RECFILE_AGGREGATE) {
        sheet_line(s, TEXT_PLAIN,
                   "An aggregated capture: sums, throughput by second and figures of 10-second "
                   "groups, without the requests");
        sheet_line(s, TEXT_FAINT, "Recorded by: %s", keptlines_get(&in->comments, 0));
    }
    if (in->recorded.n_ranks > 1)
        sheet_line(s, TEXT_PLAIN, "%s ranks of s3load, whose clocks agree within %s",
                   units_count(in->recorded.n_ranks).s,
                   units_duration(in->recorded.clock_error_ns).s);
}

/* Writes the notes on an operation; NULL: on the run. */
static void put_notes(struct sheet *s, const struct analysis *a, const char *op)
{
    for (size_t i = 0; i < a->notes.n; i++) {
        const struct note *x = &a->notes.v[i];
        if (op == NULL ? x->op == NULL : x->op != NULL && strcmp(x->op, op) == 0)
            sheet_line(s, TEXT_WARNING, "Warning: %s", x->message);
    }
}

void run_sheet_damage(struct sheet *s, const struct analysis *a)
{
    put_notes(s, a, NULL);
    for (size_t k = 0; k < a->dataset->n_inputs; k++) {
        const struct recfile_info *info = &a->dataset->inputs[k].info;
        for (int i = 0; i < N_DROPS; i++)
            if (info->n_dropped[i] > 0)
                sheet_item(s, TEXT_WARNING, "Warning: dropped %s; the first: %s",
                           recfile_dropped(info, (enum recfile_drop)i).s, info->first_drop[i]);
        if (info->n_unverified > 0)
            sheet_item(s, TEXT_WARNING, "Warning: %s of %s %s from frames whose checksum is wrong",
                       units_counted((int64_t)info->n_unverified, "request").s,
                       figures_file(a->dataset->inputs[k].path),
                       info->n_unverified == 1 ? "is" : "are");
    }
}

void run_sheet_captures(struct sheet *s, const struct analysis *a)
{
    for (size_t i = 0; i < a->dataset->n_inputs; i++)
        put_input(s, &a->dataset->inputs[i]);
}

void run_sheet_inputs(struct sheet *s, const struct analysis *a)
{
    run_sheet_captures(s, a);
    run_sheet_damage(s, a);
    for (size_t i = 0; i < ANALYSIS_LEFT_OUT_PARTS; i++) {
        const struct left_out_part part = analysis_left_out(a, i);
        if (part.n > 0)
            sheet_line(s, TEXT_PLAIN, "Left out: %s %s", units_counted(part.n, "request").s,
                       part.why);
    }
}

/* ---- All operations at a glance ---- */

static void put_bad(FILE *f, const void *text, size_t k)
{
    (void)k;
    fprintf(f, "<span class=\"bad\">%s</span>", (const char *)text);
}

static void put_counts(struct sheet *s, int64_t n_requests, int64_t n_errors)
{
    SHEET_CELLS(s, units_count(n_requests).s, units_count(n_errors).s);
    if (n_errors > 0)
        sheet_markup(s, put_bad, units_count(n_errors).s, 0);
}

static bool has_rate(const struct throughput *x, enum throughput_figures figure)
{
    return x->present && known_all(&x->known, figure);
}

static void summary_cells(struct sheet *s, int64_t n_requests, int64_t n_errors,
                          const struct throughput *x, double largest)
{
    put_counts(s, n_requests, n_errors);
    SHEET_CELLS(s,
                has_rate(x, THROUGHPUT_BYTES) && x->n_bytes > 0
                    ? figures_rate_like(x->bytes_per_s, largest).s
                    : "-",
                has_rate(x, THROUGHPUT_OBJECTS) ? units_rate(x->objects_per_s).s : "-");
}

static struct units_text time_shown(const struct times *t, enum figure figure, int64_t ns)
{
    return known_all(&t->known, 1u << figure) ? units_duration(ns) : (struct units_text){"-"};
}

static void summary_row(struct sheet *s, const struct operation *op, size_t k, double largest,
                        const struct run_sheet_page *page)
{
    const struct requests *r = &op->requests;
    const struct times *d = r->response_time.dur.present ? &r->response_time.dur : &r->all.dur;

    SHEET_ROW(s, TEXT_PLAIN, op->op);
    if (page != NULL)
        sheet_markup(s, page->name, page->ctx, k);
    sheet_cell(s, "%s", "");
    if (page != NULL)
        sheet_markup(s, page->course, page->ctx, k);
    summary_cells(s, op->n_requests, op->n_errors, throughput_shown(&op->judged, &op->throughput),
                  largest);
    if (d->present)
        SHEET_CELLS(s, time_shown(d, FIGURE_P50, d->p50_ns).s,
                    time_shown(d, FIGURE_P90, d->p90_ns).s, time_shown(d, FIGURE_P99, d->p99_ns).s,
                    time_shown(d, FIGURE_SLOWEST, d->slowest_ns).s);
}

/* Says which times the percentiles of the summary are of, unless they are durations of one size. */
static void summary_says(struct sheet *s, const struct analysis *a)
{
    const unsigned percentiles = 1u << FIGURE_P50 | 1u << FIGURE_P90 | 1u << FIGURE_P99;
    bool several = false, response = false;

    for (size_t i = 0; i < a->n_operations; i++) {
        const struct requests *r = &a->operations[i].requests;
        const struct times *d = &r->all.dur;

        response |= r->response_time.dur.present;
        several |= r->present && !r->single_size && d->present &&
                   (d->known.absent & percentiles) != percentiles;
    }
    if (response || several)
        sheet_span(s, TEXT_FAINT, "p50 to Slowest: %s%s.",
                   response ? "response times, from the intended start" : "durations",
                   several ? ", all sizes" : "");
}

const char *run_sheet_beside(enum role role)
{
    return role == ROLE_PREPARATION ? "Before the benchmark"
           : role == ROLE_CLEAN_UP  ? "Clean-up"
                                    : NULL;
}

void run_sheet_summary(struct sheet *s, const struct analysis *a, const struct run_sheet_page *page)
{
    int64_t n_requests = 0, n_errors = 0;
    double largest = throughput_shown(&a->total.judged, &a->total.throughput)->bytes_per_s;
    size_t n = a->n_operations;

    for (size_t i = 0; i < n; i++) {
        const struct operation *op = &a->operations[i];
        largest = fmax(largest, throughput_shown(&op->judged, &op->throughput)->bytes_per_s);
    }
    sheet_table(s, "llrrrrrrrr", a->mixed ? "Mixed operations" : "Operations");
    SHEET_HEADINGS(s, "", "Course", "Requests", "Errors", "Average", "obj/s", "p50", "p90", "p99",
                   "Slowest");
    for (size_t i = 0; i < 2 * n; i++) {
        const struct operation *op = &a->operations[i % n];
        const char *beside = run_sheet_beside(op->role);

        if ((beside != NULL) != (i >= n))
            continue;
        if (beside != NULL)
            sheet_span(s, TEXT_FAINT, "%s:", beside);
        n_requests += op->n_requests;
        n_errors += op->n_errors;
        summary_row(s, op, i % n, largest, page);
    }
    if (a->total.present) {
        SHEET_ROW(s, TEXT_HEADING, "Cluster Total", "");
        summary_cells(s, n_requests, n_errors,
                      throughput_shown(&a->total.judged, &a->total.throughput), largest);
    }
    summary_says(s, a);
}

void run_sheet_together(struct sheet *s, const struct together *x)
{
    if (x->present && x->n_seconds == 0)
        sheet_line(s, TEXT_PLAIN, "Clients together: no second in which all of them ran.");
    else if (x->present)
        sheet_line(s, TEXT_PLAIN, "Clients together: %s, %s in the %s in which all ran.",
                   units_byte_rate(x->bytes_per_s).s, units_object_rate(x->objects_per_s).s,
                   units_counted(x->n_seconds, "second").s);
}

/* ---- Throughput ---- */

static void rate_row(struct sheet *s, const char *name, double largest, double bytes_per_s,
                     double objects_per_s, const char *from, int64_t duration_ns)
{
    SHEET_ROW(s, TEXT_PLAIN, name, largest > 0 ? figures_rate_like(bytes_per_s, largest).s : "",
              units_rate(objects_per_s).s, from, units_duration(duration_ns).s);
}

static void put_throughput(struct sheet *s, const char *name, const struct throughput *x,
                           const struct throughput *judged, const struct segments *of,
                           bool has_dates)
{
    static const char *const names[] = {"Fastest segment", "Median segment", "Slowest segment"};
    bool has_bytes = known_all(&x->known, THROUGHPUT_BYTES);
    double largest = !has_bytes ? of->fastest.bytes_per_s : x->n_bytes > 0 ? x->bytes_per_s : 0;
    char title[160];

    if (!x->present) {
        sheet_line(s, TEXT_HEADING, "%s: none, the active range is empty.", name);
        return;
    }
    if (of->present)
        snprintf(title, sizeof title, "%.60s, of %.24s segments of %.24s%s%.30s%s", name,
                 units_count(of->n).s, units_duration(of->duration_ns).s, of->which ? " " : "",
                 of->which ? of->which : "", of->with_failed ? ", failed included" : "");
    else
        snprintf(title, sizeof title, "%s", name);
    sheet_table(s, "lrrrr", title);
    SHEET_HEADINGS(s, "", "Throughput", "obj/s", "From, UTC", "Over");
    SHEET_ROW(s, TEXT_PLAIN, of->with_failed ? "Average, delivered" : "Average",
              !has_bytes    ? "-"
              : largest > 0 ? figures_rate_like(x->bytes_per_s, largest).s
                            : "",
              has_rate(x, THROUGHPUT_OBJECTS) ? units_rate(x->objects_per_s).s : "-",
              figures_time(has_dates, x->start_ns).s, units_duration(x->duration_ns).s);
    if (throughput_differs(x, judged))
        rate_row(s, "Failures included", largest, judged->bytes_per_s, judged->objects_per_s,
                 figures_time(has_dates, judged->start_ns).s, judged->duration_ns);
    if (of->which != NULL)
        rate_row(s, "Mean segment", largest, of->mean.bytes_per_s, of->mean.objects_per_s,
                 figures_time(has_dates, of->mean.start_ns).s, of->n * of->duration_ns);
    const struct segment_pick *picks[] = {&of->fastest, &of->median, &of->slowest};
    for (size_t i = 0; of->present && i < 3; i++)
        if (i != 1 || of->n >= ANALYSIS_MIN_MEDIAN)
            rate_row(s, names[i], largest, picks[i]->bytes_per_s, picks[i]->objects_per_s,
                     figures_time(has_dates, picks[i]->start_ns).s, of->duration_ns);
    run_sheet_why(s, &x->known);
    if (known_all(&x->known, THROUGHPUT_PARTS))
        sheet_line(s, TEXT_PLAIN, "Successful requests: %s lie wholly in the range, %s in part.",
                   units_count(x->full_ops).s, units_count(x->partial_ops).s);
    if (known_all(&x->known, THROUGHPUT_ENDED))
        sheet_line(s, TEXT_PLAIN, "Ended in the range: %s (%s a second). Bytes in it: %s. %s%s.",
                   units_count(x->ops_ended).s, units_rate(x->ops_ended_per_s).s,
                   units_size((double)x->n_bytes).s,
                   x->errors > 0 ? "Failed, in the range or not: " : "No request failed",
                   x->errors > 0 ? units_count(x->errors).s : "");
}

static void put_outside(struct sheet *s, const struct operation *op)
{
    const struct outside *x = &op->outside;

    if (!known_all(&op->throughput.known, THROUGHPUT_ENDED))
        sheet_line(s, TEXT_PLAIN, "All requests%s: %s, %s.",
                   op->n_errors > 0 ? ", failed included" : "", units_size((double)op->n_bytes).s,
                   units_counted(op->n_objects, "object").s);

    if (x->n == 0 && x->n_bytes == 0)
        return;
    sheet_line(
        s, TEXT_PLAIN,
        "Outside all segments: %s (%s before the first, %s after the last) and %s (%s before, %s "
        "after).",
        units_counted(x->n, "request").s, units_count(x->n_before).s, units_count(x->n_after).s,
        units_size((double)x->n_bytes).s, units_size((double)x->before_bytes).s,
        units_size((double)x->after_bytes).s);
}

/* If the all-threads range keeps little, writes the figures of the single range, and the threads
 * that shorten the range. */
static void put_single_range(struct sheet *s, const struct operation *op, bool has_dates)
{
    size_t n = operation_n_slow_listed(op);

    if (!op->range_is_short)
        return;
    put_throughput(s, "Throughput over the single range", &op->single_throughput,
                   &op->single_throughput, &op->single_segments, has_dates);
    if (n == 0)
        return;
    sheet_table(s, "lrr", "Threads that shorten the range");
    SHEET_HEADINGS(s, "", "First end, UTC", "Last start, UTC");
    for (size_t i = 0; i < n; i++) {
        const struct slow_thread *x = &op->slow_threads[i];
        sheet_row(s, TEXT_PLAIN);
        sheet_cell(s, "Thread %" PRIu32, x->thread);
        SHEET_CELLS(s, figures_time(has_dates, x->first_end_ns).s,
                    figures_time(has_dates, x->last_start_ns).s);
    }
    if (n < op->n_slow_threads)
        sheet_line(s, TEXT_FAINT, "and %s more threads",
                   units_count((int64_t)(op->n_slow_threads - n)).s);
}

/* ---- Errors ---- */

static void put_error_hosts(struct sheet *s, const struct error_group *g, bool has_dates)
{
    for (size_t i = 0; i < g->n_hosts; i++) {
        const struct error_host *h = &g->hosts[i];
        SHEET_ROW(s, TEXT_FAINT, units_count(h->count).s, figures_time(has_dates, h->first_ns).s,
                  figures_time(has_dates, h->last_ns).s);
        sheet_cell(s, "  at %s", intern_shown(h->host));
    }
}

static void put_errors(struct sheet *s, const struct operation *op, bool has_dates)
{
    char title[120];
    int64_t n_listed = 0;

    if (op->n_errors == 0)
        return;
    snprintf(title, sizeof title, "Errors, %.40s (%.20s of the requests)",
             units_count(op->n_errors).s,
             units_pct(100.0 * (double)op->n_errors / (double)op->n_requests).s);
    sheet_table(s, "rllw", title);
    SHEET_HEADINGS(s, "Count", "First, UTC", "Last, UTC", "Message");
    for (size_t i = 0; i < op->n_error_groups; i++) {
        const struct error_group *g = &op->errors[i];
        bool is_timed = known_all(&g->known, ERROR_TIMES);

        n_listed += g->count;
        SHEET_ROW(s, TEXT_PLAIN, units_count(g->count).s,
                  is_timed ? figures_time(has_dates, g->first_ns).s : "-",
                  is_timed ? figures_time(has_dates, g->last_ns).s : "-", g->message);
        if (op->n_hosts > 1)
            put_error_hosts(s, g, has_dates);
    }
    if (n_listed < op->n_errors)
        sheet_line(s, TEXT_FAINT, "The file has no messages of the other %s.",
                   units_count(op->n_errors - n_listed).s);
}

/* ---- Operations ---- */

/* "24,032 requests of 128KiB (37 % of all) by 4 threads, 1 client, on 1 host; ran 8.00s, from ..."
 */
static void put_extent(struct sheet *s, const struct analysis *a, const struct operation *op,
                       bool has_dates)
{
    const struct requests *q = &op->requests;
    char share[64] = "", objects[80] = "";
    int64_t n_all = 0;

    for (size_t i = 0; i < a->n_operations; i++)
        n_all += a->operations[i].n_requests;
    if (a->mixed && n_all > 0)
        snprintf(share, sizeof share, " (%.20s of all)",
                 units_pct(100.0 * (double)op->n_requests / (double)n_all).s);
    if (op->objects_per_op != 1)
        snprintf(objects, sizeof objects, " Each of %s.",
                 units_counted(op->objects_per_op, "object").s);
    sheet_line(s, TEXT_PLAIN, "%s%s%s%s by %s, %s%s%s; ran %s, from %s to %s UTC.%s",
               units_counted(op->n_requests, "request").s,
               q->present && q->single_size && q->object_size_bytes > 0 ? " of " : "",
               q->present && q->single_size && q->object_size_bytes > 0
                   ? units_size((double)q->object_size_bytes).s
                   : "",
               share, units_counted(op->concurrency, "thread").s,
               units_counted(op->n_clients, "client").s, op->n_hosts > 0 ? ", on " : "",
               op->n_hosts > 0 ? units_counted(op->n_hosts, "host").s : "",
               units_duration(op->end_ns - op->start_ns).s, figures_time(has_dates, op->start_ns).s,
               figures_time(has_dates, op->end_ns).s, objects);
}

void run_sheet_operation(struct sheet *s, const struct analysis *a, const struct operation *op)
{
    bool has_dates = run_has_dates(a);

    if (op->n_requests == 0) {
        sheet_line(s, TEXT_PLAIN, "Skipped: %s.", op->skipped ? op->skipped : "no requests");
        put_single_range(s, op, has_dates);
        return;
    }
    put_extent(s, a, op, has_dates);
    put_notes(s, a, op->op);
    put_errors(s, op, has_dates);
    run_sheet_requests(s, &op->requests, dataset_duration_resolution_ns(a->dataset));
    put_throughput(s, "Throughput", &op->throughput, &op->judged, &op->segments, has_dates);
    put_outside(s, op);
    put_single_range(s, op, has_dates);
    run_sheet_hosts(s, op->hosts, op->n_host_results, &op->requests);
    run_sheet_clients(s, op, has_dates);
    run_sheet_statistics(s, op);
}

void run_sheet_total(struct sheet *s, const struct analysis *a)
{
    const struct cluster_total *t = &a->total;

    put_throughput(s, "Throughput", &t->throughput, &t->judged, &t->segments, run_has_dates(a));
    run_sheet_hosts(s, t->hosts, t->n_hosts, NULL);
}

/* ---- The whole ---- */

/* Writes the operations of the benchmark, or those beside it. */
static void put_operations(struct sheet *s, const struct analysis *a, bool is_beside)
{
    for (size_t i = 0; i < a->n_operations; i++) {
        const struct operation *op = &a->operations[i];
        const char *beside = run_sheet_beside(op->role);

        if ((beside != NULL) != is_beside)
            continue;
        sheet_title(s, "%s: %s", beside != NULL ? beside : "Operation", op->op);
        run_sheet_operation(s, a, op);
    }
}

/* Ends brief text: notes on operations, and what -v adds. */
static void put_more(struct sheet *s, const struct analysis *a, size_t n_unsaid)
{
    for (size_t i = 0; i < a->n_operations; i++) {
        const struct operation *op = &a->operations[i];

        if (op->n_requests == 0)
            sheet_line(s, TEXT_PLAIN, "%s: skipped: %s.", op->op,
                       op->skipped ? op->skipped : "no requests");
        put_notes(s, a, op->op);
        run_sheet_bounds(s, &op->requests, op->op);
        run_sheet_statistics(s, op);
    }
    sheet_line(s, TEXT_FAINT, "-v adds %s%seach operation, segment, host, client and error.",
               n_unsaid > 0 ? units_counted((int64_t)n_unsaid, "finding").s : "",
               n_unsaid > 0 ? ", and " : "");
}

bool report_text(const struct analysis *a, const struct sheet_form *form, FILE *f, struct err *e)
{
    struct sheet s = {.brief = !form->verbose && !form->markdown};

    slo_sheet(&s, a->slo);
    sheet_line(&s, TEXT_HEADING, "%s", headline(a).s);
    size_t n_unsaid = headline_put_findings(&s, a);
    run_sheet_inputs(&s, a);
    if (a->n_operations > 1 || s.brief)
        run_sheet_summary(&s, a, NULL);
    run_sheet_together(&s, &a->together);
    if (s.brief) {
        put_more(&s, a, n_unsaid);
        return sheet_end(&s, form, f, e);
    }
    put_operations(&s, a, false);
    if (a->total.present) {
        sheet_title(&s, "Cluster Total: all operations together");
        run_sheet_total(&s, a);
    }
    put_operations(&s, a, true);
    return sheet_end(&s, form, f, e);
}
