#include "analyze/analysis/sums/sums.h"

#include "analyze/analysis/sums/foreign_internal.h"
#include "analyze/analysis/sums/sums_internal.h"
#include "analyze/data/filter.h"
#include "analyze/read/jsonpull.h"
#include "libcommon/hist.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

const char *const sums_columns[SUMS_N_COLUMNS + 1] = {
    "started", "ended", "failed", "bytes", "micro_objects", "busy_ns", "ended_ns", "late_ns", NULL};

/* ---- Memory ---- */

static void values_free(struct sums_values *v)
{
    free(v->bucket);
    free(v->count);
    *v = (struct sums_values){0};
}

void sums_part_free(struct sums_part *p)
{
    values_free(&p->duration);
    values_free(&p->ttfb);
    values_free(&p->rate);
    free(p->seconds);
    free(p->name);
    *p = (struct sums_part){0};
}

void sums_parts_free(struct sums_parts *parts)
{
    for (size_t i = 0; i < parts->n; i++)
        sums_part_free(&parts->v[i]);
    free(parts->v);
    *parts = (struct sums_parts){0};
}

void sums_op_free(struct sums_op *op)
{
    sums_part_free(&op->all);
    sums_parts_free(&op->hosts);
    sums_parts_free(&op->clients);
    sums_parts_free(&op->sizes);
    values_free(&op->response);
    for (size_t i = 0; i < op->n_errors; i++) {
        free(op->errors[i].message);
        free(op->errors[i].host);
    }
    free(op->errors);
    foreign_part_free(op->foreign);
    free(op->op);
    *op = (struct sums_op){0};
}

void sums_free(struct sums *s)
{
    for (size_t i = 0; i < s->n_ops; i++)
        sums_op_free(&s->ops[i]);
    free(s->ops);
    lineset_fini(&s->said);
    foreign_free(s->foreign);
    *s = (struct sums){0};
}

bool sums_keep(struct sums *s, const char *const *ops, size_t n, struct err *e)
{
    bool ok = filter_ops_known((struct filter_names){s->ops, s->n_ops, sizeof *s->ops}, ops, n, e);
    size_t n_kept = 0;

    for (size_t k = 0; k < s->n_ops; k++) {
        if (filter_op_matches(ops, n, s->ops[k].op))
            s->ops[n_kept++] = s->ops[k];
        else
            sums_op_free(&s->ops[k]);
    }
    s->lacks_ops = s->lacks_ops || n_kept < s->n_ops;
    s->n_ops = n_kept;
    return ok;
}

/* ---- Values ---- */

int64_t sums_value_at(const struct sums_values *v, int64_t k)
{
    size_t i = 0;
    while (i + 1 < v->n_buckets && k >= v->count[i])
        k -= v->count[i++];
    int64_t lower = hist_lower(v->bucket[i]), upper = hist_upper(v->bucket[i]);
    int64_t middle = lower + (upper - lower) / 2;
    return middle < v->min ? v->min : middle > v->max ? v->max : middle;
}

bool sums_overflow(struct err *e)
{
    return err_set(e, "a sum of all requests does not fit 63 bits");
}

static bool add_sum(int64_t *to, int64_t from, struct err *e)
{
    return !__builtin_add_overflow(*to, from, to) || sums_overflow(e);
}

static bool values_add(struct sums_values *to, const struct sums_values *from, struct err *e)
{
    size_t n = 0, i = 0, j = 0;
    if (from->n_buckets == 0)
        return true;
    uint32_t *bucket = NULL;
    int64_t *count = NULL;
    bool ok = mem_new(&bucket, to->n_buckets + from->n_buckets, e) &&
              mem_new(&count, to->n_buckets + from->n_buckets, e);
    ok = ok && (to->moments.sum + from->moments.sum <= INT64_MAX || sums_overflow(e));
    for (; ok && (i < to->n_buckets || j < from->n_buckets); n++) {
        bool left = j == from->n_buckets || (i < to->n_buckets && to->bucket[i] <= from->bucket[j]);
        bool right =
            j < from->n_buckets && (i == to->n_buckets || from->bucket[j] <= to->bucket[i]);

        bucket[n] = left ? to->bucket[i] : from->bucket[j];
        count[n] = 0;
        if (left)
            count[n] = to->count[i++];
        if (right)
            ok = add_sum(&count[n], from->count[j++], e);
    }
    if (!ok) {
        free(bucket);
        free(count);
        return false;
    }
    if (to->n_buckets == 0 || from->min < to->min)
        to->min = from->min;
    if (to->n_buckets == 0 || from->max > to->max)
        to->max = from->max;
    moments_merge(&to->moments, &from->moments);
    free(to->bucket);
    free(to->count);
    to->bucket = bucket;
    to->count = count;
    to->n_buckets = n;
    return true;
}

/* ---- Seconds ---- */

/* Makes room for the seconds first_s .. end_s - 1 in addition to those present. */
static bool part_cover(struct sums_part *p, int64_t first_s, int64_t end_s, struct err *e)
{
    if (p->n_seconds > 0) {
        int64_t own_end_s = p->first_s + (int64_t)p->n_seconds;
        first_s = int64_min(p->first_s, first_s);
        end_s = int64_max(own_end_s, end_s);
    }
    size_t n = (size_t)(end_s - first_s);
    if (n == p->n_seconds)
        return true;
    if (n > SUMS_MAX_SECONDS)
        return err_set(e, "requests lie more than %d seconds apart", SUMS_MAX_SECONDS);
    struct sums_second *seconds;
    if (!mem_cleared(&seconds, n, e))
        return false;
    if (p->n_seconds > 0)
        memcpy(seconds + (p->first_s - first_s), p->seconds, p->n_seconds * sizeof *seconds);
    free(p->seconds);
    p->seconds = seconds;
    p->n_seconds = n;
    p->first_s = first_s;
    return true;
}

static bool seconds_add(struct sums_part *to, const struct sums_part *from, struct err *e)
{
    bool ok = true;
    if (from->n_seconds == 0)
        return true;
    if (!part_cover(to, from->first_s, from->first_s + (int64_t)from->n_seconds, e))
        return false;
    for (size_t i = 0; ok && i < from->n_seconds; i++) {
        struct sums_second *t = &to->seconds[from->first_s - to->first_s + (int64_t)i];
        for (size_t column = 0; ok && column < SUMS_N_COLUMNS; column++)
            ok = add_sum(sums_cell(t, column), *sums_cell(&from->seconds[i], column), e);
    }
    return ok;
}

/* ---- Parts ---- */

bool sums_part_add(struct sums_part *to, const struct sums_part *from, struct err *e)
{
    if (to->n_requests == 0 || from->start_ns < to->start_ns)
        to->start_ns = from->start_ns;
    if (to->n_requests == 0 || from->end_ns > to->end_ns)
        to->end_ns = from->end_ns;
    return add_sum(&to->n_requests, from->n_requests, e) &&
           add_sum(&to->n_errors, from->n_errors, e) && add_sum(&to->n_bytes, from->n_bytes, e) &&
           add_sum(&to->n_objects, from->n_objects, e) &&
           add_sum(&to->n_rated_bytes, from->n_rated_bytes, e) &&
           add_sum(&to->n_rated_ns, from->n_rated_ns, e) &&
           values_add(&to->duration, &from->duration, e) && values_add(&to->ttfb, &from->ttfb, e) &&
           values_add(&to->rate, &from->rate, e) && seconds_add(to, from, e);
}

int sums_compare_parts(const void *a, const void *b)
{
    const struct sums_part *x = a, *y = b;
    int c = strcmp(x->name, y->name);

    return c != 0 ? c : (x->min_bytes > y->min_bytes) - (x->min_bytes < y->min_bytes);
}

static bool part_take(void *to, void *from, struct err *e)
{
    bool ok = sums_part_add(to, from, e);
    sums_part_free(from);
    return ok;
}

/* Sorts *n items of `size` bytes and joins equal ones: `take` moves an item into the equal one
 * before it. */
static bool join(void *items, size_t *n, size_t size, int (*compare)(const void *, const void *),
                 bool (*take)(void *to, void *from, struct err *e), struct err *e)
{
    char *at = items, *end = at;
    bool ok = true;

    if (*n > 0)
        qsort(items, *n, size, compare);
    for (size_t i = 0; i < *n; i++, at += size) {
        if (end > (char *)items && compare(end - size, at) == 0) {
            ok = take(end - size, at, e) && ok;
        } else {
            memmove(end, at, size);
            end += size;
        }
    }
    *n = (size_t)(end - (char *)items) / size;
    return ok;
}

bool sums_parts_join(struct sums_parts *parts, struct err *e)
{
    return join(parts->v, &parts->n, sizeof *parts->v, sums_compare_parts, part_take, e);
}

/* Moves the *n_from items of `size` bytes at `from` behind the *n items of an array; `to` is the
 * address of its pointer. */
static bool append(void *to, size_t *n, const void *from, size_t *n_from, size_t size,
                   struct err *e)
{
    char *items;

    if (*n_from == 0)
        return true;
    if (!mem_resize(to, *n + *n_from, size, e))
        return false;
    memcpy(&items, to, sizeof items);
    memcpy(items + *n * size, from, *n_from * size);
    *n += *n_from;
    *n_from = 0;
    return true;
}

static bool parts_merge(struct sums_parts *to, struct sums_parts *from, struct err *e)
{
    return append(&to->v, &to->n, from->v, &from->n, sizeof *to->v, e) && sums_parts_join(to, e);
}

/* ---- Errors ---- */

static int compare_errors(const void *a, const void *b)
{
    const struct sums_error *x = a, *y = b;
    int c = strcmp(x->message, y->message);

    return c != 0 ? c : strcmp(x->host, y->host);
}

static bool error_take(void *to_error, void *from_error, struct err *e)
{
    struct sums_error *to = to_error, *from = from_error;
    to->first_ns = int64_min(from->first_ns, to->first_ns);
    to->last_ns = int64_max(from->last_ns, to->last_ns);
    free(from->message);
    free(from->host);
    return add_sum(&to->n, from->n, e);
}

bool sums_errors_join(struct sums_op *op, struct err *e)
{
    return join(op->errors, &op->n_errors, sizeof *op->errors, compare_errors, error_take, e);
}

static bool errors_merge(struct sums_op *to, struct sums_op *from, struct err *e)
{
    return append(&to->errors, &to->n_errors, from->errors, &from->n_errors, sizeof *to->errors,
                  e) &&
           sums_errors_join(to, e);
}

/* ---- Groups ---- */

static int compare_names(const void *a, const void *b)
{
    const struct sums_part *x = *(const struct sums_part *const *)a,
                           *y = *(const struct sums_part *const *)b;
    return strcmp(x->name, y->name);
}

void sums_groups_fini(struct sums_groups *x)
{
    free(x->v);
    free(x->part);
}

/* Returns the parts of an operation that are grouped. */
static const struct sums_part *parts_of(const struct sums_op *op, enum sums_grouping by, size_t *n)
{
    const struct sums_parts *parts = by == SUMS_BY_HOST ? &op->hosts : &op->clients;

    *n = by == SUMS_TOGETHER ? 1 : parts->n;
    return by == SUMS_TOGETHER ? &op->all : parts->v;
}

bool sums_groups_init(struct sums_groups *x, const struct sums_op *ops, size_t n_ops,
                      enum sums_grouping by, struct err *e)
{
    size_t n = 0, n_more;

    *x = (struct sums_groups){0};
    for (size_t k = 0; k < n_ops; k++, n += n_more)
        parts_of(&ops[k], by, &n_more);
    if (!mem_new(&x->v, n, e) || !mem_new(&x->part, n, e))
        return false;
    n = 0;
    for (size_t k = 0; k < n_ops; k++) {
        const struct sums_part *v = parts_of(&ops[k], by, &n_more);
        for (size_t i = 0; i < n_more; i++)
            x->part[n++] = &v[i];
    }
    qsort(x->part, n, sizeof *x->part, compare_names);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare_names(&x->part[i - 1], &x->part[i]) != 0)
            x->v[x->n++] = (struct sums_group){x->part[i]->name, &x->part[i], 0};
        x->v[x->n - 1].n++;
    }
    return true;
}

/* ---- Limits ---- */

static bool check_name(const char *name, struct err *e)
{
    return strlen(name) <= JSONPULL_MAX_STRING ||
           err_set(e, "an operation, host or client has a name of more than %d bytes",
                   JSONPULL_MAX_STRING);
}

static bool check_parts(const struct sums_parts *parts, size_t *n_seconds, struct err *e)
{
    for (size_t i = 0; i < parts->n; i++) {
        *n_seconds += parts->v[i].n_seconds;
        if (!check_name(parts->v[i].name, e))
            return false;
    }
    return true;
}

/* Checks what reports add up: the seconds of all operations. */
static bool check_totals(const struct sums *s, struct err *e)
{
    __int128 total[SUMS_N_COLUMNS] = {0}, n_requests = 0;
    bool fits = true;

    for (size_t k = 0; k < s->n_ops; k++) {
        const struct sums_part *p = &s->ops[k].all;
        n_requests += p->n_requests;
        for (size_t i = 0; i < p->n_seconds; i++)
            for (size_t column = 0; column < SUMS_N_COLUMNS; column++)
                total[column] += *sums_cell(&p->seconds[i], column);
        if (p->end_ns > SUMS_LAST_NS)
            return err_set(e, "requests end in the last seconds that 64 bits can tell (year 2262)");
    }
    for (size_t column = 0; column < SUMS_N_COLUMNS; column++)
        fits = fits && total[column] <= INT64_MAX;
    if (n_requests > SUMS_MAX_REQUESTS)
        return err_set(e, "more than 2^46 requests");
    return fits || sums_overflow(e);
}

/* The writer checks what the reader does: what we write must be readable. */
bool sums_check_limits(const struct sums *s, struct err *e)
{
    size_t n_seconds = 0;
    if (s->n_ops > DATASET_MAX_OPS)
        return err_set(e, "more than %d operations", DATASET_MAX_OPS);
    for (size_t k = 0; k < s->n_ops; k++) {
        n_seconds += s->ops[k].all.n_seconds;
        if (!check_name(s->ops[k].op, e) || !check_parts(&s->ops[k].hosts, &n_seconds, e) ||
            !check_parts(&s->ops[k].clients, &n_seconds, e))
            return false;
    }
    if (!check_totals(s, e))
        return false;
    return n_seconds <= SUMS_MAX_SECONDS ||
           err_set(e,
                   "too many seconds for a file of sums: %zu of operations, hosts and clients, "
                   "of at most %d",
                   n_seconds, SUMS_MAX_SECONDS);
}

/* ---- Operations ---- */

static void ranges_meet(struct sums_range *to, const struct sums_range *from)
{
    to->start_ns = int64_max(from->start_ns, to->start_ns);
    to->end_ns = int64_min(from->end_ns, to->end_ns);
}

static bool op_merge(struct sums_op *to, struct sums_op *from, struct err *e)
{
    int64_t start_ns = to->all.start_ns, from_ns = from->all.start_ns;
    if (from_ns < start_ns || (from_ns == start_ns && from->first_objects < to->first_objects))
        to->first_objects = from->first_objects;
    to->min_bytes = int64_min(from->min_bytes, to->min_bytes);
    to->max_bytes = int64_max(from->max_bytes, to->max_bytes);
    ranges_meet(&to->range, &from->range);
    return add_sum(&to->n_threads, from->n_threads, e) && sums_part_add(&to->all, &from->all, e) &&
           parts_merge(&to->hosts, &from->hosts, e) &&
           parts_merge(&to->clients, &from->clients, e) &&
           parts_merge(&to->sizes, &from->sizes, e) && errors_merge(to, from, e) &&
           values_add(&to->response, &from->response, e);
}

static bool op_take(void *to, void *from, struct err *e)
{
    bool ok = op_merge(to, from, e);
    sums_op_free(from);
    return ok;
}

int sums_compare_ops(const void *a, const void *b)
{
    return strcmp(((const struct sums_op *)a)->op, ((const struct sums_op *)b)->op);
}

bool sums_ops_join(struct sums *s, struct err *e)
{
    return join(s->ops, &s->n_ops, sizeof *s->ops, sums_compare_ops, op_take, e) &&
           sums_check_limits(s, e);
}

static void drop_intervals(struct sums *s)
{
    for (size_t k = 0; k < s->n_ops; k++) {
        struct sums_values *const of[] = {&s->ops[k].all.duration, &s->ops[k].all.ttfb,
                                          &s->ops[k].response};

        for (size_t i = 0; i < 3; i++)
            memset(of[i]->interval, 0, sizeof of[i]->interval);
    }
}

bool sums_merge(struct sums *to, struct sums *from, struct err *e)
{
    if (to->n_ops > 0 && from->n_ops > 0) {
        drop_intervals(to);
        drop_intervals(from);
    }
    if (to->n_ops == 0)
        to->range = from->range;
    else if (from->n_ops > 0)
        ranges_meet(&to->range, &from->range);
    if (!append(&to->ops, &to->n_ops, from->ops, &from->n_ops, sizeof *to->ops, e))
        return false;
    to->has_intended |= from->has_intended;
    bool ok =
        add_sum(&to->n_threads, from->n_threads, e) && lineset_merge(&to->said, &from->said, e);
    sums_free(from);
    return sums_ops_join(to, e) && ok;
}
