/* Figures as a page writes them. */
#ifndef S3_ANALYZE_REPORT_HTML_CELLS_H
#define S3_ANALYZE_REPORT_HTML_CELLS_H

#include "libcommon/units.h"

#include <stdint.h>

/* A duration; NaN: "-". */
struct units_text html_cells_ns(double ns);
/* The time of day in UTC, "05:41:42.505". */
struct units_text html_cells_clock(int64_t ns);
/* The day too, "2026-11-21 05:41:42.505". */
struct units_text html_cells_moment(int64_t ns);
/* The name of a host or client, which may be empty. */
const char *html_cells_party(const char *name);

#endif
