/* Rows become columns: values of any size, filters, thread numbers, errors. */
#include "analyze/base/intern.h"
#include "analyze/data/dataset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define HEADER                                                                                     \
    "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\tstart\tfirst_byte\t"     \
    "end\n"
#define ROW(thread, op, client, bytes, host, file, error)                                          \
    "0\t" thread "\t" op "\t" client "\t1\t" bytes "\t" host "\t" file "\t" error                  \
    "\t2026-01-01T00:00:00Z\t2026-01-01T00:00:00.5Z\t2026-01-01T00:00:01Z\n"

struct file {
    int fd;
    char path[64];
};

static struct file file_of(const char *text)
{
    struct file f = {.fd = memfd_create("capture", 0)};

    assert_true(f.fd >= 0);
    assert_int_equal(write(f.fd, text, strlen(text)), (ssize_t)strlen(text));
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.fd);
    return f;
}

static bool load(struct dataset *d, const char *const *texts, size_t n,
                 const struct dataset_filter *filter, struct err *e)
{
    static const struct dataset_filter all;
    const char *paths[4];
    struct file files[4];
    struct recfile_options options = {.threads = 2};

    for (size_t i = 0; i < n; i++) {
        files[i] = file_of(texts[i]);
        paths[i] = files[i].path;
    }
    err_clear(e);
    bool ok = dataset_load(d, paths, n, filter ? filter : &all, &options, e);
    for (size_t i = 0; i < n; i++)
        close(files[i].fd);
    return ok;
}

static const struct table *table_named(const struct dataset *d, const char *op)
{
    for (size_t i = 0; i < d->n_tables; i++)
        if (strcmp(d->ops.v[d->tables[i].op], op) == 0)
            return &d->tables[i];
    return NULL;
}

static void test_values(void **state)
{
    static const char *const text = HEADER
        "0\t0\tGET\tc\t9999999999\t9223372036854775807\thttp://h\tk\t\t1970-01-01T00:00:00Z\t\t"
        "2262-04-11T23:47:16.854775807Z\n"
        "1\t4294967295\tGET\tc\t\t4026531839\thttp://h\tk\t\t2026-01-01T00:00:00Z\t"
        "2026-01-01T00:00:00.5Z\t2026-01-01T00:00:01Z\n"
        "2\t1\tGET\tc\t0\t4026531840\thttp://h\t\tbad\t2026-01-01T00:00:02Z\t"
        "2026-01-01T00:00:02Z\t2026-01-01T00:00:03Z\n";
    struct dataset d;
    struct err e;

    (void)state;
    assert_true(load(&d, &text, 1, NULL, &e));
    const struct table *t = table_named(&d, "GET");
    assert_non_null(t);
    assert_int_equal(t->n, 3);
    assert_int_equal(packed_get(&t->dur, 0), INT64_MAX);
    assert_int_equal(packed_get(&t->bytes, 0), INT64_MAX);
    assert_int_equal(packed_get(&t->objects, 0), 9999999999);
    assert_false(packed_has(&t->ttfb, 0));
    assert_int_equal(table_end(t, 0), INT64_MAX);
    assert_int_equal(packed_get(&t->objects, 1), 1);
    assert_int_equal(packed_get(&t->bytes, 1), 4026531839);
    assert_int_equal(packed_get(&t->bytes, 2), 4026531840);
    assert_int_equal(packed_get(&t->ttfb, 1), 500000000);
    assert_int_equal(packed_get(&t->ttfb, 2), 0);
    assert_int_equal(d.threads[table_thread(t, 1)], UINT32_MAX);
    assert_true(t->object[0] == t->object[1] && t->object[0] != 0);
    assert_int_equal(t->object[2], 0);
    assert_int_equal(t->error[0], 0);
    assert_string_equal(d.errors.v[t->error[2]], "bad");
    dataset_free(&d);
}

static void test_filters(void **state)
{
    static const char *const text = HEADER ROW("0", "GET", "c1", "1", "http://a:9000", "k", "")
        ROW("1", "GET", "c2", "2", "http://b:9000", "k", "")
            ROW("2", "PUT", "c1", "3", "http://[::1]:9000", "k", "")
                ROW("3", "PUT", "c1", "4", "http://a:9001", "k", "");
    static const char *const ops[] = {"PUT"};
    static const char *const small[] = {"get"};
    static const struct {
        struct dataset_filter filter;
        uint64_t n_rows;
    } cases[] = {
        {{.host = "http://a:9000"}, 1},  {{.host = "http://a:*"}, 2},
        {{.host = "b:9000"}, 1},         {{.host = "http://[::1]:9000"}, 1},
        {{.client = "c1"}, 3},           {{.client = "c?"}, 4},
        {{.ops = ops, .n_ops = 1}, 2},   {{.ops = ops, .n_ops = 1, .host = "*a:*"}, 1},
        {{.ops = small, .n_ops = 1}, 2},
    };
    struct dataset d;
    struct err e;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(load(&d, &text, 1, &cases[i].filter, &e));
        assert_int_equal(d.n_rows, cases[i].n_rows);
        dataset_free(&d);
    }
    struct dataset_filter none = {.host = "http://c"};
    assert_false(load(&d, &text, 1, &none, &e));
    assert_string_equal(e.msg, "no host \"http://c\" in the capture; it has: http://a:9000, "
                               "http://b:9000, http://[::1]:9000, http://a:9001");
    dataset_free(&d);
    none = (struct dataset_filter){.client = "x"};
    assert_false(load(&d, &text, 1, &none, &e));
    assert_string_equal(e.msg, "no client \"x\" in the capture; it has: c1, c2");
    dataset_free(&d);
    static const char *const wrong[] = {"HEAD"};
    none = (struct dataset_filter){.ops = wrong, .n_ops = 1};
    assert_false(load(&d, &text, 1, &none, &e));
    assert_string_equal(e.msg, "no operation \"HEAD\" in the capture; it has: GET, PUT");
    dataset_free(&d);
}

/* Time ranges are known even for operations that are filtered out. */
static void test_spans(void **state)
{
    static const char *const text =
        HEADER ROW("0", "GET", "c", "1", "h", "k", "") ROW("1", "PUT", "c", "1", "h", "k", "");
    static const char *const ops[] = {"PUT"};
    struct dataset_filter filter = {.ops = ops, .n_ops = 1};
    struct dataset d;
    struct err e;

    (void)state;
    assert_true(load(&d, &text, 1, &filter, &e));
    assert_int_equal(d.ops.n, 2);
    assert_null(table_named(&d, "GET"));
    for (size_t i = 0; i < d.ops.n; i++) {
        assert_int_equal(d.op_spans[i].n, 1);
        assert_int_equal(d.op_spans[i].end_ns - d.op_spans[i].start_ns, 1000000000);
    }
    dataset_free(&d);
}

/* Threads of a further file or header line are numbered after the highest one before; past 32 bits
 * is an error. */
static void test_threads(void **state)
{
    static const char *const texts[] = {
        HEADER ROW("5", "GET", "c", "1", "h", "k", "")
            HEADER ROW("5", "GET", "c", "1", "h", "k", ""),
        HEADER ROW("70000", "GET", "c", "1", "h", "k", "") ROW("0", "GET", "c", "1", "h", "k", ""),
    };
    static const char *const over[] = {
        HEADER ROW("0", "GET", "c", "1", "h", "k", ""),
        HEADER ROW("4294967295", "GET", "c", "1", "h", "k", ""),
    };
    static const uint32_t expected[] = {5, 11, 70012, 12};
    struct dataset d;
    struct err e;

    (void)state;
    assert_true(load(&d, texts, 2, NULL, &e));
    assert_int_equal(d.n_threads, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(d.threads[table_thread(&d.tables[0], i)], expected[i]);
    dataset_free(&d);
    assert_false(load(&d, over, 2, NULL, &e));
    assert_non_null(strstr(e.msg, "thread numbers past 4294967295"));
    dataset_free(&d);
}

/* If there are more kinds of messages than ids, the rest becomes one group; nothing is lost. */
static void test_many_errors(void **state)
{
    enum { ROWS = 70000 };
    size_t cap = (size_t)ROWS * 128, n = 0;
    char *text = malloc(cap);
    struct dataset d;
    struct err e;

    (void)state;
    assert_non_null(text);
    n += (size_t)sprintf(text, "thread\top\tbytes\terror\tstart\tend\n");
    for (int i = 0; i < ROWS; i++) {
        char word[8];
        for (int k = 0, v = i; k < 4; k++, v /= 26)
            word[k] = (char)('a' + v % 26);
        n += (size_t)sprintf(text + n,
                             "0\tGET\t0\t%.4s\t2026-01-01T00:00:00Z\t2026-01-01T00:00:00Z\n", word);
    }
    assert_true(load(&d, (const char *const[]){text}, 1, NULL, &e));
    const struct table *t = table_named(&d, "GET");
    size_t other = 0;
    for (size_t i = 0; i < t->n; i++) {
        assert_true(t->error[i] > 0 && t->error[i] < d.errors.n);
        other += strcmp(d.errors.v[t->error[i]], DATASET_OTHER_ERRORS) == 0;
    }
    assert_int_equal(t->n, ROWS);
    assert_true(d.errors.n <= DATASET_MAX_ERRORS + 1);
    assert_int_equal(other, ROWS - (d.errors.n - 2));
    dataset_free(&d);
    free(text);
}

/* Every byte of a key counts, whatever its length. */
static void test_hashes(void **state)
{
    char key[64];

    (void)state;
    memset(key, 'k', sizeof key);
    for (size_t n = 1; n <= sizeof key; n++) {
        uint64_t whole = intern_hash(key, n);
        assert_true(whole != intern_hash(key, n - 1));
        for (size_t i = 0; i < n; i++) {
            key[i] ^= 1;
            assert_true(whole != intern_hash(key, n));
            key[i] ^= 1;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hashes),  cmocka_unit_test(test_values),
        cmocka_unit_test(test_filters), cmocka_unit_test(test_spans),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_many_errors),
    };
    return cmocka_run_group_tests_name("dataset", tests, NULL, NULL);
}
