#include "libcommon/autoterm.h"

#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_SEGMENTS 25 /* segments that the range is cut into */
#define N_COMPARED 7  /* segments at the end of the range that are compared */
#define BLOCK      64
#ifndef SUPER_BLOCK
#define SUPER_BLOCK 64 /* blocks */
#endif

/* BLOCK requests, in order of end. */
struct block {
    struct autoterm_amount before; /* all requests before the block, forgotten ones included */
    int64_t min_start_ns;          /* the earliest start in the block */
};

/* Keeps the successful requests in order of end; failed ones count only for the range. The amount
 * done before time t is the sum over the requests that ended by t, which the blocks' running sums
 * give quickly, plus parts of the requests that run across t. The search for the latter skips whole
 * blocks whose requests all start after t. */
struct autoterm {
    struct segment_thread *threads;
    size_t n_threads, cap_threads;

    struct attribution_request *requests;
    size_t n, cap;
    struct block *blocks;     /* (n + BLOCK - 1) / BLOCK of them */
    int64_t *super_min_start; /* the earliest start in each SUPER_BLOCK blocks */
    struct autoterm_amount all;
};

struct autoterm *autoterm_new(struct err *e)
{
    struct autoterm *a;

    return mem_cleared(&a, 1, e) ? a : NULL;
}

void autoterm_free(struct autoterm *a)
{
    if (a == NULL)
        return;
    free(a->threads);
    free(a->requests);
    free(a->blocks);
    free(a->super_min_start);
    free(a);
}

static bool grow_threads(struct autoterm *a, uint32_t thread, struct err *e)
{
    if (!mem_fit(&a->threads, &a->cap_threads, (size_t)thread + 1, e))
        return false;
    while (a->n_threads <= thread)
        a->threads[a->n_threads++] = SEGMENT_THREAD_NONE;
    return true;
}

static bool grow_requests(struct autoterm *a, struct err *e)
{
    size_t cap = a->cap > 0 ? a->cap * 2 : BLOCK * SUPER_BLOCK;
    if (!mem_room(&a->requests, cap, e) || !mem_room(&a->blocks, cap / BLOCK, e) ||
        !mem_room(&a->super_min_start, cap / BLOCK / SUPER_BLOCK, e))
        return false;
    a->cap = cap;
    return true;
}

static void append(struct autoterm *a, const struct attribution_request *r)
{
    size_t b = a->n / BLOCK, s = b / SUPER_BLOCK;
    if (a->n % BLOCK == 0) {
        a->blocks[b] = (struct block){a->all, r->start_ns};
        if (b % SUPER_BLOCK == 0)
            a->super_min_start[s] = r->start_ns;
    }
    if (r->start_ns < a->blocks[b].min_start_ns)
        a->blocks[b].min_start_ns = r->start_ns;
    if (r->start_ns < a->super_min_start[s])
        a->super_min_start[s] = r->start_ns;
    a->requests[a->n++] = *r;
    a->all.bytes += (uint64_t)r->bytes;
    a->all.n_objects += (uint64_t)r->n_objects;
}

bool autoterm_add(struct autoterm *a, uint32_t thread, const struct attribution_request *r,
                  struct err *e)
{
    if ((thread >= a->n_threads && !grow_threads(a, thread, e)) ||
        (r->ok && a->n == a->cap && !grow_requests(a, e)))
        return false;
    segment_thread_add(&a->threads[thread], r->start_ns, r->end_ns);
    if (r->ok)
        append(a, r);
    return true;
}

/* Returns the index of the first request that ends after t. */
static size_t first_after(const struct autoterm *a, int64_t t_ns)
{
    size_t lo = 0, hi = a->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (a->requests[mid].end_ns <= t_ns)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void add_part(struct autoterm_amount *d, const struct attribution_request *r, int64_t t_ns)
{
    struct attribution_objects objects = attribution_objects_before(r, t_ns);
    d->bytes += (uint64_t)attribution_bytes_before(r, t_ns);
    d->n_objects += (uint64_t)objects.whole;
    d->object_frac += objects.frac;
}

static struct autoterm_amount done_before(const struct autoterm *a, int64_t t_ns)
{
    size_t after = first_after(a, t_ns);
    if (after == 0 && a->n == 0)
        return a->all;
    size_t from = after / BLOCK * BLOCK; /* first request of the block that `after` is in */
    struct autoterm_amount d =
        after < a->n || after % BLOCK != 0 ? a->blocks[after / BLOCK].before : a->all;
    for (size_t i = from; i < after; i++) {
        d.bytes += (uint64_t)a->requests[i].bytes;
        d.n_objects += (uint64_t)a->requests[i].n_objects;
    }
    /* A request without a duration at t counts as after t. */
    for (size_t i = after; i > 0 && a->requests[i - 1].end_ns == t_ns; i--) {
        const struct attribution_request *r = &a->requests[i - 1];
        if (r->start_ns == r->end_ns) {
            d.bytes -= (uint64_t)r->bytes;
            d.n_objects -= (uint64_t)r->n_objects;
        }
    }
    for (size_t i = after; i < a->n;) {
        size_t b = i / BLOCK, s = b / SUPER_BLOCK;
        if (a->super_min_start[s] >= t_ns) {
            i = (s + 1) * SUPER_BLOCK * BLOCK;
        } else if (a->blocks[b].min_start_ns >= t_ns) {
            i = (b + 1) * BLOCK;
        } else {
            if (a->requests[i].start_ns < t_ns)
                add_part(&d, &a->requests[i], t_ns);
            i++;
        }
    }
    return d;
}

/* Forgets requests that ended by t, in whole super blocks, when they are the majority. */
static void forget(struct autoterm *a, int64_t t_ns)
{
    size_t unit = BLOCK * SUPER_BLOCK;
    size_t n = first_after(a, t_ns) / unit * unit;

    if (n < a->n / 2 || n == 0)
        return;
    size_t n_blocks = (a->n + BLOCK - 1) / BLOCK, n_supers = (a->n + unit - 1) / unit;
    memmove(a->requests, a->requests + n, (a->n - n) * sizeof *a->requests);
    memmove(a->blocks, a->blocks + n / BLOCK, (n_blocks - n / BLOCK) * sizeof *a->blocks);
    memmove(a->super_min_start, a->super_min_start + n / unit,
            (n_supers - n / unit) * sizeof *a->super_min_start);
    a->n -= n;
}

/* Returns the number of objects between two points in time. */
static double objects_between(const struct autoterm_amount *from, const struct autoterm_amount *to)
{
    double parts = (double)(__int128)(to->object_frac - from->object_frac);
    return (double)(int64_t)(to->n_objects - from->n_objects) +
           ldexp(parts, -ATTRIBUTION_FRAC_BITS);
}

struct segment_range autoterm_range(const struct autoterm *a)
{
    return segment_range_all(a->threads, a->n_threads);
}

int64_t autoterm_least_ns(int64_t dur_ns)
{
    __int128 ns = (__int128)dur_ns * N_SEGMENTS / N_COMPARED;
    return ns < INT64_MAX ? (int64_t)ns : INT64_MAX;
}

bool autoterm_cut_range(int64_t dur_ns, const struct segment_range *range, struct autoterm_cut *cut)
{
    if (!segment_range_usable(range))
        return false;
    int64_t length_ns = range->end_ns - range->start_ns;
    int64_t segment_ns = length_ns / N_SEGMENTS;
    if (length_ns <= autoterm_least_ns(dur_ns) || segment_ns == 0)
        return false;
    int64_t n = segment_count(range, segment_ns);
    *cut = (struct autoterm_cut){range->start_ns, range->start_ns + (n - N_COMPARED) * segment_ns,
                                 segment_ns};
    return n >= N_COMPARED;
}

void autoterm_amounts(struct autoterm *a, const struct autoterm_cut *cut,
                      struct autoterm_amount amount[AUTOTERM_N_ENDS])
{
    for (int k = 0; k < AUTOTERM_N_ENDS; k++)
        amount[k] = done_before(a, cut->start_ns + k * cut->segment_ns);
    /* No later window begins before this: there are never fewer than 24 segments, the range's end
     * never moves back, and a new thread moves the range's start past all requests added so far. */
    forget(a, cut->range_start_ns + (N_SEGMENTS - 1 - N_COMPARED) * cut->segment_ns - 1);
}

bool autoterm_judge(double pct, const struct autoterm_cut *cut,
                    const struct autoterm_amount amount[AUTOTERM_N_ENDS], struct autoterm_window *w)
{
    double seconds = (double)cut->segment_ns / 1e9;
    double bytes_per_s[N_COMPARED], objects_per_s[N_COMPARED];

    for (int k = 0; k < N_COMPARED; k++) {
        bytes_per_s[k] = (double)(amount[k + 1].bytes - amount[k].bytes) / seconds;
        objects_per_s[k] = objects_between(&amount[k], &amount[k + 1]) / seconds;
    }
    const double *speed = bytes_per_s[N_COMPARED - 1] > 0 ? bytes_per_s : objects_per_s;
    double current = speed[N_COMPARED - 1]; /* 0: all requests fail, which is not stable */
    for (int k = 0; k < N_COMPARED - 1; k++)
        if (current <= 0 || fabs(speed[k] - current) > current * pct / 100)
            return false;
    if (w != NULL)
        *w = (struct autoterm_window){
            .start_ns = cut->start_ns,
            .end_ns = cut->start_ns + N_COMPARED * cut->segment_ns,
            .segment_ns = cut->segment_ns,
            .bytes_per_s = bytes_per_s[N_COMPARED - 1],
            .objects_per_s = objects_per_s[N_COMPARED - 1],
        };
    return true;
}

bool autoterm_is_stable(struct autoterm *a, int64_t dur_ns, double pct, struct autoterm_window *w)
{
    const struct segment_range range = autoterm_range(a);
    struct autoterm_amount amount[AUTOTERM_N_ENDS];
    struct autoterm_cut cut;

    if (!autoterm_cut_range(dur_ns, &range, &cut))
        return false;
    autoterm_amounts(a, &cut, amount);
    return autoterm_judge(pct, &cut, amount, w);
}

bool autoterm_replay(int64_t first_start_ns, int64_t dur_ns, double pct,
                     bool (*next)(void *ctx, uint32_t *thread, struct attribution_request *r),
                     void *ctx, struct autoterm_stop *stop, struct err *e)
{
    struct autoterm *a = autoterm_new(e);
    uint32_t thread;
    struct attribution_request r;
    bool ok = a != NULL;

    *stop = (struct autoterm_stop){.at_s = 1};
    while (ok && !stop->stopped && next(ctx, &thread, &r)) {
        /* At least one whole second lies between the previous end and this one. Nothing changed in
         * between, so one test is enough. */
        int64_t elapsed_ns = r.end_ns - first_start_ns;
        if ((elapsed_ns - 1) / NS_PER_S >= stop->at_s) {
            stop->stopped = autoterm_is_stable(a, dur_ns, pct, &stop->window);
            if (!stop->stopped)
                stop->at_s = (elapsed_ns - 1) / NS_PER_S + 1;
        }
        ok = stop->stopped || autoterm_add(a, thread, &r, e);
    }
    /* The last request may end exactly at a whole second. */
    if (ok && !stop->stopped && a->n_threads > 0) {
        int64_t elapsed_ns = r.end_ns - first_start_ns;
        if (elapsed_ns % NS_PER_S == 0 && elapsed_ns / NS_PER_S == stop->at_s)
            stop->stopped = autoterm_is_stable(a, dur_ns, pct, &stop->window);
    }
    if (!stop->stopped)
        stop->at_s = 0;
    autoterm_free(a);
    return ok;
}
