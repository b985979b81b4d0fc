/* The state of a run, and the functions that its files share: bench.c (the plan), bench_setup.c,
 * bench_capture.c, bench_load.c, bench_watch.c and bench_say.c. */
#ifndef S3_LOADGEN_RUN_BENCH_SETUP_H
#define S3_LOADGEN_RUN_BENCH_SETUP_H

#include "loadgen/bucket/bucket.h"
#include "loadgen/load/crew.h"
#include "loadgen/load/recorder.h"
#include "loadgen/ranks/team.h"
#include "loadgen/run/machine.h"
#include "loadgen/run/serverprof.h"
#include "loadgen/run/signals.h"
#include "loadgen/run/summary.h"
#include "loadgen/s3/ssec.h"
#include "loadgen/util/turnstile.h"

/* The progress that a run shows on standard error, on a terminal or on request. */
struct screen {
    bool enabled, bar_shown;
    int64_t start_ns; /* of the phase */
    int64_t next_ns;  /* when the next line is due */
    unsigned n_lines;
};

/* What this rank did in the last second. */
struct second {
    struct recorder_tick tick;
    int64_t n_running;
    double cpu_pct;        /* of the busiest loop */
    int64_t at_ns, cpu_ns; /* end of the second, and CPU time of the busiest loop then */
    int64_t next_ns;       /* end of the next second */
};

/* Where the run is recorded. */
struct outputs {
    char *path;                              /* the capture; borrowed from the options */
    char part[OPTIONS_PATH_BYTES + 100];     /* this rank's part of it; with one rank the same */
    char sums[OPTIONS_PATH_BYTES + 100];     /* the capture's sums; "": this rank writes none */
    char profiles[OPTIONS_PATH_BYTES + 100]; /* profiles of servers; "": this rank fetches none */
    bool to_stdout;                          /* the capture goes to standard output */
    bool closed;                             /* this rank's part is complete */
    int fd;                                  /* -1: none is open */
};

/* What workers do in a phase. */
enum bench_doing { BENCH_LOADING, BENCH_PREPARING, BENCH_WARMING, BENCH_CLEANING };

struct bench {
    struct cli_args args; /* only program and command are set */
    const struct options *o;
    const struct workload *kind;
    struct outputs out;
    struct err failed; /* why a stage of the plan failed */
    int status;
    int judged; /* exit code of s3analyze, which judged the assertions */

    /* For runs of several ranks. */
    struct team team;
    char host[256];
    bool has_parts;    /* each rank records a part of the capture */
    int64_t agreed_ns; /* when the benchmark starts: by the wall clock of rank 0 */

    /* For requests. */
    struct ssec ssec;
    struct credentials credentials;
    struct engine engine;
    struct control control;
    struct signals signals;
    struct recorder *recorder;
    struct crew crew;
    unsigned n_loops;
    struct work work;
    struct sweep sweep;
    struct screen screen;
    struct summary summary;
    struct machine machine;
    struct turnstile turnstile;
    struct serverprof prof;
    bool uploaded;                 /* there may be objects to clean */
    uint64_t n_stored, n_unlisted; /* names of these, and those that are not listed */
    char left[160];                /* how to delete them; printed if SIGQUIT ends the process */

    /* For the current phase. */
    struct phase phase;
    int64_t start_ns; /* of the benchmark, by this rank's clock */
    enum bench_doing doing;
    bool finishing;     /* cleaning after the run */
    int64_t waiting_ns; /* since when a signal waits for the phase to end; 0: there is none */
    bool said_waiting;
    struct err error; /* why the phase ended early */
    struct second second;
};

/* bench_load.c: the stages that are measured. */

/* Uploads the objects that the benchmark uses. */
bool bench_prepare(struct bench *b, struct err *e);

/* --warmup: runs the benchmark's requests without recording them. */
bool bench_warm_up(struct bench *b, struct err *e);

/* Agrees with the other ranks on when to start, and on which objects each rank reads. */
bool bench_agree_on_start(struct bench *b, struct err *e);

/* Waits for the start, runs the benchmark, and puts its figures into the summary. */
bool bench_load(struct bench *b, struct err *e);

/* Fails if no request succeeded on any rank. */
bool bench_has_succeeded(struct bench *b, struct err *e);

/* bench_watch.c: what happens while workers work. */

/* Runs a phase to its end, shows progress, and ends the phase early where it must. False: *e says
 * why the phase was broken off. */
bool bench_run_phase(struct bench *b, enum bench_doing doing, const struct phase *p, struct err *e);

/* Whether a signal came, to this rank or to another. */
bool bench_is_interrupted(const struct bench *b);

/* The tick of the control crew; `b` is a struct bench. */
int bench_tick(void *b);

/* Renews keys that expire soon. */
void bench_renew_credentials(struct bench *b);

/* Fills in the figures that this rank sends to the others; `ctx` is a struct bench. */
void bench_figures(void *ctx, struct ranks_figures *f);

/* Puts the totals of all ranks into the summary. */
void bench_take_totals(struct bench *b);

/* bench_say.c: what a run prints on standard error besides its progress. */

/* Print a line about this rank (named if there are several), and one about the whole run. */
void bench_say(const struct bench *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void bench_say_of_all(const struct bench *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints "WHAT: COMMAND", with the command quoted for a shell. `words` end with NULL. */
void bench_show_command(FILE *out, const char *what, char *const *words);

/* Warns of what may have distorted the measurement, according to the summary. */
void bench_warn(const struct bench *b);

/* Warns of wrong clocks, which make servers refuse requests. */
void bench_warn_of_clocks(const struct bench *b);

/* bench_setup.c: */

/* Makes everything that a run needs before the first request. Call bench_tear_down in any case. */
bool bench_set_up(struct bench *b, struct err *e);
void bench_tear_down(struct bench *b);

/* Takes the lock that keeps other loads off this machine. With --wait, waits until it is free. */
bool bench_take_turn(struct bench *b, struct err *e);

/* Makes the loops. */
bool bench_make_crew(struct bench *b, struct err *e);

/* bench_capture.c: recording, and what is made of the capture. */

/* Chooses the names of the files. False: they cannot be written, and *e says why. */
bool bench_name_outputs(struct bench *b, struct err *e);

/* Opens the capture and writes its first comment. */
bool bench_record(struct bench *b, struct err *e);

/* Writes the last comment and closes the capture. */
bool bench_close_capture(struct bench *b, struct err *e);

/* Merges the parts of all ranks into one capture, and their figures into one summary. */
bool bench_gather(struct bench *b, struct err *e);

/* --aggregate: makes the sums of the capture, beside it. If the run is killed meanwhile, the
 * capture stays. */
bool bench_sum_up(struct bench *b, struct err *e);

/* Prints where the sums are. With --aggregate-only, deletes the capture first. */
bool bench_finish_sums(const struct bench *b, struct err *e);

#endif
