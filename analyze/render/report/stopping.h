/* Autoterm's replay as text and as JSON, schema s3analyze/autoterm/1. */
#ifndef S3_ANALYZE_RENDER_REPORT_STOPPING_H
#define S3_ANALYZE_RENDER_REPORT_STOPPING_H

#include "analyze/analysis/run/stopping.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* False: out of memory. Write errors stay in `f` for whoever closes it. */
bool stopping_report_text(const struct stopping *s, bool colour, FILE *f, struct err *e);
bool stopping_report_json(const struct stopping *s, FILE *f, struct err *e);

#endif
