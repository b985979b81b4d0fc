/* Compares the settings of both sides, and collects the report's figures. */
#include "analyze/tools/compare/compare_internal.h"

#include "libcommon/hist.h"
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

const struct compare_setting_name compare_setting_names[] = {
    [COMPARE_OPERATIONS] = {"Operations", "n_requests", offsetof(struct operation, n_requests)},
    [COMPARE_CONCURRENCY] = {"Concurrency", "concurrency", offsetof(struct operation, concurrency)},
    [COMPARE_ENDPOINTS] = {"Endpoints", "n_hosts", offsetof(struct operation, n_hosts)},
    [COMPARE_CLIENTS] = {"Clients", "n_clients", offsetof(struct operation, n_clients)},
    [COMPARE_OBJECTS_PER_OP] = {"Objects per operation", "objects_per_op",
                                offsetof(struct operation, objects_per_op)},
    [COMPARE_DURATION_S] = {"Duration", "duration_s", 0},
    [COMPARE_SIZE] = {"Object size", "object_size_bytes", 0},
    [COMPARE_SHARE] = {"Share of the requests", "share_frac", 0},
    [COMPARE_AUTOTERM] = {"Ended by autoterm", "autoterm", 0},
    [COMPARE_MIXED] = {"Operations at the same time", "mixed", 0},
};

static void span_add(struct compare_span *s, double value, bool several, bool *any)
{
    if (!*any || value < s->lo)
        s->lo = value;
    if (!*any || value > s->hi)
        s->hi = value;
    s->several |= several;
    *any = true;
}

bool compare_setting_of(const struct run *run, const struct run_op *op,
                        enum compare_setting_kind kind, double *value, bool *several)
{
    const struct operation *r = op != NULL ? &op->report : NULL;
    int64_t range_ns;

    *several = false;
    switch (kind) {
    case COMPARE_DURATION_S:
        range_ns = r->range.end_ns - r->range.start_ns;
        *value = (double)(range_ns / NS_PER_S + (range_ns % NS_PER_S >= NS_PER_S / 2));
        return r->range.present;
    case COMPARE_SIZE:
        *several = !r->requests.single_size;
        *value = *several ? r->requests.mean_bytes : (double)r->requests.object_size_bytes;
        return r->requests.present;
    case COMPARE_SHARE:
        *value = op->share;
        return run->mixed;
    case COMPARE_AUTOTERM:
        *value = run->autoterm;
        return true;
    case COMPARE_MIXED:
        *value = run->mixed;
        return true;
    default:
        *value =
            (double)*(const int64_t *)((const char *)r + compare_setting_names[kind].of_report);
        return true;
    }
}

bool compare_spans_differ(enum compare_setting_kind kind, const struct compare_span *a,
                          const struct compare_span *b, double chance)
{
    if (a->several != b->several)
        return true;
    if (kind == COMPARE_SIZE && a->several) {
        /* Means of random sizes vary within a side too. */
        double margin = (SIZE_TOLERANCE + chance) * fmax(a->hi, b->hi);
        return a->lo > b->hi + margin || b->lo > a->hi + margin;
    }
    if (kind == COMPARE_SHARE)
        return fmax(a->lo - b->hi, b->lo - a->hi) > SHARE_TOLERANCE + chance;
    return a->lo != b->lo || a->hi != b->hi;
}

static bool side_span(const struct compare_side *side, const char *op,
                      enum compare_setting_kind kind, struct compare_span *span)
{
    bool any = false, several;
    double value;

    *span = (struct compare_span){0};
    for (size_t i = 0; i < side->n; i++) {
        const struct run *r = &side->runs[i];
        const struct run_op *o = op != NULL ? run_op_named(r, op) : NULL;

        if ((op == NULL || o != NULL) && compare_setting_of(r, o, kind, &value, &several))
            span_add(span, value, several, &any);
    }
    return any;
}

bool compare_durations_differ(double a_s, double b_s)
{
    return fabs(a_s - b_s) > fmax(1, MOST_SPREAD * fmax(a_s, b_s));
}

/* Whether durations differ only because of how the runs ended: one used autoterm, or the durations
 * differ by no more than rounding and the last request explain, or all runs did the same number of
 * requests. */
static bool is_outcome(const struct compare *c, const char *op, const struct compare_setting *s)
{
    struct compare_span a, b;
    double lo = fmin(s->before.lo, s->after.lo), hi = fmax(s->before.hi, s->after.hi);

    if (s->kind != COMPARE_DURATION_S)
        return false;
    for (size_t i = 0; i < compare_n_runs(c); i++)
        if (compare_nth_run(c, i)->autoterm)
            return true;
    return !compare_durations_differ(lo, hi) ||
           (side_span(&c->before, op, COMPARE_OPERATIONS, &a) &&
            side_span(&c->after, op, COMPARE_OPERATIONS, &b) && a.lo == a.hi && b.lo == b.hi &&
            a.lo == b.lo);
}

void compare_settings(const struct compare *c, const char *op, enum compare_setting_kind first,
                      enum compare_setting_kind last, struct compare_setting *out, size_t *n)
{
    for (int kind = (int)first; kind <= (int)last; kind++) {
        struct compare_setting s = {.kind = (enum compare_setting_kind)kind};
        if (side_span(&c->before, op, s.kind, &s.before) &&
            side_span(&c->after, op, s.kind, &s.after) &&
            compare_spans_differ(s.kind, &s.before, &s.after, 0)) {
            s.is_outcome = is_outcome(c, op, &s);
            out[(*n)++] = s;
        }
    }
}

bool compare_option_text(const json_t *value, char text[static COMPARE_OPTION_TEXT])
{
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));

    snprintf(text, COMPARE_OPTION_TEXT, dump != NULL && strlen(dump) > 70 ? "%.66s..." : "%s",
             dump != NULL ? dump : "");
    free(dump);
    return dump != NULL;
}

/* Writes the first run's value of a setting as JSON, followed by ", ..." if other runs differ;
 * writes "" if a run does not have the setting. */
static bool recorded_values(const struct compare_side *side, const char *name,
                            char text[static COMPARE_OPTION_TEXT], json_t **first, struct err *e)
{
    bool several = false;
    *first = NULL;
    text[0] = '\0';
    for (size_t i = 0; i < side->n; i++) {
        json_t *value = json_object_get(side->runs[i].recorded.settings, name);
        if (value == NULL)
            return true;
        several |= i > 0 && !json_equal(value, *first);
        *first = i == 0 ? value : *first;
    }
    if (!compare_option_text(*first, text))
        return mem_none(e);
    strcat(text, several ? ", ..." : "");
    return true;
}

/* Whether the rows show this setting, so that the measured value is compared instead. */
static bool is_measured(const char *name)
{
    static const char *const measured[] = {"concurrent", "autoterm", "duration_ns",
                                           "obj.size_bytes"};
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
        if (strcmp(name, measured[i]) == 0)
            return true;
    return false;
}

const char *compare_differing_option(const json_t *a, const json_t *b)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)a, name, value)
    {
        const json_t *other = json_object_get(b, name);
        bool is_shown = is_measured(name) && strcmp(name, "duration_ns") != 0;

        if (other != NULL && !is_shown && strcmp(name, "host") != 0 && !json_equal(value, other))
            return name;
    }
    return NULL;
}

bool compare_recorded(struct compare *c, struct err *e)
{
    json_t *settings = c->before.n > 0 ? c->before.runs[0].recorded.settings : NULL;
    const char *name;
    json_t *ignored;

    if (!mem_cleared(&c->options, json_object_size(settings) + 1, e))
        return false;
    json_object_foreach(settings, name, ignored)
    {
        struct compare_option *o = &c->options[c->n_options];
        json_t *before, *after;

        if (!recorded_values(&c->before, name, o->before, &before, e) ||
            !recorded_values(&c->after, name, o->after, &after, e))
            return false;
        if (is_measured(name) || o->before[0] == '\0' || o->after[0] == '\0' ||
            (json_equal(before, after) && strcmp(o->before, o->after) == 0))
            continue;
        o->name = name;
        o->is_limit = strcmp(name, "host") != 0;
        c->n_options++;
    }
    return true;
}

bool compare_is_limit(const struct compare_setting *s)
{
    return s->kind != COMPARE_OPERATIONS && !s->is_outcome;
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

bool compare_figures(struct compare_op *op, const struct compare_side *side,
                     double shown[RUN_MAX_METRICS], struct err *e)
{
    double *v;

    if (!mem_new(&v, side->n, e))
        return false;
    for (size_t k = 0; k < n_metrics; k++) {
        size_t n = 0;

        for (size_t i = 0; i < side->n; i++) {
            const struct run_op *o = run_op_named(&side->runs[i], op->op);

            if (o == NULL)
                continue;
            v[n++] = metric_shown(&metrics[k], &o->report, o->of_response);
            op->few_segments |=
                o->report.segments.present && o->report.segments.n < ANALYSIS_MIN_MEDIAN;
        }
        shown[k] = median(v, n);
    }
    free(v);
    return true;
}

bool compare_side_counts(const struct compare_side *side, const char *op, uint64_t **count,
                         bool *any, struct err *e)
{
    *any = false;
    if (!mem_cleared(count, HIST_N_INDEXES, e))
        return false;
    for (size_t i = 0; i < side->n; i++) {
        const struct statistics_latency *d = run_durations(run_op_named(&side->runs[i], op));
        for (size_t b = 0; d != NULL && b < d->n_buckets; b++)
            (*count)[d->first_bucket + b] += d->count[b];
        *any |= d != NULL;
    }
    return true;
}

bool compare_effect(struct compare_op *op, const struct compare *c, struct err *e)
{
    uint64_t *a = NULL, *b = NULL;
    bool any_a = false, any_b = false;
    bool ok = compare_side_counts(&c->before, op->op, &a, &any_a, e) &&
              compare_side_counts(&c->after, op->op, &b, &any_b, e);

    op->has_effect = ok && any_a && any_b;
    if (op->has_effect)
        stats_effect_counts(a, b, HIST_N_INDEXES, &op->effect);
    free(a);
    free(b);
    return ok;
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
