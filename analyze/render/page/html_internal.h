/* Parts of pages: the first screen, and tables of a run's model. For the pages of this folder
 * only. */
#ifndef S3_ANALYZE_RENDER_PAGE_HTML_INTERNAL_H
#define S3_ANALYZE_RENDER_PAGE_HTML_INTERNAL_H

#include "analyze/analysis/run/analysis.h"
#include "analyze/render/plot/timeline.h"
#include "analyze/render/report/headline.h"
#include "analyze/write/sheet.h"

#include <stdint.h>
#include <stdio.h>

/* Timelines: of what the page is about (`all`), and of each operation. */
struct html_course {
    int main; /* as role_main */
    struct plot_timeline all;
    struct plot_timeline *ops; /* one per operation of the analysis; filled if it is shown */
    struct html_tables *tables;
    /* The same with shorter bins: [0] of what the page is about, [1 + k] of operation k if its
     * latency is on the first screen; n is 0 if there are none. */
    struct plot_timeline *fine;
    const char **beside; /* by operation, from run_sheet_beside */
    bool *shown; /* operations with a section, charts and data; others have a row in a table */
    size_t n_ops, n_shown;
};

/* The tables that an operation's section has. */
struct html_tables {
    bool any, hosts, clients, errors;
    bool slow_hosts; /* a chart of latency by host */
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
/* Callbacks of sheet_markup, with a struct html_course: write the name of operation k, which links
 * to its section, and a small drawing of its course, if it is shown. */
void html_course_name(FILE *f, const void *course, size_t k);
void html_course_spark(FILE *f, const void *course, size_t k);
/* Write the head and the end of an operation's section, which is folded away if `beside` is not
 * NULL. */
void html_course_section(FILE *f, const char *section, const char *op, const char *beside);
void html_course_section_end(FILE *f, bool folded);
/* Writes a section for each operation that is shown, which `put` fills: first those of the
 * benchmark, then, folded away, those beside it. */
bool html_course_sections(FILE *f, const struct html_course *c,
                          bool (*put)(const void *ctx, FILE *f, const char *section, size_t k,
                                      struct err *e),
                          const void *ctx, struct err *e);

/* The first screen: what was reached, whether that can be trusted, what happened with links to the
 * timeline and to tables, the timeline, and a table of the operations. */
struct html_first {
    const char *headline, *doubt; /* a sentence; why an interval is unreliable, "": none is */
    struct headline said;         /* of the findings */
    bool has_rate;                /* there is a throughput of what the page is about */
    int64_t n, n_ok;              /* requests; those that succeeded of what the page is about */
    const struct findings *findings;
    const struct html_course *course;
    const char *note;      /* below the title of the timeline; NULL: none */
    struct sheet *summary; /* of the operations; is emptied */
};
/* Writes the first screen. False: out of memory. */
bool html_first(FILE *f, const struct html_first *x, struct err *e);

/* Draws the timeline, for wide and for narrow screens, without gnuplot: throughput, latency, errors
 * by message and requests in flight on one axis of time. Marks warm-up, the time outside of the
 * active range, and findings. A panel that would show nothing is a sentence instead. Draws nothing
 * if there are no bins. */
void html_timeline(FILE *f, const struct html_first *x);
/* Whether the i-th finding has a mark on the timeline: an element "mark1", counted from 1. */
bool html_timeline_marks(const struct plot_timeline *t, const struct findings *found, size_t i);

/* ---- The data of the page ---- */

/* Writes an element "data" with JSON, and before it a link that saves it as NAME.json (the script
 * makes it work). Without a course the JSON is what `write` writes of *ctx. With one it is an
 * object: "analysis" is what `write` writes; "course" has "series", the timeline of the first
 * screen and those of each operation that is shown, and "fine", the same with shorter bins, null if
 * there are none. Figures that are not known are null. False: *e says why. */
bool html_data(FILE *f, const char *name, bool (*write)(const void *ctx, FILE *f, struct err *e),
               const void *ctx, const struct html_course *course, struct err *e);

#endif
