/* An output file that appears complete or not at all: it is written under another name and then
 * renamed. */
#ifndef S3_ANALYZE_WRITE_OUTFILE_H
#define S3_ANALYZE_WRITE_OUTFILE_H

#include "analyze/write/unfinished.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Which existing files an output may replace. A file that s3analyze wrote may be replaced by one of
 * the same kind, since reports are often made again; any other file only with --force. */
enum outfile_replaces {
    OUTFILE_NOTHING,
    OUTFILE_JSON,   /* a report */
    OUTFILE_HTML,   /* a page */
    OUTFILE_SERIES, /* a time series */
    OUTFILE_CHART,  /* the data of a chart */
    OUTFILE_ANYTHING,
};

/* An output that is being written. Must not be moved in memory while it is open. */
struct outfile {
    FILE *f;      /* write here; errors may be left for outfile_close to find */
    char *path;   /* the name for messages */
    char *target; /* the final name; NULL: written directly */
    char *aside;  /* the temporary name */
    bool is_new;  /* the target did not exist when this was opened */
    struct unfinished unfinished;
};

/* True if `path` names standard output: "-", /dev/stdout and its like. */
bool outfile_is_stdout(const char *path);

/* True if both name the same existing file, or are the same name. */
bool outfile_is_same(const char *path, const char *other);

/* Checks that the output `path` is none of the n files to be read. `path` may be NULL (no output)
 * or "-" (standard output); "-" among the inputs is standard input. False: *e names the input. */
bool outfile_spares(const char *path, const char *const *inputs, size_t n, struct err *e);

/* Whether `path` (NULL: no output) can be written and may be replaced. Lets commands fail before
 * they work. False: *e says why not. */
bool outfile_check(const char *path, enum outfile_replaces replaces, struct err *e);

/* Whether `path` looks like a file of this kind that s3analyze wrote. */
bool outfile_is_ours(const char *path, enum outfile_replaces kind);

/* Opens `path` for writing. Standard output, pipes and devices are written directly. A regular or
 * new file is written under another name in the same folder; symbolic links are followed. False: *e
 * says why, for all reasons of outfile_check and others; nothing is open. */
bool outfile_open(struct outfile *o, const char *path, enum outfile_replaces replaces,
                  struct err *e);

/* Flushes, checks for write errors since outfile_open, renames the file to its final name and
 * closes *o. False: *e says why; *o is closed, and an existing file of that name is untouched.
 * Standard output stays open: cli_main checks it at the end. */
bool outfile_close(struct outfile *o, struct err *e);

/* Closes *o and removes what was written. */
void outfile_discard(struct outfile *o);

/* Closes *o as outfile_close does if `complete`; else discards it and returns false. */
bool outfile_finish(struct outfile *o, bool complete, struct err *e);

#endif
