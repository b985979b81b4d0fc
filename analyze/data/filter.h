/* Selects requests by operation, host and client. */
#ifndef S3_ANALYZE_DATA_FILTER_H
#define S3_ANALYZE_DATA_FILTER_H

#include "analyze/base/intern.h"
#include "libcommon/err.h"
#include "libcommon/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sizes of requests in bytes, both ends included. */
struct filter_sizes {
    bool given; /* false: all */
    int64_t least, most;
};

/* The requests to keep. NULL or 0 means all. */
struct dataset_filter {
    const char *const *ops; /* names; case does not matter */
    size_t n_ops;
    const char *host;   /* exact name, else glob */
    const char *client; /* exact name, else glob */
    struct filter_sizes sizes;
};

static inline bool filter_size_matches(const struct filter_sizes *sizes, int64_t bytes)
{
    return !sizes->given || (bytes >= sizes->least && bytes <= sizes->most);
}

/* A point in time: absolute, or ns since the run's first start. A time of day is ns since midnight,
 * and means the first such time from the run's first second on. */
struct filter_time {
    bool given, is_relative, is_of_day; /* of a time of day both are true */
    int64_t ns;
};

/* Parses a moment (RFC 3339, or as reports print it: "2026-11-21 05:41:32.5", "05:41:32.5"), or a
 * duration into the run, into a struct filter_time. */
bool filter_parse_time(const char *text, void *time, struct err *e);

/* Returns the moment, for a run whose first request starts then. */
int64_t filter_time_at(const struct filter_time *t, int64_t run_start_ns);

/* "1m30s into the run", "05:41:32.500", or a moment. */
struct units_text filter_time_text(const struct filter_time *t);

/* Parses "1MiB", "1MiB..4MiB", "1MiB.." or "..4MiB" into a struct filter_sizes. */
bool filter_parse_sizes(const char *text, void *sizes, struct err *e);

/* "1MiB", or "1MiB to 4MiB". */
struct units_text filter_sizes_text(const struct filter_sizes *sizes);

/* Whether the host or client `name` matches `pattern`, which is a name or a glob, with or without
 * the scheme ("http://"). NULL matches every name. */
bool filter_name_matches(const char *pattern, const char *name);

/* Whether `op` is one of n operations; case does not matter. True if n is 0. */
bool filter_op_matches(const char *const *ops, size_t n, const char *op);

/* Names of the structs of an array: each begins with a pointer to its name. */
struct filter_names {
    const void *first;
    size_t n, step; /* structs; bytes from one to the next */
};

/* The names of a map from strings to ids. */
static inline struct filter_names filter_interned(const struct intern *t)
{
    return (struct filter_names){t->strings, t->n, sizeof *t->strings};
}

/* Whether all n operations are among the names. False: *e names the unknown one and lists the
 * known; it is wrong usage. */
bool filter_ops_known(struct filter_names names, const char *const *ops, size_t n, struct err *e);

/* Sets *e to wrong usage: the capture has no host, client or operation (`kind`) called `wanted`,
 * and which ones it has. Returns false. */
bool filter_list_known(struct filter_names names, const char *kind, const char *wanted,
                       struct err *e);

#endif
