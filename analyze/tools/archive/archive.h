/* Many runs, one after another in time: `table` lists them and `trend` judges them. */
#ifndef S3_ANALYZE_TOOLS_ARCHIVE_ARCHIVE_H
#define S3_ANALYZE_TOOLS_ARCHIVE_ARCHIVE_H

#include "analyze/tools/compare/compare.h"
#include "libcommon/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run's name (paths_shorten) without the suffix of a capture. */
struct archive_label {
    char s[201];
};
struct archive_label archive_label(const char *name);

struct archive_run {
    char *path;
    struct archive_label label;
    /* The system that it is of: the name of its folder (paths_shorten); if all runs lie in one
     * folder, what s3load --label named it. */
    struct archive_label system;
    struct run_kept kept;
};

/* A file of a folder that could not be read. */
struct archive_unread {
    char *path, *why;
    bool lacks_op;  /* it can be read, but has none of what --op, --host or --client names */
    bool is_newest; /* written after the last run began: it may be a later run */
};

struct archive {
    struct archive_run *runs; /* by start, then by path */
    size_t n;
    struct archive_unread *unread;
    size_t n_unread;
};

/* Lists the files that operands name, for archive_free_paths: files themselves, and from a folder
 * the files whose names end like captures, sums and aggregated captures (.csv, .csv.zst, .json.zst,
 * .sums.zst). A file that is named twice is listed once. False: *e says which folder cannot be
 * read, or has no such file. */
struct archive_paths {
    char **v;
    size_t n;
    const char *const *operands; /* borrowed; all others are files of folders */
    size_t n_operands;
};
bool archive_find(struct archive_paths *out, const char *const *operands, size_t n, struct err *e);
/* Whether a file's name is that of a capture, of sums or of an aggregated capture. */
bool archive_is_capture(const char *name);
/* Adds the files of a folder, in no order. False: *e says why it cannot be read. */
bool archive_list(struct archive_paths *out, const char *folder, struct err *e);
/* Whether a path is of a folder, and no operand itself. */
bool archive_is_found(const struct archive_paths *p, const char *path);
void archive_free_paths(struct archive_paths *p);

/* Reads the runs. A file of a folder that cannot be read goes to a->unread; an operand that cannot
 * be read is an error. With the cache only files that are not in it are read (cache.h). The caller
 * calls archive_free in any case. */
bool archive_load(struct archive *a, const struct archive_paths *paths,
                  const struct run_options *how, bool with_cache, struct err *e);
void archive_free(struct archive *a);

/* A setting in which two runs differ, in words: "object size of GET", "4KiB", "64KiB". */
struct archive_difference {
    char what[100], a[100], b[100];
};

/* Finds the first setting in which two runs differ, so that they are no repetitions of each other
 * (alike.h). at_any_load: concurrency, rate and duration may differ, as between the points of a
 * response curve. False: there is none. */
bool archive_differ(const struct run_kept *a, const struct run_kept *b, bool at_any_load,
                    struct archive_difference *d);

/* Returns a figure of an operation; NaN: it has none, or one that has no logarithm. */
double archive_value(const struct run_kept_op *op, enum run_metric metric);
/* Whether it is known to bounds only. */
bool archive_is_bounded(const struct run_kept_op *op, enum run_metric metric);

/* Returns the throughput that an operation is judged by: objects/s if sizes differ or there are no
 * bytes. */
enum run_metric archive_rate_metric(const struct run_kept_op *op);

#endif
