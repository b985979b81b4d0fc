#include "analyze/compare/run_seconds.h"

#include "analyze/aggregated/aggregate.h"
#include "analyze/sums/sums.h"
#include "analyze/data/filter.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NS_PER_S INT64_C(1000000000)

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

static double mean_of(const double *v, size_t n)
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return (double)(sum / (long double)n);
}

/* An amount per second: its mean with an interval, and the fastest, median and slowest seconds in
 * figure[RUN_AVERAGE], ... */
static bool fill_rate(struct statistics_rate *r, double figure[RUN_N_RATES], const double *v,
                      size_t n, int64_t n_requests, struct err *e)
{
    double *sorted;
    if (!mem_new(&sorted, n + 1, e))
        return false;
    memcpy(sorted, v, n * sizeof *v);
    figure[RUN_AVERAGE] = mean_of(v, n);
    figure[RUN_FASTEST] = stats_select(sorted, n, n - 1);
    figure[RUN_MEDIAN] = stats_select(sorted, n, quantile_index(n, 500));
    figure[RUN_SLOWEST] = stats_select(sorted, n, 0);
    free(sorted);
    r->present = true;
    return stats_mean(figure[RUN_AVERAGE], v, n, n_requests, &r->mean, e);
}

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

static bool fill_rates(struct run_op *op, const struct seconds *s, bool has_bytes, struct err *e)
{
    struct operation *r = &op->report;
    double bytes[RUN_N_RATES] = {0}, objects[RUN_N_RATES];

    if (!fill_rate(&r->statistics->objects, objects, s->objects, s->n, r->n_requests, e) ||
        (has_bytes && !fill_rate(&r->statistics->bytes, bytes, s->bytes, s->n, r->n_requests, e)))
        return false;
    r->throughput = (struct throughput){.present = true,
                                        .n_bytes = r->n_bytes,
                                        .bytes_per_s = bytes[RUN_AVERAGE],
                                        .objects_per_s = objects[RUN_AVERAGE]};
    r->segments = (struct segments){
        .present = true,
        .n = (int64_t)s->n,
        .fastest = {0, bytes[RUN_FASTEST], objects[RUN_FASTEST]},
        .median = {0, bytes[RUN_MEDIAN], objects[RUN_MEDIAN]},
        .slowest = {0, bytes[RUN_SLOWEST], objects[RUN_SLOWEST]},
    };
    if (!r->statistics->objects.mean.ok)
        op->parts[0].too_thin = r->statistics->objects.mean.why;
    op->n_rates = s->n_successive;
    return mem_new(&op->rate, s->n, e) &&
           memcpy(op->rate, has_bytes ? s->bytes : s->objects, s->n * sizeof *op->rate) != NULL;
}

/* are_of_ok: bytes and objects are those of successful requests alone. */
static bool fill_values(struct run_op *op, const struct seconds *s, bool are_of_ok, struct err *e)
{
    struct operation *r = &op->report;

    r->range = (struct span){s->n > 0, 0, (int64_t)s->n * NS_PER_S};
    r->statistics->n_requests = r->n_requests - r->n_errors;
    r->statistics->n_failed = r->n_errors;
    if (!fill_errors(r, s, e))
        return false;
    if (s->n == 0)
        op->parts[0].too_thin = op->why_no_rates = no_series;
    else if (r->n_errors > 0 && !are_of_ok)
        op->why_no_rates = has_failed;
    else if (!fill_rates(op, s, r->n_bytes > 0, e))
        return false;
    metric_values(op->parts[0].value, r->statistics);
    return true;
}

/* Begins an operation by what is known of it at once. n_sized requests have all of its bytes. */
static bool begin(struct run_op *op, const struct operation *known, int64_t n_sized,
                  bool single_size, struct err *e)
{
    struct requests *q = &op->report.requests;

    if (!run_op_init(op, known->op, e))
        return false;
    op->report = *known;
    op->report.op = op->op;
    q->present = known->n_bytes > 0 && n_sized > 0;
    q->single_size = single_size;
    q->mean_bytes = q->present ? (double)known->n_bytes / (double)n_sized : 0;
    q->object_size_bytes = llround(q->mean_bytes);
    return mem_cleared(&op->report.statistics, 1, e);
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

/* Of a merged file whose operations follow each other: the seconds that all clients have. The
 * merged series lacks some, and has others in which not all clients ran. */
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

static bool take_op(struct run_op *op, const struct aggregate *a, const struct aggregate_part *part,
                    struct err *e)
{
    const struct aggfile_entry *x = part->x;
    const struct operation known = {
        .op = x->name,
        .n_requests = x->n_requests,
        .n_errors = x->n_errors,
        .n_bytes = x->n_bytes,
        .concurrency = x->n_threads,
        .n_hosts = (int64_t)x->n_hosts,
        .n_clients = (int64_t)x->n_clients,
        .objects_per_op = x->n_requests > 0 ? x->n_objects / x->n_requests : 0,
    };
    struct seconds s = {0};

    if (!begin(op, &known, x->n_requests, part->latency.kind == AGGREGATE_SINGLE, e))
        return false;
    if (x->n_errors == 0) /* the groups have failed requests among them */
        take_durations(&op->report.statistics->duration, &part->latency);
    bool is_sum = a->is_merged && !a->overlaps && a->n_sum > 0;
    bool ok = (is_sum ? take_common(&s, a, x, e) : take_seconds(&s, x, e)) &&
              fill_values(op, &s, false, e);
    seconds_fini(&s);
    return ok;
}

static bool only_ops(const struct run *r, const struct load_filter *filter, const char *what,
                     struct err *e)
{
    if (filter->host == NULL && filter->client == NULL && !filter->from.given && !filter->to.given)
        return true;
    return err_set(e, "%s: %s has no requests to choose from: of the filters only --op can be used",
                   r->path, what);
}

bool run_seconds_aggregate(struct run *r, const struct load_filter *filter, struct err *e)
{
    struct aggregate a = {0};
    struct stat st;

    if (!only_ops(r, filter, "an aggregated capture", e))
        return false;
    r->by_second = r->is_aggregate = true;
    bool ok = aggregate_load(&a, r->path, e);
    ok = ok && mem_cleared(&r->ops, a.ops.n, e);
    if (ok) {
        r->n_file_bytes = stat(r->path, &st) == 0 ? (uint64_t)st.st_size : 0;
        r->n_rows = a.total.x->n_requests;
        r->start_ns = a.total.x->start_ns;
        r->end_ns = a.total.x->end_ns;
        r->mixed = a.overlaps;
        r->autoterm = run_asks_for_autoterm(a.file.command);
    }
    for (size_t i = 0; ok && i < a.ops.n; i++) {
        const struct aggregate_part *part = &a.ops.v[i];
        if (part->is_preparation || part->x->n_requests == 0 ||
            !filter_op_matches(filter->ops.v, filter->ops.n, part->x->name))
            continue;
        ok = take_op(&r->ops[r->n_ops++], &a, part, e);
    }
    run_fill_shares(r);
    struct findings found = {0};
    ok = ok && aggregate_find(&found, &a, e) && run_take_findings(r, &found, e);
    findings_free(&found);
    aggregate_free(&a);
    return ok;
}

/* ---- Sums ---- */

static bool take_sums(struct seconds *s, const struct sums_part *p, struct err *e)
{
    int64_t first_s = p->start_ns / NS_PER_S + 2, n = p->end_ns / NS_PER_S - 1 - first_s;
    if (!seconds_init(s, n > 0 ? (size_t)n : 0, e))
        return false;
    for (size_t i = 0; i < s->n; i++) {
        const struct sums_second *second = &p->seconds[first_s - p->first_s + (int64_t)i];
        s->bytes[i] = (double)second->n_bytes;
        s->objects[i] = (double)second->n_micro_objects / SUMS_MICRO;
        s->errors[i] = second->n_failed;
        s->requests[i] = second->n_ended + second->n_failed;
    }
    return true;
}

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

static bool take_sums_op(struct run_op *op, const struct sums_op *x, struct err *e)
{
    const struct sums_part *all = &x->all;
    const struct operation known = {
        .op = x->op,
        .n_requests = all->n_requests,
        .n_errors = all->n_errors,
        .n_bytes = all->n_bytes,
        .concurrency = x->n_threads,
        .n_hosts = (int64_t)x->hosts.n,
        .n_clients = (int64_t)x->clients.n,
        .objects_per_op = x->first_objects,
    };
    struct seconds s = {0};

    bool ok = begin(op, &known, all->n_requests - all->n_errors, x->min_bytes == x->max_bytes, e) &&
              take_values(&op->report.statistics->duration, &all->duration, e) &&
              take_values(&op->report.statistics->ttfb, &all->ttfb, e) && take_sums(&s, all, e) &&
              fill_values(op, &s, true, e);
    seconds_fini(&s);
    return ok;
}

/* Whether operation k was over before all others began. */
static bool is_preparation(const struct sums *s, size_t k)
{
    for (size_t i = 0; i < s->n_ops; i++)
        if (i != k && s->ops[i].all.start_ns < s->ops[k].all.end_ns)
            return false;
    return s->n_ops > 1;
}

static bool take_all_sums(struct run *r, const struct sums *s, const struct load_filter *filter,
                          struct err *e)
{
    struct op_span *spans = NULL;
    r->by_second = true;
    r->start_ns = INT64_MAX;
    r->end_ns = INT64_MIN;
    bool ok = mem_cleared(&spans, s->n_ops, e) && mem_cleared(&r->ops, s->n_ops, e);
    for (size_t k = 0; ok && k < s->n_ops; k++) {
        const struct sums_part *p = &s->ops[k].all;
        spans[k] = (struct op_span){p->start_ns, p->end_ns, 0};
        r->n_rows += p->n_requests;
        r->start_ns = int64_min(r->start_ns, p->start_ns);
        r->end_ns = int64_max(r->end_ns, p->end_ns);
        bool is_asked =
            filter->ops.n > 0 && filter_op_matches(filter->ops.v, filter->ops.n, s->ops[k].op);
        if (is_asked || (filter->ops.n == 0 && !is_preparation(s, k)))
            ok = take_sums_op(&r->ops[r->n_ops++], &s->ops[k], e);
    }
    r->mixed = ok && dataset_any_overlap(spans, s->n_ops);
    run_fill_shares(r);
    free(spans);
    return ok;
}

static bool take_findings(struct run *r, const struct sums *s, struct err *e)
{
    const struct analysis_options how = {0};
    struct analysis a = {0};
    struct dataset d = {0};
    bool ok = sums_analyze(&a, &d, s, r->path, &how, e) && run_take_findings(r, &a.findings, e);

    analysis_free(&a);
    dataset_free(&d);
    return ok;
}

bool run_seconds_sums(struct run *r, const struct load_filter *filter, struct err *e)
{
    struct sums s = {0};
    struct stat st;

    r->is_sums = true;
    if (!only_ops(r, filter, "a file of sums", e))
        return false;
    bool ok = sums_read(&s, r->path, e) && take_all_sums(r, &s, filter, e) &&
              recorded_take(&r->recorded, &s.said, e) && take_findings(r, &s, e);
    for (size_t i = 0; i < s.said.n; i++)
        r->autoterm |= run_asks_for_autoterm(s.said.line[i]);
    r->n_file_bytes = stat(r->path, &st) == 0 ? (uint64_t)st.st_size : 0;
    sums_free(&s);
    return ok;
}

bool run_seconds_capture(struct run *r, const struct dataset *d, unsigned threads, struct err *e)
{
    const struct load_filter all = {0};
    struct sums s = {0};
    bool ok = sums_of_dataset(&s, d, threads, e) && take_all_sums(r, &s, &all, e);

    run_take_recorded(r, d);
    sums_free(&s);
    return ok;
}
