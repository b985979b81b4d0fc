#include "analyze/report/text_internal.h"
#include "libcommon/mem.h"

#include <math.h>
#include <string.h>

#define MAX_LISTED   20 /* without --analyze.v; longer lists are cut to the notable ones */
#define MAX_EXTREMES 4  /* of each kind among the notable ones */

/* A host or a client, as far as both have the same figures. */
struct party {
    const char *name;
    int64_t n_requests, n_errors;
    const struct throughput *throughput;
    const struct segments *segments;
    const struct durations *durations; /* NULL: not known */
    const struct sized *sized;         /* NULL: not known */
};

/* A figure by which a party may stand out; the notable ones are those with the most of it. */
static double slowness(const struct party *p)
{
    const struct throughput *x = p->throughput;
    if (!x->present)
        return INFINITY;
    return -(x->n_bytes > 0 ? x->bytes_per_s : x->objects_per_s);
}

static double speed(const struct party *p)
{
    return -slowness(p);
}

static double error_share(const struct party *p)
{
    return p->n_requests > 0 ? (double)p->n_errors / (double)p->n_requests : 0;
}

static double latency(const struct party *p)
{
    if (p->durations && p->durations->dur.present)
        return (double)p->durations->dur.p99_ns;
    return p->sized && p->sized->present ? p->sized->mean_ns : 0;
}

static void mark_extremes(const struct party *p, size_t n, bool *marks,
                          double (*figure)(const struct party *))
{
    for (int k = 0; k < MAX_EXTREMES; k++) {
        size_t best = n;
        for (size_t i = 0; i < n; i++)
            if (!marks[i] && (best == n || figure(&p[i]) > figure(&p[best])))
                best = i;
        if (best < n)
            marks[best] = true;
    }
}

/* Drops the unremarkable ones of a long list and returns how many are left. */
static size_t keep_notable(const struct text_view *v, struct party *p, size_t n)
{
    if (v->verbose || n <= MAX_LISTED)
        return n;
    bool *marks;

    if (!mem_cleared(&marks, n, NULL)) {
        v->out->failed = true;
        return 0;
    }
    mark_extremes(p, n, marks, slowness);
    mark_extremes(p, n, marks, error_share);
    mark_extremes(p, n, marks, latency);
    mark_extremes(p, n, marks, speed);
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++)
        if (marks[i])
            p[n_kept++] = p[i];
    free(marks);
    return n_kept;
}

/* Which columns a table of parties needs. */
struct columns {
    bool errors, segments, durations, sized, ttfb;
    double largest; /* average in bytes a second; 0: no bytes */
};

static bool has_durations(const struct party *p)
{
    return p->durations && p->durations->dur.present;
}

static bool has_sized(const struct party *p)
{
    return p->sized && p->sized->present;
}

static struct columns columns_of(const struct party *p, size_t n)
{
    struct columns c = {0};
    for (size_t i = 0; i < n; i++) {
        const struct throughput *x = p[i].throughput;
        if (x->present && x->bytes_per_s > c.largest)
            c.largest = x->bytes_per_s;
        c.errors |= p[i].n_errors > 0;
        c.segments |= p[i].segments->present;
        c.durations |= has_durations(&p[i]);
        c.sized |= has_sized(&p[i]);
        c.ttfb |= has_durations(&p[i]) && p[i].durations->ttfb.present;
        c.ttfb |= has_sized(&p[i]) && p[i].sized->ttfb.present;
    }
    return c;
}

static void name_cell(struct text_table *t, const struct party *p)
{
    text_table_cell(t, " * %s", intern_shown(p->name));
}

/* The figure by which the party's segments are sorted. */
static void pick_cell(struct text_table *t, double largest, const struct segments *s,
                      const struct segment_pick *p)
{
    if (!s->present || (p == &s->median && s->n < ANALYSIS_MIN_MEDIAN))
        text_table_cell(t, "-");
    else if (s->by_objects)
        text_table_cell(t, "%s", units_rate(p->objects_per_s).s);
    else
        text_table_cell(t, "%s", text_cells_rate_like(p->bytes_per_s, largest).s);
}

/* Durations, or throughputs of single requests where sizes differ. */
static struct figures figures_of(const struct party *p)
{
    if (has_durations(p))
        return figures_of_times(&p->durations->dur);
    return has_sized(p) ? figures_of_sized(p->sized) : (struct figures){0};
}

static void throughput_row(struct text_table *t, const struct party *p, const struct columns *c,
                           bool verbose)
{
    static const enum figure quantiles[] = {FIGURE_P50, FIGURE_P99, N_FIGURES};
    const struct throughput *x = p->throughput;
    const struct figures figures = figures_of(p);

    text_table_row(t, TEXT_PLAIN);
    name_cell(t, p);
    text_table_cell(t, "%s", units_count(p->n_requests).s);
    if (c->errors)
        text_table_cell(t, "%s", units_count(p->n_errors).s);
    if (c->largest > 0)
        text_table_cell(t, "%s",
                        x->present ? text_cells_rate_like(x->bytes_per_s, c->largest).s : "-");
    text_table_cell(t, "%s", x->present ? units_rate(x->objects_per_s).s : "-");
    if (!verbose) {
        text_cells_figures(t, &figures, quantiles);
    } else if (c->segments) {
        pick_cell(t, c->largest, p->segments, &p->segments->fastest);
        pick_cell(t, c->largest, p->segments, &p->segments->median);
        pick_cell(t, c->largest, p->segments, &p->segments->slowest);
    }
}

static void put_throughput(const struct text_view *v, const struct party *p, size_t n)
{
    struct columns c = columns_of(p, n);
    struct text_table t;

    text_table_init(&t, v->out, "lrrrrrrrrr");
    TEXT_ROW(&t, TEXT_FAINT, "", "Requests");
    if (c.errors)
        text_table_cell(&t, "Errors");
    if (c.largest > 0)
        text_table_cell(&t, "Average");
    text_table_cell(&t, "obj/s");
    if (v->verbose && c.segments) {
        TEXT_CELLS(&t, "Fastest", "Median", "Slowest");
    }
    if (!v->verbose && (c.durations || c.sized)) {
        TEXT_CELLS(&t, "50%", "99%");
    }
    for (size_t i = 0; i < n; i++)
        throughput_row(&t, &p[i], &c, v->verbose);
    text_table_put(&t);
}

static const struct times *ttfb_of(const struct party *p)
{
    if (has_durations(p) && p->durations->ttfb.present)
        return &p->durations->ttfb;
    return has_sized(p) && p->sized->ttfb.present ? &p->sized->ttfb : NULL;
}

static void put_ttfb(const struct text_view *v, const char *kind, const struct party *p, size_t n)
{
    static const enum figure columns[] = {FIGURE_MEAN, FIGURE_FASTEST, FIGURE_P50, FIGURE_P90,
                                          FIGURE_P99,  FIGURE_SLOWEST, N_FIGURES};
    text_blank(v->out);
    text_line(v->out, TEXT_HEADING, "TTFB by %s:", kind);
    struct text_table t;
    text_table_init(&t, v->out, "lrrrrrr");
    TEXT_ROW(&t, TEXT_FAINT, "", "Avg", "Best", "50%", "90%", "99%", "Worst");
    for (size_t i = 0; i < n; i++) {
        const struct times *x = ttfb_of(&p[i]);
        if (x == NULL)
            continue;
        text_table_row(&t, TEXT_PLAIN);
        name_cell(&t, &p[i]);
        const struct figures figures = figures_of_times(x);
        text_cells_figures(&t, &figures, columns);
    }
    text_table_put(&t);
}

static void put_requests(const struct text_view *v, const char *kind, const struct party *p,
                         size_t n)
{
    static const enum figure columns[] = {FIGURE_N,   FIGURE_MEAN, FIGURE_FASTEST, FIGURE_P50,
                                          FIGURE_P90, FIGURE_P99,  FIGURE_SLOWEST, N_FIGURES};
    struct columns c = columns_of(p, n);

    if (!c.durations && !c.sized)
        return;
    text_blank(v->out);
    text_line(v->out, TEXT_HEADING, "Requests by %s:", kind);
    struct text_table t;
    text_table_init(&t, v->out, "lrrrrrrr");
    TEXT_ROW(&t, TEXT_FAINT, "", "Considered", "Avg", "Fastest", "50%", "90%", "99%", "Slowest");
    for (size_t i = 0; i < n; i++) {
        text_table_row(&t, TEXT_PLAIN);
        name_cell(&t, &p[i]);
        const struct figures figures = figures_of(&p[i]);
        if (figures.present)
            text_cells_figures(&t, &figures, columns);
    }
    text_table_put(&t);
    if (c.ttfb)
        put_ttfb(v, kind, p, n);
}

/* `kind` is "host" or "client". */
static void put_parties(const struct text_view *v, const char *kind, struct party *p, size_t n)
{
    size_t n_kept = keep_notable(v, p, n);
    text_blank(v->out);
    if (n_kept < n)
        text_line(v->out, TEXT_HEADING,
                  "Throughput by %s (the slowest, fastest and faultiest %zu of %s; all with "
                  "--analyze.v):",
                  kind, n_kept, units_count((int64_t)n).s);
    else
        text_line(v->out, TEXT_HEADING, "Throughput by %s:", kind);
    put_throughput(v, p, n_kept);
    if (v->verbose)
        put_requests(v, kind, p, n_kept);
}

static int compare_host(const void *key, const void *element)
{
    return strcmp(key, ((const struct host_requests *)element)->host);
}

void text_parties_hosts(const struct text_view *v, const struct host_result *hosts, size_t n,
                        const struct requests *q)
{
    if (n < 2)
        return;
    struct party *p;
    if (!mem_new(&p, n, NULL)) {
        v->out->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct host_result *h = &hosts[i];
        p[i] = (struct party){.name = h->host,
                              .n_requests = h->n_requests,
                              .n_errors = h->n_errors,
                              .throughput = &h->throughput,
                              .segments = &h->segments};
        /* Both lists are sorted by name. */
        const struct host_requests *r =
            q && q->n_hosts > 0
                ? bsearch(h->host, q->hosts, q->n_hosts, sizeof *q->hosts, compare_host)
                : NULL;
        p[i].durations = r && q->single_size ? &r->single : NULL;
        p[i].sized = r && !q->single_size ? &r->sized : NULL;
    }
    put_parties(v, "host", p, n);
    free(p);
}

void text_parties_clients(const struct text_view *v, const struct operation *op)
{
    size_t n = op->n_client_results;
    if (n < 2)
        return;
    struct party *p;
    if (!mem_new(&p, n, NULL)) {
        v->out->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct client_result *c = &op->clients[i];
        p[i] = (struct party){.name = c->result.host,
                              .n_requests = c->result.n_requests,
                              .n_errors = c->result.n_errors,
                              .throughput = &c->result.throughput,
                              .segments = &c->result.segments,
                              .durations = &op->client_requests[i]};
    }
    put_parties(v, "client", p, n);
    free(p);
}
