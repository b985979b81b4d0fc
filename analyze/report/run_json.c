#include "analyze/report/run_json.h"

#include "analyze/report/findings_json.h"
#include "analyze/report/json_capture.h"
#include "analyze/report/json_statistics.h"
#include "analyze/write/json.h"

static void set_throughput(struct json_out *w, json_t *o, const struct throughput *t)
{
    json_out_set(w, o, "start", json_out_time(t->start_ns));
    json_out_set_int(w, o, "duration_ns", t->duration_ns);
    json_out_set_int(w, o, "n_bytes", t->n_bytes);
    json_out_set_real(w, o, "n_objects", t->n_objects);
    json_out_set_int(w, o, "full_ops", t->full_ops);
    json_out_set_int(w, o, "partial_ops", t->partial_ops);
    json_out_set_int(w, o, "ops_ended", t->ops_ended);
    json_out_set_int(w, o, "errors", t->errors);
    json_out_set_real(w, o, "bytes_per_s", t->bytes_per_s);
    json_out_set_real(w, o, "objects_per_s", t->objects_per_s);
    json_out_set_real(w, o, "ops_ended_per_s", t->ops_ended_per_s);
}

static json_t *throughput(struct json_out *w, const struct throughput *t)
{
    if (!t->present)
        return json_null();
    json_t *o = json_object();
    set_throughput(w, o, t);
    return o;
}

static json_t *segment_pick(struct json_out *w, const struct segment_pick *p)
{
    json_t *o = json_object();
    json_out_set(w, o, "start", json_out_time(p->start_ns));
    json_out_set_real(w, o, "bytes_per_s", p->bytes_per_s);
    json_out_set_real(w, o, "objects_per_s", p->objects_per_s);
    return o;
}

static json_t *segments(struct json_out *w, const struct segments *s)
{
    if (!s->present)
        return json_null();
    json_t *o = json_object();
    json_out_set_int(w, o, "duration_ns", s->duration_ns);
    json_out_set_int(w, o, "n", s->n);
    json_out_set(w, o, "sorted_by", json_string(s->by_objects ? "objects_per_s" : "bytes_per_s"));
    json_out_set(w, o, "fastest", segment_pick(w, &s->fastest));
    json_out_set(w, o, "median", segment_pick(w, &s->median));
    json_out_set(w, o, "slowest", segment_pick(w, &s->slowest));
    return o;
}

static json_t *ttfb(struct json_out *w, const struct ttfb *t)
{
    if (!t->present)
        return json_null();
    json_t *o = json_object();
    json_out_set_int(w, o, "n", t->n);
    json_out_set_real(w, o, "mean_ns", t->mean_ns);
    json_out_set_real(w, o, "stddev_ns", t->stddev_ns);
    json_out_set_int(w, o, "best_ns", t->best_ns);
    json_out_set_int(w, o, "p25_ns", t->p25_ns);
    json_out_set_int(w, o, "p50_ns", t->p50_ns);
    json_out_set_int(w, o, "p75_ns", t->p75_ns);
    json_out_set_int(w, o, "p90_ns", t->p90_ns);
    json_out_set_int(w, o, "p99_ns", t->p99_ns);
    json_out_set_int(w, o, "worst_ns", t->worst_ns);
    return o;
}

static void set_durations(struct json_out *w, json_t *o, const struct durations *d)
{
    json_out_set_int(w, o, "n", d->n);
    json_out_set_real(w, o, "mean_ns", d->mean_ns);
    json_out_set_real(w, o, "stddev_ns", d->stddev_ns);
    json_out_set_int(w, o, "p50_ns", d->p50_ns);
    json_out_set_int(w, o, "p90_ns", d->p90_ns);
    json_out_set_int(w, o, "p99_ns", d->p99_ns);
    json_out_set_int(w, o, "fastest_ns", d->fastest_ns);
    json_out_set_int(w, o, "slowest_ns", d->slowest_ns);
    json_out_set(w, o, "ttfb", ttfb(w, &d->ttfb));
}

static json_t *durations(struct json_out *w, const struct durations *d)
{
    if (!d->present)
        return json_null();
    json_t *o = json_object();
    set_durations(w, o, d);
    return o;
}

static void set_rate(struct json_out *w, json_t *o, const char *key, const struct sized *s,
                     double value)
{
    json_out_set(w, o, key, s->rated ? json_out_real(value) : json_null());
}

static void set_sized(struct json_out *w, json_t *o, const struct sized *s)
{
    json_out_set_int(w, o, "n", s->n);
    json_out_set_int(w, o, "n_unrated", s->n_unrated);
    json_out_set_real(w, o, "mean_bytes", s->mean_bytes);
    json_out_set_real(w, o, "mean_ns", s->mean_ns);
    set_rate(w, o, "mean_bytes_per_s", s, s->mean_bytes_per_s);
    set_rate(w, o, "p50_bytes_per_s", s, s->p50_bytes_per_s);
    set_rate(w, o, "p90_bytes_per_s", s, s->p90_bytes_per_s);
    set_rate(w, o, "p99_bytes_per_s", s, s->p99_bytes_per_s);
    set_rate(w, o, "fastest_bytes_per_s", s, s->fastest_bytes_per_s);
    set_rate(w, o, "slowest_bytes_per_s", s, s->slowest_bytes_per_s);
    json_out_set(w, o, "ttfb", ttfb(w, &s->ttfb));
}

static json_t *size_bucket(struct json_out *w, const struct size_bucket *b)
{
    json_t *o = json_object();
    json_out_set_int(w, o, "min_bytes", b->min_bytes);
    json_out_set(w, o, "max_bytes", b->max_bytes < 0 ? json_null() : json_integer(b->max_bytes));
    set_sized(w, o, &b->all);
    json_t *first = json_null();
    if (b->first_access.present) {
        first = json_object();
        set_sized(w, first, &b->first_access);
    }
    json_out_set(w, o, "first_access", first);
    return o;
}

static void put_host_requests(struct json_out *w, const struct requests *r)
{
    json_out_array(w, "hosts");
    for (size_t i = 0; i < r->n_hosts; i++) {
        const struct host_requests *h = &r->hosts[i];
        json_t *o = json_object();
        json_out_set(w, o, "host", json_out_text(h->host));
        if (r->single_size)
            set_durations(w, o, &h->single);
        else
            set_sized(w, o, &h->sized);
        json_out_value(w, NULL, o);
    }
    json_out_end(w);
}

static void put_requests(struct json_out *w, const struct requests *r)
{
    if (!r->present) {
        json_out_value(w, "requests", json_null());
        return;
    }
    json_out_object(w, "requests");
    if (r->single_size) {
        json_t *o = json_object();
        set_durations(w, o, &r->all);
        json_out_members(w, o);
        json_out_value(w, "object_size_bytes", json_integer(r->object_size_bytes));
        json_out_value(w, "first_access", durations(w, &r->first_access));
        json_out_value(w, "last_access", durations(w, &r->last_access));
    } else {
        json_out_value(w, "n", json_integer(r->n));
        json_out_value(w, "mean_bytes", json_out_real(r->mean_bytes));
        json_out_array(w, "sizes");
        for (size_t i = 0; i < r->n_sizes; i++)
            json_out_value(w, NULL, size_bucket(w, &r->sizes[i]));
        json_out_end(w);
    }
    put_host_requests(w, r);
    json_out_value(w, "single_size", json_boolean(r->single_size));
    json_out_value(w, "response_time", durations(w, &r->response_time));
    json_out_end(w);
}

static void put_hosts(struct json_out *w, const struct host_result *hosts, size_t n)
{
    json_out_array(w, "hosts");
    for (size_t i = 0; i < n; i++) {
        json_t *o = json_object();
        json_out_set(w, o, "host", json_out_text(hosts[i].host));
        json_out_set_int(w, o, "n_requests", hosts[i].n_requests);
        json_out_set_int(w, o, "n_errors", hosts[i].n_errors);
        json_out_set(w, o, "throughput", throughput(w, &hosts[i].throughput));
        json_out_set(w, o, "segments", segments(w, &hosts[i].segments));
        json_out_value(w, NULL, o);
    }
    json_out_end(w);
}

static void put_clients(struct json_out *w, const struct operation *op)
{
    json_out_array(w, "clients");
    for (size_t i = 0; i < op->n_client_results; i++) {
        const struct client_result *c = &op->clients[i];
        json_t *o = json_object();
        json_out_set(w, o, "client", json_out_text(c->client));
        json_out_set_int(w, o, "n_requests", c->n_requests);
        json_out_set_int(w, o, "n_errors", c->n_errors);
        json_out_set_int(w, o, "n_bytes", c->n_bytes);
        json_out_set(w, o, "first_start", json_out_time(c->first_start_ns));
        json_out_set(w, o, "last_end", json_out_time(c->last_end_ns));
        json_out_set(w, o, "throughput", throughput(w, &c->throughput));
        json_out_set(w, o, "segments", segments(w, &c->segments));
        json_out_set(w, o, "requests", durations(w, &c->requests));
        json_out_value(w, NULL, o);
    }
    json_out_end(w);
}

static void put_errors(struct json_out *w, const struct operation *op)
{
    json_out_array(w, "errors");
    for (size_t i = 0; i < op->n_error_groups; i++) {
        const struct error_group *g = &op->errors[i];
        json_out_object(w, NULL);
        json_out_value(w, "message", json_out_text(g->message));
        json_out_value(w, "count", json_integer(g->count));
        json_out_value(w, "first", json_out_time(g->first_ns));
        json_out_value(w, "last", json_out_time(g->last_ns));
        json_out_array(w, "hosts");
        for (size_t k = 0; k < g->n_hosts; k++) {
            json_t *o = json_object();
            json_out_set(w, o, "host", json_out_text(g->hosts[k].host));
            json_out_set_int(w, o, "count", g->hosts[k].count);
            json_out_set(w, o, "first", json_out_time(g->hosts[k].first_ns));
            json_out_set(w, o, "last", json_out_time(g->hosts[k].last_ns));
            json_out_value(w, NULL, o);
        }
        json_out_end(w);
        json_out_end(w);
    }
    json_out_end(w);
}

static json_t *span(struct json_out *w, const struct span *s)
{
    if (!s->present)
        return json_null();
    json_t *o = json_object();
    json_out_set(w, o, "start", json_out_time(s->start_ns));
    json_out_set(w, o, "end", json_out_time(s->end_ns));
    return o;
}

static json_t *outside(struct json_out *w, const struct outside *s)
{
    json_t *o = json_object();
    json_out_set_int(w, o, "n", s->n);
    json_out_set_int(w, o, "n_bytes", s->n_bytes);
    json_out_set_int(w, o, "before", s->before_bytes);
    json_out_set_int(w, o, "after", s->after_bytes);
    json_out_set_int(w, o, "n_before", s->n_before);
    json_out_set_int(w, o, "n_after", s->n_after);
    return o;
}

/* What the single range would give, where the all-threads range keeps little of the run. */
static json_t *single_range(struct json_out *w, const struct operation *op)
{
    if (!op->range_is_short)
        return json_null();
    json_t *o = json_object();
    json_t *threads = json_array();
    json_out_set(w, o, "throughput", throughput(w, &op->single_throughput));
    json_out_set(w, o, "segments", segments(w, &op->single_segments));
    for (size_t i = 0; i < operation_n_slow_listed(op); i++) {
        const struct slow_thread *t = &op->slow_threads[i];
        json_t *thread = json_object();
        json_out_set_int(w, thread, "thread", t->thread);
        json_out_set(w, thread, "first_end", json_out_time(t->first_end_ns));
        json_out_set(w, thread, "last_start", json_out_time(t->last_start_ns));
        json_out_append(w, threads, thread);
    }
    json_out_set_int(w, o, "n_slow_threads", (int64_t)op->n_slow_threads);
    json_out_set(w, o, "threads", threads);
    return o;
}

static void put_operation(struct json_out *w, const struct operation *op)
{
    json_out_object(w, NULL);
    json_out_value(w, "op", json_out_text(op->op));
    json_out_value(w, "n_requests", json_integer(op->n_requests));
    if (op->n_requests == 0) {
        json_out_value(w, "skipped", json_out_text(op->skipped));
        json_out_value(w, "single_range", single_range(w, op));
        json_out_end(w);
        return;
    }
    json_out_value(w, "n_errors", json_integer(op->n_errors));
    json_out_value(w, "n_objects", json_integer(op->n_objects));
    json_out_value(w, "n_bytes", json_integer(op->n_bytes));
    json_out_value(w, "objects_per_op", json_integer(op->objects_per_op));
    json_out_value(w, "concurrency", json_integer(op->concurrency));
    json_out_value(w, "n_hosts", json_integer(op->n_hosts));
    json_out_value(w, "n_clients", json_integer(op->n_clients));
    json_out_value(w, "start", json_out_time(op->start_ns));
    json_out_value(w, "end", json_out_time(op->end_ns));
    json_out_value(w, "skipped", json_out_text(op->skipped));
    json_out_value(w, "range", span(w, &op->range));
    json_out_value(w, "throughput", throughput(w, &op->throughput));
    json_out_value(w, "segments", segments(w, &op->segments));
    json_out_value(w, "outside", outside(w, &op->outside));
    json_out_value(w, "single_range", single_range(w, op));
    put_hosts(w, op->hosts, op->n_host_results);
    put_clients(w, op);
    put_requests(w, &op->requests);
    put_errors(w, op);
    json_statistics_put(w, op->statistics);
    json_out_end(w);
}

static void put_total(struct json_out *w, const struct cluster_total *t)
{
    if (!t->present || !t->throughput.present) {
        json_out_value(w, "total", json_null());
        return;
    }
    json_t *o = json_object();
    set_throughput(w, o, &t->throughput);
    json_out_object(w, "total");
    json_out_members(w, o);
    json_out_value(w, "segments", segments(w, &t->segments));
    put_hosts(w, t->hosts, t->n_hosts);
    json_out_end(w);
}

static json_t *recorded(struct json_out *w, const struct recorded *r)
{
    if (r->n_runs == 0 && r->n_closed == 0)
        return json_null();
    json_t *o = json_object();
    json_out_set_int(w, o, "n_runs", (int64_t)r->n_runs);
    json_out_set_int(w, o, "n_closed", (int64_t)r->n_closed);
    json_out_set_int(w, o, "n_failed", (int64_t)r->n_failed);
    json_out_set_int(w, o, "n_client_bound", (int64_t)r->n_client_bound);
    json_out_set_int(w, o, "n_requests", r->n_requests);
    json_out_set_int(w, o, "n_connects", r->n_connects);
    json_out_set_int(w, o, "n_not_begun", r->n_not_begun);
    json_out_set_int(w, o, "n_resent", r->n_resent);
    json_out_set_real(w, o, "max_thread_cpu_pct", r->max_thread_cpu_pct);
    json_out_set(w, o, "error", r->n_failed > 0 ? json_out_text(r->error) : json_null());
    return o;
}

static json_t *input(struct json_out *w, const struct dataset_input *in)
{
    bool has_rows = in->first_start_ns <= in->last_end_ns;
    json_t *o = json_object();
    json_out_set(w, o, "path", json_out_text(in->path));
    json_out_set(w, o, "generation", json_sprintf("g%d", in->info.generation));
    json_out_set_int(w, o, "n_rows", (int64_t)in->n_rows);
    json_out_set_int(w, o, "n_dropped", (int64_t)recfile_n_dropped(&in->info));
    json_out_set_int(w, o, "n_unverified", (int64_t)in->info.n_unverified);
    json_out_set(w, o, "first_start", has_rows ? json_out_time(in->first_start_ns) : json_null());
    json_out_set(w, o, "last_end", has_rows ? json_out_time(in->last_end_ns) : json_null());
    json_out_set(w, o, "dropped", json_capture_dropped(w, &in->info));
    json_out_set(w, o, "recorded", recorded(w, &in->recorded));
    return o;
}

static json_t *warning(struct json_out *w, const struct warning *x)
{
    json_t *o = json_object();
    json_t *figures = json_object();
    json_out_set(w, o, "code", json_out_text(x->code));
    json_out_set(w, o, "op", json_out_text(x->op));
    json_out_set(w, o, "message", json_out_text(x->message));
    json_out_set(w, o, "figures", figures);
    for (size_t i = 0; i < x->n_figures; i++)
        json_out_set_real(w, figures, x->figures[i].name, x->figures[i].value);
    return o;
}

static const char *range_name(enum range_kind kind)
{
    switch (kind) {
    case RANGE_ALL:
        return "all";
    case RANGE_SINGLE:
        return "single";
    case RANGE_FULL:
        return "full";
    case RANGE_AUTO:
        break;
    }
    return "auto";
}

bool report_json(const struct analysis *a, FILE *f, struct err *e)
{
    struct json_out w;
    json_out_init(&w, f);
    json_out_object(&w, NULL);
    json_out_value(&w, "schema", json_string("s3analyze/analysis/1"));
    json_out_value(&w, "n_rows", json_integer(a->n_rows));
    json_out_value(&w, "left_out",
                   json_pack("{s:I,s:I,s:I}", "by_times", (json_int_t)a->left_out.by_times,
                             "by_warm_up", (json_int_t)a->left_out.by_warm_up, "by_range",
                             (json_int_t)a->left_out.by_range));
    json_out_value(&w, "mixed", json_boolean(a->mixed));
    json_out_value(&w, "range", json_string(range_name(a->range)));
    json_out_array(&w, "inputs");
    for (size_t i = 0; i < a->dataset->n_inputs; i++)
        json_out_value(&w, NULL, input(&w, &a->dataset->inputs[i]));
    json_out_end(&w);
    json_out_array(&w, "warnings");
    for (size_t i = 0; i < a->n_warnings; i++)
        json_out_value(&w, NULL, warning(&w, &a->warnings[i]));
    json_out_end(&w);
    findings_json_put(&w, &a->findings);
    json_out_array(&w, "operations");
    for (size_t i = 0; i < a->n_operations; i++)
        put_operation(&w, &a->operations[i]);
    json_out_end(&w);
    put_total(&w, &a->total);
    json_out_end(&w);
    return json_out_finish(&w, e);
}
