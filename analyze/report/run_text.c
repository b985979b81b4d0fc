#include "analyze/report/run.h"

#include "analyze/report/headline.h"
#include "analyze/report/text_internal.h"
#include "analyze/write/text.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <inttypes.h>
#include <string.h>

#define MAX_ERRORS      10 /* groups without --analyze.v */
#define MAX_ERROR_HOSTS 5  /* of a group, likewise */
#define MAX_THREADS     10 /* that shorten the range, likewise */
#define NS_PER_DAY      INT64_C(86400000000000)

static void put_rule(const struct text_view *v)
{
    text_blank(v->out);
    text_line(v->out, TEXT_FAINT, "----------------------------------------");
}

/* ---- The run ---- */

static void put_input(const struct text_view *v, const struct dataset_input *in)
{
    if (in->first_start_ns > in->last_end_ns) {
        text_line(v->out, TEXT_PLAIN, "%s: no requests", in->path);
    } else {
        text_line(v->out, TEXT_PLAIN, "%s: %s", in->path,
                  figures_run((int64_t)in->n_rows, in->first_start_ns,
                              in->last_end_ns - in->first_start_ns)
                      .s);
    }
    if (in->recorded.n_ranks > 1)
        text_line(v->out, TEXT_PLAIN, "%s ranks of s3load, whose clocks agree within %s",
                  units_count(in->recorded.n_ranks).s,
                  units_duration(in->recorded.clock_error_ns).s);
    for (int i = 0; i < N_DROPS; i++) {
        if (in->info.n_dropped[i] > 0)
            text_line(v->out, TEXT_WARNING, "Warning: dropped %s %s; the first: %s",
                      units_count((int64_t)in->info.n_dropped[i]).s, recfile_drop_names[i],
                      in->info.first_drop[i]);
    }
    if (in->info.n_unverified > 0)
        text_line(v->out, TEXT_WARNING, "Warning: %s %s from frames whose checksum is wrong",
                  figures_counted((int64_t)in->info.n_unverified, "request").s,
                  in->info.n_unverified == 1 ? "is" : "are");
}

static void put_left_out(const struct text_view *v)
{
    for (size_t i = 0; i < ANALYSIS_LEFT_OUT_PARTS; i++) {
        const struct left_out_part part = analysis_left_out(v->a, i);
        if (part.n > 0)
            text_line(v->out, TEXT_PLAIN, "Left out: %s %s", figures_counted(part.n, "request").s,
                      part.why);
    }
}

void text_findings_put(struct text *out, const struct findings *all, int64_t n_requests)
{
    text_line(out, all->n > 0 ? TEXT_WARNING : TEXT_PLAIN, "%s%s",
              headline_findings(all, n_requests).s, all->n > 0 ? ":" : ".");
    for (size_t i = 0; i < all->n; i++) {
        const struct finding *f = &all->v[i];
        text_line(out, f->severity == FINDING_PROBLEM ? TEXT_WARNING : TEXT_PLAIN,
                  "%zu. %s: %s%s%s", i + 1, headline_severity(f),
                  f->op != NULL && strstr(f->sentence, f->op) == NULL ? f->op : "",
                  f->op != NULL && strstr(f->sentence, f->op) == NULL ? ": " : "", f->sentence);
        if (f->n_because > 0)
            text_line(out, TEXT_FAINT, "   because of %zu", f->because[0] + 1);
    }
    text_blank(out);
}

static void summary_row(struct text_table *t, enum text_style style, const char *name,
                        int64_t n_requests, int64_t n_errors, const struct throughput *x,
                        double largest)
{
    TEXT_ITEM(t, style, "%s", name);
    TEXT_CELLS(t, units_count(n_requests).s, units_count(n_errors).s,
               x->present && x->n_bytes > 0 ? text_cells_rate_like(x->bytes_per_s, largest).s : "-",
               x->present ? units_rate(x->objects_per_s).s : "-");
}

/* One line for each operation, and one for the cluster. */
static void put_summary(const struct text_view *v)
{
    const struct analysis *a = v->a;
    struct text_table t;
    int64_t n_requests = 0, n_errors = 0;
    double largest = a->total.throughput.bytes_per_s;
    bool has_durations = false;

    for (size_t i = 0; i < a->n_operations; i++) {
        const struct operation *op = &a->operations[i];
        n_requests += op->n_requests;
        n_errors += op->n_errors;
        largest = op->throughput.bytes_per_s > largest ? op->throughput.bytes_per_s : largest;
        has_durations |= op->requests.all.dur.present;
    }
    text_blank(v->out);
    if (a->mixed)
        text_line(v->out, TEXT_HEADING, "Mixed operations:");
    text_table_init(&t, v->out, "lrrrrrr");
    TEXT_ROW(&t, TEXT_FAINT, "", "Requests", "Errors", "Average", "obj/s");
    if (has_durations)
        TEXT_CELLS(&t, "50%", "99%");
    for (size_t i = 0; i < a->n_operations; i++) {
        const struct operation *op = &a->operations[i];
        summary_row(&t, TEXT_PLAIN, op->op, op->n_requests, op->n_errors, &op->throughput, largest);
        if (op->requests.all.dur.present) {
            TEXT_CELLS(&t, units_duration(op->requests.all.dur.p50_ns).s,
                       units_duration(op->requests.all.dur.p99_ns).s);
        }
    }
    if (a->total.present)
        summary_row(&t, TEXT_HEADING, "Cluster Total", n_requests, n_errors, &a->total.throughput,
                    largest);
    text_table_put(&t);
}

/* ---- Throughput ---- */

/* Two cells: bytes a second, in the unit of `largest` (0: the set has no bytes), and objects a
 * second. */
static void rate_cells(struct text_table *t, double largest, double bytes_per_s,
                       double objects_per_s)
{
    if (largest > 0)
        text_table_cell(t, "%s,", text_cells_rate_like(bytes_per_s, largest).s);
    else
        text_table_cell(t, "%s", "");
    text_table_cell(t, "%s", units_object_rate(objects_per_s).s);
}

static void segment_row(const struct text_view *v, struct text_table *t, const char *name,
                        double largest, const struct segment_pick *p)
{
    TEXT_ITEM(t, TEXT_PLAIN, "%s:", name);
    rate_cells(t, largest, p->bytes_per_s, p->objects_per_s);
    text_table_cell(t, "starting %s UTC", text_cells_time(v, p->start_ns).s);
}

static void put_throughput(const struct text_view *v, const char *name, const struct throughput *x,
                           const struct segments *s)
{
    double largest = x->n_bytes > 0 ? x->bytes_per_s : 0;
    struct text_table t;

    text_blank(v->out);
    text_table_init(&t, v->out, "lrrl");
    text_table_span(&t, TEXT_HEADING, "%s:", name);
    if (x->present) {
        TEXT_ROW(&t, TEXT_PLAIN, " * Average:");
        rate_cells(&t, largest, x->bytes_per_s, x->objects_per_s);
        text_table_cell(&t, "over %s from %s UTC", units_duration(x->duration_ns).s,
                        text_cells_time(v, x->start_ns).s);
    } else {
        text_table_span(&t, TEXT_PLAIN, " * none: the active range is empty");
    }
    if (s->present) {
        text_table_span(&t, TEXT_PLAIN, "%s", "");
        text_table_span(&t, TEXT_HEADING, "%s, split into %s x %s:", name, units_count(s->n).s,
                        units_duration(s->duration_ns).s);
        segment_row(v, &t, "Fastest", largest, &s->fastest);
        if (s->n >= ANALYSIS_MIN_MEDIAN)
            segment_row(v, &t, "50% Median", largest, &s->median);
        segment_row(v, &t, "Slowest", largest, &s->slowest);
    }
    text_table_put(&t);
}

/* What the single range would give, where the all-threads range keeps little, and who shortens it.
 */
static void put_single_range(const struct text_view *v, const struct operation *op)
{
    if (!op->range_is_short)
        return;
    put_throughput(v, "Throughput over the single range", &op->single_throughput,
                   &op->single_segments);
    if (op->n_slow_threads == 0)
        return;
    struct text_table t;
    text_blank(v->out);
    text_table_init(&t, v->out, "lll");
    text_table_span(&t, TEXT_HEADING, "Threads that shorten the range:");
    size_t n = operation_n_slow_listed(op);
    if (!v->verbose && n > MAX_THREADS)
        n = MAX_THREADS;
    for (size_t i = 0; i < n; i++) {
        const struct slow_thread *x = &op->slow_threads[i];
        TEXT_ITEM(&t, TEXT_PLAIN, "Thread %" PRIu32 ":", x->thread);
        text_table_cell(&t, "first request ended %s,", text_cells_time(v, x->first_end_ns).s);
        text_table_cell(&t, "last began %s UTC", text_cells_time(v, x->last_start_ns).s);
    }
    if (n < op->n_slow_threads)
        text_table_span(&t, TEXT_FAINT, "   and %s more%s",
                        units_count((int64_t)(op->n_slow_threads - n)).s,
                        n < operation_n_slow_listed(op) ? " (the worst with --analyze.v)" : "");
    text_table_put(&t);
}

/* ---- Errors ---- */

/* "at http://h1:9000: 201, http://h0:9000: 3": the hosts of a group, as a row below it. */
static void error_hosts_row(const struct text_view *v, struct text_table *t,
                            const struct error_group *g)
{
    size_t n = v->verbose || g->n_hosts < MAX_ERROR_HOSTS ? g->n_hosts : MAX_ERROR_HOSTS;
    for (size_t i = 0; i < n; i++) {
        const struct error_host *h = &g->hosts[i];
        TEXT_ROW(t, TEXT_FAINT, units_count(h->count).s, text_cells_time(v, h->first_ns).s,
                 text_cells_time(v, h->last_ns).s);
        text_table_cell(t, "  at %s", intern_shown(h->host));
    }
    if (n < g->n_hosts)
        text_table_span(t, TEXT_FAINT, "      and at %s more hosts (all with --analyze.v)",
                        units_count((int64_t)(g->n_hosts - n)).s);
}

static void put_errors(const struct text_view *v, const struct operation *op)
{
    if (op->n_errors == 0)
        return;
    size_t n = v->verbose || op->n_error_groups < MAX_ERRORS ? op->n_error_groups : MAX_ERRORS;
    struct text_table t;
    text_blank(v->out);
    text_line(v->out, TEXT_ERROR, "Errors: %s (%s of the requests)", units_count(op->n_errors).s,
              units_pct(100.0 * (double)op->n_errors / (double)op->n_requests).s);
    text_table_init(&t, v->out, "rlll");
    TEXT_ROW(&t, TEXT_FAINT, "Count", "First UTC", "Last UTC", "Message");
    for (size_t i = 0; i < n; i++) {
        const struct error_group *g = &op->errors[i];
        TEXT_ROW(&t, TEXT_PLAIN, units_count(g->count).s, text_cells_time(v, g->first_ns).s,
                 text_cells_time(v, g->last_ns).s, g->message);
        if (op->n_hosts > 1)
            error_hosts_row(v, &t, g);
    }
    if (n < op->n_error_groups)
        text_table_span(&t, TEXT_FAINT, "and %s more kinds (all with --analyze.v)",
                        units_count((int64_t)(op->n_error_groups - n)).s);
    text_table_put(&t);
}

/* ---- Operations ---- */

/* "Operation: GET (29,595). Concurrency: 9. Hosts: 3." and what else is not as one would expect. */
static void put_title(const struct text_view *v, const struct operation *op, int64_t n_all)
{
    char share[64] = "", objects[64] = "", size[80] = "", hosts[64] = "", clients[64] = "";
    if (v->a->mixed && n_all > 0)
        snprintf(share, sizeof share, ", %s",
                 units_pct(100.0 * (double)op->n_requests / (double)n_all).s);
    if (op->objects_per_op != 1)
        snprintf(objects, sizeof objects, " Objects per operation: %.30s.",
                 units_count(op->objects_per_op).s);
    if (op->requests.present && op->requests.single_size && op->requests.object_size_bytes > 0)
        snprintf(size, sizeof size, " Size: %s.",
                 units_size((double)op->requests.object_size_bytes).s);
    if (op->n_hosts > 1)
        snprintf(hosts, sizeof hosts, " Hosts: %.30s.", units_count(op->n_hosts).s);
    if (op->n_clients > 1)
        snprintf(clients, sizeof clients, " Clients: %.30s.", units_count(op->n_clients).s);
    text_line(v->out, TEXT_HEADING, "Operation: %s (%s%s).%s%s Concurrency: %s.%s%s", op->op,
              units_count(op->n_requests).s, share, objects, size, units_count(op->concurrency).s,
              hosts, clients);
}

static void put_outside(const struct text_view *v, const struct operation *op)
{
    const struct outside *x = &op->outside;
    if (!v->verbose || !op->segments.present)
        return;
    text_blank(v->out);
    text_line(v->out, TEXT_PLAIN, "Outside the segments: %s %s before, %s after them; %s and %s.",
              figures_counted(x->n_before, "request").s, x->n_before == 1 ? "ends" : "end",
              units_count(x->n_after).s, units_size((double)x->before_bytes).s,
              units_size((double)x->after_bytes).s);
}

static void put_operation(const struct text_view *v, const struct operation *op, int64_t n_all)
{
    put_rule(v);
    if (op->n_requests == 0) {
        text_line(v->out, TEXT_HEADING, "Operation: %s (0).", op->op);
        text_line(v->out, TEXT_PLAIN, "Skipped: %s.", op->skipped ? op->skipped : "no requests");
        put_single_range(v, op);
        return;
    }
    put_title(v, op, n_all);
    text_line(v->out, TEXT_PLAIN, "Ran %s, from %s to %s UTC.",
              units_duration(op->end_ns - op->start_ns).s, text_cells_time(v, op->start_ns).s,
              text_cells_time(v, op->end_ns).s);
    put_errors(v, op);
    text_requests_put(v, &op->requests);
    put_throughput(v, "Throughput", &op->throughput, &op->segments);
    put_single_range(v, op);
    text_parties_hosts(v, op->hosts, op->n_host_results, &op->requests);
    text_parties_clients(v, op);
    if (v->verbose)
        text_statistics_put(v, op->statistics);
    text_statistics_co(v, op->statistics);
    put_outside(v, op);
}

static void put_total(const struct text_view *v)
{
    const struct cluster_total *t = &v->a->total;
    put_rule(v);
    text_line(v->out, TEXT_HEADING, "Cluster Total: all operations together.");
    put_throughput(v, "Throughput", &t->throughput, &t->segments);
    text_parties_hosts(v, t->hosts, t->n_hosts, NULL);
}

/* True if not all of it lies on one day. */
static bool spans_days(const struct analysis *a)
{
    int64_t first_day = INT64_MAX, last_day = INT64_MIN;
    for (size_t i = 0; i < a->n_operations; i++) {
        const struct operation *op = &a->operations[i];
        if (op->n_requests == 0)
            continue;
        int64_t start = op->start_ns / NS_PER_DAY, end = op->end_ns / NS_PER_DAY;
        first_day = int64_min(first_day, start);
        last_day = int64_max(last_day, end);
    }
    return first_day < last_day;
}

bool report_text(const struct analysis *a, const struct report_text_options *options, FILE *f,
                 struct err *e)
{
    struct text out = {.f = f, .colour = options->colour};
    const struct text_view v = {
        .a = a, .verbose = options->verbose, .has_dates = spans_days(a), .out = &out};
    int64_t n_all = 0, n_main = a->n_rows;

    if (!a->mixed && a->n_operations > 0)
        n_main = a->operations[a->n_operations - 1].n_requests;
    text_line(&out, TEXT_HEADING, "%s", headline(a).s);
    text_findings_put(&out, &a->findings, n_main);
    for (size_t i = 0; i < a->dataset->n_inputs; i++)
        put_input(&v, &a->dataset->inputs[i]);
    put_left_out(&v);
    if (a->n_operations > 1)
        put_summary(&v);
    for (size_t i = 0; i < a->n_operations; i++)
        n_all += a->operations[i].n_requests;
    for (size_t i = 0; i < a->n_operations; i++)
        put_operation(&v, &a->operations[i], n_all);
    if (a->total.present)
        put_total(&v);
    return out.failed ? mem_none(e) : true;
}
