/* Requests cut into slices: nothing is lost or counted twice, in any order. A window of autoterm
 * lies within the run.
 *
 * Input: the grid, then requests of 13 bytes. */
#include "tests/fuzz/fuzz.h"

#include "analyze/data/slices.h"
#include "libcommon/attribution.h"
#include "libcommon/autoterm.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SLICES   64
#define MAX_REQUESTS 200

static struct attribution_request take_request(struct fuzz_input *in)
{
    struct attribution_request r;
    unsigned scale = (unsigned)fuzz_take(in, 1);

    r.start_ns = (int64_t)fuzz_take(in, 3) << (scale % 16);
    r.end_ns = r.start_ns + ((int64_t)fuzz_take(in, 3) << (scale / 16));
    r.bytes = (int64_t)(fuzz_take(in, 4) << (scale % 20));
    r.n_objects = (int64_t)fuzz_take(in, 1);
    r.ok = fuzz_take(in, 1) % 4 != 0;
    return r;
}

/* Each request alone: its parts, inside and outside, add up to it. */
static void check_one(const struct slice_grid *g, const struct attribution_request *r)
{
    struct slice_totals slices[MAX_SLICES] = {0};
    struct slice_amounts amounts[MAX_SLICES] = {0};
    struct slices_outside outside = {0};
    int64_t bytes = 0, n_ended = 0, n_started = 0;

    slices_add(g, slices, r);
    slices_add_amounts(g, amounts, r);
    slices_add_outside(g, &outside, r);
    for (size_t k = 0; k < g->n; k++) {
        assert(memcmp(&slices[k].sum, &amounts[k], sizeof amounts[k]) == 0);
        assert(slices[k].sum.bytes >= 0 && slices[k].sum.n_objects >= 0);
        bytes += slices[k].sum.bytes;
        n_ended += slices[k].full_ops + slices[k].partial_ended + slices[k].errors;
        n_started += slice_ops_started(&slices[k]);
        assert(slice_in_flight(&slices[k], g->length_ns) <= 1 + 1e-9);
    }
    assert(bytes + outside.before_bytes + outside.after_bytes == (r->ok ? r->bytes : 0));
    bool ends_inside = r->end_ns >= g->start_ns && r->end_ns < g->end_ns;
    assert(outside.n_before + outside.n_after == !ends_inside);
    assert(n_started <= 1 && n_ended <= 2);
}

/* All requests, forwards and backwards. */
static void check_order(const struct slice_grid *g, const struct attribution_request *r, size_t n)
{
    static struct slice_totals forwards[MAX_SLICES], backwards[MAX_SLICES];

    memset(forwards, 0, sizeof forwards);
    memset(backwards, 0, sizeof backwards);
    for (size_t i = 0; i < n; i++) {
        slices_add(g, forwards, &r[i]);
        slices_add(g, backwards, &r[n - 1 - i]);
    }
    for (size_t k = 0; k < g->n; k++) {
        const struct slice_totals *a = &forwards[k], *b = &backwards[k];
        assert(slice_objects_key(&a->sum) == slice_objects_key(&b->sum));
        assert(memcmp(a, b, sizeof *a) == 0);
    }
}

static int by_end(const void *a, const void *b)
{
    const struct attribution_request *x = a, *y = b;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static void check_autoterm(struct attribution_request *r, size_t n, int64_t dur_ns, double pct)
{
    struct err e = {0};
    struct autoterm *a = autoterm_new(&e);
    int64_t first_ns = INT64_MAX;

    assert(a != NULL);
    qsort(r, n, sizeof *r, by_end);
    for (size_t i = 0; i < n; i++) {
        struct autoterm_window w;
        first_ns = r[i].start_ns < first_ns ? r[i].start_ns : first_ns;
        assert(autoterm_add(a, (uint32_t)(i % 3), &r[i], &e));
        if (!autoterm_is_stable(a, dur_ns, pct, &w))
            continue;
        assert(w.segment_ns > 0 && w.end_ns - w.start_ns == 7 * w.segment_ns);
        assert(w.start_ns >= first_ns && w.end_ns <= r[i].end_ns);
        assert(w.bytes_per_s >= 0 && w.objects_per_s >= 0);
    }
    autoterm_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct attribution_request requests[MAX_REQUESTS];
    struct fuzz_input in = {data, n};
    struct slice_grid g;
    int64_t start_ns = (int64_t)fuzz_take(&in, 4);
    int64_t length_ns = 1 + (int64_t)fuzz_take(&in, 4);
    size_t n_slices = 1 + (size_t)fuzz_take(&in, 1) % MAX_SLICES;
    double pct = (double)fuzz_take(&in, 1);
    size_t n_requests = 0;

    slice_grid_init(&g, start_ns, length_ns, n_slices);
    while (in.n > 0 && n_requests < MAX_REQUESTS)
        requests[n_requests++] = take_request(&in);
    for (size_t i = 0; i < n_requests; i++)
        check_one(&g, &requests[i]);
    check_order(&g, requests, n_requests);
    check_autoterm(requests, n_requests, length_ns, pct);
    return 0;
}
