/* Compares the settings of both sides, and collects the report's figures. */
#include "analyze/tools/compare/compare_internal.h"

#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mean sizes of runs with several sizes differ by up to this fraction by chance. */
#define SIZE_TOLERANCE  .05
#define SHARE_TOLERANCE .05

/* Durations differ by up to this fraction by chance. */
#define MOST_SPREAD .1

void compare_spans_add(struct compare_spans *s, const struct run_kept_op *op)
{
    for (size_t k = 0; k < RUN_N_SETTINGS; k++) {
        double x = op->setting[k];

        s->of[k].lo = s->n_runs > 0 ? fmin(s->of[k].lo, x) : x;
        s->of[k].hi = s->n_runs > 0 ? fmax(s->of[k].hi, x) : x;
    }
    s->n_runs++;
    s->of[RUN_OBJECT_SIZE].several |= op->sizes_differ;
}

bool compare_spans_differ(enum run_setting kind, const struct compare_spans *all_a,
                          const struct compare_spans *all_b, double chance)
{
    const struct compare_span *a = &all_a->of[kind], *b = &all_b->of[kind];

    if (isnan(a->lo) || isnan(b->lo))
        return false;
    if (a->several != b->several)
        return true;
    if (kind == RUN_OBJECT_SIZE && a->several) {
        /* Means of random sizes vary within a side too. */
        double margin = (SIZE_TOLERANCE + chance) * fmax(a->hi, b->hi);
        return a->lo > b->hi + margin || b->lo > a->hi + margin;
    }
    if (kind == RUN_SHARE)
        return fmax(a->lo - b->hi, b->lo - a->hi) > SHARE_TOLERANCE + chance;
    return a->lo != b->lo || a->hi != b->hi;
}

/* A run may have used autoterm; or the durations differ by no more than rounding and the last
 * request explain; or all runs did the same number of requests. */
bool compare_is_outcome(enum run_setting kind, const struct compare_spans *a,
                        const struct compare_spans *b)
{
    const struct compare_span *n_a = &a->of[RUN_OPERATIONS], *n_b = &b->of[RUN_OPERATIONS];
    double lo = fmin(a->of[kind].lo, b->of[kind].lo), hi = fmax(a->of[kind].hi, b->of[kind].hi);

    return kind == RUN_DURATION_S &&
           (a->of[RUN_AUTOTERM].hi > 0 || b->of[RUN_AUTOTERM].hi > 0 ||
            hi - lo <= fmax(1, MOST_SPREAD * hi) ||
            (n_a->lo == n_a->hi && n_b->lo == n_b->hi && n_a->lo == n_b->lo));
}

void compare_settings(const struct compare_op *ops, size_t n_ops, enum run_setting first,
                      enum run_setting last, struct compare_setting *out, size_t *n)
{
    struct compare_spans of[2] = {{.n_runs = 0}};

    for (size_t k = 0; k < 2 * n_ops; k++) {
        const struct compare_runs *runs = &ops[k / 2].runs[k % 2];

        for (size_t i = 0; i < runs->n; i++)
            compare_spans_add(&of[k % 2], runs->v[i]->kept);
    }
    for (enum run_setting k = first; k <= last; k++)
        if (compare_spans_differ(k, &of[0], &of[1], 0))
            out[(*n)++] = (struct compare_setting){k, of[0].of[k], of[1].of[k],
                                                   compare_is_outcome(k, &of[0], &of[1])};
}

bool compare_option_text(const json_t *value, char text[static COMPARE_OPTION_TEXT])
{
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));

    snprintf(text, COMPARE_OPTION_TEXT, dump != NULL && strlen(dump) > 70 ? "%.66s..." : "%s",
             dump != NULL ? dump : "");
    free(dump);
    return dump != NULL;
}

/* Writes the value of a setting in the first run of a group as JSON, followed by ", ..." if others
 * of the side differ; writes "" if a run does not have the setting. */
static bool recorded_values(const struct compare *c, size_t group, bool is_after, const char *name,
                            char text[static COMPARE_OPTION_TEXT], json_t **first, struct err *e)
{
    size_t end = is_after ? compare_n_runs(c) : c->before.n;
    bool several = false;

    *first = NULL;
    text[0] = '\0';
    for (size_t i = is_after ? c->before.n : 0; i < end; i++) {
        if (c->group[i] != group)
            continue;
        json_t *value = json_object_get(compare_nth_run(c, i)->recorded.settings, name);
        if (value == NULL)
            return true;
        several |= *first != NULL && !json_equal(value, *first);
        *first = *first == NULL ? value : *first;
    }
    if (!compare_option_text(*first, text))
        return mem_none(e);
    strcat(text, several ? ", ..." : "");
    return true;
}

bool compare_is_measured_option(const char *name)
{
    bool is = false;

    for (size_t k = 0; k < RUN_N_SETTINGS; k++)
        is |= run_setting_names[k].option != NULL && strcmp(run_setting_names[k].option, name) == 0;
    return is;
}

static bool was_added(const struct compare *c, const struct compare_option *o)
{
    for (size_t i = 0; i < c->n_options; i++)
        if (strcmp(c->options[i].name, o->name) == 0 &&
            strcmp(c->options[i].before, o->before) == 0 &&
            strcmp(c->options[i].after, o->after) == 0)
            return true;
    return false;
}

bool compare_recorded(struct compare *c, size_t group, struct err *e)
{
    const char *name;
    json_t *ignored;

    json_object_foreach(compare_nth_run(c, group)->recorded.settings, name, ignored)
    {
        struct compare_option o = {.name = name, .is_limit = strcmp(name, "host") != 0};
        json_t *before, *after;

        if (!recorded_values(c, group, false, name, o.before, &before, e) ||
            !recorded_values(c, group, true, name, o.after, &after, e))
            return false;
        if (compare_is_measured_option(name) || o.before[0] == '\0' || o.after[0] == '\0' ||
            (json_equal(before, after) && strcmp(o.before, o.after) == 0) || was_added(c, &o))
            continue;
        if (!mem_more(&c->options, c->n_options, e))
            return false;
        c->options[c->n_options++] = o;
    }
    return true;
}

bool compare_is_limit(const struct compare_setting *s)
{
    return s->kind != RUN_OPERATIONS && !s->is_outcome;
}

size_t compare_n_limits(const struct compare *c)
{
    size_t n = c->n_settings;
    for (size_t i = 0; i < c->n_options; i++)
        n += c->options[i].is_limit;
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < c->ops[k].n_settings; i++)
            n += compare_is_limit(&c->ops[k].settings[i]);
    return n;
}

/* ---- Figures ---- */

/* Sorts those of n values that are numbers and returns their median; NaN: there are none. */
static double median(double *v, size_t n)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(v[i]))
            v[m++] = v[i];
    return m > 0 ? stats_sort_median(v, m) : NAN;
}

bool compare_figures(struct compare_op *op, struct err *e)
{
    double *v;

    if (!mem_new(&v, op->runs[0].n + op->runs[1].n, e))
        return false;
    for (size_t k = 0; k < 2 * n_metrics; k++) {
        const struct compare_runs *runs = &op->runs[k % 2];

        for (size_t i = 0; i < runs->n; i++)
            v[i] =
                metric_shown(&metrics[k / 2], &runs->v[i]->report, runs->v[i]->kept->of_response);
        (k % 2 == 0 ? op->before : op->after)[k / 2] = median(v, runs->n);
    }
    free(v);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < op->runs[k].n; i++) {
            const struct segments *s = &op->runs[k].v[i]->report.segments;
            op->few_segments |= s->present && s->n < ANALYSIS_MIN_MEDIAN;
        }
    return true;
}

bool compare_geomean(const struct compare *c, enum run_metric metric, double *before, double *after,
                     size_t *n)
{
    double log_before = 0, log_after = 0;
    *n = 0;
    for (size_t k = 0; k < c->n_ops; k++) {
        const struct compare_metric *m = compare_metric_of(&c->ops[k], metric);
        if (m == NULL || !role_is_benchmark(c->ops[k].role))
            continue;
        log_before += log(m->before.center);
        log_after += log(m->after.center);
        ++*n;
    }
    *before = exp(log_before / (double)*n);
    *after = exp(log_after / (double)*n);
    return *n > 0 && *before > 0 && *after > 0 && isfinite(*before) && isfinite(*after);
}
