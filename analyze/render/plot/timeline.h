/* The course of an operation, or of all operations of a mixed run together, on one grid of time for
 * the first screen of a page: throughput, latency, requests in flight, and errors by message. */
#ifndef S3_ANALYZE_RENDER_PLOT_TIMELINE_H
#define S3_ANALYZE_RENDER_PLOT_TIMELINE_H

#include "analyze/data/dataset.h"
#include "analyze/summary/model/model.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values of a bin: bytes per second or, if there are none, objects; durations in ns, of an open
 * loop from when requests were due; failed requests; requests in flight, on average; of an open
 * loop durations from the start. */
enum plot_course {
    PLOT_THROUGHPUT,
    PLOT_P50,
    PLOT_P99,
    PLOT_FAILED,
    PLOT_IN_FLIGHT,
    PLOT_SERVICE_P50,
    PLOT_SERVICE_P99,
    PLOT_N_COURSE
};

#define PLOT_TIMELINE_MESSAGES 3 /* kept apart; the last entry has all others */

struct plot_timeline_message {
    const char *text; /* borrowed; NULL: several */
    int64_t n;
    int64_t *by_bin;
};

struct plot_timeline {
    const char *op;           /* borrowed */
    int64_t start_ns, end_ns; /* first start, last end */
    struct series_row *rows;  /* the last one ends at end_ns and may be shorter or longer */
    size_t n;
    bool has_bytes;
    bool is_open; /* an open loop: latency is response time, with service time beside it */
    int64_t n_requests, n_errors;
    struct span range;                                             /* the active range */
    struct plot_timeline_message messages[PLOT_TIMELINE_MESSAGES]; /* most frequent first */
    size_t n_messages;
    /* The least and greatest of shorter bins or, of a party, of the others, for each bin (NAN:
     * none); NULL: not known. */
    struct plot_band {
        double *least, *most;
    } band[PLOT_N_COURSE];
};

/* Returns the shortest of 1, 2 or 5 times a power of ten (at least 1 us) that is at least that
 * long. */
int64_t plot_timeline_round_ns(int64_t ns);

/* Fills in all but the bins and the messages, without reading requests. */
void plot_timeline_begin(struct plot_timeline *t, const struct analysis *a, int index);

/* Returns the i-th table of the dataset, if its requests are among those of `index`; else NULL. */
const struct table *plot_timeline_table(const struct analysis *a, int index, size_t i);

/* Fills in at most n_most bins of a round length, fewer if there are few requests. `index` as in
 * analysis_series; all operations together have no percentiles, since their durations are not one
 * distribution. n is 0 if there are no requests. False: *e says why. Call plot_timeline_fini in any
 * case. */
bool plot_timeline_init(struct plot_timeline *t, const struct analysis *a, int index, size_t n_most,
                        struct err *e);
void plot_timeline_fini(struct plot_timeline *t);

/* Fills in the band of a value from the same timeline with shorter bins. False: out of memory. */
bool plot_timeline_band(struct plot_timeline *t, const struct plot_timeline *fine,
                        enum plot_course what, struct err *e);

/* Fills in, for the host, client, thread or size that the finding names, the course of its median
 * duration or, if the finding is no slowness, of its successful requests, and the band of the other
 * ones. n is 0 if the requests are not known. False: *e says why. Call plot_timeline_fini in any
 * case. */
bool plot_timeline_party(struct plot_timeline *t, const struct analysis *a, int index,
                         const struct finding *x, size_t n_most, struct err *e);

/* Returns the value in bin i; NAN: not known. */
double plot_timeline_value(const struct plot_timeline *t, enum plot_course what, size_t i);

/* Whether the number of requests in flight hardly changed over the active range, as in a closed
 * loop. */
bool plot_timeline_is_steady(const struct plot_timeline *t);

#endif
