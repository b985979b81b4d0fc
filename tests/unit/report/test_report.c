#include "analyze/render/json/documents.h"
#include "analyze/render/report/run.h"
#include "libcommon/utf8.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <cmocka.h>

/* Any text may be a key, a host or a message in a capture. */
#define HOSTILE "<b>\"'\t\033[31m\xC2\x9B\xFF\\n\xC3\xA4"

/* An analysis of one operation, made by hand. */
struct fixture {
    struct dataset_input input;
    struct dataset dataset;
    struct host_result hosts[3];
    struct error_host error_host;
    struct error_group error;
    struct finding finding;
    struct operation operation;
    struct analysis analysis;
};

static void fixture_init(struct fixture *f)
{
    const struct throughput throughput = {.present = true,
                                          .start_ns = 1500000000,
                                          .duration_ns = 2000000000,
                                          .n_bytes = 3 << 20,
                                          .n_objects = 0.1,
                                          .bytes_per_s = 1.5 * (1 << 20),
                                          .objects_per_s = 1234.5};
    *f = (struct fixture){0};
    f->input = (struct dataset_input){.path = "a" HOSTILE, .n_rows = 7, .last_end_ns = 9};
    f->dataset = (struct dataset){.inputs = &f->input, .n_inputs = 1};
    static char *const names[] = {"http://a:1", "http://b:2", HOSTILE};
    for (int i = 0; i < 3; i++)
        f->hosts[i] =
            (struct host_result){.host = names[i], .n_requests = 2, .throughput = throughput};
    f->error_host = (struct error_host){.host = HOSTILE, .count = 2};
    f->error =
        (struct error_group){.message = HOSTILE, .count = 2, .hosts = &f->error_host, .n_hosts = 1};
    f->operation = (struct operation){
        .op = HOSTILE,
        .n_requests = 7,
        .n_errors = 2,
        .n_bytes = INT64_C(9007199254740993),
        .objects_per_op = 1,
        .concurrency = 3,
        .n_hosts = 3,
        .end_ns = 9,
        .throughput = throughput,
        .hosts = f->hosts,
        .n_host_results = 3,
        .errors = &f->error,
        .n_error_groups = 1,
    };
    f->operation.requests = (struct requests){.present = true, .single_size = true, .n = 1};
    f->operation.requests.all.dur = (struct times){
        .present = true, .n = 1, .mean_ns = 1870000, .stddev_ns = NAN, .p50_ns = 1870000};
    static const struct finding_kind watch = {.name = "watch"};
    f->finding = (struct finding){
        .kind = &watch, .op = f->operation.op, .ratio = NAN, .sentence = "watch out " HOSTILE};
    finding_figure(&f->finding, "n_errors", 2);
    f->analysis = (struct analysis){.dataset = &f->dataset,
                                    .n_rows = 7,
                                    .operations = &f->operation,
                                    .n_operations = 1,
                                    .findings = {.v = &f->finding, .n = 1}};
}

/* Returns what `render` writes, for the caller to free. */
static char *rendered(const struct analysis *a, bool json)
{
    char *text = NULL;
    size_t n = 0;
    struct err e = {0};
    FILE *f = open_memstream(&text, &n);
    const struct sheet_form options = {.verbose = true};
    assert_non_null(f);
    assert_true(json ? report_json(a, f, &e) : report_text(a, &options, f, &e));
    assert_int_equal(fclose(f), 0);
    return text;
}

/* Returns the JSON of a fixture, for the caller to release. */
static json_t *json_of_fixture(void)
{
    struct fixture f;
    fixture_init(&f);
    char *text = rendered(&f.analysis, true);
    json_error_t error;
    json_t *root = json_loads(text, 0, &error);
    if (!root)
        fail_msg("line %d: %s", error.line, error.text);
    free(text);
    return root;
}

static void test_json_of_hostile_names(void **state)
{
    (void)state;
    json_t *root = json_of_fixture();
    json_t *op = json_array_get(json_object_get(root, "operations"), 0);
    const char *name = json_string_value(json_object_get(op, "op"));
    assert_string_equal(name, "<b>\"'\t\033[31m\xC2\x9B\xEF\xBF\xBD\\n\xC3\xA4");
    assert_int_equal(json_array_size(json_object_get(op, "hosts")), 3);
    json_decref(root);
}

static void test_json_keeps_every_digit(void **state)
{
    (void)state;
    json_t *root = json_of_fixture();
    json_t *op = json_array_get(json_object_get(root, "operations"), 0);
    assert_true(json_integer_value(json_object_get(op, "n_bytes")) == 9007199254740993);
    json_t *objects = json_object_get(json_object_get(op, "throughput"), "n_objects");
    assert_true(json_real_value(objects) == 0.1);
    json_t *start = json_object_get(json_object_get(op, "throughput"), "start");
    assert_string_equal(json_string_value(start), "1970-01-01T00:00:01.500000000Z");
    json_decref(root);
}

static void test_json_says_null(void **state)
{
    (void)state;
    json_t *root = json_of_fixture();
    json_t *op = json_array_get(json_object_get(root, "operations"), 0);
    json_t *requests = json_object_get(op, "requests");
    assert_true(json_is_null(json_object_get(root, "total")));
    assert_true(json_is_null(json_object_get(op, "skipped")));
    assert_true(json_is_null(json_object_get(op, "segments")));
    assert_true(json_is_null(json_object_get(requests, "stddev_ns")));
    assert_true(json_is_null(json_object_get(requests, "ttfb")));
    json_decref(root);
}

static void test_text_cannot_steer_a_terminal(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    char *text = rendered(&f.analysis, false);
    assert_null(strchr(text, '\033'));
    assert_null(strchr(text, '\t'));
    assert_null(strstr(text, "\xC2\x9B"));
    assert_non_null(strstr(text, "<b>\"'\\x09\\x1b[31m\\xc2\\x9b\\xff\\n\xC3\xA4"));
    free(text);
}

static void test_text_says_what_the_model_says(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    char *text = rendered(&f.analysis, false);
    assert_non_null(strstr(text, "1. Notice: "));
    assert_non_null(strstr(text, "1.87ms"));
    assert_non_null(strstr(text, "1.50MiB/s  1234.5 "));
    assert_non_null(strstr(text, "Errors, 2 (28.57 % of the requests)"));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_int_not_equal(line[strlen(line) - 1], ' ');
    free(text);
}

/* Brief text leaves hosts to findings; -v has them all. */
static void test_text_leaves_out_hosts(void **state)
{
    (void)state;
    enum { N = 1000 };
    struct fixture f;
    fixture_init(&f);
    struct host_result *hosts = calloc(N, sizeof *hosts);
    char(*names)[32] = calloc(N, sizeof *names);
    assert_non_null(hosts);
    assert_non_null(names);
    for (int i = 0; i < N; i++) {
        hosts[i] = f.hosts[0];
        snprintf(names[i], sizeof names[i], "http://h%04d", i);
        hosts[i].host = names[i];
    }
    f.operation.hosts = hosts;
    f.operation.n_host_results = N;
    char *text = NULL;
    size_t n = 0;
    struct err e = {0};
    FILE *out = open_memstream(&text, &n);
    assert_true(report_text(&f.analysis, &(struct sheet_form){0}, out, &e));
    assert_int_equal(fclose(out), 0);
    assert_null(strstr(text, "http://h0"));
    assert_non_null(strstr(text, "-v adds"));
    free(text);
    text = rendered(&f.analysis, false);
    assert_non_null(strstr(text, "http://h0000"));
    assert_non_null(strstr(text, "http://h0999"));
    free(text);
    free(hosts);
    free(names);
}

static void test_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        size_t n;
    } cases[] = {
        {"", 0},
        {"a", 1},
        {"\x7F", 1},
        {"\xC3\xA4", 2},
        {"\xE2\x82\xAC", 3},
        {"\xF0\x9F\x98\x80", 4},
        {"\xF4\x8F\xBF\xBF", 4},
        {"\x80", 0},             /* a continuation byte alone */
        {"\xC3", 0},             /* cut off */
        {"\xE2\x82", 0},         /* cut off */
        {"\xC0\x80", 0},         /* overlong */
        {"\xE0\x9F\xBF", 0},     /* overlong */
        {"\xF0\x8F\xBF\xBF", 0}, /* overlong */
        {"\xED\xA0\x80", 0},     /* surrogate */
        {"\xF4\x90\x80\x80", 0}, /* above U+10FFFF */
        {"\xF5\x80\x80\x80", 0},
        {"\xFF", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(utf8_length(cases[i].s), cases[i].n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_of_hostile_names),
        cmocka_unit_test(test_json_keeps_every_digit),
        cmocka_unit_test(test_json_says_null),
        cmocka_unit_test(test_text_cannot_steer_a_terminal),
        cmocka_unit_test(test_text_says_what_the_model_says),
        cmocka_unit_test(test_text_leaves_out_hosts),
        cmocka_unit_test(test_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
