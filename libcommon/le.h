/* Numbers in little-endian order, as files hold them and hashes are defined on them. */
#ifndef S3_LIBCOMMON_LE_H
#define S3_LIBCOMMON_LE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The number that n <= 8 bytes stand for, on any machine. A constant n makes it one load. */
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
