/* Assigns threads to requests, as few as their times allow: greedy colouring of intervals, which is
 * optimal for requests in order of start. Each request gets the thread that has been free for
 * longest.
 *
 * If starts are known only to a resolution, a request may have begun up to that much later. So it
 * may get a thread that is free by then, and is placed after that thread's last request. */
#ifndef S3_ANALYZE_CAPTURE_IMPORT_WORKERS_H
#define S3_ANALYZE_CAPTURE_IMPORT_WORKERS_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worker {
    int64_t free_ns; /* the end of its last request */
    uint32_t thread;
};

/* A heap of workers: v[0] is the first to be free; of several, the one with the lowest number.
 * Starts zeroed. */
struct workers {
    struct worker *v;
    size_t n, cap;
};

/* Assigns a thread to a request; starts ascend. *start_ns becomes the time where it is placed, at
 * most resolution_ns later. False: out of memory, or more than 2^32 threads. */
bool workers_take(struct workers *w, int64_t *start_ns, int64_t duration_ns, int64_t resolution_ns,
                  uint32_t *thread, struct err *e);
void workers_fini(struct workers *w);

#endif
