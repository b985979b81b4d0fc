/* Slow hosts and clients: compares durations of the same operation and size, at the same time,
 * between parties. It compares logarithms, so that a difference is a ratio, within blocks of time,
 * so that what slows all parties cancels. */
#include "analyze/findings/find.h"
#include "analyze/findings/queues.h"
#include "analyze/findings/slow_excess.h"
#include "analyze/findings/slow_limits.h"
#include "analyze/findings/slow_ratio.h"
#include "analyze/stats/stats.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERHAPS_RATIO 1.1  /* from this ratio on the queues of a host are examined, */
#define PERHAPS_Z     3.0  /* if its durations are longer with this z */
#define LRV_MARGIN    1.75 /* a standard error from few batches may be too low by this factor */
#define LEAST_SEGMENT .05
#define LEAST_LONG    5   /* periods of a stretch that can do without its ends */
#define CORE_SURER    1.5 /* times the z of the stretch, for the part above its mean to be tried */
#define CORE_LEAST_Z  6.0 /* of the service time in it: it is chosen among many */
#define MAX_SLOW      20

/* ---- Which requests are compared ---- */

static bool strata_are_all(const struct course *c, struct strata x)
{
    return x.end - x.first == c->n_strata;
}

/* Sets *x to the i-th strata to compare: all (0), then those of each operation, then each size of
 * operations that have several. False: there are no more. */
static bool nth_strata(const struct course *c, size_t i, struct strata *x)
{
    const size_t *first = c->stratum_of_table;

    if (i == 0) {
        *x = (struct strata){0, c->n_strata};
        return true;
    }
    i--;
    for (size_t k = 0; k < c->n_ops && c->n_ops > 1; k++, i--)
        if (i == 0) {
            *x = (struct strata){first[k], first[k + 1]};
            return true;
        }
    for (size_t k = 0; k < c->n_ops; k++) {
        size_t n = first[k + 1] - first[k] > 1 ? first[k + 1] - first[k] : 0;
        if (i < n) {
            *x = (struct strata){first[k] + i, first[k] + i + 1};
            return true;
        }
        i -= n;
    }
    return false;
}

/* ---- How much slower parties are than others ---- */

static int64_t period_start_ns(const struct excess *x, const struct course *c, size_t period)
{
    return course_at_ns(c, period, (int64_t)x->periods.n_blocks * c->block_ns);
}

struct segment_of_party {
    size_t party;
    size_t first, last;  /* periods */
    double n, mean;      /* samples and mean excess within */
    double z;            /* how sure the excess is */
    double slow_z;       /* ... if queues wander (slow noise) */
    struct strata of;    /* only requests of these strata are slow, as far as is known */
    double of_mean;      /* mean excess in these strata */
    bool is_perhaps;     /* the queues must confirm it */
    bool is_minor;       /* it costs too little to be a problem */
    double median_ratio; /* of durations, to those of the others; 0: not known */
    double work_ratio;   /* of the service time, to that of the others; 0: not known */
    double lost;         /* share of the time of all requests that went into the excess */
};

/* Fills in the samples of a stretch, their mean excess, and how sure that is. */
static void measure(const struct excess *x, struct segment_of_party *g)
{
    size_t n_periods = x->periods.n;
    const double *n = x->n + g->party * n_periods, *r = x->r + g->party * n_periods;
    double total;

    g->mean = search_mean(n, r, g->first, g->last + 1, &g->n);
    /* Few periods may agree by chance: the standard error is at least that of independent samples.
     * slow_se allows for slow noise, too; it is used if queue lengths are not known. */
    double se = fmax(search_standard_error(n, r, g->first, g->last + 1, g->mean),
                     x->sd / sqrt(fmax(g->n, 1)));
    double slow_se = fmax(se, LRV_MARGIN * sqrt(x->lrv / (double)(g->last - g->first + 1)));
    /* An excess outside of the stretch is slow noise: half of it is deducted. */
    double before = g->first > 0 ? search_mean(n, r, 0, g->first, &total) : 0;
    double after = g->last + 1 < n_periods ? search_mean(n, r, g->last + 1, n_periods, &total) : 0;
    double base = fmax(before, after);
    double excess = g->mean - fmax(base, 0) / 2;
    g->z = se > 0 ? excess / se : INFINITY;
    g->slow_z = slow_se > 0 ? excess / slow_se : INFINITY;
}

/* Finds the stretch of periods in [from, to) with the largest sum of sign * n (r - half); false: no
 * sum is positive. */
static bool best_periods(const struct excess *x, size_t party, size_t from, size_t to, double half,
                         double sign, struct segment_of_party *g)
{
    const double *n = x->n + party * x->periods.n, *r = x->r + party * x->periods.n;
    struct top_stretch top = {0};

    for (size_t j = from; j < to; j++)
        top_stretch_add(&top, j, sign * n[j] * (r[j] - half));
    g->first = top.first;
    g->last = top.last;
    return top.most > 0;
}

/* Finds the stretch in which a party is slow: the one with the largest sum of n (r - half of its
 * own excess). */
static struct segment_of_party slow_segment(const struct excess *x, size_t party)
{
    struct segment_of_party best = {.party = party};
    double half = log(SLOW_LEAST_RATIO) / 2;

    for (int tries = 0; tries < 4; tries++) {
        if (!best_periods(x, party, 0, x->periods.n, half, 1, &best))
            return (struct segment_of_party){.party = party};
        measure(x, &best);
        half = best.mean / 2;
    }
    return best;
}

/* Returns the z from which on a party is slow: among more parties chance makes one look slow
 * sooner. */
static double least_z(size_t n_parties)
{
    return SLOW_LEAST_Z + .5 * log10((double)n_parties);
}

static bool may_be_slow(const struct segment_of_party *g)
{
    return g->mean >= log(SLOW_LEAST_RATIO) && g->n >= SLOW_LEAST_SAMPLES && g->z >= PERHAPS_Z &&
           g->last > g->first;
}

/* Whether a party is slow in these stretches together: several short ones are as significant as a
 * long one. */
static bool is_slow(const struct excess *x, size_t n_parties, const struct segment_of_party *v,
                    size_t n)
{
    double length = 0, squares = 0;

    for (size_t i = 0; i < n; i++) {
        if (!may_be_slow(&v[i]))
            return false;
        length += (double)(v[i].last - v[i].first + 1);
        squares += v[i].z * v[i].z;
    }
    return length >= LEAST_SEGMENT * (double)x->periods.n && sqrt(squares) >= least_z(n_parties);
}

/* Whether a host seems slower than the others in the run as a whole, though durations do not prove
 * it. If senders avoid busy hosts, a slow host has a shorter queue, and durations hide most of the
 * difference. */
static bool is_perhaps_slow(const struct excess *x, size_t host, struct segment_of_party *g)
{
    *g = (struct segment_of_party){.party = host, .last = x->periods.n - 1, .is_perhaps = true};
    measure(x, g);
    return g->mean >= log(PERHAPS_RATIO) && g->n >= SLOW_LEAST_SAMPLES && g->z >= PERHAPS_Z;
}

/* Whether a party was as fast as the others for a while in the midst of a slow stretch. If so, sets
 * `left` and `right` to the stretches before and after. */
static bool was_fast_within(const struct excess *x, const struct segment_of_party *g,
                            struct segment_of_party *left, struct segment_of_party *right)
{
    struct segment_of_party gap = *g;
    if (!best_periods(x, g->party, g->first, g->last + 1, g->mean / 2, -1, &gap) ||
        gap.first == g->first || gap.last == g->last)
        return false;
    measure(x, &gap);
    if (gap.mean >= log(SLOW_LEAST_RATIO) / 2 || gap.n < SLOW_LEAST_SAMPLES ||
        gap.last == gap.first)
        return false;
    *left = *right = *g;
    left->last = gap.first - 1;
    right->first = gap.last + 1;
    measure(x, left);
    measure(x, right);
    double sure = (fmin(left->mean, right->mean) - gap.mean) * sqrt(gap.n);
    return sure >= SLOW_LEAST_Z * x->sd;
}

/* Appends the stretches of g in which the party may be slow; false: there are too many. */
static bool split(const struct excess *x, const struct segment_of_party *g,
                  struct segment_of_party *out, size_t *n)
{
    struct segment_of_party left, right;
    if (was_fast_within(x, g, &left, &right))
        return split(x, &left, out, n) && split(x, &right, out, n);
    if (!may_be_slow(g))
        return true;
    if (*n == SLOW_MAX_STRETCHES)
        return false;
    out[(*n)++] = *g;
    return true;
}

/* Returns the share of the time of all requests that went into the excess. */
static double lost_share(const struct excess *x, size_t n_parties, const struct segment_of_party *g)
{
    double busy = 0, lost = 0;
    for (size_t i = 0; i < n_parties; i++)
        for (size_t j = 0; j < x->periods.n; j++) {
            double t = x->n[i * x->periods.n + j] * exp(x->r[i * x->periods.n + j]);
            busy += t;
            if (i == g->party && j >= g->first && j <= g->last)
                lost += t * (1 - exp(-g->mean));
        }
    return busy > 0 ? x->share * lost / busy : 0;
}

/* Whether only the service time shows that a host is slow, as it has a shorter queue. */
static bool is_slow_in_work_only(const struct segment_of_party *g)
{
    return g->is_perhaps && g->median_ratio < SLOW_LEAST_RATIO;
}

/* Returns how many times slower a party is, for the sentence. Means of logarithms detect slowness
 * best, but a growing backlog has a mean far off the median that a reader compares, and the lower
 * median of noisy means is off, too. If most requests are no slower, the mean says more. */
static double told_ratio(const struct segment_of_party *g)
{
    if (is_slow_in_work_only(g))
        return g->work_ratio;
    return g->median_ratio >= SLOW_LEAST_RATIO ? g->median_ratio : exp(g->of_mean);
}

struct when_text {
    char s[80];
};

static struct when_text when(const struct finding *f)
{
    struct when_text t;
    snprintf(t.s, sizeof t.s, "%s%s%s%s", f->has_start ? " from " : "",
             f->has_start ? find_clock(f->start_ns).s : "", f->has_end ? " until " : "",
             f->has_end ? find_clock(f->end_ns).s : "");
    return t;
}

static bool say_party(struct search *s, const struct course_parties *p, const struct excess *x,
                      const struct segment_of_party *g, struct err *e)
{
    const struct course *c = s->c;
    bool only_work = is_slow_in_work_only(g);
    double ratio = only_work ? g->work_ratio : exp(g->of_mean);
    struct finding f =
        search_slowness(p, g->party, !g->is_minor && ratio >= SLOW_PROBLEM_RATIO, g->lost);
    struct strata_text what = search_name_strata(c, g->of, &f);

    f.ratio = told_ratio(g);
    f.start_ns = period_start_ns(x, c, g->first);
    f.end_ns = period_start_ns(x, c, g->last + 1);
    f.has_start = search_frac(s, f.start_ns - c->start_ns) > SLOW_EDGE_FRAC;
    f.has_end = search_frac(s, c->full_until_ns - f.end_ns) > SLOW_EDGE_FRAC;
    finding_figure(&f, "n_samples", g->n);
    finding_figure(&f, "z", fmin(g->z, 1e6));
    if (only_work)
        return findings_add(s->out, &f, e,
                            "%s works %.1f times longer on a request than the other %s; fewer "
                            "requests wait there",
                            intern_shown(f.party), f.ratio, search_others(p).s);
    if (f.client != NULL)
        return findings_add(s->out, &f, e,
                            "%s answers %sof client %s %.1f times slower than those of other "
                            "clients%s; other hosts do not",
                            intern_shown(f.party), what.s[0] != '\0' ? what.s : "requests ",
                            intern_shown(f.client), f.ratio, when(&f).s);
    return findings_add(s->out, &f, e, "%s%s answers %s%.1f times slower than the other %s%s",
                        p->clients ? "Client " : "", intern_shown(f.party), what.s, f.ratio,
                        search_others(p).s, when(&f).s);
}

/* Finds the operation, or the sizes, whose requests alone are slow: they have an excess, and all
 * other requests of looked_at have next to none. */
static bool narrow_strata(struct segment_of_party *v, size_t n, const struct excess *all,
                          struct strata looked_at, struct slow_compared *of, struct err *e)
{
    struct strata one;
    bool ok = true;

    for (size_t k = 1; ok && n > 0 && nth_strata(of->s->c, k, &one); k++) {
        struct excess x;

        if (one.first < looked_at.first || one.end > looked_at.end ||
            one.end - one.first == looked_at.end - looked_at.first)
            continue;
        ok = slow_excess_init_like(&x, of, one, all, e);
        for (size_t i = 0; ok && i < n; i++) {
            struct segment_of_party own = v[i];

            measure(&x, &own);
            /* The excess of all other requests follows from that of all. */
            double n_others = v[i].n - own.n;
            double others = (v[i].n * v[i].mean - own.n * own.mean) / fmax(n_others, 1);
            if (own.n < SLOW_LEAST_SAMPLES || n_others < SLOW_LEAST_SAMPLES ||
                others > SLOW_OTHERS_FRAC / 2 * own.mean || others >= log(SLOW_LEAST_RATIO))
                continue;
            v[i].of = one;
            v[i].of_mean = own.mean;
            v[i].slow_z = fmax(own.slow_z, v[i].slow_z);
        }
        slow_excess_fini(&x);
    }
    return ok;
}

/* Whether the host is in a slow pair, whose requests raise its mean service time. */
static bool has_slow_pair(const struct search *s, size_t host)
{
    for (size_t i = 0; i < s->c->n_places; i++)
        if (s->c->hosts.of_place[i] == host && s->hosts.of_place[i] != host)
            return true;
    return false;
}

/* Finds out whether a host is slower in a stretch, or only has a longer queue. */
static bool ask_queues(struct segment_of_party *g, struct queues *q, const struct excess *x,
                       const struct search *s, const struct course_parties *p,
                       struct queues_answer *answer, struct err *e)
{
    bool ok = true;

    *answer = (struct queues_answer){0};
    if (course_are_hosts(p) && strata_are_all(s->c, g->of) && !has_slow_pair(s, g->party))
        ok = queues_ask(q, s, g->party, period_start_ns(x, s->c, g->first),
                        period_start_ns(x, s->c, g->last + 1), answer, e);
    g->work_ratio = answer->ratio;
    return ok;
}

/* Tries the part of a stretch above its mean. If the queues confirm it (*sure), it replaces the
 * stretch. A host may be slow in a part only: a queue that was long by chance makes the stretch
 * longer, so that the queues of all of it show nothing. */
static bool ask_core(struct segment_of_party *g, struct queues *q, const struct excess *x,
                     const struct search *s, const struct course_parties *p, bool *sure,
                     struct err *e)
{
    struct segment_of_party core = *g;
    struct queues_answer answer;

    *sure = false;
    if (!best_periods(x, g->party, g->first, g->last + 1, g->mean, 1, &core))
        return true;
    measure(x, &core);
    if (!may_be_slow(&core) || core.z < CORE_SURER * g->z)
        return true;
    if (!ask_queues(&core, q, x, s, p, &answer, e))
        return false;
    *sure = answer.is_known && answer.is_longer && answer.z >= CORE_LEAST_Z;
    if (*sure)
        *g = core;
    return true;
}

/* Drops the stretches in which a host is not slower, but has a longer queue. The stretches of a
 * host, neighbours in v, are judged together. */
static bool drop_longer_queues(struct segment_of_party *v, size_t *n, const struct excess *x,
                               const struct search *s, const struct course_parties *p,
                               struct err *e)
{
    struct queues q = {0};
    size_t n_kept = 0;
    bool ok = true;

    for (size_t i = 0, end; ok && i < *n; i = end) {
        struct queues_answer answers[SLOW_MAX_STRETCHES];
        double squares = 0;

        for (end = i; ok && end < *n && end - i < SLOW_MAX_STRETCHES && v[end].party == v[i].party;
             end++) {
            struct queues_answer *a = &answers[end - i];
            ok = ask_queues(&v[end], &q, x, s, p, a, e);
            squares += a->is_longer ? a->z * a->z : 0;
        }
        bool sure = sqrt(squares) >= QUEUES_LEAST_Z, core_is_sure = false;
        if (ok && !sure && end - i == 1 && answers[0].is_known)
            ok = ask_core(&v[i], &q, x, s, p, &core_is_sure, e);
        for (size_t k = i; k < end; k++)
            if (core_is_sure ||
                (answers[k - i].is_known ? answers[k - i].is_longer && sure
                                         : !v[k].is_perhaps && v[k].slow_z >= least_z(p->n)))
                v[n_kept++] = v[k];
    }
    *n = n_kept;
    queues_fini(&q);
    return ok;
}

/* Fills in the ratios of median durations. In a longer stretch the first and the last period, in
 * which the party became slow and fast again, do not count. */
static bool fill_ratios(struct segment_of_party *v, size_t n, const struct excess *x,
                        const struct search *s, const struct course_parties *p, struct err *e)
{
    bool *is_faulty = NULL;
    bool ok = mem_cleared(&is_faulty, p->n, e);

    for (size_t i = 0; ok && i < n; i++) {
        memset(is_faulty, 0, p->n * sizeof *is_faulty);
        for (size_t k = 0; k < n; k++)
            if (v[k].first <= v[i].last && v[k].last >= v[i].first)
                is_faulty[v[k].party] = true;
        bool is_long = v[i].last - v[i].first + 1 >= LEAST_LONG;
        struct slow_stretch g = {.party = v[i].party,
                                 .periods = x->periods,
                                 .first = v[i].first + (is_long && v[i].first > 0),
                                 .last = v[i].last - (is_long && v[i].last + 1 < x->periods.n),
                                 .n = x->n + v[i].party * x->periods.n,
                                 .of = v[i].of,
                                 .is_faulty = is_faulty};
        ok = slow_ratio(s, p, &g, &v[i].median_ratio, e);
    }
    free(is_faulty);
    return ok;
}

/* Drops parties that are slow for less than half of the run if all their stretches together cost
 * next to nothing; if they cost little, they are no problem. */
static void drop_cheap(struct segment_of_party *v, size_t *n, const struct excess *x,
                       size_t n_parties)
{
    size_t n_kept = 0;

    for (size_t i = 0; i < *n; i++)
        v[i].lost = lost_share(x, n_parties, &v[i]);
    for (size_t i = 0, end; i < *n; i = end) {
        double lost = 0;
        size_t length = 0;

        for (end = i; end < *n && v[end].party == v[i].party; end++) {
            lost += v[end].lost;
            length += v[end].last - v[end].first + 1;
        }
        for (size_t k = i; k < end; k++)
            if (2 * length >= x->periods.n || lost >= FINDING_WORTH_FRAC) {
                v[n_kept] = v[k];
                v[n_kept++].is_minor = 2 * length < x->periods.n && lost < FINDING_PROBLEM_FRAC;
            }
    }
    *n = n_kept;
}

/* Stretches of parties that were compared already. */
struct seen {
    struct {
        size_t party;
        int64_t start_ns, end_ns;
    } v[MAX_SLOW + SLOW_MAX_STRETCHES];
    size_t n;
};

static bool is_seen(const struct seen *seen, const struct course *c, const struct excess *x,
                    const struct segment_of_party *g)
{
    for (size_t i = 0; i < seen->n; i++)
        if (seen->v[i].party == g->party &&
            seen->v[i].start_ns < period_start_ns(x, c, g->last + 1) &&
            seen->v[i].end_ns > period_start_ns(x, c, g->first))
            return true;
    return false;
}

static void add_seen(struct seen *seen, const struct course *c, const struct excess *x,
                     const struct segment_of_party *v, size_t n)
{
    for (size_t i = 0; i < n && seen->n < MAX_SLOW + SLOW_MAX_STRETCHES; i++) {
        if (v[i].is_perhaps)
            continue;
        seen->v[seen->n].party = v[i].party;
        seen->v[seen->n].start_ns = period_start_ns(x, c, v[i].first);
        seen->v[seen->n++].end_ns = period_start_ns(x, c, v[i].last + 1);
    }
}

/* Whether the other pairs with the same name as a pair (`names`: of hosts, or of clients) are as
 * fast as usual while it is slow. */
static bool others_are_fast(const struct excess *x, const struct course_parties *p,
                            const struct segment_of_party *g, const char *const *names)
{
    double n = 0, sum = 0;

    for (size_t k = 0; k < p->n; k++) {
        struct segment_of_party other = *g;
        if (k == g->party || names[k] != names[g->party])
            continue;
        other.party = k;
        measure(x, &other);
        n += other.n;
        sum += other.n * other.mean;
    }
    return n >= SLOW_LEAST_SAMPLES && sum <= SLOW_OTHERS_FRAC * g->mean * n;
}

/* Whether a party is slow by itself: a pair is not if its host or its client is slow. */
static bool is_of_its_own(const struct excess *x, const struct course_parties *p,
                          const struct segment_of_party *g)
{
    return p->client == NULL ||
           (others_are_fast(x, p, g, p->name) && others_are_fast(x, p, g, p->client));
}

/* Leaves out the requests of a slow pair when slow hosts and clients are searched for, and those of
 * a slow host when slow clients are. */
static void leave_out(struct search *s, const struct course_parties *p, size_t party)
{
    for (size_t i = 0; i < s->c->n_places; i++) {
        if (p->clients || p->of_place[i] != party)
            continue;
        s->clients.of_place[i] = UINT32_MAX;
        if (p->client != NULL)
            s->hosts.of_place[i] = UINT32_MAX;
    }
}

/* Appends the stretches of a party that may be slow. */
static void add_party(struct segment_of_party *v, size_t *n_slow, const struct excess *x,
                      const struct course *c, const struct course_parties *p, size_t k,
                      struct strata of)
{
    struct segment_of_party g = slow_segment(x, k), *stretches = v + *n_slow;
    size_t n = 0;
    bool is_told_apart = split(x, &g, stretches, &n), slow_apart = is_slow(x, p->n, stretches, n);

    /* All is one stretch if the stretches are too many, or not significant together. */
    if (!is_told_apart || !slow_apart) {
        bool slow = is_slow(x, p->n, &g, 1) || slow_apart ||
                    (course_are_hosts(p) && strata_are_all(c, of) && is_perhaps_slow(x, k, &g));
        stretches[0] = g;
        n = slow;
    }
    if (n == 0 || !is_of_its_own(x, p, &g))
        return;
    for (size_t i = 0; i < n; i++) {
        stretches[i].of = of;
        stretches[i].of_mean = stretches[i].mean;
    }
    *n_slow += n;
}

/* Finds and reports slow hosts, clients or pairs, by the requests of some strata. */
static bool find_slow_in(struct search *s, struct slow_compared *compared, struct strata of,
                         struct seen *seen, struct err *e)
{
    const struct course_parties *p = compared->p;
    struct excess x;
    struct segment_of_party slow[MAX_SLOW + SLOW_MAX_STRETCHES];
    size_t n_slow = 0, n_new = 0;
    bool ok = slow_excess_init(&x, compared, of, e);

    for (size_t k = 0; ok && k < p->n && n_slow < MAX_SLOW; k++)
        add_party(slow, &n_slow, &x, s->c, p, k, of);
    for (size_t i = 0; i < n_slow; i++)
        if (!is_seen(seen, s->c, &x, &slow[i]))
            slow[n_new++] = slow[i];
    add_seen(seen, s->c, &x, slow, n_new);
    ok = ok && narrow_strata(slow, n_new, &x, of, compared, e);
    ok = ok && drop_longer_queues(slow, &n_new, &x, s, p, e);
    if (ok)
        drop_cheap(slow, &n_new, &x, p->n);
    ok = ok && fill_ratios(slow, n_new, &x, s, p, e);
    for (size_t i = 0; ok && i < n_new; i++) {
        bool is_tail = slow[i].is_perhaps && slow[i].median_ratio < PERHAPS_RATIO;
        ok = is_tail || say_party(s, p, &x, &slow[i], e);
        if (!is_tail)
            leave_out(s, p, slow[i].party);
    }
    slow_excess_fini(&x);
    return ok;
}

/* Whether a party may have samples enough to be judged by these strata. */
static bool have_samples(const struct search *s, const struct course_parties *p, struct strata of)
{
    return 2 * search_samples(s, of).n >= SLOW_LEAST_SAMPLES * (double)p->n;
}

/* Looks at all requests first, then at each operation and size, as slowness of few requests does
 * not show in all. Pairs are many: for them it looks at all requests only. */
static bool find_slow_parties(struct search *s, const struct course_parties *p, struct err *e)
{
    struct seen seen = {.n = 0};
    struct strata of;
    struct slow_compared compared;

    if (p->n < 2)
        return true;
    bool ok = slow_compared_init(&compared, s, p, e);
    for (size_t i = 0; ok && nth_strata(s->c, i, &of); i++)
        if (i == 0 || (p->client == NULL && have_samples(s, p, of)))
            ok = find_slow_in(s, &compared, of, &seen, e);
    slow_compared_fini(&compared);
    return ok;
}

bool find_slow(struct search *s, struct err *e)
{
    if (s->c->cells == NULL)
        return true;
    return find_slow_parties(s, &s->c->pairs, e) && find_slow_parties(s, &s->hosts, e) &&
           find_slow_parties(s, &s->clients, e);
}
