/* The ranks of a run together: they meet, tell each other ten times a second and more how far they
 * are, measure their clocks, and notice when one is lost. One rank tells itself, and waits for
 * nobody. All waiting here goes on with telling, and none of it is busy but the measuring of
 * clocks. */
#ifndef S3_LOADGEN_RANKS_TEAM_H
#define S3_LOADGEN_RANKS_TEAM_H

#include "loadgen/ranks/vote.h"
#include "loadgen/util/strbuf.h"

/* The figures that are added up over the ranks. */
enum team_sum {
    TEAM_FAILED,      /* at the meeting that is to come */
    TEAM_ENDING,      /* want the run to end */
    TEAM_ERRORS,      /* so far */
    TEAM_TICK_ERRORS, /* in the last second */
    TEAM_TICK_OBJECTS,
    TEAM_TICK_BYTES,
    TEAM_RUNNING,
    TEAM_DONE, /* uploads in preparation; deletions in cleaning */
    TEAM_FREE, /* from here on free for others */
};

/* The figures of which the largest counts. */
enum team_max {
    TEAM_STEP,    /* meetings so far, negative: that of the last rank */
    TEAM_SIGNAL,  /* that came first; 0: none */
    TEAM_STATUS,  /* exit status */
    TEAM_CPU_PCT, /* of the busiest loop */
    TEAM_P50_NS,
    TEAM_P99_NS,
    TEAM_START_NS,   /* of the benchmark, by the clock of rank 0 */
    TEAM_BENCH_NS,   /* its length */
    TEAM_THREAD_PCT, /* as TEAM_CPU_PCT, of the whole benchmark */
};

/* What was measured of this rank's clock at a time by it: how far it is ahead of that of rank 0,
 * and how far that may be wrong. */
struct team_clock {
    int64_t at_ns, ahead_ns, error_ns;
};

/* All ranks of a run, seen from this one. Starts as zeros but for the first five. */
struct team {
    int rank, size;
    int64_t timeout_ns; /* a rank that is silent for so long is lost */
    /* Fills in what this rank tells, but for meetings and votes. */
    void (*fill)(void *ctx, struct ranks_figures *mine);
    void *ctx;

    struct vote vote;            /* its first four may be set later */
    struct team_clock clocks[3]; /* before all, before and after the benchmark */
    struct ranks_figures all;    /* what all told last */
    bool lost;                   /* a rank is: all goes on as if this one were alone */

    /* Private. */

    int64_t step;
    bool failed, meeting, joining;
    int64_t begun_ns, next_ns;
    struct ranks_call call;
    struct ranks_figures sent, coming;
    int64_t ping, pong; /* MPI may write to it as long as a rank that is lost lives */
};

/* Goes on with telling; true: t->all is new. To be called often. */
bool team_poll(struct team *t);

/* team_poll as a callback while a request or a child process lasts; `team` is a struct team.
 * Returns after how many ms to call it again. */
int team_tick(void *team);

/* Waits until all ranks are here. All of them come to the same meetings in the same order, and find
 * the same in t->all. False: this rank comes with a failure (!ok; *e stays), or another does. */
bool team_meet(struct team *t, bool ok, struct err *e);

/* Says in *e that a rank is lost, and returns false. */
bool team_lost(const struct team *t, struct err *e);

/* What team_meet says when only others failed. */
extern const char team_other_failed[];

/* Measures the clock of this rank, which is clock_now_ns() + offset_ns, against that of rank 0,
 * into t->clocks[i]. All ranks call it, between two meetings. */
void team_measure_clock(struct team *t, int64_t offset_ns, size_t i);

/* Sends `data` of rank 0 to all ranks, before the first meeting or after the last. */
bool team_hand_out(void *data, size_t n);

/* Sends `out` to rank - by and receives `in` from rank + by (both modulo size). Neither may be
 * freed if a rank is lost. All ranks call it, between two meetings. */
bool team_swap(struct team *t, int by, const struct strbuf *out, struct strbuf *in, struct err *e);

/* Sends the file `path` of the rank `from` to rank 0, which writes it to its own `path`; both call
 * it. On failure the other side goes on to the end. */
bool team_copy_file(struct team *t, int from, const char *path, struct err *e);

/* Ends a run in which a rank is lost: waits until the others have ended, at most for the timeout,
 * and ends all with that status. */
_Noreturn void team_abort(struct team *t, int status);

#endif
