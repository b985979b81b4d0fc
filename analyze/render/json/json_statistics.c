#include "analyze/render/json/json_internal.h"

#include <inttypes.h>

static const char *const quantile_keys[STATISTICS_N_QUANTILES] = {"p50_ns", "p90_ns", "p99_ns",
                                                                  "p99_9_ns"};

/* Writes the members value lo hi lo90 hi90 se df why. Unknown numbers are null; why is null if the
 * limits hold. */
static void put_members(struct json_out *w, const struct stats_ci *ci)
{
    JSON_PUT(w, "value", ci->value);
    JSON_PUT_IF(w, "lo", ci->ok, ci->lo);
    JSON_PUT_IF(w, "hi", ci->ok, ci->hi);
    JSON_PUT_IF(w, "lo90", ci->ok, ci->lo90);
    JSON_PUT_IF(w, "hi90", ci->ok, ci->hi90);
    JSON_MEMBERS(w, ci, se, df);
    JSON_PUT_IF(w, "why", !ci->ok, ci->why);
}

static void put_estimate(struct json_out *w, const char *key, const struct stats_ci *ci)
{
    json_out_object(w, key);
    put_members(w, ci);
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
    put_estimate(w, "mean", &r->mean);
    put_estimate(w, "median_segment", &r->median);
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
        put_members(w, &l->q[i].ci);
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

void json_statistics_put(struct json_out *w, const struct statistics *s)
{
    if (!json_out_open(w, "statistics", s != NULL))
        return;
    json_put_time(w, "start", s->start_ns);
    JSON_MEMBERS(w, s, duration_ns, segment_ns, n_segments, n_requests, n_failed);
    put_rate(w, "bytes_per_s", s, &s->bytes);
    put_rate(w, "objects_per_s", s, &s->objects);
    put_estimate(w, "error_rate_frac", &s->error_rate);
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
