/* How steady a run was, in sentences that text and pages share. */
#ifndef S3_ANALYZE_REPORT_DIAGNOSIS_H
#define S3_ANALYZE_REPORT_DIAGNOSIS_H

#include "analyze/estimate/confidence.h"

#include <stdbool.h>

/* Where the sentences go, one by one. */
struct diagnosis {
    void (*say)(void *ctx, const char *sentence);
    void *ctx;
    bool has_dates; /* the run goes over midnight: times need a date */
};

/* Says warm-up, drift, changes, stalls, how busy the threads were, and hosts that stand out. */
void diagnosis_put(const struct diagnosis *d, const struct statistics *s);

/* Says the percentiles that --co-interval asks for; nothing if s is NULL or the option was not
 * given. */
void diagnosis_put_co(const struct diagnosis *d, const struct statistics *s);

#endif
