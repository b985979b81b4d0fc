/* Clock offsets that the comments of a capture give: how far the clock of a rank of s3load-mpi is
 * ahead of rank 0's, which all ranks are reduced to, and how far servers' clocks are ahead of the
 * recording machine's. */
#ifndef S3_ANALYZE_DATA_RANK_CLOCK_H
#define S3_ANALYZE_DATA_RANK_CLOCK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct rank_clock {
    int64_t n_ranks; /* of the run; 0: it had no ranks, and all offsets are 0 */
    int64_t rank;
    /* The clock is ahead by ahead_ns at at_ns, and gains drift_ns every drift_per_ns (0: no drift).
     * This is right to within error_ns whenever the clock was measured. */
    int64_t at_ns, ahead_ns, drift_ns, drift_per_ns, error_ns;
};

/* Reads the rank's clock from the JSON of a comment ("s3load/1 {...}"). The closing comment of a
 * run has a second measurement. The two give a drift only if they differ by more than their errors;
 * otherwise the first one alone counts, since the rank scheduled its requests by it. Leaves *c as
 * it is if the comment has no rank or makes no sense. */
void rank_clock_take(struct rank_clock *c, const json_t *comment);

/* Returns by how many ns the rank's clock is ahead when it shows at_ns. */
int64_t rank_clock_ahead(const struct rank_clock *c, int64_t at_ns);

/* Reads the bounds of how far a server's clock is ahead. `server` is an element of "clock":
 * [{"endpoint": "...", "ahead_min_ns": N, "ahead_max_ns": N}, ...]. False: there are no bounds, or
 * they contradict each other, as can happen when the server sends old Dates. */
bool rank_clock_server(const json_t *server, int64_t *low_ns, int64_t *high_ns);

#endif
