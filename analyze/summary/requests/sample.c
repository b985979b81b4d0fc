/* Moments and quantiles of the durations, TTFBs and throughputs of requests, in groups. Quantiles
 * are exact; sums are exact integers, so the order of rows changes no digit. Holds the values of
 * one column: 8 bytes a row. */
#include "analyze/summary/requests/sample.h"

#include "analyze/stats/moments.h"
#include "analyze/stats/picker.h"
#include "analyze/summary/model/fields.h"
#include "libcommon/mem.h"
#include "libcommon/quantile.h"

#include <stdlib.h>
#include <string.h>

const int64_t analysis_size_edges[ANALYSIS_N_SIZES + 1] = {
    0,
    1,
    10,
    100,
    INT64_C(1) << 10,
    INT64_C(10) << 10,
    INT64_C(100) << 10,
    INT64_C(1) << 20,
    INT64_C(10) << 20,
    INT64_C(100) << 20,
    INT64_C(1) << 30,
    INT64_C(10) << 30,
    INT64_C(100) << 30,
    INT64_C(1) << 40,
    INT64_MAX,
};

/* By number of bits: the class of the smallest number that has so many bits. */
static const uint8_t class_of_bits[64] = {
    0,  1,  1,  1,  1,  2,  2,  2,  3,  3,  3,  4,  4,  4,  4,  5,  5,  5,  6,  6,  6,  7,
    7,  7,  7,  8,  8,  8,  9,  9,  9,  10, 10, 10, 10, 11, 11, 11, 12, 12, 12, 13, 13, 13,
    13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13,
};

size_t analysis_size_class(int64_t bytes)
{
    size_t c = bytes > 0 ? class_of_bits[64 - __builtin_clzll((unsigned long long)bytes)] : 0;
    return c + (c + 1 < ANALYSIS_N_SIZES && bytes >= analysis_size_edges[c + 1]);
}

/* Values by part: those of part p are v[first[p]] .. v[next[p] - 1]. */
struct sample {
    int64_t *v;
    size_t *first, *next;
};

static bool sample_init(struct sample *s, const struct parts *parts, struct err *e)
{
    size_t room = 0;

    if (!mem_new(&s->first, parts->n, e) || !mem_new(&s->next, parts->n, e))
        return false;
    for (size_t p = 0; p < parts->n; p++) {
        s->first[p] = s->next[p] = room;
        room += (size_t)parts->room[p];
    }
    return mem_new(&s->v, room, e);
}

static void sample_fini(struct sample *s)
{
    free(s->v);
    free(s->first);
    free(s->next);
}

/* Returns element i of structs that are `stride` bytes apart. */
static void *at(void *first, size_t i, size_t stride)
{
    return (char *)first + i * stride;
}

/* Adds the values of a column, and fills their moments by part. */
static void add_times(struct sample *s, struct moments *m, const struct rows *rows,
                      const struct parts *parts, const struct packed *column)
{
    size_t row;

    for (size_t b = 0; b < rows_n_blocks(rows); b++) {
        const struct rows_block block = rows_block(rows, b);
        for (size_t k = block.from; k < block.to; k++) {
            if (!rows_get(rows, &block, k, &row) || !packed_has(column, row))
                continue;
            size_t p = part_of(parts, rows->t, row);
            int64_t v = packed_get(column, row);
            moments_add(&m[p], v);
            s->v[s->next[p]++] = v;
        }
    }
}

bool sample_times(const struct rows *rows, const struct parts *parts, const struct packed *column,
                  struct times *by_part, size_t stride, struct err *e)
{
    struct sample s = {0};
    struct moments *m = NULL;

    if (packed_has_none(column))
        return true;
    bool ok = sample_init(&s, parts, e) && mem_cleared(&m, parts->n, e);
    if (ok)
        add_times(&s, m, rows, parts, column);
    for (size_t p = 0; ok && p < parts->n; p++) {
        size_t ranks[TIMES_N_RANKS];
        int64_t values[TIMES_N_RANKS];

        if (m[p].n == 0)
            continue;
        times_ranks((size_t)m[p].n, ranks);
        picker_select(s.v + s.first[p], (size_t)m[p].n, ranks, TIMES_N_RANKS, values);
        *(struct times *)at(by_part, p, stride) = times_of(&m[p], values);
    }
    free(m);
    sample_fini(&s);
    return ok;
}

/* ---- Throughputs of single requests ---- */

/* Returns bytes per second as the bits of a double. Positive doubles sort as their bits do. */
static inline int64_t rate_bits(int64_t bytes, int64_t duration_ns)
{
    double rate = (double)bytes / ((double)duration_ns / 1e9);
    int64_t bits;

    memcpy(&bits, &rate, sizeof bits);
    return bits;
}

static inline double bits_rate(int64_t bits)
{
    double rate;
    memcpy(&rate, &bits, sizeof rate);
    return rate;
}

/* Sums over the requests of one part. */
struct size_sums {
    int64_t n, n_rated;
    __int128 bytes, ns, rated_bytes, rated_ns;
};

/* Adds up sums, and collects rates by part: those of part p are the n_rated values from v +
 * first[p] on. */
static void add_rates(struct sample *s, struct size_sums *sums, const struct rows *rows,
                      const struct parts *parts)
{
    const struct table *t = rows->t;
    size_t row;

    for (size_t b = 0; b < rows_n_blocks(rows); b++) {
        const struct rows_block block = rows_block(rows, b);
        for (size_t k = block.from; k < block.to; k++) {
            if (!rows_get(rows, &block, k, &row))
                continue;
            size_t part = part_of(parts, t, row);
            struct size_sums *x = &sums[part];
            int64_t bytes = packed_get(&t->bytes, row), ns = packed_get(&t->dur, row);
            x->n++;
            x->bytes += bytes;
            x->ns += ns;
            if (bytes > 0 && ns > 0) {
                x->rated_bytes += bytes;
                x->rated_ns += ns;
                x->n_rated++;
                s->v[s->next[part]++] = rate_bits(bytes, ns);
            }
        }
    }
}

/* Fills *out; v holds the rates' bits and is overwritten. */
static void fill_sized(struct sized *out, const struct size_sums *s, int64_t *v)
{
    const unsigned permille[] = {1000, 990, 900, 500, 0};
    size_t n = (size_t)s->n_rated, ranks[5];
    int64_t values[5], least = INT64_MAX;

    if (s->n == 0)
        return;
    out->present = true;
    out->n = s->n;
    out->n_unrated = s->n - s->n_rated;
    out->mean_bytes = (double)s->bytes / (double)s->n;
    out->mean_ns = (double)s->ns / (double)s->n;
    out->rated = n > 0;
    if (n == 0)
        return;
    /* Percentiles count from the fastest request, so ranks count from the greatest rate. */
    for (size_t i = 0; i < 5; i++)
        ranks[i] = n - 1 - quantile_index(n, permille[i]);
    /* Subtract the least: small numbers are selected faster, in narrower buckets. */
    for (size_t i = 0; i < n; i++)
        least = v[i] < least ? v[i] : least;
    for (size_t i = 0; i < n; i++)
        v[i] -= least;
    picker_select(v, n, ranks, 5, values);
    out->mean_bytes_per_s = (double)s->rated_bytes / ((double)s->rated_ns / 1e9);
    out->slowest_bytes_per_s = bits_rate(least + values[0]);
    out->p99_bytes_per_s = bits_rate(least + values[1]);
    out->p90_bytes_per_s = bits_rate(least + values[2]);
    out->p50_bytes_per_s = bits_rate(least + values[3]);
    out->fastest_bytes_per_s = bits_rate(least + values[4]);
}

bool sample_sized(const struct rows *rows, const struct parts *parts, struct sized *by_part,
                  size_t stride, struct err *e)
{
    struct sample s = {0};
    struct size_sums *sums;
    bool ok = mem_cleared(&sums, parts->n, e) && sample_init(&s, parts, e);

    if (ok)
        add_rates(&s, sums, rows, parts);
    for (size_t p = 0; ok && p < parts->n; p++)
        fill_sized(at(by_part, p, stride), &sums[p], s.v + s.first[p]);
    sample_fini(&s);
    free(sums);
    return ok && sample_times(rows, parts, &rows->t->ttfb, &by_part->ttfb, stride, e);
}
