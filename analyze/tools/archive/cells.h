/* Runs of several systems side by side, for `table --across` and the response chart. A cell is an
 * operation with its settings. Its runs of one system are repetitions of each other. */
#ifndef S3_ANALYZE_TOOLS_ARCHIVE_CELLS_H
#define S3_ANALYZE_TOOLS_ARCHIVE_CELLS_H

#include "analyze/tools/archive/columns.h"

#define CELLS_MAX_KEYS    8
#define CELLS_MAX_SYSTEMS 12 /* a sheet has two columns for each, and those of the keys */

struct cells_options {
    struct columns_order by[CELLS_MAX_KEYS + 1]; /* what makes a cell, and their order */
    enum run_metric metrics[RUN_N_COMPARED];
    size_t n_metrics;
};

/* A metric over the runs of a system. */
struct cells_figure {
    double median, least, greatest; /* NaN: no run has it; the ends are those of bounds, if any */
    bool is_bounded;                /* some values are known to bounds only: no best is found */
    size_t n;                       /* runs that have it, of n_runs */
    const double *v;                /* their values, sorted */
    const struct columns_row *runs;
    size_t n_runs;
};

/* A metric of a cell. */
struct cells_line {
    const struct columns_row *cell; /* one of its runs, which has the keys */
    enum run_metric metric; /* objects/s for throughput if sizes differ or there are no bytes */
    const struct cells_figure *of;   /* by system */
    const struct cells_figure *best; /* cmp's test says: better than each other; NULL: none is */
    struct stats_cmp closest;        /* of the best with the other that has the largest p */
    bool is_apart; /* the systems' runs differ in more than the system, so that none is best */
    struct archive_difference apart;
};

struct cells {
    const struct cells_options *how;
    const char *systems[CELLS_MAX_SYSTEMS]; /* in the order of their first runs */
    size_t n_systems;
    struct cells_line *lines; /* by metric, then by cell */
    size_t n_lines, n_cells;
    struct cells_figure *figures;
    double *values;
};

/* Whether two runs have the same keys, up to one without a column. Means of random sizes may differ
 * by chance. */
bool cells_are_one(const struct columns_row *a, const struct columns_row *b,
                   const struct columns_order *by);

/* "GET 64KiB": the keys of a cell. */
struct columns_text cells_name(const struct columns_row *cell, const struct columns_order *by);

/* Sorts the rows of *t into cells, and finds the best. *how and *t must outlive *c. False: *e says
 * why; wrong usage if runs of a cell and system are no repetitions. The caller calls cells_free in
 * any case. */
bool cells_make(struct cells *c, struct columns_table *t, const struct cells_options *how,
                struct err *e);
void cells_free(struct cells *c);

#endif
