#include "analyze/analysis/sums.h"

#include "analyze/analysis/sums_internal.h"
#include "analyze/read/aggbytes.h"
#include "analyze/read/jsonpull.h"
#include "libcommon/hist.h"

#include <stdlib.h>
#include <string.h>

/* One file on its way. */
struct reader {
    struct jsonpull p;
    size_t n_seconds; /* of all parts so far */
};

/* A key that holds a count. */
struct count_key {
    const char *name;
    int64_t *to;
};

/* Reads the value of `key` if it is one of them, the first of which is bit 0 of *seen. */
static bool read_count(struct reader *r, const char *key, const struct count_key *keys, size_t n,
                       unsigned *seen)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(key, keys[i].name) != 0)
            continue;
        *keys[i].to = jsonpull_count(&r->p);
        *seen |= 1U << i;
        return true;
    }
    return false;
}

static void need(struct reader *r, const struct count_key *keys, size_t n, unsigned seen)
{
    for (size_t i = 0; i < n; i++)
        if (!(seen >> i & 1))
            jsonpull_fail(&r->p, "key %s is missing", keys[i].name);
}

/* Room for one more than n elements of `size` bytes; the capacity is the next power of two. NULL:
 * failed. */
static void *grow(struct reader *r, void *v, size_t n, size_t size)
{
    if (n != 0 && (n & (n - 1)) != 0)
        return v;
    void *larger = reallocarray(v, n == 0 ? 1 : 2 * n, size);
    if (larger == NULL && !r->p.failed)
        r->p.failed = !err_set(r->p.e, "out of memory");
    return larger;
}

/* A name; the one before, of the same key, is forgotten. */
static void read_text(struct reader *r, char **to)
{
    const char *text = jsonpull_string(&r->p);
    free(*to);
    *to = NULL;
    if (text == NULL)
        return;
    if (strlen(text) != r->p.n_string)
        jsonpull_fail(&r->p, "a name that holds NUL");
    *to = strdup(text);
    if (*to == NULL && !r->p.failed)
        r->p.failed = !err_set(r->p.e, "out of memory");
}

/* ---- Values ---- */

static void read_buckets(struct reader *r, struct sums_values *v, size_t *n)
{
    uint64_t bucket = 0;
    jsonpull_array(&r->p);
    for (*n = 0; jsonpull_item(&r->p); (*n)++) {
        uint32_t *larger = grow(r, v->bucket, *n, sizeof *larger);
        if (larger == NULL)
            return;
        v->bucket = larger;
        int64_t step = jsonpull_count(&r->p);
        bucket += step < HIST_N_INDEXES ? (uint64_t)step : HIST_N_INDEXES;
        if ((*n > 0 && step == 0) || bucket >= HIST_N_INDEXES)
            jsonpull_fail(&r->p, "there is no such bucket");
        v->bucket[*n] = (uint32_t)bucket;
    }
}

static void read_counts(struct reader *r, struct sums_values *v, size_t *n)
{
    jsonpull_array(&r->p);
    for (*n = 0; jsonpull_item(&r->p); (*n)++) {
        int64_t *larger = *n < HIST_N_INDEXES ? grow(r, v->count, *n, sizeof *larger) : NULL;
        if (larger == NULL) {
            jsonpull_fail(&r->p, "more counts than buckets");
            return;
        }
        v->count = larger;
        v->count[*n] = jsonpull_count(&r->p);
        if (v->count[*n] == 0)
            jsonpull_fail(&r->p, "a bucket of nothing");
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

/* Between what n values from min to max can add up to. */
static void check_moments(struct reader *r, const struct sums_values *v)
{
    const struct moments *m = &v->moments;
    unsigned __int128 sum = (unsigned __int128)m->sum;
    if (r->p.failed)
        return;
    if (m->sum < (__int128)m->n * v->min || m->sum > (__int128)m->n * v->max ||
        m->squares < sum * sum / (unsigned __int128)m->n ||
        m->squares > sum * (unsigned __int128)v->max)
        jsonpull_fail(&r->p, "sum and squares are not those of such values");
}

static void read_values(struct reader *r, struct sums_values *v, bool has_moments)
{
    int64_t sum = 0;
    const struct count_key keys[] = {
        {"n", &v->moments.n}, {"min", &v->min}, {"max", &v->max}, {"sum", &sum}};
    size_t n_buckets = 0, n_counts = 0;
    unsigned seen = 0;
    const char *key;
    if (v->n_buckets > 0)
        jsonpull_fail(&r->p, "the key is there twice");
    jsonpull_object(&r->p);
    while ((key = jsonpull_key(&r->p)) != NULL) {
        if (read_count(r, key, keys, 4, &seen))
            continue;
        if (strcmp(key, "squares") == 0)
            v->moments.squares = jsonpull_wide(&r->p);
        else if (strcmp(key, "buckets") == 0)
            read_buckets(r, v, &n_buckets);
        else if (strcmp(key, "counts") == 0)
            read_counts(r, v, &n_counts);
        else
            jsonpull_skip(&r->p);
    }
    need(r, keys, 3, seen);
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
    const struct count_key keys[] = {{"first", &p->first_s}, {"n", &n}};
    unsigned seen = 0;
    const char *key;
    if (p->n_seconds > 0)
        jsonpull_fail(&r->p, "the key is there twice");
    jsonpull_object(&r->p);
    while ((key = jsonpull_key(&r->p)) != NULL) {
        size_t column = 0;
        if (p->n_seconds == 0 && read_count(r, key, keys, 2, &seen))
            continue;
        while (sums_columns[column] != NULL && strcmp(sums_columns[column], key) != 0)
            column++;
        if (column == SUMS_N_COLUMNS) {
            jsonpull_skip(&r->p);
            continue;
        }
        if (p->n_seconds == 0) {
            need(r, keys, 2, seen);
            if (n < 1 || n > SUMS_MAX_SECONDS - (int64_t)r->n_seconds)
                jsonpull_fail(&r->p, "%lld seconds, in a file of at most %d", (long long)n,
                              SUMS_MAX_SECONDS);
            p->seconds = r->p.failed ? NULL : calloc((size_t)n, sizeof *p->seconds);
            if (p->seconds == NULL && !r->p.failed)
                r->p.failed = !err_set(r->p.e, "out of memory");
            if (r->p.failed)
                return;
            p->n_seconds = (size_t)n;
            r->n_seconds += p->n_seconds;
        }
        read_column(r, p, column);
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
                                 p->duration.moments.sum};
    if (p->first_s != p->start_ns / SUMS_SECOND_NS ||
        p->first_s + (int64_t)p->n_seconds != p->end_ns / SUMS_SECOND_NS + 1)
        jsonpull_fail(&r->p, "the seconds are not those from start_ns to end_ns");
    for (size_t column = 0; column < SUMS_N_COLUMNS; column++)
        if (expected[column] >= 0 && column_sum(p, column) != expected[column])
            jsonpull_fail(&r->p, "the seconds of %s do not add up to all", sums_columns[column]);
    if (column_sum(p, 5) > INT64_MAX)
        jsonpull_fail(&r->p, "the seconds of %s are beyond 63 bits", sums_columns[5]);
}

/* ---- Parts ---- */

struct part_keys {
    struct count_key v[8];
    unsigned seen;
};
#define N_PART_KEYS 8

static struct part_keys part_keys(struct sums_part *p)
{
    return (struct part_keys){{{"n_requests", &p->n_requests},
                               {"n_errors", &p->n_errors},
                               {"n_bytes", &p->n_bytes},
                               {"n_objects", &p->n_objects},
                               {"start_ns", &p->start_ns},
                               {"end_ns", &p->end_ns},
                               {"rated_bytes", &p->n_rated_bytes},
                               {"rated_ns", &p->n_rated_ns}},
                              0};
}

/* False: the key is none of a part. */
static bool read_sums_key(struct reader *r, const char *key, struct sums_part *p,
                          struct part_keys *keys)
{
    if (read_count(r, key, keys->v, N_PART_KEYS, &keys->seen))
        return true;
    if (strcmp(key, "seconds") == 0)
        read_seconds(r, p);
    else if (strcmp(key, "duration_ns") == 0)
        read_values(r, &p->duration, true);
    else if (strcmp(key, "ttfb_ns") == 0)
        read_values(r, &p->ttfb, true);
    else if (strcmp(key, "rate") == 0)
        read_values(r, &p->rate, false);
    else
        return false;
    return true;
}

static void check_part(struct reader *r, const struct sums_part *p, const struct part_keys *keys,
                       bool with_seconds)
{
    need(r, keys->v, N_PART_KEYS, keys->seen);
    if (r->p.failed)
        return;
    int64_t n_ok = p->n_requests - p->n_errors;
    if (p->n_requests < 1 || n_ok < 0 || p->start_ns > p->end_ns)
        jsonpull_fail(&r->p, "there are no such requests");
    else if (p->duration.moments.n != n_ok || p->ttfb.moments.n > n_ok || p->rate.moments.n > n_ok)
        jsonpull_fail(&r->p, "there are other numbers of values than of requests");
    else if (p->n_rated_bytes > p->n_bytes || p->n_rated_ns > p->duration.moments.sum)
        jsonpull_fail(&r->p, "the requests with a rate have more than all");
    else if (with_seconds)
        check_seconds(r, p);
}

/* What parts add up to. */
static void check_sums(struct reader *r, const struct sums_parts *parts,
                       const struct sums_part *all, const char *name)
{
    __int128 n_requests = 0, n_errors = 0, n_bytes = 0, n_objects = 0, ns = 0;
    for (size_t i = 0; i < parts->n; i++) {
        const struct sums_part *p = &parts->v[i];
        n_requests += p->n_requests;
        n_errors += p->n_errors;
        n_bytes += p->n_bytes;
        n_objects += p->n_objects;
        ns += p->duration.moments.sum;
        if (i > 0 && sums_compare_parts(p - 1, p) >= 0)
            jsonpull_fail(&r->p, "the %s are not in order", name);
    }
    if (n_requests != all->n_requests || n_errors != all->n_errors || n_bytes != all->n_bytes ||
        n_objects != all->n_objects || ns != all->duration.moments.sum)
        jsonpull_fail(&r->p, "the %s do not add up to all", name);
}

static void read_part(struct reader *r, struct sums_part *p, bool is_size)
{
    const struct count_key size_key[] = {{"min_bytes", &p->min_bytes}};
    struct part_keys keys = part_keys(p);
    unsigned seen = 0;
    const char *key;
    jsonpull_object(&r->p);
    while ((key = jsonpull_key(&r->p)) != NULL) {
        if ((is_size && read_count(r, key, size_key, 1, &seen)) || read_sums_key(r, key, p, &keys))
            continue;
        if (!is_size && strcmp(key, "name") == 0)
            read_text(r, &p->name);
        else
            jsonpull_skip(&r->p);
    }
    if (is_size) {
        need(r, size_key, 1, seen);
        if (!r->p.failed && analysis_size_edges[analysis_size_class(p->min_bytes)] != p->min_bytes)
            jsonpull_fail(&r->p, "there is no such class of sizes");
        p->name = strdup("");
    }
    if (p->name == NULL)
        jsonpull_fail(&r->p, "key name is missing");
    check_part(r, p, &keys, !is_size);
}

static void read_parts(struct reader *r, struct sums_parts *parts, bool is_size)
{
    if (parts->n > 0)
        jsonpull_fail(&r->p, "the key is there twice");
    jsonpull_array(&r->p);
    while (jsonpull_item(&r->p)) {
        struct sums_part *larger = grow(r, parts->v, parts->n, sizeof *larger);
        if (larger == NULL)
            return;
        parts->v = larger;
        larger[parts->n] = (struct sums_part){0};
        read_part(r, &larger[parts->n++], is_size);
    }
}

/* ---- Operations ---- */

static void read_error(struct reader *r, struct sums_error *x)
{
    const struct count_key keys[] = {
        {"n", &x->n}, {"first_ns", &x->first_ns}, {"last_ns", &x->last_ns}};
    unsigned seen = 0;
    const char *key;
    jsonpull_object(&r->p);
    while ((key = jsonpull_key(&r->p)) != NULL) {
        if (read_count(r, key, keys, 3, &seen))
            continue;
        if (strcmp(key, "message") == 0)
            read_text(r, &x->message);
        else if (strcmp(key, "host") == 0)
            read_text(r, &x->host);
        else
            jsonpull_skip(&r->p);
    }
    need(r, keys, 3, seen);
    if (x->message == NULL || x->host == NULL)
        jsonpull_fail(&r->p, "key %s is missing", x->host == NULL ? "host" : "message");
    else if (x->n < 1 || x->first_ns > x->last_ns)
        jsonpull_fail(&r->p, "there are no such errors");
}

static void read_errors(struct reader *r, struct sums_op *op)
{
    if (op->n_errors > 0)
        jsonpull_fail(&r->p, "the key is there twice");
    jsonpull_array(&r->p);
    while (jsonpull_item(&r->p)) {
        struct sums_error *larger = grow(r, op->errors, op->n_errors, sizeof *larger);
        if (larger == NULL)
            return;
        op->errors = larger;
        larger[op->n_errors] = (struct sums_error){0};
        read_error(r, &larger[op->n_errors++]);
    }
}

static void check_op(struct reader *r, struct sums_op *op, const struct part_keys *keys)
{
    __int128 n = 0;
    check_part(r, &op->all, keys, true);
    if (!r->p.failed && (op->n_threads < 1 ||
                         (op->min_bytes > op->max_bytes && op->all.n_requests > op->all.n_errors)))
        jsonpull_fail(&r->p, "there are no such threads or sizes");
    if (r->p.failed)
        return;
    check_sums(r, &op->hosts, &op->all, "hosts");
    check_sums(r, &op->clients, &op->all, "clients");
    check_sums(r, &op->sizes, &op->all, "sizes");
    for (size_t i = 0; i < op->n_errors; i++)
        n += op->errors[i].n;
    if (n != op->all.n_errors)
        jsonpull_fail(&r->p, "the errors do not add up to n_errors");
    if (op->response.moments.n > op->all.n_requests - op->all.n_errors)
        jsonpull_fail(&r->p, "there are other numbers of values than of requests");
    r->p.failed = r->p.failed || !sums_errors_join(op, r->p.e);
}

static void read_op(struct reader *r, struct sums_op *op)
{
    const struct count_key own[] = {
        {"n_threads", &op->n_threads},       {"range_start_ns", &op->range.start_ns},
        {"range_end_ns", &op->range.end_ns}, {"min_bytes", &op->min_bytes},
        {"max_bytes", &op->max_bytes},       {"first_objects", &op->first_objects}};
    struct part_keys keys = part_keys(&op->all);
    unsigned seen = 0;
    const char *key;
    op->all.name = strdup("");
    if (op->all.name == NULL)
        r->p.failed = !err_set(r->p.e, "out of memory");
    jsonpull_object(&r->p);
    while ((key = jsonpull_key(&r->p)) != NULL) {
        if (read_count(r, key, own, 6, &seen) || read_sums_key(r, key, &op->all, &keys))
            continue;
        if (strcmp(key, "op") == 0)
            read_text(r, &op->op);
        else if (strcmp(key, "response_ns") == 0)
            read_values(r, &op->response, true);
        else if (strcmp(key, "hosts") == 0)
            read_parts(r, &op->hosts, false);
        else if (strcmp(key, "clients") == 0)
            read_parts(r, &op->clients, false);
        else if (strcmp(key, "sizes") == 0)
            read_parts(r, &op->sizes, true);
        else if (strcmp(key, "errors") == 0)
            read_errors(r, op);
        else
            jsonpull_skip(&r->p);
    }
    need(r, own, 6, seen);
    if (op->op == NULL)
        jsonpull_fail(&r->p, "key op is missing");
    check_op(r, op, &keys);
}

static void read_ops(struct reader *r, struct sums *s)
{
    if (s->n_ops > 0)
        jsonpull_fail(&r->p, "the key is there twice");
    jsonpull_array(&r->p);
    while (jsonpull_item(&r->p)) {
        struct sums_op *larger =
            s->n_ops < DATASET_MAX_OPS ? grow(r, s->ops, s->n_ops, sizeof *larger) : NULL;
        if (larger == NULL) {
            jsonpull_fail(&r->p, "more than %d operations", DATASET_MAX_OPS);
            return;
        }
        s->ops = larger;
        larger[s->n_ops] = (struct sums_op){0};
        read_op(r, &larger[s->n_ops++]);
        if (!r->p.failed && s->n_ops > 1 &&
            sums_compare_ops(&larger[s->n_ops - 2], &larger[s->n_ops - 1]) >= 0)
            jsonpull_fail(&r->p, "the operations are not in order");
    }
}

static void read_recorded(struct reader *r, struct lineset *said)
{
    jsonpull_array(&r->p);
    while (jsonpull_item(&r->p)) {
        const char *line = jsonpull_string(&r->p);
        if (line != NULL && !lineset_add(said, line, r->p.e))
            r->p.failed = true;
    }
}

static void read_file(struct reader *r, struct sums *s)
{
    const struct count_key keys[] = {{"n_threads", &s->n_threads},
                                     {"range_start_ns", &s->range.start_ns},
                                     {"range_end_ns", &s->range.end_ns}};
    unsigned seen = 0;
    bool has_ops = false;
    const char *key;
    jsonpull_object(&r->p);
    while ((key = jsonpull_key(&r->p)) != NULL) {
        if (read_count(r, key, keys, 3, &seen))
            continue;
        if (strcmp(key, "schema") == 0) {
            const char *schema = jsonpull_string(&r->p);
            if (schema != NULL && strcmp(schema, "s3analyze/sums/1") != 0)
                jsonpull_fail(&r->p, "'%.40s' is not known here, only s3analyze/sums/1", schema);
        } else if (strcmp(key, "intended") == 0) {
            s->has_intended = jsonpull_bool(&r->p);
        } else if (strcmp(key, "recorded") == 0) {
            read_recorded(r, &s->said);
        } else if (strcmp(key, "operations") == 0) {
            has_ops = true;
            read_ops(r, s);
        } else {
            jsonpull_skip(&r->p);
        }
    }
    if (s->n_ops > 0)
        need(r, keys, 3, seen);
    if (!has_ops)
        jsonpull_fail(&r->p, "key operations is missing");
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
