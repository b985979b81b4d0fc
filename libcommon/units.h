/* Sizes, durations, rates and shares as people write and read them.
 *
 * The parsers take the whole string, or fail with a message that says what was expected, without
 * the option's name. The formatters print at least three significant digits (fewer only where they
 * are exact) and return their text by value: printf("%s", units_duration(ns).s). */
#ifndef S3_LIBCOMMON_UNITS_H
#define S3_LIBCOMMON_UNITS_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stdint.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_M  (60 * NS_PER_S)
#define NS_PER_H  (60 * NS_PER_M)
#define NS_PER_D  (24 * NS_PER_H)
#define MIB       0x1p20

/* Parses "65536", "64K", "10MiB", "10MB", "1.5 GiB". Every prefix is binary (10MB = 10MiB), case
 * does not matter, fractions of a byte are cut off. */
bool units_parse_size(const char *text, int64_t *bytes, struct err *e);

/* Parses "1m30s", "500ms", "1.5h", "7d"; units are ns us ms s m h d w. Only 0 needs no unit. A sign
 * is accepted only if negative_ok. */
bool units_parse_duration(const char *text, bool negative_ok, int64_t *ns, struct err *e);

/* Parses "250", "1.5k", "90/m", "10/h" or "5/s". */
bool units_parse_rate(const char *text, double *per_s, struct err *e);

/* Parses "100MiB/s", a size and "/s". */
bool units_parse_byte_rate(const char *text, double *per_s, struct err *e);

/* Parses "7.5" or "7.5%". A value between 0 and 0.5 needs the %, as 0.05 might mean 5%. */
bool units_parse_pct(const char *text, double *pct, struct err *e);

/* Parses a decimal integer, with an optional sign. */
bool units_parse_int(const char *text, int64_t *value, struct err *e);

/* Parses a finite decimal number ("2", "-0.5", "1e6"). */
bool units_parse_double(const char *text, double *value, struct err *e);

struct units_text {
    char s[48];
};

/* Formats as printf does; what is too long is cut off. */
struct units_text units_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "254ns", "1.87ms", "2.52s", "1s", "4m59.9s", "1h30m", "0s". */
struct units_text units_duration(int64_t ns);

/* Like units_duration, of a real number, which is rounded; NaN: "-". Beyond 292 years, shows 292
 * years. */
struct units_text units_real_duration(double ns);

/* A duration that is known only to bounds: "5.9 to 7.0ms (bounds)", "734us to 2.14s (bounds)". As
 * units_real_duration if that shows both alike. An infinite end: "5.9ms and more (bounds)". */
struct units_text units_bounds(double least_ns, double most_ns);

/* "512B", "1.95KiB", "98.0MiB", "321.4GiB", "1MiB". */
struct units_text units_size(double bytes);

/* Like units_size with "/s", but from 1 KiB/s on always with three digits: "98.0MiB/s",
 * "2.00MiB/s". */
struct units_text units_byte_rate(double bytes_per_s);

/* A rate of anything, without a unit: "9652.0", "73.09", "0.0123". */
struct units_text units_rate(double per_s);

/* "9652.0 obj/s" */
struct units_text units_object_rate(double per_s);

/* "12.5 %", "-3.21 %": for sentences. */
struct units_text units_pct(double pct);

/* "12.5%" of a fraction 0.125: for cells of tables, which are narrow. */
struct units_text units_frac_cell(double frac);

/* "+2.50", "-18.1", "+113", "+0.00": a change with three digits, at most two decimals; one that
 * rounds to zero is never "-0.00". */
struct units_text units_change(double change);

/* The same with n_decimals decimals. */
struct units_text units_change_to(double change, int n_decimals);

/* A percent sign in the format of a cell. */
#define UNITS_CELL_PCT "%%"

/* "84,886". */
struct units_text units_count(int64_t n);

/* "1 request", "24,032 requests"; the noun has a regular plural. */
struct units_text units_counted(int64_t n, const char *noun);

#endif
