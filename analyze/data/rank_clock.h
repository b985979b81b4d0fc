/* Clocks, from what the comments of a capture say: that of one rank of s3load-mpi against that of
 * rank 0, by which the times of all ranks are told; those of servers against the recorder's. */
#ifndef S3_ANALYZE_DATA_RANK_CLOCK_H
#define S3_ANALYZE_DATA_RANK_CLOCK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct rank_clock {
    int64_t n_ranks; /* of the run; 0: it had none, and the clock is its own */
    int64_t rank;
    /* Ahead by ahead_ns at at_ns, and by drift_ns more every drift_per_ns (0: it does not drift),
     * to within error_ns at all times of the run that were seen. */
    int64_t at_ns, ahead_ns, drift_ns, drift_per_ns, error_ns;
};

/* Takes what a comment ("s3load/1 {...}") says; a closing one knows more than the one before. A
 * drift is believed where the measurements exclude that there is none; else the first one counts,
 * by which the rank started, so that what was due at a time is at that time. Of a comment without a
 * rank, and of nonsense, *c stays as it is. */
void rank_clock_take(struct rank_clock *c, const json_t *comment);

/* What a time of the rank's clock is ahead. */
int64_t rank_clock_ahead(const struct rank_clock *c, int64_t at_ns);

/* How far a server's clock is ahead, of an element of "clock": [{"endpoint": "...", "ahead_min_ns":
 * N, "ahead_max_ns": N}, ...]. False: it does not say, or contradicts itself, as it did where the
 * server sent old Dates. */
bool rank_clock_server(const json_t *server, int64_t *low_ns, int64_t *high_ns);

#endif
