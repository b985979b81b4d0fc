/* The analysis as text for people, in the manual's layout. */
#ifndef S3_ANALYZE_REPORT_RUN_TEXT_H
#define S3_ANALYZE_REPORT_RUN_TEXT_H

#include "analyze/analysis/analysis.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

struct report_text_options {
    bool verbose; /* all hosts, clients and errors; first and last access; segments by host */
    bool colour;
};

/* False: out of memory. Write errors stay in `f` for whoever closes it. */
bool report_text(const struct analysis *a, const struct report_text_options *options, FILE *f,
                 struct err *e);

#endif
