/* The ring buffer that zreader decompresses into. Frames with windows of any size, in pieces of any
 * size, give the text that was compressed. Pieces that were returned stay in place as long as
 * requested. */
#include "analyze/read/rowindex.h"
#include "analyze/read/zreader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#define TEXT_BYTES ((size_t)9 << 20)
#define FRONT      ((size_t)4096)
#define MAX_PIECES 64

static char *text; /* compresses well, with matches near and far */
static char path[32];

static void make_text(void)
{
    unsigned random = 1;

    text = malloc(TEXT_BYTES);
    assert_non_null(text);
    for (size_t i = 0; i < TEXT_BYTES; i++) {
        random = random * 1103515245 + 12345;
        bool again = i > 70000 && random >> 16 & 0x3f;
        text[i] = again ? text[i - 70000] : (char)('a' + (random >> 24) % 16);
    }
}

/* A file of frames whose windows grow and shrink, with a skippable frame and an empty one. */
static void make_file(void)
{
    const int window_log[] = {17, 10, 20, 17, 23, 22};
    const size_t n_frames = sizeof window_log / sizeof *window_log;
    const char skippable[] = "\x50\x2a\x4d\x18\x03\0\0\0abc";
    size_t cap = ZSTD_compressBound(TEXT_BYTES), each = TEXT_BYTES / n_frames;
    char *out = malloc(cap);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    int fd = memfd_create("frames", 0);

    assert_true(out != NULL && zstd != NULL && fd >= 0);
    for (size_t k = 0; k < n_frames; k++) {
        size_t n = k + 1 < n_frames ? each : TEXT_BYTES - k * each;
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, window_log[k]);
        /* Compress as a stream: otherwise the window would be as large as the frame. */
        ZSTD_inBuffer in = {text + k * each, n, 0};
        ZSTD_outBuffer to = {out, cap, 0};
        assert_false(ZSTD_isError(ZSTD_compressStream2(zstd, &to, &in, ZSTD_e_continue)));
        assert_int_equal(ZSTD_compressStream2(zstd, &to, &in, ZSTD_e_end), 0);
        assert_int_equal(write(fd, out, to.pos), to.pos);
        assert_int_equal(write(fd, skippable, sizeof skippable - 1), sizeof skippable - 1);
        size_t empty = ZSTD_compress2(zstd, out, cap, "", 0);
        assert_int_equal(write(fd, out, empty), empty);
    }
    ZSTD_freeCCtx(zstd);
    free(out);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
}

/* Pieces that were returned, the latest first. */
struct given {
    const char *text;
    size_t at, n; /* where in the whole text */
};

/* Checks the pieces after which less than `keep` was returned. */
static void assert_in_place(const struct given *given, size_t n_given, size_t keep)
{
    size_t since = 0;

    for (size_t i = 0; i < n_given && since <= keep; i++) {
        assert_memory_equal(given[i].text, text + given[i].at, given[i].n);
        since += given[i].n + ROWINDEX_PADDING;
    }
}

static void read_in_pieces(size_t piece_bytes, size_t keep)
{
    struct zsource source;
    struct err e = {0};
    struct zreader *r = zreader_new(piece_bytes, FRONT, &e);

    assert_true(r != NULL && zsource_open(&source, path, &e));
    for (int again = 0; again < 2; again++) { /* the second time the ring buffer exists already */
        struct given given[MAX_PIECES];
        struct zresult result = {0};
        size_t at = 0, n_given = 0, n_alone = 0;
        assert_true(zreader_range(r, &source, 0, UINT64_MAX, keep, again));
        while (result.event != ZEVENT_END) {
            zreader_read(r, &result);
            assert_true(result.n <= piece_bytes && at + result.n <= TEXT_BYTES);
            assert_true(result.event == ZEVENT_MORE || result.event == ZEVENT_FRAME_END ||
                        result.event == ZEVENT_END);
            n_alone += n_given && given[0].text + given[0].n != result.text;
            n_given -= n_given == MAX_PIECES;
            memmove(given + 1, given, n_given * sizeof *given);
            given[0] = (struct given){result.text, at, result.n};
            n_given++;
            at += result.n;
            assert_in_place(given, n_given, keep);
        }
        assert_int_equal(at, TEXT_BYTES);
        assert_int_equal(zreader_counts(r).n_frames, 12);
        assert_int_equal(zreader_counts(r).n_skippable, 6);
        /* Most pieces follow the one before in memory. Exceptions are the first of a frame, and
         * those where the ring buffer wraps around. */
        assert_true(n_alone < 60);
    }
    zsource_close(&source);
    zreader_free(r);
}

static void test_pieces(void **state)
{
    (void)state;
    read_in_pieces(1000, 0);
    read_in_pieces(1000, 20000);
    read_in_pieces((64 << 10) + 1, 1 << 20);
    read_in_pieces(512 << 10, 2 << 20);
    read_in_pieces(TEXT_BYTES, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces)};

    make_text();
    make_file();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(text);
    return failed;
}
