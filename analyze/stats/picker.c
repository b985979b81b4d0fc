#include "analyze/stats/picker.h"

#include "libcommon/hist.h"
#include "libcommon/quantile.h"

#include <stdbool.h>

#define SHARED_N 64 /* from here on a histogram costs less than sorting all values */

/* A histogram by the buckets of hist.h: 16 of them are a share, or 128 where there are few values.
 * A share is at most 1.6 or 12.5 % of its values wide. Negative values are all in the first. */
#define SHARE_BITS     4
#define SHARE_BITS_FEW 7
#define FEW_SHARED     4096
#define N_SHARES       (HIST_N_INDEXES >> SHARE_BITS)

struct shares {
    unsigned bits;
    size_t at, n_before; /* the share that shares_find has reached, and how many values are below it
                          */
    size_t n_dropped;    /* values below it in shares that are not wanted */
    size_t count[N_SHARES];
    bool wanted[N_SHARES]; /* some wanted rank is in it */
};

static inline size_t share_of(const struct shares *s, int64_t v)
{
    return hist_index(v) >> s->bits;
}

/* Returns the largest value of the share at s->at. */
static int64_t share_end(const struct shares *s)
{
    return hist_upper(((s->at + 1) << s->bits) - 1);
}

static void shares_init(struct shares *s, const int64_t *v, size_t n)
{
    *s = (struct shares){.bits = n < FEW_SHARED ? SHARE_BITS_FEW : SHARE_BITS};
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

/* Moves the values of the shares that contain wanted ranks to the front, over others, and returns
 * their number. Selecting among all values would cost unpredictable branches; this loop has none.
 * asked: the ranks, ascending, each as rank * PICKER_MAX_RANKS + its place in `ranks`. */
static size_t shares_keep(struct shares *s, int64_t *v, size_t n, const int64_t *asked,
                          size_t n_ranks)
{
    size_t n_kept = 0;

    shares_init(s, v, n);
    for (size_t i = 0; i < n_ranks; i++) {
        shares_find(s, (size_t)asked[i] / PICKER_MAX_RANKS);
        s->wanted[s->at] = true;
    }
    for (size_t i = 0; i < n; i++) {
        v[n_kept] = v[i];
        n_kept += s->wanted[share_of(s, v[i])];
    }
    s->at = s->n_before = s->n_dropped = 0;
    return n_kept;
}

static void sort_few(int64_t *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        int64_t x = v[i];
        size_t k = i;

        for (; k > 0 && v[k - 1] > x; k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
}

/* Moves the values up to `limit` to the front, and returns their number; without a branch, too. */
static size_t split(int64_t *v, size_t n, int64_t limit)
{
    size_t n_low = 0;

    for (size_t i = 0; i < n; i++) {
        int64_t x = v[i];
        v[i] = v[n_low];
        v[n_low] = x;
        n_low += x <= limit;
    }
    return n_low;
}

/* Moves the value of rank k to the index that it returns, and all smaller values before it. Each
 * pass halves the range of the values, so 64 passes are enough, whatever their order. A pivot from
 * among the values would make some orders quadratic. */
static size_t bisect(int64_t *v, size_t n, size_t k)
{
    size_t from = 0;
    int64_t least = v[0], most = v[0];

    for (size_t i = 1; i < n; i++) {
        least = v[i] < least ? v[i] : least;
        most = v[i] > most ? v[i] : most;
    }
    while (n - from > 1 && least < most) {
        int64_t middle = least + (int64_t)(((uint64_t)most - (uint64_t)least) / 2);
        size_t n_low = from + split(v + from, n - from, middle);

        if (k < n_low) {
            n = n_low;
            most = middle;
        } else {
            from = n_low;
            least = middle + 1;
        }
    }
    return from;
}

void picker_select(int64_t *v, size_t n, const size_t *ranks, size_t n_ranks, int64_t *out)
{
    int64_t asked[PICKER_MAX_RANKS]; /* see shares_keep */
    size_t from = 0, to = 0; /* the rank's share, without what is less than the last rank's value */
    struct shares shares;

    if (n < SHARED_N) {
        sort_few(v, n);
        for (size_t i = 0; i < n_ranks; i++)
            out[i] = v[ranks[i]];
        return;
    }
    for (size_t i = 0; i < n_ranks; i++)
        asked[i] = (int64_t)(ranks[i] * PICKER_MAX_RANKS + i);
    sort_few(asked, n_ranks);
    n = shares_keep(&shares, v, n, asked, n_ranks);
    for (size_t i = 0; i < n_ranks; i++) {
        size_t rank = (size_t)asked[i] / PICKER_MAX_RANKS;
        shares_find(&shares, rank);
        size_t k = rank - shares.n_dropped;
        if (k >= to) {
            from = to;
            to += split(v + to, n - to, share_end(&shares));
        }
        from += bisect(v + from, to - from, k - from);
        out[(size_t)asked[i] % PICKER_MAX_RANKS] = v[from];
    }
}

void picker_quantiles(int64_t *v, size_t n, const unsigned *permille, size_t n_wanted, int64_t *out)
{
    size_t ranks[PICKER_MAX_RANKS];

    for (size_t i = 0; i < n_wanted; i++)
        ranks[i] = quantile_index(n, permille[i]);
    picker_select(v, n, ranks, n_wanted, out);
}
