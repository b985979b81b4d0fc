#include "analyze/report/json_statistics.h"

#include <inttypes.h>
#include <math.h>

/* {value lo hi lo90 hi90 se df why}: no limit and no number are null; why is null if the limits
 * hold. */
static json_t *estimate(struct json_out *w, const struct stats_ci *ci)
{
    json_t *o = json_object();
    json_out_set_real(w, o, "value", ci->value);
    json_out_set_real(w, o, "lo", ci->ok ? ci->lo : INFINITY);
    json_out_set_real(w, o, "hi", ci->ok ? ci->hi : INFINITY);
    json_out_set_real(w, o, "lo90", ci->ok ? ci->lo90 : INFINITY);
    json_out_set_real(w, o, "hi90", ci->ok ? ci->hi90 : INFINITY);
    json_out_set_real(w, o, "se", ci->se);
    json_out_set_real(w, o, "df", ci->df);
    json_out_set(w, o, "why", ci->ok ? json_null() : json_out_text(ci->why));
    return o;
}

static json_t *rate(struct json_out *w, const struct statistics_rate *r)
{
    if (!r->present)
        return json_null();
    json_t *o = json_object();
    json_out_set(w, o, "mean", estimate(w, &r->mean));
    json_out_set(w, o, "median_segment", estimate(w, &r->median));
    json_out_set_int(w, o, "n_stalls", (int64_t)r->n_stalls);
    return o;
}

static json_t *latency(struct json_out *w, const struct statistics_latency *l)
{
    static const char *const keys[STATISTICS_N_QUANTILES] = {"p50_ns", "p90_ns", "p99_ns",
                                                             "p99_9_ns"};
    if (l->n == 0)
        return json_null();
    json_t *o = json_object();
    json_out_set_int(w, o, "n", l->n);
    for (size_t i = 0; i < STATISTICS_N_QUANTILES; i++) {
        const struct statistics_quantile *q = &l->q[i];
        json_t *x = estimate(w, &q->ci);
        json_out_set_real(w, x, "deff", q->deff);
        json_out_set_int(w, x, "n_e", (int64_t)q->n_e);
        json_out_set(w, o, keys[i], x);
    }
    return o;
}

static json_t *warm_up(struct json_out *w, const struct statistics *s)
{
    json_t *o = json_object();
    json_out_set(w, o, "steady", json_boolean(s->warmup.steady));
    json_out_set_int(w, o, "n_segments", (int64_t)s->warmup.n_cut);
    json_out_set_int(w, o, "n_candidate", (int64_t)s->warmup.n_candidate);
    json_out_set_real(w, o, "t", s->warmup.t);
    json_out_set_real(w, o, "df", s->warmup.df);
    json_out_set(w, o, "steady_from", json_out_time(statistics_steady_from_ns(s)));
    json_out_set_real(w, o, "steady_mean", s->warmup.mean_rest);
    json_out_set_int(w, o, "cut_ns", s->cut_ns);
    return o;
}

static json_t *drift(struct json_out *w, const struct stats_drift *d)
{
    if (!d->ok)
        return json_null();
    json_t *o = json_object();
    json_out_set(w, o, "reported", json_boolean(d->reported));
    json_out_set_real(w, o, "change_frac", d->change_frac);
    json_out_set_real(w, o, "p", d->p);
    json_out_set_int(w, o, "n_batches", (int64_t)d->b);
    json_out_set_real(w, o, "slope_per_batch", d->slope);
    return o;
}

static void put_shifts(struct json_out *w, const struct statistics *s)
{
    json_out_array(w, "change_points");
    for (size_t i = 0; i < s->shifts.n; i++) {
        const struct stats_shift *x = &s->shifts.v[i];
        json_t *o = json_object();
        json_out_set(w, o, "at", json_out_time(s->start_ns + (int64_t)x->at * s->segment_ns));
        json_out_set_real(w, o, "before", x->before);
        json_out_set_real(w, o, "after", x->after);
        json_out_value(w, NULL, o);
    }
    json_out_end(w);
}

static void put_hosts(struct json_out *w, const struct statistics_hosts *h)
{
    if (h->n == 0) {
        json_out_value(w, "hosts", json_null());
        return;
    }
    json_t *o = json_object();
    json_out_set(w, o, "by", json_string(h->by_latency ? "duration" : "rate"));
    json_out_set(w, o, "reported", json_boolean(h->test.reported));
    json_out_set_real(w, o, "friedman_q", h->test.ok ? h->test.q : INFINITY);
    json_out_set_real(w, o, "p", h->test.ok ? h->test.p : INFINITY);
    json_out_set_real(w, o, "max_deviation_frac",
                      h->test.ok ? h->test.max_deviation_frac : INFINITY);
    json_out_set_real(w, o, "jain", h->test.jain);
    json_out_set_real(w, o, "cv_frac", h->test.cv_frac);
    json_out_object(w, "hosts");
    json_out_members(w, o);
    json_out_array(w, "each");
    for (size_t k = 0; k < h->n; k++) {
        json_t *x = json_object();
        json_out_set(w, x, "host", json_out_text(h->v[k].host));
        json_out_set_real(w, x, "value", h->v[k].value);
        json_out_set_real(w, x, "z", h->v[k].z);
        json_out_set(w, x, "outlier", json_boolean(h->v[k].outlier));
        json_out_value(w, NULL, x);
    }
    json_out_end(w);
    json_out_end(w);
}

static json_t *residual_life(struct json_out *w, const struct statistics *s)
{
    static const char *const keys[STATISTICS_N_RESIDUALS] = {"p50_ns", "p90_ns", "p99_ns"};
    json_t *o = json_object();
    for (size_t i = 0; i < STATISTICS_N_RESIDUALS; i++)
        json_out_set_real(w, o, keys[i], s->residual_ns[i]);
    return o;
}

static json_t *co(struct json_out *w, const struct statistics_co *c)
{
    static const char *const keys[STATISTICS_N_QUANTILES] = {"p50_ns", "p90_ns", "p99_ns",
                                                             "p99_9_ns"};
    if (c->interval_ns == 0)
        return json_null();
    json_t *o = json_object();
    json_out_set_int(w, o, "interval_ns", c->interval_ns);
    json_out_set_int(w, o, "n", c->n <= INT64_MAX ? (int64_t)c->n : INT64_MAX);
    for (size_t i = 0; i < STATISTICS_N_QUANTILES; i++)
        json_out_set_int(w, o, keys[i], c->q_ns[i]);
    return o;
}

void json_statistics_put(struct json_out *w, const struct statistics *s)
{
    if (s == NULL) {
        json_out_value(w, "statistics", json_null());
        return;
    }
    char label[80];
    snprintf(label, sizeof label, "service time, closed loop, %" PRId64 " threads", s->concurrency);
    json_out_object(w, "statistics");
    json_out_value(w, "start", json_out_time(s->start_ns));
    json_out_value(w, "duration_ns", json_integer(s->duration_ns));
    json_out_value(w, "segment_ns", json_integer(s->segment_ns));
    json_out_value(w, "n_segments", json_integer((json_int_t)s->n_segments));
    json_out_value(w, "n_requests", json_integer(s->n_requests));
    json_out_value(w, "n_failed", json_integer(s->n_failed));
    json_out_value(w, "bytes_per_s", rate(w, &s->bytes));
    json_out_value(w, "objects_per_s", rate(w, &s->objects));
    json_out_value(w, "error_rate_frac", estimate(w, &s->error_rate));
    json_out_value(w, "latency_of", json_string(label));
    json_out_value(w, "duration", latency(w, &s->duration));
    json_out_value(w, "ttfb", latency(w, &s->ttfb));
    json_out_value(w, "series_of", json_string(s->by_objects ? "objects_per_s" : "bytes_per_s"));
    json_out_value(w, "warm_up", warm_up(w, s));
    json_out_value(w, "drift", drift(w, &s->drift));
    put_shifts(w, s);
    json_out_value(w, "utilisation_frac", json_out_real(s->utilisation_frac));
    json_out_value(w, "residual_life", residual_life(w, s));
    put_hosts(w, &s->hosts);
    json_out_value(w, "co", co(w, &s->co));
    json_out_end(w);
}
