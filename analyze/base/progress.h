/* A progress bar on standard error. Shown only on a terminal, and only after half a second. */
#ifndef S3_ANALYZE_BASE_PROGRESS_H
#define S3_ANALYZE_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool enabled, shown;
    int64_t start_ns, last_ns; /* monotonic */
};

void progress_init(struct progress *p, bool quiet);

/* Shows that n_done of n_total bytes are read (n_total 0: not known). `p` is a struct progress; a
 * void pointer, so that this function fits recfile_options.progress. */
void progress_update(void *p, uint64_t n_done, uint64_t n_total);

/* Erases the bar. */
void progress_fini(struct progress *p);

#endif
