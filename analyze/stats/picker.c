#include "analyze/stats/picker.h"

#include "libcommon/hist.h"
#include "libcommon/int64.h"
#include "libcommon/quantile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FEW_N    32 /* sorted rather than searched */
#define SHARED_N 64 /* from here on a histogram costs less than a search among all values */

static int compare(const void *a, const void *b)
{
    return int64_order(*(const int64_t *)a, *(const int64_t *)b);
}

static int64_t median_of_3(int64_t a, int64_t b, int64_t c)
{
    if (a > b) {
        int64_t t = a;
        a = b;
        b = t;
    }
    return c < a ? a : c > b ? b : c;
}

static void sort_few(int64_t *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        int64_t x = v[i];
        size_t j = i;

        for (; j > 0 && v[j - 1] > x; j--)
            v[j] = v[j - 1];
        v[j] = x;
    }
}

/* Reorders v so that v[k] has rank k, nothing larger stands before it and nothing smaller after. */
static void select_nth(int64_t *v, size_t n, size_t k)
{
    size_t lo = 0, hi = n;
    /* A series of bad pivots ends in a sort: never quadratic. */
    for (int rounds = 64; rounds > 0 && hi - lo > FEW_N; rounds--) {
        int64_t pivot = median_of_3(v[lo], v[lo + (hi - lo) / 2], v[hi - 1]);
        size_t less = lo, i = lo, more = hi; /* [lo,less) <, [less,i) ==, [more,hi) > pivot */
        while (i < more) {
            int64_t x = v[i];

            if (x < pivot) {
                v[i++] = v[less];
                v[less++] = x;
            } else if (x > pivot) {
                v[i] = v[--more];
                v[more] = x;
            } else {
                i++;
            }
        }
        if (k < less)
            hi = less;
        else if (k >= more)
            lo = more;
        else
            return;
    }
    if (hi - lo <= FEW_N)
        sort_few(v + lo, hi - lo);
    else
        qsort(v + lo, hi - lo, sizeof *v, compare);
}

/* A histogram of the distances from the least value, by the buckets of hist.h: 16 of them are a
 * share, or 128 where there are few values. A share is at most 1.6 or 12.5 % of the distance wide.
 */
#define SHARE_BITS     4
#define SHARE_BITS_FEW 7
#define FEW_SHARED     4096
#define N_SHARES       (HIST_N_INDEXES >> SHARE_BITS)

struct shares {
    int64_t least;
    unsigned bits;       /* more than there are: all values are in the first share */
    size_t at, n_before; /* the share that shares_find has reached, and how many values are below it
                          */
    size_t n_dropped;    /* values below it in shares that are not wanted */
    uint32_t count[N_SHARES];
    bool wanted[N_SHARES]; /* some wanted rank is in it */
};

static inline size_t share_of(const struct shares *s, int64_t v)
{
    return hist_index((int64_t)((uint64_t)v - (uint64_t)s->least)) >> s->bits;
}

static void shares_init(struct shares *s, const int64_t *v, size_t n)
{
    int64_t least = v[0], most = v[0];

    for (size_t i = 0; i < n; i++) {
        least = v[i] < least ? v[i] : least;
        most = v[i] > most ? v[i] : most;
    }
    bool is_too_wide = (uint64_t)most - (uint64_t)least > INT64_MAX;
    s->least = least;
    s->bits = is_too_wide ? 31 : n < FEW_SHARED ? SHARE_BITS_FEW : SHARE_BITS;
    s->at = s->n_before = s->n_dropped = 0;
    size_t n_shares = share_of(s, most) + 1;
    memset(s->count, 0, n_shares * sizeof *s->count);
    memset(s->wanted, 0, n_shares * sizeof *s->wanted);
    for (size_t i = 0; i < n; i++)
        s->count[share_of(s, v[i])]++;
}

/* Advances to the share that contains a rank; ranks must ascend. */
static void shares_find(struct shares *s, size_t rank)
{
    for (; s->n_before + s->count[s->at] <= rank; s->at++) {
        s->n_before += s->count[s->at];
        s->n_dropped += s->wanted[s->at] ? 0 : s->count[s->at];
    }
}

/* Moves the values of the shares that contain wanted ranks to the front, in no order, and
 * returns their number. Selecting among all values would cost unpredictable branches; this loop
 * has none. */
static size_t shares_keep(struct shares *s, int64_t *v, size_t n, const size_t *ranks,
                          const size_t *order, size_t n_ranks)
{
    size_t n_kept = 0;

    shares_init(s, v, n);
    for (size_t i = 0; i < n_ranks; i++) {
        shares_find(s, ranks[order[i]]);
        s->wanted[s->at] = true;
    }
    for (size_t i = 0; i < n; i++) {
        int64_t x = v[i];
        v[i] = v[n_kept];
        v[n_kept] = x;
        n_kept += s->wanted[share_of(s, x)];
    }
    s->at = s->n_before = s->n_dropped = 0;
    return n_kept;
}

void picker_select(int64_t *v, size_t n, const size_t *ranks, size_t n_ranks, int64_t *out)
{
    size_t order[PICKER_MAX_RANKS]; /* of the ranks */
    size_t done = 0;                /* v[0..done) hold the smallest values */
    struct shares shares;
    bool is_shared = n >= SHARED_N && n < UINT32_MAX;

    for (size_t i = 0; i < n_ranks; i++) {
        size_t k = i;
        for (; k > 0 && ranks[order[k - 1]] > ranks[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    if (is_shared)
        n = shares_keep(&shares, v, n, ranks, order, n_ranks);
    for (size_t i = 0; i < n_ranks; i++) {
        size_t k = ranks[order[i]];
        if (is_shared) {
            shares_find(&shares, k);
            k -= shares.n_dropped;
        }
        if (k >= done) {
            select_nth(v + done, n - done, k - done);
            done = k + 1;
        }
        out[order[i]] = v[k];
    }
}

void picker_quantiles(int64_t *v, size_t n, const unsigned *permille, size_t n_wanted, int64_t *out)
{
    size_t ranks[PICKER_MAX_RANKS];

    for (size_t i = 0; i < n_wanted; i++)
        ranks[i] = quantile_index(n, permille[i]);
    picker_select(v, n, ranks, n_wanted, out);
}
