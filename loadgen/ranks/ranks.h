/* The processes (ranks) of a run, numbered from 0, and the messages between them. The linker picks
 * the implementation: ranks_one.c for one process (s3load), ranks_mpi.c for processes that mpirun
 * or srun started (s3load-mpi). Only the thread that called ranks_open may call these functions.
 * Only ranks_open and ranks_close block: any other call is over when ranks_done says so. Until then
 * its memory must not be touched. */
#ifndef S3_LOADGEN_RANKS_RANKS_H
#define S3_LOADGEN_RANKS_RANKS_H

#include "libcommon/autoterm.h"
#include "libcommon/cli.h"

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

/* Returns true once a call is over. Sets *n (may be NULL) to the bytes received, and *failed if the
 * call can never succeed. */
bool ranks_done(struct ranks_call *c, size_t *n, bool *failed);

#endif
