/* The analysis of a run as text for people, as JSON, and as a page. Write errors stay in `f` for
 * whoever closes it. */
#ifndef S3_ANALYZE_REPORT_RUN_H
#define S3_ANALYZE_REPORT_RUN_H

#include "analyze/analysis/analysis.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

struct report_text_options {
    bool verbose; /* all hosts, clients and errors; first and last access; segments by host */
    bool colour;
};

/* In the manual's layout. False: out of memory. */
bool report_text(const struct analysis *a, const struct report_text_options *options, FILE *f,
                 struct err *e);

/* The whole document, schema s3analyze/analysis/1 (docs/json-statistics.md); memory does not grow
 * with the number of hosts. False: out of memory. */
bool report_json(const struct analysis *a, FILE *f, struct err *e);

struct report_html_options {
    const char *label;   /* the title; NULL: the captures' names */
    const char *command; /* that makes the page (output_command) */
    const char *words;   /* how requests were chosen and cut (words.h); "": not at all */
};

/* Draws the charts and writes one HTML file with everything in it. Without gnuplot the page has a
 * note in their place. False: *e says why. */
bool report_html(const struct analysis *a, const struct report_html_options *options, FILE *f,
                 struct err *e);

#endif
