/* A comparison as a page for people: one HTML file with everything in it. */
#ifndef S3_ANALYZE_REPORT_HTML_COMPARE_H
#define S3_ANALYZE_REPORT_HTML_COMPARE_H

#include "analyze/compare/compare.h"
#include "analyze/plot/compare.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* Draws the charts and writes the page; `words` say how requests were chosen and cut
 * (load_words.h), `command` which command makes the page (output_command). Without gnuplot the page
 * has a note in their place. False: *e says why. Write errors stay in `f` for whoever closes it. */
bool html_compare(const struct compare *c, const struct plot_traces *traces, const char *words,
                  const char *command, FILE *f, struct err *e);

#endif
