/* Finds operations, and sizes of objects, that are slow for a while: the mean logarithm of
 * durations by block. */
#include "analyze/findings/find.h"
#include "analyze/findings/slow_limits.h"
#include "analyze/stats/stats.h"
#include "libcommon/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

/* By operation, or by stratum, and block: samples, and their mean log duration relative to that of
 * their stratum. */
struct op_course {
    bool by_stratum;
    size_t n_parts;
    double *n, *y;       /* part x block */
    struct samples *all; /* by part */
    double *times, *ns;  /* by part: scratch memory */
};

static struct strata strata_of(const struct op_course *o, const struct course *c, size_t part)
{
    if (o->by_stratum)
        return (struct strata){part, part + 1};
    return (struct strata){c->stratum_of_table[part], c->stratum_of_table[part + 1]};
}

static bool op_course_init(struct op_course *o, const struct search *s, bool by_stratum,
                           struct err *e)
{
    const struct course *c = s->c;
    size_t n_parts = by_stratum ? c->n_strata : c->n_ops;

    *o = (struct op_course){.by_stratum = by_stratum, .n_parts = n_parts};
    if (!mem_cleared(&o->n, n_parts * c->n_blocks, e) ||
        !mem_cleared(&o->y, n_parts * c->n_blocks, e) || !mem_cleared(&o->all, n_parts, e) ||
        !mem_new(&o->times, n_parts, e) || !mem_new(&o->ns, n_parts, e))
        return false;
    for (size_t q = 0; q < c->load.n_alike; q++) {
        size_t k = by_stratum ? c->load.stratum[q] : c->strata[c->load.stratum[q]].table;

        for (size_t b = 0; b < c->n_blocks; b++) {
            const struct course_work *w = course_work(c, q, b);
            o->n[k * c->n_blocks + b] += w->n;
            o->y[k * c->n_blocks + b] += w->log - w->n * s->equal->of_kind[q];
        }
    }
    for (size_t k = 0; k < n_parts; k++)
        o->all[k] = search_samples(s, strata_of(o, c, k));
    for (size_t i = 0; i < n_parts * c->n_blocks; i++)
        o->y[i] = o->n[i] > 0 ? o->y[i] / o->n[i] : 0;
    return true;
}

/* Returns the geometric mean of the durations of a part's requests. */
static double mean_ns(const struct op_course *o, size_t k)
{
    return exp(o->all[k].sum / fmax(o->all[k].n, 1));
}

/* Blocks [from, to), and how much longer the requests of an operation take in them than in all
 * others. */
struct op_stretch {
    size_t from, to;
    double change; /* of the log */
    double z;
};

/* Returns the mean over the blocks of the stretch (inside), or over all others, and its standard
 * error. */
static double mean_of_part(const double *n, const double *y, size_t n_blocks,
                           const struct op_stretch *g, bool inside, double sd, double *se)
{
    double part[COURSE_MAX_BLOCKS], total;

    for (size_t b = 0; b < n_blocks; b++)
        part[b] = (b >= g->from && b < g->to) == inside ? n[b] : 0;
    double mean = search_mean(part, y, 0, n_blocks, &total);
    *se = total > 0 ? fmax(search_standard_error(part, y, 0, n_blocks, mean), sd / sqrt(total))
                    : INFINITY;
    return mean;
}

/* Finds the stretch whose requests most significantly take longer than the others; change 0: there
 * is none. sd: of a sample; it bounds the standard errors from below, as few requests may agree by
 * chance. */
static struct op_stretch best_stretch(const double *n, const double *y, size_t n_blocks, double sd)
{
    double n_until[COURSE_MAX_BLOCKS + 1] = {0}, sum_until[COURSE_MAX_BLOCKS + 1] = {0};
    struct op_stretch best = {0};
    size_t least = n_blocks / 20 + 1;
    double most = 0, in_se, out_se;

    for (size_t b = 0; b < n_blocks; b++) {
        n_until[b + 1] = n_until[b] + n[b];
        sum_until[b + 1] = sum_until[b] + n[b] * y[b];
    }
    double all = n_until[n_blocks], sum = sum_until[n_blocks];
    for (size_t from = 0; from + least <= n_blocks; from++)
        for (size_t to = from + least; to <= n_blocks && to - from + least <= n_blocks; to++) {
            double n_in = n_until[to] - n_until[from], in = sum_until[to] - sum_until[from];
            double change = in / fmax(n_in, 1) - (sum - in) / fmax(all - n_in, 1);
            double gain = change * change * n_in * (all - n_in) / (all + 1);

            /* A slow beginning is a warm-up. */
            bool at_begin = from == 0 && (double)to <= WARM_UP_FRAC * (double)n_blocks;
            if (change > 0 && gain > most && !at_begin && n_in >= SLOW_LEAST_SAMPLES &&
                all - n_in >= SLOW_LEAST_SAMPLES) {
                most = gain;
                best = (struct op_stretch){.from = from, .to = to, .change = change};
            }
        }
    if (best.change > 0) {
        mean_of_part(n, y, n_blocks, &best, true, sd, &in_se);
        mean_of_part(n, y, n_blocks, &best, false, sd, &out_se);
        best.z = best.change / sqrt(in_se * in_se + out_se * out_se + 1e-12);
    }
    return best;
}

/* Whether most other parts (by the lower median) take longer in the stretch too, by nearly as
 * much: as a multiple, or in time, as requests do that wait for each other. */
static bool others_share(struct op_course *o, const struct course *c, size_t k,
                         const struct op_stretch *g)
{
    size_t n_others = 0;
    double se;

    for (size_t m = 0; m < o->n_parts; m++) {
        const double *n = o->n + m * c->n_blocks, *y = o->y + m * c->n_blocks;
        double in = mean_of_part(n, y, c->n_blocks, g, true, 0, &se);
        double change = in - mean_of_part(n, y, c->n_blocks, g, false, 0, &se);

        if (m == k || o->all[m].n < SLOW_LEAST_SAMPLES)
            continue;
        o->times[n_others] = change;
        o->ns[n_others++] = mean_ns(o, m) * (exp(change) - 1);
    }
    return n_others == 0 ||
           stats_select(o->times, n_others, (n_others - 1) / 2) > SLOW_OTHERS_FRAC * g->change ||
           stats_select(o->ns, n_others, (n_others - 1) / 2) >
               SLOW_OTHERS_FRAC * mean_ns(o, k) * (exp(g->change) - 1);
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

static bool say_part(struct search *s, size_t k, const struct op_course *o,
                     const struct op_stretch *g, struct err *e)
{
    const struct course *c = s->c;
    double ratio = exp(g->change), busy = 0, own = 0;

    for (size_t m = 0; m < o->n_parts; m++)
        for (size_t b = 0; b < c->n_blocks; b++) {
            double t = o->n[m * c->n_blocks + b] * mean_ns(o, m);
            busy += t;
            own += m == k && b >= g->from && b < g->to ? t * fabs(ratio - 1) : 0;
        }
    struct finding f =
        finding_of("slow-op", ratio >= SLOW_PROBLEM_RATIO, busy > 0 ? own / (busy + own) : 0);
    struct strata_text what = search_name_strata(c, strata_of(o, c, k), &f);
    f.start_ns = course_block_start_ns(c, g->from);
    f.end_ns = course_block_start_ns(c, g->to);
    f.has_start = g->from > 0;
    f.has_end = search_frac(s, c->full_until_ns - f.end_ns) > SLOW_EDGE_FRAC;
    f.ratio = ratio;
    finding_figure(&f, "z", g->z);
    if (o->by_stratum && is_reported(s, &f))
        return true;
    what.s[0] = (char)toupper((unsigned char)what.s[0]);
    return findings_add(s->out, &f, e, "%s%s %.1f times as long%s%s%s%s; other %s do not",
                        o->by_stratum ? what.s : f.op, o->by_stratum ? "take" : " takes", ratio,
                        f.has_start ? " from " : "", f.has_start ? find_clock(f.start_ns).s : "",
                        !f.has_end    ? " on"
                        : f.has_start ? " to "
                                      : " until ",
                        f.has_end ? find_clock(f.end_ns).s : "",
                        o->by_stratum ? "sizes" : "operations");
}

static void op_course_fini(struct op_course *o)
{
    free(o->n);
    free(o->y);
    free(o->all);
    free(o->times);
    free(o->ns);
}

/* Reports the stretches in which a part is slow. Each is subtracted before the next is searched
 * for. */
static bool find_slow_part(struct search *s, struct op_course *o, size_t k, struct err *e)
{
    const struct course *c = s->c;
    const double *n = o->n + k * c->n_blocks;
    double *y = o->y + k * c->n_blocks;

    for (int i = 0; i < SLOW_MAX_STRETCHES; i++) {
        struct op_stretch g = best_stretch(n, y, c->n_blocks, search_sd(&o->all[k]));

        if (g.change < log(SLOW_LEAST_RATIO) || g.z < SLOW_LEAST_Z || others_share(o, c, k, &g))
            return true;
        if (!say_part(s, k, o, &g, e))
            return false;
        for (size_t b = g.from; b < g.to; b++)
            y[b] -= g.change;
    }
    return true;
}

static bool find_slow_parts(struct search *s, bool by_stratum, struct err *e)
{
    struct op_course o;
    bool ok = op_course_init(&o, s, by_stratum, e);

    for (size_t k = 0; ok && k < o.n_parts; k++)
        ok = find_slow_part(s, &o, k, e);
    op_course_fini(&o);
    return ok;
}

bool find_slow_operations(struct search *s, struct err *e)
{
    const struct course *c = s->c;

    if (s->equal == NULL || c->n_blocks < 16)
        return true;
    return (c->n_ops < 2 || find_slow_parts(s, false, e)) &&
           (c->n_strata == c->n_ops || find_slow_parts(s, true, e));
}
