/* A profile: where a program spent what was sampled, as stacks of functions. Several profiles add
 * up to one: those of the nodes of a cluster, or a profile minus its base. As in `go tool pprof`,
 * stacks are of functions. Sums are exact: a sum past 64 bits is an error. */
#ifndef S3_ANALYZE_TOOLS_PROFILE_PROFILE_H
#define S3_ANALYZE_TOOLS_PROFILE_PROFILE_H

#include "analyze/base/intern.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_MAX_TYPES 16

/* What a sample counts: "cpu" in "nanoseconds". */
struct profile_type {
    const char *name, *unit;
};

struct profile_sample {
    size_t stack; /* the first of its functions */
    uint32_t n_stack;
    bool is_base; /* belongs to the base, which is subtracted */
};

/* A function in a stack. There are fewer than PROFILE_MAX_ALL_BYTES functions. */
struct profile_call {
    uint32_t frame : 31;
    uint32_t is_inlined : 1; /* inlined into the next function */
};

/* The time in which profiles were taken; 0, 0: unknown. */
struct profile_window {
    int64_t start_ns, end_ns;
};

struct profile {
    const char *file, *build_id; /* of the program; "": not given */
    const char *default_type, *doc_url;
    const char **comments;
    size_t n_comments;
    int64_t time_ns;                  /* start; 0: unknown */
    int64_t duration_ns;              /* length; of several profiles: their sum; 0: unknown */
    struct profile_window windows[2]; /* of the profiles; and of the base */
    size_t n_profiles;
    bool has_base, has_negative; /* has_negative: in a profile itself, so it is a difference */
    size_t n_bytes;              /* of all profiles, unpacked */
    size_t line;                 /* of a text at which reading it failed; 0: it is no text */

    struct profile_type types[PROFILE_MAX_TYPES];
    size_t n_types;
    int64_t sums[PROFILE_MAX_TYPES]; /* sums of the absolute values: no sum of values exceeds
                                        them */

    const char **shown; /* by frame: the function's name, or a text in place of it */

    struct profile_sample *samples;
    size_t n_samples;
    int64_t *values; /* by sample, then by type */
    size_t cap_values;
    struct profile_call *stack; /* of all samples; each begins with the innermost function */
    size_t n_stack, cap_stack;

    /* While samples are added */
    struct profile_sample next; /* the one that is being read */
    struct intern names, frame_keys;
};

void profile_free(struct profile *p);

/* Adds a profile of n bytes: profile.proto, or the output of `perf script`, either also as gzip.
 * The values of a base count as negative. False: *e says what is wrong with it, and p can only be
 * freed. */
bool profile_add(struct profile *p, const unsigned char *bytes, size_t n, bool is_base,
                 struct err *e);

/* Returns the index of the type called `name`; NULL or "": of the default type. SIZE_MAX: there is
 * none, and *e lists them. */
size_t profile_type_index(const struct profile *p, const char *name, struct err *e);

/* Returns the total that percentages refer to: that of the base, if there is one, else of all. */
int64_t profile_total(const struct profile *p, size_t type);

/* Returns the value of a sample, by type. */
static inline int64_t profile_value(const struct profile *p, size_t sample, size_t type)
{
    return p->values[sample * p->n_types + type];
}

#endif
