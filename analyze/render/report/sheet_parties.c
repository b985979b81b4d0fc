#include "analyze/render/report/run.h"

#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A host or a client, with the figures that both have. */
struct party {
    const struct host_result *result;
    const struct durations *durations; /* NULL: not known */
    const struct sized *sized;         /* NULL: not known */
};

/* A group of figures, and the list of its fields; group NULL: there is none. */
struct group {
    const void *group;
    const struct field *const *list;
};

/* Returns durations, or throughputs of single requests if sizes differ. */
static struct group figures_of(const struct party *p)
{
    if (p->durations && p->durations->dur.present)
        return (struct group){&p->durations->dur, times_columns};
    return (struct group){p->sized && p->sized->present ? p->sized : NULL, sized_fields};
}

static struct group ttfb_of(const struct party *p)
{
    const struct times *t = p->durations ? &p->durations->ttfb : p->sized ? &p->sized->ttfb : NULL;

    return (struct group){t && t->present ? t : NULL, times_columns};
}

/* Returns the figure with that heading; "": there is none. */
static struct units_text figure(struct group g, const char *heading)
{
    for (; g.group != NULL && *g.list != NULL; g.list++)
        if ((*g.list)->heading != NULL && strcmp((*g.list)->heading, heading) == 0)
            return figures_field(*g.list, g.group);
    return (struct units_text){""};
}

/* Writes the figure by which the party's segments are sorted. */
static void pick_cell(struct sheet *s, double largest, const struct segments *x,
                      const struct segment_pick *p)
{
    if (!x->present || (p == &x->median && x->n < ANALYSIS_MIN_MEDIAN))
        sheet_cell(s, "-");
    else if (x->by_objects)
        sheet_cell(s, "%s", units_object_rate(p->objects_per_s).s);
    else
        sheet_cell(s, "%s", figures_rate_like(p->bytes_per_s, largest).s);
}

static void put_throughput(struct sheet *s, const char *kind, const struct party *p, size_t n)
{
    char title[64];
    double largest = 0;
    int64_t n_errors = 0;

    for (size_t i = 0; i < n; i++) {
        const struct throughput *x = &p[i].result->throughput;
        largest = x->present ? fmax(largest, x->bytes_per_s) : largest;
        n_errors += p[i].result->n_errors;
    }
    snprintf(title, sizeof title, "Throughput by %s", kind);
    sheet_table(s, "lrrrrrrrrr", title);
    SHEET_HEADINGS(s, "", "Requests", "Errors", "Average", "obj/s", "p50", "p99", "Fastest seg",
                   "Median seg", "Slowest seg");
    for (size_t i = 0; i < n; i++) {
        const struct host_result *r = p[i].result;
        const struct throughput *x = &r->throughput;
        const struct group g = figures_of(&p[i]);

        SHEET_ROW(s, TEXT_PLAIN, intern_shown(r->host), units_count(r->n_requests).s,
                  n_errors > 0 ? units_count(r->n_errors).s : "",
                  largest <= 0  ? ""
                  : !x->present ? "-"
                                : figures_rate_like(x->bytes_per_s, largest).s,
                  x->present ? units_rate(x->objects_per_s).s : "-", figure(g, "p50").s,
                  figure(g, "p99").s);
        pick_cell(s, largest, &r->segments, &r->segments.fastest);
        pick_cell(s, largest, &r->segments, &r->segments.median);
        pick_cell(s, largest, &r->segments, &r->segments.slowest);
    }
}

static void put_figures(struct sheet *s, const char *title, const char *kind, const struct party *p,
                        size_t n, struct group (*of)(const struct party *))
{
    char whole[64];

    snprintf(whole, sizeof whole, "%s by %s", title, kind);
    sheet_table(s, "lrrrrrrrrrrrrrrr", whole);
    run_sheet_headings(s, times_columns);
    for (size_t i = 0; i < n; i++) {
        const struct group g = of(&p[i]);

        if (g.group == NULL)
            continue;
        SHEET_ROW(s, TEXT_PLAIN, intern_shown(p[i].result->host));
        for (const struct field *const *c = times_columns; *c != NULL; c++)
            sheet_cell(s, "%s", figure(g, (*c)->heading).s);
    }
}

/* Makes n parties. False: one alone gets no table, or out of memory. */
static bool begin_parties(struct sheet *s, struct party **p, size_t n)
{
    if (n < 2 || s->failed)
        return false;
    s->failed = !mem_cleared(p, n, NULL);
    return !s->failed;
}

/* Begins a fold, and writes the tables of n parties. `kind` is "host" or "client". */
static void put_parties(struct sheet *s, const char *kind, struct party *p, size_t n)
{
    sheet_fold(s, "%s", units_counted((int64_t)n, kind).s);
    put_throughput(s, kind, p, n);
    put_figures(s, "Requests", kind, p, n, figures_of);
    put_figures(s, "TTFB", kind, p, n, ttfb_of);
}

static int compare_host(const void *key, const void *element)
{
    return strcmp(key, ((const struct host_requests *)element)->host);
}

void run_sheet_hosts(struct sheet *s, const struct host_result *hosts, size_t n,
                     const struct requests *q)
{
    struct party *p;

    if (!begin_parties(s, &p, n))
        return;
    for (size_t i = 0; i < n; i++) {
        /* Both lists are sorted by name. */
        const struct host_requests *r =
            q && q->n_hosts > 0
                ? bsearch(hosts[i].host, q->hosts, q->n_hosts, sizeof *q->hosts, compare_host)
                : NULL;
        p[i].result = &hosts[i];
        p[i].durations = r && q->single_size ? &r->single : NULL;
        p[i].sized = r && !q->single_size ? &r->sized : NULL;
    }
    put_parties(s, "host", p, n);
    sheet_fold_end(s);
    free(p);
}

static void put_when(struct sheet *s, const struct operation *op, bool has_dates)
{
    sheet_table(s, "lrrr", "When clients ran");
    SHEET_HEADINGS(s, "", "Bytes", "First start, UTC", "Last end, UTC");
    for (size_t i = 0; i < op->n_client_results; i++) {
        const struct client_result *c = &op->clients[i];
        bool is_timed = known_all(&c->known, CLIENT_TIMES);

        SHEET_ROW(s, TEXT_PLAIN, intern_shown(c->result.host), units_size((double)c->n_bytes).s,
                  is_timed ? figures_time(has_dates, c->first_start_ns).s : "-",
                  is_timed ? figures_time(has_dates, c->last_end_ns).s : "-");
    }
}

void run_sheet_clients(struct sheet *s, const struct operation *op, bool has_dates)
{
    size_t n = op->n_client_results;
    struct party *p;

    if (!begin_parties(s, &p, n))
        return;
    for (size_t i = 0; i < n; i++) {
        p[i].result = &op->clients[i].result;
        p[i].durations = &op->client_requests[i];
    }
    put_parties(s, "client", p, n);
    put_when(s, op, has_dates);
    sheet_fold_end(s);
    free(p);
}
