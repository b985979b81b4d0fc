#include "analyze/read/aggpipe.h"

#include "analyze/base/tempfile.h"
#include "analyze/read/zsource.h"
#include "libcommon/mem.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* zstd decodes a block only when it has all of it; the first block is no longer than this. */
#define HEAD_BYTES (256 << 10)

static bool read_more(char *buf, size_t n, size_t *got, struct err *e)
{
    ssize_t just = TEMP_FAILURE_RETRY(read(STDIN_FILENO, buf, n));

    *got = just > 0 ? (size_t)just : 0;
    return just >= 0 || err_errno(e, errno, "cannot read standard input");
}

/* The bytes that were taken from the pipe. */
struct head {
    char *text; /* HEAD_BYTES */
    size_t n;
};

/* Copies *h and the rest of standard input to a temporary file, which becomes standard input. */
static bool spool(const struct head *h, struct err *e)
{
    uint64_t size;
    int fd = tempfile_of_pipe(STDIN_FILENO, "<stdin>", h->text, h->n, &size, e);
    bool ok = fd >= 0 &&
              (dup2(fd, STDIN_FILENO) >= 0 || err_errno(e, errno, "cannot read standard input"));

    if (fd >= 0)
        close(fd);
    return ok;
}

/* Reads until the first byte is known, decompressed if need be. *is_json: it begins a JSON object.
 */
static bool read_head(struct head *h, bool *is_json, struct err *e)
{
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    char first = '\0';
    ZSTD_outBuffer out = {&first, 1, 0};
    size_t got = 1, status = 1;
    bool ok = (zstd != NULL || mem_none(e)) && mem_new(&h->text, HEAD_BYTES, e);
    for (size_t at = 0; ok && got > 0 && out.pos == 0 && status != 0 && h->n < HEAD_BYTES;) {
        ok = read_more(h->text + h->n, HEAD_BYTES - h->n, &got, e);
        h->n += got;
        if (h->n > 0 && *h->text == '{') {
            first = '{';
            break;
        }
        ZSTD_inBuffer in = {h->text, h->n, at};
        do
            status = ZSTD_decompressStream(zstd, &out, &in);
        while (!ZSTD_isError(status) && status != 0 && out.pos == 0 && in.pos < in.size);
        at = in.pos;
        if (ZSTD_isError(status))
            status = 0;
    }
    *is_json = first == '{';
    ZSTD_freeDCtx(zstd);
    return ok;
}

bool aggpipe_spool(const char *const *paths, size_t n, struct err *e)
{
    struct stat st;
    struct head h = {0};
    bool reads_stdin = false, is_json = false;

    for (size_t i = 0; i < n; i++)
        reads_stdin |= strcmp(paths[i], "-") == 0;
    if (!reads_stdin || fstat(STDIN_FILENO, &st) != 0 || !S_ISFIFO(st.st_mode))
        return true;
    bool ok = read_head(&h, &is_json, e) && (!is_json || spool(&h, e));
    if (ok && !is_json)
        zsource_put_back(h.text, h.n);
    else
        free(h.text);
    return ok;
}
