/* The fast path against the reference parser (libcsv), SIMD against portable code, and one thread
 * against several: the same rows, in the same order, from captures and from mutated rows. */
#include "intern.h"
#include "recfile.h"
#include "row_csv.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* A fingerprint of the rows in the order in which they were committed. */
struct result {
    bool ok;
    uint64_t hash, n_rows;
    struct err err;
    struct recfile_info info;
};

struct held {
    uint64_t *hashes;
    size_t n, cap;
};

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
    return (h ^ intern_hash(p, n)) * UINT64_C(0x9e3779b97f4a7c15) + n;
}

static uint64_t record_hash(const struct record *r)
{
    const int64_t numbers[] = {r->start_ns,     r->end_ns,       r->first_byte_ns,
                               r->last_byte_ns, r->intended_ns,  r->bytes,
                               r->n_objects,    (int64_t)r->cat, r->thread};
    const struct slice texts[] = {r->op, r->client, r->endpoint, r->file, r->error};
    uint64_t h = mix(1, numbers, sizeof numbers);

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        h = mix(h, texts[i].p, texts[i].n);
    return h;
}

static void *unit_new(void *ctx, struct err *e)
{
    (void)ctx, (void)e;
    return calloc(1, sizeof(struct held));
}

static void unit_free(void *ctx, void *unit)
{
    (void)ctx;
    free(((struct held *)unit)->hashes);
    free(unit);
}

static bool unit_rows(void *ctx, void *unit, const struct record *rows, size_t n, struct err *e)
{
    struct held *h = unit;

    (void)ctx, (void)e;
    if (h->n + n > h->cap) {
        h->cap = (h->n + n) * 2;
        h->hashes = realloc(h->hashes, h->cap * sizeof *h->hashes);
        if (!h->hashes)
            return false;
    }
    for (size_t i = 0; i < n; i++)
        h->hashes[h->n++] = record_hash(&rows[i]);
    return true;
}

static bool unit_commit(void *ctx, void *unit, uint32_t input, struct err *e)
{
    struct result *r = ctx;
    struct held *h = unit;

    (void)e;
    for (size_t i = 0; i < h->n; i++) {
        const uint64_t row[] = {h->hashes[i], input};
        r->hash = mix(r->hash, row, sizeof row);
    }
    r->n_rows += h->n;
    h->n = 0;
    return true;
}

static struct result read_with(const char *path, struct recfile_options options)
{
    struct result r = {0};
    struct recfile_sink sink = {.ctx = &r,
                                .unit_new = unit_new,
                                .unit_rows = unit_rows,
                                .unit_commit = unit_commit,
                                .unit_free = unit_free};

    options.slow_row = row_csv_parse;
    options.slow_new = row_csv_new;
    options.slow_free = row_csv_free;
    r.ok = recfile_read(path, &options, &sink, &r.info, &r.err);
    return r;
}

static void assert_same(const struct result *a, const struct result *b)
{
    assert_int_equal(a->ok, b->ok);
    assert_string_equal(a->err.msg, b->err.msg);
    assert_int_equal(a->n_rows, b->n_rows);
    assert_true(a->hash == b->hash);
    assert_memory_equal(a->info.n_dropped, b->info.n_dropped, sizeof a->info.n_dropped);
    for (int i = 0; i < N_DROPS; i++)
        assert_string_equal(a->info.first_drop[i], b->info.first_drop[i]);
    assert_int_equal(a->info.n_lines, b->info.n_lines);
}

/* Every way to read one file gives the same. */
static void assert_ways_agree(const char *path, bool salvage)
{
    struct result fast = read_with(path, (struct recfile_options){.salvage = salvage});
    struct result slow =
        read_with(path, (struct recfile_options){.salvage = salvage, .all_slow = true});
    struct result portable = read_with(
        path, (struct recfile_options){.salvage = salvage, .portable = true, .threads = 1});
    struct result threads =
        read_with(path, (struct recfile_options){.salvage = salvage, .threads = 5});

    assert_same(&fast, &slow);
    assert_same(&fast, &portable);
    assert_same(&fast, &threads);
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
        struct result r = read_with(path, (struct recfile_options){0});
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

/* -- text in memory ------------------------------------------------------------------------------
 */

struct text_file {
    int fd;
    char path[64];
};

static struct text_file text_file(const char *text, size_t n)
{
    struct text_file f = {.fd = memfd_create("capture", 0)};

    assert_true(f.fd >= 0);
    assert_int_equal(write(f.fd, text, n), (ssize_t)n);
    /* Opened anew each time: the offset is 0. */
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

/* Captures of a few rows with bytes changed, put in or taken out: both parsers must agree on what
 * is a row, and on what is wrong with the others. */
static void test_mutated_rows(void **state)
{
    static const char alphabet[] = "\"\"\"\t\t\n\r,#0159TZ:.-+ ax\xff";
    uint32_t random = 1;
    size_t n_good = 0, n_dropped = 0;

    (void)state;
    for (int round = 0; round < 4000; round++) {
        char text[4096];
        size_t n = 0;
        for (int row = 0; row < 10; row++) {
            const char *s = seeds[row == 0 ? 0 : next_random(&random) % 7];
            memcpy(text + n, s, strlen(s));
            n += strlen(s);
        }
        for (uint32_t k = next_random(&random) % 6; k > 0; k--) {
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
        struct result r = read_with(f.path, (struct recfile_options){.salvage = true});
        n_good += r.n_rows;
        n_dropped += r.info.n_dropped[DROP_BAD_ROW];
        close(f.fd);
    }
    assert_true(n_good > 10000);
    assert_true(n_dropped > 1000);
}

static const char header[] = "idx,thread,op,bytes,file,error,start,end\n";

static struct result read_text(const char *text, bool salvage)
{
    struct text_file f = text_file(text, strlen(text));
    struct result r = read_with(f.path, (struct recfile_options){.salvage = salvage});

    close(f.fd);
    return r;
}

/* The message for one bad row behind the header and a good row, without the file's name. */
static const char *message_for(const char *row)
{
    static char message[1024];
    char text[2048];

    snprintf(text, sizeof text, "%s%s%s\n", header,
             "0,0,GET,1,k,,2026-01-01T00:00:00Z,2026-01-01T00:00:01Z\n", row);
    struct result r = read_text(text, false);
    assert_false(r.ok);
    assert_int_equal(r.n_rows, 1);
    const char *line = strchr(r.err.msg, ':');
    assert_non_null(line);
    snprintf(message, sizeof message, "%s", line + 1);
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

/* A header line in mid-file is a new input, under another delimiter and other columns too. */
static void test_second_header(void **state)
{
    (void)state;
    struct result r = read_text("idx,thread,op,bytes,file,error,start,end\n"
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
    struct result r = read_text("idx,thread,op,bytes,file,error,end\n", false);
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
    static const size_t lengths[] = {RECFILE_MAX_ROW_BYTES - 200, RECFILE_MAX_ROW_BYTES + 1,
                                     5 * RECFILE_MAX_ROW_BYTES};
    char *text = malloc(6 * RECFILE_MAX_ROW_BYTES);

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < 3; i++) {
        size_t n = (size_t)sprintf(text, "%s%s0,0,GET,1,", header, good);
        memset(text + n, 'k', lengths[i]);
        n += lengths[i];
        n += (size_t)sprintf(text + n, ",,2026-01-01T00:00:00Z,2026-01-01T00:00:01Z\n%s", good);
        struct text_file f = text_file(text, n);
        struct result r = read_with(f.path, (struct recfile_options){.salvage = true});
        assert_true(r.ok);
        assert_int_equal(r.n_rows, i == 0 ? 3 : 2);
        assert_int_equal(r.info.n_dropped[DROP_BAD_ROW], i == 0 ? 0 : 1);
        assert_int_equal(r.info.n_lines, 4);
        r = read_with(f.path, (struct recfile_options){.salvage = false});
        assert_int_equal(r.ok, i == 0);
        if (i > 0)
            assert_non_null(strstr(r.err.msg, ":3: a row of more than 1 MiB"));
        close(f.fd);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_captures), cmocka_unit_test(test_mutated_rows),
        cmocka_unit_test(test_messages), cmocka_unit_test(test_second_header),
        cmocka_unit_test(test_headers),  cmocka_unit_test(test_long_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
