/* Captures with any content: every way to read one gives the same rows, the same message and the
 * same count of what was dropped. The slow way is libcsv, the fast way our parser, so this compares
 * the two parsers as well.
 *
 * Input: a byte that says which two ways are compared, and whether damage is skipped; a byte n;
 * then for n = 0 a capture (plain or zstd), else text that is compressed in frames of 16 n bytes.
 */
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

/* Units may begin at bytes that look like a frame within damage. What follows is then reported as
 * corrupted data, while a reading from the start says that there is no frame. Both name the file
 * and the line, so the target compares messages only without units. */
static void check_same(const struct fingerprint *a, const struct fingerprint *b, bool units)
{
    assert(a->ok == b->ok);
    assert(units || strcmp(a->err.msg, b->err.msg) == 0);
    assert(a->n_rows == b->n_rows && a->hash == b->hash);
    assert(memcmp(a->info.n_dropped, b->info.n_dropped, sizeof a->info.n_dropped) == 0);
    assert(a->info.n_unverified == b->info.n_unverified);
    /* It is not defined how far units after the first damage are read. */
    assert(!a->ok ||
           (a->info.n_lines == b->info.n_lines && a->info.n_headers == b->info.n_headers));
    for (int i = 0; i < N_DROPS; i++)
        assert(strcmp(a->info.first_drop[i], b->info.first_drop[i]) == 0);
}

/* Small pieces, as allocating a large ring costs more than the reading. */
#define PIECE_BYTES 4096

static const struct recfile_options plain_way = {.threads = 1, .chunk_bytes = PIECE_BYTES};
static const struct recfile_options other_ways[] = {
    {.threads = 1, .chunk_bytes = PIECE_BYTES, .all_slow = true},
    {.threads = 1, .chunk_bytes = PIECE_BYTES, .portable = true},
    {.threads = 1, .chunk_bytes = 16 * PIECE_BYTES},
    {.threads = 2, .chunk_bytes = PIECE_BYTES, .unit_bytes = 1},
};
#define N_WAYS (sizeof other_ways / sizeof *other_ways)

static struct fingerprint read_in(const char *path, struct recfile_options way, bool salvage)
{
    way.salvage = salvage;
    struct fingerprint f = fingerprint_read(path, way);
    check_record(&f);
    return f;
}

/* A pipe can be read only once; undamaged captures give the same result. */
static void check_pipe(const void *data, size_t n, const struct fingerprint *expected)
{
    int ends[2];
    char path[32];

    if (n > 4096)
        return;
    assert(pipe2(ends, O_CLOEXEC) == 0 && write(ends[1], data, n) == (ssize_t)n);
    close(ends[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    struct fingerprint piped = fingerprint_read(path, plain_way);
    assert(piped.ok == expected->ok);
    if (piped.ok)
        assert(piped.n_rows == expected->n_rows && piped.hash == expected->hash);
    close(ends[0]);
}

/* Salvage drops nothing of an undamaged capture, and no row before the first damage. */
static void check_salvage(const char *path, const struct fingerprint *strict)
{
    struct fingerprint salvaged = read_in(path, plain_way, true);

    assert(salvaged.n_rows >= strict->n_rows);
    if (strict->ok) {
        assert(salvaged.ok && salvaged.hash == strict->hash);
        for (int i = 0; i < N_DROPS; i++)
            assert(salvaged.info.n_dropped[i] == 0);
    }
}

/* Compresses the text in frames, with a checksum each. */
static char *compress(const uint8_t *text, size_t n, size_t frame_bytes, size_t *n_out)
{
    size_t n_frames = n / frame_bytes + 1;
    size_t cap = n_frames * ZSTD_compressBound(frame_bytes);
    char *out = malloc(cap);
    static ZSTD_CCtx *zstd;

    if (zstd == NULL)
        zstd = ZSTD_createCCtx();
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
    return out;
}

/* Frames do not change the meaning of the text, even if it begins like a zstd frame or another
 * format. */
static void check_frames(const uint8_t *text, size_t n, const char *path)
{
    struct fuzz_file file = fuzz_file(text, n);
    struct fingerprint plain = read_in(file.path, plain_way, true);

    if (plain.ok && !plain.info.compressed) {
        struct fingerprint framed = read_in(path, plain_way, true);
        assert(framed.ok && plain.n_rows == framed.n_rows && plain.hash == framed.hash);
    }
    close(file.fd);
}

enum { PIPE = N_WAYS, SALVAGE, FRAMES, N_CHECKS };

/* One of the checks; `text` is the content of `file`, uncompressed. */
static void check(unsigned which, bool salvage, const struct fuzz_file *file, const void *data,
                  size_t n_data, const struct fuzz_input *text, bool frames)
{
    if (which == FRAMES && frames) {
        check_frames(text->p, text->n, file->path);
        return;
    }
    /* The number of damaged stretches depends on the units that begin in them. */
    bool units = which < N_WAYS && other_ways[which].unit_bytes > 0;
    salvage = salvage && which < N_WAYS && !units;
    struct fingerprint plain = read_in(file->path, plain_way, salvage);
    if (which < N_WAYS) {
        struct fingerprint other = read_in(file->path, other_ways[which], salvage);
        check_same(&plain, &other, units);
    } else if (which == PIPE) {
        check_pipe(data, n_data, &plain);
    } else {
        check_salvage(file->path, &plain);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_input in = {data, n};
    unsigned choice = (unsigned)fuzz_take(&in, 1);
    size_t frame_bytes = 16 * (size_t)fuzz_take(&in, 1), n_stored = in.n;
    char *packed = frame_bytes > 0 ? compress(in.p, in.n, frame_bytes, &n_stored) : NULL;
    const void *stored = packed != NULL ? packed : (const void *)in.p;
    struct fuzz_file file = fuzz_file(stored, n_stored);

    for (unsigned c = 0; c < 2 * N_CHECKS; c++)
        if (fuzz_all || c == choice % (2 * N_CHECKS))
            check(c / 2, c % 2, &file, stored, n_stored, &in, packed != NULL);
    close(file.fd);
    free(packed);
    return 0;
}
