#include "analyze/json/documents.h"

#include "analyze/json/json_internal.h"
#include "analyze/report/figures.h"
#include "libcommon/units.h"

#include <math.h>
#include <string.h>

#define SCHEMA "s3analyze/aggregate-exact/1"

/* Writes a number without a fraction as an integer, as in the file, and NaN as null. */
static json_t *number(double value)
{
    if (isfinite(value) && value == floor(value) && fabs(value) < 0x1p63)
        return json_integer((json_int_t)value);
    return json_out_real(value);
}

static void put_number(struct json_out *w, const char *key, double value)
{
    json_out_value(w, key, number(value));
}

static void put_time(struct json_out *w, const char *key, int64_t ns)
{
    JSON_PUT_IF(w, key, ns != AGGFILE_NO_TIME, ns);
}

/* Writes the counters of an entry or a party. */
#define PUT_COUNTERS(w, x) JSON_MEMBERS(w, x, n_requests, n_errors, n_objects, n_bytes)

/* ---- Seconds ---- */

static void put_second_members(struct json_out *w, int64_t start_ns, double bytes_per_s,
                               double objects_per_s, int64_t n_errors)
{
    JSON_PUT(w, "start", start_ns);
    put_number(w, "bytes_per_sec", bytes_per_s);
    put_number(w, "obj_per_sec", objects_per_s);
    JSON_PUT(w, "errors", n_errors);
}

static void put_second(struct json_out *w, const char *key, const struct aggregate_part *part,
                       size_t i)
{
    const struct aggfile_second *s = &part->x->seconds[i];
    json_out_object(w, key);
    put_second_members(w, aggregate_second_ns(part, i), s->bytes_per_s, s->objects_per_s,
                       s->n_errors);
    json_out_end(w);
}

static void put_seconds(struct json_out *w, const struct aggregate_part *part)
{
    JSON_ARRAY(w, "seconds", i, part->x->n_seconds)
        put_second(w, NULL, part, i);
}

static void put_window(struct json_out *w, const struct aggregate_part *part)
{
    const struct aggregate_window *win = &part->window;
    const struct aggfile_entry *x = part->x;

    if (!json_out_open(w, "window", win->present))
        return;
    JSON_PUT(w, "start", aggregate_second_ns(part, 0));
    JSON_PUT(w, "n_seconds", x->n_seconds);
    JSON_PUT(w, "span_seconds", win->span_s);
    put_number(w, "n_bytes", x->window_bytes);
    put_number(w, "n_objects", x->window_objects);
    JSON_PUT(w, "n_requests_started", x->n_window_started);
    JSON_PUT(w, "n_errors", x->n_window_errors);
    JSON_PUT(w, "complete", win->is_complete);
    put_number(w, "lost_bytes", win->lost_bytes);
    put_number(w, "lost_objects", win->lost_objects);
    put_number(w, "mean_bytes_per_s", win->mean_bytes_per_s);
    put_number(w, "mean_objects_per_s", win->mean_objects_per_s);
    put_second(w, "fastest", part, win->fastest);
    put_second(w, "median", part, win->median);
    put_second(w, "slowest", part, win->slowest);
    JSON_PUT(w, "by", win->by_bytes ? "bytes" : "objects");
    JSON_PUT(w, "label_shift_s", (int64_t)win->shift_s);
    JSON_PUT(w, "label_shift_sure", win->shift_is_sure);
    JSON_PUT(w, "early_requests_missing", win->misses_early);
    json_out_end(w);
}

/* ---- Durations ---- */

static void put_range(struct json_out *w, const char *key, const struct aggregate_range *r)
{
    json_out_array(w, key);
    put_number(w, NULL, r->min_ms);
    put_number(w, NULL, r->max_ms);
    json_out_end(w);
}

static void put_ttfb(struct json_out *w, const struct aggfile_group *g)
{
    if (!json_out_open(w, "ttfb", g->has_ttfb))
        return;
    put_number(w, "mean_ms", g->ttfb_mean_ms);
    put_number(w, "p50_ms", g->ttfb_p50_ms);
    put_number(w, "p90_ms", g->ttfb_p90_ms);
    put_number(w, "p99_ms", g->ttfb_p99_ms);
    put_number(w, "min_ms", g->ttfb_min_ms);
    put_number(w, "max_ms", g->ttfb_max_ms);
    json_out_end(w);
}

static void put_percentile_members(struct json_out *w, const struct aggfile_group *g)
{
    put_number(w, "p50_ms", g->p50_ms);
    put_number(w, "p90_ms", g->p90_ms);
    put_number(w, "p99_ms", g->p99_ms);
}

static void put_group(struct json_out *w, const char *client, const struct aggfile_group *g)
{
    JSON_PUT(w, "client", client);
    put_time(w, "start", g->start_ns);
    JSON_PUT(w, "n_requests", g->n_requests);
    JSON_PUT(w, "obj_size", g->object_bytes);
    put_number(w, "mean_ms", g->mean_ms);
    put_number(w, "stddev_ms", g->stddev_ms);
    put_percentile_members(w, g);
    put_number(w, "min_ms", g->min_ms);
    put_number(w, "max_ms", g->max_ms);
    put_ttfb(w, g);
}

/* Writes the percentiles of the run. They are known only if one group holds all its requests. */
static void put_percentiles(struct json_out *w, const struct aggregate_part *part)
{
    bool known = part->latency.is_one_group;

    if (json_out_open(w, "percentiles", known)) {
        put_percentile_members(w, &part->x->groups[0]);
        json_out_end(w);
    }
    JSON_PUT_IF(w, "percentiles_reason", !known, AGGREGATE_NO_PERCENTILES);
}

static void put_single(struct json_out *w, const struct aggregate_part *part)
{
    const struct aggregate_latency *l = &part->latency;
    const struct aggfile_entry *x = part->x;

    put_number(w, "mean_ms", l->mean_ms);
    put_number(w, "stddev_ms", l->stddev_ms);
    put_number(w, "min_ms", l->min_ms);
    put_number(w, "max_ms", l->max_ms);
    JSON_PUT(w, "smallest_group", l->n_smallest_group);
    put_range(w, "p50_of_groups_ms", &l->p50);
    put_range(w, "p90_of_groups_ms", &l->p90);
    put_range(w, "p99_of_groups_ms", &l->p99);
    JSON_OBJECTS(w, "groups", i, x->n_groups)
        put_group(w, x->group_clients[x->groups[i].client], &x->groups[i]);
}

static void put_multi(struct json_out *w, const struct aggregate_latency *l)
{
    put_number(w, "mean_ms", l->mean_ms);
    JSON_OBJECTS(w, "classes", i, l->n_classes) {
        const struct aggfile_class *c = &l->classes[i];
        JSON_MEMBERS(w, c, min_bytes, max_bytes, n_requests);
        put_number(w, "mean_ms", c->mean_ms);
        put_number(w, "fastest_bytes_per_s", c->fastest_bytes_per_s);
        put_number(w, "slowest_bytes_per_s", c->slowest_bytes_per_s);
    }
}

static void put_latency(struct json_out *w, const struct aggregate_part *part)
{
    static const char *const kinds[] = {"none", "single", "multi"};
    const struct aggregate_latency *l = &part->latency;

    json_out_object(w, "latency");
    JSON_PUT(w, "kind", kinds[l->kind]);
    JSON_PUT(w, "n_requests", l->n_requests);
    JSON_PUT(w, "complete", l->is_complete);
    JSON_MEMBERS(w, l, n_groups, n_empty_groups);
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
    JSON_OBJECTS(w, key, i, n) {
        JSON_PUT(w, "name", v[i].name);
        PUT_COUNTERS(w, &v[i]);
        put_time(w, "start", v[i].start_ns);
        put_time(w, "end", v[i].end_ns);
    }
}

/* Writes a rate over the whole time. All requests count, failed ones too. */
static void put_rate(struct json_out *w, const char *key, int64_t n,
                     const struct aggregate_part *part)
{
    put_number(w, key, part->duration_ns > 0 ? (double)n / ((double)part->duration_ns / 1e9) : NAN);
}

static void put_entry(struct json_out *w, const char *key, const struct aggregate_part *part)
{
    const struct aggfile_entry *x = part->x;

    json_out_object(w, key);
    JSON_PUT(w, "op", x->name);
    PUT_COUNTERS(w, x);
    JSON_PUT(w, "threads", x->n_threads);
    JSON_PUT(w, "start", x->start_ns);
    JSON_PUT(w, "end", x->end_ns);
    JSON_PUT(w, "duration_ns", part->duration_ns);
    put_rate(w, "mean_bytes_per_s", x->n_bytes, part);
    put_rate(w, "mean_objects_per_s", x->n_objects, part);
    put_rate(w, "mean_requests_per_s", x->n_requests, part);
    JSON_PUT_IF(w, "ok_bytes", part->ok_bytes_known, part->ok_bytes);
    JSON_PUT_IF(w, "ok_objects", part->ok_objects_known, part->ok_objects);
    json_put_bool(w, "preparation", part->role == ROLE_PREPARATION);
    JSON_ARRAY(w, "first_errors", i, x->n_first_errors)
        JSON_PUT(w, NULL, x->first_errors[i]);
    put_parties(w, "hosts", x->hosts, x->n_hosts);
    put_parties(w, "clients", x->clients, x->n_clients);
    put_seconds(w, part);
    put_window(w, part);
    put_latency(w, part);
    json_out_end(w);
}

static void put_by(struct json_out *w, const char *key, const char *name,
                   const struct aggregate_parts *parts)
{
    JSON_OBJECTS(w, key, i, parts->n) {
        const struct aggregate_part *part = &parts->v[i];
        JSON_PUT(w, name, part->x->name);
        PUT_COUNTERS(w, part->x);
        put_seconds(w, part);
    }
}

static void put_sizes(struct json_out *w, const struct aggregate *a)
{
    JSON_OBJECTS(w, "by_size", i, a->file.sizes.n) {
        const struct aggfile_entry *x = &a->file.sizes.v[i];
        JSON_PUT(w, "min_bytes", aggregate_size_floor(x));
        /* JSON integers end below 2^63 here. */
        if (aggregate_size_floor(x) <= INT64_MAX / 2)
            JSON_PUT(w, "max_bytes", 2 * aggregate_size_floor(x));
        else
            json_out_value(w, "max_bytes", json_out_real(2 * (double)aggregate_size_floor(x)));
        PUT_COUNTERS(w, x);
    }
}

static void put_merged(struct json_out *w, const struct aggregate *a)
{
    int64_t start_s;
    const struct together common = aggregate_together(a, &start_s);

    JSON_OBJECTS(w, "seconds_from_clients", i, a->n_sum) {
        const struct aggregate_sum_second *s = &a->sum[i];
        put_second_members(w, s->start_s * NS_PER_S, s->bytes_per_s, s->objects_per_s, s->n_errors);
        JSON_PUT(w, "n_clients", s->n_clients);
    }
    if (!json_out_open(w, "all_clients", common.n_seconds > 0))
        return;
    JSON_PUT(w, "start", start_s * NS_PER_S);
    JSON_PUT(w, "n_seconds", common.n_seconds);
    put_number(w, "mean_bytes_per_s", common.bytes_per_s);
    put_number(w, "mean_objects_per_s", common.objects_per_s);
    json_out_end(w);
}

static void put_warnings(struct json_out *w, const struct aggregate *a)
{
    JSON_OBJECTS(w, "warnings", i, a->warnings.n)
        JSON_MEMBERS(w, &a->warnings.v[i], code, op, message);
}

/* Lists the keys that are not in the file: an empty list above them means that nothing is known. */
static void put_absent(struct json_out *w, const struct aggregate *a)
{
    json_out_array(w, "not_in_file");
    if (!a->file.hosts.present)
        JSON_PUT(w, NULL, "by_host");
    if (!a->file.clients.present)
        JSON_PUT(w, NULL, "by_client");
    if (!a->file.sizes.present)
        JSON_PUT(w, NULL, "by_size");
    if (!a->total.x->has_hosts)
        JSON_PUT(w, NULL, "hosts");
    if (!a->total.x->has_clients)
        JSON_PUT(w, NULL, "clients");
    json_out_end(w);
}

bool json_aggregate(const struct analysis *analysis, FILE *f, struct err *e)
{
    struct json_out w;
    const struct aggregate *a = analysis->aggregate;
    const struct aggfile *file = &a->file;

    json_out_begin(&w, f, SCHEMA);
    json_slo_put(&w, analysis->slo);
    JSON_PUT(&w, "path", file->path);
    JSON_PUT(&w, "file", figures_file(file->path));
    JSON_PUT(&w, "v", INT64_C(2));
    JSON_PUT(&w, "commandline", file->command);
    JSON_PUT_IF(&w, "final", file->has_final, file->is_final);
    JSON_PUT(&w, "warp_version", file->version != NULL ? file->version : "");
    JSON_PUT(&w, "warp_commit", file->commit != NULL ? file->commit : "");
    JSON_PUT(&w, "merged", a->is_merged);
    put_warnings(&w, a);
    findings_json_put(&w, &analysis->findings);
    put_absent(&w, a);
    put_entry(&w, "total", &a->total);
    JSON_ARRAY(&w, "operations", i, a->ops.n)
        put_entry(&w, NULL, &a->ops.v[i]);
    put_by(&w, "by_host", "host", &a->hosts);
    put_by(&w, "by_client", "client", &a->clients);
    put_sizes(&w, a);
    if (a->is_merged)
        put_merged(&w, a);
    return json_out_finish(&w, e);
}

/* ---- info ---- */

/* Writes what `info` shows of an entry or a party: *x is an aggfile_entry or an aggfile_party. */
#define PUT_INFO(w, x)                                                                             \
    do {                                                                                           \
        JSON_MEMBERS(w, x, n_requests, n_errors, n_bytes);                                         \
        put_info_times(w, (x)->start_ns, (x)->end_ns);                                             \
    } while (0)

static void put_info_times(struct json_out *w, int64_t start_ns, int64_t end_ns)
{
    bool has_times = start_ns != AGGFILE_NO_TIME && end_ns != AGGFILE_NO_TIME;

    json_put_time_if(w, "first_start", has_times, start_ns);
    json_put_time_if(w, "last_end", has_times, end_ns);
    JSON_PUT_IF(w, "duration_ns", has_times, end_ns - start_ns);
}

static void put_info_parties(struct json_out *w, const char *key, const char *name,
                             const struct aggfile_party *v, size_t n)
{
    JSON_OBJECTS(w, key, i, n) {
        JSON_PUT(w, name, v[i].name);
        PUT_INFO(w, &v[i]);
    }
}

static void put_info_operation(struct json_out *w, const struct aggregate_part *part)
{
    const struct aggfile_entry *x = part->x;

    JSON_PUT(w, "op", x->name);
    PUT_INFO(w, x);
    JSON_MEMBERS(w, x, n_seconds, n_groups);
    json_put_bool(w, "preparation", part->role == ROLE_PREPARATION);
}

void aggregate_json_info(struct json_out *w, const struct aggregate *a)
{
    const struct aggfile_entry *x = a->total.x;

    json_out_object(w, NULL);
    JSON_PUT(w, "path", a->file.path);
    json_put_bool(w, "aggregated", true);
    JSON_PUT(w, "merged", a->is_merged);
    JSON_PUT(w, "n_threads", x->n_threads);
    JSON_PUT(w, "command", a->file.command);
    JSON_PUT(w, "version", a->file.version);
    PUT_INFO(w, x);
    JSON_OBJECTS(w, "operations", i, a->ops.n)
        put_info_operation(w, &a->ops.v[i]);
    put_info_parties(w, "hosts", "host", x->hosts, x->n_hosts);
    put_info_parties(w, "clients", "client_id", x->clients, x->n_clients);
    put_warnings(w, a);
    json_out_end(w);
}
