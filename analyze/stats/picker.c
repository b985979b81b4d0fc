#include "analyze/stats/picker.h"

#include "libcommon/hist.h"
#include "libcommon/quantile.h"

#include <gsl/gsl_statistics_long.h>
#include <stdbool.h>

_Static_assert(sizeof(long) == sizeof(int64_t), "GSL selects among long");

#define SHARED_N 64 /* from here on a histogram costs less than a search among all values */

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
    uint32_t count[N_SHARES];
    bool wanted[N_SHARES]; /* some wanted rank is in it */
};

static inline size_t share_of(const struct shares *s, int64_t v)
{
    return hist_index(v) >> s->bits;
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
 */
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
        v[n_kept] = v[i];
        n_kept += s->wanted[share_of(s, v[i])];
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
            gsl_stats_long_select((long *)v + done, 1, n - done, k - done);
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
