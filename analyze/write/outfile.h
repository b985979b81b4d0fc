/* An output that appears whole or not at all: written aside, then renamed over its target. */
#ifndef S3_ANALYZE_WRITE_OUTFILE_H
#define S3_ANALYZE_WRITE_OUTFILE_H

#include "analyze/write/unfinished.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Which existing file an output may replace: one of the same kind that we have written, since
 * reports are made again by nature; anything only if the user says so (--force). */
enum outfile_replaces {
    OUTFILE_NOTHING,
    OUTFILE_JSON,   /* a report */
    OUTFILE_HTML,   /* a page */
    OUTFILE_SERIES, /* a time series */
    OUTFILE_CHART,  /* the data of a chart */
    OUTFILE_ANYTHING,
};

/* May not move while it is open. */
struct outfile {
    FILE *f;      /* write here; errors may be left for outfile_close to find */
    char *path;   /* the name for messages */
    char *target; /* where the file goes in the end; NULL: written straight */
    char *aside;  /* the file it is written to meanwhile */
    bool is_new;  /* there was no such file when it was opened */
    struct unfinished unfinished;
};

/* True if `path` names standard output: "-", /dev/stdout and its like. */
bool outfile_is_stdout(const char *path);

/* True if both name the same existing file, or are the same name. */
bool outfile_is_same(const char *path, const char *other);

/* False: two of the paths, "-" being standard input, are the same in that sense, and *e names them.
 */
bool outfile_all_differ(const char *const *paths, size_t n, struct err *e);

/* False: `path` (NULL: no output) is one of the n captures that are to be read, as *e says; "-"
 * among these is standard input, as `path` it is standard output. */
bool outfile_spares(const char *path, const char *const *captures, size_t n, struct err *e);

/* Whether `path` (NULL: no output) can be written at all and may be: for commands to ask before
 * they work. False: *e says why not. */
bool outfile_check(const char *path, enum outfile_replaces replaces, struct err *e);

/* Whether `path` is a file that looks like one that we have written, of that kind. */
bool outfile_is_ours(const char *path, enum outfile_replaces kind);

/* Opens `path` for writing. Standard output, pipes and devices are written straight; a regular or
 * new file is written beside its place, through symbolic links. False: *e says why, among others as
 * outfile_check does; nothing is open. */
bool outfile_open(struct outfile *o, const char *path, enum outfile_replaces replaces,
                  struct err *e);

/* Flushes, checks for any write error since outfile_open, and puts the file in its place. False: *e
 * says why, and an earlier file of that name is as it was. In either case *o is closed. Standard
 * output stays open: cli_main checks it at the end. */
bool outfile_close(struct outfile *o, struct err *e);

/* Drops what was written. */
void outfile_discard(struct outfile *o);

/* Closes it if all that was to be written is, else discards it and returns false. */
bool outfile_finish(struct outfile *o, bool complete, struct err *e);

#endif
