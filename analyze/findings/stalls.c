/* Stalls: intervals in which next to nothing is completed, of the whole system, or of some hosts,
 * some clients or one operation. All are runs below a threshold in a series of completions. */
#include "analyze/findings/stalls_internal.h"
#include "analyze/stats/stats.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STALLS      1000
#define RATE_FRAC        .1   /* of the usual rate; a stall has at most twice as much */
#define MOST_BLOCKS      100  /* that have a usual rate of their own */
#define PER_BLOCK        10   /* requests, at least, on average */
#define TYPICAL_TIMES    3    /* median durations; shorter gaps arise if requests run in step */
#define ALIKE_SHARE      .25  /* least ratio of a chosen party's requests that hang to the most */
#define LEAST_WAITS      2    /* requests of a party that hang at once, in a closed loop */
#define CHANCE           .001 /* that all stalled, and some are accused */
#define CHANCE_OF_LONG   .01  /* that requests are long without any stall */
/* That the requests that ended are all of others, if all stalled. That those of some hosts hang
 * proves less than it seems: wandering queues may have left most requests at a few hosts. */
#define CHANCE_OF_OTHERS .1

static int64_t middle_of(const struct stall *st)
{
    return st->start_ns + stall_length(st) / 2;
}

bool stalls_are_of_same(const struct stall *a, const struct stall *b)
{
    return a->of == b->of && a->n_parties == b->n_parties &&
           memcmp(a->parties, b->parties, a->n_parties * sizeof *a->parties) == 0;
}

double stalls_share_of(const struct stalls *x, const struct stall *st)
{
    int64_t n = st->of == NULL ? x->s->c->n : 0;
    for (size_t i = 0; i < st->n_parties; i++)
        n += st->of->n_requests[st->parties[i]];
    return (double)n / (double)x->s->c->n;
}

/* ---- Intervals with next to no completions ---- */

/* Fills in the series of all requests; *found becomes false if the run is too short, or has no
 * usual rate. Copies the median of the blocks around each block into its bins. Blocks in which next
 * to nothing ended do not count, so that neither a stall nor a change of level bends the usual
 * rate. Requests that are refused end many times faster than usual: only successes count. */
static bool find_usual(struct stalls *x, bool *found, struct err *e)
{
    const struct course *c = x->s->c;
    size_t wanted = c->n < MOST_BLOCKS * PER_BLOCK ? (size_t)int64_max(c->n / PER_BLOCK, 1)
                                                   : MOST_BLOCKS,
           per_block = (c->n_bins + wanted - 1) / wanted, n_blocks = c->n_bins / per_block;
    double rate[MOST_BLOCKS] = {0}, counted[MOST_BLOCKS], around[MOST_BLOCKS], mean = 0;
    size_t n_counted = 0, next = 0, n_local = n_blocks / 10 + 1;

    x->all = (struct stall_series){.share = 1, .n = c->n_bins, .bin_ns = c->bin_ns};
    x->window = n_local * per_block;
    if (!mem_new(&x->all.done, c->n_bins, e) || !mem_new(&x->all.usual, c->n_bins, e))
        return false;
    for (size_t j = 0; j < n_blocks * per_block; j++)
        rate[j / per_block] += (double)c->ok[j] / (double)per_block;
    for (size_t b = 0; b < n_blocks; b++)
        mean += rate[b] / (double)n_blocks;
    for (size_t b = 0; b < n_blocks; b++)
        if (rate[b] > RATE_FRAC * mean)
            counted[n_counted++] = rate[b];
    *found = n_counted > 1;
    for (size_t b = 0; *found && b < n_blocks; b++) {
        size_t from = next > n_local ? next - n_local : 0,
               to = next + n_local < n_counted ? next + n_local + 1 : n_counted,
               end = b + 1 < n_blocks ? (b + 1) * per_block : c->n_bins;

        memcpy(around, counted + from, (to - from) * sizeof *around);
        double usual = stats_sort_median(around, to - from);
        for (size_t j = b * per_block; j < end; j++) {
            x->all.done[j] = (int64_t)c->ok[j] + c->failed[j] - c->timed_out[j];
            x->all.usual[j] = usual * course_part(c, j, c->bin_ns);
        }
        next += rate[b] > RATE_FRAC * mean;
    }
    return true;
}

struct sums {
    double done, usual;
};

static struct sums sum_bins(const struct stall_series *a, size_t first, size_t end)
{
    struct sums sum = {0};

    for (size_t j = first; j < end && j < a->n; j++) {
        sum.done += (double)a->done[j];
        sum.usual += a->share * a->usual[j];
    }
    return sum;
}

static inline double score_of(struct sums sum)
{
    return find_score(sum.done, sum.usual, RATE_FRAC);
}

double stalls_rate_frac(const struct stalls *x, int64_t start_ns, int64_t end_ns)
{
    size_t first = course_bin(x->s->c, start_ns) + 1, end = course_bin(x->s->c, end_ns);
    struct sums sum = sum_bins(&x->all, first, end);
    double n = end > first ? (double)(end - first) : 0, around = 0, n_around = 0;

    if (first > x->window) {
        around += x->all.usual[first - x->window];
        n_around++;
    }
    if (end + x->window + 1 < x->all.n) {
        around += x->all.usual[end + x->window];
        n_around++;
    }
    if (n_around > 0)
        sum.usual = n * around / n_around;
    return sum.usual > 0 ? sum.done / sum.usual : 0;
}

/* By seconds, returns for how long the system stalled within a bin, from how many requests are
 * missing: a stall begins or ends within a second. */
static int64_t stood_ns(const struct stalls *x, const struct stall_series *a, size_t bin)
{
    const struct course *c = x->s->c;
    if (c->has_requests || bin >= a->n)
        return 0;
    struct sums sum = sum_bins(a, bin, bin + 1);
    double missing = 1 - sum.done / fmax(sum.usual, 1e-9);
    return (int64_t)(fmax(missing, 0) * course_part(c, bin, a->bin_ns) * (double)a->bin_ns);
}

/* Adds the bins [first, end) as a stall if they are long and empty enough. */
static void add_interval(const struct stalls *x, const struct stall_series *a, size_t first,
                         size_t end, struct stall *v, size_t *n)
{
    const struct course *c = x->s->c;
    int64_t full_ns = c->full_from_ns > c->bins_ns ? c->full_from_ns - c->bins_ns : 0;
    size_t begun = (size_t)(full_ns / a->bin_ns),
           until = (size_t)((c->full_until_ns - c->bins_ns) / a->bin_ns);
    struct sums sum = sum_bins(a, first, end),
                within = sum_bins(a, first > begun ? first : begun, end < until ? end : until);
    struct stall st = {.start_ns = course_at_ns(c, first, a->bin_ns) - stood_ns(x, a, first - 1),
                       .end_ns = course_at_ns(c, end, a->bin_ns) + stood_ns(x, a, end)};

    /* Low rates at the edges of a run are normal: threads may begin one after the other, and the
     * last requests end alone. */
    st.at_edge = (st.start_ns < c->full_from_ns || st.end_ns > c->full_until_ns) &&
                 score_of(within) < FIND_LEAST_LLR;
    if (stall_length(&st) >= x->least_ns && sum.done <= 2 * RATE_FRAC * sum.usual &&
        *n < MOST_STALLS)
        v[(*n)++] = st;
}

/* Appends to v, which has room for MOST_STALLS, the intervals of a series with next to no
 * completions: maximal ones with a score beyond chance. */
static void find_intervals(const struct stalls *x, const struct stall_series *a, struct stall *v,
                           size_t *n)
{
    struct top_stretch top = {0};

    for (size_t j = 0; j <= a->n; j++) {
        double score = score_of(sum_bins(a, j, j + 1));

        if (j == a->n || top.sum + score <= 0 || top.sum + score < top.most - FIND_LEAST_LLR) {
            if (top.most >= FIND_LEAST_LLR)
                add_interval(x, a, top.first, top.last + 1, v, n);
            top = (struct top_stretch){0};
        } else {
            top_stretch_add(&top, j, score);
        }
    }
}

/* ---- What chance, or threads that pause, leave ---- */

/* Allocates a gap of each party in the middle of each stall: that of party k in stall i is k * x->n
 * + i. Only requests that take half of the stall count as waiting. */
static bool find_gaps(const struct stalls *x, const struct course_parties *p,
                      struct course_gap **gaps, struct err *e)
{
    if (!mem_new(gaps, p->n * x->n, e))
        return false;
    for (size_t k = 0; k < p->n; k++)
        for (size_t i = 0; i < x->n; i++)
            (*gaps)[k * x->n + i] = (struct course_gap){
                .party = k, .at_ns = middle_of(&x->v[i]), .least_ns = stall_length(&x->v[i]) / 2};
    return course_find_gaps(x->s->c, p, *gaps, p->n * x->n, e);
}

static double count_waiting(const struct stalls *x, const struct course_parties *p,
                            const struct course_gap *gaps, size_t i)
{
    double n = 0;
    for (size_t k = 0; k < p->n; k++)
        n += (double)gaps[k * x->n + i].n_waiting;
    return n;
}

/* Returns the share of the threads' time that the tails of durations give to requests of at least
 * that length: n (L / from)^-a of them, which last for 2 L on average (a tail with an exponent of
 * 2). Before the tail, which may be a stall's own, a is that from the 90th percentile on. */
static double time_of_long(const struct course *c, double ns)
{
    double run_ns = (double)(c->end_ns - c->start_ns) + 1, sum = 0;

    for (size_t k = 0; k < c->n_ops; k++) {
        const struct course_tail *t = &c->tail[k];
        double a = t->exponent;

        if (ns < t->from_ns && c->p90_ns[k] < t->from_ns)
            a = log((double)c->ops[k].n / 10 / t->n) / log(t->from_ns / c->p90_ns[k]);
        sum += t->n > 0 ? t->n * pow(ns / t->from_ns, -a) * 2 * ns : 0;
    }
    return fmin(sum / run_ns / (double)c->n_threads, 1);
}

static bool has_ends(const struct course_gap *g)
{
    return g->before_ns != INT64_MIN && g->after_ns != INT64_MAX;
}

static bool is_as_long(int64_t a_ns, int64_t b_ns)
{
    return (double)a_ns >= COURSE_NEARLY_ALL * (double)b_ns;
}

/* Whether n_as_long stalls of nearly that length, or longer, come by chance in `places`, as all
 * threads happen to wait for long requests there: these end late without any stall. Levels skip the
 * time of such a stall, too. */
static bool is_chance(const struct stalls *x, const struct stall *st, size_t n_as_long,
                      size_t places)
{
    const struct course *c = x->s->c;
    double least_ns = COURSE_NEARLY_ALL * (double)stall_length(st),
           n = fmax((double)c->n_threads * stalls_share_of(x, st), 1);

    /* The tail leaves out the ten longest requests, so as not to be made by the stall itself. */
    if (c->tail == NULL || n > STALLS_FEW_THREADS)
        return false;
    double expected =
        (double)places * pow(time_of_long(c, least_ns), n) / search_frac(x->s, (int64_t)least_ns);
    if (stats_poisson_upper((double)n_as_long, expected) <= CHANCE_OF_LONG)
        return false;
    search_mask(x->s, st->start_ns, st->end_ns, FINDING_MASK_STALL);
    return true;
}

/* Returns half as many requests as are in flight in the middle of a gap if servers stand. Threads
 * that pause between requests and run in step leave gaps with fewer: gaps that are shorter than the
 * time from one request of a thread to its next. So do batches of an open loop, in which as many
 * requests as usual would be due. */
static double least_waiting(const struct search *s, const struct stall *st)
{
    const struct course *c = s->c;
    double length_ns = (double)stall_length(st), n = (double)c->n_threads;

    if (!c->has_requests)
        return 0;
    if (c->open_loop)
        return fmin(n, search_frac(s, stall_length(st)) * (double)c->n / 2) / 2;
    return length_ns < n * (double)(c->end_ns - c->start_ns) / (double)c->n
               ? load_mean(s, c->load.under_way, INT64_MIN, INT64_MAX) / 2
               : 0;
}

/* Drops stalls that chance explains, those at an edge of the run in which few threads hang, and
 * gaps in which few requests wait. */
static bool drop_gaps(struct stalls *x, struct err *e)
{
    const struct course *c = x->s->c;
    bool *keep = NULL;
    struct course_gap *gaps = NULL;
    size_t n_kept = 0;
    bool ok = mem_new(&keep, x->n, e) && find_gaps(x, &c->operations, &gaps, e);

    for (size_t i = 0; ok && i < x->n; i++) {
        const struct stall *st = &x->v[i];
        double n = count_waiting(x, &c->operations, gaps, i);
        size_t n_as_long = 0;

        for (size_t k = 0; k < x->n; k++)
            n_as_long += k == i ||
                         (!x->v[k].at_edge && is_as_long(stall_length(&x->v[k]), stall_length(st)));
        keep[i] =
            (!st->at_edge || (c->n_threads > 0 && n >= COURSE_NEARLY_ALL * (double)c->n_threads)) &&
            n >= least_waiting(x->s, st) && !is_chance(x, st, n_as_long, 1);
    }
    for (size_t i = 0; ok && i < x->n; i++)
        if (keep[i])
            x->v[n_kept++] = x->v[i];
    x->n = ok ? n_kept : x->n;
    free(keep);
    free(gaps);
    return ok;
}

/* ---- Whose requests hang ---- */

/* Chooses the parties with nearly all requests that hang in stall i, at most one operation, and
 * less than all. *chance becomes an upper bound on the probability that any group of that size has
 * them if all stall. False: there are none. */
static bool choose_parties(const struct stalls *x, size_t i, const struct course_parties *p,
                           const struct course_gap *gaps, struct stall *st, double *chance)
{
    double n = count_waiting(x, p, gaps, i), largest = 1, chosen = 0;

    *st = x->v[i];
    st->of = p;
    *chance = 1;
    for (size_t k = 0; k < p->n; k++)
        largest = fmax(largest, (double)gaps[k * x->n + i].n_waiting);
    for (size_t k = 0; k < p->n; k++) {
        double here = (double)gaps[k * x->n + i].n_waiting;
        if (here < ALIKE_SHARE * largest)
            continue;
        if (st->n_parties == (p->operations ? 1 : FINDING_MAX_PARTIES))
            return false;
        *chance *= (double)(p->n - st->n_parties) / (double)(st->n_parties + 1);
        st->parties[st->n_parties++] = k;
        chosen += here;
    }
    if (st->n_parties == 0 || st->n_parties == p->n || chosen < COURSE_NEARLY_ALL * n)
        return false;
    *chance *= stats_binomial_upper(chosen, n, stalls_share_of(x, st));
    return true;
}

/* Whether the requests that ended since the stall began are of others, which proves that these went
 * on. Narrows the stall to the time from the last end of a request of its parties to the next. If
 * one of these ends is missing, that is not known. */
static bool others_went_on(const struct stalls *x, size_t i, const struct course_gap *gaps,
                           struct stall *st, double chance)
{
    const struct course *c = x->s->c;
    int64_t start_ns = INT64_MIN, end_ns = INT64_MAX;

    for (size_t k = 0; k < st->n_parties; k++) {
        start_ns = int64_max(gaps[st->parties[k] * x->n + i].before_ns, start_ns);
        end_ns = int64_min(gaps[st->parties[k] * x->n + i].after_ns, end_ns);
    }
    if (start_ns == INT64_MIN || end_ns == INT64_MAX)
        return chance <= CHANCE;
    double n = sum_bins(&x->all, course_bin(c, start_ns) + 1, course_bin(c, gaps[i].at_ns)).done,
           of_others = pow(1 - stalls_share_of(x, st) * (double)c->n / ((double)c->n + 1), n);
    st->start_ns = start_ns;
    st->end_ns = end_ns;
    /* By seconds it is not known who went on for a moment. */
    return chance * of_others <= CHANCE && (!c->has_requests || of_others <= CHANCE_OF_OTHERS);
}

/* Attributes stalls of the system to the parties whose requests alone hang in them. */
static bool give_to_parties(struct stalls *x, const struct course_parties *p, struct err *e)
{
    struct course_gap *gaps = NULL;

    if (p->n < 2 || x->n == 0)
        return true;
    bool ok = find_gaps(x, p, &gaps, e);
    for (size_t i = 0; ok && i < x->n; i++) {
        struct stall st;
        double chance;

        if (x->v[i].of == NULL && choose_parties(x, i, p, gaps, &st, &chance) &&
            others_went_on(x, i, gaps, &st, chance))
            x->v[i] = st;
    }
    free(gaps);
    return ok;
}

static bool lies_in_stall(const struct stalls *x, int64_t at_ns)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->v[i].start_ns <= at_ns && at_ns < x->v[i].end_ns)
            return true;
    return false;
}

/* Adds gap i of n as a stall of its party, if it is long and empty enough while the system goes
 * on. */
static void add_party_stall(struct stalls *x, const struct course_parties *p,
                            const struct course_gap *gaps, size_t n, size_t i)
{
    const struct course_gap *g = &gaps[i];
    struct stall st = {g->before_ns, g->after_ns, false, p, 1, {g->party}};
    size_t n_as_long = 0;

    /* In an open loop most threads of a client may have been idle when it stalled. */
    size_t least_waiting = x->s->c->open_loop ? 1 : LEAST_WAITS;
    if (!has_ends(g) || stall_length(&st) < x->least_ns || g->n_waiting < least_waiting ||
        x->n == MOST_STALLS || stalls_rate_frac(x, st.start_ns, st.end_ns) <= 2 * RATE_FRAC)
        return;
    for (size_t k = 0; k < n; k++)
        n_as_long += has_ends(&gaps[k]) &&
                     is_as_long(gaps[k].after_ns - gaps[k].before_ns, stall_length(&st));
    if (!is_chance(x, &st, n_as_long, p->n))
        x->v[x->n++] = st;
}

/* Finds the intervals in which next to nothing of a party is completed: its share of what is usual
 * then. The requests next to them show when each began and ended. */
static bool find_party_stalls(struct stalls *x, const struct course_parties *p, struct err *e)
{
    const struct course *c = x->s->c;
    struct stall_series own = {.n = c->n_wide, .bin_ns = c->wide_ns};
    struct course_gap *gaps = NULL;
    struct stall *found = NULL;
    size_t n = 0, cap = 0;

    if (p->n < 2 || c->ended == NULL)
        return true;
    bool ok = mem_new(&found, MOST_STALLS, e) && mem_new(&own.done, c->n_wide, e) &&
              mem_cleared(&own.usual, c->n_wide, e);
    for (size_t j = 0; ok && j < c->n_bins; j++)
        own.usual[(int64_t)j * c->bin_ns / c->wide_ns] += x->all.usual[j];
    for (size_t k = 0; ok && k < p->n; k++) {
        size_t n_found = 0;

        own.share = (double)p->n_requests[k] / (double)c->n;
        course_count_ended(c, p, k, own.done);
        find_intervals(x, &own, found, &n_found);
        ok = mem_fit(&gaps, &cap, n + n_found, e);
        for (size_t i = 0; ok && i < n_found; i++)
            if (!found[i].at_edge && !lies_in_stall(x, middle_of(&found[i])))
                gaps[n++] = (struct course_gap){.party = k, .at_ns = middle_of(&found[i])};
    }
    ok = ok && course_find_gaps(c, p, gaps, n, e);
    for (size_t i = 0; ok && i < n; i++)
        add_party_stall(x, p, gaps, n, i);
    free(found);
    free(own.done);
    free(own.usual);
    free(gaps);
    return ok;
}

static int compare_stalls(const void *a, const void *b)
{
    const struct stall *x = a, *y = b;
    int by_start = int64_order(x->start_ns, y->start_ns);

    return by_start != 0 ? by_start : int64_order(x->end_ns, y->end_ns);
}

/* Finds whose the stalls are, and those of parties that hang while the others go on. Sorts all, and
 * drops those that begin in a stall of the same parties: one host that hangs can cause several
 * stalls of the system. False: out of memory. */
static bool find_parties(struct stalls *x, struct err *e)
{
    const struct course *c = x->s->c;
    const struct course_parties *const all[] = {&c->hosts, &c->clients, &c->operations};
    const size_t n = sizeof all / sizeof *all;
    bool ok = x->n == 0 || drop_gaps(x, e);
    size_t n_kept = 0;

    for (size_t i = 0; ok && i < n; i++)
        ok = give_to_parties(x, all[i], e);
    for (size_t i = 0; ok && i < n; i++)
        ok = find_party_stalls(x, all[i], e);
    qsort(x->v, x->n, sizeof *x->v, compare_stalls);
    for (size_t i = 0; i < x->n; i++) {
        bool is_part = false;
        for (size_t k = 0; k < n_kept; k++)
            is_part = is_part ||
                      (stalls_are_of_same(&x->v[k], &x->v[i]) && x->v[k].end_ns > x->v[i].start_ns);
        if (!is_part)
            x->v[n_kept++] = x->v[i];
    }
    x->n = n_kept;
    return ok;
}

bool find_stalls(struct search *s, struct err *e)
{
    const struct course *c = s->c;
    struct stalls x = {.s = s};
    bool is_found = false;

    /* A multiple of the median duration may overflow. */
    double least_ns = fmax(TYPICAL_TIMES * search_longest_ns(s, c->median_ns, OP_MATTERS),
                           (double)c->shortest_ns);
    x.least_ns = least_ns < 0x1p63 ? (int64_t)least_ns : INT64_MAX;
    bool ok = mem_new(&x.v, MOST_STALLS, e) && find_usual(&x, &is_found, e);
    if (ok && is_found) {
        find_intervals(&x, &x.all, x.v, &x.n);
        ok = find_parties(&x, e);
        for (size_t i = 0; i < x.n; i++)
            search_mask(s, x.v[i].start_ns, x.v[i].end_ns, FINDING_MASK_STALL);
        ok = ok && stalls_say(&x, e);
    }
    free(x.all.done);
    free(x.all.usual);
    free(x.v);
    return ok;
}
