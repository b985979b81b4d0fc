#include "analyze/summary/model/fields.h"

#include "libcommon/quantile.h"

/* Initialises .figure, .offset and .is_real for `member` of struct `group`. */
#define IN(group, member, name)                                                                    \
    .figure = FIGURE_##name, .offset = offsetof(struct group, member),                             \
    .is_real = _Generic(((struct group *)NULL)->member, double                                     \
                        : true, int64_t                                                            \
                        : false)

/* ---- Times ---- */

static const struct field n = {"n", "Considered", FIELD_COUNT, IN(times, n, N)};
static const struct field mean = {"mean_ns", "Avg", FIELD_NS, IN(times, mean_ns, MEAN)};
static const struct field stddev = {"stddev_ns", "StdDev", FIELD_NS, IN(times, stddev_ns, STDDEV)};
static const struct field fastest = {"fastest_ns", "Fastest", FIELD_NS,
                                     IN(times, fastest_ns, FASTEST)};
static const struct field best = {"best_ns", "Fastest", FIELD_NS, IN(times, fastest_ns, FASTEST)};
static const struct field p25 = {"p25_ns", "p25", FIELD_NS, 250, IN(times, p25_ns, P25)};
static const struct field p50 = {"p50_ns", "p50", FIELD_NS, 500, IN(times, p50_ns, P50)};
static const struct field p75 = {"p75_ns", "p75", FIELD_NS, 750, IN(times, p75_ns, P75)};
static const struct field p90 = {"p90_ns", "p90", FIELD_NS, 900, IN(times, p90_ns, P90)};
static const struct field p99 = {"p99_ns", "p99", FIELD_NS, 990, IN(times, p99_ns, P99)};
static const struct field slowest = {"slowest_ns", "Slowest", FIELD_NS,
                                     IN(times, slowest_ns, SLOWEST)};
static const struct field worst = {"worst_ns", "Slowest", FIELD_NS, IN(times, slowest_ns, SLOWEST)};

#define QUANTILES &p25, &p50, &p75, &p90, &p99

const struct field *const times_quantiles[TIMES_N_QUANTILES] = {QUANTILES};
const struct field *const times_columns[] = {&n,       &mean,   &fastest, QUANTILES,
                                             &slowest, &stddev, NULL};
const struct field *const times_json[] = {&n, &mean, &stddev, QUANTILES, &fastest, &slowest, NULL};
const struct field *const times_ttfb_json[] = {&n, &mean, &stddev, &best, QUANTILES, &worst, NULL};

void times_ranks(size_t n, size_t ranks[TIMES_N_RANKS])
{
    ranks[0] = 0;
    for (size_t i = 0; i < TIMES_N_QUANTILES; i++)
        ranks[i + 1] = quantile_index(n, times_quantiles[i]->permille);
    ranks[TIMES_N_RANKS - 1] = n - 1;
}

struct times times_of(const struct moments *m, const int64_t values[TIMES_N_RANKS])
{
    if (m->n == 0)
        return (struct times){0};
    struct times t = {
        .present = true,
        .n = m->n,
        .mean_ns = moments_mean(m),
        .stddev_ns = moments_stddev(m),
        .fastest_ns = values[0],
        .slowest_ns = values[TIMES_N_RANKS - 1],
    };
    for (size_t i = 0; i < TIMES_N_QUANTILES; i++)
        *(int64_t *)((char *)&t + times_quantiles[i]->offset) = values[i + 1];
    return t;
}

/* ---- Throughputs of single requests ---- */

#define RATE(key, title, member, name)                                                             \
    &(const struct field)                                                                          \
    {                                                                                              \
        key, title, FIELD_BYTES_PER_S, IN(sized, member, name),                                    \
            .known = offsetof(struct sized, rated)                                                 \
    }

const struct field *const sized_fields[] = {
    &(const struct field){"n", "Considered", FIELD_COUNT, IN(sized, n, N)},
    &(const struct field){"n_unrated", NULL, FIELD_COUNT, IN(sized, n_unrated, N)},
    &(const struct field){"mean_bytes", "Avg size", FIELD_BYTES, IN(sized, mean_bytes, SIZE)},
    &(const struct field){"mean_ns", "Avg time", FIELD_NS, IN(sized, mean_ns, TIME)},
    RATE("mean_bytes_per_s", "Avg", mean_bytes_per_s, MEAN),
    RATE("p50_bytes_per_s", "p50", p50_bytes_per_s, P50),
    RATE("p90_bytes_per_s", "p90", p90_bytes_per_s, P90),
    RATE("p99_bytes_per_s", "p99", p99_bytes_per_s, P99),
    RATE("fastest_bytes_per_s", "Fastest", fastest_bytes_per_s, FASTEST),
    RATE("slowest_bytes_per_s", "Slowest", slowest_bytes_per_s, SLOWEST),
    NULL};
