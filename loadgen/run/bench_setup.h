/* One run, and what the files that lead through it share: bench.c (its course), bench_setup.c (what
 * it consists of), bench_ranks.c, bench_say.c, and lead.c, which makes it. */
#ifndef S3_LOADGEN_RUN_BENCH_SETUP_H
#define S3_LOADGEN_RUN_BENCH_SETUP_H

#include "loadgen/load/crew.h"
#include "loadgen/load/recorder.h"
#include "loadgen/run/bench.h"
#include "loadgen/run/control.h"
#include "loadgen/run/orders.h"
#include "loadgen/run/screen.h"
#include "loadgen/run/signals.h"
#include "loadgen/run/summary.h"
#include "loadgen/ranks/team.h"
#include "loadgen/s3/ssec.h"

/* --autoterm of several ranks: which instant is asked about, and what for. */
struct vote {
    enum { VOTE_REPORTED, VOTE_RANGE, VOTE_AMOUNTS } step;
    int64_t at_s;       /* after the first start */
    int64_t instant_ns; /* rank 0's clock, as all these */
    struct autoterm_cut cut;
};

struct bench {
    struct cli_args args; /* what is known of them: program and command */
    struct options *o;
    const struct workload *kind;
    const struct orders *orders;
    const char *run_id;
    char host[256];
    char path[4096]; /* of the capture */
    char part[4200]; /* of what this rank records of it; with one rank the same */
    char sums[4200]; /* of its sums, where this rank writes them; "": it does not */
    bool to_stdout;  /* the capture; all else goes to standard error */
    struct team team;
    bool has_parts; /* all ranks have begun to record */
    int64_t start_ns,
        agreed_ns; /* of the benchmark: this rank's clock; rank 0's, by its wall clock */
    struct team_clock clocks[3]; /* before all, before and after the benchmark */
    int status;
    int fd;
    struct ssec ssec;
    struct credentials credentials;
    struct engine engine;
    struct control control;
    struct signals signals;
    struct recorder *recorder;
    struct crew crew;
    unsigned n_loops;
    struct work work;
    struct screen screen;
    struct summary summary;
    bool uploaded;  /* there may be something to clean */
    char left[160]; /* how, for who ends the process at once */

    /* While a phase runs. */
    struct phase phase;
    bool preparing, cleaning;
    bool finishing, said_finishing; /* the run's own objects are deleted; a signal then is said */
    struct err error;               /* what ended it */
    int64_t shown_at_ns, shown_cpu_ns; /* of the last line: when, CPU of the busiest loop */
    struct recorder_tick tick;         /* since then, of this rank */
    int64_t n_running;
    double cpu_pct;
    struct vote vote;
};

/* bench.c: a run from begin to end, once `args` to `orders` and `team` are set. Returns the exit
 * code. */
int bench_run(struct bench *b);

/* Runs b->phase to its end, with all that goes on meanwhile. False: *e says why it broke off. */
bool bench_run_phase(struct bench *b, struct err *e);

/* Whether a signal came, to this rank or to another. */
bool bench_is_interrupted(const struct bench *b);

/* bench_ranks.c: what is only of several ranks; with one, nothing. */

/* What this rank tells the others; `ctx` is the bench, and so below. */
void bench_figures(void *ctx, struct ranks_figures *f);
bool bench_told(void *ctx, const struct ranks_figures *all);

/* Goes on with telling while something of ours lasts; returns after how many ms to do so again. */
int bench_poll(void *ctx);

/* Shows the second's line, of all ranks. */
void bench_show_team(struct bench *b, int64_t now_ns, const char *state);

/* Brings what was uploaded to the ranks that are to use it, by --read-shift. */
bool bench_shift_pools(struct bench *b, struct err *e);

/* Measures this rank's clock against that of rank 0, into b->clocks[i]. */
void bench_measure_clocks(struct bench *b, size_t i);

/* Measures the clocks, and finds b->start_ns, which is the same moment on all ranks. False: `ok`
 * was, here or elsewhere. */
bool bench_agree_on_start(struct bench *b, bool ok, struct err *e);

/* What the benchmark did, on all ranks once they have met after it. */
struct recorder_counts bench_counts_of_all(const struct bench *b);

/* Says what is left where if the run is killed: launchers may kill all at once, without a word. */
void bench_say_parts(const struct bench *b);

/* Puts the parts together, and the figures of all ranks into the summary of rank 0. */
bool bench_gather(struct bench *b, bool closed, struct err *e);

/* bench_say.c: what a run says on standard error besides its progress. */

/* A line about this rank, which it names if there are several; and one about the whole run. */
void bench_say(const struct bench *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void bench_say_of_all(const struct bench *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* "WHAT: COMMAND", with the command as a shell reads it. */
void bench_show_command(FILE *out, const char *what, int n_words, char *const *words);

/* Tells what may take long, in a pipe too: what is uploaded first, the wait for --syncstart. */
void bench_say_plan(const struct bench *b);

/* Tells that the start was due before the preparation was over. */
void bench_say_late(const struct bench *b);

/* Tells what may have distorted what was measured, by the summary. */
void bench_warn(const struct bench *b);

/* Tells of clocks that are off, for which servers refuse requests. */
void bench_warn_of_clocks(const struct bench *b);

/* Tells the error that this rank ends with, unless it is what others know and tell. */
void bench_complain(const struct bench *b, const struct err *e);

/* Chooses the id of a run and the name of its capture. */
bool bench_choose_names(struct orders *d, const char *command, struct err *e);

/* What the part of a rank is named. */
void bench_name_part(const struct bench *b, int rank, char name[static sizeof b->part]);

/* Makes all that a run needs before it has spoken to a server. bench_tear_down, in any case. */
bool bench_set_up(struct bench *b, struct err *e);
void bench_tear_down(struct bench *b);

/* Makes the loops. */
bool bench_make_crew(struct bench *b, struct err *e);

/* Opens the capture with its first comment, and makes the loops. */
bool bench_start_recording(struct bench *b, struct err *e);

/* Ends the capture with its last comment. */
bool bench_close_capture(struct bench *b, struct err *e);

#endif
