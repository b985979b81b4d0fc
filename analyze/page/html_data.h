/* What a page was made from, within it: for the script, and for who saves it. */
#ifndef S3_ANALYZE_PAGE_HTML_DATA_H
#define S3_ANALYZE_PAGE_HTML_DATA_H

#include "analyze/page/html_internal.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes an element "data" with the JSON that `write` writes of *ctx, and before it a link that
 * saves it as NAME.json, which the script makes work. With a course it is an object of that, as
 * "analysis", and of the course: the series of the first screen, then of each operation, in which
 * figures that are not known are null. Takes the memory of the report. False: *e says why. */
bool html_data(FILE *f, const char *name, bool (*write)(const void *ctx, FILE *f, struct err *e),
               const void *ctx, const struct html_course *course, struct err *e);

#endif
