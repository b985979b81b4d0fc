/* The frame of a page: head, styles, contents, charts, definitions. A page is one file that needs
 * nothing else. */
#ifndef S3_ANALYZE_RENDER_PAGE_PAGE_H
#define S3_ANALYZE_RENDER_PAGE_PAGE_H

#include "analyze/render/plot/plot.h"
#include "analyze/write/sheet.h"
#include "analyze/write/unfinished.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* page.css, page.js, and flame.js of pages with a flame graph, which the build makes strings of. */
extern const char page_css[], page_js[], flame_js[];

/* Charts drawn for a page, in a temporary folder. */
struct html_charts {
    char *folder;
    struct unfinished unfinished; /* the folder's entry: the struct may not move */
    struct plot_set set;          /* once they are drawn, those that are missing come last */
    size_t n_drawn;
    struct plot_palette palette;
    struct plot_options options; /* for plot_add_... */
    const char *operands;        /* of the `plot` that draws the same; NULL: there is none */
    struct err missing;          /* why the first one is missing; empty: none is */
};

/* Makes the folder. False: *e says why. The caller calls html_charts_fini in any case. */
bool html_charts_init(struct html_charts *c, struct err *e);
/* Draws what was added to c->set. The page has the charts that were drawn, perhaps none. */
void html_charts_draw(struct html_charts *c);
/* Removes the folder. */
void html_charts_fini(struct html_charts *c);

/* Writes the page up to its title; further lines of the header may follow. `says` is a summary for
 * previews of links. False: *e says why. */
bool html_page_begin(FILE *f, const struct html_charts *c, const char *title, const char *says,
                     struct err *e);
/* Ends the header, with a line of `label` and `text` unless `text` is empty; begins the main part.
 */
void html_page_main(FILE *f, const char *label, const char *text);
/* Write the contents of the page: html_page_contents, links, html_page_contents_end. */
void html_page_contents(FILE *f);
void html_page_link(FILE *f, const char *id, const char *title);
void html_page_contents_end(FILE *f);
/* Writes the charts of an operation (`op` as in struct plot_picture) as figures SECTION-chart-NAME.
 * `series` is the index in the page's data (html_data) of what charts over time show; -1: none.
 * False: *e says why. */
bool html_page_charts(FILE *f, const struct html_charts *c, const char *section, int series,
                      const char *op, struct err *e);
/* Writes the command that draws charts (names, with commas) of an operation ("": of all), folded.
 */
void html_page_command(FILE *f, const struct html_charts *c, const char *charts, const char *op);
/* Whether an operation has a chart of that name. */
bool html_page_has_chart(const struct html_charts *c, const char *chart, const char *op);
/* Writes a sheet and empties it. False: out of memory. */
bool html_page_sheet(struct sheet *s, FILE *f, const char *section, struct err *e);
/* A term and what it means. */
struct html_definition {
    const char *term, *text;
};
/* Writes definitions, folded away; {0} ends the list. */
void html_page_definitions(FILE *f, const struct html_definition *v);
/* Begins the inputs of the page, folded away, with the command that made it; html_fold_end ends
 * them. */
void html_page_inputs(FILE *f, const char *command);
/* Writes a box of warnings: the items of *s, which is emptied, and why charts are missing. Nothing
 * if there are none. False: out of memory. */
bool html_page_warnings(FILE *f, const struct html_charts *c, struct sheet *s, struct err *e);
void html_page_end(FILE *f);

#endif
