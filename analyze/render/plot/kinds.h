/* Writes the data files of the charts of one run: struct plot_data as blocks (plot/out.h). Each
 * file has a block "chart" of one row: its title, the time axis, and how many rows the other blocks
 * have, so that a script never reads an empty one. Write errors stay in `f`. */
#ifndef S3_ANALYZE_RENDER_PLOT_KINDS_H
#define S3_ANALYZE_RENDER_PLOT_KINDS_H

#include "analyze/render/plot/data.h"

#include <stdbool.h>
#include <stdio.h>

/* A kind of chart of a run: its name is that of its script in plots/. */
struct plot_kind {
    const char *name;
    const char *title;                 /* "latency over time" */
    const char *caption;               /* how to read it, for reports */
    bool of_requests;                  /* drawn only if the source has requests */
    const struct plot_kind *else_kind; /* drawn instead of it if not; NULL: none */
    bool of_parties; /* also drawn of all operations together if only series are known of them */
    bool is_by_name; /* drawn only if it is asked for by name */
    bool is_detail;  /* left out of a brief report for one of several operations */
    /* Whether there is data to draw; NULL: always. */
    bool (*has_data)(const struct plot_data *p);
    /* Whether it shows more than other charts do; NULL: always. `all`: the data of all operations
     * together in a mixed run, else p. */
    bool (*is_worth)(const struct plot_data *p, const struct plot_data *all);
    /* Writes the data file. False: out of memory. */
    bool (*write)(FILE *f, const struct plot_data *p, const char *title);
    /* Writes the values that a page's script shows, as JSON; NULL: the script has them from
     * elsewhere. False: out of memory. */
    bool (*readings)(FILE *f, const struct plot_data *p);
    /* Height in pixels; NULL: the usual one. */
    int (*height)(const struct plot_data *p);
};

/* All kinds, in the order of a report; NULL ends the list. */
extern const struct plot_kind *const plot_kinds[];

#endif
