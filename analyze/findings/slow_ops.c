/* Finds operations, and sizes of objects, that are slow for a while, or slower and slower, while
 * the others are not. */
#include "analyze/findings/levels_internal.h"
#include "analyze/findings/slow_limits.h"
#include "analyze/stats/stats.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* An operation, or a stratum of one, among the others. */
struct part {
    bool by_stratum;
    size_t k, n;
    double *times, *ns; /* by part: scratch memory */
};

static struct strata strata_of(const struct course *c, const struct part *p, size_t k)
{
    if (p->by_stratum)
        return (struct strata){k, k + 1};
    return (struct strata){c->stratum_of_table[k], c->stratum_of_table[k + 1]};
}

/* Samples of a part within a time: their number, how much longer than usual they took, as a
 * logarithm, and how long they usually take. */
struct usual {
    double n, ln, ns;
};

static struct usual usual_of(const struct search *s, const struct part *p, size_t part,
                             size_t first_block, size_t end_block)
{
    const struct course *c = s->c;
    struct strata of = strata_of(c, p, part);
    struct usual x = {0};

    for (size_t k = 0; k < c->load.n_alike; k++)
        for (size_t b = first_block; b < end_block; b++) {
            const struct course_work *w = course_work(c, k, b);
            if (c->load.stratum[k] < of.first || c->load.stratum[k] >= of.end)
                continue;
            x.n += w->n;
            x.ln += w->log - w->n * s->equal->of_kind[k];
            x.ns += w->n * exp(s->equal->of_kind[k]);
        }
    x.ln /= fmax(x.n, 1);
    x.ns /= fmax(x.n, 1);
    return x;
}

/* When a part is slow, and when not. */
struct slow_time {
    int64_t from_ns, to_ns, usual_from_ns, usual_to_ns;
    double change; /* of the log */
};

static double change_of(const struct search *s, const struct part *p, size_t part,
                        const struct slow_time *t)
{
    const struct course *c = s->c;

    return usual_of(s, p, part, course_block(c, t->from_ns), course_block(c, t->to_ns - 1) + 1).ln -
           usual_of(s, p, part, course_block(c, t->usual_from_ns),
                    course_block(c, t->usual_to_ns - 1) + 1)
               .ln;
}

/* Whether most other parts (by the lower median) take longer then too, by nearly as much: as a
 * multiple, or in time, as requests do that wait for each other. */
static bool others_share(const struct search *s, const struct part *p, const struct slow_time *t)
{
    size_t n = 0, n_blocks = s->c->n_blocks;

    for (size_t m = 0; m < p->n; m++) {
        struct usual all = usual_of(s, p, m, 0, n_blocks);
        double change = change_of(s, p, m, t);

        if (m == p->k || all.n < SLOW_LEAST_SAMPLES)
            continue;
        p->times[n] = change;
        p->ns[n++] = all.ns * (exp(change) - 1);
    }
    return n == 0 || stats_select(p->times, n, (n - 1) / 2) > SLOW_OTHERS_FRAC * t->change ||
           stats_select(p->ns, n, (n - 1) / 2) >
               SLOW_OTHERS_FRAC * usual_of(s, p, p->k, 0, n_blocks).ns * (exp(t->change) - 1);
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

struct strata_text {
    char s[160];
};

/* Returns "GET requests of 1MiB to 4MiB "; sets the operation and the sizes of f. */
static struct strata_text name_strata(const struct course *c, struct strata x, struct finding *f)
{
    struct strata_text t;
    size_t table = c->strata[x.first].table, n;
    struct size_range bytes = course_sizes(c, x.first);

    f->op = c->n_ops > 1 ? c->ops[table].name : NULL;
    n = (size_t)snprintf(t.s, sizeof t.s, "%.80s%srequests ", f->op != NULL ? f->op : "",
                         f->op != NULL ? " " : "");
    if (x.end - x.first == c->stratum_of_table[table + 1] - c->stratum_of_table[table])
        return t;
    finding_figure(f, "min_bytes", (double)bytes.min);
    finding_figure(f, "max_bytes", (double)bytes.max);
    snprintf(t.s + n, sizeof t.s - n, "of %s%s%s ", units_size((double)bytes.min).s,
             bytes.max > bytes.min ? " to " : "",
             bytes.max > bytes.min ? units_size((double)bytes.max + 1).s : "");
    return t;
}

static bool say_part(struct search *s, const struct part *p, const struct slow_time *t, bool drifts,
                     struct err *e)
{
    const struct course *c = s->c;
    double ratio = exp(t->change), busy = 0;

    for (size_t m = 0; m < p->n; m++) {
        struct usual x = usual_of(s, p, m, 0, c->n_blocks);
        busy += x.n * x.ns;
    }
    struct usual in =
        usual_of(s, p, p->k, course_block(c, t->from_ns), course_block(c, t->to_ns - 1) + 1);
    double lost = in.n * in.ns * (ratio - 1) * (drifts ? c->n_blocks / 20. : 1);
    struct finding f = finding_of(drifts ? "drift" : "slow-op", ratio >= SLOW_PROBLEM_RATIO,
                                  busy > 0 ? lost / (busy + lost) : 0);
    struct strata_text what = name_strata(c, strata_of(c, p, p->k), &f);
    f.start_ns = t->from_ns;
    f.end_ns = t->to_ns;
    f.has_start = t->from_ns > c->start_ns && !drifts;
    f.has_end = search_frac(s, c->full_until_ns - t->to_ns) > SLOW_EDGE_FRAC && !drifts;
    f.ratio = ratio;
    if (p->by_stratum && is_reported(s, &f))
        return true;
    what.s[0] = (char)toupper((unsigned char)what.s[0]);
    const char *who = p->by_stratum ? what.s : f.op, *takes = p->by_stratum ? "take" : " takes",
               *others = p->by_stratum ? "sizes" : "operations";
    if (drifts)
        return findings_add(s->out, &f, e,
                            "%s%s longer and longer, %.1f times as long at the end as at the "
                            "start; other %s do not",
                            who, takes, ratio, others);
    return findings_add(s->out, &f, e, "%s%s %.1f times as long%s%s%s%s; other %s do not", who,
                        takes, ratio, f.has_start ? " from " : "",
                        f.has_start ? find_clock(s->c, f.start_ns).s : "",
                        !f.has_end    ? " on"
                        : f.has_start ? " to "
                                      : " until ",
                        f.has_end ? find_clock(s->c, f.end_ns).s : "", others);
}

/* Reports a part that takes longer while the others do not: a level_say_fn. */
static bool say_change(struct levels *l, const struct level_change *x, const void *part,
                       struct err *e)
{
    const struct part *p = part;
    bool drifts = x->shape == CHANGE_TREND;
    struct slow_time t = {levels_at_ns(l, drifts ? l->n - x->at : x->at), levels_at_ns(l, x->to),
                          levels_at_ns(l, x->from), levels_at_ns(l, x->at), 0};

    if (x->from == 0)
        t.usual_from_ns = l->s->c->start_ns;
    /* A slow beginning is a warm-up. */
    if (x->shape == CHANGE_AT_FIRST || x->shape == CHANGE_WAVE)
        return true;
    t.change = change_of(l->s, p, p->k, &t);
    if (t.change < 0 && x->shape == CHANGE_STAYS && x->from == 0)
        t = (struct slow_time){t.usual_from_ns, t.usual_to_ns, t.from_ns, t.to_ns, -t.change};
    return t.change < log(SLOW_LEAST_RATIO) || others_share(l->s, p, &t) ||
           load_explains(l->s, t.from_ns, t.change, false) || say_part(l->s, p, &t, drifts, e);
}

static bool find_slow_parts(struct search *s, struct levels *l, bool by_stratum, struct err *e)
{
    const struct course *c = s->c;
    struct part p = {.by_stratum = by_stratum, .n = by_stratum ? c->n_strata : c->n_ops};
    bool ok = mem_new(&p.times, p.n, e) && mem_new(&p.ns, p.n, e);

    for (; ok && p.k < p.n; p.k++) {
        struct samples all = search_samples(s, strata_of(c, &p, p.k));

        *l = (struct levels){.s = s, .width_ns = c->block_ns};
        for (size_t b = 0; b < c->n_blocks; b++) {
            struct usual x = usual_of(s, &p, p.k, b, b + 1);
            if (x.n > 0)
                levels_add_block(l, b, -x.ln);
        }
        l->least_variance = fmax(all.sd * all.sd * (double)l->n / fmax(all.n, 1), 1e-6);
        ok = all.n < SLOW_LEAST_SAMPLES || levels_tell(l, say_change, &p, e);
    }
    free(p.times);
    free(p.ns);
    return ok;
}

bool levels_find_slow_parts(struct search *s, struct levels *l, struct err *e)
{
    const struct course *c = s->c;

    if (s->equal == NULL)
        return true;
    return (c->n_ops < 2 || find_slow_parts(s, l, false, e)) &&
           (c->n_strata == c->n_ops || find_slow_parts(s, l, true, e));
}
