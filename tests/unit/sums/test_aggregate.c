/* Damaged aggregated captures: every prefix of a small one, and changed bytes. Each must be refused
 * with a message of one line, or read and reported. tests/cli/test_aggregate.py tests the
 * figures. */
#include "analyze/analysis/run/analysis.h"
#include "analyze/analysis/sums/sums.h"
#include "analyze/render/json/documents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define N_FLIPS 10000

#define ENTRY                                                                                      \
    "\"total_requests\":60,\"total_objects\":60,\"total_errors\":2,\"total_bytes\":6000,"          \
    "\"concurrency\":3,"                                                                           \
    "\"start_time\":\"2026-11-21T23:58:24.19Z\",\"end_time\":\"2026-11-21T23:58:31.9Z\",\"first_"  \
    "errors\":[\"a\\u00e9\"],"                                                                     \
    "\"throughput\":{\"bytes\":2000,\"objects\":20,\"ops\":20,\"errors\":1,\"segmented\":{"        \
    "\"segment_duration_millis\":"                                                                 \
    "1000,\"segments\":[{\"start\":\"2026-11-21T23:58:24Z\",\"bytes_per_sec\":500,\"obj_per_"      \
    "sec\":5},{\"start\":"                                                                         \
    "\"2026-11-21T23:58:25Z\",\"bytes_per_sec\":500.5,\"obj_per_sec\":5.25,\"errors\":1}]}},"      \
    "\"throughput_by_host\":{"                                                                     \
    "\"h\":{\"ops\":60,\"errors\":2,\"bytes\":6e3,\"objects\":60}},\"requests_by_client\":{\"c\":" \
    "[{\"start_time\":"                                                                            \
    "\"2026-11-21T23:58:24Z\",\"single_sized_requests\":{\"dur_avg_millis\":1,\"std_dev_millis\":" \
    "0.5,"                                                                                         \
    "\"fastest_millis\":0.5,\"slowest_millis\":2,\"dur_median_millis\":1,\"dur_90_millis\":1,"     \
    "\"dur_99_millis\":2,"                                                                         \
    "\"requests\":60,\"obj_size\":100}},{\"start_time\":\"2026-11-21T23:58:34Z\",\"multi_sized_"   \
    "requests\":{\"requests\":"                                                                    \
    "1,\"by_size\":[{\"min_size\":1,\"max_size\":10,\"requests\":1,\"avg_duration_millis\":1,"     \
    "\"bps_fastest\":1,"                                                                           \
    "\"bps_slowest\":1}]}}]}"

static const char specimen[] =
    "{\"v\":2,\"commandline\":\"warp "
    "get\",\"final\":true,\"x\":[null,{\"y\":-1e-7}],\"total\":{" ENTRY
    "},\"by_op_type\":{\"GET\":{" ENTRY "}},\"by_host\":{\"h\":{" ENTRY
    "}},\"by_client\":{\"c\":{" ENTRY "}},\"by_obj_log_2_size\":{\"7\":{" ENTRY "}}}\n";

/* Returns whether the text can be read; if so, reports it too. */
static bool load(const char *text, size_t n)
{
    int fd = memfd_create("aggregate", MFD_CLOEXEC);
    char path[64];
    struct sums s = {0};
    struct analysis analysis = {0};
    struct dataset d = {0};
    struct err e = {0};
    assert_true(fd >= 0 && write(fd, text, n) == (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool ok = sums_of_foreign(&s, path, &e);
    assert_int_equal(ok, e.msg[0] == '\0');
    if (!ok)
        assert_memory_equal(e.msg, path, strlen(path));
    if (ok) {
        FILE *f = fopen("/dev/null", "w");
        assert_non_null(f);
        assert_true(sums_analyze(&analysis, &d, &s, path, &(struct analysis_options){0}, &e) &&
                    report_json(&analysis, f, &e));
        fclose(f);
    }
    analysis_free(&analysis);
    dataset_free(&d);
    sums_free(&s);
    close(fd);
    return ok;
}

static void test_every_prefix_is_refused(void **state)
{
    (void)state;
    size_t n = sizeof specimen - 1;
    assert_true(load(specimen, n));
    assert_true(load(specimen, n - 1)); /* without the newline */
    for (size_t k = 0; k < n - 1; k++)
        assert_false(load(specimen, k));
}

static void test_flips_never_harm(void **state)
{
    static const char bytes[] = "0123456789-.eE\"{}[],:\\untrfalse \x01\xff";
    unsigned random = 1;
    size_t n = sizeof specimen - 1, n_read = 0;
    char *text = malloc(n);
    (void)state;
    assert_non_null(text);
    for (int i = 0; i < N_FLIPS; i++) {
        memcpy(text, specimen, n);
        for (int k = 0; k <= i % 3; k++) {
            random = random * 1103515245 + 12345;
            size_t at = random / 64 % n;
            random = random * 1103515245 + 12345;
            text[at] = bytes[random / 64 % (sizeof bytes - 1)];
        }
        n_read += load(text, n);
    }
    free(text);
    /* Changed digits in figures that nothing contradicts, and in names, can be read. */
    assert_in_range(n_read, N_FLIPS / 20, N_FLIPS * 9 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_prefix_is_refused),
        cmocka_unit_test(test_flips_never_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
