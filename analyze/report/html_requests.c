#include "analyze/report/html_internal.h"

#include "analyze/write/html.h"
#include "libcommon/units.h"

static const enum figure rates[] = {FIGURE_N,       FIGURE_SIZE, FIGURE_TIME, FIGURE_MEAN,
                                    FIGURE_FASTEST, FIGURE_P50,  FIGURE_P90,  FIGURE_P99,
                                    FIGURE_SLOWEST, N_FIGURES};

/* Quartiles are those of the time to first byte alone. */
static const enum figure durations[] = {FIGURE_N,       FIGURE_MEAN,   FIGURE_FASTEST,
                                        FIGURE_P50,     FIGURE_P90,    FIGURE_P99,
                                        FIGURE_SLOWEST, FIGURE_STDDEV, N_FIGURES};

static void begin_table(FILE *f, const char *section, const char *caption,
                        const enum figure *columns)
{
    const char *names[N_FIGURES + 1] = {""};
    char align[N_FIGURES + 2] = "l";

    for (size_t i = 0; columns[i] != N_FIGURES; i++) {
        names[i + 1] = figures_names[columns[i]];
        align[i + 1] = 'r';
    }
    html_table(f, section, caption, names, align);
}

static void put_row(FILE *f, const char *name, const enum figure *columns, struct figures x)
{
    if (!x.present)
        return;
    html_row(f);
    html_name(f, name);
    for (; *columns != N_FIGURES; columns++) {
        if (*columns != FIGURE_N)
            html_cell(f, "%s", x.v[*columns].s[0] != '\0' ? x.v[*columns].s : "-");
        else if (x.n_unrated > 0)
            html_cell(f, "%s (%s unrated)", units_count(x.n).s, units_count(x.n_unrated).s);
        else
            html_cell(f, "%s", units_count(x.n).s);
    }
    html_row_end(f);
}

/* ---- Of an operation ---- */

static void put_times(FILE *f, const char *section, const struct requests *q)
{
    begin_table(f, section, "Requests", durations);
    put_row(f, "Duration", durations, figures_of_times(&q->all.dur));
    put_row(f, "Response time", durations, figures_of_times(&q->response_time.dur));
    put_row(f, "First access", durations, figures_of_times(&q->first_access.dur));
    put_row(f, "Last access", durations, figures_of_times(&q->last_access.dur));
    html_table_end(f);
    if (!q->all.ttfb.present)
        return;
    begin_table(f, section, "Time to first byte", figures_times);
    put_row(f, "TTFB", figures_times, figures_of_times(&q->all.ttfb));
    put_row(f, "First access TTFB", figures_times, figures_of_times(&q->first_access.ttfb));
    put_row(f, "Last access TTFB", figures_times, figures_of_times(&q->last_access.ttfb));
    html_table_end(f);
}

static void put_sizes(FILE *f, const char *section, const struct requests *q)
{
    char name[80];
    bool has_ttfb = false;

    begin_table(f, section, "Requests by size: throughput of single requests", rates);
    for (size_t i = 0; i < q->n_sizes; i++) {
        const struct size_bucket *b = &q->sizes[i];
        snprintf(name, sizeof name, "%.40s, first access", figures_bucket(b).s);
        put_row(f, figures_bucket(b).s, rates, figures_of_sized(&b->all));
        put_row(f, name, rates, figures_of_sized(&b->first_access));
        has_ttfb |= b->all.ttfb.present || b->first_access.ttfb.present;
    }
    html_table_end(f);
    if (!has_ttfb)
        return;
    begin_table(f, section, "TTFB by size", figures_times);
    for (size_t i = 0; i < q->n_sizes; i++) {
        const struct size_bucket *b = &q->sizes[i];
        snprintf(name, sizeof name, "%.40s, first access", figures_bucket(b).s);
        put_row(f, figures_bucket(b).s, figures_times, figures_of_times(&b->all.ttfb));
        put_row(f, name, figures_times, figures_of_times(&b->first_access.ttfb));
    }
    html_table_end(f);
}

void html_requests(FILE *f, const char *section, const struct requests *q)
{
    if (!q->present) {
        html_element(f, "p", "No successful requests lie in the active range.");
        return;
    }
    html_element(f, "p", "%s successful requests of %s%s lie in the active range.",
                 units_count(q->n).s,
                 units_size(q->single_size ? (double)q->object_size_bytes : q->mean_bytes).s,
                 q->single_size ? "" : " on average");
    if (q->single_size || q->response_time.dur.present)
        put_times(f, section, q);
    if (!q->single_size)
        put_sizes(f, section, q);
}

/* ---- By host and client ---- */

void html_requests_hosts(FILE *f, const char *section, const struct requests *q)
{
    bool has_ttfb = false;
    if (!q->present || q->n_hosts == 0)
        return;
    if (q->single_size)
        begin_table(f, section, "Requests by host: durations", durations);
    else
        begin_table(f, section, "Requests by host: throughput of single requests", rates);
    for (size_t i = 0; i < q->n_hosts; i++) {
        const struct host_requests *h = &q->hosts[i];
        if (q->single_size)
            put_row(f, intern_shown(h->host), durations, figures_of_times(&h->single.dur));
        else
            put_row(f, intern_shown(h->host), rates, figures_of_sized(&h->sized));
        has_ttfb |= q->single_size ? h->single.ttfb.present : h->sized.ttfb.present;
    }
    html_table_end(f);
    if (!has_ttfb)
        return;
    begin_table(f, section, "Requests by host: TTFB", figures_times);
    for (size_t i = 0; i < q->n_hosts; i++) {
        const struct host_requests *h = &q->hosts[i];
        put_row(f, intern_shown(h->host), figures_times,
                figures_of_times(q->single_size ? &h->single.ttfb : &h->sized.ttfb));
    }
    html_table_end(f);
}

void html_requests_clients(FILE *f, const char *section, const struct operation *op)
{
    bool has_ttfb = false;
    if (op->n_client_results == 0)
        return;
    begin_table(f, section, "Requests by client: durations", durations);
    for (size_t i = 0; i < op->n_client_results; i++) {
        put_row(f, intern_shown(op->clients[i].result.host), durations,
                figures_of_times(&op->client_requests[i].dur));
        has_ttfb |= op->client_requests[i].ttfb.present;
    }
    html_table_end(f);
    if (!has_ttfb)
        return;
    begin_table(f, section, "Requests by client: TTFB", figures_times);
    for (size_t i = 0; i < op->n_client_results; i++)
        put_row(f, intern_shown(op->clients[i].result.host), figures_times,
                figures_of_times(&op->client_requests[i].ttfb));
    html_table_end(f);
}
