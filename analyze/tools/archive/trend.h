/* Finds when runs of equal settings became slower or faster (docs/how-the-numbers-are-made.md,
 * section 13). */
#ifndef S3_ANALYZE_TOOLS_ARCHIVE_TREND_H
#define S3_ANALYZE_TOOLS_ARCHIVE_TREND_H

#include "analyze/stats/stats.h"
#include "analyze/tools/archive/archive.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

/* With fewer runs no change is reported, whatever they are like. */
#define TREND_LEAST_RUNS 8

#define TREND_MAX_METRICS 4

/* No random order of the runs shows a change as strong: the least p of 999 orders. */
#define TREND_SURE_P .001

/* A metric of an operation over the runs of a group. */
struct trend_series {
    const char *op; /* borrowed */
    enum run_metric metric;
    double *v;     /* by run; NaN: it has none */
    double slack;  /* the most that the log of two values may differ by, as they are known only to
                      bounds; 0: they are exact */
    double last_z; /* distance of the last run from its level, in standard deviations of the
                      noise; NaN: not known */
};

/* A change of an operation, in one metric or, within a few runs, in several. */
struct trend_change {
    size_t run;                               /* the first run of the new level, from 0 */
    struct stats_change v[TREND_MAX_METRICS]; /* the one to report first; levels: trend_value */
    size_t n;
};

/* Runs of equal settings, by start. */
struct trend_group {
    const struct archive_run **runs; /* borrowed runs */
    size_t n;
    struct trend_series *series;
    size_t n_series;
    struct trend_change *changes; /* by run */
    size_t n_changes;
};

struct trend {
    const struct archive *archive; /* borrowed */
    struct trend_group *groups;    /* the one with the newest run first */
    size_t n;
    const struct archive_unread *unread; /* a file that may be the last run; NULL: there is none */
    /* The answer for a nightly job, about the group with the newest run. EXIT_FAILED: in the last
     * run no request of an operation succeeded, or none did from some time on (`dead`), or an
     * operation's last level is worse than the one before. EXIT_UNDECIDED: that is not sure
     * (`unsure`), there are too few runs, `unread` may be the last run, or the last run lacks a
     * figure or is worse than noise explains; in these last cases `odd` is its series, else
     * SIZE_MAX. */
    enum exit_code last;
    const struct run_kept_op *dead;    /* NULL: none */
    const struct trend_change *unsure; /* EXIT_UNDECIDED: a last change that is small; NULL: none */
    size_t odd;
    bool shows_last; /* whether reports give that answer; for the caller to set */
};

/* Finds the changes in an archive, which must outlive *t. False: *e says why. The caller calls
 * trend_free in any case. */
bool trend_find(struct trend *t, const struct archive *a, struct err *e);
void trend_free(struct trend *t);

/* Converts a level of a change to a value of its metric: levels of shares are shares, others are
 * logarithms. */
double trend_value(const struct trend_group *g, const struct stats_change *x, double level);

/* Whether a change is for the worse. */
bool trend_is_worse(const struct trend_group *g, const struct stats_change *x);

#endif
