/* The panels of a timeline, one below the other: throughput, latency, failed requests, requests in
 * flight. Used by html_timeline.c and by nothing else. */
#ifndef S3_ANALYZE_PAGE_HTML_PANELS_H
#define S3_ANALYZE_PAGE_HTML_PANELS_H

#include "analyze/page/html_timeline.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define HTML_PANELS_GAP_PX   6  /* below each */
#define HTML_PANELS_TITLE_PX 18 /* above each */

struct html_drawing {
    FILE *f;
    const struct html_timeline *of;
    const char *prefix; /* of ids: each drawing has its own */
    bool narrow;
    double width, left, right; /* the panels lie between left and right */
    double y;                  /* where the next panel begins */
};

/* Where a time is, from left to right. */
double html_panels_x(const struct html_drawing *d, int64_t ns);

/* The least 1, 2 or 5 times a power of ten that is at least that. */
double html_panels_round_step(double least);

/* Of all panels that there are, in pixels. */
double html_panels_height(const struct html_drawing *d);

/* Draws them from d->y on, which moves down. */
void html_panels_put(struct html_drawing *d);

/* Sentences on what is in no panel. */
void html_panels_left_out(FILE *f, const struct html_timeline *of);

#endif
