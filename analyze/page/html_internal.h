/* The parts of pages: the first screen, and tables of a run's model. Used by the room's pages and
 * by nothing else. */
#ifndef S3_ANALYZE_PAGE_HTML_INTERNAL_H
#define S3_ANALYZE_PAGE_HTML_INTERNAL_H

#include "analyze/analysis/analysis.h"
#include "analyze/plot/timeline.h"
#include "analyze/write/sheet.h"

#include <stdint.h>
#include <stdio.h>

/* What happened when: of what the page is about, and of each operation. */
struct html_course {
    int main; /* as role_main */
    struct plot_timeline all;
    struct plot_timeline *ops; /* as many as the analysis has operations; of those that are shown */
    struct html_tables *tables;
    /* For a closer look: [0] of what the page is about, [1 + k] of operation k if its latency is on
     * the first screen; n is 0 where there is nothing finer. */
    struct plot_timeline *fine;
    const char **beside; /* by operation, as html_course_beside */
    bool *shown; /* operations with a section, charts and data; others have a row in a table */
    size_t n_ops, n_shown;
};

/* The tables that an operation's section has. */
struct html_tables {
    bool any, hosts, clients, errors;
    bool slow_hosts; /* a chart of latency by host */
};

/* False: *e says why. html_course_fini may be called in any case. */
bool html_course_init(struct html_course *c, const struct analysis *a, struct err *e);
void html_course_fini(struct html_course *c);
/* The operations with the most requests, whose latency is drawn each for itself, in their order.
 * Returns how many. */
#define HTML_COURSE_CHOSEN 4
size_t html_course_choose(const struct html_course *c, size_t chosen[HTML_COURSE_CHOSEN]);
/* What a column of the page's data is called. */
const char *html_data_column(enum plot_course what);
/* The number of operation k among the series of the page's data. */
int html_course_series(const struct html_course *c, size_t k);
/* For sheet_markup, with a struct html_course: the name of operation k, which links to its section,
 * and a small drawing of its course, if it is shown. */
void html_course_name(FILE *f, const void *course, size_t k);
void html_course_spark(FILE *f, const void *course, size_t k);
/* What an operation beside the benchmark is called; NULL: it is of the benchmark. */
const char *html_course_beside(enum role role);
/* The head and the end of an operation's section, which is folded away if `beside` is not NULL. */
void html_course_section(FILE *f, const char *section, const char *op, const char *beside);
void html_course_section_end(FILE *f, bool folded);
/* A section for each operation, which `put` fills: what the page is about first; what only prepared
 * it is folded away. */
bool html_course_sections(FILE *f, const struct html_course *c,
                          bool (*put)(const void *ctx, FILE *f, const char *section, size_t k,
                                      struct err *e),
                          const void *ctx, struct err *e);

/* The first screen: what was reached, whether that can be trusted, what happened with links to the
 * timeline and to tables, the timeline, and a table of the operations. */
struct html_first {
    const char *headline, *doubt; /* a sentence; why its interval may not hold, "": nothing */
    bool has_rate;                /* there is a throughput of what the page is about */
    int64_t n, n_ok;              /* requests; those that succeeded of what the page is about */
    const struct findings *findings;
    const struct html_course *course;
    const char *note;      /* below the title of the timeline; NULL: none */
    struct sheet *summary; /* of the operations; is emptied */
};
/* False: out of memory. */
bool html_first(FILE *f, const struct html_first *x, struct err *e);

/* Its timeline, drawn for wide and for narrow screens without gnuplot: throughput, latency, errors
 * by message and requests in flight on one axis of time, with warm-up, the time outside of the
 * active range and findings marked. A panel that would say nothing is a sentence instead. Nothing
 * where there are no bins. */
void html_timeline(FILE *f, const struct html_first *x);
/* Whether the i-th finding has a mark on the timeline: an element "mark1", counted from 1. */
bool html_timeline_marks(const struct plot_timeline *t, const struct findings *found, size_t i);

/* ---- The data of the page ---- */

/* Writes an element "data" with the JSON that `write` writes of *ctx, and before it a link that
 * saves it as NAME.json, which the script makes work. With a course it is an object of that, as
 * "analysis", and of the course: as "series" that of the first screen, then those of each operation
 * that is shown; as "fine" the same in shorter bins, null where there are none. Figures that are
 * not known are null. False: *e says why. */
bool html_data(FILE *f, const char *name, bool (*write)(const void *ctx, FILE *f, struct err *e),
               const void *ctx, const struct html_course *course, struct err *e);

#endif
