/* Functions with which the readers of the formats build a profile. All return false, or
 * INTERN_NONE, and fill *e when memory runs out or a limit is exceeded. */
#ifndef S3_ANALYZE_TOOLS_PROFILE_PROFILE_INTERNAL_H
#define S3_ANALYZE_TOOLS_PROFILE_PROFILE_INTERNAL_H

#include "analyze/tools/profile/profile.h"

/* Limits of one profile. Profiles of the largest servers stay below a tenth of these. */
#ifndef PROFILE_MAX_BYTES
#define PROFILE_MAX_BYTES (128u << 20)
#endif
#define PROFILE_MAX_ALL_BYTES ((size_t)PROFILE_MAX_BYTES * 4) /* of all that are added up */
#define PROFILE_MAX_SAMPLES   2000000u
#define PROFILE_MAX_ENTRIES   1000000u  /* functions, locations or mappings */
#define PROFILE_MAX_STACK     32000000u /* functions in the stacks of all samples */
#define PROFILE_MAX_COMMENTS  256u
#define PROFILE_MAX_VALUE     (INT64_C(1) << 62)

/* Returns a text that lives as long as the profile, made safe to print. Equal texts are the same
 * pointer. NULL: out of memory. */
const char *profile_name(struct profile *p, struct slice text, struct err *e);

/* Returns the last part of a path, without slashes at its end. */
struct slice profile_base(const char *path);

/* Returns the number of a function. If `name` is "", the program and the function's first line
 * identify it. */
uint32_t profile_frame(struct profile *p, const char *name, const char *program, uint64_t line,
                       struct err *e);

/* Sets the types of the next samples; they must equal the types of what was added before. */
bool profile_set_types(struct profile *p, const struct profile_type *types, size_t n,
                       struct err *e);

/* Adds a function to the stack of the next sample, the innermost first; is_inlined: into the one
 * that is added next. */
bool profile_put_call(struct profile *p, uint32_t frame, bool is_inlined, struct err *e);

/* Ends a sample, with a value for each type. */
bool profile_end_sample(struct profile *p, const int64_t *values, bool is_base, struct err *e);

/* Adds the time, the length and a comment of a profile. */
void profile_put_time(struct profile *p, int64_t time_ns, int64_t duration_ns, bool is_base);
bool profile_put_comment(struct profile *p, const char *text, struct err *e);

/* Readers of the two formats; the bytes are uncompressed. */
bool proto_add(struct profile *p, struct slice bytes, bool is_base, struct err *e);
bool perf_script_add(struct profile *p, struct slice text, bool is_base, struct err *e);

/* Whether a text looks like output of `perf script`. */
bool perf_script_is(struct slice text);

/* ---- Values as `go tool pprof` writes them (units.c) ---- */

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
