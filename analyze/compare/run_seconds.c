#include "analyze/compare/run_seconds.h"

#include "analyze/aggregated/aggregate.h"
#include "analyze/data/filter.h"
#include "analyze/sums/sums.h"
#include "libcommon/mem.h"
#include "libcommon/quantile.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const no_series = "there is no throughput by second: the run took too few";
static const char *const no_counts = "requests by second are not in the file";
static const char *const no_order = "how its requests lie in time is not in sums";
static const char *const has_failed = "its bytes and objects include failed requests";

/* The seconds of one operation. */
struct seconds {
    size_t n, n_successive; /* up to the first gap, which only a merge leaves */
    double *bytes, *objects;
    int64_t *errors, *requests; /* that started in each; requests NULL: not known */
};

static bool seconds_init(struct seconds *s, size_t n, struct err *e)
{
    *s = (struct seconds){.n = n, .n_successive = n};
    return mem_cleared(&s->bytes, n, e) && mem_cleared(&s->objects, n, e) &&
           mem_cleared(&s->errors, n, e) && mem_cleared(&s->requests, n, e);
}

static void seconds_fini(struct seconds *s)
{
    free(s->bytes);
    free(s->objects);
    free(s->errors);
    free(s->requests);
}

/* ---- From seconds to values ---- */

static bool fill_errors(const struct operation *r, const struct seconds *s, struct err *e)
{
    struct stats_ci *ci = &r->statistics->error_rate;
    double frac = (double)r->n_errors / (double)r->n_requests;

    if (s->requests == NULL || s->n == 0)
        *ci = (struct stats_ci){.why = s->n == 0 ? no_series : no_counts};
    else if (!stats_error_rate(s->errors, s->requests, s->n, ci, e))
        return false;
    /* The rate itself is known of the whole run, its scatter of the seconds alone. */
    ci->value = frac;
    if (ci->ok) {
        ci->lo = fmin(ci->lo, frac);
        ci->hi = fmax(ci->hi, frac);
        ci->lo90 = fmin(ci->lo90, frac);
        ci->hi90 = fmax(ci->hi90, frac);
    }
    return true;
}

/* An amount per second, with the interval that its seconds give it. */
static bool fill_rate(struct statistics_rate *to, double mean, const double *v,
                      const struct seconds *s, const struct operation *r, struct err *e)
{
    to->present = true;
    return stats_mean(mean, v, s->n, r->n_requests, &to->mean, e);
}

/* The values to compare, of what the report says already, and of its seconds. */
static bool fill_values(struct run_op *op, const struct seconds *s, struct err *e)
{
    struct operation *r = &op->report;
    struct statistics *to = r->statistics;

    to->n_requests = r->n_requests - r->n_errors;
    to->n_failed = r->n_errors;
    if (!fill_errors(r, s, e))
        return false;
    if (s->n == 0) {
        op->parts[0].too_thin = op->why_no_rates = no_series;
    } else if (op->why_no_rates == NULL) {
        if (!fill_rate(&to->objects, r->throughput.objects_per_s, s->objects, s, r, e) ||
            (r->n_bytes > 0 &&
             !fill_rate(&to->bytes, r->throughput.bytes_per_s, s->bytes, s, r, e)))
            return false;
        op->parts[0].too_thin = to->objects.mean.ok ? NULL : to->objects.mean.why;
    }
    metric_values(op->parts[0].value, to);
    return true;
}

/* ---- Aggregates ---- */

static bool take_seconds(struct seconds *s, const struct aggfile_entry *x, struct err *e)
{
    bool are_requests = x->n_objects == x->n_requests;
    if (!seconds_init(s, x->n_seconds, e))
        return false;
    for (size_t i = 0; i < s->n; i++) {
        s->bytes[i] = x->seconds[i].bytes_per_s;
        s->objects[i] = x->seconds[i].objects_per_s;
        s->errors[i] = x->seconds[i].n_errors;
        s->requests[i] = llround(fmin(s->objects[i], 1e15));
        if (s->requests[i] < s->errors[i])
            s->requests[i] = s->errors[i];
        if (i < s->n_successive && x->seconds[i].label_s != x->seconds[0].label_s + (int64_t)i)
            s->n_successive = i;
    }
    if (!are_requests) {
        free(s->requests);
        s->requests = NULL;
    }
    return true;
}

/* Takes the seconds that all clients of a merged file have, if its operations follow each other.
 * The merged series lacks some of these, and has others in which not all clients ran. */
static bool take_common(struct seconds *s, const struct aggregate *a, const struct aggfile_entry *x,
                        struct err *e)
{
    int64_t from_s = x->start_ns / NS_PER_S + 2, to_s = x->end_ns / NS_PER_S - 2;
    double per_request = x->n_requests > 0 ? (double)x->n_objects / (double)x->n_requests : 0;
    size_t n = 0, n_successive = 0;
    int64_t first_s = 0;

    if (!seconds_init(s, a->n_sum, e))
        return false;
    for (size_t i = 0; i < a->n_sum; i++) {
        const struct aggregate_sum_second *second = &a->sum[i];
        if (second->n_clients != a->clients.n || second->start_s < from_s || second->start_s > to_s)
            continue;
        first_s = n == 0 ? second->start_s : first_s;
        n_successive += n == n_successive && second->start_s == first_s + (int64_t)n;
        s->bytes[n] = second->bytes_per_s;
        s->objects[n] = second->objects_per_s;
        s->errors[n] = second->n_errors;
        s->requests[n] =
            per_request > 0 ? llround(fmin(second->objects_per_s / per_request, 1e15)) : 0;
        if (s->requests[n] < s->errors[n])
            s->requests[n] = s->errors[n];
        n++;
    }
    s->n = n;
    s->n_successive = n_successive;
    return true;
}

/* Exact as far as the groups tell; percentiles they have none. */
static void take_durations(struct statistics_latency *to, const struct aggregate_latency *l)
{
    bool is_single = l->kind == AGGREGATE_SINGLE;
    if (isnan(l->mean_ms) && !is_single)
        return;
    to->n = l->n_requests;
    to->mean_ns = l->mean_ms * 1e6;
    to->fastest_ns = is_single ? l->min_ms * 1e6 : NAN;
    to->slowest_ns = is_single ? l->max_ms * 1e6 : NAN;
    for (size_t i = 0; i < STATISTICS_N_QUANTILES; i++)
        to->q[i].ci.value = NAN;
}

static double mean_of(const double *v, size_t n)
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return (double)(sum / (long double)n);
}

/* By bytes or, without any, by objects, as segments are ranked. */
static int compare_picks(const void *a, const void *b)
{
    const struct segment_pick *x = a, *y = b;
    if (x->bytes_per_s != y->bytes_per_s)
        return x->bytes_per_s > y->bytes_per_s ? 1 : -1;
    return (x->objects_per_s > y->objects_per_s) - (x->objects_per_s < y->objects_per_s);
}

static bool take_rates(struct run_op *op, const struct seconds *s, struct err *e)
{
    struct operation *r = &op->report;
    struct segment_pick *v;

    if (!mem_new(&v, s->n, e))
        return false;
    for (size_t i = 0; i < s->n; i++)
        v[i] = (struct segment_pick){0, s->bytes[i], s->objects[i]};
    qsort(v, s->n, sizeof *v, compare_picks);
    r->throughput = (struct throughput){.present = true,
                                        .n_bytes = r->n_bytes,
                                        .bytes_per_s = mean_of(s->bytes, s->n),
                                        .objects_per_s = mean_of(s->objects, s->n)};
    r->segments = (struct segments){
        .present = true,
        .n = (int64_t)s->n,
        .slowest = v[0],
        .median = v[quantile_index(s->n, 500)],
        .fastest = v[s->n - 1],
    };
    free(v);
    op->n_rates = s->n_successive;
    return mem_new(&op->rate, s->n, e) && memcpy(op->rate, r->n_bytes > 0 ? s->bytes : s->objects,
                                                 s->n * sizeof *op->rate) != NULL;
}

static bool take_op(struct run_op *op, const struct aggregate *a, const struct aggregate_part *part,
                    struct err *e)
{
    const struct aggfile_entry *x = part->x;
    struct operation *r = &op->report;
    struct seconds s = {0};

    if (!run_op_init(op, x->name, e))
        return false;
    double mean_bytes =
        x->n_bytes > 0 && x->n_requests > 0 ? (double)x->n_bytes / (double)x->n_requests : 0;
    *r = (struct operation){
        .op = op->op,
        .start_ns = x->start_ns,
        .n_requests = x->n_requests,
        .n_errors = x->n_errors,
        .n_bytes = x->n_bytes,
        .concurrency = x->n_threads,
        .n_hosts = (int64_t)x->n_hosts,
        .n_clients = (int64_t)x->n_clients,
        .objects_per_op = x->n_requests > 0 ? x->n_objects / x->n_requests : 0,
        .requests = {.present = mean_bytes > 0,
                     .single_size = part->latency.kind == AGGREGATE_SINGLE,
                     .mean_bytes = mean_bytes,
                     .object_size_bytes = llround(mean_bytes)},
    };
    if (!mem_cleared(&r->statistics, 1, e))
        return false;
    if (x->n_errors == 0) /* the groups have failed requests among them */
        take_durations(&r->statistics->duration, &part->latency);
    else
        op->why_no_rates = has_failed;
    bool is_sum = a->is_merged && !a->overlaps && a->n_sum > 0;
    bool ok = is_sum ? take_common(&s, a, x, e) : take_seconds(&s, x, e);
    r->range = (struct span){s.n > 0, 0, (int64_t)s.n * NS_PER_S};
    ok = ok && (s.n == 0 || op->why_no_rates != NULL || take_rates(op, &s, e)) &&
         fill_values(op, &s, e);
    seconds_fini(&s);
    return ok;
}

bool run_seconds_take(struct run *r, const struct aggregate *a, const struct load_filter *filter,
                      struct err *e)
{
    if (!mem_cleared(&r->ops, a->ops.n, e))
        return false;
    r->n_rows = a->total.x->n_requests;
    r->start_ns = a->total.x->start_ns;
    r->end_ns = a->total.x->end_ns;
    r->mixed = a->overlaps;
    r->autoterm = run_asks_for_autoterm(a->file.command);
    for (size_t i = 0; i < a->ops.n; i++) {
        const struct aggregate_part *part = &a->ops.v[i];
        if (part->is_preparation || part->x->n_requests == 0 ||
            !filter_op_matches(filter->ops.v, filter->ops.n, part->x->name))
            continue;
        if (!take_op(&r->ops[r->n_ops++], a, part, e))
            return false;
    }
    run_fill_shares(r);
    return true;
}

bool run_seconds_aggregate(struct run *r, const struct load_filter *filter, struct err *e)
{
    struct aggregate a = {0};
    struct analysis analysis = {0};
    struct dataset d = {0};
    struct stat st;

    r->n_file_bytes = stat(r->path, &st) == 0 ? (uint64_t)st.st_size : 0;
    bool ok = aggregate_load(&a, r->path, e) && run_seconds_take(r, &a, filter, e) &&
              aggregate_analyze(&analysis, &d, &a, e) &&
              run_take_findings(r, &analysis.findings, e);
    analysis_free(&analysis);
    dataset_free(&d);
    aggregate_free(&a);
    return ok && (r->n_ops > 0 || err_set(e, "%s: no requests", r->path));
}

/* ---- Sums ---- */

/* Durations or TTFBs, whose quantiles have no limits. */
static bool take_values(struct statistics_latency *to, const struct sums_values *v, struct err *e)
{
    to->n = v->moments.n;
    if (v->n_buckets == 0)
        return true;
    to->mean_ns = moments_mean(&v->moments);
    to->fastest_ns = (double)v->min;
    to->slowest_ns = (double)v->max;
    for (size_t i = 0; i < STATISTICS_N_QUANTILES; i++)
        to->q[i].ci = (struct stats_ci){.why = no_order,
                                        .value = (double)sums_quantile(v, statistics_permille[i])};
    to->first_bucket = v->bucket[0];
    to->n_buckets = v->bucket[v->n_buckets - 1] - v->bucket[0] + 1;
    if (!mem_cleared(&to->count, to->n_buckets, e))
        return false;
    for (size_t i = 0; i < v->n_buckets; i++)
        to->count[v->bucket[i] - v->bucket[0]] = (uint64_t)v->count[i];
    return true;
}

bool run_seconds_sums(struct run_op *op, const struct analysis *a, size_t k, struct err *e)
{
    const struct sums_part *all = &sums_op_of(a, k)->all;
    const struct span *range = &op->report.range;
    struct segment_grid grid;
    struct series_row *rows = NULL;
    struct seconds s = {0};
    size_t n = 0;

    if (!mem_cleared(&op->report.statistics, 1, e))
        return false;
    struct statistics *to = op->report.statistics;
    segment_grid_init(&grid, range->start_ns, NS_PER_S,
                      (size_t)((range->end_ns - range->start_ns) / NS_PER_S));
    bool ok = take_values(&to->duration, &all->duration, e) &&
              take_values(&to->ttfb, &all->ttfb, e) &&
              analysis_series_on(a, (int)k, -1, &grid, &rows, &n, e) && seconds_init(&s, n, e);
    for (size_t i = 0; ok && i < n; i++) {
        s.bytes[i] = (double)rows[i].bytes;
        s.objects[i] = rows[i].objects;
        s.errors[i] = rows[i].errors;
        s.requests[i] = rows[i].ops_ended + rows[i].errors;
    }
    ok = ok && fill_values(op, &s, e);
    seconds_fini(&s);
    free(rows);
    return ok;
}
