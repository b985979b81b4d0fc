#include "analyze/report/aggregate_json.h"

#include "analyze/report/findings_json.h"

#include <math.h>
#include <string.h>

#define SCHEMA   "s3analyze/aggregate-exact/1"
#define NS_PER_S INT64_C(1000000000)

/* A number without a fraction is an integer, as in the file; NaN is null. */
static json_t *number(double value)
{
    if (isfinite(value) && value == floor(value) && fabs(value) < 0x1p63)
        return json_integer((json_int_t)value);
    return json_out_real(value);
}

static json_t *time_ns(int64_t ns)
{
    return ns == AGGFILE_NO_TIME ? json_null() : json_integer(ns);
}

static json_t *known(bool is_known, int64_t value)
{
    return is_known ? json_integer(value) : json_null();
}

static void set_counters(struct json_out *w, json_t *o, int64_t n_requests, int64_t n_errors,
                         int64_t n_bytes, int64_t n_objects)
{
    json_out_set_int(w, o, "n_requests", n_requests);
    json_out_set_int(w, o, "n_errors", n_errors);
    json_out_set_int(w, o, "n_objects", n_objects);
    json_out_set_int(w, o, "n_bytes", n_bytes);
}

static void set_entry(struct json_out *w, json_t *o, const struct aggfile_entry *x)
{
    set_counters(w, o, x->n_requests, x->n_errors, x->n_bytes, x->n_objects);
}

/* ---- Seconds ---- */

static json_t *second(struct json_out *w, int64_t start_ns, double bytes_per_s,
                      double objects_per_s, int64_t n_errors)
{
    json_t *o = json_object();
    json_out_set_int(w, o, "start", start_ns);
    json_out_set(w, o, "bytes_per_sec", number(bytes_per_s));
    json_out_set(w, o, "obj_per_sec", number(objects_per_s));
    json_out_set_int(w, o, "errors", n_errors);
    return o;
}

static json_t *part_second(struct json_out *w, const struct aggregate_part *part, size_t i)
{
    const struct aggfile_second *s = &part->x->seconds[i];
    return second(w, aggregate_second_ns(part, i), s->bytes_per_s, s->objects_per_s, s->n_errors);
}

static void put_seconds(struct json_out *w, const struct aggregate_part *part)
{
    json_out_array(w, "seconds");
    for (size_t i = 0; i < part->x->n_seconds; i++)
        json_out_value(w, NULL, part_second(w, part, i));
    json_out_end(w);
}

static json_t *window(struct json_out *w, const struct aggregate_part *part)
{
    const struct aggregate_window *win = &part->window;
    const struct aggfile_entry *x = part->x;
    if (!win->present)
        return json_null();
    json_t *o = json_object();
    json_out_set_int(w, o, "start", aggregate_second_ns(part, 0));
    json_out_set_int(w, o, "n_seconds", (int64_t)x->n_seconds);
    json_out_set_int(w, o, "span_seconds", win->span_s);
    json_out_set(w, o, "n_bytes", number(x->window_bytes));
    json_out_set(w, o, "n_objects", number(x->window_objects));
    json_out_set_int(w, o, "n_requests_started", x->n_window_started);
    json_out_set_int(w, o, "n_errors", x->n_window_errors);
    json_out_set(w, o, "complete", json_boolean(win->is_complete));
    json_out_set(w, o, "lost_bytes", number(win->lost_bytes));
    json_out_set(w, o, "lost_objects", number(win->lost_objects));
    json_out_set(w, o, "mean_bytes_per_s", number(win->mean_bytes_per_s));
    json_out_set(w, o, "mean_objects_per_s", number(win->mean_objects_per_s));
    json_out_set(w, o, "fastest", part_second(w, part, win->fastest));
    json_out_set(w, o, "median", part_second(w, part, win->median));
    json_out_set(w, o, "slowest", part_second(w, part, win->slowest));
    json_out_set(w, o, "by", json_string(win->by_bytes ? "bytes" : "objects"));
    json_out_set_int(w, o, "label_shift_s", win->shift_s);
    json_out_set(w, o, "label_shift_sure", json_boolean(win->shift_is_sure));
    json_out_set(w, o, "early_requests_missing", json_boolean(win->misses_early));
    return o;
}

/* ---- Durations ---- */

static json_t *range(struct json_out *w, const struct aggregate_range *r)
{
    json_t *v = json_array();
    json_out_append(w, v, number(r->min_ms));
    json_out_append(w, v, number(r->max_ms));
    return v;
}

static json_t *ttfb(struct json_out *w, const struct aggfile_group *g)
{
    if (!g->has_ttfb)
        return json_null();
    json_t *o = json_object();
    json_out_set(w, o, "mean_ms", number(g->ttfb_mean_ms));
    json_out_set(w, o, "p50_ms", number(g->ttfb_p50_ms));
    json_out_set(w, o, "p90_ms", number(g->ttfb_p90_ms));
    json_out_set(w, o, "p99_ms", number(g->ttfb_p99_ms));
    json_out_set(w, o, "min_ms", number(g->ttfb_min_ms));
    json_out_set(w, o, "max_ms", number(g->ttfb_max_ms));
    return o;
}

static json_t *group(struct json_out *w, const struct aggfile_entry *x,
                     const struct aggfile_group *g)
{
    json_t *o = json_object();
    json_out_set(w, o, "client", json_out_text(x->group_clients[g->client]));
    json_out_set(w, o, "start", time_ns(g->start_ns));
    json_out_set_int(w, o, "n_requests", g->n_requests);
    json_out_set_int(w, o, "obj_size", g->object_bytes);
    json_out_set(w, o, "mean_ms", number(g->mean_ms));
    json_out_set(w, o, "stddev_ms", number(g->stddev_ms));
    json_out_set(w, o, "p50_ms", number(g->p50_ms));
    json_out_set(w, o, "p90_ms", number(g->p90_ms));
    json_out_set(w, o, "p99_ms", number(g->p99_ms));
    json_out_set(w, o, "min_ms", number(g->min_ms));
    json_out_set(w, o, "max_ms", number(g->max_ms));
    json_out_set(w, o, "ttfb", ttfb(w, g));
    return o;
}

/* Percentiles of the run: of one group that holds all of it they are known. */
static void put_percentiles(struct json_out *w, const struct aggregate_part *part)
{
    const struct aggregate_latency *l = &part->latency;
    json_t *o = json_null();
    if (l->is_one_group) {
        const struct aggfile_group *g = &part->x->groups[0];
        o = json_object();
        json_out_set(w, o, "p50_ms", number(g->p50_ms));
        json_out_set(w, o, "p90_ms", number(g->p90_ms));
        json_out_set(w, o, "p99_ms", number(g->p99_ms));
    }
    json_out_value(w, "percentiles", o);
    json_out_value(w, "percentiles_reason",
                   l->is_one_group ? json_null() : json_string(AGGREGATE_NO_PERCENTILES));
}

static void put_single(struct json_out *w, const struct aggregate_part *part)
{
    const struct aggregate_latency *l = &part->latency;
    json_t *o = json_object();
    json_out_set(w, o, "mean_ms", number(l->mean_ms));
    json_out_set(w, o, "stddev_ms", number(l->stddev_ms));
    json_out_set(w, o, "min_ms", number(l->min_ms));
    json_out_set(w, o, "max_ms", number(l->max_ms));
    json_out_set_int(w, o, "smallest_group", l->n_smallest_group);
    json_out_set(w, o, "p50_of_groups_ms", range(w, &l->p50));
    json_out_set(w, o, "p90_of_groups_ms", range(w, &l->p90));
    json_out_set(w, o, "p99_of_groups_ms", range(w, &l->p99));
    json_out_members(w, o);
    json_out_array(w, "groups");
    for (size_t i = 0; i < part->x->n_groups; i++)
        json_out_value(w, NULL, group(w, part->x, &part->x->groups[i]));
    json_out_end(w);
}

static void put_multi(struct json_out *w, const struct aggregate_latency *l)
{
    json_out_value(w, "mean_ms", number(l->mean_ms));
    json_out_array(w, "classes");
    for (size_t i = 0; i < l->n_classes; i++) {
        const struct aggfile_class *c = &l->classes[i];
        json_t *o = json_object();
        json_out_set_int(w, o, "min_bytes", c->min_bytes);
        json_out_set_int(w, o, "max_bytes", c->max_bytes);
        json_out_set_int(w, o, "n_requests", c->n_requests);
        json_out_set(w, o, "mean_ms", number(c->mean_ms));
        json_out_set(w, o, "fastest_bytes_per_s", number(c->fastest_bytes_per_s));
        json_out_set(w, o, "slowest_bytes_per_s", number(c->slowest_bytes_per_s));
        json_out_value(w, NULL, o);
    }
    json_out_end(w);
}

static void put_latency(struct json_out *w, const struct aggregate_part *part)
{
    static const char *const kinds[] = {"none", "single", "multi"};
    const struct aggregate_latency *l = &part->latency;
    json_t *o = json_object();
    json_out_object(w, "latency");
    json_out_set(w, o, "kind", json_string(kinds[l->kind]));
    json_out_set_int(w, o, "n_requests", l->n_requests);
    json_out_set(w, o, "complete", json_boolean(l->is_complete));
    json_out_set_int(w, o, "n_groups", (int64_t)l->n_groups);
    json_out_set_int(w, o, "n_empty_groups", (int64_t)l->n_empty_groups);
    json_out_members(w, o);
    put_percentiles(w, part);
    if (l->kind == AGGREGATE_SINGLE)
        put_single(w, part);
    else if (l->kind == AGGREGATE_MULTI)
        put_multi(w, l);
    json_out_end(w);
}

/* ---- Entries ---- */

static void put_parties(struct json_out *w, const char *key, const struct aggfile_party *v,
                        size_t n)
{
    json_out_array(w, key);
    for (size_t i = 0; i < n; i++) {
        json_t *o = json_object();
        json_out_set(w, o, "name", json_out_text(v[i].name));
        set_counters(w, o, v[i].n_requests, v[i].n_errors, v[i].n_bytes, v[i].n_objects);
        json_out_set(w, o, "start", time_ns(v[i].start_ns));
        json_out_set(w, o, "end", time_ns(v[i].end_ns));
        json_out_value(w, NULL, o);
    }
    json_out_end(w);
}

static void put_entry(struct json_out *w, const char *key, const struct aggregate_part *part)
{
    const struct aggfile_entry *x = part->x;
    json_t *o = json_object();
    json_out_object(w, key);
    json_out_set(w, o, "op", json_out_text(x->name));
    set_entry(w, o, x);
    json_out_set_int(w, o, "threads", x->n_threads);
    json_out_set_int(w, o, "start", x->start_ns);
    json_out_set_int(w, o, "end", x->end_ns);
    json_out_set_int(w, o, "duration_ns", part->duration_ns);
    json_out_set(w, o, "mean_bytes_per_s", number(aggregate_bytes_per_s(part)));
    json_out_set(w, o, "mean_objects_per_s", number(aggregate_objects_per_s(part)));
    json_out_set(w, o, "mean_requests_per_s", number(aggregate_requests_per_s(part)));
    json_out_set(w, o, "ok_bytes", known(part->ok_bytes_known, part->ok_bytes));
    json_out_set(w, o, "ok_objects", known(part->ok_objects_known, part->ok_objects));
    json_out_set(w, o, "preparation", json_boolean(part->is_preparation));
    json_out_members(w, o);
    json_out_array(w, "first_errors");
    for (size_t i = 0; i < x->n_first_errors; i++)
        json_out_value(w, NULL, json_out_text(x->first_errors[i]));
    json_out_end(w);
    put_parties(w, "hosts", x->hosts, x->n_hosts);
    put_parties(w, "clients", x->clients, x->n_clients);
    put_seconds(w, part);
    json_out_value(w, "window", window(w, part));
    put_latency(w, part);
    json_out_end(w);
}

static void put_by(struct json_out *w, const char *key, const char *name,
                   const struct aggregate_parts *parts)
{
    json_out_array(w, key);
    for (size_t i = 0; i < parts->n; i++) {
        const struct aggregate_part *part = &parts->v[i];
        json_t *o = json_object();
        json_out_object(w, NULL);
        json_out_set(w, o, name, json_out_text(part->x->name));
        set_entry(w, o, part->x);
        json_out_members(w, o);
        put_seconds(w, part);
        json_out_end(w);
    }
    json_out_end(w);
}

static void put_sizes(struct json_out *w, const struct aggregate *a)
{
    json_out_array(w, "by_size");
    for (size_t i = 0; i < a->file.sizes.n; i++) {
        const struct aggfile_entry *x = &a->file.sizes.v[i];
        json_t *o = json_object();
        json_out_set_int(w, o, "min_bytes", aggregate_size_floor(x));
        json_out_set_int(w, o, "max_bytes", 2 * aggregate_size_floor(x));
        set_entry(w, o, x);
        json_out_value(w, NULL, o);
    }
    json_out_end(w);
}

static void put_merged(struct json_out *w, const struct aggregate *a)
{
    struct aggregate_common common;
    json_out_array(w, "seconds_from_clients");
    for (size_t i = 0; i < a->n_sum; i++) {
        const struct aggregate_sum_second *s = &a->sum[i];
        json_t *o = second(w, s->start_s * NS_PER_S, s->bytes_per_s, s->objects_per_s, s->n_errors);
        json_out_set_int(w, o, "n_clients", (int64_t)s->n_clients);
        json_out_value(w, NULL, o);
    }
    json_out_end(w);
    json_t *o = json_null();
    if (aggregate_common(a, &common)) {
        o = json_object();
        json_out_set_int(w, o, "start", common.start_s * NS_PER_S);
        json_out_set_int(w, o, "n_seconds", (int64_t)common.n_seconds);
        json_out_set(w, o, "mean_bytes_per_s", number(common.bytes_per_s));
        json_out_set(w, o, "mean_objects_per_s", number(common.objects_per_s));
    }
    json_out_value(w, "all_clients", o);
}

static void put_warnings(struct json_out *w, const struct aggregate *a)
{
    json_out_array(w, "warnings");
    for (size_t i = 0; i < a->n_warnings; i++) {
        json_t *o = json_object();
        json_out_set(w, o, "code", json_string(a->warnings[i].code));
        json_out_set(w, o, "op", json_out_text(a->warnings[i].op));
        json_out_set(w, o, "message", json_out_text(a->warnings[i].message));
        json_out_value(w, NULL, o);
    }
    json_out_end(w);
}

/* Keys of the format that may be absent: an empty list above them means that nothing is known. */
static void put_absent(struct json_out *w, const struct aggregate *a)
{
    json_out_array(w, "not_in_file");
    if (!a->file.hosts.present)
        json_out_value(w, NULL, json_string("by_host"));
    if (!a->file.clients.present)
        json_out_value(w, NULL, json_string("by_client"));
    if (!a->file.sizes.present)
        json_out_value(w, NULL, json_string("by_size"));
    if (!a->total.x->has_hosts)
        json_out_value(w, NULL, json_string("hosts"));
    if (!a->total.x->has_clients)
        json_out_value(w, NULL, json_string("clients"));
    json_out_end(w);
}

bool aggregate_json(const struct aggregate *a, const struct findings *found, FILE *f, struct err *e)
{
    struct json_out w;
    const struct aggfile *file = &a->file;
    const char *slash = strrchr(file->path, '/');
    json_t *o = json_object();
    json_out_init(&w, f);
    json_out_object(&w, NULL);
    json_out_set(&w, o, "schema", json_string(SCHEMA));
    json_out_set(&w, o, "path", json_out_text(file->path));
    json_out_set(&w, o, "file", json_out_text(slash != NULL ? slash + 1 : file->path));
    json_out_set_int(&w, o, "v", 2);
    json_out_set(&w, o, "commandline", json_out_text(file->command));
    json_out_set(&w, o, "final", file->has_final ? json_boolean(file->is_final) : json_null());
    json_out_set(&w, o, "warp_version", json_out_text(file->version != NULL ? file->version : ""));
    json_out_set(&w, o, "warp_commit", json_out_text(file->commit != NULL ? file->commit : ""));
    json_out_set(&w, o, "merged", json_boolean(a->is_merged));
    json_out_members(&w, o);
    put_warnings(&w, a);
    findings_json_put(&w, found);
    put_absent(&w, a);
    put_entry(&w, "total", &a->total);
    json_out_array(&w, "operations");
    for (size_t i = 0; i < a->ops.n; i++)
        put_entry(&w, NULL, &a->ops.v[i]);
    json_out_end(&w);
    put_by(&w, "by_host", "host", &a->hosts);
    put_by(&w, "by_client", "client", &a->clients);
    put_sizes(&w, a);
    if (a->is_merged)
        put_merged(&w, a);
    json_out_end(&w);
    return json_out_finish(&w, e);
}

/* ---- info ---- */

static json_t *info_entry(struct json_out *w, const char *name_key, const char *name,
                          int64_t n_requests, int64_t n_errors, int64_t n_bytes, int64_t start_ns,
                          int64_t end_ns)
{
    bool has_times = start_ns != AGGFILE_NO_TIME && end_ns != AGGFILE_NO_TIME;
    json_t *o = json_object();
    if (name_key != NULL)
        json_out_set(w, o, name_key, json_out_text(name));
    json_out_set_int(w, o, "n_requests", n_requests);
    json_out_set_int(w, o, "n_errors", n_errors);
    json_out_set_int(w, o, "n_bytes", n_bytes);
    json_out_set(w, o, "first_start", has_times ? json_out_time(start_ns) : json_null());
    json_out_set(w, o, "last_end", has_times ? json_out_time(end_ns) : json_null());
    json_out_set(w, o, "duration_ns", has_times ? json_integer(end_ns - start_ns) : json_null());
    return o;
}

static void info_parties(struct json_out *w, const char *key, const char *name,
                         const struct aggfile_party *v, size_t n)
{
    json_out_array(w, key);
    for (size_t i = 0; i < n; i++)
        json_out_value(w, NULL,
                       info_entry(w, name, v[i].name, v[i].n_requests, v[i].n_errors, v[i].n_bytes,
                                  v[i].start_ns, v[i].end_ns));
    json_out_end(w);
}

void aggregate_json_info(struct json_out *w, const struct aggregate *a)
{
    const struct aggfile_entry *x = a->total.x;
    json_t *o = json_object();
    json_out_object(w, NULL);
    json_out_set(w, o, "path", json_out_text(a->file.path));
    json_out_set(w, o, "aggregated", json_true());
    json_out_set(w, o, "merged", json_boolean(a->is_merged));
    json_out_set_int(w, o, "n_threads", x->n_threads);
    json_out_set(w, o, "command", json_out_text(a->file.command));
    json_out_set(w, o, "version", json_out_text(a->file.version));
    json_out_members(w, o);
    json_out_members(w, info_entry(w, NULL, NULL, x->n_requests, x->n_errors, x->n_bytes,
                                   x->start_ns, x->end_ns));
    json_out_array(w, "operations");
    for (size_t i = 0; i < a->ops.n; i++) {
        const struct aggfile_entry *y = a->ops.v[i].x;
        o = info_entry(w, "op", y->name, y->n_requests, y->n_errors, y->n_bytes, y->start_ns,
                       y->end_ns);
        json_out_set_int(w, o, "n_seconds", (int64_t)y->n_seconds);
        json_out_set_int(w, o, "n_groups", (int64_t)y->n_groups);
        json_out_set(w, o, "preparation", json_boolean(a->ops.v[i].is_preparation));
        json_out_value(w, NULL, o);
    }
    json_out_end(w);
    info_parties(w, "hosts", "host", x->hosts, x->n_hosts);
    info_parties(w, "clients", "client_id", x->clients, x->n_clients);
    put_warnings(w, a);
    json_out_end(w);
}
