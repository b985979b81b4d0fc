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

/* Times of requests: a column, or two of them added up. */
struct column {
    enum statistics_of of;
    const struct packed *v, *plus; /* plus NULL: nothing is added */
    struct latency latency;
};

struct passes {
    const struct statistics_input *in;
    struct window window;
    struct flow bytes, objects;
    int64_t *n_ok, *n_failed; /* requests that ended, by segment */
    __int128 busy_ns;
    bool any_bytes;
    struct column columns[STATISTICS_N_TIMES]; /* those that the table has */
    size_t n_columns;
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

/* Returns false if the request has no such time. */
static inline bool time_of(const struct column *c, size_t i, int64_t *ns)
{
    if (!packed_has(c->v, i) || (c->plus != NULL && !packed_has(c->plus, i)))
        return false;
    *ns = packed_get(c->v, i) + (c->plus != NULL ? packed_get(c->plus, i) : 0);
    return true;
}

/* True if a successful request's latency counts, by the same rule as in the report. */
static inline bool counts(const struct passes *p, size_t i)
{
    const struct span *ok = &p->in->ok;

    return table_done_within(p->in->table, i, ok->start_ns, ok->end_ns);
}

/* Take the latencies of one pass: of a request, of a block that lies within one segment. A request
 * that ends after the last segment counts as one of the last. Inlined, so that `pass` is a constant
 * and costs no branch per request. */
static inline __attribute__((always_inline)) void take_row(struct passes *p, enum latency_pass pass,
                                                           size_t i)
{
    int64_t ns;

    if (!counts(p, i))
        return;
    size_t j =
        pass == LATENCY_SPLIT ? slice_grid_nearest(&p->window.grid, table_end(p->in->table, i)) : 0;
    for (struct column *c = p->columns; c < p->columns + p->n_columns; c++)
        if (time_of(c, i, &ns))
            latency_take(&c->latency, pass, ns, j);
}

static inline __attribute__((always_inline)) void
take_block(struct passes *p, enum latency_pass pass, struct stretch x)
{
    int64_t ns;

    for (struct column *c = p->columns; c < p->columns + p->n_columns; c++)
        for (size_t i = x.from; i < x.to; i++)
            if (time_of(c, i, &ns))
                latency_take(&c->latency, pass, ns, x.segment);
}

/* Adds a block that lies within one segment. */
static void sum_up_block(struct passes *p, struct stretch x)
{
    const struct blocks *blocks = p->in->blocks;
    const struct block_sum *sums = blocks_sums(blocks, x.from / BLOCKS_ROWS);
    size_t n = x.to - x.from, j = x.segment;

    p->n_ok[j] += (int64_t)n;
    for (size_t k = 0; k < blocks->n_sums; k++) {
        p->busy_ns += sums[k].ns;
        p->any_bytes |= sums[k].bytes != 0;
        flow_add(&p->bytes, j, sums[k].bytes);
        flow_add(&p->objects, j, sums[k].n_objects);
    }
    take_block(p, LATENCY_COUNT, x);
}

static void sum_up_row(struct passes *p, size_t i)
{
    const struct table *t = p->in->table;
    const struct window *w = &p->window;
    int64_t start_ns = t->start[i], duration_ns = packed_get(&t->dur, i);
    int64_t end_ns = start_ns + duration_ns;

    take_row(p, LATENCY_COUNT, i);
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

/* The passes after that of sum_up. */
static inline __attribute__((always_inline)) void take_latencies(struct passes *p,
                                                                 enum latency_pass pass)
{
    const struct statistics_input *in = p->in;

    for (struct stretch x = {0}; x.from < in->n; x.from = x.to) {
        x = stretch_at(p, x.from);
        if (x.segment != NO_SEGMENT)
            take_block(p, pass, x);
        for (size_t k = x.from; x.segment == NO_SEGMENT && k < x.to; k++)
            take_row(p, pass, row_of(in, k));
    }
}

static bool end_pass(struct passes *p, enum latency_pass pass, struct err *e)
{
    bool ok = true;

    for (size_t k = 0; k < p->n_columns; k++)
        ok = ok && latency_end(&p->columns[k].latency, pass, e);
    return ok;
}

/* Ends the pass that counted, and runs the two passes after it. */
static bool show_latencies(struct passes *p, struct err *e)
{
    if (!end_pass(p, LATENCY_COUNT, e))
        return false;
    take_latencies(p, LATENCY_SPLIT);
    if (!end_pass(p, LATENCY_SPLIT, e))
        return false;
    take_latencies(p, LATENCY_COLLECT);
    return true;
}

/* ---- Results ---- */

/* Fills a rate whose mean is known, from its n segments. `rate` is left without what failures
 * explain. */
static bool fill_rate(struct statistics_rate *r, double *rate, const int64_t *n_failed,
                      const int64_t *n_all, size_t n, double mean, int64_t n_requests,
                      struct err *e)
{
    r->present = true;
    if (!stats_median_segment(rate, n, &r->median, e))
        return false;
    stats_take_failures(rate, n_failed, n_all, n);
    if (!stats_mean(mean, rate, n, n_requests, &r->mean, e))
        return false;
    stats_widen_few(&r->mean, n_failed, n_all, n);
    return true;
}

/* The requests that ended in each segment. */
struct ended {
    const int64_t *failed, *all;
};

/* Fills a rate from its flow, with `room` for the segments. `mean` NULL: that of the flow. */
static bool fill_rate_of_flow(struct statistics *s, const struct flow *f, const struct ended *ended,
                              const double *mean, double *room, struct statistics_rate *to,
                              struct err *e)
{
    size_t n = s->n_segments;
    double all = flow_rates(f, n, s->segment_ns, room), seconds = (double)s->duration_ns / 1e9;

    return fill_rate(to, room, ended->failed, ended->all, n, mean != NULL ? *mean : all / seconds,
                     s->n_requests + s->n_failed, e);
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

    ok = ok && fill_rate_of_flow(s, &p->objects, &ended, objects_per_s, rate, &s->objects, e) &&
         (!p->any_bytes ||
          fill_rate_of_flow(s, &p->bytes, &ended, bytes_per_s, rate, &s->bytes, e)) &&
         stats_error_rate(frac, p->n_failed, n_all, n, &s->error_rate, e);
    free(rate);
    free(n_all);
    return ok;
}

static bool fill_co(struct statistics *s, const struct passes *p, struct err *e)
{
    const struct statistics_input *in = p->in;
    size_t n = 0;

    if (in->co_interval_ns <= 0 || !s->duration.times.present)
        return true;
    int64_t *v;
    if (!mem_new(&v, (size_t)s->duration.times.n, e))
        return false;
    for (size_t k = 0; k < in->n; k++)
        if (counts(p, row_of(in, k)))
            v[n++] = packed_get(&in->table->dur, row_of(in, k));
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

static bool add_column(struct passes *p, enum statistics_of of, struct err *e)
{
    const struct table *t = p->in->table;
    struct column c = {of, of == STATISTICS_TTFB ? &t->ttfb : &t->dur,
                       of == STATISTICS_RESPONSE ? &t->late : NULL, .latency = {0}};

    if (packed_has_none(c.plus != NULL ? c.plus : c.v))
        return true;
    p->columns[p->n_columns] = c;
    return latency_init(&p->columns[p->n_columns++].latency, p->window.grid.n, e);
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
           add_column(p, STATISTICS_DURATION, e) && add_column(p, STATISTICS_TTFB, e) &&
           add_column(p, STATISTICS_RESPONSE, e);
}

static void passes_fini(struct passes *p)
{
    free(p->n_ok);
    free(p->n_failed);
    flow_fini(&p->bytes);
    flow_fini(&p->objects);
    for (size_t k = 0; k < p->n_columns; k++)
        latency_fini(&p->columns[k].latency);
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
    if (!fill_throughput(s, p, e))
        return false;
    for (size_t k = 0; k < p->n_columns; k++)
        p->columns[k].latency.rate = &s->objects.mean;
    if (!show_latencies(p, e))
        return false;
    struct statistics_latency *const to[] = {&s->duration, &s->ttfb, &s->response};
    int64_t resolution_ns = dataset_duration_resolution_ns(in->dataset);
    for (size_t k = 0; k < p->n_columns; k++) {
        struct column *c = &p->columns[k];

        if (!latency_finish(&c->latency, to[c->of], c->of == STATISTICS_DURATION, e))
            return false;
        for (size_t q = 0; q < STATISTICS_N_QUANTILES; q++)
            statistics_round_off(&to[c->of]->q[q].ci, resolution_ns);
        statistics_round_off(&to[c->of]->mean, resolution_ns);
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

bool statistics_of_series(struct statistics *to, const struct operation *op,
                          const struct series_row *rows, size_t n, struct err *e)
{
    const struct throughput *t = &op->judged;
    const char *why = n == 0 ? "there is no throughput by second: the run took too few" : NULL;
    const int64_t n_all = operation_n_all(op), n_failed = operation_n_failed(op);
    double frac = (double)n_failed / (double)n_all, *bytes = NULL, *objects = NULL;
    int64_t *failed = NULL, *ended = NULL, *done = NULL, *took = NULL;
    bool ok = mem_new(&bytes, n, e) && mem_new(&objects, n, e) && mem_new(&failed, n, e) &&
              mem_new(&ended, n, e) && mem_new(&done, n, e) && mem_new(&took, n, e);

    *to = (struct statistics){.n_requests = n_all - n_failed, .n_failed = n_failed};
    for (size_t i = 0; ok && i < n; i++) {
        double seconds = (double)rows[i].duration_ns / 1e9;

        bytes[i] = (double)rows[i].bytes / seconds;
        objects[i] = rows[i].objects / seconds;
        failed[i] = rows[i].errors;
        ended[i] = rows[i].ops_ended + rows[i].errors;
        done[i] = rows[i].ops_ended;
        took[i] = done[i] > 0 ? llround(rows[i].ops_avg_ns * (double)done[i]) : 0;
    }
    if (t->present)
        ok = ok && fill_rate(&to->objects, objects, failed, ended, n, t->objects_per_s, n_all, e) &&
             (t->n_bytes == 0 ||
              fill_rate(&to->bytes, bytes, failed, ended, n, t->bytes_per_s, n_all, e));
    else
        to->objects =
            (struct statistics_rate){.why = why != NULL ? why : t->known.why, .mean.why = why};
    if (n > 0 && rows[0].lacks_counts)
        why = "requests by second are not in the file";
    if (why != NULL && (n > 0 || !t->present))
        to->error_rate = (struct stats_ci){.why = why, .value = frac};
    else
        ok = ok && stats_error_rate(frac, failed, ended, n, &to->error_rate, e);
    to->error_rate.value = frac;
    if (n > 0 && op->requests.all.dur.present && !rows[0].lacks_times)
        ok = ok && stats_mean_of_requests(op->requests.all.dur.mean_ns, took, done, n,
                                          &to->objects.mean, &to->duration.mean, e);
    free(done);
    free(took);
    free(bytes);
    free(objects);
    free(failed);
    free(ended);
    return ok;
}

void statistics_free(struct statistics *s)
{
    if (s == NULL)
        return;
    free(s->duration.count);
    free(s->ttfb.count);
    free(s);
}

bool statistics_find_percentile(const struct table *t, const struct statistics *s,
                                enum statistics_of of, struct stats_ratio p, double limit_ns,
                                struct statistics_percentile *out, struct err *e)
{
    const struct statistics_input in = {.table = t, .n = t->n, .ok = s->ok};
    struct passes x = {.in = &in};
    struct statistics_latency found;
    int64_t *n_above = NULL, ns;

    *out = (struct statistics_percentile){0};
    slice_grid_init(&x.window.grid, s->start_ns, s->segment_ns, s->n_segments);
    bool ok = add_column(&x, of, e) && mem_cleared(&n_above, x.window.grid.n + 1, e);
    struct latency *l = &x.columns[0].latency;
    l->rate = &s->objects.mean;
    for (size_t q = 0; q < STATISTICS_N_QUANTILES; q++)
        l->ratio[q] = p;
    if (ok)
        take_latencies(&x, LATENCY_COUNT);
    ok = ok && show_latencies(&x, e);
    for (size_t i = 0; ok && x.n_columns > 0 && i < t->n; i++)
        if (counts(&x, i) && time_of(&x.columns[0], i, &ns))
            n_above[slice_grid_nearest(&x.window.grid, table_end(t, i))] += (double)ns > limit_ns;
    if (ok && l->n > 0) {
        ok = latency_finish(l, &found, false, e) &&
             stats_error_rate(NAN, n_above, l->n_requests, l->n_segments, &out->above, e);
        out->n = found.times.n;
        out->q = found.q[0];
    }
    passes_fini(&x);
    free(n_above);
    return ok;
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

struct statistics_doubted statistics_doubt_of(const struct analysis *a)
{
    for (size_t k = 0; k < a->n_operations; k++) {
        const struct statistics *s = a->operations[k].statistics;
        struct statistics_doubted d = {.op = a->mixed ? a->operations[k].op : "", .of = ""};

        if (s == NULL || !role_is_benchmark(a->operations[k].role))
            continue;
        d.why = statistics_doubt(s, s->bytes.present ? &s->bytes.mean : &s->objects.mean);
        for (size_t i = 0; i < 2 * STATISTICS_N_QUANTILES && *d.why == '\0'; i++) {
            size_t q = i % STATISTICS_N_QUANTILES;
            bool of_ttfb = i >= STATISTICS_N_QUANTILES;

            d.of = of_ttfb ? "TTFB " : "";
            d.permille = statistics_permille[q];
            d.why = statistics_doubt(s, &(of_ttfb ? &s->ttfb : &s->duration)->q[q].ci);
        }
        if (*d.why != '\0')
            return d;
    }
    return (struct statistics_doubted){"", "", "", 0};
}
