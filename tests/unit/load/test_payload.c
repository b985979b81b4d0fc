#include "loadgen/load/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SIZE (300 * 1024)

static struct payload payload;
static unsigned char whole[SIZE + 64];
static unsigned char part[SIZE + 64];

static int setup(void **state)
{
    struct err e = {0};

    (void)state;
    return payload_init(&payload, &e) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(payload.words);
    return 0;
}

/* Any part equals the same bytes of the whole, and no other bytes are written. */
static void test_parts(void **state)
{
    (void)state;
    const uint64_t seeds[] = {0, 1, 131071, 0xfedcba9876543210u};
    const size_t offsets[] = {0, 1, 7, 8, 9, 4095, 65535, 65536, 65537, 200000};
    const size_t sizes[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 1000, 65536, 99999};

    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++) {
        payload_fill(&payload, seeds[s], 0, whole, SIZE);
        for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++) {
            for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
                memset(part, 0x5a, sizeof part);
                payload_fill(&payload, seeds[s], offsets[o], part, sizes[n]);
                assert_memory_equal(part, whole + offsets[o], sizes[n]);
                assert_int_equal(part[sizes[n]], 0x5a);
            }
        }
    }
}

static void test_matches(void **state)
{
    (void)state;
    const size_t offsets[] = {0, 3, 70001};

    for (size_t o = 0; o < 3; o++) {
        payload_fill(&payload, 99, offsets[o], part, 9000);
        assert_true(payload_matches(&payload, 99, offsets[o], part, 9000));
        assert_true(payload_matches(&payload, 99, offsets[o], part, 0));
        assert_false(payload_matches(&payload, 98, offsets[o], part, 9000));
        assert_false(payload_matches(&payload, 99, offsets[o] + 1, part, 9000));
        for (size_t i = 0; i < 9000; i += 4499) {
            part[i] ^= 1;
            assert_false(payload_matches(&payload, 99, offsets[o], part, 9000));
            part[i] ^= 1;
        }
    }
}

/* Beyond the size of the block of random numbers nothing repeats, neither within an object nor in
 * another one, in chunks of 64 KiB. */
static void test_nothing_repeats(void **state)
{
    (void)state;
    const uint64_t block = 1 << 20;

    for (uint64_t at = 0; at < block; at += 65536) {
        payload_fill(&payload, 7, at, whole, 65536);
        payload_fill(&payload, 7, at + block, part, 65536);
        assert_memory_not_equal(whole, part, 65536);
        payload_fill(&payload, 8, at, part, 65536);
        assert_memory_not_equal(whole, part, 65536);
    }
}

/* Every byte value occurs about as often: a chi-square test at 1 in 10,000 with 255 degrees of
 * freedom. */
static void test_uniform(void **state)
{
    (void)state;
    double n[256] = {0};
    double chi2 = 0;

    payload_fill(&payload, 12345, 0, whole, SIZE);
    for (size_t i = 0; i < SIZE; i++)
        n[whole[i]]++;
    for (size_t i = 0; i < 256; i++)
        chi2 += (n[i] - SIZE / 256.0) * (n[i] - SIZE / 256.0) / (SIZE / 256.0);
    assert_true(chi2 < 347);
}

static void test_seeds_differ(void **state)
{
    (void)state;
    assert_true(payload_seed(1, 1) == payload_seed(1, 1));
    assert_true(payload_seed(1, 1) != payload_seed(1, 2));
    assert_true(payload_seed(1, 1) != payload_seed(2, 1));
    assert_true(payload_seed(1, 2) != payload_seed(2, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),           cmocka_unit_test(test_matches),
        cmocka_unit_test(test_nothing_repeats), cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_seeds_differ),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
