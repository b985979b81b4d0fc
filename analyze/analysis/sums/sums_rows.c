/* Adds up the sums of a dataset: portions of rows on several threads, whose sums are then merged
 * like those of captures. All sums are integers, so neither portions nor threads change a digit. */
#include "analyze/analysis/sums/sums.h"

#include "analyze/analysis/sums/sums_internal.h"
#include "analyze/base/csort.h"
#include "analyze/base/tasks.h"
#include "analyze/data/slices.h"
#include "analyze/read/jsonpull.h"
#include "analyze/summary/requests/errors.h"
#include "analyze/summary/requests/sample.h"
#include "libcommon/attribution.h"
#include "libcommon/hist.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/segment.h"
#include "libcommon/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Smaller portions are not worth a thread. All portions are held until they are merged. */
#define PORTION_MIN_ROWS (128 << 10)
#define MAX_PORTIONS     16

/* Some rows of one table, added up by one task. */
struct portion {
    const struct dataset *d;
    const struct table *t;
    size_t from, end;
    struct sums_op *op;

    /* Scratch space, all zero between one part and the next. */
    uint32_t *duration, *ttfb, *rate; /* numbers of values by bucket */
    struct sums_second *seconds;      /* from first_s on */
    int64_t first_s;
};

/* ---- Histograms ---- */

struct extremes {
    int64_t min, max;
};

#define EXTREMES_NONE ((struct extremes){INT64_MAX, INT64_MIN})

static inline void count(uint32_t *by_bucket, struct extremes *x, int64_t v)
{
    by_bucket[hist_index(v)]++;
    x->min = int64_min(v, x->min);
    x->max = int64_max(v, x->max);
}

/* Moves the counts to *to and clears them. */
static bool take_counts(struct sums_values *to, uint32_t *by_bucket, const struct extremes *x,
                        const struct moments *moments, struct err *e)
{
    size_t n = 0, first = x->min > x->max ? 1 : hist_index(x->min),
           last = x->min > x->max ? 0 : hist_index(x->max);
    *to = (struct sums_values){.moments = *moments, .min = x->min, .max = x->max};
    if (moments->sum > INT64_MAX)
        return sums_overflow(e);
    for (size_t i = first; i <= last; i++)
        n += by_bucket[i] > 0;
    if (!mem_new(&to->bucket, n, e) || !mem_new(&to->count, n, e))
        return false;
    for (size_t i = first; i <= last; i++) {
        if (by_bucket[i] == 0)
            continue;
        to->bucket[to->n_buckets] = (uint32_t)i;
        to->count[to->n_buckets++] = by_bucket[i];
        by_bucket[i] = 0;
    }
    return true;
}

/* ---- A part ---- */

/* Spreads a request over the seconds from its start to its end. Bytes and objects of a failed one
 * do not count, and may be any number. */
static inline void spread(struct portion *x, const struct attribution_request *r)
{
    static const struct slice_grid seconds = {.length_ns = NS_PER_S};
    int64_t zero_ns = x->first_s * NS_PER_S; /* the times below count from here */
    const struct attribution_request t = {.start_ns = r->start_ns - zero_ns,
                                          .end_ns = r->end_ns - zero_ns};
    size_t first = (size_t)(t.start_ns / NS_PER_S);
    size_t last = (size_t)(t.end_ns / NS_PER_S);
    struct sums_second *s = &x->seconds[first], *end = &x->seconds[last];
    int64_t duration_ns = t.end_ns - t.start_ns;
    int64_t bytes = r->ok ? r->bytes : 0, micro = r->ok ? r->n_objects * SUMS_MICRO : 0;

    s->n_started++;
    if (r->ok) {
        end->ended_ns += duration_ns;
        end->n_ended++;
    } else {
        end->n_failed++;
    }
    if (s == end) {
        s->busy_ns += duration_ns;
        s->n_bytes += bytes;
        s->n_micro_objects += micro;
        return;
    }
    slices_spread(&seconds, first, last, &t, duration_ns, &s->busy_ns, sizeof *s);
    if (!r->ok)
        return;
    slices_spread(&seconds, first, last, &t, bytes, &s->n_bytes, sizeof *s);
    slices_spread(&seconds, first, last, &t, micro, &s->n_micro_objects, sizeof *s);
}

static bool take_seconds(struct sums_part *p, struct portion *x, struct err *e)
{
    p->first_s = p->start_ns / NS_PER_S;
    p->n_seconds = (size_t)(p->end_ns / NS_PER_S + 1 - p->first_s);
    if (!mem_new(&p->seconds, p->n_seconds, e))
        return false;
    struct sums_second *from = &x->seconds[p->first_s - x->first_s];
    memcpy(p->seconds, from, p->n_seconds * sizeof *from);
    memset(from, 0, p->n_seconds * sizeof *from);
    return true;
}

/* Adds up n rows: row[0..n-1], or all n rows of the portion if row is NULL. Works on local
 * variables, which no store can alias. */
static bool fill_part(struct sums_part *p, struct portion *x, const uint32_t *row, size_t n,
                      bool with_seconds, struct err *e)
{
    const struct table t = *x->t;
    struct moments duration = {0}, ttfb = {0}, rates = {0};
    struct extremes time = EXTREMES_NONE, durations = EXTREMES_NONE, ttfbs = EXTREMES_NONE,
                    rate_span = EXTREMES_NONE;
    bool has_ttfb = !packed_has_none(&t.ttfb), has_late = !packed_has_none(&t.late);

    for (size_t k = 0; k < n; k++) {
        size_t i = row != NULL ? row[k] : x->from + k;
        const struct attribution_request r = analysis_request(&t, i);

        time.min = int64_min(r.start_ns, time.min);
        time.max = int64_max(r.end_ns, time.max);
        if (with_seconds)
            spread(x, &r);
        if (with_seconds && has_late && packed_has(&t.late, i))
            x->seconds[r.start_ns / NS_PER_S - x->first_s].late_ns += packed_get(&t.late, i);
        if (!r.ok) {
            p->n_errors++;
            continue;
        }
        int64_t ns = r.end_ns - r.start_ns;
        p->n_bytes += r.bytes;
        p->n_objects += r.n_objects;
        moments_add(&duration, ns);
        count(x->duration, &durations, ns);
        if (has_ttfb && packed_has(&t.ttfb, i)) {
            moments_add(&ttfb, packed_get(&t.ttfb, i));
            count(x->ttfb, &ttfbs, packed_get(&t.ttfb, i));
        }
        if (r.bytes > 0 && ns > 0) {
            double rate = (double)r.bytes / (double)ns * (1e9 * SUMS_MILLI);
            count(x->rate, &rate_span, rate < 0x1p62 ? (int64_t)rate : INT64_C(1) << 62);
            p->n_rated_bytes += r.bytes;
            p->n_rated_ns += ns;
            rates.n++;
        }
    }
    p->n_requests = (int64_t)n;
    p->start_ns = time.min;
    p->end_ns = time.max;
    return take_counts(&p->duration, x->duration, &durations, &duration, e) &&
           take_counts(&p->ttfb, x->ttfb, &ttfbs, &ttfb, e) &&
           take_counts(&p->rate, x->rate, &rate_span, &rates, e) &&
           (!with_seconds || take_seconds(p, x, e));
}

/* ---- The parts of a portion ---- */

enum divided { BY_HOST, BY_CLIENT, BY_SIZE };

static size_t key_of(const struct portion *x, size_t i, enum divided by)
{
    if (by == BY_SIZE)
        return analysis_size_class(packed_get(&x->t->bytes, i));
    const struct place *p = dataset_place(x->d, x->t, table_place(x->t, i));
    return by == BY_HOST ? p->host : p->client;
}

static bool part_init(struct sums_part *p, const struct portion *x, enum divided by, size_t key,
                      struct err *e)
{
    p->name = utf8_repaired(by == BY_HOST     ? x->d->hosts.v[key]
                            : by == BY_CLIENT ? x->d->clients.v[key]
                                              : "");
    p->min_bytes = by == BY_SIZE ? analysis_size_edges[key] : 0;
    return p->name != NULL || mem_none(e);
}

/* Copies the sums of all requests: a single host, client or size has the same ones. */
static bool copy_all(struct sums_part *p, const struct portion *x, enum divided by, struct err *e)
{
    if (!sums_part_add(p, &x->op->all, e))
        return false;
    if (by == BY_SIZE) {
        free(p->seconds);
        p->seconds = NULL;
        p->n_seconds = 0;
        p->first_s = 0;
    }
    return true;
}

static bool divide(struct portion *x, struct sums_parts *parts, enum divided by, struct err *e)
{
    size_t n_keys = by == BY_HOST     ? x->d->hosts.n
                    : by == BY_CLIENT ? x->d->clients.n
                                      : ANALYSIS_N_SIZES;
    size_t *first = NULL, n_used = 0;
    uint32_t *row = NULL;

    if (!mem_cleared(&first, n_keys + 2, e))
        return false;
    for (size_t i = x->from; i < x->end; i++)
        csort_count(first, key_of(x, i, by));
    for (size_t k = 0; k < n_keys; k++)
        n_used += first[k + 2] > 0;
    csort_sum(first, n_keys);
    bool ok =
        mem_cleared(&parts->v, n_used, e) && (n_used == 1 || mem_new(&row, x->end - x->from, e));
    for (size_t i = x->from; ok && n_used > 1 && i < x->end; i++)
        row[csort_place(first, key_of(x, i, by))] = (uint32_t)i;
    /* If the loop above did not run, the rows of a key begin one place further up. */
    const size_t *begin = n_used > 1 ? first : first + 1;
    for (size_t k = 0; ok && k < n_keys; k++) {
        if (begin[k + 1] == begin[k])
            continue;
        struct sums_part *p = &parts->v[parts->n++];
        ok = part_init(p, x, by, k, e) &&
             (n_used == 1
                  ? copy_all(p, x, by, e)
                  : fill_part(p, x, row + begin[k], begin[k + 1] - begin[k], by != BY_SIZE, e));
    }
    free(first);
    free(row);
    return ok && sums_parts_join(parts, e);
}

/* Checks that no sum of the portion can overflow, and makes room for its seconds. */
static bool look(struct portion *x, struct err *e)
{
    const struct table *t = x->t;
    struct sums_op *op = x->op;
    __int128 all_bytes = 0, all_objects = 0, busy_ns = 0, late_ns = 0;
    int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;

    op->min_bytes = INT64_MAX;
    for (size_t i = x->from; i < x->end; i++) {
        int64_t bytes = packed_get(&t->bytes, i), objects = packed_get(&t->objects, i);
        int64_t end = table_end(t, i);

        busy_ns += end - t->start[i];
        late_ns +=
            packed_has_none(&t->late) || !packed_has(&t->late, i) ? 0 : packed_get(&t->late, i);
        end_ns = int64_max(end, end_ns);
        if (t->start[i] < start_ns || (t->start[i] == start_ns && objects < op->first_objects)) {
            start_ns = t->start[i];
            op->first_objects = objects;
        }
        if (table_failed(t, i))
            continue;
        all_bytes += bytes;
        all_objects += objects;
        op->min_bytes = int64_min(bytes, op->min_bytes);
        op->max_bytes = int64_max(bytes, op->max_bytes);
    }
    if (all_bytes > INT64_MAX || all_objects > INT64_MAX / SUMS_MICRO || busy_ns > INT64_MAX ||
        late_ns > INT64_MAX)
        return sums_overflow(e);
    x->first_s = start_ns / NS_PER_S;
    size_t n_seconds = (size_t)(end_ns / NS_PER_S + 1 - x->first_s);
    if (n_seconds > SUMS_MAX_SECONDS)
        return err_set(e, "requests lie more than %d seconds apart", SUMS_MAX_SECONDS);
    return mem_cleared(&x->seconds, n_seconds, e);
}

static bool fill_response(struct portion *x, struct err *e)
{
    const struct table *t = x->t;
    struct moments moments = {0};
    struct extremes span = EXTREMES_NONE;

    for (size_t i = x->from; !packed_has_none(&t->late) && i < x->end; i++) {
        if (table_failed(t, i) || !packed_has(&t->late, i))
            continue;
        int64_t ns = packed_get(&t->dur, i) + packed_get(&t->late, i); /* end - intended >= 0 */
        moments_add(&moments, ns);
        count(x->duration, &span, ns);
    }
    return take_counts(&x->op->response, x->duration, &span, &moments, e);
}

static bool do_portion(void *portion, struct err *e)
{
    struct portion *x = portion;
    struct sums_op *op = x->op;

    op->op = utf8_repaired(x->d->ops.v[x->t->op]);
    op->all.name = strdup("");
    bool ok = ((op->op != NULL && op->all.name != NULL) || mem_none(e)) &&
              mem_cleared(&x->duration, HIST_N_INDEXES, e) &&
              mem_cleared(&x->ttfb, HIST_N_INDEXES, e) &&
              mem_cleared(&x->rate, HIST_N_INDEXES, e) && look(x, e) &&
              fill_part(&op->all, x, NULL, x->end - x->from, true, e) &&
              divide(x, &op->hosts, BY_HOST, e) && divide(x, &op->clients, BY_CLIENT, e) &&
              divide(x, &op->sizes, BY_SIZE, e) && fill_response(x, e);
    free(x->duration);
    free(x->ttfb);
    free(x->rate);
    free(x->seconds);
    return ok;
}

/* ---- Figures that need a whole table ---- */

/* A table as a whole. */
struct whole {
    const struct dataset *d;
    const struct table *t;
    struct sums_op *op;             /* the operation of the first portion */
    struct segment_thread *threads; /* of the table; owned */
};

static bool fill_errors(struct sums_op *op, const struct whole *w, struct err *e)
{
    struct operation groups = {0};
    size_t n = 0;
    bool ok = analysis_errors(&groups, w->d, w->t, e);

    for (size_t i = 0; ok && i < groups.n_error_groups; i++)
        n += groups.errors[i].n_hosts;
    ok = ok && mem_cleared(&op->errors, n, e);
    for (size_t i = 0; ok && i < groups.n_error_groups; i++) {
        const struct error_group *g = &groups.errors[i];
        for (size_t k = 0; ok && k < g->n_hosts; k++) {
            struct sums_error *x = &op->errors[op->n_errors++];
            *x = (struct sums_error){utf8_repaired(g->message), utf8_repaired(g->hosts[k].host),
                                     g->hosts[k].count, g->hosts[k].first_ns, g->hosts[k].last_ns};
            ok = (x->message != NULL && x->host != NULL) || mem_none(e);
        }
    }
    analysis_errors_free(&groups);
    return ok && sums_errors_join(op, e);
}

static bool do_whole(void *whole, struct err *e)
{
    struct whole *w = whole;
    const struct table *t = w->t;
    size_t n_threads = dataset_n_threads(w->d, t);

    if (!mem_new(&w->threads, n_threads, e))
        return false;
    for (size_t i = 0; i < n_threads; i++)
        w->threads[i] = SEGMENT_THREAD_NONE;
    for (size_t i = 0; i < t->n; i++)
        segment_thread_add(&w->threads[table_thread(t, i)], t->start[i], table_end(t, i));
    struct segment_range range = segment_range_all(w->threads, n_threads);
    w->op->range = (struct sums_range){range.start_ns, range.end_ns};
    for (size_t i = 0; i < n_threads; i++)
        w->op->n_threads += segment_thread_used(&w->threads[i]);
    return fill_errors(w->op, w, e);
}

/* Finds the range of all operations together: a thread may run several of them. */
static bool fill_range(struct sums *s, const struct dataset *d, const struct whole *wholes,
                       struct err *e)
{
    struct segment_thread *threads;
    if (!mem_new(&threads, d->n_threads, e))
        return false;
    for (size_t i = 0; i < d->n_threads; i++)
        threads[i] = SEGMENT_THREAD_NONE;
    for (size_t k = 0; k < d->n_tables; k++) {
        const struct whole *w = &wholes[k];
        for (size_t i = 0; w->threads != NULL && i < dataset_n_threads(d, w->t); i++)
            if (segment_thread_used(&w->threads[i]))
                segment_thread_add(&threads[table_thread_index(w->t, i)],
                                   w->threads[i].last_start_ns, w->threads[i].first_end_ns);
    }
    for (size_t i = 0; i < d->n_threads; i++)
        s->n_threads += segment_thread_used(&threads[i]);
    struct segment_range range = segment_range_all(threads, d->n_threads);
    s->range = (struct sums_range){range.start_ns, range.end_ns};
    free(threads);
    return true;
}

/* ---- All of it ---- */

/* Keeps the lines that s3load recorded, except those too long for a file of sums. */
static bool keep_said(struct lineset *to, const struct lineset *from, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < from->n; i++) {
        char *text = utf8_repaired(from->line[i]);
        ok = text != NULL ? strlen(text) > JSONPULL_MAX_STRING || lineset_add(to, text, e)
                          : mem_none(e);
        free(text);
    }
    return ok;
}

static size_t n_portions_of(const struct table *t)
{
    size_t n = (t->n + PORTION_MIN_ROWS - 1) / PORTION_MIN_ROWS;
    return n < MAX_PORTIONS ? n : MAX_PORTIONS;
}

bool sums_of_dataset(struct sums *s, const struct dataset *d, unsigned threads, struct err *e)
{
    struct portion *portions = NULL;
    struct whole *wholes = NULL;
    struct task *tasks = NULL;
    size_t n_portions = 0, n = 0;

    for (size_t k = 0; k < d->n_tables; k++)
        n_portions += n_portions_of(&d->tables[k]);
    *s = (struct sums){.has_intended = d->has_intended};
    bool ok = mem_cleared(&s->ops, n_portions, e) && mem_cleared(&portions, n_portions, e) &&
              mem_cleared(&wholes, d->n_tables, e) && mem_new(&tasks, n_portions + d->n_tables, e);
    for (size_t k = 0; ok && k < d->n_tables; k++) {
        const struct table *t = &d->tables[k];
        size_t n_of = n_portions_of(t);

        if (n_of == 0)
            continue;
        wholes[k] = (struct whole){.d = d, .t = t, .op = &s->ops[s->n_ops]};
        tasks[n++] = (struct task){do_whole, &wholes[k], t->n / 4};
        for (size_t i = 0; i < n_of; i++) {
            struct portion *x = &portions[s->n_ops];
            *x = (struct portion){.d = d,
                                  .t = t,
                                  .from = t->n / n_of * i + t->n % n_of * i / n_of,
                                  .end = t->n / n_of * (i + 1) + t->n % n_of * (i + 1) / n_of,
                                  .op = &s->ops[s->n_ops++]};
            x->op->range = (struct sums_range){INT64_MIN, INT64_MAX};
            tasks[n++] = (struct task){do_portion, x, x->end - x->from};
        }
    }
    for (size_t i = 0; ok && i < d->n_inputs; i++)
        ok = keep_said(&s->said, &d->inputs[i].said, e);
    /* This joins the portions of an operation, and operations whose names were not UTF-8 and now
     * are equal. */
    ok =
        ok && tasks_run(tasks, n, threads, e) && fill_range(s, d, wholes, e) && sums_ops_join(s, e);
    for (size_t k = 0; wholes != NULL && k < d->n_tables; k++)
        free(wholes[k].threads);
    free(portions);
    free(wholes);
    free(tasks);
    const struct err why = *e;
    if (!ok)
        err_clear(e);
    return ok || err_set(e, "%s: no sums can be made: %s", d->inputs[0].path, why.msg);
}
