#include "html_run.h"

#include "html_out.h"
#include "rfc3339.h"
#include "statistics.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define COUNT(names) (sizeof(names) / sizeof *(names))

static struct units_text ns_text(double ns)
{
    return isnan(ns) ? (struct units_text){"-"} : units_duration((int64_t)round(ns));
}

/* "05:41:42.505", and on what day the title says. */
static struct units_text clock_text(int64_t ns)
{
    struct units_text t;
    snprintf(t.s, sizeof t.s, "%.12s", rfc3339_format(ns).s + 11);
    return t;
}

static struct units_text objects_text(double per_s)
{
    struct units_text t;
    snprintf(t.s, sizeof t.s, "%.30s obj/s", units_rate(per_s).s);
    return t;
}

/* ---- The summary ---- */

/* "95 % CI 119MiB/s to 124MiB/s", or why there is none. */
static void put_ci(FILE *f, const struct stats_ci *ci, struct units_text (*text)(double))
{
    fputs("<span>", f);
    if (ci->ok)
        html_textf(f, "95 %% CI %s to %s", text(ci->lo).s, text(ci->hi).s);
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
                                : objects_text(t->objects_per_s).s);
    if (s != NULL)
        put_ci(f, t->n_bytes > 0 ? &s->bytes.mean : &s->objects.mean,
               t->n_bytes > 0 ? units_byte_rate : objects_text);
    if (t->n_bytes > 0)
        html_element(f, "span", "%s", objects_text(t->objects_per_s).s);
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
    html_element(f, "b", "%s", ns_text(q[0].ci.value).s);
    put_ci(f, &q[0].ci, ns_text);
    html_element(f, "span", "99 %%: %s", ns_text(q[2].ci.value).s);
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
                                        "Median seg", "p50",      "p90",    "p99",     "Slowest"};
    html_table(f, NULL, names, "lrrrrrrrrr");
    for (size_t i = 0; i < a->n_operations; i++) {
        const struct operation *op = &a->operations[i];
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
            html_cell(f, "%s", objects_text(op->segments.median.objects_per_s).s);
        else
            html_cell(f, "%s", units_byte_rate(op->segments.median.bytes_per_s).s);
        const int64_t q[] = {d->p50_ns, d->p90_ns, d->p99_ns, d->slowest_ns};
        for (size_t k = 0; k < 4; k++)
            html_cell(f, "%s", d->present ? units_duration(q[k]).s : "-");
        fputs("</tr>\n", f);
    }
    if (a->total.present && a->total.throughput.present) {
        const struct throughput *t = &a->total.throughput;
        html_row(f);
        html_name(f, "All together");
        html_cell(f, "%s", units_count(a->n_rows).s);
        html_cell(f, "%s", units_count(t->errors).s);
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
    html_cell(f, "%s", clock_text(start_ns).s);
    html_cell(f, "%s", units_duration(duration_ns).s);
    fputs("</tr>\n", f);
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
    if (s->present)
        html_element(f, "p",
                     "%" PRId64 " segments of %s. Requests that lie in the range: %" PRId64
                     " wholly, %" PRId64 " in part.",
                     s->n, units_duration(s->duration_ns).s, t->full_ops, t->partial_ops);
}

/* ---- Requests ---- */

static void durations_row(FILE *f, const char *name, const struct durations *d)
{
    if (!d->present)
        return;
    html_row(f);
    html_name(f, name);
    html_cell(f, "%s", units_count(d->n).s);
    html_cell(f, "%s", ns_text(d->mean_ns).s);
    html_cell(f, "%s", units_duration(d->fastest_ns).s);
    html_cell(f, "-");
    html_cell(f, "%s", units_duration(d->p50_ns).s);
    html_cell(f, "-");
    html_cell(f, "%s", units_duration(d->p90_ns).s);
    html_cell(f, "%s", units_duration(d->p99_ns).s);
    html_cell(f, "%s", units_duration(d->slowest_ns).s);
    html_cell(f, "%s", ns_text(d->stddev_ns).s);
    fputs("</tr>\n", f);
}

static void ttfb_row(FILE *f, const char *name, const struct ttfb *t)
{
    if (!t->present)
        return;
    html_row(f);
    html_name(f, name);
    html_cell(f, "%s", units_count(t->n).s);
    html_cell(f, "%s", ns_text(t->mean_ns).s);
    const int64_t v[] = {t->best_ns, t->p25_ns, t->p50_ns,  t->p75_ns,
                         t->p90_ns,  t->p99_ns, t->worst_ns};
    for (size_t i = 0; i < 7; i++)
        html_cell(f, "%s", units_duration(v[i]).s);
    html_cell(f, "%s", ns_text(t->stddev_ns).s);
    fputs("</tr>\n", f);
}

static const char *const time_names[] = {"",     "n",    "Mean", "Fastest", "25 %",   "50 %",
                                         "75 %", "90 %", "99 %", "Slowest", "Std dev"};

static void put_durations(FILE *f, const struct requests *q)
{
    html_table(f, "Requests", time_names, "lrrrrrrrrrr");
    durations_row(f, "Duration", &q->all);
    ttfb_row(f, "Time to first byte", &q->all.ttfb);
    durations_row(f, "Response time", &q->response_time);
    durations_row(f, "First access", &q->first_access);
    ttfb_row(f, "First access, first byte", &q->first_access.ttfb);
    durations_row(f, "Last access", &q->last_access);
    ttfb_row(f, "Last access, first byte", &q->last_access.ttfb);
    html_table_end(f);
}

static void sized_row(FILE *f, const char *name, const struct sized *s)
{
    if (!s->present)
        return;
    html_row(f);
    html_name(f, name);
    html_cell(f, "%s", units_count(s->n).s);
    html_cell(f, "%s", units_size(s->mean_bytes).s);
    html_cell(f, "%s", ns_text(s->mean_ns).s);
    const double v[] = {s->mean_bytes_per_s, s->fastest_bytes_per_s, s->p50_bytes_per_s,
                        s->p90_bytes_per_s,  s->p99_bytes_per_s,     s->slowest_bytes_per_s};
    for (size_t i = 0; i < COUNT(v); i++)
        html_cell(f, "%s", s->rated ? units_byte_rate(v[i]).s : "-");
    html_cell(f, "%s", s->ttfb.present ? units_duration(s->ttfb.p50_ns).s : "-");
    html_cell(f, "%s", s->ttfb.present ? units_duration(s->ttfb.p99_ns).s : "-");
    fputs("</tr>\n", f);
}

static const char *const sized_names[] = {"",          "n",       "Mean size", "Mean time",
                                          "Mean rate", "Fastest", "50 %",      "90 %",
                                          "99 %",      "Slowest", "TTFB 50 %", "TTFB 99 %"};

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

static void put_sizes(FILE *f, const struct requests *q)
{
    char name[80];
    html_table(f, "Requests by size: throughput of single requests", sized_names, "lrrrrrrrrrrr");
    for (size_t i = 0; i < q->n_sizes; i++) {
        sized_row(f, bucket_text(&q->sizes[i]).s, &q->sizes[i].all);
        snprintf(name, sizeof name, "%.40s, first access", bucket_text(&q->sizes[i]).s);
        sized_row(f, name, &q->sizes[i].first_access);
    }
    html_table_end(f);
}

static void put_requests(FILE *f, const struct requests *q)
{
    if (!q->present) {
        html_element(f, "p", "No successful requests lie in the active range.");
        return;
    }
    if (q->single_size) {
        html_element(f, "p", "%s successful requests of %s lie in the active range.",
                     units_count(q->n).s, units_size((double)q->object_size_bytes).s);
        put_durations(f, q);
    } else {
        html_element(f, "p", "%s successful requests of %s on average lie in the active range.",
                     units_count(q->n).s, units_size(q->mean_bytes).s);
        put_sizes(f, q);
    }
}

/* ---- Hosts, clients, errors ---- */

static const char *named(const char *name)
{
    return *name != '\0' ? name : "(unnamed)";
}

static void party_row(FILE *f, const char *name, int64_t n_requests, int64_t n_errors,
                      const struct throughput *t, const struct segments *s,
                      const struct durations *d)
{
    html_row(f);
    html_name(f, named(name));
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
                  : s->by_objects ? objects_text(picks[i]->objects_per_s).s
                                  : units_byte_rate(picks[i]->bytes_per_s).s);
    bool has_times = d != NULL && d->present;
    html_cell(f, "%s", has_times ? units_duration(d->p50_ns).s : "-");
    html_cell(f, "%s", has_times ? units_duration(d->p99_ns).s : "-");
    fputs("</tr>\n", f);
}

static const char *const party_names[] = {"",      "Requests",    "Errors",     "Average",
                                          "obj/s", "Fastest seg", "Median seg", "Slowest seg",
                                          "p50",   "p99"};

static void put_hosts(FILE *f, const struct host_result *hosts, size_t n, const struct requests *q)
{
    if (n == 0)
        return;
    html_table(f, "Hosts", party_names, "lrrrrrrrrr");
    for (size_t i = 0; i < n; i++) {
        const struct durations *d = NULL;
        for (size_t k = 0; q != NULL && q->single_size && k < q->n_hosts; k++)
            if (strcmp(q->hosts[k].host, hosts[i].host) == 0)
                d = &q->hosts[k].single;
        party_row(f, hosts[i].host, hosts[i].n_requests, hosts[i].n_errors, &hosts[i].throughput,
                  &hosts[i].segments, d);
    }
    html_table_end(f);
    if (q == NULL || q->single_size || q->n_hosts == 0)
        return;
    html_table(f, "Requests by host: throughput of single requests", sized_names, "lrrrrrrrrrrr");
    for (size_t k = 0; k < q->n_hosts; k++)
        sized_row(f, named(q->hosts[k].host), &q->hosts[k].sized);
    html_table_end(f);
}

static void put_clients(FILE *f, const struct operation *op)
{
    if (op->n_client_results == 0)
        return;
    html_table(f, "Clients", party_names, "lrrrrrrrrr");
    for (size_t i = 0; i < op->n_client_results; i++) {
        const struct client_result *c = &op->clients[i];
        party_row(f, c->client, c->n_requests, c->n_errors, &c->throughput, &c->segments,
                  &c->requests);
    }
    html_table_end(f);
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
        fputs("<td class=\"l wrap\">", f);
        html_text(f, g->message);
        fputs("</td>", f);
        html_cell_text(f, g->n_hosts == 1 ? named(g->hosts[0].host) : "all");
        html_cell(f, "%s", units_count(g->count).s);
        html_cell(f, "%s", clock_text(g->first_ns).s);
        html_cell(f, "%s", clock_text(g->last_ns).s);
        fputs("</tr>\n", f);
        for (size_t k = 0; g->n_hosts > 1 && k < g->n_hosts; k++) {
            html_row(f);
            fputs("<td></td>", f);
            html_cell_text(f, named(g->hosts[k].host));
            html_cell(f, "%s", units_count(g->hosts[k].count).s);
            html_cell(f, "%s", clock_text(g->hosts[k].first_ns).s);
            html_cell(f, "%s", clock_text(g->hosts[k].last_ns).s);
            fputs("</tr>\n", f);
        }
    }
    html_table_end(f);
}

/* ---- Statistics ---- */

static void ci_row(FILE *f, const char *name, const struct stats_ci *ci,
                   struct units_text (*text)(double))
{
    html_row(f);
    html_name(f, name);
    html_cell(f, "%s", isnan(ci->value) ? "-" : text(ci->value).s);
    html_cell(f, "%s", ci->ok ? text(ci->lo).s : "-");
    html_cell(f, "%s", ci->ok ? text(ci->hi).s : "-");
    html_cell_text(f, ci->ok ? "" : ci->why);
    fputs("</tr>\n", f);
}

static struct units_text frac_text(double frac)
{
    return units_pct(100 * frac);
}

static void latency_rows(FILE *f, const char *what, const struct statistics_latency *l)
{
    static const char *const names[STATISTICS_N_QUANTILES] = {"50 %", "90 %", "99 %", "99.9 %"};
    char name[64];
    for (size_t i = 0; l->n > 0 && i < STATISTICS_N_QUANTILES; i++) {
        snprintf(name, sizeof name, "%s, %s", what, names[i]);
        ci_row(f, name, &l->q[i].ci, ns_text);
    }
}

static void put_steadiness(FILE *f, const struct statistics *s)
{
    struct units_text (*rate)(double) = s->by_objects ? objects_text : units_byte_rate;
    fputs("<ul>\n", f);
    if (s->cut_ns > 0)
        html_element(f, "li", "Warm-up: %s left out.", units_duration(s->cut_ns).s);
    else if (!s->warmup.steady && s->n_segments >= STATS_MIN_SEGMENTS)
        html_element(f, "li", "No steady state was reached.");
    else if (s->warmup.n_cut > 0)
        html_element(f, "li", "Warm-up: the first %s; %s after it.",
                     units_duration((int64_t)s->warmup.n_cut * s->segment_ns).s,
                     rate(s->warmup.mean_rest).s);
    else
        html_element(f, "li", "No warm-up was found.");
    if (s->drift.reported)
        html_element(f, "li", "Drift: %+.1f %% from start to end (p = %.2g).",
                     100 * s->drift.change_frac, s->drift.p);
    for (size_t i = 0; i < s->shifts.n; i++) {
        const struct stats_shift *x = &s->shifts.v[i];
        html_element(f, "li", "Change at %s UTC: from %s to %s.",
                     clock_text(s->start_ns + (int64_t)x->at * s->segment_ns).s, rate(x->before).s,
                     rate(x->after).s);
    }
    html_element(f, "li", "%" PRId64 " threads, busy %.1f %% of the time.", s->concurrency,
                 100 * s->utilisation_frac);
    if (s->hosts.n > 0 && s->hosts.test.ok)
        html_element(f, "li", "Hosts are %s by %s: up to %.1f %% off (p = %.2g), Jain %.4f.",
                     s->hosts.test.reported ? "uneven" : "even",
                     s->hosts.by_latency ? "duration" : "throughput",
                     100 * s->hosts.test.max_deviation_frac, s->hosts.test.p, s->hosts.test.jain);
    for (size_t k = 0; k < s->hosts.n; k++)
        if (s->hosts.v[k].outlier)
            html_element(f, "li", "Outlier: %s (z = %.1f).", s->hosts.v[k].host, s->hosts.v[k].z);
    fputs("</ul>\n", f);
}

static void put_statistics(FILE *f, const struct statistics *s)
{
    static const char *const names[] = {"", "Estimate", "From", "To", ""};
    char caption[96];
    if (s == NULL)
        return;
    snprintf(caption, sizeof caption, "95 %% confidence intervals, from %zu segments of %.32s",
             s->n_segments, units_duration(s->segment_ns).s);
    html_table(f, caption, names, "lrrrl");
    if (s->bytes.present) {
        ci_row(f, "Throughput", &s->bytes.mean, units_byte_rate);
        ci_row(f, "Throughput, median segment", &s->bytes.median, units_byte_rate);
    }
    ci_row(f, "Objects", &s->objects.mean, objects_text);
    if (s->n_failed > 0)
        ci_row(f, "Error rate", &s->error_rate, frac_text);
    latency_rows(f, "Duration", &s->duration);
    latency_rows(f, "Time to first byte", &s->ttfb);
    html_table_end(f);
    put_steadiness(f, s);
}

/* ---- Sections ---- */

void html_run_operation(FILE *f, const struct operation *op)
{
    html_element(f, "p",
                 "%s requests by %" PRId64 " threads, %" PRId64 " client%s, on %" PRId64
                 " host%s; ran %s, from %s to %s UTC.",
                 units_count(op->n_requests).s, op->concurrency, op->n_clients,
                 op->n_clients == 1 ? "" : "s", op->n_hosts, op->n_hosts == 1 ? "" : "s",
                 units_duration(op->end_ns - op->start_ns).s, clock_text(op->start_ns).s,
                 clock_text(op->end_ns).s);
    put_throughput(f, "Throughput", &op->throughput, &op->segments);
    if (op->range_is_short)
        put_throughput(f, "Throughput over the single range", &op->single_throughput,
                       &op->single_segments);
    put_requests(f, &op->requests);
    put_hosts(f, op->hosts, op->n_host_results, &op->requests);
    put_clients(f, op);
    put_errors(f, op);
    put_statistics(f, op->statistics);
}

void html_run_total(FILE *f, const struct cluster_total *t)
{
    put_throughput(f, "Throughput", &t->throughput, &t->segments);
    put_hosts(f, t->hosts, t->n_hosts, NULL);
}
