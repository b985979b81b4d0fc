/* Compares autoterm with the plain rule: every window is recomputed from all requests. */
#include "analyze/data/slices.h"
#include "libcommon/autoterm.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define S INT64_C(1000000000)

struct recorded {
    uint32_t thread;
    struct attribution_request r;
};

struct run {
    struct recorded *v;
    size_t n, next;
};

static bool next_request(void *ctx, uint32_t *thread, struct attribution_request *r)
{
    struct run *run = ctx;
    if (run->next == run->n)
        return false;
    *thread = run->v[run->next].thread;
    *r = run->v[run->next++].r;
    return true;
}

static int compare_ends(const void *a, const void *b)
{
    const struct recorded *x = a, *y = b;
    return (x->r.end_ns > y->r.end_ns) - (x->r.end_ns < y->r.end_ns);
}

/* The exact rule of docs/how-the-numbers-are-made.md, section 9, at one instant. */
static bool plainly_stable(const struct run *run, size_t n, int64_t dur_ns, double pct,
                           struct autoterm_window *w)
{
    struct segment_thread threads[64];
    for (size_t i = 0; i < 64; i++)
        threads[i] = SEGMENT_THREAD_NONE;
    for (size_t i = 0; i < n; i++)
        segment_thread_add(&threads[run->v[i].thread], run->v[i].r.start_ns, run->v[i].r.end_ns);
    struct segment_range range = segment_range_all(threads, 64);
    if (!segment_range_usable(&range) || range.end_ns - range.start_ns <= dur_ns * 25 / 7)
        return false;
    int64_t length = (range.end_ns - range.start_ns) / 25;
    size_t n_segments = (size_t)segment_count(&range, length);
    if (n_segments < 7)
        return false;
    struct slice_grid g;
    slice_grid_init(&g, range.start_ns, length, n_segments);
    struct slice_totals *s = calloc(n_segments, sizeof *s);
    assert_non_null(s);
    for (size_t i = 0; i < n; i++)
        slices_add(&g, s, &run->v[i].r);
    const struct slice_totals *last = &s[n_segments - 1];
    double seconds = (double)length / 1e9;
    bool by_bytes = last->sum.bytes > 0, stable = true;
    double current = (by_bytes ? (double)last->sum.bytes : slice_n_objects(&last->sum)) / seconds;
    for (size_t k = n_segments - 7; k < n_segments - 1; k++) {
        double speed = (by_bytes ? (double)s[k].sum.bytes : slice_n_objects(&s[k].sum)) / seconds;
        stable = stable && fabs(speed - current) <= current * pct / 100;
    }
    *w = (struct autoterm_window){g.end_ns - 7 * length, g.end_ns, length,
                                  (double)last->sum.bytes / seconds,
                                  slice_n_objects(&last->sum) / seconds};
    free(s);
    return stable;
}

static struct autoterm_stop plain_replay(const struct run *run, int64_t first_start_ns,
                                         int64_t dur_ns, double pct)
{
    struct autoterm_stop stop = {0};
    size_t n = 0;
    for (int64_t k = 1; first_start_ns + k * S <= run->v[run->n - 1].r.end_ns; k++) {
        while (n < run->n && run->v[n].r.end_ns <= first_start_ns + k * S)
            n++;
        if (plainly_stable(run, n, dur_ns, pct, &stop.window)) {
            stop.stopped = true;
            stop.at_s = k;
            break;
        }
    }
    return stop;
}

/* Makes a run of eight workers with noise of noise_pct; some requests fail, some take long, some
 * have zero duration. */
static struct run make_run(uint64_t seed, int seconds, int64_t mean_ns, int noise_pct,
                           int64_t bytes)
{
    struct run run = {0};
    size_t cap = 0;
    for (uint32_t t = 0; t < 8; t++) {
        int64_t at = S + t * 1000;
        while (at < (seconds + 1) * S) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            int64_t x = (int64_t)(seed >> 33);
            int64_t ns = mean_ns + mean_ns * noise_pct / 100 * (x % 201 - 100) / 100;
            if (x % 997 == 0)
                ns *= 40;
            if (x % 499 == 0)
                ns = 0;
            if (run.n == cap) {
                cap = cap ? cap * 2 : 1024;
                run.v = realloc(run.v, cap * sizeof *run.v);
                assert_non_null(run.v);
            }
            run.v[run.n++] = (struct recorded){t, {at, at + ns, bytes, 1, x % 53 != 0}};
            at += ns + 1 + x % 1000;
        }
    }
    qsort(run.v, run.n, sizeof *run.v, compare_ends);
    return run;
}

static void agrees_with_the_rule(void **state)
{
    (void)state;
    static const double pcts[] = {1, 3, 7.5, 20};
    int n_stopped = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct run run = make_run(seed, 30, 7000000 + (int64_t)seed * 900000, 10 * (int)(seed % 10),
                                  seed % 3 ? 65536 : 0);
        for (size_t i = 0; i < 4; i++) {
            struct err e = {0};
            struct autoterm_stop stop, want = plain_replay(&run, S, 2 * S, pcts[i]);
            run.next = 0;
            assert_true(autoterm_replay(S, 2 * S, pcts[i], next_request, &run, &stop, &e));
            assert_int_equal(stop.stopped, want.stopped);
            assert_int_equal(stop.at_s, want.at_s);
            if (!want.stopped)
                continue;
            n_stopped++;
            assert_int_equal(stop.window.start_ns, want.window.start_ns);
            assert_int_equal(stop.window.end_ns, want.window.end_ns);
            assert_int_equal(stop.window.segment_ns, want.window.segment_ns);
            assert_true(stop.window.bytes_per_s == want.window.bytes_per_s);
            assert_true(fabs(stop.window.objects_per_s - want.window.objects_per_s) <
                        1e-9 * want.window.objects_per_s);
        }
        free(run.v);
    }
    assert_true(n_stopped > 10 && n_stopped < 48);
}

/* Tests window after window, in a run so long that early requests are forgotten. */
static void forgets_without_a_trace(void **state)
{
    (void)state;
    struct err e = {0};
    struct run run = make_run(5, 60, 3000000, 100, 1000);
    struct autoterm *a = autoterm_new(&e);
    assert_non_null(a);
    int64_t k = 1;
    for (size_t i = 0; i < run.n; i++) {
        for (; run.v[i].r.end_ns > (k + 1) * S; k++) {
            struct autoterm_window w = {0}, want = {0};
            bool stable = plainly_stable(&run, i, S, 0.5, &want);
            assert_int_equal(autoterm_is_stable(a, S, 0.5, &w), stable);
            if (stable)
                assert_true(w.bytes_per_s == want.bytes_per_s);
        }
        assert_true(autoterm_add(a, run.v[i].thread, &run.v[i].r, &e));
    }
    autoterm_free(a);
    free(run.v);
}

static void a_hole_of_years_costs_nothing(void **state)
{
    (void)state;
    struct err e = {0};
    struct recorded v[] = {{0, {0, 10, 5, 1, true}}, {0, {INT64_MAX - 5, INT64_MAX, 5, 1, true}}};
    struct run run = {v, 2, 0};
    struct autoterm_stop stop;
    assert_true(autoterm_replay(0, S, 7.5, next_request, &run, &stop, &e));
    assert_false(stop.stopped);
}

static void nothing_recorded(void **state)
{
    (void)state;
    struct err e = {0};
    struct run run = {0};
    struct autoterm_stop stop;
    assert_true(autoterm_replay(INT64_MAX, S, 7.5, next_request, &run, &stop, &e));
    assert_false(stop.stopped);
    struct autoterm *a = autoterm_new(&e);
    assert_non_null(a);
    assert_false(autoterm_is_stable(a, S, 7.5, NULL));
    autoterm_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_rule),
        cmocka_unit_test(forgets_without_a_trace),
        cmocka_unit_test(a_hole_of_years_costs_nothing),
        cmocka_unit_test(nothing_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
