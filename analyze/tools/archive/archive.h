/* Many runs, one after another in time: `table` lists them and `trend` judges them. For each run a
 * few hundred bytes are kept: its settings, and the figures that cmp compares. */
#ifndef S3_ANALYZE_TOOLS_ARCHIVE_ARCHIVE_H
#define S3_ANALYZE_TOOLS_ARCHIVE_ARCHIVE_H

#include "analyze/tools/compare/compare.h"
#include "libcommon/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A figure of a run with its 95 % interval; NaN: not known. */
struct archive_figure {
    double value, lo, hi;
};

#define ARCHIVE_N_SETTINGS (COMPARE_MIXED + 1)

/* Only doubles, so that the cache need not know what they mean. */
struct archive_numbers {
    double setting[ARCHIVE_N_SETTINGS];           /* by enum compare_setting_kind; NaN: none */
    struct archive_figure figure[RUN_N_COMPARED]; /* by enum run_metric */
    double dead_frac;                             /* operation_dead_frac */
};

struct archive_op {
    char *op;
    bool is_beside;    /* not part of the benchmark: it prepared or cleaned up */
    bool sizes_differ; /* request sizes differ: COMPARE_SIZE is their mean */
    bool of_response;  /* percentiles are of response times, not durations */
    int64_t start_ns, n_errors;
    struct archive_numbers numbers;
};

/* A run's name (paths_shorten) without the suffix of a capture. */
struct archive_label {
    char s[201];
};
struct archive_label archive_label(const char *name);

struct archive_run {
    char *path;
    struct archive_label label;
    enum run_basis source; /* what the file has, or less: what it was reduced to */
    int64_t start_ns;
    json_t *options;      /* settings that s3load recorded; NULL: none */
    bool has_problem;     /* the worst finding is a problem */
    char *kind, *finding; /* of the worst finding: its name and its sentence; NULL: there is none */
    struct archive_op *ops;
    size_t n_ops;
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
/* Adds the files of a folder, in no order. False: *e says why it cannot be read. */
bool archive_list(struct archive_paths *out, const char *folder, struct err *e);
void archive_free_paths(struct archive_paths *p);

/* Reads the runs. A file of a folder that cannot be read goes to a->unread; an operand that cannot
 * be read is an error. With the cache only files that are not in it are read (cache.h). The caller
 * calls archive_free in any case. */
bool archive_load(struct archive *a, const struct archive_paths *paths,
                  const struct run_options *how, bool with_cache, struct err *e);
void archive_free(struct archive *a);

/* Returns the operation of that name; NULL: the run has none. */
const struct archive_op *archive_op_named(const struct archive_run *r, const char *op);

/* Makes an archive of runs that were read, in their order. The caller calls archive_free in any
 * case. */
bool archive_of(struct archive *a, const struct run *runs, size_t n, struct err *e);

/* The first setting in which two runs differ, in words: "object size of GET", "4KiB", "64KiB". */
struct archive_difference {
    char what[100], a[100], b[100];
};

/* Whether the runs differ in a setting, so that they are no repetitions of each other: operations
 * of the benchmark and their settings (those that cmp compares), options of s3load, kind of file. A
 * setting that a run does not state differs from none. */
bool archive_differ(const struct archive_run *a, const struct archive_run *b,
                    struct archive_difference *d);

#endif
