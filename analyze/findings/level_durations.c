/* Levels of durations, where throughput does not show them. */
#include "analyze/findings/levels_internal.h"
#include "analyze/findings/slow_limits.h"
#include "analyze/stats/stats.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_UNDER_WAY .25 /* change of concurrency / change of durations, as logarithms */
#define MOST_UNDER_WAY  1.1
#define LEAST_SPREAD    1e-6      /* variance of a level of durations that are all the same */
#define TYPICAL_OF      (1 << 16) /* requests, at most about */
#define LEAST_TAIL      1.5       /* ratio of two 99th percentiles */
#define TAIL_SCALE      3         /* a rise of slow requests from 0 to .55 % counts as 1.25 times */

void levels_add_block(struct levels *l, size_t block, double x)
{
    const struct course *c = l->s->c;
    int64_t at_ns = course_block_start_ns(c, block);

    if (at_ns >= c->full_until_ns || search_free_frac_of_block(l->s, block) < LEVELS_FREE_FRAC)
        return;
    l->at_ns[l->n] = at_ns;
    l->x[l->n++] = x;
}

/* Fills a time series of speeds from durations (in an open loop since requests were due):
 * logarithms of 1 / ns, which rise and fall as those of a rate do. */
static void fill_speeds(struct levels *l)
{
    const struct course *c = l->s->c;
    struct responses r;
    double n = 0;

    search_responses(l->s, &r);
    l->width_ns = c->block_ns;
    for (size_t b = 0; b < c->n_blocks; b++) {
        if (r.n[b] > 0)
            levels_add_block(l, b, -log(r.ns[b]));
        n += r.n[b];
    }
    l->least_variance = fmax(r.sd * r.sd * (double)l->n / fmax(n, 1), LEAST_SPREAD);
}

/* Fills a time series from the share of slow samples. The sign makes more of them lower, as in a
 * series of speeds. The square root makes the noise the same whatever the share. */
static void fill_tail(struct levels *l)
{
    const struct course *c = l->s->c;
    double all = 0;

    l->width_ns = c->block_ns;
    for (size_t b = 0; b < c->n_blocks; b++) {
        double n = 0, n_slow = 0;
        for (size_t q = 0; q < c->n_strata; q++) {
            n += l->s->all[q * c->n_blocks + b].n;
            n_slow += l->s->all[q * c->n_blocks + b].n_slow;
        }
        if (n > 0)
            levels_add_block(l, b, -TAIL_SCALE * sqrt(n_slow / n));
        all += n;
    }
    l->least_variance = TAIL_SCALE * TAIL_SCALE / 4 * (double)l->n / fmax(all, 1);
}

/* Durations of the successes that began in a time, in an open loop with their wait; 0: none
 * began. */
struct typical {
    double median_ns, p99_ns, mean_ns;
};

/* Fills *out from a sample of about TYPICAL_OF requests of the run. False: out of memory. */
static bool typical_within(const struct course *c, int64_t from_ns, int64_t to_ns,
                           struct typical *out, struct err *e)
{
    size_t step = (size_t)c->n / TYPICAL_OF + 1, n = 0;
    double *v, sum = 0;

    if (!mem_new(&v, (size_t)c->n / step + c->n_ops, e))
        return false;
    for (size_t k = 0; c->has_requests && k < c->n_ops; k++) {
        const struct table *t = c->tables[k];
        for (size_t i = 0; i < t->n; i += step) {
            if (t->start[i] < from_ns || t->start[i] >= to_ns || table_failed(t, i))
                continue;
            v[n] = (double)packed_get(&t->dur, i) +
                   (packed_has(&t->late, i) ? (double)packed_get(&t->late, i) : 0);
            sum += v[n++];
        }
    }
    *out = (struct typical){0};
    if (n > 0)
        *out = (struct typical){.median_ns = stats_select(v, n, (n - 1) / 2),
                                .p99_ns = stats_select(v, n, (n - 1) * 99 / 100),
                                .mean_ns = sum / (double)n};
    free(v);
    return true;
}

/* Returns the mean of a time series over [from_ns, to_ns); NAN: it has no points there. */
static double mean_within(const struct levels *l, int64_t from_ns, int64_t to_ns)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < l->n; i++)
        if (l->at_ns[i] >= from_ns && l->at_ns[i] < to_ns) {
            sum += l->x[i];
            n++;
        }
    return n > 0 ? sum / n : NAN;
}

/* A change of the level of durations, from the time [from_ns, until_ns) to [at_ns, to_ns). */
struct slowing {
    const char *kind;
    int64_t from_ns, until_ns, at_ns, to_ns;
    double change; /* of their logarithm */
    bool stays;
};

static bool is_reported(const struct search *s, const char *kind)
{
    for (size_t i = 0; i < s->out->n; i++)
        if (strcmp(s->out->v[i].kind->name, kind) == 0)
            return true;
    return false;
}

/* Whether an earlier finding explains the change of durations. */
static bool is_explained(const struct levels *l, const struct slowing *x)
{
    static const char causes[] =
        "stall pauses errors slow-host slow-client slow-op absent-client backlog no-success";

    if (strcmp(x->kind, "slow-op") != 0)
        return is_reported(l->s, x->kind);
    for (size_t i = 0; i < l->s->out->n; i++) {
        const struct finding *f = &l->s->out->v[i];
        int64_t near_ns = int64_max(4 * l->width_ns, levels_within_ns(l, x->change));
        bool begins = f->has_start && llabs(f->start_ns - x->at_ns) <= near_ns;
        bool ends = f->has_end && llabs(f->end_ns - x->at_ns) <= near_ns;

        if ((begins || ends) && strstr(causes, f->kind->name) != NULL)
            return true;
    }
    return false;
}

/* Whether throughput shows the change of durations: in a closed loop that does nothing but wait for
 * answers the number of requests under way stays the same. */
static bool throughput_tells(const struct search *s, const struct slowing *x,
                             const struct typical *before, const struct typical *after)
{
    double change = log(after->mean_ns / before->mean_ns),
           under_way = log(load_mean(s, s->c->load.under_way, x->at_ns, x->to_ns) /
                           load_mean(s, s->c->load.under_way, x->from_ns, x->until_ns));

    return !s->c->open_loop &&
           !(fabs(change) >= log(SLOW_LEAST_RATIO) && under_way / change >= LEAST_UNDER_WAY &&
             under_way / change <= MOST_UNDER_WAY); /* NAN: no */
}

/* The figure that changes. */
struct figure {
    const char *name;
    double before_ns, after_ns;
    double time_ratio; /* of all requests, after to before */
};

/* Adds the finding of a change: figures and sentence. */
static bool add_slowing(struct levels *l, const struct slowing *x, const struct figure *g,
                        struct err *e)
{
    const struct course *c = l->s->c;
    bool begins = strcmp(x->kind, "warm-up") == 0, drifts = strcmp(x->kind, "drift") == 0;
    double ratio = g->time_ratio, slowed = 1 - fmin(ratio, 1 / ratio),
           frac_before = search_frac(l->s, x->until_ns - x->from_ns);
    double lost = slowed * (drifts                ? .5
                            : begins || ratio < 1 ? frac_before
                                                  : search_frac(l->s, x->to_ns - x->at_ns));
    bool problem = fabs(x->change) >= log(SLOW_PROBLEM_RATIO) &&
                   lost >= (begins ? LEVELS_PROBLEM_WARM_UP : LEVELS_PROBLEM_LOST);
    struct finding f = finding_of(x->kind, problem, lost);

    f.op = c->n_ops == 1 ? c->ops[0].name : NULL;
    f.ratio = g->after_ns / g->before_ns;
    finding_figure(&f, "before_ns", g->before_ns);
    finding_figure(&f, "after_ns", g->after_ns);
    struct units_text was = units_duration((int64_t)g->before_ns),
                      is = units_duration((int64_t)g->after_ns);
    const char *what = f.op != NULL ? f.op : "All operations";
    const char *of = c->open_loop && c->has_requests ? "response time" : "duration";
    if (drifts)
        return findings_add(l->s->out, &f, e, "%s: %s %s %s steadily over the run, %s -> %s", what,
                            g->name, of, ratio > 1 ? "rose" : "fell", was.s, is.s);
    f.within_ns = levels_within_ns(l, x->change);
    if (begins) {
        finding_set_times(&f, x->from_ns, x->until_ns);
        return findings_add(
            l->s->out, &f, e,
            "%s: %s %s %s in the first %s, %s later (warm-up; s3analyze analyze --steady leaves it "
            "out)",
            what, g->name, of, was.s, units_duration(x->until_ns - x->from_ns).s, is.s);
    }
    f.has_start = true;
    f.start_ns = x->at_ns;
    f.has_end = !x->stays;
    f.end_ns = x->stays ? 0 : x->to_ns;
    return findings_add(l->s->out, &f, e, "%s: %s %s %s -> %s from %s %s%s", what, g->name, of,
                        was.s, is.s, find_clock(l->s->c, x->at_ns).s, x->stays ? "on" : "to ",
                        x->stays ? "" : find_clock(l->s->c, x->to_ns).s);
}

/* Reports a change, unless another finding explains it or throughput shows it. A change of the tail
 * is reported only if the median stayed the same. */
static bool say_slowing(struct levels *l, bool tail, const struct slowing *x, struct err *e)
{
    struct typical before, after;

    /* More requests that are due make more of them late, some time after. */
    double due = log(load_mean(l->s, l->s->c->load.due, x->at_ns, x->to_ns) /
                     load_mean(l->s, l->s->c->load.due, x->from_ns, x->until_ns));

    if (fabs(x->change) < log(SLOW_LEAST_RATIO) || is_explained(l, x) ||
        (tail && due / x->change > 0 && fabs(due) > log(1 + LOAD_LEAST_CHANGE)) ||
        load_explains(l->s, x->at_ns, x->change, false))
        return true;
    if (!typical_within(l->s->c, x->from_ns, x->until_ns, &before, e) ||
        !typical_within(l->s->c, x->at_ns, x->to_ns, &after, e))
        return false;
    bool medians = before.median_ns > 0 && after.median_ns > 0;
    if (!medians) {
        before.median_ns = before.mean_ns = exp(-mean_within(l, x->from_ns, x->until_ns));
        after.median_ns = after.mean_ns = before.mean_ns * exp(x->change);
    }
    double ratio = after.median_ns / before.median_ns;
    struct figure g = {medians ? "median" : "mean", before.median_ns, after.median_ns, ratio};
    if (tail) {
        g = (struct figure){"p99", before.p99_ns, after.p99_ns, after.mean_ns / before.mean_ns};
        if (!medians || fabs(log(ratio)) >= log(SLOW_LEAST_RATIO) ||
            fabs(log(g.after_ns / g.before_ns)) < log(LEAST_TAIL))
            return true;
    }
    return throughput_tells(l->s, x, &before, &after) || add_slowing(l, x, &g, e);
}

/* Reports what happens to durations: a level_say_fn. */
static bool say_change(struct levels *l, const struct level_change *of, const void *is_tail,
                       struct err *e)
{
    bool tail = *(const bool *)is_tail;
    bool drifts = of->shape == CHANGE_TREND, begins = of->shape == CHANGE_AT_FIRST;
    size_t at = drifts ? l->n - of->at : of->at;
    struct slowing x = {
        .kind = drifts   ? "drift"
                : begins ? "warm-up"
                         : "slow-op",
        .from_ns = of->from > 0 ? l->at_ns[of->from] : l->s->c->start_ns,
        .until_ns = l->at_ns[of->at],
        .at_ns = l->at_ns[at],
        .to_ns = levels_at_ns(l, of->to),
        .change = levels_mean(l->x, of->from, of->at) - levels_mean(l->x, at, of->to),
        .stays = of->shape == CHANGE_STAYS || drifts,
    };

    if (of->shape == CHANGE_WAVE)
        return tail || !l->s->c->open_loop || load_due_varies(l->s) || levels_say_wave(l, true, e);
    return say_slowing(l, tail, &x, e);
}

bool levels_find_in_durations(struct search *s, struct levels *l, struct err *e)
{
    /* Throughput shows the swings of a closed loop; those of what is due are none of the system. */
    bool looks_for_swings = s->c->open_loop && !load_due_varies(s), swings = false;

    *l = (struct levels){.s = s};
    fill_speeds(l);
    if (l->n < LEVELS_LEAST_POINTS)
        return true;
    struct swings_of of = {l->x, l->at_ns, l->n, l->width_ns};
    if (looks_for_swings && !swings_find(s, &of, NULL, NULL, &swings, e))
        return false;
    if (!swings && !levels_tell(l, say_change, &(bool){false}, e))
        return false;
    if (looks_for_swings && !swings && !swings_find(s, &of, levels_expected, l, &swings, e))
        return false;
    *l = (struct levels){.s = s};
    fill_tail(l);
    return swings || levels_tell(l, say_change, &(bool){true}, e);
}
