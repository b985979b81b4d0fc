/* The analysis as a page for people: one HTML file with everything in it. */
#ifndef S3_ANALYZE_REPORT_RUN_HTML_H
#define S3_ANALYZE_REPORT_RUN_HTML_H

#include "analyze/analysis/analysis.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

struct report_html_options {
    const char *label;   /* the title; NULL: the captures' names */
    const char *command; /* that makes the page (output_command) */
    const char *words;   /* how requests were chosen and cut (load_words.h); "": not at all */
};

/* Draws the charts and writes the page. Without gnuplot the page has a note in their place. False:
 * *e says why. Write errors stay in `f` for whoever closes it. */
bool report_html(const struct analysis *a, const struct report_html_options *options, FILE *f,
                 struct err *e);

#endif
