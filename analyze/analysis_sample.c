/* Moments and quantiles of the durations, TTFBs and throughputs of requests, in groups. Quantiles
 * are exact; sums are exact integers, so the order of rows changes no digit. */
#include "analysis_internal.h"

#include "hist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const int64_t sample_class_edges[SAMPLE_N_CLASSES + 1] = {
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

size_t sample_class(int64_t bytes)
{
    size_t c = 0;
    while (c + 1 < SAMPLE_N_CLASSES && bytes >= sample_class_edges[c + 1])
        c++;
    return c;
}

/* ---- Moments ---- */

/* Sums of values and of their squares, the latter in 192 bits. */
struct sums {
    int64_t n, min, max;
    __int128 sum;
    unsigned __int128 squares;
    uint64_t squares_over;
};

static const struct sums sums_none = {.min = INT64_MAX, .max = INT64_MIN};

static inline void sums_add(struct sums *s, int64_t v)
{
    uint64_t size = v < 0 ? -(uint64_t)v : (uint64_t)v;
    unsigned __int128 square = (unsigned __int128)size * size;
    s->n++;
    s->min = v < s->min ? v : s->min;
    s->max = v > s->max ? v : s->max;
    s->sum += v;
    s->squares += square;
    s->squares_over += s->squares < square;
}

static void sums_merge(struct sums *to, const struct sums *from)
{
    to->n += from->n;
    to->min = from->min < to->min ? from->min : to->min;
    to->max = from->max > to->max ? from->max : to->max;
    to->sum += from->sum;
    to->squares += from->squares;
    to->squares_over += from->squares_over + (to->squares < from->squares);
}

static double sums_mean(const struct sums *s)
{
    return (double)s->sum / (double)s->n;
}

/* out[0..3] = a * b, little-endian limbs. */
static void multiply(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, uint64_t out[4])
{
    memset(out, 0, 4 * sizeof *out);
    for (size_t i = 0; i < n_a; i++) {
        uint64_t carry = 0;
        for (size_t j = 0; i + j < 4; j++) {
            unsigned __int128 x =
                (unsigned __int128)a[i] * (j < n_b ? b[j] : 0) + out[i + j] + carry;
            out[i + j] = (uint64_t)x;
            carry = (uint64_t)(x >> 64);
        }
    }
}

/* Standard deviation (n - 1), NaN for one value: sqrt((n * squares - sum^2) / n / (n - 1)), the
 * difference in exact integers of 256 bits, as it may be many digits smaller than its terms. */
static double sums_stddev(const struct sums *s)
{
    if (s->n < 2)
        return NAN;
    unsigned __int128 size = s->sum < 0 ? -(unsigned __int128)s->sum : (unsigned __int128)s->sum;
    const uint64_t n[] = {(uint64_t)s->n};
    const uint64_t sum[] = {(uint64_t)size, (uint64_t)(size >> 64)};
    const uint64_t squares[] = {(uint64_t)s->squares, (uint64_t)(s->squares >> 64),
                                s->squares_over};
    uint64_t x[4], y[4];
    multiply(squares, 3, n, 1, x);
    multiply(sum, 2, sum, 2, y);
    double difference = 0;
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        unsigned __int128 d = (unsigned __int128)x[i] - y[i] - borrow;
        borrow = (uint64_t)(d >> 64) & 1;
        difference += ldexp((double)(uint64_t)d, 64 * i);
    }
    return sqrt(difference / (double)s->n / (double)(s->n - 1));
}

/* ---- Values ---- */

/* Values by part: those of part p are n = sums[p].n values from v + first[p] on. 8 bytes a row. */
struct sample {
    int64_t *v;
    size_t *first; /* parts + 1 */
    struct sums *sums;
    size_t n_parts, n;
};

static bool sample_alloc(struct sample *s, const struct parts *parts, struct err *e)
{
    *s = (struct sample){
        .first = malloc((parts->n + 1) * sizeof *s->first),
        .sums = malloc((parts->n + 1) * sizeof *s->sums),
        .n_parts = parts->n,
    };
    if (s->first == NULL || s->sums == NULL)
        return err_set(e, "out of memory");
    size_t room = 0;
    for (size_t p = 0; p < parts->n; p++) {
        s->first[p] = room;
        s->sums[p] = sums_none;
        room += (size_t)parts->room[p];
    }
    s->v = malloc((room + 1) * sizeof *s->v);
    return s->v != NULL || err_set(e, "out of memory");
}

static void sample_fini(struct sample *s)
{
    free(s->v);
    free(s->first);
    free(s->sums);
}

static inline void sample_add(struct sample *s, size_t part, int64_t value)
{
    struct sums *x = &s->sums[part];
    s->v[s->first[part] + (size_t)x->n] = value;
    sums_add(x, value);
}

/* Closes the gaps that parts with fewer values than room left. */
static void sample_close(struct sample *s)
{
    for (size_t p = 0; p < s->n_parts; p++) {
        size_t n = (size_t)s->sums[p].n;
        if (s->first[p] != s->n)
            memmove(s->v + s->n, s->v + s->first[p], n * sizeof *s->v);
        s->first[p] = s->n;
        s->n += n;
    }
}

/* The values of a column, plus those of another one if there is one. */
static bool sample_column(struct sample *s, const struct rows *rows, const struct parts *parts,
                          const struct packed *column, const struct packed *plus, struct err *e)
{
    if (!sample_alloc(s, parts, e))
        return false;
    size_t row;
    for (size_t k = 0; k < rows->n; k++) {
        if (!rows_get(rows, k, &row) || !packed_has(column, row) ||
            (plus != NULL && !packed_has(plus, row)))
            continue;
        int64_t value = packed_get(column, row) + (plus != NULL ? packed_get(plus, row) : 0);
        sample_add(s, part_of(parts, rows->t, row), value);
    }
    sample_close(s);
    return true;
}

/* Quantiles of n > 0 values. */
static bool quantiles(const int64_t *v, size_t n, const unsigned *percents, size_t n_percents,
                      int64_t *out, struct err *e)
{
    size_t ranks[8];
    for (size_t i = 0; i < n_percents; i++)
        ranks[i] = analysis_quantile_index(n, percents[i]);
    return hist_select(v, n, ranks, n_percents, out) || err_set(e, "out of memory");
}

/* ---- Durations and TTFBs ---- */

/* Element i of structs that stand `stride` bytes apart. */
static void *at(void *first, size_t i, size_t stride)
{
    return (char *)first + i * stride;
}

static bool fill_durations(struct durations *d, const int64_t *v, const struct sums *s,
                           struct err *e)
{
    int64_t q[3];
    if (s->n == 0)
        return true;
    if (!quantiles(v, (size_t)s->n, (const unsigned[]){50, 90, 99}, 3, q, e))
        return false;
    d->present = true;
    d->n = s->n;
    d->mean_ns = sums_mean(s);
    d->stddev_ns = sums_stddev(s);
    d->p50_ns = q[0];
    d->p90_ns = q[1];
    d->p99_ns = q[2];
    d->fastest_ns = s->min;
    d->slowest_ns = s->max;
    return true;
}

static bool fill_ttfb(struct ttfb *t, const int64_t *v, const struct sums *s, struct err *e)
{
    int64_t q[5];
    if (s->n == 0)
        return true;
    if (!quantiles(v, (size_t)s->n, (const unsigned[]){25, 50, 75, 90, 99}, 5, q, e))
        return false;
    *t = (struct ttfb){
        .present = true,
        .n = s->n,
        .mean_ns = sums_mean(s),
        .stddev_ns = sums_stddev(s),
        .best_ns = s->min,
        .p25_ns = q[0],
        .p50_ns = q[1],
        .p75_ns = q[2],
        .p90_ns = q[3],
        .p99_ns = q[4],
        .worst_ns = s->max,
    };
    return true;
}

static struct sums sums_of_all(const struct sample *s)
{
    struct sums all = sums_none;
    for (size_t p = 0; p < s->n_parts; p++)
        sums_merge(&all, &s->sums[p]);
    return all;
}

bool sample_durations(const struct rows *rows, const struct parts *parts, const struct packed *plus,
                      struct durations *all, struct durations *by_part, size_t stride,
                      struct err *e)
{
    struct sample s;
    bool ok = sample_column(&s, rows, parts, &rows->t->dur, plus, e);
    if (ok && all != NULL) {
        struct sums sums = sums_of_all(&s);
        ok = fill_durations(all, s.v, &sums, e);
    }
    for (size_t p = 0; ok && by_part != NULL && p < parts->n; p++)
        ok = fill_durations(at(by_part, p, stride), s.v + s.first[p], &s.sums[p], e);
    sample_fini(&s);
    return ok;
}

bool sample_ttfb(const struct rows *rows, const struct parts *parts, struct ttfb *all,
                 struct ttfb *by_part, size_t stride, struct err *e)
{
    struct sample s;
    bool ok = sample_column(&s, rows, parts, &rows->t->ttfb, NULL, e);
    if (ok && all != NULL) {
        struct sums sums = sums_of_all(&s);
        ok = fill_ttfb(all, s.v, &sums, e);
    }
    for (size_t p = 0; ok && by_part != NULL && p < parts->n; p++)
        ok = fill_ttfb(at(by_part, p, stride), s.v + s.first[p], &s.sums[p], e);
    sample_fini(&s);
    return ok;
}

/* ---- Throughputs of single requests ---- */

/* Bytes per second as the bits of a double: those of positive doubles sort as the doubles do. */
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

struct size_sums {
    int64_t n;
    __int128 bytes, ns, rated_bytes, rated_ns;
};

static bool sample_rates(struct sample *s, struct size_sums *sizes, const struct rows *rows,
                         const struct parts *parts, struct err *e)
{
    if (!sample_alloc(s, parts, e))
        return false;
    const struct table *t = rows->t;
    size_t row;
    for (size_t k = 0; k < rows->n; k++) {
        if (!rows_get(rows, k, &row))
            continue;
        size_t part = part_of(parts, t, row);
        struct size_sums *x = &sizes[part];
        int64_t bytes = packed_get(&t->bytes, row), ns = packed_get(&t->dur, row);
        x->n++;
        x->bytes += bytes;
        x->ns += ns;
        if (bytes > 0 && ns > 0) {
            x->rated_bytes += bytes;
            x->rated_ns += ns;
            sample_add(s, part, rate_bits(bytes, ns));
        }
    }
    sample_close(s);
    return true;
}

/* v: the rates' bits; changed to small numbers, which are faster to select from. */
static bool fill_sized(struct sized *out, const struct size_sums *sizes, int64_t *v,
                       const struct sums *s, struct err *e)
{
    if (sizes->n == 0)
        return true;
    out->present = true;
    out->n = sizes->n;
    out->n_unrated = sizes->n - s->n;
    out->mean_bytes = (double)sizes->bytes / (double)sizes->n;
    out->mean_ns = (double)sizes->ns / (double)sizes->n;
    out->rated = s->n > 0;
    if (s->n == 0)
        return true;
    for (int64_t i = 0; i < s->n; i++)
        v[i] = s->max - v[i]; /* the fastest first */
    int64_t q[3];
    if (!quantiles(v, (size_t)s->n, (const unsigned[]){50, 90, 99}, 3, q, e))
        return false;
    out->mean_bytes_per_s = (double)sizes->rated_bytes / ((double)sizes->rated_ns / 1e9);
    out->fastest_bytes_per_s = bits_rate(s->max);
    out->p50_bytes_per_s = bits_rate(s->max - q[0]);
    out->p90_bytes_per_s = bits_rate(s->max - q[1]);
    out->p99_bytes_per_s = bits_rate(s->max - q[2]);
    out->slowest_bytes_per_s = bits_rate(s->min);
    return true;
}

bool sample_sized(const struct rows *rows, const struct parts *parts, struct sized *by_part,
                  size_t stride, struct err *e)
{
    struct sample s = {0};
    struct size_sums *sizes = calloc(parts->n + 1, sizeof *sizes);
    bool ok =
        (sizes != NULL || err_set(e, "out of memory")) && sample_rates(&s, sizes, rows, parts, e);
    for (size_t p = 0; ok && p < parts->n; p++)
        ok = fill_sized(at(by_part, p, stride), &sizes[p], s.v + s.first[p], &s.sums[p], e);
    sample_fini(&s);
    free(sizes);

    return ok && sample_ttfb(rows, parts, NULL, &by_part->ttfb, stride, e);
}
