#ifndef S3_LOADGEN_RANKS_RANKS_H
#define S3_LOADGEN_RANKS_RANKS_H

#include "libcommon/autoterm.h"
#include "libcommon/cli.h"
#include "loadgen/util/util.h"

/* The processes (ranks) of a run, numbered from 0, and the messages between them. The linker picks
 * the implementation: ranks_one.c for one process (s3load), ranks_mpi.c for processes that mpirun
 * or srun started (s3load-mpi). Only the thread that called ranks_open may call these functions.
 * Only ranks_open and ranks_close block: any other call is over when ranks_done says so. Until then
 * its memory must not be touched. */

/* Figures that are combined over all ranks: sums, which may wrap around; maxima, of which the last
 * RANKS_N_VOTES are votes on autoterm; and the amounts in autoterm's segments, which are summed. */
#define RANKS_N_SUMS  32
#define RANKS_N_MAXES 16
#define RANKS_N_VOTES 4
struct ranks_figures {
    int64_t sum[RANKS_N_SUMS];
    int64_t max[RANKS_N_MAXES];
    struct autoterm_amount amount[AUTOTERM_N_ENDS];
};

/* The options for several ranks. */
struct ranks_settings {
    bool hosts_per_rank, keep_parts, progress;
    int64_t timeout_ns; /* a rank is lost if it is silent for this long */
};

/* A call in progress. All zeros: no call, which counts as done. */
struct ranks_call {
    _Alignas(8) unsigned char request[8];
    bool begun;
    bool failed; /* it can never succeed */
    size_t n;    /* bytes received, once it is done */
};

/* The program's name, and the options that only this program has; they fill a struct
 * ranks_settings. */
extern const char ranks_program[];
extern const struct cli_option ranks_options[];

/* Connects the ranks of a run. Call it before any second thread exists. If there may be several
 * ranks, it blocks SIGINT, SIGTERM and SIGHUP. */
bool ranks_open(struct err *e);

/* Disconnects: waits for all ranks to call it. */
void ranks_close(void);

/* Ends all ranks at once, and this process with this exit status. */
_Noreturn void ranks_abort(int status);

int ranks_rank(void);
int ranks_size(void);

/* Begin a call; false: it could not begin. ranks_join combines the figures of all ranks in *all.
 * ranks_pass sends n bytes to rank `other`, or receives at most n from it. Messages between two
 * ranks arrive in order. */
bool ranks_join(struct ranks_call *c, const struct ranks_figures *mine, struct ranks_figures *all);
bool ranks_pass(struct ranks_call *c, bool sends, int other, void *data, size_t n);

/* Returns true once a call is over. */
bool ranks_done(struct ranks_call *c);

/* The ranks of a run as a team: they meet, exchange figures of their progress in rounds, at least
 * ten times a second, measure their clocks, and notice when one is lost. A single rank exchanges
 * figures with itself and waits for nobody. While a rank waits here, it still takes part in the
 * rounds. Waits sleep between checks, apart from short polls while clocks are measured and files
 * copied. */

/* --autoterm: the ranks find out together when the run is stable, from the figures that they
 * exchange. A single rank votes alone. */

/* Starts as zeros, except for the first four members. */
struct vote {
    struct recorder *recorder; /* borrowed; NULL: no votes */
    int64_t dur_ns;            /* the setting of --autoterm */
    double pct;
    struct err *error; /* gets the error that keeps this rank from voting */

    enum { VOTE_REPORTED, VOTE_RANGE, VOTE_AMOUNTS } step;
    int64_t instant_ns; /* the second voted on, by rank 0's clock like all times here */
    struct autoterm_cut cut;
    struct autoterm_stop stop; /* the last second that was voted on */
};

/* Figures that are summed over the ranks. */
enum team_sum {
    TEAM_FAILED,      /* ranks that come to the next meeting after a failure */
    TEAM_ENDING,      /* ranks that want the run to end */
    TEAM_ERRORS,      /* so far */
    TEAM_TICK_ERRORS, /* in the last second */
    TEAM_TICK_OBJECTS,
    TEAM_TICK_BYTES,
    TEAM_RUNNING,
    TEAM_DONE,     /* uploads in preparation; deletions in cleaning */
    TEAM_STORED,   /* names of objects (work_count_stored) */
    TEAM_UNLISTED, /* of these */
    TEAM_FREE,     /* first figure free for other uses */
};

/* Figures whose maximum over the ranks is used. */
enum team_max {
    TEAM_STEP,    /* minus the number of meetings so far: the maximum is that of the slowest rank */
    TEAM_SIGNAL,  /* the first signal received; 0: none */
    TEAM_STATUS,  /* exit status */
    TEAM_CPU_PCT, /* of the busiest loop */
    TEAM_P50_NS,
    TEAM_P99_NS,
    TEAM_START_NS,   /* start of the benchmark, by the clock of rank 0 */
    TEAM_BENCH_NS,   /* length of the benchmark */
    TEAM_NEW,        /* objects made by the benchmark */
    TEAM_THREAD_PCT, /* like TEAM_CPU_PCT, over the whole benchmark */
};

/* One measurement of this rank's clock: at at_ns (by this clock) it was ahead of rank 0's by
 * ahead_ns, plus or minus error_ns. */
struct team_clock {
    int64_t at_ns, ahead_ns, error_ns;
};

/* All ranks of a run, as this one sees them. Starts as zeros, except for the first five members. */
struct team {
    int rank, size;
    int64_t timeout_ns; /* a rank is lost if it is silent for this long */
    /* Fills in the figures of this rank, except those of meetings and votes. */
    void (*fill)(void *ctx, struct ranks_figures *mine);
    void *ctx;

    struct vote vote;            /* its first four members may be set later */
    struct team_clock clocks[3]; /* at the start; before and after the benchmark */
    struct ranks_figures all;    /* the figures of the last round */
    bool lost;                   /* a rank is lost: this one continues as if it were alone */

    /* Private. */

    int64_t step;
    bool failed, meeting, joining;
    int64_t begun_ns, next_ns;
    struct ranks_call call;
    struct ranks_figures sent, coming;
    int64_t ping, pong; /* MPI may write to these while a lost rank lives */
};

/* Continues the current round, or begins one if it is due; call it often. Returns true if t->all is
 * new. */
bool team_poll(struct team *t);

/* Calls team_poll as a callback while a request or a child process lasts; `team` is a struct team.
 * Returns in how many ms to call it again. */
int team_tick(void *team);

/* Waits until all ranks have come to this meeting. All ranks come to the same meetings in the same
 * order, and then find the same figures in t->all. Returns false if this rank comes after a failure
 * (!ok; *e stays), or if another one does. */
bool team_meet(struct team *t, bool ok, struct err *e);

/* Sets *e: a rank is lost. Always returns false. */
bool team_lost(const struct team *t, struct err *e);

/* The message of team_meet if only other ranks failed. */
extern const char team_other_failed[];

/* Measures this rank's clock, clock_now_ns() + offset_ns, against that of rank 0. The result goes
 * to t->clocks[i]. All ranks call it, between two meetings. */
void team_measure_clock(struct team *t, int64_t offset_ns, size_t i);

struct team_order {
    char version[64]; /* version of rank 0's program */
    char command[32]; /* "": no more commands */
    size_t n_options;
    int status; /* exit status, after the last command */
};

/* Sends the name of a command and its packed options to the other ranks. */
bool team_begin(const char *command, char *options, size_t n, struct err *e);

/* Makes the other ranks end with this exit status, and returns it. */
int team_dismiss(int status);

/* Waits for a command from rank 0 and its packed options, which the caller frees with secret_free.
 * Returns false if there are no more commands. */
bool team_follow(struct team_order *head, char **options);

/* Ends all ranks, because they cannot work together; prints why. */
_Noreturn void team_fail(const char *why);

/* Sends `out` to rank - by and receives `in` from rank + by (both modulo size). If a rank is lost,
 * neither may be freed. All ranks call it, between two meetings. */
bool team_swap(struct team *t, int by, const struct strbuf *out, struct strbuf *in, struct err *e);

/* Copies the file `path` of rank `from` to `path` at rank 0; both ranks call it. If one side fails,
 * the other still goes on to the end. */
bool team_copy_file(struct team *t, int from, const char *path, struct err *e);

/* Ends a run that has lost a rank: waits until the other ranks have ended, at most for the
 * time-out, and then ends all ranks with this exit status. */
_Noreturn void team_abort(struct team *t, int status);

/* Each rank records a capture of its own, its part. Rank 0 gathers and merges the parts. */

#define PARTS_SUFFIX ".csv.zst"

/* Writes the name of a rank's part to `name`: NAME.rank-N.csv.zst beside the capture NAME.csv.zst.
 */
void parts_name(const char *path, int rank, char *name, size_t size);

/* Returns the words `head`, then the names of the n parts, and NULL. The first part is named after
 * the capture `path`, the others after `others`. The caller frees the array; the words of `head`
 * are borrowed. NULL: out of memory. */
char **parts_command(char *const *head, const char *path, const char *others, int n);

/* Makes the capture from the parts, and leaves the parts. The capture appears complete or not at
 * all. All ranks call it. */
bool parts_gather(struct team *t, const char *path, struct err *e);

#endif
