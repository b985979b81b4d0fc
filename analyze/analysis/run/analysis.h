/* Makes the result model from a dataset: ranges, segments, requests, statistics, findings; and
 * series on demand. Section numbers are those of docs/how-the-numbers-are-made.md. */
#ifndef S3_ANALYZE_ANALYSIS_RUN_ANALYSIS_H
#define S3_ANALYZE_ANALYSIS_RUN_ANALYSIS_H

#include "analyze/data/dataset.h"
#include "analyze/data/slices.h"
#include "analyze/summary/model/model.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Analyses `d`. It drops rows from the tables of `d` (section 2: skip, from/to, the mixed drop), so
 * a dataset serves one analysis. On failure *e says why (too many segments, a sum past 63 bits).
 * The caller calls analysis_free in any case. */
bool analysis_run(struct analysis *a, struct dataset *d, const struct analysis_options *options,
                  struct err *e);
void analysis_free(struct analysis *a);

/* Moves the figures of an operation out of an analysis, without the lists of hosts, clients, sizes
 * and errors. Afterwards *to owns the statistics (statistics_free) and borrows no string but `op`,
 * which the caller replaces. */
void analysis_take_operation(struct operation *to, struct operation *from);

/* Returns part i of a->left_out, in words; its n may be 0. */
struct left_out_part analysis_left_out(const struct analysis *a, size_t i);

/* Computes the series of operation `op` (index into operations; -1: the cluster total) on the
 * operation's grid, for one host (index into its sorted hosts) or for all (-1). The caller frees
 * *rows. *n is 0 if there is no series. Costs a pass over the rows concerned. The first call for a
 * host groups the operation's rows by host and keeps the result, 4 bytes a row: do not call it from
 * two threads at once. */
bool analysis_series(const struct analysis *a, int op, int host, struct series_row **rows,
                     size_t *n, struct err *e);

/* Sets *n to the number of rows in a series of operation `op`, the same for each host and for all.
 * It is 0 for sums, whose seconds were bounded when they were read. */
bool analysis_series_length(const struct analysis *a, int op, size_t *n, struct err *e);

/* Makes the grid of segments that covers the times from first_ns to last_ns and in which a segment
 * starts at anchor_ns. The first may start before 1970. Fails if they are too many, or end after
 * 2262. */
bool analysis_grid_around(struct slice_grid *grid, int64_t anchor_ns, int64_t length_ns,
                          int64_t first_ns, int64_t last_ns, struct err *e);

/* Works as analysis_series, but on the caller's grid. For sums and aggregated captures its segments
 * must be whole seconds. */
bool analysis_series_on(const struct analysis *a, int op, int host, const struct slice_grid *grid,
                        struct series_row **rows, size_t *n, struct err *e);

#endif
