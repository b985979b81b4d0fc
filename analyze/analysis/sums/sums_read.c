#include "analyze/analysis/sums/sums.h"

#include "analyze/analysis/sums/sums_internal.h"
#include "analyze/read/aggbytes.h"
#include "analyze/read/jsonpull.h"
#include "analyze/summary/requests/sample.h"
#include "libcommon/hist.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A file being read. */
struct reader {
    struct jsonpull p;
    size_t n_seconds; /* over all parts so far */
};

/* ---- Values ---- */

static void read_buckets(struct reader *r, struct sums_values *v, size_t *n)
{
    uint64_t sum = 0;
    uint32_t *bucket;

    jsonpull_array(&r->p);
    while ((bucket = JSONPULL_NEXT(&r->p, &v->bucket, n)) != NULL) {
        int64_t step = jsonpull_count(&r->p);
        sum += step < HIST_N_INDEXES ? (uint64_t)step : HIST_N_INDEXES;
        if ((*n > 1 && step == 0) || sum >= HIST_N_INDEXES)
            jsonpull_fail(&r->p, "there is no such bucket");
        *bucket = (uint32_t)sum;
    }
}

static void read_counts(struct reader *r, struct sums_values *v, size_t *n)
{
    int64_t *count;

    jsonpull_array(&r->p);
    while ((count = JSONPULL_NEXT(&r->p, &v->count, n)) != NULL) {
        *count = jsonpull_count(&r->p);
        if (*count == 0)
            jsonpull_fail(&r->p, "a bucket of nothing");
        if (*n > HIST_N_INDEXES)
            jsonpull_fail(&r->p, "more counts than buckets");
    }
}

static void check_values(struct reader *r, struct sums_values *v, size_t n_buckets, size_t n_counts)
{
    const struct moments *m = &v->moments;
    __int128 n = 0;

    if (r->p.failed)
        return;
    if (n_buckets == 0 || n_buckets != n_counts) {
        jsonpull_fail(&r->p, "%zu buckets and %zu counts", n_buckets, n_counts);
        return;
    }
    v->n_buckets = n_buckets;
    for (size_t i = 0; i < n_buckets; i++)
        n += v->count[i];
    if (n != m->n)
        jsonpull_fail(&r->p, "the counts do not add up to n");
    if (v->min > v->max || hist_index(v->min) != v->bucket[0] ||
        hist_index(v->max) != v->bucket[n_buckets - 1])
        jsonpull_fail(&r->p, "min and max are not in the first and the last bucket");
}

/* Checks that sum and squares are possible for n values from min to max. */
static void check_moments(struct reader *r, const struct sums_values *v)
{
    const struct moments *m = &v->moments;
    unsigned __int128 sum = (unsigned __int128)m->sum;

    if (r->p.failed)
        return;
    if (m->sum < (__int128)m->n * v->min || m->sum > (__int128)m->n * v->max ||
        m->squares < (sum * sum + (uint64_t)m->n - 1) / (uint64_t)m->n ||
        m->squares > sum * (unsigned __int128)v->max)
        jsonpull_fail(&r->p, "sum and squares are not those of such values");
}

static void read_intervals(struct reader *r, struct sums_values *v)
{
    int64_t *const to = (int64_t *)v->interval;
    size_t n = 0;

    jsonpull_array(&r->p);
    for (; jsonpull_item(&r->p); n++) {
        int64_t value = jsonpull_count(&r->p);
        if (n < SUMS_N_INTERVALS * 4)
            to[n] = value;
    }
    if (n != SUMS_N_INTERVALS * 4)
        jsonpull_fail(&r->p, "%zu numbers for %d intervals", n, SUMS_N_INTERVALS);
}

static void read_values(struct reader *r, struct sums_values *v, bool has_moments)
{
    enum { SQUARES = 1, BUCKETS, COUNTS, INTERVALS };
    int64_t sum = 0;
    size_t n_buckets = 0, n_counts = 0;
    struct jsonpull_field fields[] = {{"n", .count = &v->moments.n},
                                      {"min", .count = &v->min},
                                      {"max", .count = &v->max},
                                      {"sum", .count = &sum, .optional = true},
                                      {"squares", .own = SQUARES, .optional = true},
                                      {"buckets", .own = BUCKETS, .optional = true},
                                      {"counts", .own = COUNTS, .optional = true},
                                      {"intervals", .own = INTERVALS, .optional = true},
                                      {0}};

    jsonpull_object(&r->p);
    for (int own; (own = jsonpull_own(&r->p, fields)) != 0;) {
        if (own == SQUARES)
            v->moments.squares = jsonpull_wide(&r->p);
        else if (own == BUCKETS)
            read_buckets(r, v, &n_buckets);
        else if (own == INTERVALS)
            read_intervals(r, v);
        else
            read_counts(r, v, &n_counts);
    }
    jsonpull_need(&r->p, fields);
    v->moments.sum = sum;
    check_values(r, v, n_buckets, n_counts);
    if (has_moments)
        check_moments(r, v);
}

/* ---- Seconds ---- */

static void read_column(struct reader *r, struct sums_part *p, size_t column)
{
    size_t n = 0;
    jsonpull_array(&r->p);
    for (; jsonpull_item(&r->p); n++) {
        int64_t value = jsonpull_count(&r->p);
        if (n < p->n_seconds)
            *sums_cell(&p->seconds[n], column) = value;
    }
    if (n != p->n_seconds)
        jsonpull_fail(&r->p, "%zu numbers for %zu seconds", n, p->n_seconds);
}

static void read_seconds(struct reader *r, struct sums_part *p)
{
    int64_t n = 0;
    struct jsonpull_field fields[2 + SUMS_N_COLUMNS + 1] = {{"first", .count = &p->first_s},
                                                            {"n", .count = &n}};

    for (int i = 0; i < SUMS_N_COLUMNS; i++)
        fields[2 + i] =
            (struct jsonpull_field){.key = sums_columns[i], .own = i + 1, .optional = true};
    jsonpull_object(&r->p);
    for (int own; (own = jsonpull_own(&r->p, fields)) != 0;) {
        if (p->n_seconds == 0) {
            jsonpull_need(&r->p, fields);
            if (n < 1 || n > SUMS_MAX_SECONDS - (int64_t)r->n_seconds)
                jsonpull_fail(&r->p, "%lld seconds, in a file of at most %d", (long long)n,
                              SUMS_MAX_SECONDS);
            if (r->p.failed || !jsonpull_check(&r->p, mem_cleared(&p->seconds, (size_t)n, r->p.e)))
                return;
            p->n_seconds = (size_t)n;
            r->n_seconds += p->n_seconds;
        }
        read_column(r, p, (size_t)own - 1);
    }
    if (p->n_seconds == 0)
        jsonpull_fail(&r->p, "no seconds");
}

static __int128 column_sum(const struct sums_part *p, size_t column)
{
    __int128 sum = 0;
    for (size_t i = 0; i < p->n_seconds; i++)
        sum += *sums_cell(&p->seconds[i], column);
    return sum;
}

static void check_seconds(struct reader *r, const struct sums_part *p)
{
    const __int128 expected[] = {p->n_requests,
                                 p->n_requests - p->n_errors,
                                 p->n_errors,
                                 p->n_bytes,
                                 (__int128)p->n_objects * SUMS_MICRO,
                                 -1,
                                 p->duration.moments.sum,
                                 -1};
    if (p->first_s != p->start_ns / NS_PER_S ||
        p->first_s + (int64_t)p->n_seconds != p->end_ns / NS_PER_S + 1)
        jsonpull_fail(&r->p, "the seconds are not those from start_ns to end_ns");
    for (size_t column = 0; column < SUMS_N_COLUMNS; column++) {
        __int128 sum = column_sum(p, column);
        if (expected[column] >= 0 && sum != expected[column])
            jsonpull_fail(&r->p, "the seconds of %s do not add up to all", sums_columns[column]);
        if (sum > INT64_MAX)
            jsonpull_fail(&r->p, "the seconds of %s are beyond 63 bits", sums_columns[column]);
    }
}

/* ---- Parts ---- */

enum { SECONDS = 1, DURATION, TTFB, RATE, N_PART_KEYS };

/* The keys of a part *p; an operation has them too. */
#define PART_FIELDS(p)                                                                             \
    {"n_requests", .count = &(p)->n_requests}, {"n_errors", .count = &(p)->n_errors},              \
        {"n_bytes", .count = &(p)->n_bytes}, {"n_objects", .count = &(p)->n_objects},              \
        {"start_ns", .count = &(p)->start_ns}, {"end_ns", .count = &(p)->end_ns},                  \
        {"rated_bytes", .count = &(p)->n_rated_bytes}, {"rated_ns", .count = &(p)->n_rated_ns},    \
        {"seconds", .own = SECONDS, .optional = true},                                             \
        {"duration_ns", .own = DURATION, .optional = true},                                        \
        {"ttfb_ns", .own = TTFB, .optional = true},                                                \
    {                                                                                              \
        "rate", .own = RATE, .optional = true                                                      \
    }

/* Reads the value of one of these keys. */
static void read_part_key(struct reader *r, int own, struct sums_part *p)
{
    if (own == SECONDS)
        read_seconds(r, p);
    else
        read_values(r,
                    own == DURATION ? &p->duration
                    : own == TTFB   ? &p->ttfb
                                    : &p->rate,
                    own != RATE);
}

static void check_part(struct reader *r, const struct sums_part *p, bool with_seconds)
{
    if (r->p.failed)
        return;
    int64_t n_ok = p->n_requests - p->n_errors;
    if (p->n_requests < 1 || n_ok < 0 || p->start_ns > p->end_ns)
        jsonpull_fail(&r->p, "there are no such requests");
    else if (p->duration.moments.n != n_ok || p->ttfb.moments.n > n_ok || p->rate.moments.n > n_ok)
        jsonpull_fail(&r->p, "there are other numbers of values than of requests");
    else if (p->n_rated_bytes > p->n_bytes || p->n_rated_ns > p->duration.moments.sum)
        jsonpull_fail(&r->p, "the requests with a rate have more than all");
    else if (p->n_rated_bytes < p->rate.moments.n || p->n_rated_ns < p->rate.moments.n)
        jsonpull_fail(&r->p, "there are more rates than bytes or nanoseconds");
    else if (with_seconds)
        check_seconds(r, p);
    else if (p->n_seconds > 0)
        jsonpull_fail(&r->p, "a class of sizes has no seconds");
}

/* ---- What parts add up to ---- */

/* True if the durations, times to first byte or rates (`offset`) of all parts add up to `all`. */
static bool values_add_up(struct reader *r, const struct sums_parts *parts, size_t offset,
                          const struct sums_values *all)
{
    struct moments m = {0};
    uint64_t *count;

    if (!jsonpull_check(&r->p, mem_cleared(&count, HIST_N_INDEXES, r->p.e))) {
        free(count);
        return true;
    }
    for (size_t k = 0; k < parts->n; k++) {
        const struct sums_values *v = (const void *)((const char *)&parts->v[k] + offset);
        for (size_t i = 0; i < v->n_buckets; i++)
            count[v->bucket[i]] += (uint64_t)v->count[i];
        moments_merge(&m, &v->moments);
    }
    bool same =
        m.n == all->moments.n && m.sum == all->moments.sum && m.squares == all->moments.squares;
    for (size_t i = 0; i < all->n_buckets; i++)
        same &= count[all->bucket[i]] == (uint64_t)all->count[i];
    free(count);
    return same;
}

/* True if the seconds of all parts add up to `all`. The seconds of each part must lie within those
 * of `all`. */
static bool seconds_add_up(struct reader *r, const struct sums_parts *parts,
                           const struct sums_part *all)
{
    uint64_t *sum;
    size_t n_cells = all->n_seconds * SUMS_N_COLUMNS;

    if (!jsonpull_check(&r->p, mem_cleared(&sum, n_cells, r->p.e))) {
        free(sum);
        return true;
    }
    for (size_t k = 0; k < parts->n; k++) {
        size_t first = (size_t)(parts->v[k].first_s - all->first_s);
        for (size_t i = 0; i < parts->v[k].n_seconds * SUMS_N_COLUMNS; i++)
            sum[first * SUMS_N_COLUMNS + i] +=
                (uint64_t)*sums_cell(&parts->v[k].seconds[i / SUMS_N_COLUMNS], i % SUMS_N_COLUMNS);
    }
    bool same = true;
    for (size_t i = 0; i < n_cells; i++)
        same &=
            sum[i] == (uint64_t)*sums_cell(&all->seconds[i / SUMS_N_COLUMNS], i % SUMS_N_COLUMNS);
    free(sum);
    return same;
}

static void check_sums(struct reader *r, const struct sums_parts *parts,
                       const struct sums_part *all, const char *name)
{
    __int128 n_requests = 0, n_errors = 0, n_bytes = 0, n_objects = 0, rated[2] = {0};
    int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;

    for (size_t i = 0; i < parts->n; i++) {
        const struct sums_part *p = &parts->v[i];
        n_requests += p->n_requests;
        n_errors += p->n_errors;
        n_bytes += p->n_bytes;
        n_objects += p->n_objects;
        rated[0] += p->n_rated_bytes;
        rated[1] += p->n_rated_ns;
        start_ns = int64_min(start_ns, p->start_ns);
        end_ns = int64_max(end_ns, p->end_ns);
        if (i > 0 && sums_compare_parts(p - 1, p) >= 0)
            jsonpull_fail(&r->p, "the %s are not in order", name);
    }
    if (n_requests != all->n_requests || n_errors != all->n_errors || n_bytes != all->n_bytes ||
        n_objects != all->n_objects || rated[0] != all->n_rated_bytes ||
        rated[1] != all->n_rated_ns || start_ns != all->start_ns || end_ns != all->end_ns ||
        !values_add_up(r, parts, offsetof(struct sums_part, duration), &all->duration) ||
        !values_add_up(r, parts, offsetof(struct sums_part, ttfb), &all->ttfb) ||
        !values_add_up(r, parts, offsetof(struct sums_part, rate), &all->rate) ||
        (parts->v[0].n_seconds > 0 && !seconds_add_up(r, parts, all)))
        jsonpull_fail(&r->p, "the %s do not add up to all", name);
}

static void read_part(struct reader *r, struct sums_part *p, bool is_size)
{
    struct jsonpull_field fields[] = {{is_size ? "min_bytes" : "name",
                                       .count = is_size ? &p->min_bytes : NULL,
                                       .text = is_size ? NULL : &p->name},
                                      PART_FIELDS(p),
                                      {0}};

    jsonpull_object(&r->p);
    for (int own; (own = jsonpull_own(&r->p, fields)) != 0;)
        read_part_key(r, own, p);
    jsonpull_need(&r->p, fields);
    if (is_size) {
        if (!r->p.failed && analysis_size_edges[analysis_size_class(p->min_bytes)] != p->min_bytes)
            jsonpull_fail(&r->p, "there is no such class of sizes");
        jsonpull_check(&r->p, mem_text(&p->name, "", r->p.e));
    }
    check_part(r, p, !is_size);
}

static void read_parts(struct reader *r, struct sums_parts *parts, bool is_size)
{
    struct sums_part *part;

    jsonpull_array(&r->p);
    while ((part = JSONPULL_NEXT(&r->p, &parts->v, &parts->n)) != NULL)
        read_part(r, part, is_size);
}

/* ---- Operations ---- */

static void read_error(struct reader *r, struct sums_error *x)
{
    struct jsonpull_field fields[] = {{"n", .count = &x->n},
                                      {"first_ns", .count = &x->first_ns},
                                      {"last_ns", .count = &x->last_ns},
                                      {"host", .text = &x->host},
                                      {"message", .text = &x->message},
                                      {0}};

    jsonpull_fields(&r->p, fields);
    if (x->n < 1 || x->first_ns > x->last_ns)
        jsonpull_fail(&r->p, "there are no such errors");
}

static void read_errors(struct reader *r, struct sums_op *op)
{
    struct sums_error *x;

    jsonpull_array(&r->p);
    while ((x = JSONPULL_NEXT(&r->p, &op->errors, &op->n_errors)) != NULL)
        read_error(r, x);
}

/* Checks that a range lies within the time of the requests: one begins or ends at each limit. */
static void check_range(struct reader *r, const struct sums_range *range, int64_t start_ns,
                        int64_t end_ns)
{
    if (range->start_ns < start_ns || range->start_ns > end_ns || range->end_ns < start_ns ||
        range->end_ns > end_ns)
        jsonpull_fail(&r->p, "the range is not within start_ns and end_ns");
}

static void check_op(struct reader *r, struct sums_op *op)
{
    __int128 n = 0;
    check_part(r, &op->all, true);
    int64_t n_ok = op->all.n_requests - op->all.n_errors;
    if (!r->p.failed && (op->n_threads < 1 || op->n_threads > op->all.n_requests ||
                         (n_ok > 0 && (op->min_bytes > op->max_bytes ||
                                       (__int128)n_ok * op->min_bytes > op->all.n_bytes ||
                                       (__int128)n_ok * op->max_bytes < op->all.n_bytes))))
        jsonpull_fail(&r->p, "more threads than requests, or sizes that do not fit the bytes");
    check_range(r, &op->range, op->all.start_ns, op->all.end_ns);
    if (r->p.failed)
        return;
    check_sums(r, &op->hosts, &op->all, "hosts");
    check_sums(r, &op->clients, &op->all, "clients");
    check_sums(r, &op->sizes, &op->all, "sizes");
    for (size_t i = 0; i < op->n_errors; i++) {
        n += op->errors[i].n;
        if (op->errors[i].first_ns < op->all.start_ns || op->errors[i].last_ns > op->all.end_ns)
            jsonpull_fail(&r->p, "there are no such errors");
    }
    if (n != op->all.n_errors)
        jsonpull_fail(&r->p, "the errors do not add up to n_errors");
    if (op->response.moments.n > op->all.n_requests - op->all.n_errors)
        jsonpull_fail(&r->p, "there are other numbers of values than of requests");
    r->p.failed = r->p.failed || !sums_errors_join(op, r->p.e);
}

static void read_op(struct reader *r, struct sums_op *op)
{
    enum { RESPONSE = N_PART_KEYS, HOSTS, CLIENTS, SIZES, ERRORS };
    struct jsonpull_field fields[] = {{"n_threads", .count = &op->n_threads},
                                      {"range_start_ns", .count = &op->range.start_ns},
                                      {"range_end_ns", .count = &op->range.end_ns},
                                      {"min_bytes", .count = &op->min_bytes},
                                      {"max_bytes", .count = &op->max_bytes},
                                      {"first_objects", .count = &op->first_objects},
                                      {"op", .text = &op->op},
                                      PART_FIELDS(&op->all),
                                      {"response_ns", .own = RESPONSE, .optional = true},
                                      {"hosts", .own = HOSTS, .optional = true},
                                      {"clients", .own = CLIENTS, .optional = true},
                                      {"sizes", .own = SIZES, .optional = true},
                                      {"errors", .own = ERRORS, .optional = true},
                                      {0}};

    jsonpull_check(&r->p, mem_text(&op->all.name, "", r->p.e));
    jsonpull_object(&r->p);
    for (int own; (own = jsonpull_own(&r->p, fields)) != 0;) {
        if (own < N_PART_KEYS)
            read_part_key(r, own, &op->all);
        else if (own == RESPONSE)
            read_values(r, &op->response, true);
        else if (own == HOSTS)
            read_parts(r, &op->hosts, false);
        else if (own == CLIENTS)
            read_parts(r, &op->clients, false);
        else if (own == SIZES)
            read_parts(r, &op->sizes, true);
        else
            read_errors(r, op);
    }
    jsonpull_need(&r->p, fields);
    check_op(r, op);
}

static void read_ops(struct reader *r, struct sums *s)
{
    struct sums_op *op;

    jsonpull_array(&r->p);
    while ((op = JSONPULL_NEXT(&r->p, &s->ops, &s->n_ops)) != NULL) {
        if (s->n_ops > DATASET_MAX_OPS)
            jsonpull_fail(&r->p, "more than %d operations", DATASET_MAX_OPS);
        read_op(r, op);
        if (!r->p.failed && s->n_ops > 1 && sums_compare_ops(op - 1, op) >= 0)
            jsonpull_fail(&r->p, "the operations are not in order");
    }
}

static void read_recorded(struct reader *r, struct lineset *said)
{
    jsonpull_array(&r->p);
    while (jsonpull_item(&r->p)) {
        const char *line = jsonpull_string(&r->p);
        if (line != NULL)
            jsonpull_check(&r->p, lineset_add(said, line, r->p.e));
    }
}

/* Checks the number of threads, each of which has requests of at least one operation, the range,
 * and what the operations add up to. */
static void check_file(struct reader *r, const struct sums *s)
{
    int64_t least = 0, start_ns = INT64_MAX, end_ns = INT64_MIN;
    __int128 most = 0;

    for (size_t k = 0; k < s->n_ops; k++) {
        most += s->ops[k].n_threads;
        least = int64_max(least, s->ops[k].n_threads);
        start_ns = int64_min(start_ns, s->ops[k].all.start_ns);
        end_ns = int64_max(end_ns, s->ops[k].all.end_ns);
    }
    if (s->n_threads < least || s->n_threads > most)
        jsonpull_fail(&r->p, "n_threads is not that of the operations");
    if (s->n_ops > 0)
        check_range(r, &s->range, start_ns, end_ns);
    struct err why = {0};
    if (!sums_check_limits(s, &why))
        jsonpull_fail(&r->p, "%s", why.msg);
}

static void read_file(struct reader *r, struct sums *s)
{
    enum { SCHEMA = 1, RECORDED, OPERATIONS };
    struct jsonpull_field fields[] = {{"n_threads", .count = &s->n_threads},
                                      {"range_start_ns", .count = &s->range.start_ns},
                                      {"range_end_ns", .count = &s->range.end_ns},
                                      {"schema", .own = SCHEMA, .optional = true},
                                      {"intended", .flag = &s->has_intended, .optional = true},
                                      {"recorded", .own = RECORDED, .optional = true},
                                      {"operations", .own = OPERATIONS},
                                      {0}};

    jsonpull_object(&r->p);
    for (int own; (own = jsonpull_own(&r->p, fields)) != 0;) {
        if (own == OPERATIONS) {
            read_ops(r, s);
        } else if (own == RECORDED) {
            read_recorded(r, &s->said);
        } else {
            const char *schema = jsonpull_string(&r->p);
            if (schema != NULL && strcmp(schema, "s3analyze/sums/1") != 0)
                jsonpull_fail(&r->p, "'%.40s' is not known here, only s3analyze/sums/1", schema);
        }
    }
    /* A file without operations has no range. */
    for (size_t i = 0; i < 3; i++)
        fields[i].optional = s->n_ops == 0;
    jsonpull_need(&r->p, fields);
    if (!r->p.failed)
        check_file(r, s);
    jsonpull_end(&r->p);
}

bool sums_read(struct sums *s, const char *path, struct err *e)
{
    struct aggbytes bytes;
    struct reader r = {0};

    *s = (struct sums){0};
    bool ok = aggbytes_open(&bytes, path, e) && jsonpull_init(&r.p, path, aggbytes_more, &bytes, e);
    if (ok) {
        read_file(&r, s);
        ok = !r.p.failed;
        jsonpull_fini(&r.p);
    }
    aggbytes_close(&bytes);
    return ok;
}
