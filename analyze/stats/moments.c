#include "analyze/stats/moments.h"

#include <math.h>
#include <string.h>

void moments_merge(struct moments *to, const struct moments *from)
{
    to->n += from->n;
    to->sum += from->sum;
    to->small_squares += from->small_squares;
    to->squares += from->squares;
    to->squares_over += from->squares_over + (to->squares < from->squares);
}

double moments_mean(const struct moments *m)
{
    return (double)m->sum / (double)m->n;
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

/* Computes sqrt((n * squares - sum^2) / n / (n - 1)). The difference may be many digits smaller
 * than its terms: it is computed in exact integers of 256 bits. */
double moments_stddev(const struct moments *m)
{
    if (m->n < 2)
        return NAN;
    unsigned __int128 size = m->sum < 0 ? -(unsigned __int128)m->sum : (unsigned __int128)m->sum;
    const uint64_t n[] = {(uint64_t)m->n};
    const uint64_t sum[] = {(uint64_t)size, (uint64_t)(size >> 64)};
    unsigned __int128 all = m->squares + m->small_squares;
    const uint64_t squares[] = {(uint64_t)all, (uint64_t)(all >> 64),
                                m->squares_over + (all < m->squares)};
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
    return sqrt(difference / (double)m->n / (double)(m->n - 1));
}
