/* Sizes, ranges, the random numbers behind them, and the deck of operations. Seeds are fixed, so
 * these tests always get the same numbers. */
#include "loadgen/work/workload.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* The first outputs of the published program for this generator, from seed 0. */
static void test_rng_known(void **state)
{
    (void)state;
    static const uint64_t expected[] = {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f,
                                        0xf88bb8a8724c81ec, 0x1b39896a51a8749b, 0x53cb9f0c747ea2ea};
    struct rng r = {.at = 0};

    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(rng_next(&r), expected[i]);
}

static void test_rng_streams(void **state)
{
    (void)state;
    struct rng a;
    struct rng b;
    int n_equal = 0;

    rng_init(&a, 1, 5);
    rng_init(&b, 1, 5);
    for (int i = 0; i < 100; i++)
        assert_int_equal(rng_next(&a), rng_next(&b));

    /* Neighbouring streams and seeds have nothing in common: bits agree half of the time. */
    for (uint64_t k = 1; k < 100; k++) {
        rng_init(&a, 1, k - 1);
        rng_init(&b, 1, k);
        for (int i = 0; i < 10; i++)
            n_equal += __builtin_popcountll(~(rng_next(&a) ^ rng_next(&b)));
        rng_init(&a, k, 3);
        rng_init(&b, k - 1, 3);
        for (int i = 0; i < 10; i++)
            n_equal += __builtin_popcountll(~(rng_next(&a) ^ rng_next(&b)));
    }
    assert_in_range(n_equal, 63360 - 900, 63360 + 900); /* 5 standard deviations of 178 */
}

static void test_rng_below(void **state)
{
    (void)state;
    struct rng r;
    int n[7] = {0};

    rng_init(&r, 3, 0);
    assert_int_equal(rng_below(&r, 0), 0);
    assert_int_equal(rng_below(&r, 1), 0);
    for (int i = 0; i < 70000; i++)
        n[rng_below(&r, 7)]++;
    for (int i = 0; i < 7; i++)
        assert_in_range(n[i], 9600, 10400);
    for (int i = 0; i < 1000; i++) {
        assert_true(rng_below(&r, UINT64_MAX) < UINT64_MAX);
        assert_true(rng_below(&r, (UINT64_C(1) << 63) + 1) <= UINT64_C(1) << 63);
        double u = rng_unit(&r);
        assert_true(u >= 0 && u < 1);
    }
}

/* P(size <= k) of the distribution with maximum `max`, from the formula in the specification. */
static double cdf(double k, double max)
{
    if (k >= max)
        return 1;
    if (max <= 256)
        return k / max;

    double top = log2(max - 1);
    double bottom = fmax(7, top - 8);
    /* size <= k where x < y(k), and x is uniform on [0, top - bottom). */
    double y = log2(k) - bottom;
    if (y <= 1)
        y = k / exp2(bottom + 1);
    return fmin(1, y / (top - bottom));
}

/* A chi-square test over about 40 classes of about equal probability. */
static void check_law(uint64_t max, uint64_t seed)
{
    enum { CLASSES = 40, N = 200000 };
    uint64_t edge[CLASSES + 1] = {0};
    uint64_t count[CLASSES] = {0};
    size_t n_classes = 0;
    struct rng r;

    /* Edges where the distribution passes i/CLASSES, without empty classes. */
    for (size_t i = 1; i <= CLASSES; i++) {
        uint64_t lo = edge[n_classes] + 1;
        uint64_t hi = max;
        while (lo < hi) {
            uint64_t mid = lo + (hi - lo) / 2;
            if (cdf((double)mid, (double)max) >= (double)i / CLASSES)
                hi = mid;
            else
                lo = mid + 1;
        }
        if (i == CLASSES)
            lo = max;
        if (lo > edge[n_classes])
            edge[++n_classes] = lo;
        if (lo == max)
            break;
    }
    edge[n_classes] = max;

    rng_init(&r, seed, 0);
    for (int i = 0; i < N; i++) {
        uint64_t size = sizes_random(&r, max);
        assert_true(size >= 1 && size <= max);
        size_t c = 0;
        while (size > edge[c + 1])
            c++;
        count[c]++;
    }
    double chi2 = 0;
    for (size_t c = 0; c < n_classes; c++) {
        double p = cdf((double)edge[c + 1], (double)max) -
                   (edge[c] == 0 ? 0 : cdf((double)edge[c], (double)max));
        chi2 += ((double)count[c] - N * p) * ((double)count[c] - N * p) / (N * p);
    }
    /* 99.9 % of chi-square with 39 degrees of freedom is 72.1; fewer classes give less. */
    assert_true(chi2 < 72.1);
}

static void test_law(void **state)
{
    (void)state;
    static const uint64_t maxima[] = {2,
                                      7,
                                      100,
                                      256,
                                      257,
                                      300,
                                      513,
                                      1024,
                                      4096,
                                      32768,
                                      32769,
                                      65537,
                                      99999,
                                      1 << 20,
                                      10 << 20,
                                      100000000,
                                      UINT64_C(5) << 40};

    for (size_t i = 0; i < sizeof maxima / sizeof *maxima; i++)
        check_law(maxima[i], 100 + i);
}

static void test_law_mean_and_edges(void **state)
{
    (void)state;
    struct rng r;
    double sum = 0;
    uint64_t max = 100 << 20;

    rng_init(&r, 11, 0);
    assert_int_equal(sizes_random(&r, 0), 0);
    assert_int_equal(sizes_random(&r, 1), 1);
    for (int i = 0; i < 4000000; i++)
        sum += (double)sizes_random(&r, max);
    double mean = sum / 4000000 / (double)max;
    assert_true(fabs(mean / 0.1794 - 1) < 0.005);
}

static void test_ranges(void **state)
{
    (void)state;
    struct rng r;
    uint64_t lengths[9] = {0};
    uint64_t offsets[11] = {0};

    rng_init(&r, 12, 0);
    for (uint64_t size = 0; size <= 2; size++) {
        struct sizes_range whole = sizes_range(&r, size, 0);
        assert_int_equal(whole.offset, 0);
        assert_int_equal(whole.length, size);
    }
    struct sizes_range three = sizes_range(&r, 3, 0);
    assert_int_equal(three.length, 1);
    for (int i = 0; i < 80000; i++) {
        struct sizes_range p = sizes_range(&r, 10, 0);
        assert_in_range(p.length, 1, 8);
        assert_true(p.offset + p.length <= 10);
        lengths[p.length]++;
    }
    for (uint64_t n = 1; n <= 8; n++)
        assert_in_range(lengths[n], 9600, 10400);

    for (int i = 0; i < 70000; i++) {
        struct sizes_range p = sizes_range(&r, 10, 4);
        assert_int_equal(p.length, 4);
        offsets[p.offset]++;
    }
    for (int i = 0; i <= 6; i++)
        assert_in_range(offsets[i], 9600, 10400);
    for (int i = 7; i <= 10; i++)
        assert_int_equal(offsets[i], 0);
    assert_int_equal(sizes_range(&r, 10, 10).length, 10);
    assert_int_equal(sizes_range(&r, 10, 11).length, 10);
    assert_int_equal(sizes_range(&r, 10, 11).offset, 0);
}

static void test_deck(void **state)
{
    (void)state;
    struct rng r;
    struct deck d;
    const double shares[] = {45, 30, 15, 10};
    const int expected[] = {450, 300, 150, 100};
    size_t first[20];
    bool shuffled = false;

    rng_init(&r, 1, 0);
    deck_init(&d, shares, r);
    for (int round = 0; round < 3; round++) {
        int n[4] = {0};
        for (int i = 0; i < DECK_CARDS; i++) {
            size_t kind = deck_deal(&d);
            n[kind]++;
            if (i < 20) {
                shuffled = shuffled || (round > 0 && first[i] != kind);
                first[i] = kind;
            }
        }
        for (int k = 0; k < 4; k++)
            assert_int_equal(n[k], expected[k]);
    }
    assert_true(shuffled);
}

/* Shares that are no multiple of a thousandth are exact over several decks. */
static void test_deck_carry(void **state)
{
    (void)state;
    struct rng r;
    struct deck d;
    const double shares[DECK_KINDS][DECK_KINDS] = {
        {1, 0, 1, 1}, {1, 1, 1e-9, 1}, {0, 0, 0, 2}, {0, 1e9, 1e9, 1e9}};

    for (size_t which = 0; which < DECK_KINDS; which++) {
        const double *share = shares[which];
        double sum = share[0] + share[1] + share[2] + share[3];
        int n[DECK_KINDS] = {0};

        rng_init(&r, 2, 0);
        deck_init(&d, share, r);
        for (int i = 1; i <= 30 * DECK_CARDS; i++) {
            n[deck_deal(&d)]++;
            for (int k = 0; k < DECK_KINDS && i % DECK_CARDS == 0; k++)
                assert_true(share[k] == 0 ? n[k] == 0 : fabs(n[k] - i * share[k] / sum) <= 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rng_known),
        cmocka_unit_test(test_rng_streams),
        cmocka_unit_test(test_rng_below),
        cmocka_unit_test(test_law),
        cmocka_unit_test(test_law_mean_and_edges),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_deck),
        cmocka_unit_test(test_deck_carry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
