/* Values of profiles as `go tool pprof` writes them. */
#ifndef S3_ANALYZE_TOOLS_PROFILE_UNITS_H
#define S3_ANALYZE_TOOLS_PROFILE_UNITS_H

#include <stdint.h>

struct profile_text {
    char s[96];
};

/* A value in some unit; `unit` is "" if it has no name worth printing, as for counts. */
struct profile_scaled {
    double value;
    const char *unit;
};

/* Converts a value between units of time or of bytes. `to` "minimum" or "auto": to the largest unit
 * in which it is at least 1. A value in an unknown unit stays as it is. */
struct profile_scaled profile_scale(int64_t value, const char *from, const char *to);

/* Returns the value in the unit `to`, with up to two decimals: "1.50s". */
struct profile_text profile_format(int64_t value, const char *from, const char *to);

/* Returns value / total in percent, without its sign, six columns wide: " 4.64%". */
struct profile_text profile_pct(int64_t value, int64_t total);

#endif
