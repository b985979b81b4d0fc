/* Finds when autoterm would have stopped a recorded run, and how good its estimate was then
 * (docs/how-the-numbers-are-made.md, section 9). */
#ifndef S3_ANALYZE_ANALYSIS_RUN_STOPPING_H
#define S3_ANALYZE_ANALYSIS_RUN_STOPPING_H

#include "analyze/data/dataset.h"
#include "analyze/stats/stats.h"
#include "analyze/summary/model/model.h"
#include "libcommon/autoterm.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stopping_op {
    const char *op; /* owned by the dataset; "" for a mixed run as a whole */
    bool is_beside; /* it prepared the benchmark, or cleaned up after it */
    int64_t dur_ns;
    double pct;
    struct autoterm_stop stop;
    uint64_t n_requests, n_errors; /* that ended before the stop; without one, of the whole run */
    double off_frac; /* speed in the window's last segment / that of the whole run - 1; NaN: none */
    struct throughput whole;  /* of the whole run, as judged */
    bool by_objects;          /* off_frac compares objects, else bytes */
    struct stats_drift drift; /* over the segments up to the stop; the rule lets a drift pass */
};

struct stopping {
    struct stopping_op *ops;
    size_t n_ops;
};

/* Replays the requests that `options` keep, and rates the estimate. It drops rows from the tables,
 * so the dataset can serve nothing else. The caller calls stopping_free in any case. */
bool stopping_run(struct stopping *s, struct dataset *d, const struct analysis_options *options,
                  int64_t dur_ns, double pct, struct err *e);
void stopping_free(struct stopping *s);

/* Only replays, without the figures that rate the estimate. Takes 16 bytes a request while it runs.
 * Drops only the rows that from and to leave out. */
bool stopping_replay(struct stopping *s, struct dataset *d, const struct analysis_options *options,
                     int64_t dur_ns, double pct, struct err *e);

/* Returns the result of an operation ("": of a mixed run); NULL: it was not replayed. */
const struct stopping_op *stopping_of(const struct stopping *s, const char *op);

#endif
