#include "analyze/read/recfile.h"
#include "libcommon/recwrite.h"
#include "libcommon/rowformat.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#define BASE_NS INT64_C(1795239958000000000) /* 2026-11-21T05:45:58Z */

static struct record simple_row(int64_t i)
{
    return (struct record){.start_ns = BASE_NS + i * 1000003,
                           .end_ns = BASE_NS + i * 1000003 + 500,
                           .first_byte_ns = BASE_NS + i * 1000003 + 100,
                           .last_byte_ns = RECORD_NO_TIME,
                           .intended_ns = RECORD_NO_TIME,
                           .bytes = 4096,
                           .n_objects = 1,
                           .thread = (uint32_t)(i % 7),
                           .op = slice_of("GET"),
                           .client = slice_of("c0"),
                           .endpoint = slice_of("http://h0:9000"),
                           .file = slice_of("p/key.rnd"),
                           .error = slice_of("")};
}

/* A file in memory that can be read by its name. */
struct file {
    int fd;
    char path[40];
};

static struct file new_file(void)
{
    struct file f = {.fd = memfd_create("capture", 0)};
    assert_true(f.fd >= 0);
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.fd);
    return f;
}

static struct recwrite *open_writer(const struct file *f, struct recwrite_options o)
{
    struct err e = {0};
    o.fd = f->fd;
    o.name = "capture";
    struct recwrite *w = recwrite_open(&o, &e);
    assert_string_equal(e.msg, "");
    assert_non_null(w);
    return w;
}

static char *contents(const struct file *f, size_t *n)
{
    struct stat st;
    assert_int_equal(fstat(f->fd, &st), 0);
    *n = (size_t)st.st_size;
    char *p = malloc(*n + 1);
    assert_non_null(p);
    assert_int_equal(pread(f->fd, p, *n, 0), *n);
    p[*n] = '\0';
    return p;
}

/* ---- Rows ---- */

static void assert_row(const struct record *r, bool intended, const char *expected)
{
    char out[1024];
    struct rowformat f;
    rowformat_init(&f, intended);
    char *end = rowformat_put(&f, out, r);
    assert_in_range(end - out, 1, rowformat_bound(r));
    *end = '\0';
    assert_string_equal(out, expected);
}

static void test_row(void **state)
{
    (void)state;
    struct record r = simple_row(0);
    assert_row(
        &r, false,
        "\t0\tGET\tc0\t1\t4096\thttp://h0:9000\tp/key.rnd\t\t2026-11-21T05:45:58.000000000Z\t"
        "2026-11-21T05:45:58.000000100Z\t\t2026-11-21T05:45:58.000000500Z\t500\t0\n");
    r.intended_ns = BASE_NS - 1;
    r.thread = UINT32_MAX;
    r.bytes = INT64_MAX;
    r.n_objects = 0;
    r.cat = UINT64_MAX;
    r.file = slice_of("");
    r.first_byte_ns = RECORD_NO_TIME;
    r.last_byte_ns = BASE_NS + 12345678901;
    assert_row(&r, true,
               "\t4294967295\tGET\tc0\t0\t9223372036854775807\thttp://h0:9000\t\t\t"
               "2026-11-21T05:45:58.000000000Z\t\t2026-11-21T05:46:10.345678901Z\t"
               "2026-11-21T05:45:58.000000500Z\t500\t18446744073709551615\t"
               "2026-11-21T05:45:57.999999999Z\n");
}

static void test_largest_row_keeps_to_its_bound(void **state)
{
    (void)state;
    struct record r = {.start_ns = 0,
                       .end_ns = INT64_MAX,
                       .first_byte_ns = INT64_MAX,
                       .last_byte_ns = INT64_MAX,
                       .intended_ns = INT64_MAX,
                       .bytes = INT64_MAX,
                       .n_objects = INT64_MAX,
                       .cat = UINT64_MAX,
                       .thread = UINT32_MAX,
                       .op = slice_of("\n\n\n\""),
                       .client = slice_of("\n\n\n\r"),
                       .endpoint = slice_of("\n\n\n\t"),
                       .file = slice_of("\n\n\n\""),
                       .error = slice_of("\"\"\"\"\"\"")};
    struct rowformat f;
    char out[1024];
    rowformat_init(&f, true);
    size_t n = (size_t)(rowformat_put(&f, out, &r) - out);
    assert_in_range(n, rowformat_bound(&r) - 100, rowformat_bound(&r));
}

struct quoting {
    const char *text;
    const char *in_key; /* as written in `file` */
    const char *in_error;
};

static const struct quoting quotings[] = {
    {"plain and long enough", "plain and long enough", "plain and long enough"},
    {"it's 100% fine: \\, ,", "it's 100% fine: \\, ,", "it's 100% fine: \\, ,"},
    {" leading", "\" leading\"", "\" leading\""},
    {"trailing ", "trailing ", "trailing "},
    {"a\tb", "\"a\tb\"", "\"a\tb\""},
    {"a \"b\" c", "\"a \"\"b\"\" c\"", "\"a \"\"b\"\" c\""},
    {"\"", "\"\"\"\"", "\"\"\"\""},
    {"a\rb", "\"a\rb\"", "\"a\rb\""},
    {"one\ntwo", "one%0Atwo", "\"one\ntwo\""},
    {"one\ntwo\t", "\"one%0Atwo\t\"", "\"one\ntwo\t\""},
    {"\vtab", "\"\vtab\"", "\"\vtab\""},
    {"bell\a inside", "bell\a inside", "bell\a inside"},
    {"#", "#", "#"},
    {"\xff\x80\xc3\xa9", "\xff\x80\xc3\xa9", "\xff\x80\xc3\xa9"},
};

static void test_quoting(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof quotings / sizeof *quotings; i++) {
        const struct quoting *q = &quotings[i];
        char expected[512];
        struct record r = simple_row(0);
        r.file = r.error = slice_of(q->text);
        snprintf(expected, sizeof expected,
                 "\t0\tGET\tc0\t1\t4096\thttp://h0:9000\t%s\t%s\t2026-11-21T05:45:58.000000000Z\t"
                 "2026-11-21T05:45:58.000000100Z\t\t2026-11-21T05:45:58.000000500Z\t500\t0\n",
                 q->in_key, q->in_error);
        assert_row(&r, false, expected);
    }
}

/* ---- What is written is what is read ---- */

struct reading {
    const struct record *expected;
    size_t n_expected, n_rows;
    size_t n_headers;
    bool intended;
    char comments[1024];
};

static bool on_header(void *ctx, const struct recfile_layout *layout, struct err *e)
{
    struct reading *r = ctx;
    (void)e;
    r->n_headers++;
    r->intended = layout->field[COL_INTENDED] >= 0;
    assert_int_equal(layout->generation, 4);
    return true;
}

static bool on_comment(void *ctx, struct slice line, struct err *e)
{
    struct reading *r = ctx;
    (void)e;
    strncat(r->comments, line.p, line.n);
    strcat(r->comments, "\n");
    return true;
}

static void assert_slice(struct slice a, struct slice b)
{
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.p, b.p, a.n);
}

static bool unit_rows(void *ctx, void *unit, const struct record *rows, size_t n, struct err *e)
{
    struct reading *r = ctx;
    (void)unit, (void)e;
    assert_true(r->n_headers > 0);
    for (size_t i = 0; i < n && r->expected; i++) {
        assert_true(r->n_rows + i < r->n_expected);
        const struct record *want = &r->expected[r->n_rows + i], *got = &rows[i];
        assert_int_equal(got->start_ns, want->start_ns);
        assert_int_equal(got->end_ns, want->end_ns);
        assert_int_equal(got->first_byte_ns, want->first_byte_ns);
        assert_int_equal(got->last_byte_ns, want->last_byte_ns);
        assert_int_equal(got->intended_ns, r->intended ? want->intended_ns : RECORD_NO_TIME);
        assert_int_equal(got->bytes, want->bytes);
        assert_int_equal(got->n_objects, want->n_objects);
        assert_int_equal(got->cat, want->cat);
        assert_int_equal(got->thread, want->thread);
        assert_slice(got->op, want->op);
        assert_slice(got->client, want->client);
        assert_slice(got->endpoint, want->endpoint);
        assert_slice(got->file, want->file);
        assert_slice(got->error, want->error);
    }
    r->n_rows += n;
    return true;
}

static struct recfile_info read_back(const struct file *f, struct reading *r, bool salvage)
{
    struct recfile_options o = {.salvage = salvage};
    struct recfile_sink sink = {
        .ctx = r, .unit_rows = unit_rows, .header = on_header, .comment = on_comment};
    struct recfile_info info;
    struct err e = {0};
    recfile_read(f->path, &o, &sink, &info, &e);
    assert_string_equal(e.msg, "");
    return info;
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

/* Makes up to 11 bytes, most of which are special characters. Keys and names have no newline. */
static struct slice random_text(uint64_t *seed, char *out, bool newlines)
{
    static const char in_key[] = "\t\t\"\"\"  ,#ab\rZ%0A\x80\x01";
    static const char in_error[] = "\t\t\"\"\"  ,#abZ%0A\x80\x01\n\n";
    const char *nasty = newlines ? in_error : in_key;
    size_t n = next_random(seed) % 12, n_nasty = strlen(nasty);
    for (size_t i = 0; i < n; i++)
        out[i] = nasty[next_random(seed) % n_nasty];
    return (struct slice){out, n};
}

#define N_RANDOM 20000

static void round_trip(struct recwrite_options o)
{
    struct record *rows = calloc(N_RANDOM, sizeof *rows);
    char(*texts)[5][12] = calloc(N_RANDOM, sizeof *texts);
    struct file f = new_file();
    struct recwrite *w = open_writer(&f, o);
    struct err e = {0};
    uint64_t seed = 20261121;
    assert_non_null(rows);
    assert_non_null(texts);
    for (size_t i = 0; i < N_RANDOM; i++) {
        struct record *r = &rows[i];
        *r = simple_row((int64_t)i);
        r->start_ns = (int64_t)(next_random(&seed) >> 2);
        r->end_ns = r->start_ns + (int64_t)(next_random(&seed) >> (2 + next_random(&seed) % 61));
        r->first_byte_ns = next_random(&seed) % 2 ? RECORD_NO_TIME : r->end_ns;
        r->last_byte_ns = next_random(&seed) % 2 ? RECORD_NO_TIME : r->start_ns;
        r->intended_ns = next_random(&seed) % 4 ? r->start_ns / 2 : RECORD_NO_TIME;
        r->bytes = (int64_t)(next_random(&seed) >> (1 + next_random(&seed) % 63));
        r->thread = (uint32_t)(next_random(&seed) >> (32 + next_random(&seed) % 32));
        r->client = random_text(&seed, texts[i][0], false);
        r->endpoint = random_text(&seed, texts[i][1], false);
        r->file = random_text(&seed, texts[i][2], false);
        r->error = random_text(&seed, texts[i][3], true);
        assert_true(recwrite_row(w, r, &e));
        if (i % 5000 == 4999)
            assert_true(recwrite_end_frame(w, &e));
    }
    assert_true(recwrite_close(w, &e));
    struct reading reading = {.expected = rows, .n_expected = N_RANDOM};
    struct recfile_info info = read_back(&f, &reading, false);
    assert_int_equal(reading.n_rows, N_RANDOM);
    assert_int_equal(reading.n_headers, 1);
    assert_int_equal(reading.intended, o.intended);
    assert_int_equal(info.compressed, o.compress);
    assert_int_equal(info.n_frames, o.compress ? 4 : 0);
    close(f.fd);
    free(rows);
    free(texts);
}

static void test_round_trip_plain(void **state)
{
    (void)state;
    round_trip((struct recwrite_options){.intended = true});
}

static void test_round_trip_compressed(void **state)
{
    (void)state;
    round_trip((struct recwrite_options){.compress = true, .sync = true});
}

static void test_round_trip_threads(void **state)
{
    (void)state;
    round_trip((struct recwrite_options){.compress = true, .threads = 3, .intended = true});
}

static void test_second_header(void **state)
{
    (void)state;
    struct record rows[] = {simple_row(0), simple_row(1)};
    struct file f = new_file();
    struct recwrite *w = open_writer(&f, (struct recwrite_options){.compress = true});
    struct err e = {0};
    rows[1].intended_ns = BASE_NS;
    assert_true(recwrite_row(w, &rows[0], &e));
    assert_true(recwrite_header(w, true, &e));
    assert_true(recwrite_row(w, &rows[1], &e));
    assert_true(recwrite_close(w, &e));
    struct reading reading = {.expected = rows, .n_expected = 2};
    read_back(&f, &reading, false);
    assert_int_equal(reading.n_rows, 2);
    assert_int_equal(reading.n_headers, 2);
    close(f.fd);
}

/* ---- Frames ---- */

/* Returns the size of the frame at p, and checks what must be true for every frame. */
static size_t check_frame(const char *p, size_t n)
{
    size_t size = ZSTD_findFrameCompressedSize(p, n);
    assert_false(ZSTD_isError(size));
    unsigned char descriptor = (unsigned char)p[4];
    assert_true(descriptor & 0x04); /* content checksum */
    unsigned long long text = ZSTD_getFrameContentSize(p, size);
    assert_in_range(text, 1, RECWRITE_FRAME_BYTES);
    if (descriptor & 0x20)
        assert_in_range(text, 1, 2u << 20); /* the window is the content */
    else
        assert_in_range((unsigned char)p[5] >> 3, 0, 21 - 10); /* RFC 8878, 3.1.1.1.2 */
    return size;
}

static void test_frames(void **state)
{
    (void)state;
    static const int levels[] = {1, 3, 19};
    for (size_t k = 0; k < sizeof levels / sizeof *levels; k++) {
        struct file f = new_file();
        struct recwrite *w = open_writer(
            &f, (struct recwrite_options){.compress = true, .level = levels[k], .threads = k % 2});
        struct err e = {0};
        const int64_t n_rows = 60000; /* 9 MB */
        for (int64_t i = 0; i < n_rows; i++) {
            struct record r = simple_row(i);
            assert_true(recwrite_row(w, &r, &e));
        }
        assert_true(recwrite_close(w, &e));
        size_t n, n_frames = 0;
        char *p = contents(&f, &n);
        for (size_t at = 0; at < n; n_frames++) {
            size_t size = check_frame(p + at, n - at);
            char *text = malloc(RECWRITE_FRAME_BYTES);
            size_t n_text = ZSTD_decompress(text, RECWRITE_FRAME_BYTES, p + at, size);
            assert_false(ZSTD_isError(n_text));
            assert_int_equal(text[n_text - 1], '\n');
            if (at + size < n)
                assert_in_range(n_text, RECWRITE_FRAME_BYTES - 1024, RECWRITE_FRAME_BYTES);
            free(text);
            at += size;
        }
        assert_int_equal(n_frames, 3);
        free(p);
        close(f.fd);
    }
}

static void test_first_frame_and_comments(void **state)
{
    (void)state;
    struct file f = new_file();
    struct recwrite *w = open_writer(&f, (struct recwrite_options){.compress = true, .sync = true});
    struct err e = {0};
    struct record r = simple_row(0);
    static const char first[] = "s3load/1 {}", last[] = "done";
    assert_true(recwrite_comment(w, first, strlen(first), &e));
    assert_true(recwrite_end_frame(w, &e));
    struct stat before, after;
    assert_int_equal(fstat(f.fd, &before), 0);
    assert_true(before.st_size > 0);
    assert_true(recwrite_end_frame(w, &e)); /* the frame is empty, so nothing is written */
    assert_int_equal(fstat(f.fd, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    assert_true(recwrite_row(w, &r, &e));
    assert_true(recwrite_comment(w, last, strlen(last), &e));
    assert_true(recwrite_close(w, &e));
    struct reading reading = {.expected = &r, .n_expected = 1};
    struct recfile_info info = read_back(&f, &reading, false);
    assert_int_equal(info.n_frames, 2);
    assert_string_equal(reading.comments, "# s3load/1 {}\n# done\n");
    close(f.fd);
}

/* A capture cut off anywhere gives the rows of its whole frames. */
static void test_cut(void **state)
{
    (void)state;
    struct file f = new_file();
    struct recwrite *w = open_writer(&f, (struct recwrite_options){.compress = true});
    struct err e = {0};
    struct record rows[30];
    off_t ends[30];
    for (int i = 0; i < 30; i++) {
        struct stat st;
        rows[i] = simple_row(i);
        assert_true(recwrite_row(w, &rows[i], &e));
        assert_true(recwrite_end_frame(w, &e));
        assert_int_equal(fstat(f.fd, &st), 0);
        ends[i] = st.st_size;
    }
    assert_true(recwrite_close(w, &e));
    for (off_t cut = ends[29]; cut >= ends[0]; cut -= 7) {
        size_t whole = 0;
        assert_int_equal(ftruncate(f.fd, cut), 0);
        while (whole < 30 && ends[whole] <= cut)
            whole++;
        struct reading reading = {.expected = rows, .n_expected = 30};
        read_back(&f, &reading, true);
        assert_in_range(reading.n_rows, whole, whole + 1);
    }
    close(f.fd);
}

/* ---- Failures ---- */

static void test_full_disk(void **state)
{
    (void)state;
    static const char message[] = "cannot write capture: No space left on device";
    int fd = open("/dev/full", O_WRONLY);
    if (fd < 0)
        skip();
    for (unsigned threads = 0; threads < 3; threads++) {
        struct file f = {.fd = fd};
        struct recwrite *w =
            open_writer(&f, (struct recwrite_options){.compress = true, .threads = threads});
        struct record r = simple_row(0);
        struct err e = {0};
        bool ok = true;
        for (int i = 0; i < 200000 && ok; i++)
            ok = recwrite_row(w, &r, &e);
        assert_false(ok);
        assert_string_equal(e.msg, message);
        err_clear(&e);
        assert_false(recwrite_close(w, &e));
        assert_string_equal(e.msg, message);

        w = open_writer(&f, (struct recwrite_options){.threads = threads});
        err_clear(&e);
        assert_true(recwrite_row(w, &r, &e));
        assert_false(recwrite_close(w, &e));
        assert_string_equal(e.msg, message);
    }
    close(fd);
}

static void test_error_sticks(void **state)
{
    (void)state;
    int fd = open("/dev/full", O_WRONLY);
    if (fd < 0)
        skip();
    struct file f = {.fd = fd};
    struct recwrite *w = open_writer(&f, (struct recwrite_options){0});
    struct record r = simple_row(0);
    struct err e = {0};
    assert_true(recwrite_row(w, &r, &e));
    assert_false(recwrite_end_frame(w, &e));
    err_clear(&e);
    assert_false(recwrite_row(w, &r, &e));
    assert_string_equal(e.msg, "cannot write capture: No space left on device");
    err_clear(&e);
    assert_false(recwrite_comment(w, "x", 1, &e));
    assert_string_equal(e.msg, "cannot write capture: No space left on device");
    assert_false(recwrite_end_frame(w, &e));
    recwrite_discard(w);
    close(fd);
}

static void test_row_too_long(void **state)
{
    (void)state;
    struct file f = new_file();
    struct err e = {0};
    struct record r = simple_row(0);
    const size_t n = RECORD_MAX_ROW_BYTES;
    char *text = malloc(2 * n);
    assert_non_null(text);
    memset(text, 'x', 2 * n);
    struct recwrite *w = open_writer(&f, (struct recwrite_options){.compress = true});
    r.error = (struct slice){text, n - 1024};
    assert_true(recwrite_row(w, &r, &e));
    struct reading reading = {.expected = &r, .n_expected = 1};
    assert_true(recwrite_close(w, &e));
    read_back(&f, &reading, false);
    assert_int_equal(reading.n_rows, 1);

    for (size_t size = n; size <= 2 * n; size += n) {
        w = open_writer(&f, (struct recwrite_options){.compress = true});
        r.error = (struct slice){text, size};
        assert_false(recwrite_row(w, &r, &e));
        assert_string_equal(e.msg, "cannot write capture: a row of more than 1 MiB");
        err_clear(&e);
        assert_false(recwrite_close(w, &e));
        err_clear(&e);
    }
    free(text);
    close(f.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row),
        cmocka_unit_test(test_largest_row_keeps_to_its_bound),
        cmocka_unit_test(test_quoting),
        cmocka_unit_test(test_round_trip_plain),
        cmocka_unit_test(test_round_trip_compressed),
        cmocka_unit_test(test_round_trip_threads),
        cmocka_unit_test(test_second_header),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_first_frame_and_comments),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_error_sticks),
        cmocka_unit_test(test_row_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
