/* Compares the fast path with the reference parser (libcsv), SIMD with portable code, and one
 * thread with several: they must give the same rows, in the same order, from captures and from
 * mutated rows. */
#include "tests/unit/fingerprint.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

static void assert_same(const struct fingerprint *a, const struct fingerprint *b)
{
    assert_int_equal(a->ok, b->ok);
    assert_string_equal(a->err.msg, b->err.msg);
    assert_int_equal(a->n_rows, b->n_rows);
    assert_true(a->hash == b->hash);
    assert_true(a->comments == b->comments);
    assert_memory_equal(a->info.n_dropped, b->info.n_dropped, sizeof a->info.n_dropped);
    for (int i = 0; i < N_DROPS; i++)
        assert_string_equal(a->info.first_drop[i], b->info.first_drop[i]);
    assert_int_equal(a->info.n_lines, b->info.n_lines);
}

/* All ways to read a file must give the same. */
static void assert_ways_agree(const char *path, bool salvage)
{
    struct fingerprint fast = fingerprint_read(path, (struct recfile_options){.salvage = salvage});
    struct fingerprint slow =
        fingerprint_read(path, (struct recfile_options){.salvage = salvage, .all_slow = true});
    struct fingerprint portable = fingerprint_read(
        path, (struct recfile_options){.salvage = salvage, .portable = true, .threads = 1});
    struct fingerprint threads =
        fingerprint_read(path, (struct recfile_options){.salvage = salvage, .threads = 5});
    struct fingerprint alone = fingerprint_read(
        path, (struct recfile_options){
                  .salvage = salvage, .threads = 1, .alone = true, .chunk_bytes = 2u << 20});

    assert_same(&fast, &slow);
    assert_same(&fast, &portable);
    assert_same(&fast, &threads);
    assert_same(&fast, &alone);
}

static void read_captures(const char *folder, size_t *n)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)) != NULL) {
        char path[512];
        if (!strstr(entry->d_name, ".csv.zst"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        assert_ways_agree(path, false);
        struct fingerprint r = fingerprint_read(path, (struct recfile_options){0});
        assert_true(r.ok);
        assert_int_equal(r.n_rows, r.info.n_rows);
        assert_true(r.n_rows > 0);
        (*n)++;
    }
    if (dir)
        closedir(dir);
}

static void test_captures(void **state)
{
    size_t n = 0;

    (void)state;
    read_captures("testdata", &n);
    assert_true(n >= 10);
    read_captures("../shared/captures", &n);
}

/* ---- Text in memory ---- */

struct text_file {
    int fd;
    char path[64];
};

static struct text_file text_file(const char *text, size_t n)
{
    struct text_file f = {.fd = memfd_create("capture", 0)};

    assert_true(f.fd >= 0);
    assert_int_equal(write(f.fd, text, n), (ssize_t)n);
    /* Opened anew each time, so that the offset is 0. */
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.fd);
    return f;
}

static const char *const seeds[] = {
    "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\tstart\tfirst_byte\t"
    "last_byte\tend\tduration_ns\tcat\n",
    "0\t3\tGET\tc0\t1\t65536\thttp://h0:9000\tp/1.rnd\t\t2026-11-21T05:49:04.794390549Z\t"
    "2026-11-21T05:49:04.796Z\t\t2026-11-21T05:49:04.799578314Z\t5187765\t0\n",
    "1\t12\tPUT\tc0\t\t1024\t\t\"a\"b\t\"two\nlines, \"\"quoted\"\"\"\t"
    "2026-11-21T05:49:59.9999999Z\t\t2026-11-21T05:50:00Z\t2026-11-21T05:50:00.1Z\t1\t18\n",
    "# comment\twith \"quotes\n",
    "2\t0\tDELETE\t\t5\t0\thttp://h1:9000\t\"\t\"x\ty\"\t2026-02-28T23:59:59.5+01:00\t\t\t"
    "2026-02-28T23:59:59.50000001+01:00\t1\t0\r\n",
    "\n",
    "3\t4294967295\tSTAT\tc\t1\t0\t\"http://h\"\"2\"\t\"quoted key\"\t\t2024-02-29T00:00:00Z\t\t\t"
    "2024-02-29T00:00:00.000000001Z\t1\t0\n",
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* Changes, removes or inserts bytes in captures of a few rows: both parsers must agree on what is a
 * row, and on what is wrong with the others. */
static void test_mutated_rows(void **state)
{
    static const char alphabet[] = "\"\"\"\t\t\n\r,#0159TZ:.-+ ax\xff";
    uint32_t random = 1;
    size_t n_good = 0, n_dropped = 0;

    (void)state;
    for (int round = 0; round < 1400; round++) {
        char text[3 * 4096];
        size_t n = 0;
        for (int row = 0; row < 30; row++) {
            const char *s = seeds[row == 0 ? 0 : next_random(&random) % 7];
            memcpy(text + n, s, strlen(s));
            n += strlen(s);
        }
        for (uint32_t k = next_random(&random) % 18; k > 0; k--) {
            size_t at = 150 + next_random(&random) % (n - 150);
            char c = alphabet[next_random(&random) % (sizeof alphabet - 1)];
            switch (next_random(&random) % 3) {
            case 0:
                text[at] = c;
                break;
            case 1:
                memmove(text + at + 1, text + at, n - at);
                text[at] = c;
                n++;
                break;
            default:
                memmove(text + at, text + at + 1, n - at - 1);
                n--;
            }
        }
        if (next_random(&random) % 2)
            n--; /* the last newline */
        struct text_file f = text_file(text, n);
        assert_ways_agree(f.path, true);
        assert_ways_agree(f.path, false);
        struct fingerprint r = fingerprint_read(f.path, (struct recfile_options){.salvage = true});
        n_good += r.n_rows;
        n_dropped += r.info.n_dropped[DROP_BAD_ROW];
        close(f.fd);
    }
    assert_true(n_good > 10000);
    assert_true(n_dropped > 1000);
}

/* Seconds and fractions at their limits, after a row of the same minute. */
static void test_seconds(void **state)
{
    static const struct {
        const char *seconds;
        bool is_row;
    } cases[] = {{"59.5", true},           {"60.5", false},         {"61.5", false},
                 {"70.5", false},          {"5:.5", false},         {":0.5", false},
                 {"/9.5", false},          {"00.000000001", true},  {"59.999999999", true},
                 {"00.1234567890", false}, {"00.12345678:", false}, {"00./23456789", false},
                 {"00.1:", false},         {"00.", false},          {"00", true}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        int n = snprintf(text, sizeof text,
                         "%s%s1\t0\tGET\tc\t1\t1\th\tk\t\t2026-11-21T05:49:%sZ\t\t\t"
                         "2026-11-21T05:50:00.5Z\t1\t0\n",
                         seeds[0], seeds[1], cases[i].seconds);
        struct text_file f = text_file(text, (size_t)n);
        assert_ways_agree(f.path, true);
        struct fingerprint r = fingerprint_read(f.path, (struct recfile_options){.salvage = true});
        assert_int_equal(r.n_rows, 1 + cases[i].is_row);
        close(f.fd);
    }
}

static const char header[] = "idx,thread,op,bytes,file,error,start,end\n";

static struct fingerprint read_text(const char *text, bool salvage)
{
    struct text_file f = text_file(text, strlen(text));
    struct fingerprint r = fingerprint_read(f.path, (struct recfile_options){.salvage = salvage});

    close(f.fd);
    return r;
}

/* Returns the message for a bad row after the header and a good row, without the file's name and
 * the advice at the end, which all messages have. */
static const char *message_for(const char *row)
{
    static char message[1024];
    char text[2048];

    snprintf(text, sizeof text, "%s%s%s\n", header,
             "0,0,GET,1,k,,2026-01-01T00:00:00Z,2026-01-01T00:00:01Z\n", row);
    struct fingerprint r = read_text(text, false);
    assert_false(r.ok);
    assert_int_equal(r.n_rows, 1);
    const char *line = strchr(r.err.msg, ':');
    assert_non_null(line);
    const char *way_on = strstr(line, " (--salvage skips and counts what is damaged)");
    assert_non_null(way_on);
    snprintf(message, sizeof message, "%.*s", (int)(way_on - line - 1), line + 1);
    r = read_text(text, true);
    assert_true(r.ok);
    assert_int_equal(r.n_rows, 1);
    assert_int_equal(r.info.n_dropped[DROP_BAD_ROW], 1);
    return message;
}

static void test_messages(void **state)
{
    (void)state;
    assert_string_equal(message_for("1,0,GET,1,k,,2026-01-01T00:00:00Z"),
                        "3: 7 fields where the header has 8");
    assert_string_equal(message_for("stray"), "3: 1 field where the header has 8");
    assert_string_equal(message_for("1,x,GET,1,k,,2026-01-01T00:00:00Z,2026-01-01T00:00:01Z"),
                        "3: thread \"x\" is not an integer of 0 to 4294967295");
    assert_string_equal(message_for("1,0,GET,-1,k,,2026-01-01T00:00:00Z,2026-01-01T00:00:01Z"),
                        "3: bytes \"-1\" is not an integer of 0 to 9223372036854775807");
    assert_string_equal(message_for("1,0,,1,k,,2026-01-01T00:00:00Z,2026-01-01T00:00:01Z"),
                        "3: op is empty");
    assert_string_equal(message_for("1,0,GET,1,k,,2026-01-01T00:00:01Z,2026-01-01T00:00:00Z"),
                        "3: end is before start");
    assert_string_equal(
        message_for("1,0,GET,1,k,,2026-02-29T00:00:00Z,2026-03-01T00:00:01Z"),
        "3: start \"2026-02-29T00:00:00Z\" is not an RFC 3339 time of the years 1970 to 2262");
    assert_string_equal(message_for("1,0,\"GET,1,k,,2026-01-01T00:00:00Z,2026-01-01T00:00:01Z"),
                        "3: a quoted field is not closed on its line");
    assert_string_equal(message_for("1,0,GET,1,k,\"x,2026-01-01T00:00:00Z,2026-01-01T00:00:01Z"),
                        "3: a quoted field is never closed");
}

/* A header line in the middle of a file begins a new input, also with another delimiter and other
 * columns. */
static void test_second_header(void **state)
{
    (void)state;
    struct fingerprint r = read_text("idx,thread,op,bytes,file,error,start,end\n"
                                     "0,7,GET,1,k,,2026-01-01T00:00:00Z,2026-01-01T00:00:01Z\n"
                                     "op\tthread\tend\tstart\tbytes\n"
                                     "PUT\t1\t2026-01-01T00:00:03Z\t2026-01-01T00:00:02Z\t5\n",
                                     false);
    assert_true(r.ok);
    assert_int_equal(r.n_rows, 2);
    assert_int_equal(r.info.n_headers, 2);
    assert_int_equal(r.info.n_lines, 4);
}

static void test_headers(void **state)
{
    (void)state;
    struct fingerprint r = read_text("idx,thread,op,bytes,file,error,end\n", false);
    assert_false(r.ok);
    assert_non_null(strstr(r.err.msg, ":1: not a capture: no column \"start\" in the header line"));
    r = read_text("thread,op,bytes,start,end,op\n", false);
    assert_non_null(strstr(r.err.msg, ":1: column \"op\" stands twice in the header line"));
    r = read_text("# only a comment\n", false);
    assert_non_null(strstr(r.err.msg, ":1: not a capture: no header line"));
    r = read_text("{\"v\":1}\n", false);
    assert_non_null(strstr(r.err.msg, "JSON"));
    r = read_text("idx,thread,op,bytes,file,error,start,end\n", false);
    assert_true(r.ok);
    assert_int_equal(r.n_rows, 0);
}

/* A row of more than 1 MiB is bad, and only that row. */
static void test_long_row(void **state)
{
    static const char good[] = "0,0,GET,1,k,,2026-01-01T00:00:00Z,2026-01-01T00:00:01Z\n";
    static const size_t lengths[] = {RECORD_MAX_ROW_BYTES - 200, RECORD_MAX_ROW_BYTES + 1,
                                     5 * RECORD_MAX_ROW_BYTES};
    char *text = malloc(6 * RECORD_MAX_ROW_BYTES);

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < 3; i++) {
        size_t n = (size_t)sprintf(text, "%s%s0,0,GET,1,", header, good);
        memset(text + n, 'k', lengths[i]);
        n += lengths[i];
        n += (size_t)sprintf(text + n, ",,2026-01-01T00:00:00Z,2026-01-01T00:00:01Z\n%s", good);
        struct text_file f = text_file(text, n);
        struct fingerprint r = fingerprint_read(f.path, (struct recfile_options){.salvage = true});
        assert_true(r.ok);
        assert_int_equal(r.n_rows, i == 0 ? 3 : 2);
        assert_int_equal(r.info.n_dropped[DROP_BAD_ROW], i == 0 ? 0 : 1);
        assert_int_equal(r.info.n_lines, 4);
        r = fingerprint_read(f.path, (struct recfile_options){.salvage = false});
        assert_int_equal(r.ok, i == 0);
        if (i > 0)
            assert_non_null(strstr(r.err.msg, ":3: a row or comment of more than 1 MiB"));
        close(f.fd);
    }
    free(text);
}

/* ---- Frames ---- */

/* A capture being made: text that becomes frames, and the file. */
struct frames {
    char *text, *data;
    size_t n_text, n_data;
    uint32_t random;
};

#define FRAMES_TEXT_MAX (24u << 20)

static void frames_init(struct frames *f)
{
    *f = (struct frames){
        .text = malloc(FRAMES_TEXT_MAX), .data = malloc(FRAMES_TEXT_MAX), .random = 7};
    assert_non_null(f->text);
    assert_non_null(f->data);
}

static void frames_fini(struct frames *f)
{
    free(f->text);
    free(f->data);
}

static void add_text(struct frames *f, const char *text)
{
    size_t n = strlen(text);

    assert_true(f->n_text + n <= FRAMES_TEXT_MAX);
    memcpy(f->text + f->n_text, text, n);
    f->n_text += n;
}

/* Adds n good rows of eight columns, with keys of n_digits random digits, which cannot be
 * compressed. */
static void add_keyed_rows(struct frames *f, size_t n, size_t n_digits)
{
    for (size_t i = 0; i < n; i++) {
        char row[256], key[65];
        for (size_t k = 0; k < n_digits; k++)
            key[k] = "0123456789abcdef"[next_random(&f->random) >> 20];
        key[n_digits] = '\0';
        snprintf(row, sizeof row, "%zu,0,GET,%zu,%s,,2026-01-01T00:00:00Z,2026-01-01T00:00:01Z\n",
                 i, i, key);
        add_text(f, row);
    }
}

static void add_rows(struct frames *f, size_t n)
{
    add_keyed_rows(f, n, 64);
}

/* Puts the first n bytes of the text into a frame with a checksum. */
static void end_frame(struct frames *f, size_t n)
{
    ZSTD_CCtx *ctx = ZSTD_createCCtx();

    assert_non_null(ctx);
    ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1);
    size_t size = ZSTD_compress2(ctx, f->data + f->n_data, FRAMES_TEXT_MAX - f->n_data, f->text, n);
    assert_false(ZSTD_isError(size));
    ZSTD_freeCCtx(ctx);
    f->n_data += size;
    f->n_text -= n;
    memmove(f->text, f->text + n, f->n_text);
}

/* Puts the text so far into frames of 100,000 bytes, which end anywhere within rows. */
static void end_frames(struct frames *f)
{
    while (f->n_text > 0)
        end_frame(f, f->n_text < 100000 ? f->n_text : 100000);
}

static struct fingerprint read_frames(const struct frames *f, bool salvage, unsigned threads)
{
    struct text_file file = text_file(f->data, f->n_data);
    struct fingerprint r = fingerprint_read(
        file.path, (struct recfile_options){.salvage = salvage, .threads = threads});

    close(file.fd);
    return r;
}

/* Bad rows in any part of a capture that several threads read: the line of the first, and their
 * number. */
static void test_lines_of_many_units(void **state)
{
    static const size_t n_before[] = {10, 20000, 59990};
    enum { N = 60000 };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct frames f;
        char wanted[64];
        frames_init(&f);
        add_text(&f, header);
        add_rows(&f, n_before[i]);
        add_text(&f, "two,fields\n");
        add_rows(&f, N - n_before[i]);
        end_frames(&f);
        assert_true(f.n_data > 2 << 20); /* four units and more */
        snprintf(wanted, sizeof wanted, ":%zu: 2 fields where the header has 8", n_before[i] + 2);
        for (unsigned threads = 1; threads <= 4; threads += 3) {
            struct fingerprint r = read_frames(&f, false, threads);
            assert_false(r.ok);
            assert_non_null(strstr(r.err.msg, wanted));
            r = read_frames(&f, true, threads);
            assert_true(r.ok);
            assert_int_equal(r.n_rows, N);
            assert_int_equal(r.info.n_lines, N + 2);
            assert_int_equal(r.info.n_dropped[DROP_BAD_ROW], 1);
            assert_non_null(strstr(r.info.first_drop[DROP_BAD_ROW], wanted));
        }
        frames_fini(&f);
    }
}

/* Another header line, while threads ahead have read later units under the first one. */
static void test_header_of_later_units(void **state)
{
    enum { N = 40000 };
    struct frames f;

    (void)state;
    frames_init(&f);
    add_text(&f, header);
    add_rows(&f, N / 2);
    /* The number of fields is the same, so rows read under the wrong header line do not look
     * bad. */
    add_text(&f, "idx,thread,op,bytes,error,file,start,end\n");
    add_rows(&f, N);
    end_frames(&f);
    struct fingerprint one = read_frames(&f, false, 1);
    assert_true(one.ok);
    assert_int_equal(one.n_rows, N + N / 2);
    for (int round = 0; round < 3; round++) {
        struct fingerprint several = read_frames(&f, false, 4);
        assert_same(&one, &several);
    }
    frames_fini(&f);
}

/* A line that extends over two units, each of one frame: another header, a comment, or a bad
 * row. */
static void test_lines_across_units(void **state)
{
    static const char *const across[] = {"idx,thread,op,bytes,error,file,start,end\n",
                                         "# a comment of several words\n", "no,row,at,all\n"};

    (void)state;
    for (size_t k = 0; k < 3; k++)
        for (size_t cut = 0; cut <= strlen(across[k]); cut += 13) {
            struct frames f;
            frames_init(&f);
            add_text(&f, header);
            add_rows(&f, 20000);
            size_t n = f.n_text + cut;
            add_text(&f, across[k]);
            add_rows(&f, 20000);
            end_frame(&f, n);
            assert_true(f.n_data > 1 << 19);
            end_frame(&f, f.n_text);
            struct fingerprint one = read_frames(&f, true, 1), several = read_frames(&f, true, 4);
            assert_true(one.ok);
            assert_int_equal(one.info.n_headers, k == 0 ? 2 : 1);
            assert_int_equal(one.comments != 0, k == 1);
            assert_int_equal(one.info.n_dropped[DROP_BAD_ROW], k == 2);
            assert_same(&one, &several);
            frames_fini(&f);
        }
}

/* A comment over two units, after a header line: the second unit was begun under the old header
 * line, and is read again. */
static void test_comment_across_units(void **state)
{
    struct frames f;

    (void)state;
    frames_init(&f);
    add_text(&f, header);
    add_rows(&f, 20000);
    end_frame(&f, f.n_text);
    add_text(&f, "idx,thread,op,bytes,error,file,start,end\n");
    add_rows(&f, 20000);
    size_t n = f.n_text + 4;
    add_text(&f, "# one comment\n");
    add_rows(&f, 20000);
    end_frame(&f, n);
    end_frame(&f, f.n_text);
    struct fingerprint one = read_frames(&f, false, 1), several = read_frames(&f, false, 4);
    assert_true(one.ok);
    assert_int_equal(one.n_rows, 60000);
    assert_same(&one, &several);
    frames_fini(&f);
}

/* If the sink refuses a row that extends over two units, its message is reported. A thread may
 * reach a unit only when its turn has come; then no such row exists. */
static void test_refused_row_across_units(void **state)
{
    struct frames f;

    (void)state;
    frames_init(&f);
    add_text(&f, header);
    add_rows(&f, 60000);
    end_frames(&f);
    struct text_file file = text_file(f.data, f.n_data);
    for (int round = 0; round < 5; round++) {
        struct fingerprint r = {.refuse_single_rows = true};
        fingerprint_fill(&r, file.path, (struct recfile_options){.threads = 4});
        assert_true(r.ok || strstr(r.err.msg, ": a single row"));
    }
    close(file.fd);
    frames_fini(&f);
}

/* Units with more rows than one may hold wait for their turn in the middle. */
static void test_units_of_many_rows(void **state)
{
    enum { N = 150000 };
    struct frames f;

    (void)state;
    frames_init(&f);
    add_text(&f, header);
    for (int k = 0; k < 3; k++) {
        add_keyed_rows(&f, N, 8);
        size_t n_before = f.n_data;
        end_frame(&f, f.n_text);
        assert_true(f.n_data - n_before > 1 << 19);
    }
    struct fingerprint one = read_frames(&f, false, 1), several = read_frames(&f, false, 4);
    assert_true(one.ok);
    assert_int_equal(one.n_rows, 3 * N);
    assert_same(&one, &several);
    frames_fini(&f);
}

/* A wrong checksum makes the rows of its frame unverified, and no others. */
static void test_unverified_rows(void **state)
{
    static const size_t n_rows[] = {100, 50, 30};
    struct frames f;
    size_t end[3];

    (void)state;
    frames_init(&f);
    add_text(&f, header);
    for (size_t i = 0; i < 3; i++) {
        add_rows(&f, n_rows[i]);
        end_frame(&f, f.n_text);
        end[i] = f.n_data;
    }
    for (size_t i = 0; i < 3; i++) {
        f.data[end[i] - 1] ^= 1;
        struct fingerprint r = read_frames(&f, true, 1);
        assert_true(r.ok);
        assert_int_equal(r.n_rows, 180);
        assert_int_equal(r.info.n_unverified, n_rows[i]);
        r = read_frames(&f, false, 1);
        assert_false(r.ok);
        assert_non_null(strstr(r.err.msg, "checksum"));
        f.data[end[i] - 1] ^= 1;
    }
    frames_fini(&f);
}

/* After a lost frame the text may begin within a row. That rest is neither a row nor a bad row. */
static void test_rest_of_a_lost_row(void **state)
{
    /* One block of the reserved type. */
    static const char lost[] = "\x28\xb5\x2f\xfd\x20\x0a\x07\x00\x00";
    static const char row[] = "7,0,GET,1,k,,2026-01-01T00:00:00Z,2026-01-01T00:00:01Z\n";
    static const struct {
        const char *text;
        bool is_row;
    } cases[] = {{row, true}, {row + 2, false}, {row + 4, false}, {row + 20, false}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct frames f;
        frames_init(&f);
        add_text(&f, header);
        add_rows(&f, 10);
        end_frame(&f, f.n_text);
        memcpy(f.data + f.n_data, lost, sizeof lost - 1);
        f.n_data += sizeof lost - 1;
        add_text(&f, cases[i].text);
        add_rows(&f, 10);
        end_frame(&f, f.n_text);
        struct fingerprint r = read_frames(&f, true, 1);
        assert_true(r.ok);
        assert_int_equal(r.n_rows, 20 + cases[i].is_row);
        assert_int_equal(r.info.n_dropped[DROP_DAMAGED_FRAME], 1);
        assert_int_equal(r.info.n_dropped[DROP_BAD_ROW], 0);
        assert_int_equal(r.info.n_lines, 22);
        frames_fini(&f);
    }
}

/* ---- Files that change ---- */

/* A file that loses its second half when progress is first reported. */
struct shrinking {
    int fd;
    bool done;
};

static void cut_in_half(void *ctx, uint64_t n_read, uint64_t n_total)
{
    struct shrinking *s = ctx;

    if (!s->done && n_read > 0)
        assert_int_equal(ftruncate(s->fd, (off_t)(n_total / 2)), 0);
    s->done = true;
}

static void assert_shrinking_fails(const char *data, size_t n, unsigned threads, bool salvage)
{
    struct text_file f = text_file(data, n);
    struct shrinking s = {.fd = f.fd};
    struct fingerprint r =
        fingerprint_read(f.path, (struct recfile_options){.salvage = salvage,
                                                          .threads = threads,
                                                          .alone = true,
                                                          .progress = cut_in_half,
                                                          .progress_ctx = &s});

    assert_false(r.ok);
    assert_non_null(strstr(r.err.msg, "the file became shorter while it was read"));
    close(f.fd);
}

static void test_file_becomes_shorter(void **state)
{
    struct frames f;

    (void)state;
    frames_init(&f);
    add_text(&f, header);
    add_rows(&f, 80000);
    for (int salvage = 0; salvage <= 1; salvage++)
        assert_shrinking_fails(f.text, f.n_text, 1, salvage);
    end_frames(&f);
    assert_true(f.n_data > 2 << 20);
    for (int salvage = 0; salvage <= 1; salvage++)
        for (unsigned threads = 1; threads <= 2; threads++)
            assert_shrinking_fails(f.data, f.n_data, threads, salvage);
    frames_fini(&f);
}

/* Bytes that are no frame do not cost any rows of the frames after them, with any number of
 * threads. */
static void test_garbage_within_unit(void **state)
{
    enum { N = 40000 };
    struct frames f;

    (void)state;
    frames_init(&f);
    add_text(&f, header);
    for (int part = 0; part < 400; part++) {
        add_rows(&f, N / 400);
        end_frame(&f, f.n_text);
        if (part % 100 == 50) {
            memset(f.data + f.n_data, 'g', 1000);
            f.n_data += 1000;
        }
    }
    assert_true(f.n_data > 1 << 20);
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct fingerprint r = read_frames(&f, true, threads);
        assert_true(r.ok);
        assert_int_equal(r.info.n_dropped[DROP_GARBAGE], 4);
        assert_int_equal(r.n_rows, N);
    }
    frames_fini(&f);
}

/* A run of blank lines of either kind and any length counts as that many lines. */
static void test_blank_lines(void **state)
{
    static const char good[] = "0,0,GET,1,k,,2026-01-01T00:00:00Z,2026-01-01T00:00:01Z\n";

    (void)state;
    for (size_t n_lf = 0; n_lf < 40; n_lf += 3)
        for (size_t n_cr_lf = 0; n_cr_lf < 40; n_cr_lf += 7) {
            struct frames f;
            char wanted[64];
            frames_init(&f);
            for (int k = 0; k < 3; k++) {
                for (size_t i = 0; i < n_lf; i++)
                    add_text(&f, "\n");
                for (size_t i = 0; i < n_cr_lf; i++)
                    add_text(&f, "\r\n");
                add_text(&f, k == 0 ? header : k == 1 ? good : "bad\n");
            }
            struct text_file file = text_file(f.text, f.n_text);
            snprintf(wanted, sizeof wanted, ":%zu: 1 field", 3 * (n_lf + n_cr_lf) + 3);
            struct fingerprint r = fingerprint_read(file.path, (struct recfile_options){0});
            assert_false(r.ok);
            assert_non_null(strstr(r.err.msg, wanted));
            assert_int_equal(r.n_rows, 1);
            assert_ways_agree(file.path, true);
            close(file.fd);
            frames_fini(&f);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_captures),
        cmocka_unit_test(test_mutated_rows),
        cmocka_unit_test(test_seconds),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_second_header),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_long_row),
        cmocka_unit_test(test_lines_of_many_units),
        cmocka_unit_test(test_header_of_later_units),
        cmocka_unit_test(test_lines_across_units),
        cmocka_unit_test(test_comment_across_units),
        cmocka_unit_test(test_refused_row_across_units),
        cmocka_unit_test(test_units_of_many_rows),
        cmocka_unit_test(test_unverified_rows),
        cmocka_unit_test(test_rest_of_a_lost_row),
        cmocka_unit_test(test_file_becomes_shorter),
        cmocka_unit_test(test_garbage_within_unit),
        cmocka_unit_test(test_blank_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
