#include "statistics.h"

#include "latency.h"
#include "segment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Amounts in fixed point, 2^-40 of a byte or object, so that no sum depends on the order of rows.
 */
#define FIXED_BITS 40
#define FIXED_ONE  0x1p40

static inline __int128 to_fixed(int64_t amount)
{
    return (__int128)amount << FIXED_BITS;
}

/* Above that segments get longer than statistics.md says. */
#define MAX_SEGMENTS 100000

/* Hosts x segments that the imbalance of hosts is judged by; with more hosts segments are joined.
 */
#define MAX_HOST_CELLS 1000000

/* ---- Where a request lies ---- */

struct window {
    int64_t start_ns, end_ns;
    struct segment_grid grid; /* the rest up to end_ns is the tail */
};

/* A request's way over the segments. */
struct way {
    size_t first, last;
    double per_ns;                                /* 1 / duration */
    double in_first_ns, in_middle_ns, in_last_ns; /* in_middle: in each segment between */
    double in_tail_ns;
    bool touches; /* some segment */
};

static struct way way_over(const struct window *w, int64_t start_ns, int64_t end_ns)
{
    const struct segment_grid *g = &w->grid;
    struct way p = {.per_ns = 1 / (double)(end_ns - start_ns)};
    int64_t from = start_ns > g->start_ns ? start_ns : g->start_ns;
    int64_t to = end_ns < g->end_ns ? end_ns : g->end_ns;
    if (from < to) {
        p.touches = true;
        p.first = segment_grid_index(g, from);
        p.last = to == g->end_ns ? g->n - 1 : segment_grid_index(g, to);
        p.in_middle_ns = (double)g->length_ns;
        p.in_last_ns = (double)(to - (g->start_ns + (int64_t)p.last * g->length_ns));
        if (p.first == p.last)
            p.in_last_ns = (double)(to - from);
        else
            p.in_first_ns = (double)(g->start_ns + (int64_t)(p.first + 1) * g->length_ns - from);
    }
    from = start_ns > g->end_ns ? start_ns : g->end_ns;
    to = end_ns < w->end_ns ? end_ns : w->end_ns;
    if (from < to)
        p.in_tail_ns = (double)(to - from);
    return p;
}

/* ---- Sums per segment ---- */

struct flow {
    __int128 *in;   /* by segment */
    __int128 *over; /* differences of what requests that run over a whole segment add to it */
    __int128 tail;
};

static bool flow_init(struct flow *f, size_t n)
{
    *f = (struct flow){.in = calloc(n + 1, sizeof *f->in), .over = calloc(n + 2, sizeof *f->over)};
    return f->in != NULL && f->over != NULL;
}

static void flow_fini(struct flow *f)
{
    free(f->in);
    free(f->over);
}

static void flow_add_parts(struct flow *f, const struct way *p, int64_t amount)
{
    double per_ns = (double)amount * p->per_ns * FIXED_ONE;
    if (p->touches) {
        f->in[p->first] += (__int128)(per_ns * p->in_first_ns);
        f->in[p->last] += (__int128)(per_ns * p->in_last_ns);
        if (p->last > p->first + 1) {
            __int128 part = (__int128)(per_ns * p->in_middle_ns);
            f->over[p->first + 1] += part;
            f->over[p->last] -= part;
        }
    }
    f->tail += (__int128)(per_ns * p->in_tail_ns);
}

/* All of it in segment j. */
static inline void flow_add(struct flow *f, size_t j, int64_t amount)
{
    f->in[j] += to_fixed(amount);
}

/* Amounts per second of the n segments; returns the amount in the whole window. */
static double flow_rates(const struct flow *f, size_t n, int64_t segment_ns, double *rate)
{
    __int128 all = f->tail, over = 0;
    for (size_t j = 0; j < n; j++) {
        over += f->over[j];
        rate[j] = (double)(f->in[j] + over) / FIXED_ONE / ((double)segment_ns / 1e9);
        all += f->in[j] + over;
    }
    return (double)all / FIXED_ONE;
}

/* What goes on at each host, on segments of the window's or some of them joined. */
struct by_host {
    const uint32_t *of_place; /* NULL: not wanted */
    size_t n_hosts, n;        /* segments */
    struct window window;
    struct flow *flow; /* by host */
    struct host_cell {
        int64_t n, ns; /* successful requests that ended, and their durations */
    } * ended;         /* host x segment */
    int64_t *n_by_host;
};

static bool by_host_init(struct by_host *h, const struct statistics_input *in,
                         const struct window *w)
{
    size_t n_hosts = in->hosts != NULL ? in->hosts->n : 0, n_joined = 1;
    *h = (struct by_host){.window = *w};
    if (n_hosts < 2)
        return true;
    while (w->grid.n / n_joined > MAX_HOST_CELLS / n_hosts)
        n_joined++;
    h->n = w->grid.n / n_joined;
    h->n_hosts = n_hosts;
    h->of_place = in->hosts->of_place;
    segment_grid_init(&h->window.grid, w->grid.start_ns, (int64_t)n_joined * w->grid.length_ns,
                      h->n);
    h->flow = calloc(n_hosts, sizeof *h->flow);
    h->ended = calloc(n_hosts * h->n + 1, sizeof *h->ended);
    h->n_by_host = calloc(n_hosts, sizeof *h->n_by_host);
    bool ok = h->flow != NULL && h->ended != NULL && h->n_by_host != NULL;
    for (size_t k = 0; ok && k < n_hosts; k++)
        ok = flow_init(&h->flow[k], h->n);
    return ok;
}

static void by_host_fini(struct by_host *h)
{
    for (size_t k = 0; h->flow != NULL && k < h->n_hosts; k++)
        flow_fini(&h->flow[k]);
    free(h->flow);
    free(h->ended);
    free(h->n_by_host);
}

/* A successful request. */
static void by_host_add(struct by_host *h, uint32_t place, int64_t start_ns, int64_t end_ns,
                        int64_t amount)
{
    const struct segment_grid *g = &h->window.grid;
    size_t k = h->of_place[place];
    if (end_ns >= g->start_ns && end_ns < g->end_ns) {
        size_t j = segment_grid_index(g, end_ns);
        struct host_cell *cell = &h->ended[k * h->n + j];
        cell->n++;
        cell->ns += end_ns - start_ns;
        h->n_by_host[k]++;
        if (start_ns >= g->start_ns + (int64_t)j * g->length_ns) {
            flow_add(&h->flow[k], j, amount);
            return;
        }
    }
    struct way p = way_over(&h->window, start_ns, end_ns);
    if (start_ns < end_ns)
        flow_add_parts(&h->flow[k], &p, amount);
}

/* ---- The passes over the rows ---- */

struct passes {
    const struct statistics_input *in;
    struct window window;
    struct flow bytes, objects;
    int64_t *n_ok, *n_failed; /* ended, by segment */
    __int128 busy_ns;
    bool any_bytes;
    struct latency duration, ttfb;
    struct by_host hosts;
};

static inline size_t row_of(const struct statistics_input *in, size_t k)
{
    return in->row != NULL ? in->row[k] : k;
}

/* First pass: sums, and latencies by histogram bucket. */
static void sum_up(struct passes *p)
{
    const struct statistics_input *in = p->in;
    const struct table *t = in->table;
    const struct window w = p->window;
    for (size_t k = 0; k < in->n; k++) {
        size_t i = row_of(in, k);
        int64_t start_ns = t->start[i], duration_ns = packed_get(&t->dur, i);
        int64_t end_ns = start_ns + duration_ns;
        if (end_ns < w.start_ns || start_ns >= w.end_ns)
            continue;
        int64_t from = start_ns > w.start_ns ? start_ns : w.start_ns;
        int64_t to = end_ns < w.end_ns ? end_ns : w.end_ns;
        p->busy_ns += to - from;

        bool ended = end_ns < w.grid.end_ns;
        size_t j = ended ? segment_grid_index(&w.grid, end_ns) : 0;
        if (t->error[i] != 0) {
            p->n_failed[j] += ended;
            continue;
        }
        int64_t bytes = packed_get(&t->bytes, i), n_objects = packed_get(&t->objects, i);
        p->any_bytes |= bytes != 0;
        if (ended) {
            p->n_ok[j]++;
            latency_count(&p->duration, duration_ns);
            if (packed_has(&t->ttfb, i))
                latency_count(&p->ttfb, packed_get(&t->ttfb, i));
        }
        if (ended && start_ns >= w.grid.start_ns + (int64_t)j * w.grid.length_ns) {
            flow_add(&p->bytes, j, bytes);
            flow_add(&p->objects, j, n_objects);
        } else if (duration_ns > 0) {
            struct way way = way_over(&w, start_ns, end_ns);
            flow_add_parts(&p->bytes, &way, bytes);
            flow_add_parts(&p->objects, &way, n_objects);
        } else { /* of no length, in the tail */
            p->bytes.tail += to_fixed(bytes);
            p->objects.tail += to_fixed(n_objects);
        }
    }
}

/* The segment in which a successful request ends; false: it failed, or ends in none. */
static inline bool ends_in(const struct passes *p, size_t i, int64_t duration_ns, size_t *segment)
{
    const struct table *t = p->in->table;
    const struct segment_grid *g = &p->window.grid;
    int64_t end_ns = t->start[i] + duration_ns;
    if (end_ns < g->start_ns || end_ns >= g->end_ns || t->error[i] != 0)
        return false;
    *segment = segment_grid_index(g, end_ns);
    return true;
}

static bool show_latencies(struct passes *p, struct err *e)
{
    const struct statistics_input *in = p->in;
    const struct table *t = in->table;
    size_t segment;
    if (!latency_aim(&p->duration, e) || !latency_aim(&p->ttfb, e))
        return false;
    for (size_t k = 0; k < in->n; k++) {
        size_t i = row_of(in, k);
        int64_t duration_ns = packed_get(&t->dur, i);
        if (!ends_in(p, i, duration_ns, &segment))
            continue;
        latency_split(&p->duration, duration_ns, segment);
        if (packed_has(&t->ttfb, i))
            latency_split(&p->ttfb, packed_get(&t->ttfb, i), segment);
    }
    if (!latency_plan(&p->duration, e) || !latency_plan(&p->ttfb, e))
        return false;
    for (size_t k = 0; k < in->n; k++) {
        size_t i = row_of(in, k);
        int64_t duration_ns = packed_get(&t->dur, i);
        if (!ends_in(p, i, duration_ns, &segment))
            continue;
        latency_collect(&p->duration, duration_ns);
        if (packed_has(&t->ttfb, i))
            latency_collect(&p->ttfb, packed_get(&t->ttfb, i));
    }
    return true;
}

static void sum_hosts(struct passes *p)
{
    const struct table *t = p->in->table;
    const struct packed *amount = p->any_bytes ? &t->bytes : &t->objects;
    for (size_t k = 0; k < p->in->n; k++) {
        size_t i = row_of(p->in, k);
        if (t->error[i] == 0)
            by_host_add(&p->hosts, t->place[i], t->start[i], table_end(t, i),
                        packed_get(amount, i));
    }
}

/* ---- What comes of it ---- */

static bool fill_rate(struct statistics_rate *r, const double *rate, size_t n, double mean,
                      int64_t n_requests, struct err *e)
{
    r->present = true;
    return stats_mean(mean, rate, n, n_requests, &r->mean, e) &&
           stats_median_segment(rate, n, &r->median, NULL, e) &&
           stats_stalls(rate, n, &r->n_stalls, e);
}

static bool fill_series(struct statistics *s, const double *rate, size_t n, struct err *e)
{
    return stats_warmup(rate, n, &s->warmup, e) && stats_drift(rate, n, &s->drift, e) &&
           stats_shifts(rate, n, &s->shifts, e);
}

static bool fill_throughput(struct statistics *s, struct passes *p, struct err *e)
{
    size_t n = s->n_segments;
    double *rate = malloc((n + 1) * sizeof *rate);
    int64_t *n_all = malloc((n + 1) * sizeof *n_all);
    bool ok = (rate != NULL && n_all != NULL) || err_set(e, "out of memory");
    for (size_t j = 0; ok && j < n; j++) {
        n_all[j] = p->n_ok[j] + p->n_failed[j];
        s->n_requests += p->n_ok[j];
        s->n_failed += p->n_failed[j];
    }
    const struct throughput *total = p->in->total;
    double seconds = (double)s->duration_ns / 1e9;
    s->by_objects = !p->any_bytes;
    if (ok) {
        double all = flow_rates(&p->objects, n, s->segment_ns, rate);
        double mean = total != NULL ? total->objects_per_s : all / seconds;
        ok = fill_rate(&s->objects, rate, n, mean, s->n_requests, e) &&
             (!s->by_objects || fill_series(s, rate, n, e));
    }
    if (ok && p->any_bytes) {
        double all = flow_rates(&p->bytes, n, s->segment_ns, rate);
        double mean = total != NULL ? total->bytes_per_s : all / seconds;
        ok = fill_rate(&s->bytes, rate, n, mean, s->n_requests, e) && fill_series(s, rate, n, e);
    }
    ok = ok && stats_error_rate(p->n_failed, n_all, n, &s->error_rate, e);
    free(rate);
    free(n_all);
    return ok;
}

/* Round robin gives every host as many requests as the others, but for those at the ends. */
static bool counts_are_equal(const struct by_host *h, int64_t concurrency)
{
    int64_t least = INT64_MAX, most = 0;
    for (size_t k = 0; k < h->n_hosts; k++) {
        least = h->n_by_host[k] < least ? h->n_by_host[k] : least;
        most = h->n_by_host[k] > most ? h->n_by_host[k] : most;
    }
    return most - least <= concurrency && most - least <= most / 50;
}

static bool fill_hosts(struct statistics *s, const struct passes *p, struct err *e)
{
    const struct by_host *h = &p->hosts;
    struct statistics_hosts *to = &s->hosts;
    size_t n = h->n;
    if (h->of_place == NULL)
        return true;
    to->n = h->n_hosts;
    to->v = calloc(to->n, sizeof *to->v);
    double *x = malloc((to->n * n + 1) * sizeof *x), *mean = malloc(to->n * sizeof *mean);
    struct stats_outlier *outliers = malloc(to->n * sizeof *outliers);
    bool ok = (to->v != NULL && x != NULL && mean != NULL && outliers != NULL) ||
              err_set(e, "out of memory");
    to->by_latency = counts_are_equal(h, s->concurrency);
    for (size_t i = 0; to->by_latency && i < to->n * n; i++)
        to->by_latency = h->ended[i].n > 0;
    for (size_t k = 0; ok && k < to->n; k++) {
        double sum = 0;
        if (!to->by_latency)
            flow_rates(&h->flow[k], n, h->window.grid.length_ns, x + k * n);
        for (size_t j = 0; j < n; j++) {
            const struct host_cell *cell = &h->ended[k * n + j];
            if (to->by_latency)
                x[k * n + j] = (double)cell->ns / (double)cell->n;
            sum += x[k * n + j];
        }
        mean[k] = n > 0 ? sum / (double)n : 0;
    }
    ok = ok && stats_hosts(x, to->n, n, &to->test, e) && stats_outliers(mean, to->n, outliers, e);
    for (size_t k = 0; ok && k < to->n; k++)
        to->v[k] = (struct statistics_host){
            .host = p->in->dataset->hosts.v[p->in->hosts->id[k]],
            .value = mean[k],
            .z = outliers[k].z,
            .outlier = outliers[k].outlier,
        };
    free(x);
    free(mean);
    free(outliers);
    return ok;
}

static bool fill_co(struct statistics *s, const struct passes *p, struct err *e)
{
    const struct stats_ratio ratios[STATISTICS_N_QUANTILES] = {
        {1, 2}, {9, 10}, {99, 100}, {999, 1000}};
    const struct statistics_input *in = p->in;
    size_t n = 0, segment;
    if (in->co_interval_ns <= 0 || s->n_requests == 0)
        return true;
    int64_t *v = malloc((size_t)s->n_requests * sizeof *v);
    if (v == NULL)
        return err_set(e, "out of memory");
    for (size_t k = 0; k < in->n; k++) {
        size_t i = row_of(in, k);
        int64_t duration_ns = packed_get(&in->table->dur, i);
        if (ends_in(p, i, duration_ns, &segment))
            v[n++] = duration_ns;
    }
    s->co.interval_ns = in->co_interval_ns;
    s->co.n = stats_co_count(v, n, in->co_interval_ns);
    for (size_t q = 0; q < STATISTICS_N_QUANTILES; q++)
        s->co.q_ns[q] = stats_co_quantile(v, n, in->co_interval_ns, ratios[q]);
    free(v);
    return true;
}

static bool passes_init(struct passes *p, const struct statistics_input *in, struct err *e)
{
    int64_t length_ns = in->end_ns - in->start_ns, width_ns = stats_segment_width_ns(length_ns);
    if (length_ns / width_ns > MAX_SEGMENTS) /* weeks */
        width_ns = length_ns / MAX_SEGMENTS;
    size_t n = (size_t)(length_ns / width_ns);
    *p = (struct passes){.in = in, .window = {.start_ns = in->start_ns, .end_ns = in->end_ns}};
    segment_grid_init(&p->window.grid, in->start_ns, width_ns, n);
    p->n_ok = calloc(n + 1, sizeof *p->n_ok);
    p->n_failed = calloc(n + 1, sizeof *p->n_failed);
    bool ok = p->n_ok != NULL && p->n_failed != NULL && flow_init(&p->bytes, n) &&
              flow_init(&p->objects, n) && by_host_init(&p->hosts, in, &p->window);
    return (ok || err_set(e, "out of memory")) && latency_init(&p->duration, n, true, e) &&
           latency_init(&p->ttfb, n, false, e);
}

static void passes_fini(struct passes *p)
{
    free(p->n_ok);
    free(p->n_failed);
    flow_fini(&p->bytes);
    flow_fini(&p->objects);
    by_host_fini(&p->hosts);
    latency_fini(&p->duration);
    latency_fini(&p->ttfb);
}

static bool run(struct statistics *s, struct passes *p, struct err *e)
{
    const struct statistics_input *in = p->in;
    *s = (struct statistics){
        .start_ns = in->start_ns,
        .duration_ns = in->end_ns - in->start_ns,
        .segment_ns = p->window.grid.length_ns,
        .n_segments = p->window.grid.n,
        .concurrency = in->concurrency,
    };
    sum_up(p);
    s->utilisation_frac = (double)p->busy_ns / ((double)in->concurrency * (double)s->duration_ns);
    if (p->hosts.of_place != NULL)
        sum_hosts(p);
    return show_latencies(p, e) && latency_finish(&p->duration, &s->duration, s->residual_ns, e) &&
           latency_finish(&p->ttfb, &s->ttfb, NULL, e) && fill_throughput(s, p, e) &&
           fill_hosts(s, p, e) && fill_co(s, p, e);
}

struct statistics *statistics_new(const struct statistics_input *in, struct err *e)
{
    struct passes p;
    struct statistics *s = calloc(1, sizeof *s);
    bool ok = passes_init(&p, in, e) && (s != NULL || err_set(e, "out of memory"));
    ok = ok && run(s, &p, e);
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
    free(s->hosts.v);
    free(s);
}

int64_t statistics_steady_from_ns(const struct statistics *s)
{
    return s->start_ns + (int64_t)s->warmup.n_cut * s->segment_ns;
}
