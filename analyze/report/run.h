/* The analysis of a run as text for people. Write errors stay in `f` for whoever closes it. */
#ifndef S3_ANALYZE_REPORT_RUN_H
#define S3_ANALYZE_REPORT_RUN_H

#include "analyze/analysis/analysis.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

struct report_text_options {
    bool verbose; /* all hosts, clients and errors; first and last access; segments by host */
    bool colour;
    bool markdown; /* a Markdown document, which shows all */
};

/* In the manual's layout, after the answers to assertions. False: out of memory. */
bool report_text(const struct analysis *a, const struct report_text_options *options, FILE *f,
                 struct err *e);

#endif
