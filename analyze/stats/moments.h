/* Mean and standard deviation of many values from exact sums. Neither the order of the values nor
 * the number of threads changes a digit. */
#ifndef S3_ANALYZE_STATS_MOMENTS_H
#define S3_ANALYZE_STATS_MOMENTS_H

#include <stdint.h>

/* Sums of values and of their squares. Squares of values above 32 bits are summed in 192 bits
 * (squares, squares_over). All zero: no values. */
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

/* Returns the mean; m->n must be > 0. */
double moments_mean(const struct moments *m);

/* Returns the standard deviation (n - 1); NaN for fewer than two values. */
double moments_stddev(const struct moments *m);

#endif
