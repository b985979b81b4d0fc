/* Decides whether a run has become stable (docs/how-the-numbers-are-made.md, section 9): the last
 * seven of about 25 segments of the all-threads range are equally fast. The load generator uses it
 * during a run, s3analyze on recorded runs. */
#ifndef S3_LIBCOMMON_AUTOTERM_H
#define S3_LIBCOMMON_AUTOTERM_H

#include "libcommon/attribution.h"
#include "libcommon/err.h"
#include "libcommon/segment.h"

#include <stdbool.h>
#include <stdint.h>

#define AUTOTERM_DEFAULT_DUR_NS INT64_C(10000000000)
#define AUTOTERM_DEFAULT_PCT    7.5

struct autoterm;

/* Makes an object without requests. NULL: out of memory. */
struct autoterm *autoterm_new(struct err *e);
void autoterm_free(struct autoterm *a);

/* Adds a request that has ended; in order of `end`. Threads are numbered densely from 0. False: out
 * of memory. */
bool autoterm_add(struct autoterm *a, uint32_t thread, const struct attribution_request *r,
                  struct err *e);

/* The seven segments that decided, and the speed of the last one. */
struct autoterm_window {
    int64_t start_ns, end_ns, segment_ns;
    double bytes_per_s, objects_per_s;
};

/* Returns whether the run has been stable for dur_ns > 0, going by the requests added so far; if
 * so, fills *w (which may be NULL). The speeds of the six segments before the last may differ from
 * the last one's by pct percent. The time taken grows with the threads, and with the requests that
 * run across one of the eight ends of the segments. Forgets requests that no later window can
 * reach, so a run of any length takes bounded memory. */
bool autoterm_is_stable(struct autoterm *a, int64_t dur_ns, double pct, struct autoterm_window *w);

/* The steps of autoterm_is_stable, for several processes that decide together. Each process knows
 * only its own requests. First each reports the range of its threads; the latest start and the
 * earliest end count. Then each reports its amounts. Their sums may wrap around. */
#define AUTOTERM_N_ENDS 8 /* ends of seven segments */

struct autoterm_cut {
    int64_t range_start_ns;
    int64_t start_ns, segment_ns; /* of the segments compared */
};

/* Bytes and objects done before a point in time. Only differences of two amounts mean something. */
struct autoterm_amount {
    uint64_t bytes;
    uint64_t n_objects;
    unsigned __int128 object_frac; /* in units of 2^-96 */
};

/* Returns the range of all threads, from the requests added so far; start > end: no requests. */
struct segment_range autoterm_range(const struct autoterm *a);

/* Returns the length up to which a range is too short to decide. */
int64_t autoterm_least_ns(int64_t dur_ns);

/* Cuts a range into segments. False: the range is too short to decide. */
bool autoterm_cut_range(int64_t dur_ns, const struct segment_range *range,
                        struct autoterm_cut *cut);

/* Fills in what was done before each end of the segments. Forgets requests as autoterm_is_stable
 * does. */
void autoterm_amounts(struct autoterm *a, const struct autoterm_cut *cut,
                      struct autoterm_amount amount[AUTOTERM_N_ENDS]);

/* Returns whether the segments are stable, from the summed amounts; if so, fills *w (which may be
 * NULL). */
bool autoterm_judge(double pct, const struct autoterm_cut *cut,
                    const struct autoterm_amount amount[AUTOTERM_N_ENDS],
                    struct autoterm_window *w);

struct autoterm_stop {
    bool stopped;
    int64_t at_s; /* whole seconds after the first start */
    struct autoterm_window window;
};

/* Replays a recorded run: tests for stability at each whole second after first_start_ns, up to the
 * latest end. `next` gives the requests in order of `end`, and returns false after the last. False:
 * out of memory. */
bool autoterm_replay(int64_t first_start_ns, int64_t dur_ns, double pct,
                     bool (*next)(void *ctx, uint32_t *thread, struct attribution_request *r),
                     void *ctx, struct autoterm_stop *stop, struct err *e);

#endif
