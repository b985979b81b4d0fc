#include "analyze/render/json/documents.h"

#include "analyze/summary/estimate/confidence.h"
#include "analyze/summary/model/fields.h"
#include "analyze/tools/slo/slo.h"
#include "analyze/write/json.h"

#include <inttypes.h>
#include <math.h>

/* Writes why figures are not known, if there is a reason. */
static void put_why(struct json_out *w, const struct known *k)
{
    if (k->why != NULL)
        JSON_PUT(w, "why", k->why);
}

static void put_total_of_set(struct json_out *w, const struct throughput *t)
{
    const bool has_bytes = known_all(&t->known, THROUGHPUT_BYTES),
               has_objects = known_all(&t->known, THROUGHPUT_OBJECTS),
               has_parts = known_all(&t->known, THROUGHPUT_PARTS),
               has_ended = known_all(&t->known, THROUGHPUT_ENDED);

    json_put_time(w, "start", t->start_ns);
    JSON_PUT(w, "duration_ns", t->duration_ns);
    JSON_PUT_IF(w, "n_bytes", has_bytes, t->n_bytes);
    JSON_PUT_IF(w, "n_objects", has_objects, t->n_objects);
    JSON_PUT_IF(w, "full_ops", has_parts, t->full_ops);
    JSON_PUT_IF(w, "partial_ops", has_parts, t->partial_ops);
    JSON_PUT_IF(w, "ops_ended", has_ended, t->ops_ended);
    JSON_PUT(w, "errors", t->errors);
    JSON_PUT_IF(w, "bytes_per_s", has_bytes, t->bytes_per_s);
    JSON_PUT_IF(w, "objects_per_s", has_objects, t->objects_per_s);
    JSON_PUT_IF(w, "ops_ended_per_s", has_ended, t->ops_ended_per_s);
    put_why(w, &t->known);
}

static void put_throughput(struct json_out *w, const struct throughput *t)
{
    if (!json_out_open(w, "throughput", t->present))
        return;
    put_total_of_set(w, t);
    json_out_end(w);
}

/* Writes the throughput over the time of all requests, where it is another time. */
static void put_judged(struct json_out *w, const struct throughput *judged,
                       const struct throughput *t)
{
    if (!json_out_open(w, "judged", throughput_differs(t, judged)))
        return;
    put_total_of_set(w, judged);
    json_out_end(w);
}

static void put_pick(struct json_out *w, const char *key, const struct segment_pick *p)
{
    json_out_object(w, key);
    json_put_time(w, "start", p->start_ns);
    JSON_MEMBERS(w, p, bytes_per_s, objects_per_s);
    json_out_end(w);
}

static void put_segments(struct json_out *w, const struct segments *s)
{
    if (!json_out_open(w, "segments", s->present))
        return;
    JSON_MEMBERS(w, s, duration_ns, n);
    JSON_PUT(w, "sorted_by", s->by_objects ? "objects_per_s" : "bytes_per_s");
    put_pick(w, "fastest", &s->fastest);
    put_pick(w, "median", &s->median);
    put_pick(w, "slowest", &s->slowest);
    if (s->which != NULL) {
        put_pick(w, "mean", &s->mean);
        JSON_MEMBERS(w, s, which, with_failed);
    }
    json_out_end(w);
}

static void put_fields(struct json_out *w, const struct field *const *list, const void *group)
{
    for (; *list != NULL; list++)
        if (!field_is_known(*list, group))
            json_put_null(w, (*list)->json);
        else if ((*list)->is_real)
            json_put_real(w, (*list)->json, field_real(*list, group));
        else
            json_put_integer(w, (*list)->json, field_integer(*list, group));
}

static void put_ttfb(struct json_out *w, const struct times *t)
{
    if (!json_out_open(w, "ttfb", t->present))
        return;
    put_fields(w, times_ttfb_json, t);
    json_out_end(w);
}

static void put_durations(struct json_out *w, const struct durations *d)
{
    put_fields(w, times_json, &d->dur);
    put_ttfb(w, &d->ttfb);
}

static void put_durations_as(struct json_out *w, const char *key, const struct durations *d)
{
    if (!json_out_open(w, key, d->dur.present))
        return;
    put_durations(w, d);
    json_out_end(w);
}

static void put_sized(struct json_out *w, const struct sized *s)
{
    put_fields(w, sized_fields, s);
    put_ttfb(w, &s->ttfb);
}

static void put_size(struct json_out *w, const struct size_bucket *b)
{
    JSON_PUT(w, "min_bytes", b->min_bytes);
    JSON_PUT_IF(w, "max_bytes", b->max_bytes >= 0, b->max_bytes);
    put_sized(w, &b->all);
    if (json_out_open(w, "duration", b->dur.present)) {
        put_fields(w, times_json, &b->dur);
        json_out_end(w);
    }
    if (json_out_open(w, "first_access", b->first_access.present)) {
        put_sized(w, &b->first_access);
        json_out_end(w);
    }
}

static void put_bounds(struct json_out *w, const char *key, const struct group_range *r)
{
    json_put_pair(w, key, r->least_ns, r->most_ns);
}

/* Writes the figures of 10 seconds and one client each, which are not those of the run, and the
 * bounds of the run that follow. */
static void put_groups(struct json_out *w, const struct request_groups *x)
{
    if (x->n == 0)
        return;
    put_bounds(w, "p50_of_groups_ns", &x->p50);
    put_bounds(w, "p90_of_groups_ns", &x->p90);
    put_bounds(w, "p99_of_groups_ns", &x->p99);
    put_bounds(w, "p50_bounds_ns", &x->bounds[0]);
    put_bounds(w, "p90_bounds_ns", &x->bounds[1]);
    put_bounds(w, "p99_bounds_ns", &x->bounds[2]);
    JSON_OBJECTS(w, "groups", i, x->n) {
        const struct request_group *g = &x->v[i];
        JSON_PUT(w, "client", x->clients[g->client]);
        json_put_time_if(w, "start", g->start_ns != REQUEST_NO_TIME, g->start_ns);
        JSON_MEMBERS(w, g, n_requests, object_bytes, mean_ms, stddev_ms, min_ms, p50_ms, p90_ms,
                     p99_ms, max_ms);
        if (json_out_open(w, "ttfb", g->has_ttfb)) {
            JSON_MEMBERS(w, g, ttfb_mean_ms, ttfb_min_ms, ttfb_p50_ms, ttfb_p90_ms, ttfb_p99_ms,
                         ttfb_max_ms);
            json_out_end(w);
        }
    }
}

static void put_host_requests(struct json_out *w, const struct requests *r)
{
    JSON_OBJECTS(w, "hosts", i, r->n_hosts) {
        JSON_PUT(w, "host", r->hosts[i].host);
        if (r->single_size)
            put_durations(w, &r->hosts[i].single);
        else
            put_sized(w, &r->hosts[i].sized);
    }
}

static void put_requests(struct json_out *w, const struct requests *r)
{
    if (!json_out_open(w, "requests", r->present))
        return;
    if (r->single_size) {
        put_durations(w, &r->all);
        JSON_PUT(w, "object_size_bytes", r->object_size_bytes);
        put_durations_as(w, "first_access", &r->first_access);
        put_durations_as(w, "last_access", &r->last_access);
    } else {
        JSON_MEMBERS(w, r, n, mean_bytes);
        put_durations_as(w, "all_sizes", &r->all);
        JSON_OBJECTS(w, "sizes", i, r->n_sizes)
            put_size(w, &r->sizes[i]);
    }
    put_host_requests(w, r);
    put_groups(w, &r->groups);
    put_why(w, &r->all.dur.known);
    JSON_PUT(w, "single_size", r->single_size);
    put_durations_as(w, "response_time", &r->response_time);
    json_out_end(w);
}

static void put_hosts(struct json_out *w, const struct host_result *hosts, size_t n)
{
    JSON_OBJECTS(w, "hosts", i, n) {
        JSON_MEMBERS(w, &hosts[i], host, n_requests, n_errors);
        put_throughput(w, &hosts[i].throughput);
        put_segments(w, &hosts[i].segments);
    }
}

static void put_clients(struct json_out *w, const struct operation *op)
{
    JSON_OBJECTS(w, "clients", i, op->n_client_results) {
        const struct client_result *c = &op->clients[i];
        JSON_PUT(w, "client", c->result.host);
        JSON_MEMBERS(w, &c->result, n_requests, n_errors);
        JSON_PUT(w, "n_bytes", c->n_bytes);
        bool is_timed = known_all(&c->known, CLIENT_TIMES);
        json_put_time_if(w, "first_start", is_timed, c->first_start_ns);
        json_put_time_if(w, "last_end", is_timed, c->last_end_ns);
        put_throughput(w, &c->result.throughput);
        put_segments(w, &c->result.segments);
        put_durations_as(w, "requests", &op->client_requests[i]);
    }
}

static void put_occurrences(struct json_out *w, int64_t count, bool is_timed, int64_t first_ns,
                            int64_t last_ns)
{
    JSON_PUT(w, "count", count);
    json_put_time_if(w, "first", is_timed, first_ns);
    json_put_time_if(w, "last", is_timed, last_ns);
}

static void put_errors(struct json_out *w, const struct operation *op)
{
    JSON_OBJECTS(w, "errors", i, op->n_error_groups) {
        const struct error_group *g = &op->errors[i];
        JSON_PUT(w, "message", g->message);
        put_occurrences(w, g->count, known_all(&g->known, ERROR_TIMES), g->first_ns, g->last_ns);
        JSON_OBJECTS(w, "hosts", k, g->n_hosts) {
            const struct error_host *h = &g->hosts[k];
            JSON_PUT(w, "host", h->host);
            put_occurrences(w, h->count, true, h->first_ns, h->last_ns);
        }
    }
}

static void put_range(struct json_out *w, const struct span *s)
{
    if (!json_out_open(w, "range", s->present))
        return;
    json_put_time(w, "start", s->start_ns);
    json_put_time(w, "end", s->end_ns);
    json_out_end(w);
}

static void put_outside(struct json_out *w, const struct outside *s, bool is_known)
{
    if (!json_out_open(w, "outside", is_known))
        return;
    JSON_MEMBERS(w, s, n, n_bytes);
    JSON_PUT(w, "before", s->before_bytes);
    JSON_PUT(w, "after", s->after_bytes);
    JSON_MEMBERS(w, s, before_bytes, after_bytes);
    JSON_MEMBERS(w, s, n_before, n_after);
    json_out_end(w);
}

/* Writes the single range's figures, if the all-threads range keeps little of the run. */
static void put_single_range(struct json_out *w, const struct operation *op)
{
    if (!json_out_open(w, "single_range", op->range_is_short))
        return;
    put_throughput(w, &op->single_throughput);
    put_segments(w, &op->single_segments);
    JSON_PUT(w, "n_slow_threads", op->n_slow_threads);
    JSON_OBJECTS(w, "threads", i, operation_n_slow_listed(op)) {
        const struct slow_thread *t = &op->slow_threads[i];
        JSON_PUT(w, "thread", t->thread);
        json_put_time(w, "first_end", t->first_end_ns);
        json_put_time(w, "last_start", t->last_start_ns);
    }
    json_out_end(w);
}

/* Writes the coverage, if requests succeeded for under 90 % of the time in which they ran. */
static void put_coverage(struct json_out *w, const struct coverage *c)
{
    if (!json_out_open(w, "coverage", coverage_is_short(c)))
        return;
    json_put_time(w, "start", c->start_ns);
    json_put_time(w, "end", c->end_ns);
    json_put_time(w, "ok_start", c->ok_start_ns);
    json_put_time(w, "ok_end", c->ok_end_ns);
    JSON_MEMBERS(w, c, within_ns, n_bytes, n_objects, n_after);
    json_out_end(w);
}

/* ---- Statistics ---- */

static const char *const quantile_keys[STATISTICS_N_QUANTILES] = {"p50_ns", "p90_ns", "p99_ns",
                                                                  "p99_9_ns"};

/* Writes the members value lo hi lo90 hi90 se df why. Unknown numbers are null; why is null if the
 * limits hold. */
static void put_limits(struct json_out *w, const struct stats_ci *ci)
{
    JSON_PUT(w, "value", ci->value);
    JSON_PUT_IF(w, "lo", ci->ok, ci->lo);
    JSON_PUT_IF(w, "hi", ci->ok, ci->hi);
    JSON_PUT_IF(w, "lo90", ci->ok, ci->lo90);
    JSON_PUT_IF(w, "hi90", ci->ok, ci->hi90);
    JSON_MEMBERS(w, ci, se, df);
    JSON_PUT_IF(w, "why", !ci->ok, ci->why);
}

static void put_interval(struct json_out *w, const char *key, const struct stats_ci *ci)
{
    json_out_object(w, key);
    put_limits(w, ci);
    json_out_end(w);
}

/* Writes how far an interval can be relied on. */
static void put_doubt(struct json_out *w, const struct statistics *s, const struct stats_ci *ci)
{
    const char *doubt = statistics_doubt(s, ci);

    JSON_PUT(w, "n_stretches", ci->stretches);
    JSON_PUT_IF(w, "unreliable", *doubt != '\0', doubt);
}

static void put_rate(struct json_out *w, const char *key, const struct statistics *s,
                     const struct statistics_rate *r)
{
    if (!json_out_open(w, key, r->present))
        return;
    put_interval(w, "mean", &r->mean);
    put_interval(w, "median_segment", &r->median);
    put_doubt(w, s, &r->mean);
    json_out_end(w);
}

static void put_latency(struct json_out *w, const char *key, const struct statistics *s,
                        const struct statistics_latency *l)
{
    if (!json_out_open(w, key, l->times.present))
        return;
    JSON_PUT(w, "n", l->times.n);
    for (size_t i = 0; i < STATISTICS_N_QUANTILES; i++) {
        json_out_object(w, quantile_keys[i]);
        put_limits(w, &l->q[i].ci);
        JSON_MEMBERS(w, &l->q[i], deff, n_e);
        put_doubt(w, s, &l->q[i].ci);
        json_out_end(w);
    }
    json_out_end(w);
}

static void put_co(struct json_out *w, const struct statistics_co *c)
{
    if (!json_out_open(w, "co", c->interval_ns != 0))
        return;
    JSON_PUT(w, "interval_ns", c->interval_ns);
    JSON_PUT(w, "n", c->n <= INT64_MAX ? c->n : INT64_MAX);
    for (size_t i = 0; i < STATISTICS_N_QUANTILES; i++)
        JSON_PUT(w, quantile_keys[i], c->q_ns[i]);
    json_out_end(w);
}

static void put_statistics(struct json_out *w, const struct statistics *s)
{
    if (!json_out_open(w, "statistics", s != NULL))
        return;
    json_put_time(w, "start", s->start_ns);
    JSON_MEMBERS(w, s, duration_ns, segment_ns, n_segments, n_requests, n_failed);
    put_rate(w, "bytes_per_s", s, &s->bytes);
    put_rate(w, "objects_per_s", s, &s->objects);
    put_interval(w, "error_rate_frac", &s->error_rate);
    json_out_value(w, "latency_of",
                   json_sprintf("service time, closed loop, %" PRId64 " thread%s", s->concurrency,
                                s->concurrency == 1 ? "" : "s"));
    put_latency(w, "duration", s, &s->duration);
    put_latency(w, "ttfb", s, &s->ttfb);
    json_out_object(w, "warm_up");
    JSON_PUT(w, "cut_ns", s->cut_ns);
    json_out_end(w);
    JSON_PUT(w, "utilisation_frac", s->utilisation_frac);
    put_co(w, &s->co);
    json_out_end(w);
}

/* ---- The document ---- */

static void put_operation(struct json_out *w, const struct operation *op)
{
    JSON_MEMBERS(w, op, op, n_requests);
    if (op->n_requests == 0) {
        JSON_PUT(w, "skipped", op->skipped);
        put_single_range(w, op);
        return;
    }
    JSON_MEMBERS(w, op, n_errors, n_objects, n_bytes, objects_per_op, concurrency, n_hosts,
                 n_clients);
    json_put_time(w, "start", op->start_ns);
    json_put_time(w, "end", op->end_ns);
    JSON_PUT(w, "skipped", op->skipped);
    put_range(w, &op->range);
    put_throughput(w, &op->throughput);
    put_judged(w, &op->judged, &op->throughput);
    put_coverage(w, &op->coverage);
    put_segments(w, &op->segments);
    put_outside(w, &op->outside, op->segments.which == NULL);
    put_single_range(w, op);
    put_hosts(w, op->hosts, op->n_host_results);
    put_clients(w, op);
    put_requests(w, &op->requests);
    put_errors(w, op);
    put_statistics(w, op->statistics);
}

static void put_total(struct json_out *w, const struct cluster_total *t)
{
    if (!json_out_open(w, "total", t->present && t->throughput.present))
        return;
    put_total_of_set(w, &t->throughput);
    put_judged(w, &t->judged, &t->throughput);
    put_segments(w, &t->segments);
    put_hosts(w, t->hosts, t->n_hosts);
    json_out_end(w);
}

static void put_recorded(struct json_out *w, const struct recorded *r)
{
    if (!json_out_open(w, "recorded", r->n_runs > 0 || r->n_closed > 0))
        return;
    JSON_MEMBERS(w, r, n_runs, n_closed, n_failed, n_interrupted, n_client_bound, n_requests,
                 n_connects, n_not_begun, n_resent, max_thread_cpu_pct);
    JSON_MEMBERS(w, r, n_no_benchmark);
    if (r->n_ranks > 0)
        JSON_MEMBERS(w, r, n_ranks, clock_error_ns);
    JSON_PUT_IF(w, "error", r->n_failed > 0, r->error);
    json_out_end(w);
}

static void put_imported(struct json_out *w, const struct recorded_imports *m)
{
    if (!json_out_open(w, "imported", m->n > 0))
        return;
    JSON_MEMBERS(w, m, from, absent);
    JSON_PUT(w, "start_resolution_ns", m->start_ns);
    JSON_PUT(w, "duration_resolution_ns", m->duration_ns);
    JSON_PUT(w, "cut", m->is_cut);
    json_out_end(w);
}

static void put_input(struct json_out *w, const struct dataset_input *in)
{
    bool has_rows = in->first_start_ns <= in->last_end_ns;
    JSON_PUT(w, "path", in->path);
    JSON_PUT(w, "generation", recfile_generation(&in->info));
    JSON_PUT(w, "n_rows", in->n_rows);
    JSON_PUT(w, "n_dropped", recfile_n_dropped(&in->info));
    JSON_PUT(w, "n_unverified", in->info.n_unverified);
    json_put_time_if(w, "first_start", has_rows, in->first_start_ns);
    json_put_time_if(w, "last_end", has_rows, in->last_end_ns);
    json_capture_dropped(w, &in->info);
    put_recorded(w, &in->recorded);
    put_imported(w, &in->recorded.imports);
}

/* Writes the answers to assertions; nothing without them. */
static void put_slo(struct json_out *w, const struct slo_report *r)
{
    if (r == NULL)
        return;
    static const char *const units[] = {[SLO_TIME] = "ns",
                                        [SLO_TTFB] = "ns",
                                        [SLO_ERRORS] = "frac",
                                        [SLO_THROUGHPUT] = "bytes_per_s",
                                        [SLO_RATE] = "requests_per_s",
                                        [SLO_MEAN] = "ns"};

    json_out_object(w, "slo");
    JSON_PUT(w, "verdict", slo_verdict_names[slo_verdict(r)]);
    JSON_OBJECTS(w, "assertions", i, r->n) {
        const struct slo_answer *a = &r->v[i];

        JSON_PUT_IF(w, "op", *a->op != '\0', a->op);
        JSON_PUT(w, "assertion", a->of->text);
        JSON_PUT(w, "of_response_time", a->of_response);
        JSON_PUT(w, "verdict", slo_verdict_names[a->verdict]);
        JSON_PUT(w, "limit", a->of->limit);
        JSON_PUT(w, "unit", units[a->of->figure]);
        const struct slo_measure *m = &a->measure;
        bool is_exact = m->below + m->above == 0;
        JSON_PUT_IF(w, "value", is_exact, m->value);
        if (!is_exact)
            json_put_pair(w, "value_bounds_ns", m->value - m->below, m->value + m->above);
        JSON_PUT(w, "lo", a->measure.lo);
        JSON_PUT(w, "hi", a->measure.hi);
        JSON_PUT_IF(w, "times_as_wide", a->measure.known, a->measure.guard);
        JSON_PUT(w, "n_requests", a->measure.n);
        JSON_PUT_IF(w, "n_more", a->n_more > 0, a->n_more);
        JSON_PUT_IF(w, "why", *a->measure.why != '\0', a->measure.why);
    }
    json_out_end(w);
}

bool report_json(const struct analysis *a, FILE *f, struct err *e)
{
    struct json_out w;

    json_out_begin(&w, f, "s3analyze/analysis/1");
    put_slo(&w, a->slo);
    JSON_PUT(&w, "n_rows", a->n_rows);
    json_out_object(&w, "left_out");
    if (a->left_out.by_size > 0)
        JSON_PUT(&w, "by_size", a->left_out.by_size);
    JSON_MEMBERS(&w, &a->left_out, by_times, by_warm_up, by_range);
    json_out_end(&w);
    JSON_PUT(&w, "mixed", a->mixed);
    JSON_PUT(&w, "range", analysis_range_names[a->range]);
    JSON_OBJECTS(&w, "inputs", i, a->dataset->n_inputs)
        put_input(&w, &a->dataset->inputs[i]);
    JSON_OBJECTS(&w, "warnings", i, a->notes.n)
        JSON_MEMBERS(&w, &a->notes.v[i], code, op, message);
    findings_json_put(&w, &a->findings);
    JSON_OBJECTS(&w, "operations", i, a->n_operations)
        put_operation(&w, &a->operations[i]);
    put_total(&w, &a->total);
    if (a->together.present) {
        json_out_object(&w, "all_clients");
        JSON_MEMBERS(&w, &a->together, n_seconds, bytes_per_s, objects_per_s);
        json_out_end(&w);
    }
    return json_out_finish(&w, e);
}
