/* How many requests end in a stretch of time, and how many usually do: stalls are judged by
 * both. */
#include "analyze/findings/stalls_internal.h"
#include "analyze/stats/stats.h"
#include "libcommon/mem.h"

#include <math.h>
#include <string.h>

#define N_LOCAL_BLOCKS 12 /* of STALLS_MAX_BLOCKS; a run of few bins has fewer of both */

bool stalls_count(struct stalls *x, struct err *e)
{
    const struct course *c = x->s->c;
    if (!mem_new(&x->done, c->n_bins, e))
        return false;
    for (size_t j = 0; j < c->n_bins; j++)
        x->done[j] = (int64_t)c->ok[j] + c->failed[j] - c->timed_out[j];
    return true;
}

double stalls_done(const struct stalls *x, size_t first, size_t end)
{
    int64_t n = 0;
    for (size_t j = first; j < end; j++)
        n += x->done[j];
    return (double)n;
}

static inline double usual_of_bin(const struct stalls *x, size_t j)
{
    size_t b = j / x->bins_per_block;
    bool is_whole = j > 0 && j + 1 < x->n_bins;

    return x->usual[b < x->n_blocks ? b : x->n_blocks - 1] *
           (is_whole ? 1 : course_part(x->s->c, j, x->bin_ns));
}

/* Returns how many requests usually end in the bins [first, end). */
static double usual_done(const struct stalls *x, size_t first, size_t end)
{
    double n = 0;
    for (size_t j = first; j < end; j++)
        n += usual_of_bin(x, j);
    return n;
}

/* A sliding window: the rates of the blocks around one, sorted. */
struct window {
    double v[2 * N_LOCAL_BLOCKS + 1];
    size_t n;
};

static void window_add(struct window *w, double rate)
{
    size_t i = w->n++;
    for (; i > 0 && w->v[i - 1] > rate; i--)
        w->v[i] = w->v[i - 1];
    w->v[i] = rate;
}

static void window_drop(struct window *w, double rate)
{
    size_t i = 0;
    while (w->v[i] != rate)
        i++;
    memmove(&w->v[i], &w->v[i + 1], (--w->n - i) * sizeof *w->v);
}

static double window_median(const struct window *w)
{
    return (w->v[(w->n - 1) / 2] + w->v[w->n / 2]) / 2;
}

/* Returns how many of the requests that ended in the bins [first, end) say what is usual. */
static double count_usual(const struct stalls *x, size_t first, size_t end)
{
    double n = 0;
    if (x->ok == NULL)
        return stalls_done(x, first, end);
    for (size_t j = first; j < end; j++)
        n += x->ok[j];
    return n;
}

/* The usual rate of a block is the median of the blocks around it, so that neither a stall nor a
 * change of level bends it, and at least half of the usual rate of the run. That is the median of
 * all blocks, or half of their mean, if the run stalled for most of its time. */
bool stalls_find_usual(struct stalls *x)
{
    double *rate = x->rate, sorted[STALLS_MAX_BLOCKS];

    x->bins_per_block = (x->n_bins + STALLS_MAX_BLOCKS - 1) / STALLS_MAX_BLOCKS;
    x->n_blocks = x->n_bins / x->bins_per_block;
    x->n_local = (N_LOCAL_BLOCKS * x->n_blocks + STALLS_MAX_BLOCKS - 1) / STALLS_MAX_BLOCKS;
    if (x->n_blocks < 4)
        return false;
    for (size_t b = 0; b < x->n_blocks; b++)
        rate[b] = count_usual(x, b * x->bins_per_block, (b + 1) * x->bins_per_block) /
                  (double)x->bins_per_block;
    memcpy(sorted, rate, x->n_blocks * sizeof *rate);
    double all = stats_select(sorted, x->n_blocks, x->n_blocks / 2), mean = 0;
    for (size_t b = 0; b < x->n_blocks; b++)
        mean += rate[b] / (double)x->n_blocks;
    all = fmax(all, mean / 2);
    struct window around = {.n = 0};
    for (size_t b = 0; b < x->n_local; b++)
        window_add(&around, rate[b]);
    for (size_t b = 0; b < x->n_blocks; b++) {
        if (b + x->n_local < x->n_blocks)
            window_add(&around, rate[b + x->n_local]);
        x->usual[b] = fmax(window_median(&around), all / 2);
        if (b >= x->n_local)
            window_drop(&around, rate[b - x->n_local]);
    }
    return all > 0;
}

double stalls_rate_frac(const struct stalls *x, int64_t start_ns, int64_t end_ns)
{
    size_t first = course_bin(x->s->c, start_ns) + 1, end = course_bin(x->s->c, end_ns);
    double usual = usual_done(x, first, end);

    return usual > 0 ? stalls_done(x, first, end) / usual : 0;
}

double stalls_rate_frac_around(const struct stalls *x, int64_t start_ns, int64_t end_ns)
{
    const struct course *c = x->s->c;
    size_t first = course_bin(c, start_ns) + 1, end = course_bin(c, end_ns), n_around = 0;
    size_t first_block = first / x->bins_per_block, last_block = end / x->bins_per_block;
    size_t from = first_block > x->n_local ? first_block - x->n_local : 0;
    double around[2 * N_LOCAL_BLOCKS + 2];

    for (size_t b = from; b <= last_block + x->n_local && b < x->n_blocks; b++)
        if (b < first_block || b > last_block)
            around[n_around++] = x->rate[b];
    double usual = n_around > 0 ? stats_sort_median(around, n_around) : 0;
    return usual > 0 && end > first ? stalls_done(x, first, end) / (double)(end - first) / usual
                                    : 0;
}

/* ---- Stretches ---- */

/* By seconds, returns for how long the system stalled within a bin, from how many requests are
 * missing: a stall begins or ends within a second. */
static int64_t stood_ns(const struct stalls *x, size_t bin)
{
    const struct course *c = x->s->c;
    if (c->has_requests || bin >= c->n_bins)
        return 0;
    double missing = 1 - stalls_done(x, bin, bin + 1) / fmax(usual_done(x, bin, bin + 1), 1e-9);
    return (int64_t)(fmax(missing, 0) *
                     (double)(course_bin_start_ns(c, bin + 1) - course_bin_start_ns(c, bin)));
}

/* Whether nine in ten threads wait in the midst of a stall in a request that hangs. */
static bool most_threads_hang(const struct course *c, const struct stall *st)
{
    int64_t length_ns = st->end_ns - st->start_ns;
    size_t n = course_count_hung(c, NULL, st->start_ns + length_ns / 2, length_ns, NULL);

    return c->n_threads > 0 && 10 * (int64_t)n >= 9 * c->n_threads;
}

/* Returns the score of bins in which `done` requests ended where `usual` usually do: the
 * log-likelihood ratio (Poisson) of a stall. */
static inline double score_of(double done, double usual)
{
    return (1 - STALLS_RATE_FRAC) * usual + log(STALLS_RATE_FRAC) * done;
}

/* Adds the stretch of bins [first, last] if it is long and empty enough. */
static void add_stretch(struct stalls *x, size_t first, size_t last)
{
    const struct course *c = x->s->c;
    size_t end = last + 1, last_start = (size_t)((c->full_until_ns - c->bins_ns) / x->bin_ns);
    size_t begun =
        c->full_from_ns > c->bins_ns ? (size_t)((c->full_from_ns - c->bins_ns) / x->bin_ns) : 0;
    size_t from = first > begun ? first : begun, to = end < last_start ? end : last_start;
    double score_within = score_of(stalls_done(x, from, to), usual_done(x, from, to));
    struct stall st = {.start_ns = course_at_ns(c, first, x->bin_ns) - stood_ns(x, first - 1),
                       .end_ns = course_at_ns(c, end, x->bin_ns) + stood_ns(x, end),
                       .rate_frac = stalls_done(x, first, end) / usual_done(x, first, end)};

    /* Low rates at the edges of a run are normal: threads may begin one after the other, and the
     * last requests end alone. A stretch there counts if it is significant without the edge, or if
     * most threads hang. */
    bool at_edge = (st.start_ns < c->full_from_ns || st.end_ns > c->full_until_ns) &&
                   score_within < x->least_score && !most_threads_hang(c, &st);
    if (!at_edge && st.end_ns - st.start_ns >= x->least_ns &&
        st.rate_frac <= 2 * STALLS_RATE_FRAC && x->n < STALLS_MAX)
        x->v[x->n++] = st;
}

/* Whether the rates of blocks leave room for a stretch: it has some whole blocks, and parts of one
 * before and one after. Most parties have no room for any, and their bins need not be looked at. */
static bool blocks_have_room(const struct stalls *x)
{
    double sum = 0, most = 0, largest = 0;

    for (size_t b = 0; b < x->n_blocks; b++) {
        double usual = x->usual[b] * (double)x->bins_per_block;
        sum = fmax(sum, 0) + score_of(x->rate[b] * (double)x->bins_per_block, usual);
        most = fmax(most, sum);
        largest = fmax(largest, usual);
    }
    return most + 2 * score_of(0, largest) >= x->least_score;
}

void stalls_find_stretches(struct stalls *x)
{
    if (!blocks_have_room(x))
        return;
    double sum = 0, most = 0, usual = 0;
    size_t first = 0, last = 0, next = 0;

    for (size_t j = 0; j <= x->n_bins; j++) {
        if (j < x->n_bins && (j == next || j + 1 == x->n_bins)) {
            usual = usual_of_bin(x, j);
            next = j > 0 ? j + x->bins_per_block - j % x->bins_per_block : 1;
        }
        double score = j < x->n_bins ? score_of((double)x->done[j], usual) : 0;
        bool over = j == x->n_bins || sum + score <= 0 || sum + score < most - x->least_score;

        if (over) {
            if (most >= x->least_score)
                add_stretch(x, first, last);
            sum = most = 0;
            first = j + 1;
            continue;
        }
        sum += score;
        if (sum > most) {
            most = sum;
            last = j;
        }
    }
}
