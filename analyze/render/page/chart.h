/* Draws charts over time as SVG, without gnuplot: panels, one below the other on one axis of time.
 * A panel says what it shows and how high it is. Its scale follows from its series. */
#ifndef S3_ANALYZE_RENDER_PAGE_CHART_H
#define S3_ANALYZE_RENDER_PAGE_CHART_H

#include "analyze/render/plot/timeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CHART_GAP_PX     6  /* below each panel */
#define CHART_TITLE_PX   18 /* above each panel */
#define CHART_AXIS_PX    36 /* height of the axis of time */
#define CHART_MAX_SERIES 4

struct chart {
    FILE *f;
    int64_t start_ns, end_ns;  /* of the axis */
    bool narrow;               /* for narrow screens: keys are below titles */
    double width, left, right; /* in pixels; panels lie between left and right */
    double y;                  /* where the next panel begins */
};

/* A series with a value for each bin: drawn as steps or, for failed requests of one message, as
 * bars on top of those of the messages before it. */
struct chart_series {
    const struct plot_timeline *t;
    enum plot_course what;
    const struct plot_timeline_message *message; /* of bars; NULL: steps */
    const char *css;                             /* its class in page.css */
    const char *name;                            /* in the legend; NULL: not there */
    bool has_band;      /* the timeline's band of this value is drawn behind it */
    const char *column; /* its name in the page's data, for a script; NULL: not there */
    int series;         /* its index in the page's data */
};

enum chart_values { CHART_NUMBERS, CHART_COUNTS, CHART_BYTES_PER_S, CHART_TIMES };

struct chart_panel {
    const char *title;
    const char *unit; /* "": none; bytes and times have their own */
    enum chart_values values;
    double height;
    struct chart_series v[CHART_MAX_SERIES];
    size_t n;
    /* ---- Set by chart_fit ---- */
    double scale;       /* data is divided by it */
    double least, most; /* of the axis, in units of scale */
    bool is_log;
    double top; /* set where it is drawn */
};

/* Chooses unit and axis. False: the panel has nothing but zeros to show. */
bool chart_fit(struct chart_panel *p);

/* Returns the greatest value of a timeline, at least 0. */
double chart_most(const struct plot_timeline *t, enum plot_course what);

/* Returns the x of a time; at the edge if it is beyond the axis. */
double chart_x(const struct chart *c, int64_t ns);

/* Returns the height of n panels together, in pixels. */
double chart_height(const struct chart *c, const struct chart_panel *v, size_t n);

/* Draws a panel at c->y, which moves down. */
void chart_put(struct chart *c, struct chart_panel *p);

/* Draws the axis of time at c->y, which moves down. It names the shortest and the longest bins of
 * the n panels. */
void chart_put_axis(struct chart *c, const struct chart_panel *v, size_t n);

/* Shades a span of time from `top` to `bottom`, with class `css`. */
void chart_shade(const struct chart *c, int64_t from_ns, int64_t to_ns, double top, double bottom,
                 const char *css);

/* Draws a small line without axes: throughput over the time of *t. Nothing if there are no bins. */
void chart_spark(FILE *f, const struct plot_timeline *t);

#endif
