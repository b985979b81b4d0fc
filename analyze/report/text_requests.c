#include "analyze/report/text_requests.h"

#include <inttypes.h>

static const char *const duration_names[] = {"",    "Avg", "Fastest", "25%",     "50%",
                                             "75%", "90%", "99%",     "Slowest", "StdDev"};
#define DURATION_COLUMNS "lrrrrrrrrr"

static void duration_heading(struct text_table *t, bool has_quartiles)
{
    text_table_row(t, TEXT_FAINT);
    for (size_t i = 0; i < sizeof(duration_names) / sizeof(duration_names[0]); i++) {
        bool is_quartile = i == 3 || i == 5;
        text_table_cell(t, "%s", is_quartile && !has_quartiles ? "" : duration_names[i]);
    }
}

static void duration_row(struct text_table *t, const char *name, const struct durations *d)
{
    if (!d->present)
        return;
    text_table_row(t, TEXT_PLAIN);
    text_table_cell(t, " * %s:", name);
    text_cells_mean(t, d->mean_ns);
    text_cells_duration(t, d->fastest_ns);
    text_table_cell(t, "%s", "");
    text_cells_duration(t, d->p50_ns);
    text_table_cell(t, "%s", "");
    text_cells_duration(t, d->p90_ns);
    text_cells_duration(t, d->p99_ns);
    text_cells_duration(t, d->slowest_ns);
    text_cells_mean(t, d->stddev_ns);
}

static void ttfb_row(struct text_table *t, const char *name, const struct ttfb *x)
{
    if (!x->present)
        return;
    text_table_row(t, TEXT_PLAIN);
    text_table_cell(t, " * %s:", name);
    text_cells_mean(t, x->mean_ns);
    text_cells_duration(t, x->best_ns);
    text_cells_duration(t, x->p25_ns);
    text_cells_duration(t, x->p50_ns);
    text_cells_duration(t, x->p75_ns);
    text_cells_duration(t, x->p90_ns);
    text_cells_duration(t, x->p99_ns);
    text_cells_duration(t, x->worst_ns);
    text_cells_mean(t, x->stddev_ns);
}

static void put_single_size(const struct text_view *v, const struct requests *q)
{
    struct text_table t;
    text_table_init(&t, v->out, DURATION_COLUMNS);
    duration_heading(&t, q->all.ttfb.present);
    duration_row(&t, "Duration", &q->all);
    ttfb_row(&t, "TTFB", &q->all.ttfb);
    duration_row(&t, "Response time", &q->response_time);
    if (v->verbose) {
        duration_row(&t, "First access", &q->first_access);
        ttfb_row(&t, "First access TTFB", &q->first_access.ttfb);
        duration_row(&t, "Last access", &q->last_access);
        ttfb_row(&t, "Last access TTFB", &q->last_access.ttfb);
    }
    text_table_put(&t);
}

static void sized_row(struct text_table *t, const char *name, const struct sized *s)
{
    text_table_row(t, TEXT_PLAIN);
    text_table_cell(t, " * %s:", name);
    text_cells_count(t, s->n);
    text_cells_mean(t, s->mean_ns);
    text_cells_byte_rate(t, s, s->mean_bytes_per_s);
    text_cells_byte_rate(t, s, s->p50_bytes_per_s);
    text_cells_byte_rate(t, s, s->p90_bytes_per_s);
    text_cells_byte_rate(t, s, s->p99_bytes_per_s);
    text_cells_byte_rate(t, s, s->fastest_bytes_per_s);
    text_cells_byte_rate(t, s, s->slowest_bytes_per_s);
}

static struct units_text bucket_name(const struct size_bucket *b)
{
    struct units_text t;
    if (b->max_bytes < 0)
        snprintf(t.s, sizeof(t.s), "%.16s up", units_size((double)b->min_bytes).s);
    else
        snprintf(t.s, sizeof(t.s), "%.16s -> %.16s", units_size((double)b->min_bytes).s,
                 units_size((double)b->max_bytes).s);
    return t;
}

static bool has_first_access(const struct requests *q)
{
    for (size_t i = 0; i < q->n_sizes; i++)
        if (q->sizes[i].first_access.present)
            return true;
    return false;
}

static void put_sizes(const struct text_view *v, const struct requests *q)
{
    static const char *const names[] = {"Size", "Requests", "Avg time", "Throughput", "50%",
                                        "90%",  "99%",      "Fastest",  "Slowest"};
    struct text_table t;
    text_table_init(&t, v->out, "lrrrrrrrr");
    text_cells_heading(&t, names, 9);
    for (size_t i = 0; i < q->n_sizes; i++)
        sized_row(&t, bucket_name(&q->sizes[i]).s, &q->sizes[i].all);
    if (v->verbose && has_first_access(q)) {
        text_table_span(&t, TEXT_FAINT, "First access:");
        for (size_t i = 0; i < q->n_sizes; i++)
            if (q->sizes[i].first_access.present)
                sized_row(&t, bucket_name(&q->sizes[i]).s, &q->sizes[i].first_access);
    }
    text_table_put(&t);
}

static void put_size_ttfb(const struct text_view *v, const struct requests *q)
{
    struct text_table t;
    bool has_ttfb = false;
    for (size_t i = 0; i < q->n_sizes; i++)
        has_ttfb |= q->sizes[i].all.ttfb.present;
    if (!has_ttfb)
        return;
    text_line(v->out, TEXT_PLAIN, "%s", "");
    text_line(v->out, TEXT_HEADING, "TTFB by size:");
    text_table_init(&t, v->out, DURATION_COLUMNS);
    duration_heading(&t, true);
    for (size_t i = 0; i < q->n_sizes; i++)
        ttfb_row(&t, bucket_name(&q->sizes[i]).s, &q->sizes[i].all.ttfb);
    if (v->verbose && has_first_access(q)) {
        text_table_span(&t, TEXT_FAINT, "First access:");
        for (size_t i = 0; i < q->n_sizes; i++)
            ttfb_row(&t, bucket_name(&q->sizes[i]).s, &q->sizes[i].first_access.ttfb);
    }
    text_table_put(&t);
}

void text_requests_put(const struct text_view *v, const struct requests *q)
{
    text_line(v->out, TEXT_PLAIN, "%s", "");
    if (!q->present) {
        text_line(v->out, TEXT_HEADING, "Requests considered: none.");
        return;
    }
    if (q->single_size) {
        text_line(v->out, TEXT_HEADING, "Requests considered: %" PRId64, q->n);
        put_single_size(v, q);
        return;
    }
    text_line(v->out, TEXT_HEADING,
              "Requests considered: %" PRId64 ". Multiple sizes, average %s:", q->n,
              units_size(q->mean_bytes).s);
    put_sizes(v, q);
    put_size_ttfb(v, q);
}
