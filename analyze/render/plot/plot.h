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
#define PLOT_WIDTH         860
#define PLOT_HEIGHT        400
#define PLOT_NARROW_HEIGHT 350
#define BASE_FONT_PX       13 /* text that can be read in the smallest picture */

struct plot_options {
    const char *folder;        /* for data and pictures */
    const char *stem;          /* file name of a single picture, without suffix; NULL: each chart
                                  has its own */
    const char *const *charts; /* names; n_charts 0: those that show something */
    size_t n_charts;
    const char *label;              /* before every title; NULL: none */
    bool benchmark_only;            /* not of operations that ran before it, to prepare it */
    const bool *operations;         /* which are drawn, one for each; NULL: all */
    bool no_titles;                 /* pictures without a title, for a report that has its own */
    bool lists_findings;            /* below pictures that number them */
    const char *format;             /* "svg", "png", "pdf", in any case */
    const char *theme;              /* "light", "dark" */
    int width, height;              /* pixels; 0: as suits the chart */
    double inches;                  /* width in print; 0: none, the pixels say all */
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
    char *missing;                 /* why plot_draw has not drawn it; NULL: it has */
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

/* Adds a chart of each metric of a group of runs, as pictures of the "operation" `id`; at most
 * PLOT_TREND_MOST of a group. False: *e says why. */
#define PLOT_TREND_MOST 12
struct trend_group;
bool plot_add_trend(struct plot_set *s, const struct trend_group *g, const char *id,
                    const struct plot_options *o, struct err *e);

/* Adds a chart of the response times of a capacity plan or a sweep, and one of the throughput of a
 * sweep. Adds nothing if no run has such a figure. False: *e says why. */
struct plan;
bool plot_add_plan(struct plot_set *s, const struct plan *p, const struct plot_options *o,
                   struct err *e);

/* Adds a response curve for each operation and size of a table, whose rows it sorts: latency over
 * throughput, a point for each level of load, a line for each system. With a stem there is one: of
 * the most requests. Adds nothing where no run has such figures. False: *e says why; wrong usage if
 * there are more systems than PLOT_MOST_SYSTEMS, or runs differ in more than their load. */
#define PLOT_MOST_SYSTEMS 6
struct columns_table;
bool plot_add_response(struct plot_set *s, struct columns_table *t, const struct plot_options *o,
                       struct err *e);

/* Draws the pictures beside their data with gnuplot, two at a time. Each appears whole or not at
 * all. The script CHART.gp reads the data, and writes a picture in the format of its suffix. The
 * scripts are in $S3ANALYZE_PLOTS, where `make install` puts them, or in the source tree that the
 * program was built in. False: *e is the reason of the first picture that is missing, or says why
 * none was drawn; data without a picture are gone. */
bool plot_draw(struct plot_set *s, const struct plot_options *o, struct err *e);

void plot_set_free(struct plot_set *s);

/* Returns what a picture may replace: any file, if `force` is set or a data file of ours lies
 * beside it (same name, .tsv); else none. The picture's name has an extension. */
enum outfile_replaces plot_replaces(const char *picture, bool force);

/* Whether charts of that name are asked for (no names: any). */
bool plot_wants(const struct plot_options *o, const char *chart);

/* A chart that may be asked for, in the order of a report. */
struct plot_listed {
    const char *name, *title;
    bool is_by_name; /* drawn only if it is asked for */
};
/* Returns the i-th chart of a run or of a comparison; its name is NULL if there are no more. */
struct plot_listed plot_listed(bool of_comparison, size_t i);

/* ---- Pictures in pages ---- */

/* Colours of the charts by role, as plots/style.gp defines them. */
#define PLOT_SVG_MAX_COLOURS 40
struct plot_palette {
    struct plot_colour {
        char name[16];          /* "c_1" */
        char light[8], dark[8]; /* "#0069b4" */
    } v[PLOT_SVG_MAX_COLOURS];
    size_t n;
};

/* Reads the palette from the scripts. False: *e says why. */
bool plot_palette_read(struct plot_palette *p, struct err *e);

/* Writes the picture at `path` (of the light theme) as an element of a page: it fits the page's
 * width, and its colours are variables such as var(--c_1). The first one of a page has the
 * definitions that all refer to. */
bool plot_svg_inline(FILE *f, const char *path, const char *title, const char *css_class,
                     bool is_first, const struct plot_palette *palette, struct err *e);

#endif
