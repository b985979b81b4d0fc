/* The input of time series. */
#ifndef S3_ANALYZE_ANALYSIS_RUN_SERIES_H
#define S3_ANALYZE_ANALYSIS_RUN_SERIES_H

#include "analyze/data/group.h"
#include "analyze/data/slices.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The input of the series of one operation, or of the total; kept in the analysis. */
struct analysis_source {
    const struct table **tables;
    size_t n_tables;
    struct group_keys hosts;
    struct slice_grid grid; /* n = 0: no segments */
    bool has_range;
    int64_t segment_ns; /* > 0 even without a range */
    int64_t first_start_ns, last_end_ns;
    struct group_rows *rows; /* by table; NULL until a host's series is asked for */
};

void analysis_source_fini(struct analysis_source *s);

#endif
