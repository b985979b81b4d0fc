/* --autoterm: the ranks find out together when the run is stable, from the figures that they
 * exchange. A single rank votes alone. */
#ifndef S3_LOADGEN_RANKS_VOTE_H
#define S3_LOADGEN_RANKS_VOTE_H

#include "loadgen/ranks/ranks.h"

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

/* Adds this rank's vote to its figures. Its clock is ahead of rank 0's by ahead_ns. */
void vote_add(struct vote *v, int64_t ahead_ns, struct ranks_figures *mine);

/* Takes the figures of all ranks. Returns true if the next round is to begin at once. */
bool vote_go_on(struct vote *v, const struct ranks_figures *all);

#endif
