#include "analyze/read/aggbytes.h"

#include "libcommon/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define INPUT_BYTES (64 << 10)

bool aggbytes_open(struct aggbytes *b, const char *path, struct err *e)
{
    memset(b, 0, sizeof *b);
    if (!zsource_open(&b->source, path, e))
        return false;
    if (!mem_new(&b->in, INPUT_BYTES, e))
        return false;
    if (b->source.compressed && (b->zstd = ZSTD_createDCtx()) == NULL)
        return mem_none(e);
    if (!b->source.seekable) {
        memcpy(b->in, b->source.first, b->source.n_first);
        b->n = b->position = b->source.n_first;
    }
    return true;
}

void aggbytes_close(struct aggbytes *b)
{
    zsource_close(&b->source);
    free(b->in);
    ZSTD_freeDCtx(b->zstd);
    memset(b, 0, sizeof *b);
}

/* Refills `in` from the file if all of it is used. */
static bool fill(struct aggbytes *b, struct err *why)
{
    if (b->at < b->n || b->ended)
        return true;
    ssize_t got = zsource_read(&b->source, b->in, INPUT_BYTES, b->position);
    if (got < 0)
        return err_errno(why, errno, "cannot read");
    b->at = 0;
    b->n = (size_t)got;
    b->position += (uint64_t)got;
    b->ended = got == 0;
    return true;
}

static bool more_plain(struct aggbytes *b, char *buf, size_t n, size_t *got, struct err *why)
{
    if (!fill(b, why))
        return false;
    *got = b->n - b->at < n ? b->n - b->at : n;
    memcpy(buf, b->in + b->at, *got);
    b->at += *got;
    return true;
}

bool aggbytes_more(void *bytes, char *buf, size_t n, size_t *got, struct err *why)
{
    struct aggbytes *b = bytes;
    ZSTD_outBuffer out = {buf, n, 0};
    *got = 0;
    if (b->zstd == NULL)
        return more_plain(b, buf, n, got, why);
    while (out.pos == 0) {
        if (!fill(b, why))
            return false;
        if (b->frame_ended)
            return b->ended ||
                   err_set(why, "something follows the zstd frame, which should be the only one");
        ZSTD_inBuffer in = {b->in, b->n, b->at};
        size_t status = ZSTD_decompressStream(b->zstd, &out, &in);
        if (ZSTD_isError(status))
            return err_set(why, "the zstd frame is damaged: %s", ZSTD_getErrorName(status));
        bool is_stuck = b->ended && out.pos == 0 && status != 0;
        b->at = in.pos;
        b->frame_ended = status == 0;
        if (is_stuck)
            return err_set(why, "the zstd frame is cut: the file ends within it");
    }
    *got = out.pos;
    return true;
}

/* Reads up to n bytes from the beginning of a file's text and returns how many. 0: it cannot be
 * read, or is a pipe, which can be read only once. */
static size_t beginning_of(const char *path, char *buf, size_t n)
{
    struct aggbytes b;
    struct stat st;
    size_t got = 0, more = 1;
    bool is_file = strcmp(path, "-") == 0
                       ? fstat(STDIN_FILENO, &st) == 0 && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0
                       : stat(path, &st) == 0;

    if (!is_file || !S_ISREG(st.st_mode))
        return 0;
    bool ok = aggbytes_open(&b, path, NULL);
    for (; ok && got < n && more > 0; got += more)
        ok = aggbytes_more(&b, buf + got, n - got, &more, NULL);
    /* Rewinds standard input for the next reader. */
    if (strcmp(path, "-") == 0 && lseek(STDIN_FILENO, 0, SEEK_SET) != 0)
        got = 0;
    aggbytes_close(&b);
    return got;
}

enum aggbytes_kind aggbytes_kind(const char *path)
{
    char text[sizeof AGGBYTES_SUMS - 1];
    size_t n = beginning_of(path, text, sizeof text);

    if (n == 0 || *text != '{')
        return AGGBYTES_NONE;
    return n == sizeof text && memcmp(text, AGGBYTES_SUMS, n) == 0 ? AGGBYTES_OF_SUMS
                                                                   : AGGBYTES_FOREIGN;
}
