#include "analyze/render/json/documents.h"

#include "analyze/render/report/compare.h"
#include "analyze/summary/requests/sample.h"
#include "analyze/tools/compare/words.h"
#include "analyze/write/json.h"

#include <math.h>

static void put_side(struct json_out *w, const char *key, const struct compare_side *s)
{
    json_out_object(w, key);
    JSON_PUT(w, "name", s->name);
    JSON_PUT(w, "n_runs", s->n);
    JSON_OBJECTS(w, "runs", i, s->n) {
        const struct run *r = &s->runs[i];
        bool has_rows = r->start_ns <= r->end_ns;

        JSON_PUT(w, "path", r->path);
        JSON_PUT_IF(w, "sha256", r->sha256.s[0] != '\0', r->sha256.s);
        JSON_PUT(w, "n_rows", r->n_rows);
        json_put_time_if(w, "first_start", has_rows, r->start_ns);
        json_put_time_if(w, "last_end", has_rows, r->end_ns);
        JSON_PUT(w, "mixed", r->mixed);
        findings_json_put(w, &r->findings);
    }
    json_out_end(w);
}

static void put_span(struct json_out *w, const char *key, const struct compare_span *s)
{
    json_out_object(w, key);
    JSON_MEMBERS(w, s, lo, hi);
    if (s->several)
        json_put_bool(w, "several_sizes", true);
    json_out_end(w);
}

static void put_settings(struct json_out *w, const struct compare_setting *settings, size_t n)
{
    JSON_OBJECTS(w, "differing_settings", i, n) {
        JSON_PUT(w, "setting", run_setting_names[settings[i].kind].json);
        put_span(w, "before", &settings[i].before);
        put_span(w, "after", &settings[i].after);
        JSON_PUT(w, "limits_comparison", compare_is_limit(&settings[i]));
    }
}

/* Writes what the reports show, by group of metrics. */
static void put_figures(struct json_out *w, const char *key, const double *shown)
{
    json_out_object(w, key);
    for (int g = 0; g < METRIC_N_GROUPS; g++) {
        json_out_object(w, metric_groups[g].json);
        for (size_t i = 0; i < n_metrics; i++)
            if (metrics[i].key != NULL && (int)metrics[i].group == g)
                JSON_PUT(w, metrics[i].key, shown[i]);
        json_out_end(w);
    }
    json_out_end(w);
}

static void put_values(struct json_out *w, const char *key, const struct compare_values *v)
{
    const struct stats_ci *ci = &v->one.ci;
    bool has_limits = v->n == 1 && ci->ok, is_exact = v->below + v->above == 0;

    json_out_object(w, key);
    JSON_PUT_IF(w, "value", is_exact, v->center);
    if (!is_exact)
        json_put_pair(w, "bounds", v->center * exp(-v->below), v->center * exp(v->above));
    JSON_PUT_IF(w, "lo", has_limits, ci->lo);
    JSON_PUT_IF(w, "hi", has_limits, ci->hi);
    JSON_PUT(w, "spread_frac", v->spread_frac);
    JSON_PUT(w, "n_runs", v->n);
    JSON_ARRAY(w, "values", i, v->n)
        JSON_PUT(w, NULL, v->v[i]);
    json_out_end(w);
}

/* Converts theta to a ratio; a difference stays as it is. */
static double effect(const struct compare_metric *m, double theta)
{
    return m->cmp.is_difference ? theta : exp(theta);
}

static void put_effect(struct json_out *w, const struct compare_metric *m)
{
    const struct stats_cmp *c = &m->cmp;
    const char *name = c->is_difference ? "difference" : "ratio";
    char key[32];

    JSON_PUT(w, name, effect(m, c->theta));
    const double limits[] = {c->lo, c->hi, c->lo90, c->hi90};
    static const char *const ends[] = {"lo", "hi", "lo90", "hi90"};
    for (size_t i = 0; i < 4; i++) {
        snprintf(key, sizeof key, "%s_%s", name, ends[i]);
        JSON_PUT_IF(w, key, c->ok && isfinite(limits[i]), effect(m, limits[i]));
    }
}

static void put_metric(struct json_out *w, const struct compare_metric *m)
{
    const struct run_part *part = m->part;
    bool is_size = part->kind == RUN_SIZE;

    JSON_PUT(w, "metric", metrics[m->metric].name);
    JSON_PUT(w, "unit", metrics[m->metric].unit);
    JSON_PUT_IF(w, "host", part->kind == RUN_HOST, part->host);
    JSON_PUT_IF(w, "min_bytes", is_size, part->min_bytes);
    JSON_PUT_IF(w, "max_bytes", is_size && part->max_bytes >= 0, part->max_bytes);
    JSON_PUT(w, "up_is_better", metrics[m->metric].up_is_better);
    put_values(w, "before", &m->before);
    put_values(w, "after", &m->after);
    put_effect(w, m);
    JSON_PUT(w, "change", effect(m, compare_theta(m)));
    json_put_bool(w, "is_judged", m->verdict != STATS_NOT_JUDGED);
    JSON_PUT_IF(w, "p", m->cmp.ok, m->cmp.p);
    JSON_PUT(w, "p_holm", m->p_holm);
    json_put_bool(w, "exploratory", !m->in_family);
    JSON_PUT(w, "verdict", compare_words_verdict_code(m));
    JSON_PUT(w, "verdict_text", compare_words_verdict(m).s);
    JSON_PUT_IF(w, "delta_frac", m->delta > 0, m->delta);
    JSON_MEMBERS(w, m, beyond_delta, mde_frac);
    JSON_PUT(w, "break_even_run_cv_frac", m->cmp.break_even);
    JSON_PUT(w, "test", m->n_pairs > 0 ? "pairs" : compare_is_single(m) ? "single runs" : "groups");
    JSON_PUT_IF(w, "n_pairs", m->n_pairs > 0, m->n_pairs);
    JSON_PUT(w, "assumptions", compare_words_assumption(m).s);
    JSON_PUT_IF(w, "why", !m->cmp.ok, m->cmp.why);
    if (json_out_open(w, "gate", m->gated)) {
        JSON_PUT(w, "limit", effect(m, m->gate_limit));
        JSON_PUT(w, "p_worse", m->p_worse);
        JSON_PUT(w, "passes", m->gate_passes);
        json_out_end(w);
    }
}

/* Writes one carrier of a change of durations: hosts, clients, sizes, a time, or the tail. */
static void put_carrier(struct json_out *w, const struct compare_carrier *x)
{
    static const char *const kinds[] = {
        [COMPARE_AT_HOSTS] = "hosts", [COMPARE_FROM_CLIENTS] = "clients",
        [COMPARE_IN_SIZES] = "sizes", [COMPARE_IN_TIME] = "time",
        [COMPARE_IN_TAIL] = "tail",
    };

    JSON_PUT(w, "kind", kinds[x->kind]);
    if (x->kind == COMPARE_AT_HOSTS || x->kind == COMPARE_FROM_CLIENTS) {
        JSON_ARRAY(w, "names", i, x->n)
            JSON_PUT(w, NULL, x->name[i]);
    }
    if (x->kind == COMPARE_IN_SIZES) {
        JSON_ARRAY(w, "min_bytes_of_classes", i, x->n)
            JSON_PUT(w, NULL, analysis_size_edges[x->size[i]]);
    }
    JSON_PUT_IF(w, "from_s", x->kind == COMPARE_IN_TIME, x->lo);
    JSON_PUT_IF(w, "to_s", x->kind == COMPARE_IN_TIME, x->hi);
    JSON_PUT_IF(w, "slowest_frac", x->kind == COMPARE_IN_TAIL, x->lo);
    JSON_PUT(w, "of_change_frac", x->frac);
    JSON_PUT(w, "change_frac", x->change);
    JSON_PUT(w, "change_elsewhere_frac", x->rest);
}

/* Writes which cell of several it is. */
static void put_cell(struct json_out *w, const struct compare_op *op)
{
    const double *setting = op->runs[0].v[0]->kept->setting;

    JSON_PUT(w, "cell", op->name);
    json_out_object(w, "settings");
    for (size_t k = RUN_CONCURRENCY; k < RUN_N_SETTINGS; k++)
        JSON_PUT(w, run_setting_names[k].json, setting[k]);
    json_out_end(w);
    JSON_PUT(w, "change", compare_change_names[op->change]);
}

static void put_op(struct json_out *w, const struct compare *c, const struct compare_op *op)
{
    JSON_PUT(w, "op", op->op);
    if (c->has_cells && compare_is_measured(c, op))
        put_cell(w, op);
    JSON_PUT(w, "n_runs_before", op->runs[0].n);
    JSON_PUT(w, "n_runs_after", op->runs[1].n);
    put_settings(w, op->settings, op->n_settings);
    put_figures(w, "before", op->before);
    put_figures(w, "after", op->after);
    if (json_out_open(w, "duration_effect", op->has_effect)) {
        JSON_PUT(w, "ks_d", op->effect.ks_d);
        JSON_PUT(w, "p_after_less", op->effect.p_b_less);
        json_out_end(w);
    }
    JSON_OBJECTS(w, "where", i, op->n_carriers)
        put_carrier(w, &op->carriers[i]);
    JSON_PUT(w, "share_of_change_frac", op->share_of_change);
    if (json_out_open(w, "without_faults", op->has_clear)) {
        JSON_PUT(w, "metric", metrics[compare_leading(op)->metric].name);
        JSON_PUT(w, "ratio", exp(op->clear.theta));
        JSON_PUT(w, "lo", op->clear.ok ? exp(op->clear.lo) : NAN);
        JSON_PUT(w, "hi", op->clear.ok ? exp(op->clear.hi) : NAN);
        json_out_end(w);
    }
    JSON_OBJECTS(w, "metrics", i, op->n_metrics)
        put_metric(w, &op->metrics[i]);
    if (json_out_open(w, "no_errors", op->lacks_errors)) {
        JSON_PUT(w, "most_frac", op->most_errors);
        JSON_PUT(w, "passes", op->errors_pass);
        json_out_end(w);
    }
}

static void put_noise(struct json_out *w, const struct compare *c)
{
    const char *kind = "runs";
    if (c->single)
        kind = c->noise == STATS_NOISE_CV        ? "run-cv"
               : c->noise == STATS_NOISE_HISTORY ? "history"
                                                 : "unknown";
    json_out_object(w, "run_noise");
    JSON_PUT(w, "kind", kind);
    JSON_MEMBERS(w, c, run_cv_frac, n_history);
    json_out_end(w);
}

static void put_geomeans(struct json_out *w, const struct compare *c)
{
    struct compare_mean x;

    json_out_array(w, "geomeans");
    for (size_t i = 0; i < RUN_N_COMPARED; i++) {
        if (!compare_sheet_mean(c, i, &x))
            continue;
        json_out_object(w, NULL);
        JSON_PUT(w, "metric", metrics[i].name);
        JSON_MEMBERS(w, &x, n_ops, before, after);
        JSON_PUT(w, "ratio", x.after / x.before);
        json_out_end(w);
    }
    json_out_end(w);
}

static void put_note(void *w, const char *op, const char *sentence)
{
    json_out_object(w, NULL);
    JSON_PUT((struct json_out *)w, "op", op);
    JSON_PUT((struct json_out *)w, "note", sentence);
    json_out_end(w);
}

static const char *gate_result(const struct compare *c)
{
    return c->gate == EXIT_DONE ? "passed" : c->gate == EXIT_FAILED ? "not passed" : "undecided";
}

bool compare_json(const void *compare, FILE *f, struct err *e)
{
    const struct compare *c = compare;
    struct json_out w;

    json_out_begin(&w, f, "s3analyze/compare/1");
    put_side(&w, "before", &c->before);
    put_side(&w, "after", &c->after);
    put_noise(&w, c);
    JSON_OBJECTS(&w, "warnings", i, c->warnings.n)
        JSON_MEMBERS(&w, &c->warnings.v[i], code, message);
    put_settings(&w, c->settings, c->n_settings);
    JSON_OBJECTS(&w, "differing_options", i, c->n_options) {
        JSON_PUT(&w, "option", c->options[i].name);
        JSON_MEMBERS(&w, &c->options[i], before, after);
        JSON_PUT(&w, "limits_comparison", c->options[i].is_limit);
    }
    JSON_PUT(&w, "n_limits", compare_n_limits(c));
    JSON_PUT(&w, "n_family", c->n_family);
    JSON_OBJECTS(&w, "operations", k, c->n_ops)
        put_op(&w, c, &c->ops[k]);
    put_geomeans(&w, c);
    JSON_PUT(&w, "n_faulty_runs", compare_n_faulty(c));
    JSON_PUT(&w, "answer", compare_words_answer(c).s);
    JSON_PUT_IF(&w, "gate", c->has_gate, gate_result(c));
    json_out_array(&w, "notes");
    bool ok = compare_sheet_each_note(c, put_note, &w, e);
    json_out_end(&w);
    return json_out_finish(&w, e) && ok;
}
