#include "hist.h"

#include <stdlib.h>
#include <string.h>

/* Below this many values a copy is cheaper than clearing the counters. */
#define SMALL_N 4096

bool hist_init(struct hist *h, struct err *e)
{
    *h = (struct hist){.count = calloc(HIST_N_COUNTERS, sizeof *h->count)};
    return h->count != NULL || err_set(e, "out of memory");
}

void hist_fini(struct hist *h)
{
    free(h->count);
    *h = (struct hist){0};
}

void hist_add(struct hist *h, int64_t v)
{
    if (h->n == 0 || v < h->min)
        h->min = v;
    if (h->n == 0 || v > h->max)
        h->max = v;
    h->n++;
    if (v > HIST_MAX_VALUE)
        h->n_over++;
    else
        h->count[hist_index(v)]++;
}

void hist_merge(struct hist *to, const struct hist *from)
{
    if (from->n == 0)
        return;
    if (to->n == 0 || from->min < to->min)
        to->min = from->min;
    if (to->n == 0 || from->max > to->max)
        to->max = from->max;
    to->n += from->n;
    to->n_over += from->n_over;
    for (size_t i = 0; i < HIST_N_COUNTERS; i++)
        to->count[i] += from->count[i];
}

int64_t hist_value_at(const struct hist *h, uint64_t k)
{
    uint64_t below = 0;
    for (size_t i = 0; i < HIST_N_COUNTERS; i++) {
        below += h->count[i];
        if (below >= k) {
            int64_t upper = hist_upper(i);
            return upper < h->max ? upper : h->max;
        }
    }
    return h->max;
}

static int compare_int64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
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

/* Reorders v so that v[k] has rank k, nothing larger stands before it and nothing smaller after. */
static void select_nth(int64_t *v, size_t n, size_t k)
{
    size_t lo = 0, hi = n;
    /* A series of bad pivots ends in a sort: never quadratic. */
    for (int rounds = 64; rounds > 0 && hi - lo > 32; rounds--) {
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
    qsort(v + lo, hi - lo, sizeof *v, compare_int64);
}

/* A wanted rank and the place of its answer. */
struct wanted {
    size_t rank, place;
};

static int compare_wanted(const void *a, const void *b)
{
    size_t x = ((const struct wanted *)a)->rank, y = ((const struct wanted *)b)->rank;
    return (x > y) - (x < y);
}

/* Answers the ascending ranks of `w`, which all lie in [base, base + n), from v: the values of
 * those ranks in any order. */
static void select_all(int64_t *v, size_t n, size_t base, const struct wanted *w, size_t n_wanted,
                       int64_t *out)
{
    size_t done = 0; /* v[0..done) hold the smallest values */
    for (size_t i = 0; i < n_wanted; i++) {
        size_t k = w[i].rank - base;
        if (k >= done) {
            select_nth(v + done, n - done, k - done);
            done = k + 1;
        }
        out[w[i].place] = v[k];
    }
}

static bool select_from_copy(const int64_t *v, size_t n, const struct wanted *w, size_t n_wanted,
                             int64_t *out)
{
    int64_t *copy = malloc(n * sizeof *copy);
    if (copy == NULL)
        return false;
    memcpy(copy, v, n * sizeof *copy);
    select_all(copy, n, 0, w, n_wanted, out);
    free(copy);
    return true;
}

/* Collects the values of the buckets that hold wanted ranks and searches each. `count` holds the
 * number of values per bucket and is used up. */
static bool select_in_buckets(const int64_t *v, size_t n, size_t *count, const struct wanted *w,
                              size_t n_wanted, int64_t *out)
{
    struct part {
        size_t base, n, at;     /* rank of its first value; values; place in `kept` */
        size_t first, n_wanted; /* into w */
    } *parts = malloc(n_wanted * sizeof *parts);
    if (parts == NULL)
        return false;
    size_t n_parts = 0, n_kept = 0, below = 0, next = 0;
    for (size_t i = 0; i < HIST_N_INDEXES; i++) {
        size_t in_bucket = count[i], first = next;
        while (next < n_wanted && w[next].rank < below + in_bucket)
            next++;
        count[i] = SIZE_MAX;
        if (next > first && i < 2048) {
            for (size_t j = first; j < next; j++)
                out[w[j].place] = (int64_t)i;
        } else if (next > first) {
            parts[n_parts++] = (struct part){below, in_bucket, n_kept, first, next - first};
            count[i] = n_kept; /* from here on: where its next value goes */
            n_kept += in_bucket;
        }
        below += in_bucket;
    }
    int64_t *kept = malloc((n_kept > 0 ? n_kept : 1) * sizeof *kept);
    if (kept == NULL) {
        free(parts);
        return false;
    }
    if (n_kept > 0) {
        for (size_t i = 0; i < n; i++) {
            size_t *at = &count[hist_index(v[i])];
            if (*at != SIZE_MAX)
                kept[(*at)++] = v[i];
        }
    }
    for (size_t i = 0; i < n_parts; i++) {
        struct part *p = &parts[i];
        select_all(kept + p->at, p->n, p->base, w + p->first, p->n_wanted, out);
    }
    free(kept);
    free(parts);
    return true;
}

bool hist_select(const int64_t *v, size_t n, const size_t *ranks, size_t n_ranks, int64_t *out)
{
    if (n_ranks == 0)
        return true;
    struct wanted *w = malloc(n_ranks * sizeof *w);
    if (w == NULL)
        return false;
    bool ok = true;
    for (size_t i = 0; i < n_ranks; i++) {
        w[i] = (struct wanted){ranks[i], i};
        ok = ok && ranks[i] < n;
    }
    qsort(w, n_ranks, sizeof *w, compare_wanted);

    size_t *count = NULL;
    bool negative = false;
    if (ok && n >= SMALL_N) {
        count = calloc(HIST_N_INDEXES, sizeof *count);
        ok = count != NULL;
        for (size_t i = 0; ok && i < n && !negative; i++) {
            negative = v[i] < 0;
            if (!negative)
                count[hist_index(v[i])]++;
        }
    }
    if (ok)
        ok = count != NULL && !negative ? select_in_buckets(v, n, count, w, n_ranks, out)
                                        : select_from_copy(v, n, w, n_ranks, out);
    free(count);
    free(w);
    return ok;
}
