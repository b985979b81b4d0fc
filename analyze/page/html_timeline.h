/* The course of a run as drawings of our own, which need no gnuplot and follow the page's theme:
 * the annotated timeline of the first screen, and small lines for tables. */
#ifndef S3_ANALYZE_PAGE_HTML_TIMELINE_H
#define S3_ANALYZE_PAGE_HTML_TIMELINE_H

#include "analyze/findings/finding.h"
#include "analyze/plot/timeline.h"

#include <stdbool.h>
#include <stdio.h>

#define HTML_TIMELINE_MARKS 9 /* findings that are marked; further ones stand in the list alone */

/* Whether the i-th finding has a mark on the timeline: an element "mark1", counted from 1. */
bool html_timeline_marks(const struct plot_timeline *t, const struct findings *found, size_t i);

/* What a timeline is of. */
struct html_timeline {
    const struct plot_timeline *all;
    const struct plot_timeline *ops; /* n_ops whose latency is drawn where *all has none */
    size_t n_ops;
    const struct findings *findings;
    const char *note; /* a sentence for its caption; "": none */
};

/* The figure, drawn for wide and for narrow screens: throughput, latency, errors by message and
 * requests in flight on one axis of time, with warm-up, the time outside of the active range and
 * findings marked. A panel that would say nothing is a sentence instead. Nothing where there are no
 * bins. */
void html_timeline(FILE *f, const struct html_timeline *t);

/* A line without axes: throughput over the time of *t. */
void html_timeline_spark(FILE *f, const struct plot_timeline *t);

#endif
