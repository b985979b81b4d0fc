/* Charts of a run: which there are, their data files, and their pictures. */
#ifndef S3_ANALYZE_RENDER_PLOT_PLOT_H
#define S3_ANALYZE_RENDER_PLOT_PLOT_H

#include "analyze/analysis/run/stopping.h"
#include "analyze/write/outfile.h"
#include "libcommon/cli.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The usual size of a picture in pixels, as in plots/style.gp. */
#define PLOT_WIDTH  860
#define PLOT_HEIGHT 400

struct plot_options {
    const char *folder;        /* for data and pictures */
    const char *stem;          /* file name of a single picture, without suffix; NULL: each chart
                                  has its own */
    const char *const *charts; /* names; n_charts 0: those that show something */
    size_t n_charts;
    const char *label;   /* before every title; NULL: none */
    bool benchmark_only; /* not of operations that ran before it, to prepare it */
    bool brief; /* without charts that are details (plot_kind.is_detail) of single operations */
    const bool *operations;         /* which are drawn, one for each; NULL: all */
    bool no_titles;                 /* pictures without a title, for a report that has its own */
    const char *format;             /* "svg", "png", "pdf", in any case */
    const char *theme;              /* "light", "dark" */
    int width, height;              /* pixels; 0: as suits the chart */
    int font_px;                    /* height of text; 0: as suits the size */
    bool with_narrow;               /* each drawn a second time, for narrow screens */
    bool with_readings;             /* values for a page's script */
    const struct stopping *replays; /* of the autoterm rule; NULL: none */
    struct cli_list captures[3];    /* files that must not be overwritten */
    bool force;                     /* replace any file */
};

/* One chart: its data file and its picture. */
struct plot_picture {
    const char *asked;   /* its name for --chart */
    const char *chart;   /* its script; another one if there are no requests */
    const char *caption; /* how to read it */
    char *op;            /* as captures spell it; "" for all operations or runs together */
    char *title;
    char *data, *picture, *narrow; /* paths; narrow NULL: not asked for */
    char *readings;                /* JSON of its values, for a script; NULL: none */
    int width, height, narrow_height;
};

struct plot_set {
    struct plot_picture *v;
    size_t n, cap;
};

/* Adds the charts of an analysis and writes their data files FOLDER/CHART-OP.tsv. With a stem there
 * is one chart, with its data in FOLDER/STEM.tsv: of what the report is about (role_main) or, if
 * that has no such chart, of the largest operation or of all together. Draws nothing yet. False: *e
 * says why. */
bool plot_add_analysis(struct plot_set *s, const struct analysis *a, const struct plot_options *o,
                       struct err *e);

/* A chart of any model. */
struct plot_chart {
    const char *name, *title, *caption; /* as in struct plot_kind */
    /* Writes the data of *ctx. False: out of memory. */
    bool (*write)(FILE *f, const void *ctx, const char *title);
    const char *stem; /* file name if the options have none; NULL: "NAME-OP" */
    int height;       /* pixels; 0: as the options or all charts */
};

/* Adds a chart of an operation (NULL: of none; "": of all together) and writes its data file.
 * False: *e says why. */
bool plot_add(struct plot_set *s, const struct plot_chart *c, const char *op, const void *ctx,
              const struct plot_options *o, struct err *e);

/* Draws the pictures beside their data. */
bool plot_draw(const struct plot_set *s, const struct plot_options *o, struct err *e);

void plot_set_free(struct plot_set *s);

/* Returns what a picture may replace: any file, if `force` is set or a data file of ours lies
 * beside it (same name, .tsv); else none. The picture's name has an extension. */
enum outfile_replaces plot_replaces(const char *picture, bool force);

/* Whether charts of that name are asked for (no names: any). */
bool plot_wants(const struct plot_options *o, const char *chart);

#endif
