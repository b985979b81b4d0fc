#include "analyze/summary/estimate/confidence.h"

#include "analyze/data/slices.h"
#include "analyze/summary/estimate/flow.h"
#include "analyze/summary/estimate/latency.h"
#include "analyze/summary/model/role.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Most segments in a window: a longer window has longer segments than
 * docs/how-the-numbers-are-made.md, section 7, says. */
#define MAX_SEGMENTS 100000

/* ---- The passes over the rows ---- */

struct passes {
    const struct statistics_input *in;
    struct window window;
    struct flow bytes, objects;
    int64_t *n_ok, *n_failed; /* requests that ended, by segment */
    __int128 busy_ns;
    bool any_bytes;
    struct latency duration, ttfb;
};

static inline size_t row_of(const struct statistics_input *in, size_t k)
{
    return in->row != NULL ? in->row[k] : k;
}

#define NO_SEGMENT SIZE_MAX

/* Rows from .. to - 1 of the input: a block, or all of them if there are no blocks. */
struct stretch {
    size_t from, to;
    size_t segment; /* all requests lie in it, succeeded, have no wide value; or NO_SEGMENT */
};

static struct stretch stretch_at(const struct passes *p, size_t k)
{
    const struct blocks *blocks = p->in->blocks;
    struct stretch x = {k, p->in->n, NO_SEGMENT};

    if (blocks == NULL)
        return x;
    const struct block *b = &blocks->v[k / BLOCKS_ROWS];
    x.to = blocks_end(blocks, k / BLOCKS_ROWS);
    if (b->failed || b->wide || b->min_start_ns < p->in->ok.start_ns ||
        b->max_end_ns > p->in->ok.end_ns || !blocks_within(b, &p->window.grid, &x.segment))
        x.segment = NO_SEGMENT;
    return x;
}

/* Returns the values of a stretch of a column as an array; may use `room` for it. */
static const uint32_t *values_of(const struct packed *column, struct stretch x,
                                 uint32_t room[BLOCKS_ROWS])
{
    if (column->v != NULL)
        return column->v + x.from;
    for (size_t i = 0; i < x.to - x.from; i++)
        room[i] = column->same;
    return room;
}

/* Adds a block that lies within one segment. */
static void sum_up_block(struct passes *p, struct stretch x)
{
    const struct table *t = p->in->table;
    const struct blocks *blocks = p->in->blocks;
    const struct block_sum *sums = blocks_sums(blocks, x.from / BLOCKS_ROWS);
    size_t n = x.to - x.from, j = x.segment;
    uint32_t room[BLOCKS_ROWS];

    p->n_ok[j] += (int64_t)n;
    for (size_t k = 0; k < blocks->n_sums; k++) {
        p->busy_ns += sums[k].ns;
        p->any_bytes |= sums[k].bytes != 0;
        flow_add(&p->bytes, j, sums[k].bytes);
        flow_add(&p->objects, j, sums[k].n_objects);
    }
    latency_take_packed(&p->duration, LATENCY_COUNT, values_of(&t->dur, x, room), n, j);
    if (!packed_has_none(&t->ttfb))
        latency_take_packed(&p->ttfb, LATENCY_COUNT, values_of(&t->ttfb, x, room), n, j);
}

/* True if a successful request's latency counts, by the same rule as in the report. */
static inline bool is_within(const struct span *s, int64_t start_ns, int64_t end_ns)
{
    return start_ns >= s->start_ns && end_ns <= s->end_ns;
}

static void sum_up_row(struct passes *p, size_t i)
{
    const struct table *t = p->in->table;
    const struct window *w = &p->window;
    int64_t start_ns = t->start[i], duration_ns = packed_get(&t->dur, i);
    int64_t end_ns = start_ns + duration_ns;

    if (is_within(&p->in->ok, start_ns, end_ns) && !table_failed(t, i)) {
        latency_take(&p->duration, LATENCY_COUNT, duration_ns, 0);
        if (packed_has(&t->ttfb, i))
            latency_take(&p->ttfb, LATENCY_COUNT, packed_get(&t->ttfb, i), 0);
    }
    if (end_ns < w->start_ns || start_ns >= w->end_ns)
        return;
    int64_t from = int64_max(start_ns, w->start_ns);
    int64_t to = int64_min(end_ns, w->end_ns);
    p->busy_ns += to - from;

    bool ended = end_ns < w->grid.end_ns;
    size_t j = ended ? slice_grid_index(&w->grid, end_ns) : 0;
    if (table_failed(t, i)) {
        p->n_failed[j] += ended;
        return;
    }
    int64_t bytes = packed_get(&t->bytes, i), n_objects = packed_get(&t->objects, i);
    p->any_bytes |= bytes != 0;
    p->n_ok[j] += ended;
    if (ended && start_ns >= w->grid.start_ns + (int64_t)j * w->grid.length_ns) {
        flow_add(&p->bytes, j, bytes);
        flow_add(&p->objects, j, n_objects);
    } else if (duration_ns > 0) {
        struct flow_parts parts = flow_divide(w, start_ns, end_ns);
        flow_add_parts(&p->bytes, &parts, bytes);
        flow_add_parts(&p->objects, &parts, n_objects);
    } else { /* without duration, in the tail */
        flow_add_tail(&p->bytes, bytes);
        flow_add_tail(&p->objects, n_objects);
    }
}

/* First pass: sums, and latencies by histogram bucket. */
static void sum_up(struct passes *p)
{
    const struct statistics_input *in = p->in;
    for (struct stretch x = {0}; x.from < in->n; x.from = x.to) {
        x = stretch_at(p, x.from);
        if (x.segment != NO_SEGMENT)
            sum_up_block(p, x);
        for (size_t k = x.from; x.segment == NO_SEGMENT && k < x.to; k++)
            sum_up_row(p, row_of(in, k));
    }
}

/* Finds the segment in which a request ends; one that ends after the last segment goes to the last.
 * Returns false if its latency does not count. */
static inline bool counts_in(const struct passes *p, size_t i, int64_t duration_ns, size_t *segment)
{
    const struct table *t = p->in->table;
    int64_t start_ns = t->start[i], end_ns = start_ns + duration_ns;

    if (!is_within(&p->in->ok, start_ns, end_ns) || table_failed(t, i))
        return false;
    *segment = slice_grid_nearest(&p->window.grid, end_ns);
    return true;
}

/* Takes the latencies of one pass. Inlined, so that `pass` is a constant and costs no branch per
 * request. */
static inline __attribute__((always_inline)) void take_latencies(struct passes *p,
                                                                 enum latency_pass pass)
{
    const struct statistics_input *in = p->in;
    const struct table *t = in->table;
    uint32_t room[BLOCKS_ROWS];
    size_t j;

    for (struct stretch x = {0}; x.from < in->n; x.from = x.to) {
        x = stretch_at(p, x.from);
        if (x.segment != NO_SEGMENT) {
            size_t n = x.to - x.from;
            latency_take_packed(&p->duration, pass, values_of(&t->dur, x, room), n, x.segment);
            if (!packed_has_none(&t->ttfb))
                latency_take_packed(&p->ttfb, pass, values_of(&t->ttfb, x, room), n, x.segment);
            continue;
        }
        for (size_t k = x.from; k < x.to; k++) {
            size_t i = row_of(in, k);
            int64_t duration_ns = packed_get(&t->dur, i);

            if (!counts_in(p, i, duration_ns, &j))
                continue;
            latency_take(&p->duration, pass, duration_ns, j);
            if (packed_has(&t->ttfb, i))
                latency_take(&p->ttfb, pass, packed_get(&t->ttfb, i), j);
        }
    }
}

static bool end_pass(struct passes *p, enum latency_pass pass, struct err *e)
{
    return latency_end(&p->duration, pass, e) && latency_end(&p->ttfb, pass, e);
}

/* Ends the pass of sum_up and runs the two passes after it. */
static bool show_latencies(struct passes *p, struct err *e)
{
    if (!end_pass(p, LATENCY_COUNT, e))
        return false;
    take_latencies(p, LATENCY_SPLIT);
    if (!end_pass(p, LATENCY_SPLIT, e))
        return false;
    take_latencies(p, LATENCY_COLLECT);
    return end_pass(p, LATENCY_COLLECT, e);
}

/* ---- Results ---- */

bool statistics_fill_rate(struct statistics_rate *r, double *rate, const int64_t *n_failed,
                          const int64_t *n_all, size_t n, double mean, int64_t n_requests,
                          struct err *e)
{
    r->present = true;
    if (!stats_median_segment(rate, n, &r->median, e))
        return false;
    stats_take_failures(rate, n_failed, n_all, n);
    return stats_mean(mean, rate, n, n_requests, &r->mean, e);
}

/* The requests that ended in each segment. */
struct ended {
    const int64_t *failed, *all;
};

/* Fills a rate from its flow, with `room` for the segments. `mean` NULL: that of the flow. */
static bool fill_rate(struct statistics *s, const struct flow *f, const struct ended *ended,
                      const double *mean, double *room, struct statistics_rate *to, struct err *e)
{
    size_t n = s->n_segments;
    double all = flow_rates(f, n, s->segment_ns, room), seconds = (double)s->duration_ns / 1e9;

    return statistics_fill_rate(to, room, ended->failed, ended->all, n,
                                mean != NULL ? *mean : all / seconds, s->n_requests + s->n_failed,
                                e);
}

static bool fill_throughput(struct statistics *s, struct passes *p, struct err *e)
{
    size_t n = s->n_segments;
    double *rate = NULL;
    int64_t *n_all = NULL;
    bool ok = mem_new(&rate, n, e) && mem_new(&n_all, n, e);

    for (size_t j = 0; ok && j < n; j++) {
        n_all[j] = p->n_ok[j] + p->n_failed[j];
        s->n_requests += p->n_ok[j];
        s->n_failed += p->n_failed[j];
    }
    const struct throughput *total = p->in->total;
    const double *objects_per_s = total != NULL ? &total->objects_per_s : NULL;
    const double *bytes_per_s = total != NULL ? &total->bytes_per_s : NULL;
    const struct ended ended = {p->n_failed, n_all};
    /* Few requests end outside of W. Those that failed there count too. */
    double frac = p->in->n_requests > 0 ? (double)p->in->n_errors / (double)p->in->n_requests : NAN;

    ok = ok && fill_rate(s, &p->objects, &ended, objects_per_s, rate, &s->objects, e) &&
         (!p->any_bytes || fill_rate(s, &p->bytes, &ended, bytes_per_s, rate, &s->bytes, e)) &&
         stats_error_rate(frac, p->n_failed, n_all, n, &s->error_rate, e);
    free(rate);
    free(n_all);
    return ok;
}

static bool fill_co(struct statistics *s, const struct passes *p, struct err *e)
{
    const struct statistics_input *in = p->in;
    size_t n = 0, segment;

    if (in->co_interval_ns <= 0 || s->duration.n == 0)
        return true;
    int64_t *v;
    if (!mem_new(&v, (size_t)s->duration.n, e))
        return false;
    for (size_t k = 0; k < in->n; k++) {
        size_t i = row_of(in, k);
        int64_t duration_ns = packed_get(&in->table->dur, i);

        if (counts_in(p, i, duration_ns, &segment))
            v[n++] = duration_ns;
    }
    s->co.interval_ns = in->co_interval_ns;
    s->co.n = stats_co_count(v, n, in->co_interval_ns);
    for (size_t q = 0; q < STATISTICS_N_QUANTILES; q++)
        s->co.q_ns[q] = stats_co_value(v, n, in->co_interval_ns,
                                       quantile_index(s->co.n, statistics_permille[q]) + 1);
    free(v);
    return true;
}

void statistics_forget_rates(struct statistics *s, const char *why)
{
    struct statistics_rate *rates[] = {&s->bytes, &s->objects};

    const struct stats_ci none = {.why = why, .value = NAN, .lo = -INFINITY, .hi = INFINITY};

    for (size_t i = 0; i < 2; i++) {
        const struct stats_ci was = rates[i]->mean;

        *rates[i] = (struct statistics_rate){.why = why, .mean = none, .median = none};
        rates[i]->mean.m = was.m; /* for percentiles */
        rates[i]->mean.stretches = was.stretches;
    }
}

int64_t statistics_segment_ns(int64_t window_ns)
{
    int64_t width_ns = stats_segment_width_ns(window_ns);

    return window_ns / width_ns > MAX_SEGMENTS ? window_ns / MAX_SEGMENTS : width_ns;
}

static bool passes_init(struct passes *p, const struct statistics_input *in, struct err *e)
{
    int64_t length_ns = in->end_ns - in->start_ns;
    int64_t width_ns =
        int64_max(statistics_segment_ns(length_ns), dataset_start_resolution_ns(in->dataset));
    size_t n = (size_t)(length_ns / width_ns);

    *p = (struct passes){.in = in, .window = {.start_ns = in->start_ns, .end_ns = in->end_ns}};
    slice_grid_init(&p->window.grid, in->start_ns, width_ns, n);
    return mem_cleared(&p->n_ok, n, e) && mem_cleared(&p->n_failed, n, e) &&
           flow_init(&p->bytes, n, e) && flow_init(&p->objects, n, e) &&
           latency_init(&p->duration, n, e) && latency_init(&p->ttfb, n, e);
}

static void passes_fini(struct passes *p)
{
    free(p->n_ok);
    free(p->n_failed);
    flow_fini(&p->bytes);
    flow_fini(&p->objects);
    latency_fini(&p->duration);
    latency_fini(&p->ttfb);
}

void statistics_round_off(struct stats_ci *ci, int64_t resolution_ns)
{
    double off_ns = (double)resolution_ns / 2;

    ci->lo = fmax(ci->lo - off_ns, fmin(ci->lo, 0));
    ci->lo90 = fmax(ci->lo90 - off_ns, fmin(ci->lo90, 0));
    ci->hi += off_ns;
    ci->hi90 += off_ns;
}

static bool run(struct statistics *s, struct passes *p, struct err *e)
{
    const struct statistics_input *in = p->in;
    *s = (struct statistics){
        .start_ns = in->start_ns,
        .duration_ns = in->end_ns - in->start_ns,
        .ok = in->ok,
        .segment_ns = p->window.grid.length_ns,
        .n_segments = p->window.grid.n,
        .concurrency = in->concurrency,
    };
    sum_up(p);
    s->utilisation_frac = (double)p->busy_ns / ((double)in->concurrency * (double)s->duration_ns);
    p->duration.rate = p->ttfb.rate = &s->objects.mean;
    if (!fill_throughput(s, p, e) || !show_latencies(p, e) ||
        !latency_finish(&p->duration, &s->duration, true, e) ||
        !latency_finish(&p->ttfb, &s->ttfb, false, e))
        return false;
    int64_t resolution_ns = dataset_duration_resolution_ns(in->dataset);
    for (size_t q = 0; q < STATISTICS_N_QUANTILES; q++) {
        statistics_round_off(&s->duration.q[q].ci, resolution_ns);
        statistics_round_off(&s->ttfb.q[q].ci, resolution_ns);
    }
    return fill_co(s, p, e);
}

struct statistics *statistics_new(const struct statistics_input *in, struct err *e)
{
    struct passes p;
    struct statistics *s = NULL;
    bool ok = passes_init(&p, in, e) && mem_cleared(&s, 1, e) && run(s, &p, e);

    passes_fini(&p);
    if (ok)
        return s;
    statistics_free(s);
    return NULL;
}

void statistics_free(struct statistics *s)
{
    if (s == NULL)
        return;
    free(s->duration.count);
    free(s->ttfb.count);
    free(s);
}

void statistics_find_change(struct statistics *s, const struct findings *all, const char *op)
{
    const struct stats_ci *mean = &s->objects.mean;

    for (size_t i = 0; mean->ok && i < all->n && !s->is_changed; i++) {
        const struct finding *f = &all->v[i];
        bool is_timed = f->has_start || f->has_end;

        if (f->kind->doubt == NULL || (f->scope != SCOPE_SYSTEM && !is_timed) ||
            (f->op != NULL && (op == NULL || strcmp(f->op, op) != 0)))
            continue;
        /* Failures are no noise (stats_take_failures), nor is what they cause. A short stall does
         * not make noise that lasts. */
        s->is_changed =
            is_timed && f->n_because == 0 && f->lost_frac * mean->value > mean->hi - mean->value;
        if (s->is_changed || (s->change == NULL &&
                              (!f->kind->is_standstill || f->lost_frac >= FINDING_PROBLEM_FRAC)))
            s->change = f->kind->doubt;
    }
}

const char *statistics_doubt(const struct statistics *s, const struct stats_ci *ci)
{
    bool has_end = ci->stretches > 0 && !(isinf(ci->lo) && isinf(ci->hi));

    if (!has_end || !(ci->stretches < STATS_FEW_STRETCHES || s->is_changed))
        return "";
    return s->change != NULL ? s->change
                             : "95 % CI unreliable: noise lasts too long for so short a run";
}

const char *statistics_doubt_of(const struct analysis *a)
{
    const char *doubt = "";

    for (size_t k = 0; k < a->n_operations && *doubt == '\0'; k++) {
        const struct statistics *s = a->operations[k].statistics;
        if (s == NULL || !role_is_benchmark(a->operations[k].role))
            continue;
        const struct statistics_latency *times[] = {&s->duration, &s->ttfb};
        doubt = statistics_doubt(s, s->bytes.present ? &s->bytes.mean : &s->objects.mean);
        for (size_t i = 0; i < 2 * STATISTICS_N_QUANTILES && *doubt == '\0'; i++)
            doubt = statistics_doubt(s, &times[i / 4]->q[i % 4].ci);
    }
    return doubt;
}
