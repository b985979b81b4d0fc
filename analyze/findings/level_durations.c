/* Levels of durations: of all requests, where throughput does not show them; of an operation, or of
 * a range of sizes, that takes longer for a while while the others do not. */
#include "analyze/findings/levels_internal.h"
#include "analyze/stats/stats.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_UNDER_WAY .25 /* change of concurrency / change of durations, as logarithms */
#define MOST_UNDER_WAY  1.1
#define OTHERS_FRAC     .45  /* of a change: other parts may have that much */
#define LEAST_SPREAD    1e-6 /* variance of a level of durations that are all the same */

#define TAIL_BLOCKS 4 /* a point: few slow requests make its mean */

/* Requests whose durations make a series: all, those of an operation, or of a range of sizes of
 * one. */
struct part {
    enum { OPERATIONS, SIZES, ALL } of;
    bool tail; /* mean durations, which slow requests raise; else those of typical requests */
    size_t k, n;
    double *times, *ns; /* by part: scratch memory */
};

/* Strata [first, end) of a course. */
struct strata {
    size_t first, end;
};

static struct strata strata_of(const struct course *c, const struct part *p, size_t k)
{
    if (p->of == ALL)
        return (struct strata){0, c->n_strata};
    if (p->of == SIZES)
        return (struct strata){k, k + 1};
    return (struct strata){c->stratum_of_op[k], c->stratum_of_op[k + 1]};
}

/* Samples of strata: their number, and the standard deviation of their natural logarithms within
 * strata. */
struct samples {
    double n, sd;
};

static struct samples count_samples(const struct course *c, struct strata of)
{
    double n = 0, squares = 0;

    for (size_t k = of.first; k < of.end; k++) {
        n += c->strata[k].n;
        squares += c->strata[k].n * c->strata[k].sd * c->strata[k].sd;
    }
    return (struct samples){n, n > 0 ? sqrt(squares / n) : 0};
}

/* Samples of a part within a time: their number, how long equal ones typically take over the run,
 * and how many times as long they took: typically, as a logarithm, and on average. */
struct usual {
    double n, ns, ln, times;
};

static struct usual usual_of(const struct search *s, const struct part *p, size_t part,
                             size_t first_block, size_t end_block)
{
    const struct course *c = s->c;
    struct strata of = strata_of(c, p, part);
    struct usual x = {0};

    for (size_t k = 0; k < c->load.n_alike; k++) {
        if (c->load.stratum[k] < of.first || c->load.stratum[k] >= of.end)
            continue;
        double typical_ns = exp(s->equal->of_kind[k]);
        for (size_t b = first_block; b < end_block; b++) {
            const struct course_work *w = course_work(c, k, b);
            x.n += w->n;
            x.ln += w->log - w->n * s->equal->of_kind[k];
            x.ns += w->n * typical_ns;
            x.times += w->ns;
        }
    }
    x.times /= x.ns;
    x.ln /= fmax(x.n, 1);
    x.ns /= fmax(x.n, 1);
    return x;
}

void levels_add_block(struct levels *l, size_t block, double x)
{
    const struct course *c = l->s->c;
    int64_t at_ns = course_block_start_ns(c, block);

    if (at_ns >= c->full_until_ns || search_free_frac_of_block(l->s, block) < LEVELS_FREE_FRAC)
        return;
    l->at_ns[l->n] = at_ns;
    l->x[l->n++] = x;
}

/* Fills a time series of speeds from durations at equal load: logarithms of 1 / ns, which rise and
 * fall as those of a rate do. In an open loop durations of all count since requests were due. */
static void fill_speeds(struct levels *l, const struct part *p)
{
    const struct course *c = l->s->c;
    struct samples all = count_samples(c, strata_of(c, p, p->k));
    double ns = usual_of(l->s, p, p->k, 0, c->n_blocks).ns;

    size_t width = p->tail ? TAIL_BLOCKS : 1;
    l->width_ns = (int64_t)width * c->block_ns;
    for (size_t b = 0; b + width <= c->n_blocks; b += width) {
        struct usual x = usual_of(l->s, p, p->k, b, b + width);
        double took_ns = ns * (p->tail ? x.times : exp(x.ln));

        if (!c->has_requests && p->of == ALL && c->late_n != NULL && c->late_n[b] > 0)
            took_ns += c->late_ns[b] / (double)c->late_n[b];
        if (x.n > 0)
            levels_add_block(l, b, -log(took_ns));
    }
    l->least_variance = fmax(all.sd * all.sd * (double)l->n / fmax(all.n, 1), LEAST_SPREAD);
}

/* When a part is slow, and when not. */
struct slow_time {
    const char *kind;
    int64_t from_ns, to_ns, usual_from_ns, usual_to_ns;
    double change; /* of the log of durations, from usual to slow */
};

static struct usual usual_within(const struct search *s, const struct part *p, size_t part,
                                 int64_t from_ns, int64_t to_ns)
{
    return usual_of(s, p, part, course_block(s->c, from_ns), course_block(s->c, to_ns - 1) + 1);
}

/* Returns the change of a part then, as t->change. */
static double change_of(const struct search *s, const struct part *p, size_t part,
                        const struct slow_time *t)
{
    return usual_within(s, p, part, t->from_ns, t->to_ns).ln -
           usual_within(s, p, part, t->usual_from_ns, t->usual_to_ns).ln;
}

/* Whether most other parts (by the lower median) take longer then too, by nearly as much: as a
 * multiple, or in time, as requests do that wait for each other. */
static bool others_share(const struct search *s, const struct part *p, const struct slow_time *t)
{
    size_t n = 0, n_blocks = s->c->n_blocks;

    for (size_t m = 0; m < p->n; m++) {
        struct usual all = usual_of(s, p, m, 0, n_blocks);
        double change = change_of(s, p, m, t);

        if (m == p->k || all.n < STATS_MIN_REQUESTS)
            continue;
        p->times[n] = change;
        p->ns[n++] = all.ns * (exp(change) - 1);
    }
    return n == 0 || stats_select(p->times, n, (n - 1) / 2) > OTHERS_FRAC * t->change ||
           stats_select(p->ns, n, (n - 1) / 2) >
               OTHERS_FRAC * usual_of(s, p, p->k, 0, n_blocks).ns * (exp(t->change) - 1);
}

/* Whether an earlier finding explains that all requests take longer: of the same kind, or one that
 * begins or ends at the change. */
static bool is_explained(const struct levels *l, const struct slow_time *t)
{
    static const char causes[] =
        "stall pauses errors slow-host slow-client slow-op absent-client backlog no-success";
    int64_t near_ns = int64_max(4 * l->width_ns, levels_within_ns(l, t->change)),
            at_ns = int64_max(t->from_ns, t->usual_from_ns);

    for (size_t i = 0; i < l->s->out->n; i++) {
        const struct finding *f = &l->s->out->v[i];
        bool begins = f->has_start && llabs(f->start_ns - at_ns) <= near_ns;
        bool ends = f->has_end && llabs(f->end_ns - at_ns) <= near_ns;

        if (strcmp(t->kind, "slow-op") != 0
                ? strcmp(f->kind->name, t->kind) == 0
                : (begins || ends) && strstr(causes, f->kind->name) != NULL)
            return true;
    }
    return false;
}

/* Whether throughput shows the change of durations: in a closed loop that does nothing but wait for
 * answers the number of requests under way stays the same. */
static bool throughput_tells(const struct search *s, const struct part *p,
                             const struct slow_time *t)
{
    struct usual slow = usual_within(s, p, 0, t->from_ns, t->to_ns),
                 usual = usual_within(s, p, 0, t->usual_from_ns, t->usual_to_ns);
    double change = log(slow.times * slow.ns / usual.times / usual.ns),
           under_way = log(load_mean(s, s->c->load.under_way, t->from_ns, t->to_ns) /
                           load_mean(s, s->c->load.under_way, t->usual_from_ns, t->usual_to_ns));

    return !s->c->open_loop &&
           !(fabs(change) >= log(SLOW_LEAST_RATIO) && under_way / change >= LEAST_UNDER_WAY &&
             under_way / change <= MOST_UNDER_WAY); /* NAN: no */
}

/* Whether all requests take longer, for no reason that is known, and throughput does not show it. A
 * tail counts only if typical requests take as long as before. */
static bool is_news(const struct levels *l, const struct part *p, const struct slow_time *t)
{
    const struct search *s = l->s;
    return !is_explained(l, t) &&
           !load_explains(s, int64_max(t->from_ns, t->usual_from_ns),
                          t->from_ns < t->usual_from_ns ? -t->change : t->change, false) &&
           !load_is_higher(s, t->from_ns, t->to_ns) &&
           (!p->tail || fabs(change_of(s, p, 0, t)) < log(SLOW_LEAST_RATIO)) &&
           !throughput_tells(s, p, t);
}

/* Whether the same is reported of the operation as a whole. */
static bool is_reported(const struct search *s, const struct finding *f)
{
    for (size_t i = 0; i < s->out->n; i++) {
        const struct finding *x = &s->out->v[i];
        if (x->kind == f->kind && x->op != NULL && x->op == f->op &&
            (!x->has_end || x->end_ns > f->start_ns) && (!x->has_start || x->start_ns < f->end_ns))
            return true;
    }
    return false;
}

/* Returns "PUT takes", "GET requests of 1MiB to 4MiB take"; sets the operation and the sizes of
 * f. */
static struct phrase name_part(const struct course *c, const struct part *p, struct finding *f)
{
    const struct course_stratum *x = &c->strata[strata_of(c, p, p->k).first];

    f->op = p->of == ALL   ? c->n_ops == 1 ? c->ops[0].name : NULL
            : c->n_ops > 1 ? c->ops[x->op].name
                           : NULL;
    if (p->of != SIZES)
        return phrase_format("%.80s take%s", f->op != NULL ? f->op : "All operations",
                             f->op != NULL ? "s" : "");
    return phrase_format("%.80s%s of %s take", f->op != NULL ? f->op : "",
                         f->op != NULL ? " requests" : "Requests",
                         find_sizes(f, x->min_bytes, x->max_bytes).s);
}

/* " from 12:00:03.1 to 12:00:07.9", " from 12:00:03.1 on", " until 12:00:07.9", " on". */
static struct phrase name_time(const struct course *c, const struct finding *f)
{
    return phrase_format("%s%s%s%s", f->has_start ? " from " : "",
                         f->has_start ? find_clock(c, f->start_ns).s : "",
                         !f->has_end    ? " on"
                         : f->has_start ? " to "
                                        : " until ",
                         f->has_end ? find_clock(c, f->end_ns).s : "");
}

/* Returns the share of the time of all requests that a part loses by taking longer. */
static double lost_by(const struct search *s, const struct part *p, const struct slow_time *t)
{
    double busy = 0, ratio = exp(fabs(t->change));
    struct usual in = usual_within(s, p, p->k, t->from_ns, t->to_ns);

    if (t->change < 0)
        in = usual_within(s, p, p->k, t->usual_from_ns, t->usual_to_ns);
    for (size_t m = 0; m < p->n; m++) {
        struct usual x = usual_of(s, p, m, 0, s->c->n_blocks);
        busy += x.n * x.ns;
    }
    double lost = in.n * in.ns * (ratio - 1);
    if (strcmp(t->kind, "drift") == 0)
        lost = busy * (ratio - 1) / 2;
    return busy > 0 ? lost / (busy + lost) : 0;
}

/* Adds the finding of a part: figures and sentence. before_ns: what its requests take if they are
 * not slow. */
static bool say_part(struct search *s, const struct part *p, const struct slow_time *t,
                     double before_ns, int64_t within_ns, struct err *e)
{
    const struct course *c = s->c;
    bool begins = strcmp(t->kind, "warm-up") == 0, drifts = strcmp(t->kind, "drift") == 0;
    double lost = lost_by(s, p, t), ratio = exp(t->change);
    bool problem =
        (p->tail || fabs(t->change) >= log(SLOW_PROBLEM_RATIO)) &&
        (p->of != ALL || lost >= (begins ? LEVELS_PROBLEM_WARM_UP : LEVELS_PROBLEM_LOST)) &&
        (p->of != ALL || c->has_requests || !c->open_loop); /* sums do not show queues */
    struct finding f = finding_of(t->kind, problem, lost);
    struct phrase who = name_part(c, p, &f);

    f.start_ns = t->from_ns;
    f.end_ns = t->to_ns;
    f.has_start = t->from_ns > c->start_ns && !drifts;
    f.has_end = search_frac(s, c->full_until_ns - t->to_ns) > SLOW_EDGE_FRAC && !drifts;
    f.within_ns = drifts ? 0 : within_ns;
    if (begins)
        finding_set_times(&f, t->from_ns, t->to_ns);
    f.ratio = begins ? 1 / ratio : ratio;
    finding_figure(&f, "before_ns", begins ? before_ns * ratio : before_ns);
    finding_figure(&f, "after_ns", begins ? before_ns : before_ns * ratio);
    if (p->of == SIZES && is_reported(s, &f))
        return true;
    bool of_response = p->of == ALL && c->open_loop && c->has_requests;
    struct phrase what = phrase_format(
        "%s %s %s -> %s%s", p->tail || !c->has_requests ? "mean" : "typical",
        of_response ? "response time" : "duration", units_duration((int64_t)before_ns).s,
        units_duration((int64_t)(before_ns * ratio)).s,
        of_response ? ", with as many requests under way as on average" : "");
    const char *others = p->of == SIZES        ? "; other sizes do not"
                         : p->of == OPERATIONS ? "; other operations do not"
                         : p->tail             ? "; typical requests do not"
                                               : "";
    if (drifts)
        return findings_add(
            s->out, &f, e, "%s %s, %.2g times as long at the end as at the start (%s)%s", who.s,
            ratio > 1 ? "longer and longer" : "less and less time", ratio, what.s, others);
    return findings_add(
        s->out, &f, e, "%s %.1f times as long%s (%s%s)%s", who.s, ratio, name_time(c, &f).s, what.s,
        begins ? "; warm-up, s3analyze analyze --steady leaves it out" : "", others);
}

/* Reports what happens to durations: a level_say_fn. */
static bool say_change(struct levels *l, const struct level_change *x, const void *part,
                       struct err *e)
{
    const struct part *p = part;
    bool drifts = x->shape == CHANGE_TREND, begins = x->shape == CHANGE_AT_FIRST;
    size_t at = drifts ? l->n - x->at : x->at;
    int64_t from_ns = x->from > 0 ? l->at_ns[x->from] : l->s->c->start_ns;
    double before = x->before;
    struct slow_time t = {drifts ? "drift" : "slow-op",
                          l->at_ns[at],
                          levels_at_ns(l, x->to),
                          from_ns,
                          l->at_ns[x->at],
                          x->before - x->after};

    if (x->shape == CHANGE_WAVE)
        return p->of != ALL || p->tail || !l->s->c->open_loop || load_due_varies(l->s) ||
               levels_say_wave(l, true, e);
    if (begins || (!drifts && t.change < 0)) { /* the slow time comes first */
        t = (struct slow_time){begins ? "warm-up" : "slow-op", from_ns,  l->at_ns[at], l->at_ns[at],
                               levels_at_ns(l, x->to),         -t.change};
        before = x->after;
    }
    if (p->of == ALL ? fabs(t.change) < log(SLOW_LEAST_RATIO) || !is_news(l, p, &t)
                     : begins || t.change < log(SLOW_LEAST_RATIO) || others_share(l->s, p, &t) ||
                           load_explains(l->s, t.from_ns, t.change, false))
        return true;
    return say_part(l->s, p, &t, exp(-before), levels_within_ns(l, t.change), e);
}

/* Finds levels, and before them swings, of one part. */
static bool find_in_part(struct search *s, struct levels *l, const struct part *p, struct err *e)
{
    *l = (struct levels){.s = s};
    fill_speeds(l, p);
    /* Throughput shows the swings of a closed loop; those of what is due are none of the system. */
    if (p->of == ALL && !p->tail && l->n >= LEVELS_LEAST_POINTS && s->c->open_loop &&
        !load_due_varies(s) && !swings_find(l, true, e))
        return false;
    return levels_tell(l, say_change, p, e);
}

bool levels_find_slow_parts(struct search *s, struct levels *l, struct err *e)
{
    const struct course *c = s->c;
    struct part p = {.of = OPERATIONS};
    bool ok = mem_new(&p.times, c->n_strata, e) && mem_new(&p.ns, c->n_strata, e);

    for (; ok && s->equal != NULL && p.of <= SIZES; p.of++) {
        p.n = p.of == SIZES ? c->n_strata : c->n_ops;
        if (p.of == SIZES ? c->n_strata == c->n_ops : c->n_ops < 2)
            continue;
        for (p.k = 0; ok && p.k < p.n; p.k++)
            ok = count_samples(c, strata_of(c, &p, p.k)).n < STATS_MIN_REQUESTS ||
                 find_in_part(s, l, &p, e);
    }
    free(p.times);
    free(p.ns);
    return ok;
}

bool levels_find_in_durations(struct search *s, struct levels *l, struct err *e)
{
    return find_in_part(s, l, &(struct part){.of = ALL, .n = 1}, e) &&
           (!s->c->has_requests ||
            find_in_part(s, l, &(struct part){.of = ALL, .n = 1, .tail = true}, e));
}
