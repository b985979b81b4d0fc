/* Draws charts: runs gnuplot with the scripts of the folder plots/. */
#ifndef S3_ANALYZE_RENDER_PLOT_GNUPLOT_H
#define S3_ANALYZE_RENDER_PLOT_GNUPLOT_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

struct plot_gnuplot {
    char *scripts; /* the folder */
};

/* Finds the scripts: in $S3ANALYZE_PLOTS, where `make install` puts them, or in the source tree
 * that the program was built in. False: *e says what is missing. plot_gnuplot_fini may be called in
 * any case. */
bool plot_gnuplot_init(struct plot_gnuplot *g, struct err *e);
void plot_gnuplot_fini(struct plot_gnuplot *g);

/* One picture. scripts/CHART.gp reads `data` and writes `picture` in the format of its suffix
 * (.svg, .png, .pdf). The picture appears whole or not at all. */
struct plot_drawing {
    const char *chart;
    const char *data, *picture; /* paths */
    int width, height;          /* pixels */
    int font_px;                /* 0: as suits the size */
    const char *theme;          /* "light" or "dark" */
    const char *title;          /* of SVG, in which gnuplot puts its own name; else NULL */
};

/* Draws all n, two at a time. gnuplot gets nothing but paths and sizes on its command line. False:
 * *e holds gnuplot's message about the first picture that failed, or the package that is
 * missing. */
bool plot_gnuplot_draw(const struct plot_gnuplot *g, const struct plot_drawing *drawings, size_t n,
                       struct err *e);

#endif
