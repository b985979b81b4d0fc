/* The figures of a set of requests, as text and HTML show them: one list, one name for each. */
#ifndef S3_ANALYZE_REPORT_FIGURES_H
#define S3_ANALYZE_REPORT_FIGURES_H

#include "analyze/analysis/analysis.h"
#include "libcommon/units.h"

#include <stdbool.h>
#include <stdint.h>

/* Times, or where sizes differ rates, from FIGURE_MEAN on. Lists of columns end with N_FIGURES. */
enum figure {
    FIGURE_N,
    FIGURE_SIZE,
    FIGURE_TIME,
    FIGURE_MEAN,
    FIGURE_FASTEST,
    FIGURE_P25,
    FIGURE_P50,
    FIGURE_P75,
    FIGURE_P90,
    FIGURE_P99,
    FIGURE_SLOWEST,
    FIGURE_STDDEV,
    N_FIGURES
};

/* Headings of columns, and the columns of a table of times. */
extern const char *const figures_names[N_FIGURES];
extern const enum figure figures_times[];

struct figures {
    bool present;
    int64_t n, n_unrated;
    struct units_text v[N_FIGURES]; /* "-": unknown; "": no such figure, as of FIGURE_N */
};

struct figures figures_of_times(const struct times *t);
struct figures figures_of_sized(const struct sized *s);

/* A duration; NaN: "-". */
struct units_text figures_ns(double ns);
/* "1KiB -> 10KiB", "10KiB up" */
struct units_text figures_bucket(const struct size_bucket *b);

#endif
