#include "analyze/report/html_requests.h"

#include "analyze/report/html_cells.h"
#include "analyze/write/html.h"
#include "libcommon/units.h"

#define COUNT(names)  (sizeof(names) / sizeof *(names))
#define TIME_COLUMNS  "lrrrrrrrrrr"
#define SIZED_COLUMNS "lrrrrrrrrr"

static void durations_row(FILE *f, const char *name, const struct durations *d)
{
    if (!d->present)
        return;
    html_row(f);
    html_name(f, name);
    html_cell(f, "%s", units_count(d->n).s);
    html_cell(f, "%s", html_cells_ns(d->mean_ns).s);
    html_cell(f, "%s", units_duration(d->fastest_ns).s);
    html_cell(f, "-");
    html_cell(f, "%s", units_duration(d->p50_ns).s);
    html_cell(f, "-");
    html_cell(f, "%s", units_duration(d->p90_ns).s);
    html_cell(f, "%s", units_duration(d->p99_ns).s);
    html_cell(f, "%s", units_duration(d->slowest_ns).s);
    html_cell(f, "%s", html_cells_ns(d->stddev_ns).s);
    html_row_end(f);
}

static void ttfb_row(FILE *f, const char *name, const struct ttfb *t)
{
    if (!t->present)
        return;
    html_row(f);
    html_name(f, name);
    html_cell(f, "%s", units_count(t->n).s);
    html_cell(f, "%s", html_cells_ns(t->mean_ns).s);
    const int64_t v[] = {t->best_ns, t->p25_ns, t->p50_ns,  t->p75_ns,
                         t->p90_ns,  t->p99_ns, t->worst_ns};
    for (size_t i = 0; i < 7; i++)
        html_cell(f, "%s", units_duration(v[i]).s);
    html_cell(f, "%s", html_cells_ns(t->stddev_ns).s);
    html_row_end(f);
}

static const char *const time_names[] = {"",    "Considered", "Avg", "Fastest", "25%",   "50%",
                                         "75%", "90%",        "99%", "Slowest", "StdDev"};

static void sized_row(FILE *f, const char *name, const struct sized *s)
{
    if (!s->present)
        return;
    html_row(f);
    html_name(f, name);
    if (s->n_unrated > 0)
        html_cell(f, "%s (%s unrated)", units_count(s->n).s, units_count(s->n_unrated).s);
    else
        html_cell(f, "%s", units_count(s->n).s);
    html_cell(f, "%s", units_size(s->mean_bytes).s);
    html_cell(f, "%s", html_cells_ns(s->mean_ns).s);
    const double v[] = {s->mean_bytes_per_s, s->fastest_bytes_per_s, s->p50_bytes_per_s,
                        s->p90_bytes_per_s,  s->p99_bytes_per_s,     s->slowest_bytes_per_s};
    for (size_t i = 0; i < COUNT(v); i++)
        html_cell(f, "%s", s->rated ? units_byte_rate(v[i]).s : "-");
    html_row_end(f);
}

static const char *const sized_names[] = {"",        "n",   "Mean size", "Mean time", "Mean rate",
                                          "Fastest", "50%", "90%",       "99%",       "Slowest"};

static struct units_text bucket_text(const struct size_bucket *b)
{
    struct units_text t;
    if (b->max_bytes < 0)
        snprintf(t.s, sizeof t.s, "%.16s up", units_size((double)b->min_bytes).s);
    else
        snprintf(t.s, sizeof t.s, "%.16s to %.16s", units_size((double)b->min_bytes).s,
                 units_size((double)b->max_bytes).s);
    return t;
}

/* ---- Of an operation ---- */

static void put_times(FILE *f, const struct requests *q)
{
    html_table(f, "Requests", time_names, TIME_COLUMNS);
    durations_row(f, "Duration", &q->all);
    ttfb_row(f, "TTFB", &q->all.ttfb);
    durations_row(f, "Response time", &q->response_time);
    durations_row(f, "First access", &q->first_access);
    ttfb_row(f, "First access TTFB", &q->first_access.ttfb);
    durations_row(f, "Last access", &q->last_access);
    ttfb_row(f, "Last access TTFB", &q->last_access.ttfb);
    html_table_end(f);
}

static void put_sizes(FILE *f, const struct requests *q)
{
    char name[80];
    bool has_ttfb = false;
    html_table(f, "Requests by size: throughput of single requests", sized_names, SIZED_COLUMNS);
    for (size_t i = 0; i < q->n_sizes; i++) {
        const struct size_bucket *b = &q->sizes[i];
        snprintf(name, sizeof name, "%.40s, first access", bucket_text(b).s);
        sized_row(f, bucket_text(b).s, &b->all);
        sized_row(f, name, &b->first_access);
        has_ttfb |= b->all.ttfb.present || b->first_access.ttfb.present;
    }
    html_table_end(f);
    if (!has_ttfb)
        return;
    html_table(f, "TTFB by size", time_names, TIME_COLUMNS);
    for (size_t i = 0; i < q->n_sizes; i++) {
        const struct size_bucket *b = &q->sizes[i];
        snprintf(name, sizeof name, "%.40s, first access", bucket_text(b).s);
        ttfb_row(f, bucket_text(b).s, &b->all.ttfb);
        ttfb_row(f, name, &b->first_access.ttfb);
    }
    html_table_end(f);
}

void html_requests(FILE *f, const struct requests *q)
{
    if (!q->present) {
        html_element(f, "p", "No successful requests lie in the active range.");
        return;
    }
    html_element(f, "p", "%s successful requests of %s%s lie in the active range.",
                 units_count(q->n).s,
                 units_size(q->single_size ? (double)q->object_size_bytes : q->mean_bytes).s,
                 q->single_size ? "" : " on average");
    if (q->single_size || q->response_time.present)
        put_times(f, q);
    if (!q->single_size)
        put_sizes(f, q);
}

/* ---- By host and client ---- */

void html_requests_hosts(FILE *f, const struct requests *q)
{
    bool has_ttfb = false;
    if (!q->present || q->n_hosts == 0)
        return;
    if (q->single_size)
        html_table(f, "Requests by host: durations", time_names, TIME_COLUMNS);
    else
        html_table(f, "Requests by host: throughput of single requests", sized_names,
                   SIZED_COLUMNS);
    for (size_t i = 0; i < q->n_hosts; i++) {
        const struct host_requests *h = &q->hosts[i];
        durations_row(f, html_cells_party(h->host), &h->single);
        sized_row(f, html_cells_party(h->host), &h->sized);
        has_ttfb |= h->single.ttfb.present || h->sized.ttfb.present;
    }
    html_table_end(f);
    if (!has_ttfb)
        return;
    html_table(f, "Requests by host: TTFB", time_names, TIME_COLUMNS);
    for (size_t i = 0; i < q->n_hosts; i++) {
        const struct host_requests *h = &q->hosts[i];
        ttfb_row(f, html_cells_party(h->host), q->single_size ? &h->single.ttfb : &h->sized.ttfb);
    }
    html_table_end(f);
}

void html_requests_clients(FILE *f, const struct client_result *clients, size_t n)
{
    bool has_ttfb = false;
    if (n == 0)
        return;
    html_table(f, "Requests by client: durations", time_names, TIME_COLUMNS);
    for (size_t i = 0; i < n; i++) {
        durations_row(f, html_cells_party(clients[i].client), &clients[i].requests);
        has_ttfb |= clients[i].requests.ttfb.present;
    }
    html_table_end(f);
    if (!has_ttfb)
        return;
    html_table(f, "Requests by client: TTFB", time_names, TIME_COLUMNS);
    for (size_t i = 0; i < n; i++)
        ttfb_row(f, html_cells_party(clients[i].client), &clients[i].requests.ttfb);
    html_table_end(f);
}
