#include "analyze/write/zstdout.h"

#include "libcommon/mem.h"

#include <stdlib.h>
#include <zstd.h>

#define OUT_BYTES (128 << 10)

struct zstdout {
    FILE *to;
    ZSTD_CCtx *zstd;
    char out[OUT_BYTES];
};

static bool pass_on(struct zstdout *z, const char *bytes, size_t n, ZSTD_EndDirective how)
{
    ZSTD_inBuffer in = {bytes, n, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {z->out, sizeof z->out, 0};
        left = ZSTD_compressStream2(z->zstd, &out, &in, how);
        if (ZSTD_isError(left) || fwrite(z->out, 1, out.pos, z->to) != out.pos)
            return false;
    } while (how == ZSTD_e_end ? left > 0 : in.pos < in.size);
    return true;
}

static ssize_t on_write(void *cookie, const char *bytes, size_t n)
{
    return pass_on(cookie, bytes, n, ZSTD_e_continue) ? (ssize_t)n : 0;
}

static void zstdout_free(struct zstdout *z)
{
    ZSTD_freeCCtx(z->zstd);
    free(z);
}

static int on_close(void *cookie)
{
    bool ok = pass_on(cookie, NULL, 0, ZSTD_e_end);
    zstdout_free(cookie);
    return ok ? 0 : EOF;
}

FILE *zstdout_open(FILE *to, int level, struct err *e)
{
    const cookie_io_functions_t functions = {.write = on_write, .close = on_close};
    struct zstdout *z;
    FILE *f = NULL;

    if (!mem_new(&z, 1, e))
        return NULL;
    z->to = to;
    z->zstd = ZSTD_createCCtx();
    if (z->zstd != NULL &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(z->zstd, ZSTD_c_compressionLevel, level)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(z->zstd, ZSTD_c_checksumFlag, 1)))
        f = fopencookie(z, "w", functions);
    if (f == NULL) {
        zstdout_free(z);
        mem_none(e);
    }
    return f;
}
