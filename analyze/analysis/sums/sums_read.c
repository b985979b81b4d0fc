#include "analyze/analysis/sums/sums.h"

#include "analyze/analysis/sums/sums_internal.h"
#include "analyze/read/aggbytes.h"
#include "analyze/read/jsonpull.h"
#include "analyze/summary/requests/sample.h"
#include "libcommon/hist.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

/* A file being read. */
struct reader {
    struct jsonpull j; /* first: readers of values get a pointer to it */
    size_t n_seconds;  /* over all parts so far */
};

/* ---- Values ---- */

/* A histogram, with what is known of it only while it is read. */
struct values {
    struct sums_values *v;
    size_t n_buckets, n_counts;
};

static void read_buckets(struct jsonpull *j, void *values)
{
    struct values *x = values;
    size_t *n = &x->n_buckets;
    uint64_t sum = 0;
    uint32_t *bucket;

    jsonpull_array(j);
    while ((bucket = JSONPULL_NEXT(j, &x->v->bucket, n)) != NULL) {
        int64_t step = jsonpull_count(j);
        sum += step < HIST_N_INDEXES ? (uint64_t)step : HIST_N_INDEXES;
        if ((*n > 1 && step == 0) || sum >= HIST_N_INDEXES)
            jsonpull_fail(j, "there is no such bucket");
        *bucket = (uint32_t)sum;
    }
}

static void read_counts(struct jsonpull *j, void *values)
{
    struct values *x = values;
    int64_t *count;

    jsonpull_array(j);
    while ((count = JSONPULL_NEXT(j, &x->v->count, &x->n_counts)) != NULL) {
        *count = jsonpull_count(j);
        if (*count == 0)
            jsonpull_fail(j, "a bucket of nothing");
        if (x->n_counts > HIST_N_INDEXES)
            jsonpull_fail(j, "more counts than buckets");
    }
}

static void check_values(struct jsonpull *j, struct sums_values *v, size_t n_buckets,
                         size_t n_counts)
{
    const struct moments *m = &v->moments;
    __int128 n = 0;

    if (j->failed)
        return;
    if (n_buckets == 0 || n_buckets != n_counts) {
        jsonpull_fail(j, "%zu buckets and %zu counts", n_buckets, n_counts);
        return;
    }
    v->n_buckets = n_buckets;
    for (size_t i = 0; i < n_buckets; i++)
        n += v->count[i];
    if (n != m->n)
        jsonpull_fail(j, "the counts do not add up to n");
    if (v->min > v->max || hist_index(v->min) != v->bucket[0] ||
        hist_index(v->max) != v->bucket[n_buckets - 1])
        jsonpull_fail(j, "min and max are not in the first and the last bucket");
}

/* Checks that sum and squares are possible for n values from min to max. */
static void check_moments(struct jsonpull *j, const struct sums_values *v)
{
    const struct moments *m = &v->moments;
    unsigned __int128 sum = (unsigned __int128)m->sum;

    if (j->failed)
        return;
    if (m->sum < (__int128)m->n * v->min || m->sum > (__int128)m->n * v->max ||
        m->squares < (sum * sum + (uint64_t)m->n - 1) / (uint64_t)m->n ||
        m->squares > sum * (unsigned __int128)v->max)
        jsonpull_fail(j, "sum and squares are not those of such values");
}

static void read_intervals(struct jsonpull *j, void *interval)
{
    int64_t *const to = interval;
    size_t n = 0;

    jsonpull_array(j);
    for (; jsonpull_item(j); n++) {
        int64_t value = jsonpull_count(j);
        if (n < SUMS_N_INTERVALS * 4)
            to[n] = value;
    }
    if (n != SUMS_N_INTERVALS * 4)
        jsonpull_fail(j, "%zu numbers for %d intervals", n, SUMS_N_INTERVALS);
}

/* Reads rates, which have no moments. */
static void read_rates(struct jsonpull *j, void *sums_values)
{
    struct sums_values *v = sums_values;
    struct values x = {v, 0, 0};
    int64_t sum = 0;
    struct jsonpull_field fields[] = {
        {"n", .count = &v->moments.n},
        {"min", .count = &v->min},
        {"max", .count = &v->max},
        {"sum", .count = &sum, .optional = true},
        {"squares", .wide = &v->moments.squares, .optional = true},
        {"buckets", .read = read_buckets, .to = &x, .optional = true},
        {"counts", .read = read_counts, .to = &x, .optional = true},
        {"intervals", .read = read_intervals, .to = v->interval, .optional = true},
        {0}};

    jsonpull_fields(j, fields);
    v->moments.sum = sum;
    check_values(j, v, x.n_buckets, x.n_counts);
}

static void read_times(struct jsonpull *j, void *sums_values)
{
    read_rates(j, sums_values);
    check_moments(j, sums_values);
}

/* ---- Seconds ---- */

/* A column of a part's seconds. */
struct column {
    struct sums_part *p;
    size_t column;
    const int64_t *n; /* as the file says */
    const struct jsonpull_field *fields;
};

/* Makes room for the seconds. Their number and the first one come before the columns. */
static bool begin_seconds(struct jsonpull *j, const struct column *x)
{
    struct reader *r = (struct reader *)j;
    int64_t n = *x->n;

    jsonpull_need(j, x->fields);
    if (n < 1 || n > SUMS_MAX_SECONDS - (int64_t)r->n_seconds)
        jsonpull_fail(j, "%lld seconds, in a file of at most %d", (long long)n, SUMS_MAX_SECONDS);
    if (j->failed || !jsonpull_check(j, mem_cleared(&x->p->seconds, (size_t)n, j->e)))
        return false;
    x->p->n_seconds = (size_t)n;
    r->n_seconds += x->p->n_seconds;
    return true;
}

static void read_column(struct jsonpull *j, void *column)
{
    const struct column *x = column;
    struct sums_part *p = x->p;
    size_t n = 0;

    if (p->n_seconds == 0 && !begin_seconds(j, x))
        return;
    jsonpull_array(j);
    for (; jsonpull_item(j); n++) {
        int64_t value = jsonpull_count(j);
        if (n < p->n_seconds)
            *sums_cell(&p->seconds[n], x->column) = value;
    }
    if (n != p->n_seconds)
        jsonpull_fail(j, "%zu numbers for %zu seconds", n, p->n_seconds);
}

static void read_seconds(struct jsonpull *j, void *part)
{
    struct sums_part *p = part;
    int64_t n = 0;
    struct column columns[SUMS_N_COLUMNS];
    struct jsonpull_field fields[2 + SUMS_N_COLUMNS + 1] = {{"first", .count = &p->first_s},
                                                            {"n", .count = &n}};

    for (size_t i = 0; i < SUMS_N_COLUMNS; i++) {
        columns[i] = (struct column){p, i, &n, fields};
        fields[2 + i] = (struct jsonpull_field){
            .key = sums_columns[i], .read = read_column, .to = &columns[i], .optional = true};
    }
    jsonpull_read(j, fields);
    if (p->n_seconds == 0)
        jsonpull_fail(j, "no seconds");
}

static __int128 column_sum(const struct sums_part *p, size_t column)
{
    __int128 sum = 0;
    for (size_t i = 0; i < p->n_seconds; i++)
        sum += *sums_cell(&p->seconds[i], column);
    return sum;
}

static void check_seconds(struct jsonpull *j, const struct sums_part *p)
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
        jsonpull_fail(j, "the seconds are not those from start_ns to end_ns");
    for (size_t column = 0; column < SUMS_N_COLUMNS; column++) {
        __int128 sum = column_sum(p, column);
        if (expected[column] >= 0 && sum != expected[column])
            jsonpull_fail(j, "the seconds of %s do not add up to all", sums_columns[column]);
        if (sum > INT64_MAX)
            jsonpull_fail(j, "the seconds of %s are beyond 63 bits", sums_columns[column]);
    }
}

/* ---- Parts ---- */

/* The keys of a part *p; an operation has them too. */
#define PART_FIELDS(p)                                                                             \
    {"n_requests", .count = &(p)->n_requests}, {"n_errors", .count = &(p)->n_errors},              \
        {"n_bytes", .count = &(p)->n_bytes}, {"n_objects", .count = &(p)->n_objects},              \
        {"start_ns", .count = &(p)->start_ns}, {"end_ns", .count = &(p)->end_ns},                  \
        {"rated_bytes", .count = &(p)->n_rated_bytes}, {"rated_ns", .count = &(p)->n_rated_ns},    \
        {"seconds", .read = read_seconds, .to = (p), .optional = true},                            \
        {"duration_ns", .read = read_times, .to = &(p)->duration, .optional = true},               \
        {"ttfb_ns", .read = read_times, .to = &(p)->ttfb, .optional = true},                       \
    {                                                                                              \
        "rate", .read = read_rates, .to = &(p)->rate, .optional = true                             \
    }

static void check_part(struct jsonpull *j, const struct sums_part *p, bool with_seconds)
{
    if (j->failed)
        return;
    int64_t n_ok = p->n_requests - p->n_errors;
    if (p->n_requests < 1 || n_ok < 0 || p->start_ns > p->end_ns)
        jsonpull_fail(j, "there are no such requests");
    else if (p->duration.moments.n != n_ok || p->ttfb.moments.n > n_ok || p->rate.moments.n > n_ok)
        jsonpull_fail(j, "there are other numbers of values than of requests");
    else if (p->n_rated_bytes > p->n_bytes || p->n_rated_ns > p->duration.moments.sum)
        jsonpull_fail(j, "the requests with a rate have more than all");
    else if (p->n_rated_bytes < p->rate.moments.n || p->n_rated_ns < p->rate.moments.n)
        jsonpull_fail(j, "there are more rates than bytes or nanoseconds");
    else if (with_seconds)
        check_seconds(j, p);
    else if (p->n_seconds > 0)
        jsonpull_fail(j, "a class of sizes has no seconds");
}

/* ---- What parts add up to ---- */

static bool is_same_values(const struct sums_values *a, const struct sums_values *b)
{
    return a->moments.n == b->moments.n && a->moments.sum == b->moments.sum &&
           a->moments.squares == b->moments.squares && a->n_buckets == b->n_buckets &&
           (a->n_buckets == 0 ||
            (memcmp(a->bucket, b->bucket, a->n_buckets * sizeof *a->bucket) == 0 &&
             memcmp(a->count, b->count, a->n_buckets * sizeof *a->count) == 0));
}

/* Whether two parts have the same sums; seconds count if `a` has any. */
static bool is_same_part(const struct sums_part *a, const struct sums_part *b)
{
    return a->n_requests == b->n_requests && a->n_errors == b->n_errors &&
           a->n_bytes == b->n_bytes && a->n_objects == b->n_objects &&
           a->n_rated_bytes == b->n_rated_bytes && a->n_rated_ns == b->n_rated_ns &&
           a->start_ns == b->start_ns && a->end_ns == b->end_ns &&
           is_same_values(&a->duration, &b->duration) && is_same_values(&a->ttfb, &b->ttfb) &&
           is_same_values(&a->rate, &b->rate) &&
           (a->n_seconds == 0 ||
            (a->n_seconds == b->n_seconds &&
             memcmp(a->seconds, b->seconds, a->n_seconds * sizeof *a->seconds) == 0));
}

/* Checks that parts are in order, and add up to `all`. */
static void check_sums(struct jsonpull *j, const struct sums_parts *parts,
                       const struct sums_part *all, const char *name)
{
    struct sums_part sum = {0};
    struct err why = {0};
    bool ok = true;

    for (size_t i = 0; i < parts->n; i++) {
        ok = ok && sums_part_add(&sum, &parts->v[i], &why);
        if (i > 0 && sums_compare_parts(&parts->v[i - 1], &parts->v[i]) >= 0)
            jsonpull_fail(j, "the %s are not in order", name);
    }
    if (!ok)
        jsonpull_fail(j, "the %s: %s", name, why.msg);
    else if (!is_same_part(&sum, all))
        jsonpull_fail(j, "the %s do not add up to all", name);
    sums_part_free(&sum);
}

/* Reads a host or a client. */
static void read_party(struct jsonpull *j, void *part)
{
    struct sums_part *p = part;
    struct jsonpull_field fields[] = {{"name", .text = &p->name}, PART_FIELDS(p), {0}};

    jsonpull_fields(j, fields);
    check_part(j, p, true);
}

static void read_size(struct jsonpull *j, void *part)
{
    struct sums_part *p = part;
    struct jsonpull_field fields[] = {{"min_bytes", .count = &p->min_bytes}, PART_FIELDS(p), {0}};

    jsonpull_fields(j, fields);
    if (!j->failed && analysis_size_edges[analysis_size_class(p->min_bytes)] != p->min_bytes)
        jsonpull_fail(j, "there is no such class of sizes");
    jsonpull_check(j, mem_text(&p->name, "", j->e));
    check_part(j, p, false);
}

/* ---- Operations ---- */

static void read_error(struct jsonpull *j, void *error)
{
    struct sums_error *x = error;
    struct jsonpull_field fields[] = {{"n", .count = &x->n},
                                      {"first_ns", .count = &x->first_ns},
                                      {"last_ns", .count = &x->last_ns},
                                      {"host", .text = &x->host},
                                      {"message", .text = &x->message},
                                      {0}};

    jsonpull_fields(j, fields);
    if (x->n < 1 || x->first_ns > x->last_ns)
        jsonpull_fail(j, "there are no such errors");
}

/* Checks that a range lies within the time of the requests: one begins or ends at each limit. */
static void check_range(struct jsonpull *j, const struct sums_range *range, int64_t start_ns,
                        int64_t end_ns)
{
    if (range->start_ns < start_ns || range->start_ns > end_ns || range->end_ns < start_ns ||
        range->end_ns > end_ns)
        jsonpull_fail(j, "the range is not within start_ns and end_ns");
}

static void check_op(struct jsonpull *j, struct sums_op *op)
{
    __int128 n = 0;
    check_part(j, &op->all, true);
    int64_t n_ok = op->all.n_requests - op->all.n_errors;
    if (!j->failed && (op->n_threads < 1 || op->n_threads > op->all.n_requests ||
                       (n_ok > 0 && (op->min_bytes > op->max_bytes ||
                                     (__int128)n_ok * op->min_bytes > op->all.n_bytes ||
                                     (__int128)n_ok * op->max_bytes < op->all.n_bytes))))
        jsonpull_fail(j, "more threads than requests, or sizes that do not fit the bytes");
    check_range(j, &op->range, op->all.start_ns, op->all.end_ns);
    if (j->failed)
        return;
    check_sums(j, &op->hosts, &op->all, "hosts");
    check_sums(j, &op->clients, &op->all, "clients");
    check_sums(j, &op->sizes, &op->all, "sizes");
    for (size_t i = 0; i < op->n_errors; i++) {
        n += op->errors[i].n;
        if (op->errors[i].first_ns < op->all.start_ns || op->errors[i].last_ns > op->all.end_ns)
            jsonpull_fail(j, "there are no such errors");
    }
    if (n != op->all.n_errors)
        jsonpull_fail(j, "the errors do not add up to n_errors");
    if (op->response.moments.n > op->all.n_requests - op->all.n_errors)
        jsonpull_fail(j, "there are other numbers of values than of requests");
    j->failed = j->failed || !sums_errors_join(op, j->e);
}

static void read_op(struct jsonpull *j, struct sums_op *op)
{
    struct jsonpull_field fields[] = {
        {"n_threads", .count = &op->n_threads},
        {"range_start_ns", .count = &op->range.start_ns},
        {"range_end_ns", .count = &op->range.end_ns},
        {"min_bytes", .count = &op->min_bytes},
        {"max_bytes", .count = &op->max_bytes},
        {"first_objects", .count = &op->first_objects},
        {"op", .text = &op->op},
        PART_FIELDS(&op->all),
        {"response_ns", .read = read_times, .to = &op->response, .optional = true},
        {"hosts", JSONPULL_EACH(op->hosts.v, op->hosts.n, read_party), .optional = true},
        {"clients", JSONPULL_EACH(op->clients.v, op->clients.n, read_party), .optional = true},
        {"sizes", JSONPULL_EACH(op->sizes.v, op->sizes.n, read_size), .optional = true},
        {"errors", JSONPULL_EACH(op->errors, op->n_errors, read_error), .optional = true},
        {0}};

    jsonpull_check(j, mem_text(&op->all.name, "", j->e));
    jsonpull_fields(j, fields);
    check_op(j, op);
}

static void read_ops(struct jsonpull *j, void *sums)
{
    struct sums *s = sums;
    struct sums_op *op;

    jsonpull_array(j);
    while ((op = JSONPULL_NEXT(j, &s->ops, &s->n_ops)) != NULL) {
        if (s->n_ops > DATASET_MAX_OPS)
            jsonpull_fail(j, "more than %d operations", DATASET_MAX_OPS);
        read_op(j, op);
        if (!j->failed && s->n_ops > 1 && sums_compare_ops(op - 1, op) >= 0)
            jsonpull_fail(j, "the operations are not in order");
    }
}

static void read_recorded(struct jsonpull *j, void *said)
{
    jsonpull_array(j);
    while (jsonpull_item(j)) {
        const char *line = jsonpull_string(j);
        if (line != NULL)
            jsonpull_check(j, lineset_add(said, line, j->e));
    }
}

/* Checks the number of threads, each of which has requests of at least one operation, the range,
 * and what the operations add up to. */
static void check_file(struct jsonpull *j, const struct sums *s)
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
        jsonpull_fail(j, "n_threads is not that of the operations");
    if (s->n_ops > 0)
        check_range(j, &s->range, start_ns, end_ns);
    struct err why = {0};
    if (!sums_check_limits(s, &why))
        jsonpull_fail(j, "%s", why.msg);
}

static void read_schema(struct jsonpull *j, void *unused)
{
    const char *schema = jsonpull_string(j);

    (void)unused;
    if (schema != NULL && strcmp(schema, "s3analyze/sums/1") != 0)
        jsonpull_fail(j, "'%.40s' is not known here, only s3analyze/sums/1", schema);
}

static void read_file(struct jsonpull *j, struct sums *s)
{
    struct jsonpull_field fields[] = {
        {"n_threads", .count = &s->n_threads},
        {"range_start_ns", .count = &s->range.start_ns},
        {"range_end_ns", .count = &s->range.end_ns},
        {"schema", .read = read_schema, .optional = true},
        {"intended", .flag = &s->has_intended, .optional = true},
        {"recorded", .read = read_recorded, .to = &s->said, .optional = true},
        {"operations", .read = read_ops, .to = s},
        {0}};

    jsonpull_read(j, fields);
    /* A file without operations has no range. */
    for (size_t i = 0; i < 3; i++)
        fields[i].optional = s->n_ops == 0;
    jsonpull_need(j, fields);
    if (!j->failed)
        check_file(j, s);
    jsonpull_end(j);
}

bool sums_read(struct sums *s, const char *path, struct err *e)
{
    struct aggbytes bytes;
    struct reader r = {0};

    *s = (struct sums){0};
    bool ok = aggbytes_open(&bytes, path, e) && jsonpull_init(&r.j, path, aggbytes_more, &bytes, e);
    if (ok) {
        read_file(&r.j, s);
        ok = !r.j.failed;
        jsonpull_fini(&r.j);
    }
    aggbytes_close(&bytes);
    return ok;
}
