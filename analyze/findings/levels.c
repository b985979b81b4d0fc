/* Levels of throughput: changes that stay (drop, rise), a beginning that differs (warm-up), a trend
 * (drift). */
#include "analyze/findings/levels_internal.h"
#include "analyze/stats/stats.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>

#define VISIT_REACH       2 /* points on either side of a visit: a change that is taken back */
#define N_REFINEMENTS     10
#define LEAST_PER_POINT   8   /* requests */
#define STAYING_LOST_FRAC .01 /* of a change that stays: its cost would grow */
#define CHANCE            .01 /* one-sided */
#define LEAST_UNSTEADY    .4 /* from the upper to the lower tenth: no short part is like the whole */
/* An outage is a problem even if it costs a small share of a run of hours. */
#define OUTAGE_NS         (10 * NS_PER_S) /* of full throughput that it costs, below half of it */

double levels_work_at(const struct search *s, int64_t at_ns)
{
    return s->equal != NULL ? s->equal->work[course_block(s->c, at_ns)] : 0;
}

/* Fills the time series, without masked bins, the time of a median request at the start, and the
 * time after the last start. */
static void fill_points(struct levels *l)
{
    const struct course *c = l->s->c;
    double median_ns = search_longest_ns(l->s, c->median_ns, 0);

    /* start_ns + median_ns may overflow: the slowest operation may begin later than start_ns. */
    if (median_ns >= (double)(INT64_MAX - c->start_ns))
        return;
    size_t first = course_bin(c, c->start_ns + (int64_t)median_ns);
    size_t end = course_bin(c, c->full_until_ns);
    first += course_part(c, first, c->bin_ns) < 1;
    if (end <= first)
        return;
    size_t width = (end - first + LEVELS_POINTS - 1) / LEVELS_POINTS;
    if (c->n_blocks > LEVELS_POINTS / 2) { /* the load is known by block */
        width = (size_t)(c->block_ns / c->bin_ns);
        first = (first + width - 1) / width * width;
    }
    /* The logarithm of fewer requests is not nearly normal. */
    double per_point = (double)(c->n - c->n_failed) / (double)(end - first + 1) * (double)width;
    width *= per_point < LEAST_PER_POINT ? (size_t)ceil(LEAST_PER_POINT / fmax(per_point, .1)) : 1;
    l->width_ns = (int64_t)width * c->bin_ns;
    for (size_t j = first; j + width <= end; j += width) {
        double n = 0, n_free = 0;
        for (size_t i = j; i < j + width; i++)
            if (l->s->masked[i] == 0) {
                n += c->ok[i];
                n_free++;
            }
        if (n_free < LEVELS_FREE_FRAC * (double)width)
            continue;
        l->at_ns[l->n] = course_bin_start_ns(c, j);
        l->x[l->n] = log((n + FIND_HALF_MORE) / (n_free * (double)c->bin_ns / 1e9)) +
                     levels_work_at(l->s, course_bin_start_ns(c, j + width / 2));
        l->n++;
    }
    /* The completions of a closed loop have a quarter of the variance of a Poisson process: a
     * thread begins a request only when its last one has ended. */
    double usual = exp(search_mean(l->x, 0, l->n)) * (double)l->width_ns / 1e9;
    l->least_variance = .25 / fmax(usual, .1);
}

/* Returns how the throughput changes at equal load, if `change` is that of its logarithm. In a
 * closed loop the number of requests under way is that of the threads at work, unless it falls
 * because answers come sooner. A change of that number is one of the load, which is noted. */
static double at_equal_load(struct search *s, double change, int64_t from_ns, int64_t at_ns,
                            int64_t until_ns)
{
    const double *under_way = s->c->load.under_way;
    double before = load_mean(s, under_way, from_ns, at_ns),
           after = load_mean(s, under_way, at_ns, until_ns), load = log(after / before);

    if (load_explains(s, at_ns, change, true))
        return 0;
    if (load_changes_requests(s, at_ns)) {
        const double *ln = s->equal->ln;
        double slowed = load_mean(s, ln, at_ns, until_ns) - load_mean(s, ln, from_ns, at_ns);

        if (!(2 * slowed / -change > 1)) /* durations at equal load show less than half */
            return 0;
    }
    if (s->c->open_loop || !(load / change > 0) || fabs(load) < log(1 + LOAD_LEAST_CHANGE))
        return change; /* NAN: not known */
    load_add(s,
             (struct load_change){LOAD_THREADS, 0, from_ns, at_ns, until_ns, false, before, after});
    if (until_ns < s->c->full_until_ns) /* they come back */
        load_add(s, (struct load_change){LOAD_THREADS, 0, at_ns, until_ns, s->c->full_until_ns,
                                         false, after, before});
    load = fabs(load) < fabs(change) ? load : change;
    return fabs(change - load) < fmax(fabs(change) / 2, -log(1 - LEVELS_LEAST_CHANGE))
               ? 0
               : change - load;
}

/* from: the point from which on it drifts. */
static bool say_drift(struct levels *l, size_t from, struct err *e)
{
    const struct course *c = l->s->c;
    double change = at_equal_load(l->s, l->fitted[l->n - 1] - l->fitted[0], c->start_ns,
                                  l->at_ns[l->n / 2], c->full_until_ns);

    if (change == 0)
        return true;
    double ratio = exp(change);
    double half = (1 - (double)from / (double)l->n) / 2;
    double lost = ratio < 1 ? (1 - ratio) * half : (1 - 1 / ratio) * (1 - half);
    struct finding f = finding_of("drift", FINDING_PROBLEM, lost);

    f.ratio = ratio;
    f.has_start = from > 0;
    f.start_ns = l->at_ns[from];
    finding_figure(&f, "start_per_s", exp(l->fitted[0]));
    finding_figure(&f, "end_per_s", exp(l->fitted[l->n - 1]));
    return findings_add(l->s->out, &f, e,
                        "Throughput %s from %s to the end, steadily: its mean depends on how long "
                        "the run is",
                        find_change(ratio).s, from > 0 ? find_clock(c, f.start_ns).s : "start");
}

/* Returns the logarithm of the mean rate of some points. */
static double mean_rate(const struct levels *l, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += exp(l->x[i]);
    return log(sum / (double)(to - from));
}

static bool say_warm_up(struct levels *l, double before, double after, int64_t end_ns,
                        struct err *e)
{
    const struct course *c = l->s->c;
    double change = at_equal_load(l->s, after - before, c->start_ns, end_ns, c->full_until_ns);

    if (change == 0)
        return true;
    before = after - change;
    double ratio = exp(before - after), share = search_frac(l->s, end_ns - c->start_ns);
    double lost = share * fabs(1 - ratio);
    struct finding f = finding_of("warm-up", lost >= LEVELS_PROBLEM_WARM_UP, lost);

    finding_set_times(&f, c->start_ns, end_ns);
    f.within_ns = levels_within_ns(l, after - before);
    f.ratio = ratio;
    finding_figure(&f, "before_per_s", exp(before));
    finding_figure(&f, "after_per_s", exp(after));
    return findings_add(l->s->out, &f, e,
                        "The first %s ran at %.0f %% of the later speed (warm-up; s3analyze "
                        "analyze --steady leaves it "
                        "out)",
                        units_duration(end_ns - c->start_ns).s, 100 * ratio);
}

static bool say_step(struct levels *l, double before, double after, int64_t from_ns, int64_t at_ns,
                     int64_t until_ns, struct err *e)
{
    const struct course *c = l->s->c;
    bool stays = until_ns == INT64_MAX;
    double change =
        at_equal_load(l->s, after - before, from_ns, at_ns, stays ? c->full_until_ns : until_ns);

    if (change == 0)
        return true;
    after = before + change;
    double ratio = exp(change);
    double share = search_frac(l->s, (stays ? c->end_ns : until_ns) - at_ns);
    double lost =
        ratio < 1 ? (1 - ratio) * share : (1 - 1 / ratio) * search_frac(l->s, at_ns - c->start_ns);
    bool is_outage =
        !stays && 2 * ratio < 1 && (1 - ratio) * (double)(until_ns - at_ns) >= OUTAGE_NS;
    bool problem = fabs(after - before) >= -log(1 - LEVELS_PROBLEM_CHANGE) &&
                   lost >= (stays ? STAYING_LOST_FRAC : LEVELS_PROBLEM_LOST);
    struct finding f = finding_of(ratio < 1 ? "drop" : "rise", problem || is_outage, lost);

    f.has_start = at_ns > c->start_ns;
    f.start_ns = at_ns;
    f.within_ns = levels_within_ns(l, after - before);
    f.has_end = !stays;
    f.end_ns = stays ? 0 : until_ns;
    f.ratio = ratio;
    finding_figure(&f, "before_per_s", exp(before));
    finding_figure(&f, "after_per_s", exp(after));
    /* Only the last change "stayed there": any other is followed by one with its own finding. */
    bool is_last = l->n_cuts == 0 || at_ns >= l->at_ns[l->cuts[l->n_cuts - 1]];
    const char *at_equal = l->s->n_loads > 0 ? " at equal load" : "";
    if (l->shape == LEVELS_RAMP)
        return findings_add(l->s->out, &f, e,
                            "Throughput%s %s little by little from %s to %s and stayed there",
                            at_equal, find_change(ratio).s, find_clock(c, at_ns).s,
                            find_clock(c, levels_at_ns(l, l->ramp_to)).s);
    if (stays)
        return findings_add(l->s->out, &f, e, "Throughput%s %s at %s%s", at_equal,
                            find_change(ratio).s, find_clock(l->s->c, at_ns).s,
                            is_last ? " and stayed there" : "");
    return findings_add(l->s->out, &f, e, "Throughput%s %s from %s to %s%s", at_equal,
                        find_change(ratio).s, find_clock(l->s->c, at_ns).s,
                        find_clock(l->s->c, until_ns).s,
                        l->shape == LEVELS_BELL ? ", little by little, and came back" : "");
}

/* Refines the times and the level of a change that is taken back, bin by bin: a short one is hardly
 * longer than a point. Finds the most likely stretch (Poisson) for a level, takes the level of that
 * stretch, and repeats. */
static void refine_visit(const struct levels *l, double before, double *after, int64_t *at_ns,
                         int64_t *until_ns)
{
    const struct course *c = l->s->c;
    size_t from = course_bin(c, *at_ns - VISIT_REACH * l->width_ns),
           to = course_bin(c, int64_add_clamped(*until_ns, VISIT_REACH * l->width_ns));
    double usual = exp(before - levels_work_at(l->s, *at_ns)) * (double)c->bin_ns / 1e9,
           ratio = exp(*after - before);
    struct top_stretch top = {0};

    for (int i = 0; i < N_REFINEMENTS; i++) {
        double n = 0;
        top = (struct top_stretch){0};
        for (size_t j = from; j <= to; j++)
            top_stretch_add(&top, j, find_score(c->ok[j], usual, ratio));
        if (!(top.most > 0))
            return;
        for (size_t j = top.first; j <= top.last; j++)
            n += c->ok[j];
        ratio = fmax(n, FIND_HALF_MORE) / usual / (double)(top.last + 1 - top.first);
    }
    if (top.first == from || top.last == to)
        return;
    *after = before + log(ratio);
    *at_ns = course_bin_start_ns(c, top.first);
    *until_ns = course_bin_start_ns(c, top.last + 1);
}

/* Reports what happens to the throughput: a level_say_fn. */
static bool say_change(struct levels *l, const struct level_change *x, const void *how,
                       struct err *e)
{
    int64_t at_ns = levels_at_ns(l, x->at), until_ns = levels_at_ns(l, x->to);
    double before = x->before, after = x->after;

    (void)how;
    if (x->shape == CHANGE_WAVE)
        return levels_say_wave(l, false, e);
    if (x->shape == CHANGE_TREND)
        return say_drift(l, 0, e);
    if (x->shape == CHANGE_RAMP && l->ramp_to == l->n)
        return say_drift(l, l->ramp_from, e);
    if (x->shape == CHANGE_AT_FIRST)
        return say_warm_up(l, mean_rate(l, 0, x->at), mean_rate(l, x->at, l->n), at_ns, e);
    if (x->shape == CHANGE_RETURNS)
        after = mean_rate(l, x->at, x->to);
    if (x->shape == CHANGE_RETURNS && l->shape != LEVELS_BELL && l->width_ns > NS_PER_S)
        refine_visit(l, before, &after, &at_ns, &until_ns);
    return say_step(l, before, after, levels_at_ns(l, x->from), at_ns,
                    x->shape == CHANGE_RETURNS ? until_ns : INT64_MAX, e);
}

bool levels_say_wave(const struct levels *l, bool of_durations, struct err *e)
{
    double length_ns = (double)(l->at_ns[l->n - 1] - l->at_ns[0]) + (double)l->width_ns, low,
           range = levels_range(l->fitted, l->n, &low);

    return swings_say(l, l->fitted, of_durations, exp(of_durations ? -low - range : low),
                      exp(of_durations ? -low : low + range), length_ns / l->cycles, NAN, e);
}

/* Reports swings at no period. Chance leaves the covariance of neighbouring points at 0, whatever
 * the distribution of durations: their covariance is the variance of what lasts for longer. */
static bool say_unsteady(const struct levels *l, struct err *e)
{
    double rest[LEVELS_POINTS], variance = 0, lasting = 0, n = (double)l->n;

    for (size_t i = 0; i < l->n; i++) {
        rest[i] = l->x[i] - l->fitted[i];
        variance += rest[i] * rest[i] / n;
        lasting += i > 0 ? rest[i] * rest[i - 1] / n : 0;
    }
    if (lasting / variance * sqrt(n) < stats_t_quantile(1 - CHANCE, INFINITY))
        return true;
    double mean = search_mean(l->x, 0, l->n), scale = sqrt(lasting / variance),
           low = exp(mean + scale * stats_select(rest, l->n, l->n / 10)),
           high = exp(mean + scale * stats_select(rest, l->n, l->n - 1 - l->n / 10));
    return 1 - low / high < LEAST_UNSTEADY || swings_say(l, NULL, false, low, high, 0, NAN, e);
}

bool find_levels(struct search *s, struct err *e)
{
    struct levels *rates, *parts = NULL;
    bool ok = mem_cleared(&rates, 1, e) && mem_cleared(&parts, 1, e);

    /* The rate of an open loop is the one that was asked for, unless it falls behind. */
    bool overloaded = load_is_too_much(s), shows_capacity = !s->c->open_loop || overloaded;

    ok = ok && load_find(s, parts, e) && levels_find_slow_parts(s, parts, e);
    if (ok) {
        rates->s = s;
        fill_points(rates);
    }
    if (ok && rates->n >= LEVELS_LEAST_POINTS && s->c->n >= FINDING_LEAST_REQUESTS) {
        if (shows_capacity)
            ok = swings_find(rates, false, e) && levels_tell(rates, say_change, NULL, e) &&
                 say_unsteady(rates, e);
        if (ok && s->equal != NULL && rates->shape != LEVELS_WAVE && !overloaded)
            ok = levels_find_in_durations(s, parts, e);
    }
    free(rates);
    free(parts);
    return ok && load_say(s, e);
}
