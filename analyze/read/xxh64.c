#include "analyze/read/xxh64.h"

#include "libcommon/le.h"

#include <string.h>

static const uint64_t PRIME_1 = UINT64_C(0x9E3779B185EBCA87);
static const uint64_t PRIME_2 = UINT64_C(0xC2B2AE3D27D4EB4F);
static const uint64_t PRIME_3 = UINT64_C(0x165667B19E3779F9);
static const uint64_t PRIME_4 = UINT64_C(0x85EBCA77C2B2AE63);
static const uint64_t PRIME_5 = UINT64_C(0x27D4EB2F165667C5);

static inline uint64_t rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

static inline uint64_t round_of(uint64_t lane, uint64_t input)
{
    return rotate(lane + input * PRIME_2, 31) * PRIME_1;
}

void xxh64_init(struct xxh64 *h)
{
    memset(h, 0, sizeof *h);
    h->lane[0] = PRIME_1 + PRIME_2;
    h->lane[1] = PRIME_2;
    h->lane[2] = 0;
    h->lane[3] = 0 - PRIME_1;
}

static const unsigned char *stripes(struct xxh64 *h, const unsigned char *p, size_t n)
{
    uint64_t a = h->lane[0], b = h->lane[1], c = h->lane[2], d = h->lane[3];

    for (; n >= 32; n -= 32, p += 32) {
        a = round_of(a, le_load(p, 8));
        b = round_of(b, le_load(p + 8, 8));
        c = round_of(c, le_load(p + 16, 8));
        d = round_of(d, le_load(p + 24, 8));
    }
    h->lane[0] = a;
    h->lane[1] = b;
    h->lane[2] = c;
    h->lane[3] = d;
    return p;
}

void xxh64_add(struct xxh64 *h, const void *data, size_t n)
{
    const unsigned char *p = data, *end = p + n;

    h->n_bytes += n;
    if (h->n_tail) {
        size_t take = 32 - h->n_tail;
        if (take > n)
            take = n;
        memcpy(h->tail + h->n_tail, p, take);
        h->n_tail += take;
        p += take;
        if (h->n_tail < 32)
            return;
        stripes(h, h->tail, 32);
        h->n_tail = 0;
    }
    p = stripes(h, p, (size_t)(end - p));
    h->n_tail = (size_t)(end - p);
    if (h->n_tail)
        memcpy(h->tail, p, h->n_tail);
}

uint64_t xxh64_value(const struct xxh64 *h)
{
    const unsigned char *p = h->tail;
    size_t left = h->n_tail;
    uint64_t x = PRIME_5;

    if (h->n_bytes >= 32) {
        x = rotate(h->lane[0], 1) + rotate(h->lane[1], 7) + rotate(h->lane[2], 12) +
            rotate(h->lane[3], 18);
        for (int i = 0; i < 4; i++)
            x = (x ^ round_of(0, h->lane[i])) * PRIME_1 + PRIME_4;
    }
    x += h->n_bytes;
    for (; left >= 8; left -= 8, p += 8)
        x = rotate(x ^ round_of(0, le_load(p, 8)), 27) * PRIME_1 + PRIME_4;
    if (left >= 4) {
        x = rotate(x ^ le_load(p, 4) * PRIME_1, 23) * PRIME_2 + PRIME_3;
        left -= 4;
        p += 4;
    }
    for (; left; left--, p++)
        x = rotate(x ^ *p * PRIME_5, 11) * PRIME_1;
    x = (x ^ x >> 33) * PRIME_2;
    x = (x ^ x >> 29) * PRIME_3;
    return x ^ x >> 32;
}
