/* Adds what gnuplot's SVG lacks: a title, sharp heat maps; and for a page, colours that follow its
 * theme and names that do not clash. */
#ifndef S3_ANALYZE_RENDER_PLOT_SVG_H
#define S3_ANALYZE_RENDER_PLOT_SVG_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Colours of the charts by role, as plots/style.gp defines them. */
#define PLOT_SVG_MAX_COLOURS 40
struct plot_palette {
    struct plot_colour {
        char name[16];          /* "c_1" */
        char light[8], dark[8]; /* "#0069b4" */
    } v[PLOT_SVG_MAX_COLOURS];
    size_t n;
};

/* Reads the palette from the folder of the scripts. False: *e says why. */
bool plot_palette_read(struct plot_palette *p, const char *scripts, struct err *e);

/* Copies the picture at `from` to `path`, gives it its title and the size at which it is shown, in
 * pixels. */
bool plot_svg_finish(const char *from, const char *path, const char *title, int width, int height,
                     struct err *e);

/* Writes the picture at `path` (of the light theme) as an element of a page: it fits the page's
 * width, its names begin with `prefix`, its colours are variables such as var(--c_1). */
bool plot_svg_inline(FILE *f, const char *path, const char *title, const char *css_class,
                     const char *prefix, const struct plot_palette *palette, struct err *e);

/* Writes the definitions that all such pictures refer to, taken from the picture at `path` (any of
 * them). A page must have them once. */
bool plot_svg_defs(FILE *f, const char *path, struct err *e);

#endif
