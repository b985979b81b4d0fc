#include "analyze/report/html_internal.h"

#include "analyze/write/html.h"
#include "libcommon/units.h"

#include <inttypes.h>

/* ---- The summary ---- */

/* "95% CI 119MiB/s to 124MiB/s", or why there is none. */
static void put_ci(FILE *f, const struct stats_ci *ci, struct units_text (*text)(double))
{
    fputs("<span>", f);
    if (ci->ok)
        html_textf(f, "95%% CI %s to %s", text(ci->lo).s, text(ci->hi).s);
    else
        html_textf(f, "no CI: %s", ci->why);
    fputs("</span>", f);
}

static void rate_card(FILE *f, const char *name, const struct throughput *t,
                      const struct statistics *s)
{
    if (!t->present)
        return;
    fputs("<div class=\"card\"><span>", f);
    html_textf(f, "%s throughput", name);
    fputs("</span>", f);
    html_element(f, "b", "%s",
                 t->n_bytes > 0 ? units_byte_rate(t->bytes_per_s).s
                                : units_object_rate(t->objects_per_s).s);
    if (s != NULL)
        put_ci(f, t->n_bytes > 0 ? &s->bytes.mean : &s->objects.mean,
               t->n_bytes > 0 ? units_byte_rate : units_object_rate);
    if (t->n_bytes > 0)
        html_element(f, "span", "%s", units_object_rate(t->objects_per_s).s);
    fputs("</div>\n", f);
}

static void latency_card(FILE *f, const char *op, const struct statistics *s)
{
    const struct statistics_quantile *q = s->duration.q;
    if (s->duration.n == 0)
        return;
    fputs("<div class=\"card\"><span>", f);
    html_textf(f, "%s duration, median", op);
    fputs("</span>", f);
    html_element(f, "b", "%s", figures_ns(q[0].ci.value).s);
    put_ci(f, &q[0].ci, figures_ns);
    html_element(f, "span", "99%%: %s", figures_ns(q[2].ci.value).s);
    fputs("</div>\n", f);
}

static void count_card(FILE *f, const struct operation *op)
{
    fputs("<div class=\"card\"><span>", f);
    html_textf(f, "%s requests", op->op);
    fputs("</span>", f);
    html_element(f, "b", "%s", units_count(op->n_requests).s);
    if (op->n_errors > 0) {
        fputs("<span class=\"bad\">", f);
        html_textf(f, "%s failed (%s)", units_count(op->n_errors).s,
                   units_pct(100.0 * (double)op->n_errors / (double)op->n_requests).s);
        fputs("</span>", f);
    } else {
        html_element(f, "span", "none failed");
    }
    html_element(f, "span", "%s", units_size((double)op->n_bytes).s);
    fputs("</div>\n", f);
}

static void put_overview(FILE *f, const struct analysis *a)
{
    static const char *const names[] = {"Operation",  "Requests", "Errors", "Average", "obj/s",
                                        "Median seg", "50%",      "90%",    "99%",     "Slowest"};
    int64_t n_requests = 0, n_errors = 0;
    html_table(f, NULL, names, "lrrrrrrrrr");
    for (size_t i = 0; i < a->n_operations; i++) {
        const struct operation *op = &a->operations[i];
        n_requests += op->n_requests;
        n_errors += op->n_errors;
        const struct throughput *t = &op->throughput;
        const struct durations *d = &op->requests.all;
        html_row(f);
        html_name(f, op->op);
        html_cell(f, "%s", units_count(op->n_requests).s);
        html_cell(f, "%s", units_count(op->n_errors).s);
        html_cell(f, "%s", t->present && t->n_bytes > 0 ? units_byte_rate(t->bytes_per_s).s : "-");
        html_cell(f, "%s", t->present ? units_rate(t->objects_per_s).s : "-");
        if (!op->segments.present)
            html_cell(f, "-");
        else if (op->segments.by_objects)
            html_cell(f, "%s", units_object_rate(op->segments.median.objects_per_s).s);
        else
            html_cell(f, "%s", units_byte_rate(op->segments.median.bytes_per_s).s);
        const int64_t q[] = {d->p50_ns, d->p90_ns, d->p99_ns, d->slowest_ns};
        for (size_t k = 0; k < 4; k++)
            html_cell(f, "%s", d->present ? units_duration(q[k]).s : "-");
        html_row_end(f);
    }
    if (a->total.present && a->total.throughput.present) {
        const struct throughput *t = &a->total.throughput;
        html_row(f);
        html_name(f, "All together");
        html_cell(f, "%s", units_count(n_requests).s);
        html_cell(f, "%s", units_count(n_errors).s);
        html_cell(f, "%s", t->n_bytes > 0 ? units_byte_rate(t->bytes_per_s).s : "-");
        html_cell(f, "%s", units_rate(t->objects_per_s).s);
        fputs("<td></td><td></td><td></td><td></td><td></td></tr>\n", f);
    }
    html_table_end(f);
}

void html_run_summary(FILE *f, const struct analysis *a)
{
    if (a->total.present) {
        fputs("<div class=\"cards\">\n", f);
        rate_card(f, "Overall", &a->total.throughput, NULL);
        fputs("</div>\n", f);
    }
    /* Of operations one after another, most are preparation: the cards are of the largest one, the
     * table below of all. */
    size_t largest = 0;
    for (size_t i = 0; i < a->n_operations; i++)
        if (a->operations[i].n_requests > a->operations[largest].n_requests)
            largest = i;
    for (size_t i = 0; i < a->n_operations; i++) {
        const struct operation *op = &a->operations[i];
        bool has_cards = a->mixed ? i < 4 : i == largest;
        if (!has_cards || op->n_requests == 0)
            continue;
        fputs("<div class=\"cards\">\n", f);
        rate_card(f, op->op, &op->throughput, op->statistics);
        if (op->statistics != NULL)
            latency_card(f, op->op, op->statistics);
        count_card(f, op);
        fputs("</div>\n", f);
    }
    put_overview(f, a);
}

/* ---- Throughput ---- */

static void rate_row(FILE *f, const char *name, double bytes_per_s, double objects_per_s,
                     int64_t start_ns, int64_t duration_ns)
{
    html_row(f);
    html_name(f, name);
    html_cell(f, "%s", bytes_per_s > 0 ? units_byte_rate(bytes_per_s).s : "-");
    html_cell(f, "%s", units_rate(objects_per_s).s);
    html_cell(f, "%s", html_cells_clock(start_ns).s);
    html_cell(f, "%s", units_duration(duration_ns).s);
    html_row_end(f);
}

static void put_throughput(FILE *f, const char *caption, const struct throughput *t,
                           const struct segments *s)
{
    static const char *const names[] = {"", "Bytes", "obj/s", "From, UTC", "Over"};
    if (!t->present) {
        html_element(f, "p", "%s: none, the active range is empty.", caption);
        return;
    }
    html_table(f, caption, names, "lrrrr");
    rate_row(f, "Average", t->bytes_per_s, t->objects_per_s, t->start_ns, t->duration_ns);
    if (s->present) {
        const struct segment_pick *picks[] = {&s->fastest, &s->median, &s->slowest};
        static const char *const picked[] = {"Fastest segment", "Median segment",
                                             "Slowest segment"};
        for (size_t i = 0; i < 3; i++)
            rate_row(f, picked[i], picks[i]->bytes_per_s, picks[i]->objects_per_s,
                     picks[i]->start_ns, s->duration_ns);
    }
    html_table_end(f);
    fputs("<p>", f);
    if (s->present)
        html_textf(f, "%s segments of %s. ", units_count(s->n).s, units_duration(s->duration_ns).s);
    html_textf(f,
               "Successful requests: %s lie wholly in the range, %s in part; %s end in it, %s a "
               "second. Bytes in it: %s. Failed requests of the whole: %s.",
               units_count(t->full_ops).s, units_count(t->partial_ops).s,
               units_count(t->ops_ended).s, units_rate(t->ops_ended_per_s).s,
               units_size((double)t->n_bytes).s, units_count(t->errors).s);
    fputs("</p>\n", f);
}

/* ---- Hosts, clients, errors ---- */

static void party_row(FILE *f, const char *name, int64_t n_requests, int64_t n_errors,
                      const struct throughput *t, const struct segments *s)
{
    html_row(f);
    html_name(f, html_cells_party(name));
    html_cell(f, "%s", units_count(n_requests).s);
    fputs(n_errors > 0 ? "<td class=\"bad\">" : "<td>", f);
    html_textf(f, "%s", units_count(n_errors).s);
    fputs("</td>", f);
    html_cell(f, "%s", t->present && t->n_bytes > 0 ? units_byte_rate(t->bytes_per_s).s : "-");
    html_cell(f, "%s", t->present ? units_rate(t->objects_per_s).s : "-");
    const struct segment_pick *picks[] = {&s->fastest, &s->median, &s->slowest};
    for (size_t i = 0; i < 3; i++)
        html_cell(f, "%s",
                  !s->present     ? "-"
                  : s->by_objects ? units_object_rate(picks[i]->objects_per_s).s
                                  : units_byte_rate(picks[i]->bytes_per_s).s);
    html_row_end(f);
}

static const char *const party_names[] = {"",      "Requests",    "Errors",     "Average",
                                          "obj/s", "Fastest seg", "Median seg", "Slowest seg"};

static void put_hosts(FILE *f, const struct host_result *hosts, size_t n, const struct requests *q)
{
    if (n == 0)
        return;
    html_table(f, "Hosts", party_names, "lrrrrrrr");
    for (size_t i = 0; i < n; i++)
        party_row(f, hosts[i].host, hosts[i].n_requests, hosts[i].n_errors, &hosts[i].throughput,
                  &hosts[i].segments);
    html_table_end(f);
    if (q != NULL)
        html_requests_hosts(f, q);
}

static void put_clients(FILE *f, const struct operation *op)
{
    static const char *const times[] = {"", "Bytes", "First start, UTC", "Last end, UTC"};
    if (op->n_client_results == 0)
        return;
    html_table(f, "Clients", party_names, "lrrrrrrr");
    for (size_t i = 0; i < op->n_client_results; i++) {
        const struct client_result *c = &op->clients[i];
        party_row(f, c->client, c->n_requests, c->n_errors, &c->throughput, &c->segments);
    }
    html_table_end(f);
    html_table(f, "When clients ran", times, "lrrr");
    for (size_t i = 0; i < op->n_client_results; i++) {
        const struct client_result *c = &op->clients[i];
        html_row(f);
        html_name(f, html_cells_party(c->client));
        html_cell(f, "%s", units_size((double)c->n_bytes).s);
        html_cell(f, "%s", html_cells_clock(c->first_start_ns).s);
        html_cell(f, "%s", html_cells_clock(c->last_end_ns).s);
        html_row_end(f);
    }
    html_table_end(f);
    html_requests_clients(f, op->clients, op->n_client_results);
}

static void put_errors(FILE *f, const struct operation *op)
{
    static const char *const names[] = {"Message", "Host", "Count", "First, UTC", "Last, UTC"};
    if (op->n_error_groups == 0)
        return;
    html_table(f, "Errors", names, "llrrr");
    for (size_t i = 0; i < op->n_error_groups; i++) {
        const struct error_group *g = &op->errors[i];
        html_row(f);
        html_cell_wrapped(f, g->message);
        html_cell_text(f, g->n_hosts == 1 ? html_cells_party(g->hosts[0].host) : "all");
        html_cell(f, "%s", units_count(g->count).s);
        html_cell(f, "%s", html_cells_clock(g->first_ns).s);
        html_cell(f, "%s", html_cells_clock(g->last_ns).s);
        html_row_end(f);
        for (size_t k = 0; g->n_hosts > 1 && k < g->n_hosts; k++) {
            html_row(f);
            fputs("<td></td>", f);
            html_cell_text(f, html_cells_party(g->hosts[k].host));
            html_cell(f, "%s", units_count(g->hosts[k].count).s);
            html_cell(f, "%s", html_cells_clock(g->hosts[k].first_ns).s);
            html_cell(f, "%s", html_cells_clock(g->hosts[k].last_ns).s);
            html_row_end(f);
        }
    }
    html_table_end(f);
}

/* ---- What the range leaves out ---- */

static void put_outside(FILE *f, const struct outside *o)
{
    if (o->n == 0 && o->n_bytes == 0)
        return;
    html_element(f, "p",
                 "In no segment: %s request%s (%s before the first, %s after the last) and %s "
                 "(%s, %s).",
                 units_count(o->n).s, o->n == 1 ? "" : "s", units_count(o->n_before).s,
                 units_count(o->n_after).s, units_size((double)o->n_bytes).s,
                 units_size((double)o->before_bytes).s, units_size((double)o->after_bytes).s);
}

/* Where the all-threads range keeps little: the single range's figures, and who shortens it. */
static void put_single_range(FILE *f, const struct operation *op)
{
    static const char *const names[] = {"Thread", "First end, UTC", "Last start, UTC"};
    if (!op->range_is_short)
        return;
    put_throughput(f, "Throughput over the single range", &op->single_throughput,
                   &op->single_segments);
    if (op->n_slow_threads == 0)
        return;
    html_table(f, "Threads that shorten the range", names, "lrr");
    for (size_t i = 0; i < operation_n_slow_listed(op); i++) {
        const struct slow_thread *x = &op->slow_threads[i];
        html_row(f);
        html_cell(f, "%" PRIu32, x->thread);
        html_cell(f, "%s", html_cells_clock(x->first_end_ns).s);
        html_cell(f, "%s", html_cells_clock(x->last_start_ns).s);
        html_row_end(f);
    }
    html_table_end(f);
    size_t n_more = op->n_slow_threads - operation_n_slow_listed(op);
    if (n_more > 0)
        html_textf(f, "<p>and %zu more threads", n_more);
}

/* ---- Sections ---- */

void html_run_operation(FILE *f, const struct operation *op)
{
    fputs("<p>", f);
    html_textf(f,
               "%s request%s by %" PRId64 " thread%s, %" PRId64 " client%s, on %" PRId64
               " host%s; ran %s, from %s to %s UTC.",
               units_count(op->n_requests).s, op->n_requests == 1 ? "" : "s", op->concurrency,
               op->concurrency == 1 ? "" : "s", op->n_clients, op->n_clients == 1 ? "" : "s",
               op->n_hosts, op->n_hosts == 1 ? "" : "s",
               units_duration(op->end_ns - op->start_ns).s, html_cells_clock(op->start_ns).s,
               html_cells_clock(op->end_ns).s);
    if (op->objects_per_op > 1)
        html_textf(f, " Each of %" PRId64 " objects.", op->objects_per_op);
    fputs("</p>\n", f);
    put_throughput(f, "Throughput", &op->throughput, &op->segments);
    put_outside(f, &op->outside);
    put_single_range(f, op);
    html_requests(f, &op->requests);
    put_hosts(f, op->hosts, op->n_host_results, &op->requests);
    put_clients(f, op);
    put_errors(f, op);
    html_statistics(f, op->statistics);
}

void html_run_total(FILE *f, const struct cluster_total *t)
{
    put_throughput(f, "Throughput", &t->throughput, &t->segments);
    put_hosts(f, t->hosts, t->n_hosts, NULL);
}
