/* From a dataset to the result model: ranges, segments, requests, statistics, findings, and series
 * on demand. Section numbers are those of docs/how-the-numbers-are-made.md. */
#ifndef S3_ANALYZE_ANALYSIS_ANALYSIS_H
#define S3_ANALYZE_ANALYSIS_ANALYSIS_H

#include "analyze/data/dataset.h"
#include "analyze/model/model.h"
#include "libcommon/err.h"
#include "libcommon/segment.h"

#include <stdbool.h>
#include <stddef.h>

/* Analyses `d`, dropping rows from its tables as section 2 says (skip, from/to, the mixed drop):
 * the dataset serves one analysis. False: *e says why (too many segments, a sum past 63 bits). The
 * caller calls analysis_free in any case. */
bool analysis_run(struct analysis *a, struct dataset *d, const struct analysis_options *options,
                  struct err *e);
void analysis_free(struct analysis *a);

/* Takes the figures of an operation out of an analysis, but for the lists of hosts, clients, sizes
 * and errors. *to owns the statistics from then on (statistics_free), and borrows no string but
 * `op`, which the caller replaces. */
void analysis_take_operation(struct operation *to, struct operation *from);

/* The i-th part of a->left_out, in words; n may be 0. */
struct left_out_part analysis_left_out(const struct analysis *a, size_t i);

/* Computes the series of operation `op` (index into operations, or -1: the cluster total) for
 * one host (index into its sorted hosts) or all together (-1), on the operation's grid. *rows is
 * owned by the caller (free). *n is 0 where there is no series. Cost: the rows concerned. The first
 * call for a host groups the rows of the operation by host and keeps that, 4 bytes a row: one
 * thread at a time. */
bool analysis_series(const struct analysis *a, int op, int host, struct series_row **rows,
                     size_t *n, struct err *e);

/* How many rows the series of operation `op` has, of each host as of all together; 0 for sums,
 * whose seconds are bounded as they are read. */
bool analysis_series_length(const struct analysis *a, int op, size_t *n, struct err *e);

/* Makes the segments, one of which starts at anchor_ns, that hold all times from first_ns to
 * last_ns; the first may start before 1970. False: they are too many, or end after 2262. */
bool analysis_grid_around(struct segment_grid *grid, int64_t anchor_ns, int64_t length_ns,
                          int64_t first_ns, int64_t last_ns, struct err *e);

/* The same as analysis_series on a grid of the caller's; of sums, one of whole seconds. */
bool analysis_series_on(const struct analysis *a, int op, int host, const struct segment_grid *grid,
                        struct series_row **rows, size_t *n, struct err *e);

#endif
