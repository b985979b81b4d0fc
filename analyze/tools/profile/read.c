#include "analyze/tools/profile/profile_internal.h"
#include "libcommon/mem.h"

#include <string.h>
#include <zlib.h>

/* Unpacks gzip into a new array. False: it is damaged, or larger than PROFILE_MAX_BYTES. */
static bool gunzip(const unsigned char *bytes, size_t n, char **to, size_t *n_to, struct err *e)
{
    const uInt room = PROFILE_MAX_BYTES + 1;
    z_stream z = {.next_in = (unsigned char *)bytes, .avail_in = (uInt)n, .avail_out = room};

    if (!mem_new(to, room, e))
        return false;
    z.next_out = (unsigned char *)*to;
    int status = inflateInit2(&z, 15 + 16);
    while (status == Z_OK) {
        status = inflate(&z, Z_NO_FLUSH);
        /* A gzip file of several members is one text. */
        if (status == Z_STREAM_END && z.avail_in > 0)
            status = inflateReset(&z);
    }
    inflateEnd(&z);
    *n_to = room - z.avail_out;
    if (z.avail_out == 0)
        return err_set(e, "more than %u MiB when unpacked", PROFILE_MAX_BYTES >> 20);
    if (status == Z_MEM_ERROR)
        return mem_none(e);
    return status == Z_STREAM_END || err_set(e, "its compressed data are damaged, or cut");
}

bool profile_add(struct profile *p, const unsigned char *bytes, size_t n, bool is_base,
                 struct err *e)
{
    char *unpacked = NULL;
    struct slice text = {(const char *)bytes, n};
    bool ok = true;

    if (n > PROFILE_MAX_BYTES)
        return err_set(e, "more than %u MiB", PROFILE_MAX_BYTES >> 20);
    if (n >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) {
        ok = gunzip(bytes, n, &unpacked, &text.n, e);
        text.p = unpacked;
    }
    p->n_bytes += text.n;
    if (ok && p->n_bytes > PROFILE_MAX_ALL_BYTES)
        ok = err_set(e, "with the profiles before it more than %zu MiB when unpacked",
                     PROFILE_MAX_ALL_BYTES >> 20);
    else if (ok && text.n == 0)
        ok = err_set(e, "it is empty");
    else if (ok && text.n >= 4 && memcmp(text.p, "\x28\xb5\x2f\xfd", 4) == 0)
        ok = err_set(e, "no profile: it is compressed by zstd, as captures are");
    else if (ok)
        ok = perf_script_is(text) ? perf_script_add(p, text, is_base, e)
                                  : proto_add(p, text, is_base, e);
    free(unpacked);
    p->has_base |= is_base;
    p->n_profiles++;
    /* Samples of a difference that are equal, up to their labels, would first have to be added. */
    if (ok && p->has_negative && p->n_profiles > 1)
        ok = err_set(e, "a difference that was saved does not add up with other profiles");
    return ok;
}
