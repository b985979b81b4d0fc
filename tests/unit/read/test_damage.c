/* Reads thousands of damaged captures: every prefix, and single flipped bits. Whatever the damage,
 * reading ends with rows or a message, and with `salvage` every row that the damage does not touch
 * comes out once. DAMAGE_FLIPS in the environment sets the number of flips. */
#include "analyze/read/recfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

/* A read takes 20 times as long under the address sanitizer. */
#if defined __SANITIZE_ADDRESS__
#define FLIPS 2000
#else
#define FLIPS 14000
#endif
#define LARGE_FLIPS    150
#define READ_TIMEOUT_S 60
#define MAX_FRAMES     512
#define MAX_ROW_BYTES  256
#define BASE_NS        1795239958000000000 /* 2026-11-21T05:45:58Z */
#define MS             1000000

struct part {
    size_t begin, end;
};

/* A capture whose rows all differ. */
struct capture {
    size_t n_rows;
    char *text;
    size_t n_text;
    struct part *rows; /* in text */
    bool compressed;
    char *data; /* the file; text itself if not compressed */
    size_t n_data;
    struct part frames[MAX_FRAMES];     /* in data */
    struct part frame_text[MAX_FRAMES]; /* in text; empty: a skippable frame */
    size_t n_frames;
};

/* The result of a read. */
struct outcome {
    const struct capture *capture;
    bool ok;
    struct err err;
    struct recfile_info info;
    unsigned char *seen; /* how often each row came */
    size_t n_others;     /* rows that the capture did not have */
};

static const char header[] = "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\t"
                             "start\tfirst_byte\tlast_byte\tend\tduration_ns\tcat\n";
static const char multi_line_error[] = "line one\n\tline \"two\"";

/* ---- Captures ---- */

static void *check_alloc(void *p)
{
    assert_non_null(p);
    return p;
}

/* Row i runs from BASE_NS + i ms for half a ms; every sixth has an error over two lines. */
static void capture_init(struct capture *c, size_t n_rows)
{
    static const char quoted[] = "\"line one\n\tline \"\"two\"\"\"";
    size_t cap = sizeof header + n_rows * MAX_ROW_BYTES;

    *c = (struct capture){.n_rows = n_rows};
    c->text = check_alloc(malloc(cap));
    c->rows = check_alloc(calloc(n_rows, sizeof *c->rows));
    c->n_text = (size_t)sprintf(c->text, "%s", header);
    for (size_t i = 0; i < n_rows; i++) {
        unsigned second = (unsigned)(58 + i / 1000), ms = (unsigned)(i % 1000);
        c->rows[i].begin = c->n_text;
        c->n_text += (size_t)sprintf(
            c->text + c->n_text,
            "%zu\t%zu\tGET\tc0\t1\t%zu\thttp://h:9000\tkey-%zu\t%s\t"
            "2026-11-21T05:%02u:%02u.%03uZ\t\t\t2026-11-21T05:%02u:%02u.%03u5Z\t500000\t0\n",
            i, i, 1000 + i, i, i % 6 == 5 ? quoted : "", 45 + second / 60, second % 60, ms,
            45 + second / 60, second % 60, ms);
        c->rows[i].end = c->n_text;
    }
    c->data = c->text;
    c->n_data = c->n_text;
}

static void capture_fini(struct capture *c)
{
    if (c->compressed)
        free(c->data);
    free(c->text);
    free(c->rows);
}

static void add_frame(struct capture *c, size_t n_data, struct part text)
{
    assert_true(c->n_frames < MAX_FRAMES);
    c->frames[c->n_frames] = (struct part){c->n_data, c->n_data + n_data};
    c->frame_text[c->n_frames++] = text;
    c->n_data += n_data;
}

/* Compresses the text in frames of about frame_bytes, each of several blocks, with a skippable
 * frame after the first. Frames end where rows end (aligned), or anywhere. */
static void capture_compress(struct capture *c, size_t frame_bytes, bool aligned, int level)
{
    ZSTD_CCtx *zstd = check_alloc(ZSTD_createCCtx());
    size_t cap = 2 * c->n_text + 65536, row = 0;

    c->compressed = true;
    c->data = check_alloc(malloc(cap));
    c->n_data = 0;
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level);
    for (size_t begin = 0, end; begin < c->n_text; begin = end) {
        end = begin + frame_bytes < c->n_text ? begin + frame_bytes : c->n_text;
        if (aligned) {
            while (row < c->n_rows && c->rows[row].end < end)
                row++;
            end = row < c->n_rows ? c->rows[row].end : c->n_text;
        }
        ZSTD_outBuffer out = {c->data + c->n_data, cap - c->n_data, 0};
        for (size_t k = 0; k < 4; k++) {
            size_t from = begin + (end - begin) * k / 4, to = begin + (end - begin) * (k + 1) / 4;
            ZSTD_inBuffer in = {c->text + from, to - from, 0};
            size_t left = ZSTD_compressStream2(zstd, &out, &in, k < 3 ? ZSTD_e_flush : ZSTD_e_end);
            assert_int_equal(left, 0);
        }
        add_frame(c, out.pos, (struct part){begin, end});
        if (begin == 0) {
            static const char skippable[] = "\x50\x2a\x4d\x18\x05\0\0\0hello";
            memcpy(c->data + c->n_data, skippable, sizeof skippable - 1);
            add_frame(c, sizeof skippable - 1, (struct part){0, 0});
        }
    }
    ZSTD_freeCCtx(zstd);
}

static size_t frame_at(const struct capture *c, size_t at)
{
    size_t k = 0;
    while (c->frames[k].end <= at)
        k++;
    return k;
}

/* Returns how many bytes of text a decoder gets from the first n bytes of the file. */
static size_t n_decodable(const struct capture *c, size_t n)
{
    ZSTD_DCtx *zstd = check_alloc(ZSTD_createDCtx());
    char *text = check_alloc(malloc(c->n_text + 1));
    ZSTD_inBuffer in = {c->data, n, 0};
    ZSTD_outBuffer out = {text, c->n_text + 1, 0};

    for (size_t before = 1, status = 0; !ZSTD_isError(status) && before != in.pos + out.pos;) {
        before = in.pos + out.pos;
        status = ZSTD_decompressStream(zstd, &out, &in);
    }
    free(text);
    ZSTD_freeDCtx(zstd);
    return out.pos;
}

/* ---- Reading ---- */

struct unit {
    unsigned char *held;
    size_t n_others;
};

static void *unit_new(void *ctx, struct err *e)
{
    const struct outcome *o = ctx;
    struct unit *u = calloc(1, sizeof *u);
    (void)e;
    u->held = calloc(o->capture->n_rows, 1);
    return u;
}

/* True if r is row i of the capture in every field. */
static bool is_row(const struct record *r, size_t i)
{
    char key[32];
    snprintf(key, sizeof key, "key-%zu", i);
    return r->bytes == (int64_t)(1000 + i) && r->start_ns == BASE_NS + (int64_t)i * MS &&
           r->end_ns == r->start_ns + MS / 2 && r->first_byte_ns == RECORD_NO_TIME &&
           r->last_byte_ns == RECORD_NO_TIME && r->n_objects == 1 && r->cat == 0 &&
           slice_is(r->op, "GET") && slice_is(r->client, "c0") &&
           slice_is(r->endpoint, "http://h:9000") && slice_is(r->file, key) &&
           slice_is(r->error, i % 6 == 5 ? multi_line_error : "");
}

static bool unit_rows(void *ctx, void *unit, const struct record *rows, size_t n, struct err *e)
{
    const struct outcome *o = ctx;
    struct unit *u = unit;
    (void)e;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].thread < o->capture->n_rows && is_row(&rows[i], rows[i].thread))
            u->held[rows[i].thread]++;
        else
            u->n_others++;
    }
    return true;
}

static bool unit_commit(void *ctx, void *unit, uint32_t input, struct err *e)
{
    struct outcome *o = ctx;
    struct unit *u = unit;
    (void)input;
    (void)e;
    for (size_t i = 0; i < o->capture->n_rows; i++)
        o->seen[i] = (unsigned char)(o->seen[i] + u->held[i]);
    o->n_others += u->n_others;
    memset(u->held, 0, o->capture->n_rows);
    u->n_others = 0;
    return true;
}

static void unit_free(void *ctx, void *unit)
{
    struct unit *u = unit;
    (void)ctx;
    free(u->held);
    free(u);
}

/* A file in memory for the damaged captures. */
static int file_fd;
static char file_path[64];

static int file_open(void **state)
{
    (void)state;
    file_fd = memfd_create("damaged", 0);
    snprintf(file_path, sizeof file_path, "/proc/self/fd/%d", file_fd);
    return file_fd < 0;
}

static int file_close(void **state)
{
    (void)state;
    return close(file_fd);
}

static void file_write(const char *data, size_t n)
{
    assert_int_equal(ftruncate(file_fd, 0), 0);
    assert_int_equal(pwrite(file_fd, data, n, 0), n);
}

/* Reads the file, and checks what is true for every read. */
static void file_read(struct outcome *o, bool salvage, unsigned threads)
{
    const struct recfile_options options = {
        .salvage = salvage,
        .threads = threads,
    };
    const struct recfile_sink sink = {
        .ctx = o,
        .unit_new = unit_new,
        .unit_rows = unit_rows,
        .unit_commit = unit_commit,
        .unit_free = unit_free,
    };
    const struct capture *c = o->capture;
    size_t n_seen = 0;

    memset(o->seen, 0, c->n_rows);
    o->n_others = 0;
    err_clear(&o->err);
    alarm(READ_TIMEOUT_S);
    o->ok = recfile_read(file_path, &options, &sink, &o->info, &o->err);
    alarm(0);
    for (size_t i = 0; i < c->n_rows; i++)
        n_seen += o->seen[i];
    if (o->ok) {
        assert_string_equal(o->err.msg, "");
        assert_int_equal(o->info.n_rows, n_seen + o->n_others);
    } else {
        size_t n = strlen(file_path);
        assert_int_equal(strncmp(o->err.msg, file_path, n), 0);
        assert_int_equal(o->err.msg[n], ':');
        assert_true(strlen(o->err.msg) > n + 5);
    }
}

static void outcome_init(struct outcome *o, const struct capture *c)
{
    *o = (struct outcome){.capture = c, .seen = check_alloc(calloc(c->n_rows, 1))};
}

/* Row i must have come once. A frame that fails its checksum may have a row that looks like one
 * from elsewhere. */
static void check_row(const struct outcome *o, size_t i, size_t damage)
{
    if (o->seen[i] == 0 || (o->seen[i] > 1 && o->info.n_unverified == 0))
        fail_msg("damage at byte %zu: row %zu (text %zu to %zu) came %d times (%s)", damage, i,
                 o->capture->rows[i].begin, o->capture->rows[i].end, o->seen[i],
                 o->ok ? o->info.first_drop[DROP_DAMAGED_FRAME] : o->err.msg);
}

/* Every row before text[end] must have come once. */
static void check_rows_before(const struct outcome *o, size_t end, size_t damage)
{
    for (size_t i = 0; i < o->capture->n_rows && o->capture->rows[i].end <= end; i++)
        check_row(o, i, damage);
}

/* Every row that is wholly outside of a damaged frame's text must have come once. */
static void check_rows_outside(const struct outcome *o, struct part bad, size_t damage)
{
    check_rows_before(o, bad.begin, damage);
    for (size_t i = o->capture->n_rows; i-- > 0 && o->capture->rows[i].begin >= bad.end;)
        check_row(o, i, damage);
}

static void check_all_rows(const struct outcome *o)
{
    assert_string_equal(o->err.msg, "");
    assert_true(o->ok);
    assert_int_equal(o->n_others, 0);
    check_rows_before(o, o->capture->n_text, 0);
}

/* ---- Tests ---- */

static void test_undamaged(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct capture c;
        struct outcome o;
        capture_init(&c, 3000);
        if (kind > 0)
            capture_compress(&c, 10000, kind == 1, 3);
        outcome_init(&o, &c);
        file_write(c.data, c.n_data);
        for (unsigned threads = 1; threads <= 4; threads++)
            for (int salvage = 0; salvage < 2; salvage++) {
                file_read(&o, salvage, threads);
                check_all_rows(&o);
            }
        free(o.seen);
        capture_fini(&c);
    }
}

/* A prefix of n bytes gives the rows whose lines are complete; the last line needs no newline. */
static void test_prefixes_of_text(void **state)
{
    struct capture c;
    struct outcome o;
    (void)state;
    capture_init(&c, 8);
    outcome_init(&o, &c);
    for (size_t n = sizeof header - 1; n < c.n_text; n++) {
        file_write(c.data, n);
        file_read(&o, true, 1 + n % 2);
        assert_true(o.ok);
        check_rows_before(&o, n, n);
        file_read(&o, false, 1 + n % 2);
        check_rows_before(&o, n, n);
    }
    for (size_t n = 0; n < sizeof header - 1; n++) {
        file_write(c.data, n);
        file_read(&o, n % 2, 1);
    }
    free(o.seen);
    capture_fini(&c);
}

static void test_prefixes_of_frames(void **state)
{
    (void)state;
    for (int aligned = 0; aligned < 2; aligned++) {
        struct capture c;
        struct outcome o;
        capture_init(&c, 48);
        capture_compress(&c, 2000, aligned, 3);
        outcome_init(&o, &c);
        for (size_t n = 0; n < c.n_data; n++) {
            size_t n_text = n_decodable(&c, n);
            file_write(c.data, n);
            file_read(&o, true, 1 + n % 2);
            if (n_text >= sizeof header - 1)
                assert_true(o.ok);
            check_rows_before(&o, n_text, n);
            file_read(&o, false, 1 + n % 2);
            if (n > 0 && n != c.frames[frame_at(&c, n)].begin)
                assert_false(o.ok);
        }
        free(o.seen);
        capture_fini(&c);
    }
}

static unsigned long n_flips(void)
{
    const char *text = getenv("DAMAGE_FLIPS");
    return text ? strtoul(text, NULL, 10) : FLIPS;
}

/* Flips bits of a text file: no row before the line of the damage is lost. */
static void flip_text(size_t n_rows, unsigned long n)
{
    struct capture c;
    struct outcome o;
    capture_init(&c, n_rows);
    outcome_init(&o, &c);
    for (unsigned long k = 0; k < n; k++) {
        size_t at = (size_t)random() % c.n_data, before = at;
        char good = c.data[at];
        while (before > 0 && c.data[before - 1] != '\n')
            before--;
        c.data[at] = (char)(good ^ 1 << random() % 8);
        file_write(c.data, c.n_data);
        file_read(&o, true, 1 + k % 2);
        if (at >= sizeof header - 1) {
            assert_true(o.ok);
            check_rows_before(&o, before, at);
        }
        file_read(&o, false, 1 + k % 2);
        if (at >= sizeof header - 1)
            check_rows_before(&o, before, at);
        c.data[at] = good;
    }
    free(o.seen);
    capture_fini(&c);
}

/* Flips bits of a file of frames: no row outside of the damaged frame is lost. */
static void flip_frames(size_t n_rows, size_t frame_bytes, bool aligned, int level, unsigned long n)
{
    struct capture c;
    struct outcome o;
    capture_init(&c, n_rows);
    capture_compress(&c, frame_bytes, aligned, level);
    outcome_init(&o, &c);
    for (unsigned long k = 0; k < n; k++) {
        size_t at = (size_t)random() % c.n_data, frame = frame_at(&c, at);
        char good = c.data[at];
        c.data[at] = (char)(good ^ 1 << random() % 8);
        file_write(c.data, c.n_data);
        file_read(&o, false, 1 + k % 2);
        /* Checksums detect all damage, except to bits that mean nothing. */
        if (o.ok)
            check_all_rows(&o);
        file_read(&o, true, 1 + k % 2);
        /* The first frame has the header line. A wrong length of a skippable frame, the second,
         * hides other frames. */
        if (frame > 1) {
            assert_true(o.ok);
            check_rows_outside(&o, c.frame_text[frame], at);
        }
        c.data[at] = good;
    }
    free(o.seen);
    capture_fini(&c);
}

static void test_flips_of_text(void **state)
{
    (void)state;
    srandom(1);
    flip_text(60, n_flips() / 4);
}

static void test_flips_of_frames(void **state)
{
    (void)state;
    srandom(2);
    flip_frames(100, 700, true, 3, n_flips() / 4);
    flip_frames(100, 2000, false, 3, n_flips() / 4);
    flip_frames(100, 2000, true, -20, n_flips() / 4);
}

/* Large enough to be read by several threads at once. */
static void test_flips_of_large_captures(void **state)
{
    (void)state;
    srandom(3);
    flip_text(20000, LARGE_FLIPS);
    flip_frames(20000, 30000, true, -50, LARGE_FLIPS);
    flip_frames(20000, 700000, false, -50, LARGE_FLIPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undamaged),          cmocka_unit_test(test_prefixes_of_text),
        cmocka_unit_test(test_prefixes_of_frames), cmocka_unit_test(test_flips_of_text),
        cmocka_unit_test(test_flips_of_frames),    cmocka_unit_test(test_flips_of_large_captures),
    };
    return cmocka_run_group_tests_name("damage", tests, file_open, file_close);
}
