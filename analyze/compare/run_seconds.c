#include "analyze/compare/run_seconds.h"

#include "analyze/analysis/aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define NS_PER_S    INT64_C(1000000000)
#define MAX_SECONDS 1000000 /* of a capture's operation: eleven days */

static const char *const no_series = "there is no throughput by second: the run took too few";
static const char *const no_counts = "requests by second are not in the file";
static const char *const has_failed = "its bytes and objects include failed requests";

/* The seconds of one operation. */
struct seconds {
    size_t n;
    double *bytes, *objects;
    int64_t *errors, *requests; /* that started in each; requests NULL: not known */
};

static bool seconds_init(struct seconds *s, size_t n, struct err *e)
{
    *s = (struct seconds){n, calloc(n + 1, sizeof *s->bytes), calloc(n + 1, sizeof *s->objects),
                          calloc(n + 1, sizeof *s->errors), calloc(n + 1, sizeof *s->requests)};
    return (s->bytes != NULL && s->objects != NULL && s->errors != NULL && s->requests != NULL) ||
           err_set(e, "out of memory");
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

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Mean, fastest, median and slowest, by the rank rule of the reports. */
static bool fill_rates(double *out, const double *v, size_t n, struct err *e)
{
    double *sorted = malloc((n + 1) * sizeof *sorted);
    if (sorted == NULL)
        return err_set(e, "out of memory");
    memcpy(sorted, v, n * sizeof *v);
    qsort(sorted, n, sizeof *sorted, by_value);
    out[RUN_AVERAGE] = mean_of(v, n);
    out[RUN_FASTEST] = sorted[n - 1];
    out[RUN_MEDIAN] = sorted[(n + 1) / 2 < n ? (n + 1) / 2 : n - 1];
    out[RUN_SLOWEST] = sorted[0];
    free(sorted);
    return true;
}

static bool fill_rate(struct run_op *op, enum run_metric metric, double *figures, const double *v,
                      size_t n, struct err *e)
{
    struct run_value *value = &op->parts[0].value[metric];
    value->present = value->can_gate = true;
    return fill_rates(figures, v, n, e) &&
           stats_mean(mean_of(v, n), v, n, op->n_requests, &value->ci, e);
}

static bool fill_errors(struct run_op *op, const struct seconds *s, struct err *e)
{
    struct run_value *value = &op->parts[0].value[RUN_ERRORS];
    double frac = (double)op->n_errors / (double)op->n_requests;
    value->present = value->can_gate = true;
    if (s->requests == NULL || s->n == 0)
        value->ci = (struct stats_ci){.why = s->n == 0 ? no_series : no_counts};
    else if (!stats_error_rate(s->errors, s->requests, s->n, &value->ci, e))
        return false;
    /* The rate itself is known of the whole run, its scatter of the seconds alone. */
    value->ci.value = frac;
    if (value->ci.ok) {
        value->ci.lo = fmin(value->ci.lo, frac);
        value->ci.hi = fmax(value->ci.hi, frac);
        value->ci.lo90 = fmin(value->ci.lo90, frac);
        value->ci.hi90 = fmax(value->ci.hi90, frac);
    }
    return true;
}

static bool fill_values(struct run_op *op, const struct seconds *s, bool has_bytes, struct err *e)
{
    struct run_part *p = &op->parts[0];
    op->has_range = s->n > 0;
    op->range_ns = (int64_t)s->n * NS_PER_S;
    if (!fill_errors(op, s, e))
        return false;
    if (s->n == 0 || op->n_errors > 0) {
        p->too_thin = s->n == 0 ? no_series : NULL;
        op->why_no_rates = s->n == 0 ? no_series : has_failed;
        return true;
    }
    if (!fill_rate(op, RUN_OBJECTS, op->figures.objects_per_s, s->objects, s->n, e) ||
        (has_bytes && !fill_rate(op, RUN_THROUGHPUT, op->figures.bytes_per_s, s->bytes, s->n, e)))
        return false;
    if (!p->value[RUN_OBJECTS].ci.ok)
        p->too_thin = p->value[RUN_OBJECTS].ci.why;
    return true;
}

static bool op_init(struct run_op *op, const char *name, struct err *e)
{
    *op = (struct run_op){.op = strdup(name),
                          .clear_bytes_per_s = NAN,
                          .clear_objects_per_s = NAN,
                          .parts = calloc(1, sizeof *op->parts),
                          .n_parts = 1};
    for (int i = 0; i < RUN_N_RATES; i++)
        op->figures.bytes_per_s[i] = op->figures.objects_per_s[i] = NAN;
    for (int i = 0; i < RUN_N_TIMES; i++)
        op->figures.duration_ns[i] = op->figures.ttfb_ns[i] = NAN;
    return (op->op != NULL && op->parts != NULL) || err_set(e, "out of memory");
}

static void fill_shares(struct run *r)
{
    double n = 0;
    for (size_t i = 0; i < r->n_ops; i++)
        n += (double)r->ops[i].n_requests;
    for (size_t i = 0; i < r->n_ops; i++)
        r->ops[i].share = n > 0 ? (double)r->ops[i].n_requests / n : 0;
}

/* ---- Aggregates ---- */

static bool is_wanted(const struct load_filter *filter, const char *op)
{
    for (size_t i = 0; i < filter->ops.n; i++)
        if (strcasecmp(filter->ops.v[i], op) == 0)
            return true;
    return filter->ops.n == 0;
}

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
    size_t n = 0;
    if (!seconds_init(s, a->n_sum, e))
        return false;
    for (size_t i = 0; i < a->n_sum; i++) {
        const struct aggregate_sum_second *second = &a->sum[i];
        if (second->n_clients != a->clients.n || second->start_s < from_s || second->start_s > to_s)
            continue;
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
    return true;
}

static void take_durations(struct run_op *op, const struct aggregate_latency *l)
{
    if (!isnan(l->mean_ms))
        op->figures.duration_ns[RUN_MEAN] = l->mean_ms * 1e6;
    if (l->kind != AGGREGATE_SINGLE)
        return;
    op->figures.duration_ns[RUN_BEST] = l->min_ms * 1e6;
    op->figures.duration_ns[RUN_WORST] = l->max_ms * 1e6;
}

static bool take_op(struct run_op *op, const struct aggregate *a, const struct aggregate_part *part,
                    struct err *e)
{
    const struct aggfile_entry *x = part->x;
    struct seconds s = {0};
    if (!op_init(op, x->name, e))
        return false;
    op->n_requests = x->n_requests;
    op->n_errors = x->n_errors;
    op->concurrency = x->n_threads;
    op->n_hosts = (int64_t)x->n_hosts;
    op->n_clients = (int64_t)x->n_clients;
    op->objects_per_op = x->n_requests > 0 ? x->n_objects / x->n_requests : 0;
    op->has_size = x->n_requests > 0 && x->n_bytes > 0;
    op->single_size = part->latency.kind == AGGREGATE_SINGLE;
    op->mean_bytes = op->has_size ? (double)x->n_bytes / (double)x->n_requests : 0;
    take_durations(op, &part->latency);
    bool is_sum = a->is_merged && !a->overlaps && a->n_sum > 0;
    bool ok = (is_sum ? take_common(&s, a, x, e) : take_seconds(&s, x, e)) &&
              fill_values(op, &s, x->n_bytes > 0, e);
    seconds_fini(&s);
    return ok;
}

bool run_seconds_aggregate(struct run *r, const struct load_filter *filter, struct err *e)
{
    struct aggregate a = {0};
    struct stat st;
    if (filter->host != NULL || filter->client != NULL || filter->from.given || filter->to.given)
        return err_set(e,
                       "%s: an aggregated capture has no requests to choose from: of the filters "
                       "only --op can be "
                       "used",
                       r->path);
    r->by_second = r->is_aggregate = true;
    bool ok = aggregate_load(&a, r->path, e);
    r->ops = ok ? calloc(a.ops.n + 1, sizeof *r->ops) : NULL;
    ok = ok && (r->ops != NULL || err_set(e, "out of memory"));
    if (ok) {
        r->n_file_bytes = stat(r->path, &st) == 0 ? (uint64_t)st.st_size : 0;
        r->n_rows = a.total.x->n_requests;
        r->start_ns = a.total.x->start_ns;
        r->end_ns = a.total.x->end_ns;
        r->mixed = a.overlaps;
        r->autoterm = strstr(a.file.command, "--autoterm") != NULL;
    }
    for (size_t i = 0; ok && i < a.ops.n; i++) {
        const struct aggregate_part *part = &a.ops.v[i];
        if (part->is_preparation || part->x->n_requests == 0 || !is_wanted(filter, part->x->name))
            continue;
        ok = take_op(&r->ops[r->n_ops++], &a, part, e);
    }
    fill_shares(r);
    struct findings found = {0};
    ok = ok && aggregate_find(&found, &a, e) && run_take_findings(r, &found, e);
    findings_free(&found);
    aggregate_free(&a);
    return ok;
}

/* ---- Captures ---- */

/* What [from, to) has of the second that begins at `second`, as a share; an instant has all of it.
 */
static double share_of(int64_t from, int64_t to, int64_t second_ns)
{
    int64_t a = from > second_ns ? from : second_ns;
    int64_t b = to < second_ns + NS_PER_S ? to : second_ns + NS_PER_S;
    return to == from ? 1 : (double)(b - a) / (double)(to - from);
}

static void spread(struct seconds *s, int64_t first_s, const struct table *t, size_t i)
{
    int64_t from = t->start[i], to = table_end(t, i);
    int64_t last_s = (to > from ? to - 1 : to) / NS_PER_S;
    for (int64_t second = from / NS_PER_S; second <= last_s; second++) {
        int64_t j = second - first_s;
        if (j < 0 || j >= (int64_t)s->n)
            continue;
        double share = share_of(from, to, second * NS_PER_S);
        s->bytes[j] += share * (double)packed_get(&t->bytes, i);
        s->objects[j] += share * (double)packed_get(&t->objects, i);
    }
    int64_t j = from / NS_PER_S - first_s;
    if (j >= 0 && j < (int64_t)s->n) {
        s->requests[j]++;
        s->errors[j] += table_failed(t, i);
    }
}

struct table_sums {
    int64_t start_ns, end_ns, n_errors, shortest_ns, longest_ns;
    __int128 bytes, objects, duration_ns;
};

static struct table_sums sum_up(const struct table *t)
{
    struct table_sums s = {.start_ns = INT64_MAX, .end_ns = INT64_MIN, .shortest_ns = INT64_MAX};
    for (size_t i = 0; i < t->n; i++) {
        int64_t end = table_end(t, i), duration = end - t->start[i];
        s.start_ns = t->start[i] < s.start_ns ? t->start[i] : s.start_ns;
        s.end_ns = end > s.end_ns ? end : s.end_ns;
        s.shortest_ns = duration < s.shortest_ns ? duration : s.shortest_ns;
        s.longest_ns = duration > s.longest_ns ? duration : s.longest_ns;
        s.n_errors += table_failed(t, i);
        s.bytes += packed_get(&t->bytes, i);
        s.objects += packed_get(&t->objects, i);
        s.duration_ns += duration;
    }
    return s;
}

/* How many of `n_ids` ids occur: of threads, hosts or clients. */
enum what { THREADS, HOSTS, CLIENTS };

static bool count_ids(int64_t *out, const struct dataset *d, const struct table *t, enum what what,
                      struct err *e)
{
    size_t n = what == THREADS ? d->n_threads : what == HOSTS ? d->hosts.n : d->clients.n;
    bool *seen = calloc(n + 1, sizeof *seen);
    if (seen == NULL)
        return err_set(e, "out of memory");
    *out = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct place *p = &d->places[table_place(t, i)];
        size_t id = what == THREADS ? table_thread(t, i) : what == HOSTS ? p->host : p->client;
        *out += !seen[id];
        seen[id] = true;
    }
    free(seen);
    return true;
}

static bool reduce_table(struct run_op *op, const struct dataset *d, const struct table *t,
                         const struct table_sums *sums, struct err *e)
{
    int64_t first_s = sums->start_ns / NS_PER_S + 2, n = sums->end_ns / NS_PER_S - 1 - first_s;
    struct seconds s = {0};
    if (!op_init(op, d->ops.v[t->op], e) || !count_ids(&op->concurrency, d, t, THREADS, e) ||
        !count_ids(&op->n_hosts, d, t, HOSTS, e) || !count_ids(&op->n_clients, d, t, CLIENTS, e))
        return false;
    if (n > MAX_SECONDS)
        return err_set(e, "%s: %s takes more than %d seconds", d->inputs[0].path, op->op,
                       MAX_SECONDS);
    op->n_requests = (int64_t)t->n;
    op->n_errors = sums->n_errors;
    op->objects_per_op = (int64_t)(sums->objects / (__int128)t->n);
    op->has_size = sums->bytes > 0;
    op->mean_bytes = (double)sums->bytes / (double)t->n;
    op->single_size = true;
    for (size_t i = 1; i < t->n && op->single_size; i++)
        op->single_size = packed_get(&t->bytes, i) == packed_get(&t->bytes, 0);
    op->figures.duration_ns[RUN_MEAN] = (double)sums->duration_ns / (double)t->n;
    op->figures.duration_ns[RUN_BEST] = (double)sums->shortest_ns;
    op->figures.duration_ns[RUN_WORST] = (double)sums->longest_ns;
    bool ok = seconds_init(&s, n > 0 ? (size_t)n : 0, e);
    for (size_t i = 0; ok && i < t->n; i++)
        spread(&s, first_s, t, i);
    ok = ok && fill_values(op, &s, sums->bytes > 0, e);
    seconds_fini(&s);
    return ok;
}

/* Whether table k was over before all others began. */
static bool is_preparation(const struct table_sums *sums, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++)
        if (i != k && sums[i].start_ns < sums[k].end_ns)
            return false;
    return n > 1;
}

bool run_seconds_capture(struct run *r, const struct dataset *d, struct err *e)
{
    struct table_sums *sums = calloc(d->n_tables + 1, sizeof *sums);
    r->by_second = true;
    r->ops = calloc(d->n_tables + 1, sizeof *r->ops);
    bool ok = (sums != NULL && r->ops != NULL) || err_set(e, "out of memory");
    r->n_rows = (int64_t)d->n_rows;
    r->n_file_bytes = d->inputs[0].info.n_file_bytes;
    r->start_ns = d->inputs[0].first_start_ns;
    r->end_ns = d->inputs[0].last_end_ns;
    for (size_t k = 0; ok && k < d->n_tables; k++)
        sums[k] = sum_up(&d->tables[k]);
    for (size_t k = 0; ok && k < d->n_tables; k++) {
        for (size_t i = 0; i < k; i++)
            r->mixed |= sums[i].start_ns < sums[k].end_ns && sums[k].start_ns < sums[i].end_ns;
        if (d->tables[k].n > 0 && !is_preparation(sums, d->n_tables, k))
            ok = reduce_table(&r->ops[r->n_ops++], d, &d->tables[k], &sums[k], e);
    }
    fill_shares(r);
    free(sums);
    return ok;
}
