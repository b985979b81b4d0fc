/* The processes of a run, numbered from 0 on, and what they can tell each other. The linker picks
 * how: ranks_one.c is a run of one process (s3load), ranks_mpi.c one that mpirun or srun started
 * (s3load-mpi). Only the thread that called ranks_open calls these functions. But for ranks_open
 * and ranks_close none of them waits: what they begin is over when ranks_done says so, and until
 * then the memory that it concerns may not be touched. */
#ifndef S3_LOADGEN_RANKS_RANKS_H
#define S3_LOADGEN_RANKS_RANKS_H

#include "libcommon/autoterm.h"
#include "libcommon/cli.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Figures that are combined over all ranks: sums, which may wrap around; maxima, the last of which
 * are votes on autoterm; and amounts in autoterm's segments, which add up. */
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
    int64_t read_shift;
    int64_t timeout_ns; /* a rank that is silent for so long is lost */
};

/* A call that was begun. Zeros: there is none, and it is done. */
struct ranks_call {
    _Alignas(8) unsigned char request[8];
    bool begun;
};

/* The name of the program, and its own options, which fill a struct ranks_settings. */
extern const char ranks_program[];
extern const struct cli_option ranks_options[];

/* The ranks of a run find each other. Call it first, before there is a second thread. Where there
 * may be several ranks, SIGINT, SIGTERM and SIGHUP are blocked from then on. */
bool ranks_open(struct err *e);

/* Ends the ranks together: waits for all. */
void ranks_close(void);

/* Ends all ranks, wherever they are, and this process with that status. */
_Noreturn void ranks_abort(int status);

int ranks_rank(void);
int ranks_size(void);

/* Begin a call; false: that is not possible. ranks_join combines the figures of all ranks into
 * *all. ranks_pass sends n bytes to another rank, or receives at most n from it; messages between
 * two ranks come in order. */
bool ranks_join(struct ranks_call *c, const struct ranks_figures *mine, struct ranks_figures *all);
bool ranks_pass(struct ranks_call *c, bool sends, int other, void *data, size_t n);

/* Whether a call is over. *n (may be NULL) are the bytes received. *failed is set if the call can
 * never succeed. */
bool ranks_done(struct ranks_call *c, size_t *n, bool *failed);

#endif
