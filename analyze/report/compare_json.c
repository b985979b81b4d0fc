#include "analyze/report/compare_json.h"

#include "analyze/compare/words.h"
#include "analyze/write/json.h"

#include <math.h>

static void put_side(struct json_out *w, const char *key, const struct compare_side *s)
{
    json_out_object(w, key);
    json_out_value(w, "name", json_out_text(s->name));
    json_out_value(w, "n_runs", json_integer((json_int_t)s->n));
    json_out_array(w, "runs");
    for (size_t i = 0; i < s->n; i++) {
        const struct run *r = &s->runs[i];
        json_t *o = json_object();
        json_out_set(w, o, "path", json_out_text(r->path));
        json_out_set(w, o, "sha256",
                     r->sha256.s[0] != '\0' ? json_string(r->sha256.s) : json_null());
        json_out_set_int(w, o, "n_rows", r->n_rows);
        json_out_set(w, o, "first_start",
                     r->start_ns <= r->end_ns ? json_out_time(r->start_ns) : json_null());
        json_out_set(w, o, "last_end",
                     r->start_ns <= r->end_ns ? json_out_time(r->end_ns) : json_null());
        json_out_set(w, o, "mixed", json_boolean(r->mixed));
        json_out_value(w, NULL, o);
    }
    json_out_end(w);
    json_out_end(w);
}

static json_t *span(struct json_out *w, const struct compare_span *s)
{
    json_t *o = json_object();
    json_out_set_real(w, o, "lo", s->lo);
    json_out_set_real(w, o, "hi", s->hi);
    if (s->several)
        json_out_set(w, o, "several_sizes", json_true());
    return o;
}

static void put_settings(struct json_out *w, const struct compare_setting *settings, size_t n)
{
    static const char *const names[] = {
        [COMPARE_OPERATIONS] = "n_requests",
        [COMPARE_CONCURRENCY] = "concurrency",
        [COMPARE_ENDPOINTS] = "n_hosts",
        [COMPARE_CLIENTS] = "n_clients",
        [COMPARE_OBJECTS_PER_OP] = "objects_per_op",
        [COMPARE_DURATION_S] = "duration_s",
        [COMPARE_SIZE] = "object_size_bytes",
        [COMPARE_SHARE] = "share_frac",
        [COMPARE_AUTOTERM] = "autoterm",
        [COMPARE_MIXED] = "mixed",
    };
    json_out_array(w, "differing_settings");
    for (size_t i = 0; i < n; i++) {
        json_t *o = json_object();
        json_out_set(w, o, "setting", json_string(names[settings[i].kind]));
        json_out_set(w, o, "before", span(w, &settings[i].before));
        json_out_set(w, o, "after", span(w, &settings[i].after));
        json_out_set(w, o, "limits_comparison", json_boolean(compare_is_limit(settings[i].kind)));
        json_out_value(w, NULL, o);
    }
    json_out_end(w);
}

static json_t *figures(struct json_out *w, const struct run_figures *f)
{
    static const char *const rates[RUN_N_RATES] = {"average", "fastest", "median", "slowest"};
    static const char *const times[RUN_N_TIMES] = {"mean_ns", "p50_ns",  "p90_ns",
                                                   "p99_ns",  "best_ns", "worst_ns"};
    json_t *o = json_object();
    json_t *bytes = json_object(), *objects = json_object();
    json_t *duration = json_object(), *ttfb = json_object();
    json_out_set(w, o, "bytes_per_s", bytes);
    json_out_set(w, o, "objects_per_s", objects);
    json_out_set(w, o, "duration", duration);
    json_out_set(w, o, "ttfb", ttfb);
    for (int i = 0; i < RUN_N_RATES; i++) {
        json_out_set_real(w, bytes, rates[i], f->bytes_per_s[i]);
        json_out_set_real(w, objects, rates[i], f->objects_per_s[i]);
    }
    for (int i = 0; i < RUN_N_TIMES; i++) {
        json_out_set_real(w, duration, times[i], f->duration_ns[i]);
        json_out_set_real(w, ttfb, times[i], f->ttfb_ns[i]);
    }
    return o;
}

static json_t *values(struct json_out *w, const struct compare_values *v)
{
    json_t *o = json_object(), *each = json_array();
    const struct stats_ci *ci = &v->one.ci;
    bool single = v->n == 1;
    double spread = isfinite(v->spread_frac) ? v->spread_frac : INFINITY;
    json_out_set_real(w, o, "value", v->center);
    json_out_set_real(w, o, "lo", single && ci->ok ? ci->lo : INFINITY);
    json_out_set_real(w, o, "hi", single && ci->ok ? ci->hi : INFINITY);
    json_out_set_real(w, o, "spread_frac", spread);
    json_out_set_int(w, o, "n_runs", (int64_t)v->n);
    json_out_set(w, o, "values", each);
    for (size_t i = 0; i < v->n; i++)
        json_out_append(w, each, json_out_real(v->v[i]));
    return o;
}

/* theta as a ratio, or as it is where it is a difference. */
static double effect(const struct compare_metric *m, double theta)
{
    return m->cmp.is_difference ? theta : exp(theta);
}

static void set_effect(struct json_out *w, json_t *o, const struct compare_metric *m)
{
    const struct stats_cmp *c = &m->cmp;
    const char *name = c->is_difference ? "difference" : "ratio";
    char key[32];
    json_out_set_real(w, o, name, effect(m, c->theta));
    const double limits[] = {c->lo, c->hi, c->lo90, c->hi90};
    static const char *const ends[] = {"lo", "hi", "lo90", "hi90"};
    for (size_t i = 0; i < 4; i++) {
        snprintf(key, sizeof key, "%s_%s", name, ends[i]);
        json_out_set_real(w, o, key,
                          c->ok && isfinite(limits[i]) ? effect(m, limits[i]) : INFINITY);
    }
}

static json_t *gate(struct json_out *w, const struct compare_metric *m)
{
    if (!m->gated)
        return json_null();
    json_t *o = json_object();
    json_out_set_real(w, o, "limit", effect(m, m->gate_limit));
    json_out_set_real(w, o, "p_worse", m->p_worse);
    json_out_set(w, o, "passes", json_boolean(m->gate_passes));
    return o;
}

static json_t *metric(struct json_out *w, const struct compare_metric *m)
{
    json_t *o = json_object();
    const struct run_part *part = m->part;
    bool is_size = part->kind == RUN_SIZE;
    json_out_set(w, o, "metric", json_string(metrics[m->metric].name));
    json_out_set(w, o, "unit", json_string(metrics[m->metric].unit));
    json_out_set(w, o, "host", part->kind == RUN_HOST ? json_out_text(part->host) : json_null());
    json_out_set(w, o, "min_bytes", is_size ? json_integer(part->min_bytes) : json_null());
    json_out_set(w, o, "max_bytes",
                 is_size && part->max_bytes >= 0 ? json_integer(part->max_bytes) : json_null());
    json_out_set(w, o, "up_is_better", json_boolean(metrics[m->metric].up_is_better));
    json_out_set(w, o, "before", values(w, &m->before));
    json_out_set(w, o, "after", values(w, &m->after));
    set_effect(w, o, m);
    json_out_set_real(w, o, "p", m->cmp.ok ? m->cmp.p : INFINITY);
    json_out_set_real(w, o, "p_holm", m->p_holm);
    json_out_set(w, o, "exploratory", json_boolean(!m->in_family));
    json_out_set(w, o, "verdict", json_string(compare_words_verdict_code(m)));
    json_out_set(w, o, "verdict_text", json_string(compare_words_verdict(m).s));
    json_out_set_real(w, o, "delta_frac", m->delta > 0 ? m->delta : INFINITY);
    json_out_set(w, o, "beyond_delta", json_boolean(m->beyond_delta));
    json_out_set_real(w, o, "mde_frac", m->mde_frac);
    json_out_set_real(w, o, "break_even_run_cv_frac", m->cmp.break_even);
    json_out_set(w, o, "assumptions", json_string(compare_words_assumption(m).s));
    json_out_set(w, o, "why", m->cmp.ok ? json_null() : json_out_text(m->cmp.why));
    json_out_set(w, o, "gate", gate(w, m));
    return o;
}

static void put_op(struct json_out *w, const struct compare_op *op)
{
    json_out_object(w, NULL);
    json_out_value(w, "op", json_out_text(op->op));
    json_out_value(w, "n_runs_before", json_integer((json_int_t)op->n_before));
    json_out_value(w, "n_runs_after", json_integer((json_int_t)op->n_after));
    put_settings(w, op->settings, op->n_settings);
    json_out_value(w, "before", figures(w, &op->before));
    json_out_value(w, "after", figures(w, &op->after));
    json_t *effect_size = json_null();
    if (op->has_effect) {
        effect_size = json_object();
        json_out_set_real(w, effect_size, "ks_d", op->effect.ks_d);
        json_out_set_real(w, effect_size, "p_after_less", op->effect.p_b_less);
    }
    json_out_value(w, "duration_effect", effect_size);
    json_out_array(w, "metrics");
    for (size_t i = 0; i < op->n_metrics; i++)
        json_out_value(w, NULL, metric(w, &op->metrics[i]));
    json_out_end(w);
    json_out_end(w);
}

static json_t *noise(struct json_out *w, const struct compare *c)
{
    const char *kind = "runs";
    if (c->single)
        kind = c->noise == STATS_NOISE_CV        ? "run-cv"
               : c->noise == STATS_NOISE_HISTORY ? "history"
                                                 : "unknown";
    json_t *o = json_object();
    json_out_set(w, o, "kind", json_string(kind));
    json_out_set_real(w, o, "run_cv_frac", c->run_cv_frac);
    json_out_set_int(w, o, "n_history", (int64_t)c->n_history);
    return o;
}

static void put_geomeans(struct json_out *w, const struct compare *c)
{
    json_out_array(w, "geomeans");
    for (int i = 0; i < RUN_ERRORS; i++) {
        double before, after;
        size_t n;
        if (!compare_geomean(c, (enum run_metric)i, &before, &after, &n) || n < 2)
            continue;
        json_t *o = json_object();
        json_out_set(w, o, "metric", json_string(metrics[i].name));
        json_out_set_int(w, o, "n_ops", (int64_t)n);
        json_out_set_real(w, o, "before", before);
        json_out_set_real(w, o, "after", after);
        json_out_set_real(w, o, "ratio", after / before);
        json_out_value(w, NULL, o);
    }
    json_out_end(w);
}

static const char *gate_result(const struct compare *c)
{
    return c->gate == EXIT_DONE ? "passed" : c->gate == EXIT_FAILED ? "not passed" : "undecided";
}

bool compare_json(const struct compare *c, FILE *f, struct err *e)
{
    struct json_out w;
    json_out_init(&w, f);
    json_out_object(&w, NULL);
    json_out_value(&w, "schema", json_string("s3analyze/compare/1"));
    put_side(&w, "before", &c->before);
    put_side(&w, "after", &c->after);
    json_out_value(&w, "run_noise", noise(&w, c));
    json_out_array(&w, "warnings");
    for (size_t i = 0; i < c->n_warnings; i++) {
        json_t *o = json_object();
        json_out_set(&w, o, "code", json_string(c->warnings[i].code));
        json_out_set(&w, o, "message", json_out_text(c->warnings[i].message));
        json_out_value(&w, NULL, o);
    }
    json_out_end(&w);
    put_settings(&w, c->settings, c->n_settings);
    json_out_array(&w, "differing_options");
    for (size_t i = 0; i < c->n_options; i++) {
        json_t *o = json_object();
        json_out_set(&w, o, "option", json_out_text(c->options[i].name));
        json_out_set(&w, o, "before", json_out_text(c->options[i].before));
        json_out_set(&w, o, "after", json_out_text(c->options[i].after));
        json_out_set(&w, o, "limits_comparison", json_boolean(c->options[i].is_limit));
        json_out_value(&w, NULL, o);
    }
    json_out_end(&w);
    json_out_value(&w, "n_limits", json_integer((json_int_t)compare_n_limits(c)));
    json_out_value(&w, "n_family", json_integer((json_int_t)c->n_family));
    json_out_array(&w, "operations");
    for (size_t k = 0; k < c->n_ops; k++)
        put_op(&w, &c->ops[k]);
    json_out_end(&w);
    put_geomeans(&w, c);
    json_out_value(&w, "gate", c->has_gate ? json_string(gate_result(c)) : json_null());
    json_out_end(&w);
    return json_out_finish(&w, e);
}
