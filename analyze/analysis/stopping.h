/* When autoterm would have stopped a recorded run, and how good its estimate was then
 * (docs/how-the-numbers-are-made.md, section 9). */
#ifndef S3_ANALYZE_ANALYSIS_STOPPING_H
#define S3_ANALYZE_ANALYSIS_STOPPING_H

#include "analyze/analysis/analysis.h"
#include "analyze/data/dataset.h"
#include "analyze/stats/stats.h"
#include "libcommon/autoterm.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One replay. */
struct stopping_case {
    int64_t dur_ns;
    double pct;
    struct autoterm_stop stop;
    double off_frac; /* speed of the window's last segment / that of the whole run - 1; NaN: none */
};

struct stopping_op {
    const char *op; /* owned by the dataset; "" for all types of a mixed run */
    struct stopping_case chosen;
    struct throughput whole;     /* of the whole run */
    bool by_objects;             /* what off_frac compares */
    struct stats_drift drift;    /* of the segments up to the stop; a drift passes the rule */
    struct stopping_case *sweep; /* durations x percentages, in that order; NULL: not asked for */
};

struct stopping {
    struct stopping_op *ops;
    size_t n_ops;
    const int64_t *sweep_dur_ns; /* of the sweep's cases */
    const double *sweep_pct;
    size_t n_sweep_dur, n_sweep_pct; /* 0: no sweep */
};

/* Replays the dataset's requests, those that `options` keep. Drops rows from its tables: the
 * dataset serves this alone. The caller calls stopping_free in any case. */
bool stopping_run(struct stopping *s, struct dataset *d, const struct analysis_options *options,
                  int64_t dur_ns, double pct, bool sweep, struct err *e);
void stopping_free(struct stopping *s);

/* The replay alone, without the figures that say how good the estimate was. Costs 16 bytes a
 * request while it runs, and drops of the rows no others than from and to say. */
bool stopping_replay(struct stopping *s, struct dataset *d, const struct analysis_options *options,
                     int64_t dur_ns, double pct, bool sweep, struct err *e);

/* What was found of an operation ("": of all together); NULL: it was not replayed. */
const struct stopping_op *stopping_of(const struct stopping *s, const char *op);

#endif
