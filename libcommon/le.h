/* Numbers in little-endian order, as in files and in the definitions of hashes. */
#ifndef S3_LIBCOMMON_LE_H
#define S3_LIBCOMMON_LE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Loads n <= 8 bytes as a little-endian number. With a constant n it is a single load. */
static inline uint64_t le_load(const void *p, size_t n)
{
    uint64_t x = 0;

    memcpy(&x, p, n);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

#endif
