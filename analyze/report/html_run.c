#include "analyze/report/html_internal.h"

#include "analyze/analysis/slowest.h"
#include "analyze/report/page.h"
#include "analyze/write/html.h"
#include "libcommon/units.h"

#include <inttypes.h>

/* ---- Throughput ---- */

static void rate_row(FILE *f, const char *name, double bytes_per_s, double objects_per_s,
                     int64_t start_ns, int64_t duration_ns)
{
    HTML_ROW(f, name, bytes_per_s > 0 ? units_byte_rate(bytes_per_s).s : "-",
             units_rate(objects_per_s).s, figures_clock(start_ns).s, units_duration(duration_ns).s);
}

static void put_throughput(FILE *f, const char *section, const char *caption,
                           const struct throughput *t, const struct segments *s)
{
    static const char *const names[] = {"", "Bytes", "obj/s", "From, UTC", "Over"};
    if (!t->present) {
        html_element(f, "p", "%s: none, the active range is empty.", caption);
        return;
    }
    html_table(f, section, caption, names, "lrrrr");
    rate_row(f, "Average", t->bytes_per_s, t->objects_per_s, t->start_ns, t->duration_ns);
    if (s->present) {
        const struct segment_pick *picks[] = {&s->fastest, &s->median, &s->slowest};
        static const char *const picked[] = {"Fastest segment", "Median segment",
                                             "Slowest segment"};

        for (size_t i = 0; i < 3; i++)
            if (i != 1 || s->n >= ANALYSIS_MIN_MEDIAN)
                rate_row(f, picked[i], picks[i]->bytes_per_s, picks[i]->objects_per_s,
                         picks[i]->start_ns, s->duration_ns);
    }
    html_table_end(f);
    fputs("<p>", f);
    if (s->present)
        html_textf(f, "%s segments of %s. ", units_count(s->n).s, units_duration(s->duration_ns).s);
    html_textf(f, "Successful requests: ");
    if (t->full_ops != ANALYSIS_UNKNOWN)
        html_textf(f, "%s lie wholly in the range, %s in part; ", units_count(t->full_ops).s,
                   units_count(t->partial_ops).s);
    html_textf(f, "%s end in it, %s a second. Bytes in it: %s. Failed requests of the whole: %s.",
               units_count(t->ops_ended).s, units_rate(t->ops_ended_per_s).s,
               units_size((double)t->n_bytes).s, units_count(t->errors).s);
    fputs("</p>\n", f);
}

/* ---- Hosts, clients, errors ---- */

static void party_row(FILE *f, const char *name, int64_t n_requests, int64_t n_errors,
                      const struct throughput *t, const struct segments *s)
{
    html_row(f);
    html_name(f, intern_shown(name));
    html_cell(f, "%s", units_count(n_requests).s);
    fputs(n_errors > 0 ? "<td class=\"bad\">" : "<td>", f);
    html_textf(f, "%s", units_count(n_errors).s);
    fputs("</td>", f);
    HTML_CELLS(f, t->present && t->n_bytes > 0 ? units_byte_rate(t->bytes_per_s).s : "-",
               t->present ? units_rate(t->objects_per_s).s : "-");
    const struct segment_pick *picks[] = {&s->fastest, &s->median, &s->slowest};
    for (size_t i = 0; i < 3; i++)
        html_cell(f, "%s",
                  !s->present || (i == 1 && s->n < ANALYSIS_MIN_MEDIAN) ? "-"
                  : s->by_objects ? units_object_rate(picks[i]->objects_per_s).s
                                  : units_byte_rate(picks[i]->bytes_per_s).s);
    html_row_end(f);
}

static const char *const party_names[] = {"",      "Requests",    "Errors",     "Average",
                                          "obj/s", "Fastest seg", "Median seg", "Slowest seg"};

static void put_hosts(FILE *f, const char *section, const struct host_result *hosts, size_t n,
                      const struct requests *q)
{
    if (n == 0)
        return;
    html_table(f, section, "Hosts", party_names, "lrrrrrrr");
    for (size_t i = 0; i < n; i++)
        party_row(f, hosts[i].host, hosts[i].n_requests, hosts[i].n_errors, &hosts[i].throughput,
                  &hosts[i].segments);
    html_table_end(f);
    if (q != NULL)
        html_requests_hosts(f, section, q);
}

static void put_clients(FILE *f, const char *section, const struct operation *op)
{
    static const char *const times[] = {"", "Bytes", "First start, UTC", "Last end, UTC"};
    if (op->n_client_results == 0)
        return;
    html_table(f, section, "Clients", party_names, "lrrrrrrr");
    for (size_t i = 0; i < op->n_client_results; i++) {
        const struct host_result *c = &op->clients[i].result;
        party_row(f, c->host, c->n_requests, c->n_errors, &c->throughput, &c->segments);
    }
    html_table_end(f);
    html_table(f, section, "When clients ran", times, "lrrr");
    for (size_t i = 0; i < op->n_client_results; i++) {
        const struct client_result *c = &op->clients[i];
        HTML_ROW(f, intern_shown(c->result.host), units_size((double)c->n_bytes).s,
                 figures_clock(c->first_start_ns).s, figures_clock(c->last_end_ns).s);
    }
    html_table_end(f);
    html_requests_clients(f, section, op);
}

static void put_errors(FILE *f, const char *section, const struct operation *op)
{
    static const char *const names[] = {"Message", "Host", "Count", "First, UTC", "Last, UTC"};
    if (op->n_error_groups == 0)
        return;
    html_table(f, section, "Errors", names, "llrrr");
    for (size_t i = 0; i < op->n_error_groups; i++) {
        const struct error_group *g = &op->errors[i];
        html_row(f);
        html_cell_wrapped(f, g->message);
        html_cell_text(f, g->n_hosts == 1 ? intern_shown(g->hosts[0].host) : "all");
        HTML_CELLS(f, units_count(g->count).s, figures_clock(g->first_ns).s,
                   figures_clock(g->last_ns).s);
        html_row_end(f);
        for (size_t k = 0; g->n_hosts > 1 && k < g->n_hosts; k++) {
            html_row(f);
            fputs("<td></td>", f);
            html_cell_text(f, intern_shown(g->hosts[k].host));
            HTML_CELLS(f, units_count(g->hosts[k].count).s, figures_clock(g->hosts[k].first_ns).s,
                       figures_clock(g->hosts[k].last_ns).s);
            html_row_end(f);
        }
    }
    html_table_end(f);
}

void html_slowest(FILE *f, const struct analysis *a, const struct html_course *c)
{
    static const char *const names[] = {"Duration", "Start, UTC", "Operation", "Host",
                                        "Key",      "Size",       "Thread",    "Outcome"};
    struct slow_request v[ANALYSIS_SLOWEST];
    size_t n = analysis_slowest(a, c->main, v);

    if (n == 0)
        return;
    html_table(f, "slowest", "The slowest requests, in the active range or not", names, "rrlllrrl");
    for (size_t i = 0; i < n; i++) {
        html_row(f);
        HTML_CELLS(f, units_duration(v[i].dur_ns).s, figures_clock(v[i].start_ns).s);
        html_cell_text(f, v[i].op);
        html_cell_text(f, intern_shown(v[i].host));
        html_cell_wrapped(f, v[i].key != NULL ? v[i].key : "-");
        html_cell(f, "%s", units_size((double)v[i].bytes).s);
        html_cell(f, "%" PRIu32, v[i].thread);
        html_cell_wrapped(f, *v[i].error != '\0' ? v[i].error : "done");
        html_row_end(f);
    }
    html_table_end(f);
}

/* ---- What the range leaves out ---- */

static void put_outside(FILE *f, const struct outside *o)
{
    if (o->n == 0 && o->n_bytes == 0)
        return;
    html_element(f, "p",
                 "In no segment: %s (%s before the first, %s after the last) and %s (%s before, "
                 "%s after).",
                 figures_counted(o->n, "request").s, units_count(o->n_before).s,
                 units_count(o->n_after).s, units_size((double)o->n_bytes).s,
                 units_size((double)o->before_bytes).s, units_size((double)o->after_bytes).s);
}

/* Where the all-threads range keeps little: the single range's figures, and who shortens it. */
static void put_single_range(FILE *f, const char *section, const struct operation *op)
{
    static const char *const names[] = {"Thread", "First end, UTC", "Last start, UTC"};
    if (!op->range_is_short)
        return;
    put_throughput(f, section, "Throughput over the single range", &op->single_throughput,
                   &op->single_segments);
    if (op->n_slow_threads == 0)
        return;
    html_table(f, section, "Threads that shorten the range", names, "lrr");
    for (size_t i = 0; i < operation_n_slow_listed(op); i++) {
        const struct slow_thread *x = &op->slow_threads[i];
        html_row(f);
        html_cell(f, "%" PRIu32, x->thread);
        HTML_CELLS(f, figures_clock(x->first_end_ns).s, figures_clock(x->last_start_ns).s);
        html_row_end(f);
    }
    html_table_end(f);
    size_t n_more = op->n_slow_threads - operation_n_slow_listed(op);
    if (n_more > 0)
        html_element(f, "p", "and %s more threads", units_count((int64_t)n_more).s);
}

/* ---- Sections ---- */

/* Links to what is in it open it. */
static void begin_fold(FILE *f, size_t n, const char *what)
{
    fprintf(f, "<details><summary>%s</summary>\n", figures_counted((int64_t)n, what).s);
}

void html_run_operation(FILE *f, const char *section, const struct operation *op)
{
    fputs("<p>", f);
    html_textf(f, "%s by %s, %s, on %s; ran %s, from %s to %s UTC.",
               figures_counted(op->n_requests, "request").s,
               figures_counted(op->concurrency, "thread").s,
               figures_counted(op->n_clients, "client").s, figures_counted(op->n_hosts, "host").s,
               units_duration(op->end_ns - op->start_ns).s, figures_clock(op->start_ns).s,
               figures_clock(op->end_ns).s);
    if (op->objects_per_op > 1)
        html_textf(f, " Each of %s.", figures_counted(op->objects_per_op, "object").s);
    fputs("</p>\n", f);
    put_throughput(f, section, "Throughput", &op->throughput, &op->segments);
    put_outside(f, &op->outside);
    put_single_range(f, section, op);
    html_requests(f, section, &op->requests);
    if (op->n_host_results > 0) {
        begin_fold(f, op->n_host_results, "host");
        put_hosts(f, section, op->hosts, op->n_host_results, &op->requests);
        html_page_fold_end(f);
    }
    if (op->n_client_results > 0) {
        begin_fold(f, op->n_client_results, "client");
        put_clients(f, section, op);
        html_page_fold_end(f);
    }
    put_errors(f, section, op);
    html_statistics(f, section, op->statistics);
}

void html_run_total(FILE *f, const char *section, const struct cluster_total *t)
{
    put_throughput(f, section, "Throughput", &t->throughput, &t->segments);
    if (t->n_hosts > 0) {
        begin_fold(f, t->n_hosts, "host");
        put_hosts(f, section, t->hosts, t->n_hosts, NULL);
        html_page_fold_end(f);
    }
}
