/* Captures of any bytes: every way to read one gives the same rows, the same message and the same
 * count of what was dropped. The slow way is libcsv, the fast one ours, so this compares the two
 * parsers as well.
 *
 * Input: a byte that says what the rest is: 0 a capture as it stands (plain or zstd), else text to
 * be compressed in frames of 16 times so many bytes. */
#include "tests/fuzz/fuzz.h"
#include "tests/unit/fingerprint.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

static void check_record(const struct fingerprint *f)
{
    assert(f->n_rows == f->info.n_rows);
    assert(f->ok == (f->err.msg[0] == '\0'));
    assert(strchr(f->err.msg, '\n') == NULL);
    for (int i = 0; i < N_DROPS; i++)
        assert((f->info.n_dropped[i] == 0) == (f->info.first_drop[i][0] == '\0'));
}

static void check_same(const struct fingerprint *a, const struct fingerprint *b)
{
    assert(a->ok == b->ok);
    assert(strcmp(a->err.msg, b->err.msg) == 0);
    assert(a->n_rows == b->n_rows && a->hash == b->hash);
    assert(memcmp(a->info.n_dropped, b->info.n_dropped, sizeof a->info.n_dropped) == 0);
    assert(a->info.n_unverified == b->info.n_unverified);
    assert(a->info.n_lines == b->info.n_lines && a->info.n_headers == b->info.n_headers);
    for (int i = 0; i < N_DROPS; i++)
        assert(strcmp(a->info.first_drop[i], b->info.first_drop[i]) == 0);
}

/* Reads it in all ways; gives the plainest. */
static struct fingerprint read_all_ways(const char *path, bool salvage)
{
    static const struct recfile_options ways[] = {
        {.threads = 1, .all_slow = true},
        {.threads = 1, .portable = true, .chunk_bytes = 4096},
        {.threads = 3},
        {.threads = 1, .alone = true, .chunk_bytes = 2u << 20},
    };
    struct fingerprint plain =
        fingerprint_read(path, (struct recfile_options){.threads = 1, .salvage = salvage});

    check_record(&plain);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct recfile_options way = ways[i];
        way.salvage = salvage;
        struct fingerprint other = fingerprint_read(path, way);
        check_same(&plain, &other);
    }
    return plain;
}

/* A pipe cannot be looked at twice; undamaged captures give the same. */
static void check_pipe(const void *data, size_t n, const struct fingerprint *expected)
{
    int ends[2];
    char path[32];

    if (n > 4096)
        return;
    assert(pipe2(ends, O_CLOEXEC) == 0 && write(ends[1], data, n) == (ssize_t)n);
    close(ends[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    struct fingerprint piped = fingerprint_read(path, (struct recfile_options){.threads = 2});
    assert(piped.ok == expected->ok);
    if (piped.ok)
        assert(piped.n_rows == expected->n_rows && piped.hash == expected->hash);
    close(ends[0]);
}

static void check_capture(const void *data, size_t n)
{
    struct fuzz_file file = fuzz_file(data, n);
    struct fingerprint strict = read_all_ways(file.path, false);
    struct fingerprint salvaged = read_all_ways(file.path, true);

    /* Salvage drops nothing of what is whole, and no row before the first damage. */
    assert(salvaged.n_rows >= strict.n_rows);
    if (strict.ok) {
        assert(salvaged.ok && salvaged.hash == strict.hash);
        for (int i = 0; i < N_DROPS; i++)
            assert(salvaged.info.n_dropped[i] == 0);
    }
    check_pipe(data, n, &strict);
    close(file.fd);
}

/* Compresses the text in frames, with a checksum each. */
static char *compress(const uint8_t *text, size_t n, size_t frame_bytes, size_t *n_out)
{
    size_t n_frames = n / frame_bytes + 1;
    size_t cap = n_frames * ZSTD_compressBound(frame_bytes);
    char *out = malloc(cap);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();

    assert(out != NULL && zstd != NULL);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
    *n_out = 0;
    do {
        size_t part = n < frame_bytes ? n : frame_bytes;
        size_t got = ZSTD_compress2(zstd, out + *n_out, cap - *n_out, text, part);
        assert(!ZSTD_isError(got));
        *n_out += got;
        text += part;
        n -= part;
    } while (n > 0);
    ZSTD_freeCCtx(zstd);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_input in = {data, n};
    size_t frame_bytes = 16 * (size_t)fuzz_take(&in, 1);

    if (frame_bytes == 0) {
        check_capture(in.p, in.n);
    } else {
        size_t n_packed;
        char *packed = compress(in.p, in.n, frame_bytes, &n_packed);
        struct fuzz_file text = fuzz_file(in.p, in.n);
        struct fingerprint plain =
            fingerprint_read(text.path, (struct recfile_options){.threads = 1, .salvage = true});
        struct fuzz_file frames = fuzz_file(packed, n_packed);
        struct fingerprint framed =
            fingerprint_read(frames.path, (struct recfile_options){.threads = 1, .salvage = true});
        check_capture(packed, n_packed);
        /* Frames do not change what the text says, which may begin like a zstd frame, or like a
         * format of others. */
        if (plain.ok && !plain.info.compressed)
            assert(framed.ok && plain.n_rows == framed.n_rows && plain.hash == framed.hash);
        close(text.fd);
        close(frames.fd);
        free(packed);
    }
    return 0;
}
