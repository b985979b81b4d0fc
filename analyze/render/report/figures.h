/* Figures and times as text and pages show them. */
#ifndef S3_ANALYZE_RENDER_REPORT_FIGURES_H
#define S3_ANALYZE_RENDER_REPORT_FIGURES_H

#include "analyze/base/phrase.h"
#include "analyze/summary/model/fields.h"
#include "libcommon/units.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns the text of a figure of a group (fields.h); "-": not known. */
struct units_text figures_field(const struct field *x, const void *group);

/* Return the time of day in UTC, "05:41:42.505", and with the day, "2026-11-21 05:41:42.505". They
 * are cut, not rounded, as every clock is. */
struct units_text figures_clock(int64_t ns);
struct units_text figures_moment(int64_t ns);
/* Returns figures_moment if dates are needed, else figures_clock. */
struct units_text figures_time(bool has_dates, int64_t ns);
/* "24,032 requests in 8s from 2026-11-21 05:41:41 UTC" */
struct figures_run {
    char s[160];
};
struct figures_run figures_run(int64_t n_requests, int64_t start_ns, int64_t duration_ns);
/* Returns a file's name without its folders. */
const char *figures_file(const char *path);
/* A duration, as units_real_duration shows it. */
struct units_text figures_ms(double ms);
/* Returns a byte rate in the unit that suits `largest`, so that the rates of a column compare at a
 * glance. */
struct units_text figures_rate_like(double bytes_per_s, double largest);
/* "1KiB -> 10KiB", "10KiB up" */
struct units_text figures_bucket(const struct size_bucket *b);

#endif
