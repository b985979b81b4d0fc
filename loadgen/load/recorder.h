/* Writes the rows of all loops to the capture. Each loop collects its rows in a batch. Full batches
 * go through one bounded queue to one writer thread. The writer writes and syncs the capture in
 * frames, at most 500 ms apart, counts requests for the screen, and keeps them for autoterm. A loop
 * waits for the writer only if no batch is free; these waits are counted. */
#ifndef S3_LOADGEN_LOAD_RECORDER_H
#define S3_LOADGEN_LOAD_RECORDER_H

#include "libcommon/autoterm.h"
#include "libcommon/err.h"
#include "libcommon/rowformat.h"

#include <stdbool.h>
#include <stdint.h>

struct recorder_options {
    int fd;           /* file of the capture; -1: none, only count */
    const char *name; /* name of the capture */
    bool intended;    /* write the column `intended` */
    unsigned n_loops;
    bool autoterm;     /* keep requests for votes on autoterm */
    int64_t offset_ns; /* the capture's clock minus the run's */
    int event;         /* eventfd to signal when the capture fails */
};

/* Counts of the recorded requests. */
struct recorder_counts {
    uint64_t n_requests, n_errors, n_objects, n_bytes; /* objects and bytes: of successes only */
};

/* Figures of the requests recorded since the last call. */
struct recorder_tick {
    struct recorder_counts counts;
    int64_t p50_ns, p99_ns; /* of the successful requests; 0: none */
};

struct recorder;
struct recorder_batch;

/* A loop's side of the recorder. */
struct recorder_port {
    struct recorder *recorder;
    struct recorder_batch *batch;
    struct rowformat format;
    unsigned loop;
    int64_t since_ns;       /* time of the first row in the batch, if there is one */
    int64_t flushed_ns;     /* time of the last flush */
    int64_t first_start_ns; /* of the loop's first request of the benchmark, by the capture's clock;
                             * CLOCK_NEVER: none */
};

/* Opens a recorder and starts its writer thread; borrows what the options point to. `comment`
 * becomes a first frame of its own. NULL: *e says why. */
struct recorder *recorder_open(const struct recorder_options *options, const char *comment,
                               struct err *e);

/* Makes the writer add a comment line after the rows that it has received; takes ownership of
 * `comment`, from malloc. False: the previous one is not written yet, and `comment` stays with the
 * caller. */
bool recorder_comment(struct recorder *r, char *comment);

/* Sets up the port of loop number `loop`. Only this loop's thread may use it. */
void recorder_port_init(struct recorder_port *p, struct recorder *r, unsigned loop);

/* Adds a row with times by the capture's clock; `bench`: the row counts for autoterm. */
void recorder_add(struct recorder_port *p, const struct record *row, bool bench);

/* Hands the batch to the writer, and promises that no request of this loop that ended before
 * until_ns (by the run's clock) will follow. */
void recorder_flush(struct recorder_port *p, int64_t until_ns);

/* Returns when recorder_flush must be called; CLOCK_NEVER: it need not. */
int64_t recorder_due_ns(const struct recorder_port *p);

/* The state of the recorder. Any thread may ask. */
struct recorder_state {
    struct recorder_counts counts;
    uint64_t n_waits; /* how often loops waited because all batches were full */
    int64_t waits_ns;
    int64_t cpu_ns; /* CPU time of the writer */
};
struct recorder_state recorder_look(struct recorder *r);
bool recorder_failed(struct recorder *r, struct err *e);
void recorder_take_tick(struct recorder *r, struct recorder_tick *tick);

/* For votes on autoterm (team.c), by the capture's clock: returns the first start of the benchmark
 * (CLOCK_NEVER: none), and the time up to which all loops have reported (INT64_MIN: none yet). */
void recorder_reported(struct recorder *r, int64_t *first_start_ns, int64_t *until_ns);

/* Passes the requests that ended by instant_ns to autoterm. All loops must have reported up to
 * then. Returns the range that all threads share at that time. */
bool recorder_range_at(struct recorder *r, int64_t instant_ns, struct segment_range *range,
                       struct err *e);
void recorder_amounts(struct recorder *r, const struct autoterm_cut *cut,
                      struct autoterm_amount amount[AUTOTERM_N_ENDS]);

/* Waits until everything handed over is written. */
void recorder_drain(struct recorder *r);

/* Writes what was handed over and a closing comment, and ends the capture. False: the capture is
 * not complete. */
bool recorder_close(struct recorder *r, const char *comment, struct err *e);

/* Ends the writer thread and frees r. Without recorder_close before, the capture is not complete.
 */
void recorder_free(struct recorder *r);

#endif
