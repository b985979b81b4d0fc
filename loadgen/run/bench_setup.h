/* What bench.c (the course of a run) and bench_setup.c (what it consists of) share. */
#ifndef S3_LOADGEN_RUN_BENCH_SETUP_H
#define S3_LOADGEN_RUN_BENCH_SETUP_H

#include "loadgen/load/crew.h"
#include "loadgen/load/recorder.h"
#include "loadgen/run/bench.h"
#include "loadgen/run/control.h"
#include "loadgen/run/screen.h"
#include "loadgen/run/signals.h"
#include "loadgen/run/summary.h"
#include "loadgen/s3/ssec.h"

struct bench {
    const struct cli_args *args;
    struct options *o;
    const struct workload *kind;
    char run_id[WORK_ID_LENGTH + 1];
    char host[256];
    char *command_line;
    char path[4096]; /* of the capture; "": none */
    bool to_stdout;  /* the capture; all else goes to standard error */
    int fd;
    int event;
    struct ssec ssec;
    struct credentials credentials;
    struct engine engine;
    struct control control;
    struct signals signals;
    struct recorder *recorder;
    struct crew crew;
    struct work work;
    struct screen screen;
    struct summary summary;
    bool has_credentials, has_engine, has_control, has_crew, has_work;
    bool uploaded; /* there may be something to clean */

    /* While a phase runs. */
    struct phase phase;
    bool preparing, cleaning;
    bool finishing, said_finishing; /* the run's own objects are deleted; a signal then is said */
    struct err error;               /* what ended it */
    int64_t shown_at_ns, shown_cpu_ns; /* of the last line: when, CPU of the busiest loop */
};

/* Makes all that a run needs before it has spoken to a server. bench_tear_down, in any case. */
bool bench_set_up(struct bench *b, struct err *e);
void bench_tear_down(struct bench *b);

/* Opens the capture with its first comment, and makes the loops. */
bool bench_start_recording(struct bench *b, struct err *e);

/* Deletes all below the prefix `root`: what listings of `kind` show, with `dirs` below the prefixes
 * of workers first. */
bool bench_clean(struct bench *b, const char *root, enum s3op_kind kind, bool dirs, struct err *e);

/* Ends the capture with its last comment. */
bool bench_close_capture(struct bench *b, struct err *e);

#endif
