/* Any percentile of requests' times, beyond those of the report, with its interval as in section 7
 * of docs/how-the-numbers-are-made.md. */
#ifndef S3_ANALYZE_SUMMARY_ESTIMATE_PERCENTILE_H
#define S3_ANALYZE_SUMMARY_ESTIMATE_PERCENTILE_H

#include "analyze/summary/estimate/confidence.h"

enum percentile_of { PERCENTILE_DURATION, PERCENTILE_TTFB, PERCENTILE_RESPONSE };

struct percentile {
    int64_t n; /* requests with such a time; 0: the rest means nothing */
    struct statistics_quantile q;
    struct stats_ci above; /* the share of them whose time is longer than the limit */
};

/* Finds quantile `p` of the successful requests of a table that count for the latencies of `s`, and
 * how many are above a limit in ns. Passes over the rows three times. False: *e says why. */
bool percentile_find(const struct table *t, const struct statistics *s, enum percentile_of of,
                     struct stats_ratio p, double limit_ns, struct percentile *out, struct err *e);

/* Finds the quantiles of statistics_permille in the same way. out->count is NULL. */
bool percentile_times(const struct table *t, const struct statistics *s, enum percentile_of of,
                      struct statistics_latency *out, struct err *e);

#endif
