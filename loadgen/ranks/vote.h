/* --autoterm: with what the ranks tell each other they find out together when the run is stable.
 * One rank tells itself. */
#ifndef S3_LOADGEN_RANKS_VOTE_H
#define S3_LOADGEN_RANKS_VOTE_H

#include "loadgen/load/recorder.h"
#include "loadgen/ranks/ranks.h"

/* Starts as zeros but for the first four. */
struct vote {
    struct recorder *recorder; /* borrowed; NULL: there is no vote */
    int64_t dur_ns;            /* of --autoterm */
    double pct;
    struct err *error; /* gets what keeps this rank from voting */

    enum { VOTE_REPORTED, VOTE_RANGE, VOTE_AMOUNTS } step;
    int64_t instant_ns; /* that is asked about, by rank 0's clock, as all these */
    struct autoterm_cut cut;
    struct autoterm_stop stop; /* the last instant that all were asked about */
};

/* Adds this rank's vote to what it tells; its clock is ahead of that of rank 0 by ahead_ns. */
void vote_tell(struct vote *v, int64_t ahead_ns, struct ranks_figures *mine);

/* Goes on by what all have told. True: the next round is to be at once. */
bool vote_go_on(struct vote *v, const struct ranks_figures *all);

#endif
