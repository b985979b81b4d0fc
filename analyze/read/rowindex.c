#include "analyze/read/rowindex.h"

#include "libcommon/le.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define HAVE_X86 1
#endif

/* Bit i of a mask says whether byte i of a 64-byte block is such a character. */
struct masks {
    uint64_t seps, lines, quotes;
};

/* Few blocks have more delimiters and newlines than this. */
#define USUAL_SEPS    10
/* Appending may write up to this many positions beyond the end of the list. */
#define MAX_SEPS_OVER 16

enum rowindex_kind rowindex_best_kind(void)
{
#ifdef HAVE_X86
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("popcnt"))
        return ROWINDEX_SSE2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi2"))
        return ROWINDEX_AVX512;
    return ROWINDEX_AVX2;
#else
    return ROWINDEX_PORTABLE;
#endif
}

void rowindex_init(struct rowindex *ix, enum rowindex_kind kind)
{
    memset(ix, 0, sizeof *ix);
    ix->kind = kind;
}

void rowindex_fini(struct rowindex *ix)
{
    if (ix->seps)
        free(ix->seps - 1);
    free(ix->lines);
    free(ix->quotes);
    rowindex_init(ix, ix->kind);
}

static bool make_room(struct rowindex *ix, size_t cap)
{
    size_t n = cap + ROWINDEX_GUARD + MAX_SEPS_OVER;
    uint32_t *seps;

    rowindex_fini(ix);
    if (!mem_new(&seps, n + 1, NULL))
        return false;
    seps[0] = UINT32_MAX;
    ix->seps = seps + 1;
    if (mem_new(&ix->lines, n, NULL) && mem_new(&ix->quotes, n, NULL)) {
        ix->cap = cap;
        return true;
    }
    rowindex_fini(ix);
    return false;
}

/* Returns the position of the lowest set bit; 64: none is set. One instruction with BMI. */
static inline __attribute__((always_inline)) uint32_t lowest(uint64_t mask)
{
    return mask ? (uint32_t)__builtin_ctzll(mask) : 64;
}

/* Appends base + position for each set bit. Returns where the next one goes. */
typedef uint32_t *append_seps(uint32_t *out, uint64_t mask, uint32_t base);

static inline __attribute__((always_inline)) uint32_t *append(uint32_t *out, uint64_t mask,
                                                              uint32_t base)
{
    unsigned n = (unsigned)__builtin_popcountll(mask);

    /* Always writing USUAL_SEPS positions is faster than counting them first. */
    for (int i = 0; i < USUAL_SEPS; i++) {
        out[i] = base + lowest(mask);
        mask &= mask - 1;
    }
    for (unsigned i = USUAL_SEPS; i < n; i++) {
        out[i] = base + lowest(mask);
        mask &= mask - 1;
    }
    return out + n;
}

/* Like append, for masks that rarely have more than one bit: no branch for none or one. */
static inline __attribute__((always_inline)) uint32_t *append_few(uint32_t *out, uint64_t mask,
                                                                  uint32_t base)
{
    *out = base + lowest(mask);
    out += mask != 0;
    for (mask &= mask - 1; __builtin_expect(mask != 0, 0); mask &= mask - 1)
        *out++ = base + lowest(mask);
    return out;
}

static inline __attribute__((always_inline)) void
build(struct rowindex *ix, const char *text, size_t n, char delimiter,
      void (*find)(const char *block, char delimiter, struct masks *m), append_seps *append)
{
    uint32_t *seps = ix->seps, *lines = ix->lines, *quotes = ix->quotes;

    for (size_t at = 0; at < n; at += 64) {
        struct masks m;
        find(text + at, delimiter, &m);
        if (n - at < 64) {
            uint64_t valid = (UINT64_C(1) << (n - at)) - 1;
            m.seps &= valid;
            m.lines &= valid;
            m.quotes &= valid;
        }
        seps = append(seps, m.seps, (uint32_t)at);
        lines = append_few(lines, m.lines, (uint32_t)at);
        if (__builtin_expect(m.quotes != 0, 0))
            quotes = append_few(quotes, m.quotes, (uint32_t)at);
    }
    ix->n_seps = (size_t)(seps - ix->seps);
    ix->n_lines = (size_t)(lines - ix->lines);
    ix->n_quotes = (size_t)(quotes - ix->quotes);
    memset(seps, 0xff, ROWINDEX_GUARD * sizeof *seps);
    *lines = UINT32_MAX;
    *quotes = UINT32_MAX;
}

/* Sets a byte of the result to 0x80 where x and `pattern` have the same byte, else to 0. Exact: no
 * carry runs into the next byte. */
static inline uint64_t equal_bytes(uint64_t x, uint64_t pattern)
{
    const uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t y = x ^ pattern;

    return ~(((y & low7) + low7) | y | low7);
}

/* Gathers the top bits of 8 bytes into one byte; the first byte gives the lowest bit. */
static inline uint64_t gather_bits(uint64_t top_bits)
{
    return ((top_bits >> 7) * UINT64_C(0x0102040810204080)) >> 56;
}

static inline void find_portable(const char *block, char delimiter, struct masks *m)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t tab = ones * (unsigned char)delimiter, nl = ones * '\n', quote = ones * '"';

    memset(m, 0, sizeof *m);
    for (int i = 0; i < 8; i++) {
        uint64_t x = le_load(block + 8 * i, 8), lines = equal_bytes(x, nl);

        m->seps |= gather_bits(equal_bytes(x, tab) | lines) << (8 * i);
        m->lines |= gather_bits(lines) << (8 * i);
        m->quotes |= gather_bits(equal_bytes(x, quote)) << (8 * i);
    }
}

#ifdef HAVE_X86
static inline void find_sse2(const char *block, char delimiter, struct masks *m)
{
    const __m128i tab = _mm_set1_epi8(delimiter), nl = _mm_set1_epi8('\n'),
                  quote = _mm_set1_epi8('"');

    memset(m, 0, sizeof *m);
    for (int i = 0; i < 4; i++) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(block + 16 * i));
        __m128i lines = _mm_cmpeq_epi8(x, nl);
        __m128i seps = _mm_or_si128(_mm_cmpeq_epi8(x, tab), lines);
        m->seps |= (uint64_t)(uint32_t)_mm_movemask_epi8(seps) << (16 * i);
        m->lines |= (uint64_t)(uint32_t)_mm_movemask_epi8(lines) << (16 * i);
        m->quotes |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, quote)) << (16 * i);
    }
}

__attribute__((target("avx2"))) static inline void find_avx2(const char *block, char delimiter,
                                                             struct masks *m)
{
    const __m256i tab = _mm256_set1_epi8(delimiter), nl = _mm256_set1_epi8('\n'),
                  quote = _mm256_set1_epi8('"');
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)block);
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(block + 32));
    __m256i nl_a = _mm256_cmpeq_epi8(a, nl), nl_b = _mm256_cmpeq_epi8(b, nl);
    __m256i sep_a = _mm256_or_si256(_mm256_cmpeq_epi8(a, tab), nl_a);
    __m256i sep_b = _mm256_or_si256(_mm256_cmpeq_epi8(b, tab), nl_b);
    __m256i quote_a = _mm256_cmpeq_epi8(a, quote), quote_b = _mm256_cmpeq_epi8(b, quote);

    m->seps = (uint32_t)_mm256_movemask_epi8(sep_a) |
              (uint64_t)(uint32_t)_mm256_movemask_epi8(sep_b) << 32;
    m->lines = (uint32_t)_mm256_movemask_epi8(nl_a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(nl_b)
                                                          << 32;
    m->quotes = (uint32_t)_mm256_movemask_epi8(quote_a) |
                (uint64_t)(uint32_t)_mm256_movemask_epi8(quote_b) << 32;
}

__attribute__((target("avx2,bmi,popcnt"))) static void
build_avx2(struct rowindex *ix, const char *text, size_t n, char delimiter)
{
    build(ix, text, n, delimiter, find_avx2, append);
}

#define TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,bmi,popcnt")))

TARGET_AVX512 static inline void find_avx512(const char *block, char delimiter, struct masks *m)
{
    __m512i x = _mm512_loadu_si512(block);

    m->lines = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\n'));
    m->seps = m->lines | _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(delimiter));
    m->quotes = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('"'));
}

/* Moves the positions of set bits to the front of a vector of 0 to 63, and writes 16 at a time. */
TARGET_AVX512 static inline uint32_t *append_avx512(uint32_t *out, uint64_t mask, uint32_t base)
{
    const __m512i positions = _mm512_set_epi64(
        0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
        0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
    const __m512i bases = _mm512_set1_epi32((int)base);
    __m512i found = _mm512_maskz_compress_epi8(mask, positions);
    unsigned n = (unsigned)__builtin_popcountll(mask), i = 0;

    do {
        __m512i wide = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(found));
        _mm512_storeu_si512(out + i, _mm512_add_epi32(wide, bases));
        found = _mm512_shuffle_i64x2(found, found, _MM_SHUFFLE(0, 3, 2, 1));
        i += 16;
    } while (__builtin_expect(i < n, 0));
    return out + n;
}

TARGET_AVX512 static void build_avx512(struct rowindex *ix, const char *text, size_t n,
                                       char delimiter)
{
    build(ix, text, n, delimiter, find_avx512, append_avx512);
}
#endif

bool rowindex_build(struct rowindex *ix, const char *text, size_t n, char delimiter)
{
    if ((n > ix->cap || !ix->seps) && !make_room(ix, n))
        return false;
    switch (ix->kind) {
#ifdef HAVE_X86
    case ROWINDEX_AVX512:
        build_avx512(ix, text, n, delimiter);
        break;
    case ROWINDEX_AVX2:
        build_avx2(ix, text, n, delimiter);
        break;
    case ROWINDEX_SSE2:
        build(ix, text, n, delimiter, find_sse2, append);
        break;
#endif
    default:
        build(ix, text, n, delimiter, find_portable, append);
    }
    return true;
}
