/* The sums of a dataset: for each operation and each way to divide it, a pass over its rows. */
#include "analyze/analysis/sums.h"

#include "analyze/analysis/analysis_internal.h"
#include "analyze/analysis/sums_internal.h"
#include "analyze/base/csort.h"
#include "analyze/base/tasks.h"
#include "libcommon/attribution.h"
#include "libcommon/hist.h"
#include "libcommon/mem.h"
#include "libcommon/segment.h"
#include "libcommon/utf8.h"

#include <stdlib.h>
#include <string.h>

/* ---- Histograms on their way ---- */

struct counts {
    uint32_t *v; /* HIST_N_INDEXES, zero outside of [first, end) */
    size_t first, end;
    struct sums_values *to;
};

static bool counts_init(struct counts *c)
{
    c->v = calloc(HIST_N_INDEXES, sizeof *c->v);
    c->first = HIST_N_INDEXES;
    return c->v != NULL;
}

static inline void counts_add(struct counts *c, int64_t v)
{
    size_t i = hist_index(v);
    c->v[i]++;
    c->first = i < c->first ? i : c->first;
    c->end = i >= c->end ? i + 1 : c->end;
    c->to->min = v < c->to->min ? v : c->to->min;
    c->to->max = v > c->to->max ? v : c->to->max;
}

static void counts_begin(struct counts *c, struct sums_values *to)
{
    c->to = to;
    *to = (struct sums_values){.min = INT64_MAX, .max = INT64_MIN};
}

/* Moves what was counted to where it goes. */
static bool counts_end(struct counts *c)
{
    size_t n = 0;
    for (size_t i = c->first; i < c->end; i++)
        n += c->v[i] > 0;
    c->to->bucket = malloc((n + 1) * sizeof *c->to->bucket);
    c->to->count = malloc((n + 1) * sizeof *c->to->count);
    if (c->to->bucket == NULL || c->to->count == NULL)
        return false;
    for (size_t i = c->first; i < c->end; i++) {
        if (c->v[i] == 0)
            continue;
        c->to->bucket[c->to->n_buckets] = (uint32_t)i;
        c->to->count[c->to->n_buckets++] = c->v[i];
        c->v[i] = 0;
    }
    c->first = HIST_N_INDEXES;
    c->end = 0;
    return true;
}

/* ---- A part ---- */

/* Some rows of a table. */
struct selection {
    const struct table *t;
    const uint32_t *row; /* NULL: all of them */
    size_t n;
};

static inline size_t row_of(const struct selection *s, size_t k)
{
    return s->row != NULL ? s->row[k] : k;
}

struct counting {
    struct counts duration, ttfb, rate;
};

/* Sums of the part that bound all others. */
static bool count_up(struct sums_part *p, const struct selection *s, struct err *e)
{
    const struct table *t = s->t;
    __int128 bytes = 0, objects = 0, busy_ns = 0;
    p->n_requests = (int64_t)s->n;
    p->start_ns = INT64_MAX;
    p->end_ns = INT64_MIN;
    for (size_t k = 0; k < s->n; k++) {
        size_t i = row_of(s, k);
        int64_t end = table_end(t, i);
        p->start_ns = t->start[i] < p->start_ns ? t->start[i] : p->start_ns;
        p->end_ns = end > p->end_ns ? end : p->end_ns;
        busy_ns += end - t->start[i];
        if (table_failed(t, i)) {
            p->n_errors++;
            continue;
        }
        bytes += packed_get(&t->bytes, i);
        objects += packed_get(&t->objects, i);
    }
    if (bytes > INT64_MAX || objects > INT64_MAX / SUMS_MICRO || busy_ns > INT64_MAX)
        return err_set(e, "a sum of all requests does not fit 63 bits");
    p->n_bytes = (int64_t)bytes;
    p->n_objects = (int64_t)objects;
    return true;
}

/* Spreads a request over the seconds from its start to its end. */
static inline void spread(struct sums_part *p, const struct attribution_request *r)
{
    struct sums_second *s = &p->seconds[r->start_ns / SUMS_SECOND_NS - p->first_s];
    struct sums_second *last = &p->seconds[r->end_ns / SUMS_SECOND_NS - p->first_s];
    struct attribution_request objects = *r;
    int64_t n_bytes = 0, n_objects = 0, from_ns = r->start_ns;
    objects.bytes = r->n_objects * SUMS_MICRO;
    s->n_started++;
    for (; s < last; s++) {
        int64_t to_ns = (from_ns / SUMS_SECOND_NS + 1) * SUMS_SECOND_NS;
        s->busy_ns += to_ns - from_ns;
        from_ns = to_ns;
        if (!r->ok)
            continue;
        int64_t bytes = attribution_bytes_before(r, to_ns);
        int64_t micro = attribution_bytes_before(&objects, to_ns);
        s->n_bytes += bytes - n_bytes;
        s->n_micro_objects += micro - n_objects;
        n_bytes = bytes;
        n_objects = micro;
    }
    s->busy_ns += r->end_ns - from_ns;
    if (r->ok) {
        s->n_bytes += r->bytes - n_bytes;
        s->n_micro_objects += objects.bytes - n_objects;
        s->ended_ns += r->end_ns - r->start_ns;
        s->n_ended++;
    } else {
        s->n_failed++;
    }
}

static bool fill_part(struct sums_part *p, const struct selection *s, bool with_seconds,
                      struct counting *c, struct err *e)
{
    const struct table *t = s->t;
    struct moments duration = {0}, ttfb = {0};
    bool has_ttfb = !packed_has_none(&t->ttfb);
    int64_t n_rated = 0;
    if (!count_up(p, s, e) || (with_seconds && !sums_part_cover(p, p->start_ns / SUMS_SECOND_NS,
                                                                p->end_ns / SUMS_SECOND_NS + 1, e)))
        return false;
    counts_begin(&c->duration, &p->duration);
    counts_begin(&c->ttfb, &p->ttfb);
    counts_begin(&c->rate, &p->rate);
    for (size_t k = 0; k < s->n; k++) {
        size_t i = row_of(s, k);
        const struct attribution_request r = analysis_request(t, i);
        if (with_seconds)
            spread(p, &r);
        if (!r.ok)
            continue;
        int64_t ns = r.end_ns - r.start_ns;
        moments_add(&duration, ns);
        counts_add(&c->duration, ns);
        if (has_ttfb && packed_has(&t->ttfb, i)) {
            moments_add(&ttfb, packed_get(&t->ttfb, i));
            counts_add(&c->ttfb, packed_get(&t->ttfb, i));
        }
        if (r.bytes > 0 && ns > 0) {
            double rate = (double)r.bytes / (double)ns * (1e9 * SUMS_MILLI);
            counts_add(&c->rate, rate < 0x1p62 ? (int64_t)rate : INT64_C(1) << 62);
            p->n_rated_bytes += r.bytes;
            p->n_rated_ns += ns;
            n_rated++;
        }
    }
    if (!counts_end(&c->duration) || !counts_end(&c->ttfb) || !counts_end(&c->rate))
        return err_set(e, "out of memory");
    if (ttfb.sum > INT64_MAX)
        return err_set(e, "a sum of all requests does not fit 63 bits");
    if (p->ttfb.n_buckets > 0 && p->ttfb.min < 0)
        return err_set(e, "a request has its first byte before its start, or its last byte after "
                          "its end: there are no buckets for such times");
    p->duration.moments = duration;
    p->ttfb.moments = ttfb;
    p->rate.moments.n = n_rated;
    return true;
}

/* ---- The parts of an operation ---- */

enum divided { NOT_DIVIDED, BY_HOST, BY_CLIENT, BY_SIZE };

/* One way to divide an operation. */
struct job {
    const struct dataset *d;
    const struct table *t;
    struct sums_op *op;
    enum divided by;
    struct segment_thread *threads; /* NOT_DIVIDED: of the table; owned */
};

static size_t key_of(const struct job *j, size_t i)
{
    const struct place *p = dataset_place(j->d, j->t, table_place(j->t, i));
    return j->by == BY_HOST     ? p->host
           : j->by == BY_CLIENT ? p->client
                                : analysis_size_class(packed_get(&j->t->bytes, i));
}

static bool part_name(struct sums_part *p, const struct job *j, size_t key, struct err *e)
{
    const char *name = j->by == BY_HOST     ? j->d->hosts.v[key]
                       : j->by == BY_CLIENT ? j->d->clients.v[key]
                                            : "";
    p->name = utf8_repaired(name);
    p->min_bytes = j->by == BY_SIZE ? analysis_size_edges[key] : 0;
    return p->name != NULL || err_set(e, "out of memory");
}

static bool divide(const struct job *j, struct sums_parts *parts, struct counting *c, struct err *e)
{
    const struct table *t = j->t;
    size_t n_keys = j->by == BY_HOST     ? j->d->hosts.n
                    : j->by == BY_CLIENT ? j->d->clients.n
                                         : ANALYSIS_N_SIZES;
    size_t *first = NULL, n_used = 0;
    uint32_t *row = NULL;
    bool ok = mem_cleared(&first, n_keys + 2, e);

    for (size_t i = 0; ok && i < t->n; i++)
        csort_count(first, key_of(j, i));
    for (size_t k = 0; ok && k < n_keys; k++)
        n_used += first[k + 2] > 0;
    if (ok)
        csort_sum(first, n_keys);
    ok = ok && mem_cleared(&parts->v, n_used, e) && mem_new(&row, t->n, e);
    for (size_t i = 0; ok && n_used > 1 && i < t->n; i++)
        row[csort_place(first, key_of(j, i))] = (uint32_t)i;
    for (size_t k = 0; ok && n_used > 1 && k < n_keys; k++) {
        const struct selection s = {t, row + first[k], first[k + 1] - first[k]};
        if (s.n == 0)
            continue;
        struct sums_part *p = &parts->v[parts->n++];
        ok = part_name(p, j, k, e) && fill_part(p, &s, j->by != BY_SIZE, c, e);
    }
    /* One alone has the sums of all, which are copied when these are there. */
    for (size_t k = 0; ok && n_used == 1 && k < n_keys; k++)
        if (first[k + 2] > first[k + 1])
            ok = part_name(&parts->v[parts->n++], j, k, e);
    free(first);
    free(row);
    return ok;
}

static bool fill_errors(struct sums_op *op, const struct job *j, struct err *e)
{
    struct operation groups = {0};
    size_t n = 0;
    bool ok = analysis_errors(&groups, j->d, j->t, e);
    for (size_t i = 0; ok && i < groups.n_error_groups; i++)
        n += groups.errors[i].n_hosts;
    op->errors = calloc(n + 1, sizeof *op->errors);
    ok = ok && (op->errors != NULL || err_set(e, "out of memory"));
    for (size_t i = 0; ok && i < groups.n_error_groups; i++) {
        const struct error_group *g = &groups.errors[i];
        for (size_t k = 0; ok && k < g->n_hosts; k++) {
            struct sums_error *x = &op->errors[op->n_errors++];
            *x = (struct sums_error){utf8_repaired(g->message), utf8_repaired(g->hosts[k].host),
                                     g->hosts[k].count, g->hosts[k].first_ns, g->hosts[k].last_ns};
            ok = (x->message != NULL && x->host != NULL) || err_set(e, "out of memory");
        }
    }
    analysis_errors_free(&groups);
    return ok && sums_errors_join(op, e);
}

static bool fill_response(struct sums_op *op, const struct table *t, struct counts *c,
                          struct err *e)
{
    struct moments moments = {0};
    counts_begin(c, &op->response);
    for (size_t i = 0; !packed_has_none(&t->late) && i < t->n; i++) {
        if (table_failed(t, i) || !packed_has(&t->late, i))
            continue;
        int64_t ns;
        if (__builtin_add_overflow(packed_get(&t->dur, i), packed_get(&t->late, i), &ns))
            ns = INT64_MAX;
        moments_add(&moments, ns);
        counts_add(c, ns);
    }
    op->response.moments = moments;
    if (moments.sum > INT64_MAX)
        return err_set(e, "a sum of all requests does not fit 63 bits");
    if (!counts_end(c))
        return err_set(e, "out of memory");
    return op->response.n_buckets == 0 || op->response.min >= 0 ||
           err_set(e, "a request was due after its end: there are no buckets for such times");
}

static bool fill_op(struct job *j, struct counting *c, struct err *e)
{
    const struct table *t = j->t;
    struct sums_op *op = j->op;
    const struct selection all = {t, NULL, t->n};
    size_t n_threads = dataset_n_threads(j->d, t);
    int64_t first_ns = INT64_MAX;
    j->threads = malloc((n_threads + 1) * sizeof *j->threads);
    if (j->threads == NULL)
        return err_set(e, "out of memory");
    for (size_t i = 0; i < n_threads; i++)
        j->threads[i] = SEGMENT_THREAD_NONE;
    op->min_bytes = INT64_MAX;
    for (size_t i = 0; i < t->n; i++) {
        int64_t bytes = packed_get(&t->bytes, i), objects = packed_get(&t->objects, i);
        segment_thread_add(&j->threads[table_thread(t, i)], t->start[i], table_end(t, i));
        if (!table_failed(t, i)) {
            op->min_bytes = bytes < op->min_bytes ? bytes : op->min_bytes;
            op->max_bytes = bytes > op->max_bytes ? bytes : op->max_bytes;
        }
        if (t->start[i] < first_ns || (t->start[i] == first_ns && objects < op->first_objects)) {
            first_ns = t->start[i];
            op->first_objects = objects;
        }
    }
    struct segment_range range = segment_range_all(j->threads, n_threads);
    op->range = (struct sums_range){range.start_ns, range.end_ns};
    for (size_t i = 0; i < n_threads; i++)
        op->n_threads += segment_thread_used(&j->threads[i]);
    op->op = utf8_repaired(j->d->ops.v[t->op]);
    op->all.name = strdup("");
    return ((op->op != NULL && op->all.name != NULL) || err_set(e, "out of memory")) &&
           fill_part(&op->all, &all, true, c, e) && fill_response(op, t, &c->duration, e) &&
           fill_errors(op, j, e);
}

static bool do_job(void *job, struct err *e)
{
    struct job *j = job;
    struct counting c = {0};
    bool ok = counts_init(&c.duration) && counts_init(&c.ttfb) && counts_init(&c.rate);
    if (!ok)
        err_set(e, "out of memory");
    else if (j->by == NOT_DIVIDED)
        ok = fill_op(j, &c, e);
    else
        ok = divide(j,
                    j->by == BY_HOST     ? &j->op->hosts
                    : j->by == BY_CLIENT ? &j->op->clients
                                         : &j->op->sizes,
                    &c, e);
    free(c.duration.v);
    free(c.ttfb.v);
    free(c.rate.v);
    return ok;
}

/* ---- All operations ---- */

static bool copy_alone(struct sums_parts *parts, const struct sums_part *all, bool is_size,
                       struct err *e)
{
    bool is_copy = parts->n == 1 && parts->v[0].n_requests == 0;
    if (!is_copy || !sums_part_add(&parts->v[0], all, e))
        return !is_copy;
    if (is_size) {
        free(parts->v[0].seconds);
        parts->v[0].seconds = NULL;
        parts->v[0].n_seconds = 0;
        parts->v[0].first_s = 0;
    }
    return true;
}

static bool finish_op(struct sums_op *op, struct err *e)
{
    return copy_alone(&op->hosts, &op->all, false, e) &&
           copy_alone(&op->clients, &op->all, false, e) &&
           copy_alone(&op->sizes, &op->all, true, e) && sums_parts_join(&op->hosts, e) &&
           sums_parts_join(&op->clients, e) && sums_parts_join(&op->sizes, e);
}

/* The range of all operations: a thread may run several of them. */
static bool fill_range(struct sums *s, const struct dataset *d, const struct job *jobs,
                       size_t n_jobs, struct err *e)
{
    struct segment_thread *threads = malloc((d->n_threads + 1) * sizeof *threads);
    if (threads == NULL)
        return err_set(e, "out of memory");
    for (size_t i = 0; i < d->n_threads; i++)
        threads[i] = SEGMENT_THREAD_NONE;
    for (size_t k = 0; k < n_jobs; k++) {
        const struct job *j = &jobs[k];
        for (size_t i = 0; j->threads != NULL && i < dataset_n_threads(d, j->t); i++)
            if (segment_thread_used(&j->threads[i]))
                segment_thread_add(&threads[table_thread_index(j->t, i)],
                                   j->threads[i].last_start_ns, j->threads[i].first_end_ns);
    }
    for (size_t i = 0; i < d->n_threads; i++)
        s->n_threads += segment_thread_used(&threads[i]);
    struct segment_range range = segment_range_all(threads, d->n_threads);
    s->range = (struct sums_range){range.start_ns, range.end_ns};
    free(threads);
    return true;
}

bool sums_of_dataset(struct sums *s, const struct dataset *d, unsigned threads, struct err *e)
{
    struct job *jobs = calloc(4 * d->n_tables + 1, sizeof *jobs);
    struct task *tasks = calloc(4 * d->n_tables + 1, sizeof *tasks);
    size_t n = 0;
    *s = (struct sums){.ops = calloc(d->n_tables + 1, sizeof *s->ops)};
    bool ok = (jobs != NULL && tasks != NULL && s->ops != NULL) || err_set(e, "out of memory");
    s->has_intended = d->has_intended;
    for (size_t k = 0; ok && k < d->n_tables; k++) {
        if (d->tables[k].n == 0)
            continue;
        struct sums_op *op = &s->ops[s->n_ops++];
        for (enum divided by = NOT_DIVIDED; by <= BY_SIZE; by++, n++) {
            jobs[n] = (struct job){.d = d, .t = &d->tables[k], .op = op, .by = by};
            tasks[n] = (struct task){do_job, &jobs[n], d->tables[k].n};
        }
    }
    ok = ok && tasks_run(tasks, n, threads, e) && fill_range(s, d, jobs, n, e);
    for (size_t k = 0; ok && k < s->n_ops; k++)
        ok = finish_op(&s->ops[k], e);
    /* Names that were not UTF-8 may have become the same. */
    ok = ok && sums_ops_join(s, e);
    for (size_t k = 0; k < n; k++)
        free(jobs[k].threads);
    free(jobs);
    free(tasks);
    return ok;
}
