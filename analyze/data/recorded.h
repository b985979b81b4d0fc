/* What s3load says of its runs in a capture's comments: "s3load/1 {...}" opens a run, and another
 * one closes it. A capture that was merged or put together has those of several runs, one after the
 * other. */
#ifndef S3_ANALYZE_DATA_RECORDED_H
#define S3_ANALYZE_DATA_RECORDED_H

#include "analyze/base/lineset.h"
#include "analyze/data/rank_clock.h"
#include "libcommon/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most stops that are kept, the longest. */
#define RECORDED_MAX_STOPS 8

/* When s3load itself did not run, by the clock of the rows. */
struct recorded_stop {
    int64_t start_ns, length_ns;
};

/* Counters of all runs in a capture; zeros: s3load did not write it. */
struct recorded {
    uint64_t n_runs;                /* opening comments */
    uint64_t n_closed;              /* runs with a closing comment */
    uint64_t n_failed;              /* of these: runs that ended by an error */
    uint64_t n_interrupted;         /* of these: runs that a signal ended */
    uint64_t n_client_bound;        /* of these: runs that the load generator limited */
    int64_t n_requests, n_connects; /* of the closed runs, without their preparation */
    int64_t n_not_begun;            /* due in an open loop, and never begun */
    int64_t n_resent;               /* sent twice in one row; in the preparation too */
    int64_t clock_change_ns;        /* of s3load's clock in a run; of several the largest */
    struct recorded_stop stop[RECORDED_MAX_STOPS];
    size_t n_stops;
    double max_thread_cpu_pct; /* of one CPU; the busiest thread of s3load in any run */
    int64_t n_ranks;           /* runs that were ranks of one run */
    int64_t clock_error_ns;    /* how far the clocks of these may be apart from rank 0's */
    int64_t others_error_ns;   /* the same, but of the run that was opened last ... */
    struct rank_clock clock;   /* ... whose clock this is */
    char error[512];           /* of the first run that failed */
    json_t *settings;          /* object: what the first run was told to do; NULL: not said */
};

/* Takes a comment line of n bytes, with its '#', in the order of the file; the JSON of s3load's is
 * added to `said`, too. False: out of memory. */
bool recorded_add(struct recorded *r, struct lineset *said, const char *line, size_t n,
                  struct err *e);

/* Takes what s3load said of several runs. False: out of memory. */
bool recorded_take(struct recorded *r, const struct lineset *said, struct err *e);

#define RECORDED_MAX_FIGURES 2

/* What a reader of the figures must know, with a stable code and the figures behind it. */
struct recorded_note {
    const char *code; /* "cut-off", "ended-by-error", "interrupted", "generator-bound", "not-begun",
                         "resent", "reconnects", "clock-step", "stopped" */
    bool is_problem;  /* who does not know it draws a wrong conclusion */
    char message[768];
    struct recorded_stop when; /* length 0: in all of the run */
    struct {
        const char *name;
        double value;
    } figures[RECORDED_MAX_FIGURES]; /* fewer end with a NULL name */
};
#define RECORDED_MAX_NOTES (8 + RECORDED_MAX_STOPS)

/* Writes the notes, worst first, and returns how many; n_threads: of the capture, each of which may
 * connect once. */
size_t recorded_notes(const struct recorded *r, uint64_t n_threads,
                      struct recorded_note notes[RECORDED_MAX_NOTES]);

#endif
