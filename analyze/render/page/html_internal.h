/* Parts of pages: the first screen, and tables of a run's model. For the pages of this folder
 * only. */
#ifndef S3_ANALYZE_RENDER_PAGE_HTML_INTERNAL_H
#define S3_ANALYZE_RENDER_PAGE_HTML_INTERNAL_H

#include "analyze/analysis/run/analysis.h"
#include "analyze/render/page/page.h"
#include "analyze/render/plot/timeline.h"

#include <stdint.h>
#include <stdio.h>

/* The page of a run: what it is made from, and its timelines. */
struct html_course {
    const struct analysis *a;
    const struct html_charts *charts;
    int main;                 /* what the page is about, as role_main */
    struct plot_timeline all; /* of that */
    struct plot_timeline
        party; /* of what the first finding names that names a host, client, thread or size */
    const struct finding *named; /* that finding; NULL: there is none */
    struct plot_timeline *ops;   /* one per operation of the analysis; filled if it is shown */
    /* The same with shorter bins: [0] of what the page is about, [1 + k] of operation k if its
     * latency is on the first screen; n is 0 if there are none. */
    struct plot_timeline *fine;
    bool *shown; /* operations with a section, charts and data; others have a row in a table */
    size_t n_shown;
};

/* Fills in *c. False: *e says why. Call html_course_fini in any case. */
bool html_course_init(struct html_course *c, const struct analysis *a, struct err *e);
void html_course_fini(struct html_course *c);
/* Chooses the operations with the most requests, whose latency is drawn separately; they keep their
 * order. Returns how many. */
#define HTML_COURSE_CHOSEN 4
size_t html_course_choose(const struct html_course *c, size_t chosen[HTML_COURSE_CHOSEN]);
/* Returns the name of a column of the page's data. */
const char *html_data_column(enum plot_course what);
/* Returns the index of operation k among the series of the page's data. */
int html_course_series(const struct html_course *c, size_t k);
/* Write the head and the end of an operation's section, which is folded away below `fold` unless
 * that is NULL. */
void html_section(FILE *f, const char *section, const char *op, const char *fold);
void html_section_end(FILE *f, const char *fold);

/* Writes the first screen: what was reached, whether that can be trusted, what happened with links
 * to the timeline and to tables, the timeline, and a table of the operations. False: out of
 * memory. */
bool html_first(FILE *f, const struct html_course *c, struct err *e);

/* Draws the timeline of an operation, or of what the page is about (c->main), for wide and for
 * narrow screens, without gnuplot: throughput, latency, errors by message and requests in flight on
 * one axis of time. Marks warm-up, the time outside of the active range, and findings. A panel that
 * would show nothing is a sentence instead. Draws nothing if there are no bins. */
void html_timeline(FILE *f, const struct html_course *c, int index);
/* Whether the i-th finding has a mark on the timeline: an element "mark1", counted from 1. */
bool html_timeline_marks(const struct html_course *c, size_t i);

/* ---- The data of the page ---- */

/* Writes an element "data" with JSON, and before it a link that saves it as NAME.json (the script
 * makes it work). Without a course the JSON is what `write` writes of *ctx. With one it is an
 * object: "analysis" is what `write` writes; "course" has "series", the timeline of the first
 * screen and those of each operation that is shown, and "fine", the same with shorter bins, null if
 * there are none. Figures that are not known are null. False: *e says why. */
bool html_data(FILE *f, const char *name, bool (*write)(const void *ctx, FILE *f, struct err *e),
               const void *ctx, const struct html_course *course, struct err *e);

#endif
