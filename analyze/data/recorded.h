/* Reads what s3load says about its runs in a capture's comments. One comment "s3load/1 {...}" opens
 * a run, another closes it. A capture that was merged or concatenated has the comments of several
 * runs, one run after the other. `s3analyze import` writes "s3analyze/import/1 {...}": what the
 * recording of another program lacks. `cat`, `merge` and `import` with --salvage write
 * "s3analyze/damage/1 {...}": what of a damaged file is not there. */
#ifndef S3_ANALYZE_DATA_RECORDED_H
#define S3_ANALYZE_DATA_RECORDED_H

#include "analyze/base/lineset.h"
#include "analyze/data/machine.h"
#include "analyze/data/rank_clock.h"
#include "analyze/read/recfile.h"
#include "libcommon/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Only this many stops are kept: the longest. */
#define RECORDED_MAX_STOPS 8

/* A time in which s3load itself did not run, by the clock of the rows. */
struct recorded_stop {
    int64_t start_ns, length_ns;
};

/* Imported recordings of other programs: the resolution of their times, the coarsest if a capture
 * has several. */
struct recorded_imports {
    uint64_t n;
    int64_t start_ns, duration_ns; /* resolution of starts and of durations; 0: exact */
    char from[16];                 /* "ab"; of the last one */
    char absent[160];              /* what the recording lacks, in words */
    bool is_cut;                   /* rows may be missing at its end */
};

/* What --salvage left out, of this file or of those that it was made of. */
struct recorded_damage {
    int64_t n_dropped; /* rows and places */
    int64_t n_holes;   /* those of them where any number of rows may be missing within the run */
    char first[512];   /* "FILE:LINE: why" of one of them */
};

/* The comments of all runs in a capture, added up. All zero: s3load did not write it. */
struct recorded {
    uint64_t n_runs;                /* opening comments */
    uint64_t n_closed;              /* runs with a closing comment */
    uint64_t n_failed;              /* closed runs that an error ended */
    uint64_t n_interrupted;         /* closed runs that a signal ended */
    uint64_t n_client_bound;        /* closed runs that the load generator limited */
    uint64_t n_no_benchmark;        /* runs that ended before their benchmark began */
    int64_t n_requests, n_connects; /* in closed runs, without their preparation */
    int64_t n_not_begun;            /* requests due in an open loop that were never begun */
    int64_t n_resent;               /* requests sent twice, with one row; preparation included */
    int64_t clock_change_ns;        /* the largest step of s3load's clock during a run, signed */
    struct recorded_stop stop[RECORDED_MAX_STOPS];
    size_t n_stops;
    double max_thread_cpu_pct; /* the busiest thread of s3load in any run; 100: one whole CPU */
    int64_t n_ranks;           /* ranks of s3load-mpi, each of which counts as a run */
    int64_t clock_error_ns;    /* the largest error of a rank's clock against rank 0's */
    int64_t others_error_ns;   /* clock_error_ns without the run that was opened last */
    struct rank_clock clock;   /* of the run that was opened last */
    struct recorded_imports imports;
    struct recorded_damage damage;
    struct machine machine; /* the machines of all runs */
    char label[80];         /* of the first run: what --label named it; "": nothing */
    char preparation[16];   /* operation of the requests before the benchmark; "": not recorded */
    char error[512];        /* of the first run that failed */
    json_t *settings;       /* owned; object: settings of the first run; NULL: not given */
};

/* Sets *line to the comment, without its '#', that tells what was left out of a file; to NULL if
 * nothing was. The caller frees it. False: out of memory. */
bool recorded_damage_line(char **line, const struct recfile_info *info, struct err *e);

/* Reads a comment line of n bytes, with or without its '#'; call it in the order of the file.
 * Ignores lines that are not s3load's, of an import or of damage. Adds the JSON of the others to
 * *r, and a copy to `said`, except comments about a machine during a run. False: out of memory. */
bool recorded_add(struct recorded *r, struct lineset *said, const char *line, size_t n,
                  struct err *e);

/* Adds the JSON texts that recorded_add has put into `said`. False: out of memory. */
bool recorded_take(struct recorded *r, const struct lineset *said, struct err *e);

/* Call it once all requests are read: `op` is the operation of all of them. A run that was killed
 * ended before its benchmark if nothing but its preparation is recorded. */
void recorded_only(struct recorded *r, const char *op);

/* Whether a closing comment says that its run ended before the benchmark began. */
bool recorded_lacks_benchmark(const json_t *end);

#define RECORDED_MAX_FIGURES 2

struct recorded_figure {
    const char *name;
    double value;
};

/* Something that readers of the results must know, with the figures behind it. */
struct recorded_note {
    const char *code; /* never renamed: "no-benchmark", "cut-off", "ended-by-error", "interrupted",
                         "generator-bound", "not-begun", "resent", "reconnects", "clock-step",
                         "stopped", "imported", "imported-cut" */
    bool is_problem;  /* readers who miss it draw wrong conclusions */
    char message[768];
    struct recorded_stop when;                            /* length 0: the whole run */
    struct recorded_figure figures[RECORDED_MAX_FIGURES]; /* a NULL name ends the list early */
};
#define RECORDED_MAX_NOTES (11 + RECORDED_MAX_STOPS)

/* Writes the notes, worst first, and returns how many. n_threads is the number of threads in the
 * capture: each may connect once without a note. */
size_t recorded_notes(const struct recorded *r, uint64_t n_threads,
                      struct recorded_note notes[RECORDED_MAX_NOTES]);

#endif
