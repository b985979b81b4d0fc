/* Mean and standard deviation of many values from exact sums: neither the order of values nor the
 * number of threads changes a digit. */
#ifndef S3_ANALYZE_REQUESTS_MOMENTS_H
#define S3_ANALYZE_REQUESTS_MOMENTS_H

#include <stdint.h>

/* Sums of values and of their squares; the squares of values that have more than 32 bits in 192
 * bits. All zero: no values. */
struct moments {
    int64_t n;
    __int128 sum;
    unsigned __int128 small_squares;
    unsigned __int128 squares;
    uint64_t squares_over;
};

static inline void moments_add(struct moments *m, int64_t v)
{
    m->n++;
    m->sum += v;
    if (__builtin_expect(v >= 0 && v <= UINT32_MAX, 1)) {
        m->small_squares += (uint64_t)v * (uint64_t)v;
        return;
    }
    uint64_t size = v < 0 ? -(uint64_t)v : (uint64_t)v;
    unsigned __int128 square = (unsigned __int128)size * size;
    m->squares += square;
    m->squares_over += m->squares < square;
}

void moments_merge(struct moments *to, const struct moments *from);

/* Of m->n > 0 values. */
double moments_mean(const struct moments *m);

/* Standard deviation (n - 1), NaN for one value. */
double moments_stddev(const struct moments *m);

#endif
