#include "analyze/stats/picker.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/quantile.h"

#include <stdlib.h>
#include <string.h>

/* Below this many values a copy is cheaper than clearing the counters. */
#define SMALL_N 4096

#define FEW_N 32 /* sorted rather than searched */

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

#define N_SHARES 256

/* A histogram: N_SHARES equal shares of the range from the least to the greatest value. */
struct shares {
    int64_t least;
    double per_unit; /* 0: all are in the first */
    uint32_t count[N_SHARES];
    bool wanted[N_SHARES]; /* some wanted rank is in it */
    size_t at, n_before;   /* the share that shares_find has reached, and how many values are
                              below it */
    size_t n_dropped;      /* values below it in shares that are not wanted */
};

static inline size_t share_of(const struct shares *s, int64_t v)
{
    return (size_t)((double)(int64_t)((uint64_t)v - (uint64_t)s->least) * s->per_unit);
}

static void shares_init(struct shares *s, const int64_t *v, size_t n)
{
    int64_t least = v[0], most = v[0];

    for (size_t i = 0; i < n; i++) {
        least = v[i] < least ? v[i] : least;
        most = v[i] > most ? v[i] : most;
    }
    uint64_t width = (uint64_t)most - (uint64_t)least;
    *s = (struct shares){.least = least};
    if (width > 0 && width < INT64_MAX)
        s->per_unit = (N_SHARES - 1) / (double)width;
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
static size_t shares_keep(struct shares *s, int64_t *v, size_t n, size_t base, const size_t *ranks,
                          size_t n_ranks)
{
    size_t n_kept = 0;

    shares_init(s, v, n);
    for (size_t i = 0; i < n_ranks; i++) {
        shares_find(s, ranks[i] - base);
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

void picker_select_in_place(int64_t *v, size_t n, size_t base, const size_t *ranks, size_t n_ranks,
                            int64_t *out)
{
    size_t done = 0; /* v[0..done) hold the smallest values */
    struct shares shares;
    bool few = n <= 2 * FEW_N;

    if (few) {
        sort_few(v, n);
        done = n;
    } else {
        n = shares_keep(&shares, v, n, base, ranks, n_ranks);
    }
    for (size_t i = 0; i < n_ranks; i++) {
        size_t k = ranks[i] - base;
        if (!few) {
            shares_find(&shares, k);
            k -= shares.n_dropped;
        }
        if (k >= done) {
            select_nth(v + done, n - done, k - done);
            done = k + 1;
        }
        out[i] = v[k];
    }
}

/* ---- Two passes ---- */

/* A bucket with wanted ranks: its values begin at kept[at]. */
struct picker_wanted {
    size_t bucket;
    size_t base, n, at;     /* rank of its first value; values; place in `kept` */
    size_t first, n_wanted; /* into the ascending ranks */
};

/* True if a bucket has only one possible value, so that values need not be kept. Bucket 0 also has
 * all negative values. */
static bool has_one_value(size_t bucket)
{
    return bucket > 0 && bucket < 2048;
}

bool picker_init(struct picker *p)
{
    *p = (struct picker){0};
    return mem_cleared(&p->count, HIST_N_INDEXES, NULL);
}

void picker_fini(struct picker *p)
{
    free(p->count);
    free(p->wanted);
    free(p->kept);
    *p = (struct picker){0};
}

void picker_merge(struct picker *to, const struct picker *from)
{
    for (size_t i = 0; i < from->end; i++)
        to->count[i] += from->count[i];
    to->end = from->end > to->end ? from->end : to->end;
}

bool picker_aim(struct picker *p, const size_t *ranks, size_t n_ranks)
{
    size_t n_kept = 0, below = 0, next = 0;
    if (!mem_new(&p->wanted, n_ranks, NULL))
        return false;
    for (size_t i = 0; i < p->end; i++) {
        size_t in_bucket = p->count[i], first = next;
        while (next < n_ranks && ranks[next] < below + in_bucket)
            next++;
        p->count[i] = PICKER_NOT_WANTED;
        if (next > first) {
            p->wanted[p->n_wanted++] =
                (struct picker_wanted){i, below, in_bucket, n_kept, first, next - first};
            if (!has_one_value(i)) {
                p->count[i] = (uint32_t)n_kept; /* from here on: where its next value goes */
                n_kept += in_bucket;
            }
        }
        below += in_bucket;
    }
    return mem_new(&p->kept, n_kept, NULL) && next == n_ranks;
}

void picker_mark(const struct picker *p, bool *wanted)
{
    for (size_t i = 0; i < p->n_wanted; i++)
        wanted[p->wanted[i].bucket] = !has_one_value(p->wanted[i].bucket);
}

void picker_finish(struct picker *p, const size_t *ranks, int64_t *out)
{
    for (size_t i = 0; i < p->n_wanted; i++) {
        const struct picker_wanted *w = &p->wanted[i];
        if (!has_one_value(w->bucket))
            picker_select_in_place(p->kept + w->at, w->n, w->base, ranks + w->first, w->n_wanted,
                                   out + w->first);
        for (size_t j = w->first; has_one_value(w->bucket) && j < w->first + w->n_wanted; j++)
            out[j] = (int64_t)w->bucket;
    }
}

/* ---- One array ---- */

/* A wanted rank and the place of its answer. */
struct asked {
    size_t rank, place;
};

static int compare_asked(const void *a, const void *b)
{
    size_t x = ((const struct asked *)a)->rank, y = ((const struct asked *)b)->rank;
    return (x > y) - (x < y);
}

static bool select_by_copy(const int64_t *v, size_t n, const size_t *ranks, size_t n_ranks,
                           int64_t *out)
{
    int64_t *copy;
    if (!mem_new(&copy, n, NULL))
        return false;
    memcpy(copy, v, n * sizeof *copy);
    picker_select_in_place(copy, n, 0, ranks, n_ranks, out);
    free(copy);
    return true;
}

static bool select_by_buckets(const int64_t *v, size_t n, const size_t *ranks, size_t n_ranks,
                              int64_t *out)
{
    struct picker p;
    bool ok = picker_init(&p);

    for (size_t i = 0; ok && i < n; i++)
        picker_count(&p, v[i]);
    ok = ok && picker_aim(&p, ranks, n_ranks);
    for (size_t i = 0; ok && i < n; i++)
        picker_collect(&p, v[i]);
    if (ok)
        picker_finish(&p, ranks, out);
    picker_fini(&p);
    return ok;
}

bool picker_select(const int64_t *v, size_t n, const size_t *ranks, size_t n_ranks, int64_t *out)
{
    if (n_ranks == 0)
        return true;
    struct asked *asked = NULL;
    size_t *sorted = NULL;
    int64_t *values = NULL;
    bool ok = mem_new(&asked, n_ranks, NULL) && mem_new(&sorted, n_ranks, NULL) &&
              mem_new(&values, n_ranks, NULL);
    for (size_t i = 0; ok && i < n_ranks; i++)
        asked[i] = (struct asked){ranks[i], i};
    if (ok)
        qsort(asked, n_ranks, sizeof *asked, compare_asked);
    for (size_t i = 0; ok && i < n_ranks; i++)
        sorted[i] = asked[i].rank;
    ok = ok && sorted[n_ranks - 1] < n;
    if (ok)
        ok = n >= SMALL_N && n < PICKER_NOT_WANTED
                 ? select_by_buckets(v, n, sorted, n_ranks, values)
                 : select_by_copy(v, n, sorted, n_ranks, values);
    for (size_t i = 0; ok && i < n_ranks; i++)
        out[asked[i].place] = values[i];
    free(asked);
    free(sorted);
    free(values);
    return ok;
}

bool picker_quantiles(const int64_t *v, size_t n, const unsigned *permille, size_t n_wanted,
                      int64_t *out, struct err *e)
{
    size_t ranks[PICKER_QUANTILES_MAX];

    for (size_t i = 0; i < n_wanted; i++)
        ranks[i] = quantile_index(n, permille[i]);
    return picker_select(v, n, ranks, n_wanted, out) || mem_none(e);
}
