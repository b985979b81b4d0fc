/* Gives requests threads, as few as their times allow: greedy colouring of intervals, which is
 * optimal where requests come in order of start. Each gets the thread that is free for longest.
 *
 * Where starts are only known to a resolution, a request may have begun up to that much later. So a
 * thread can take it that is free by then, and the request is placed behind the thread's last one.
 */
#ifndef S3_ANALYZE_IMPORT_WORKERS_H
#define S3_ANALYZE_IMPORT_WORKERS_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worker {
    int64_t free_ns; /* the end of its last request */
    uint32_t thread;
};

/* A heap: the one that is free first is v[0]; of several, that of the lowest number. Starts zeroed.
 */
struct workers {
    struct worker *v;
    size_t n, cap;
};

/* Gives a request a thread; starts ascend. *start_ns becomes the time where it is placed, at most
 * resolution_ns later. False: out of memory, or more than 2^32 threads. */
bool workers_take(struct workers *w, int64_t *start_ns, int64_t duration_ns, int64_t resolution_ns,
                  uint32_t *thread, struct err *e);
void workers_fini(struct workers *w);

#endif
