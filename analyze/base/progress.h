/* A progress bar on standard error: only on a terminal, and only for work that takes a while. */
#ifndef S3_ANALYZE_BASE_PROGRESS_H
#define S3_ANALYZE_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool enabled, shown;
    int64_t start_ns, last_ns; /* monotonic */
};

void progress_init(struct progress *p, bool quiet);

/* Says that n_done of n_total bytes are read (n_total 0: not known). `p` is a struct progress; in
 * this form it serves as recfile_options.progress. */
void progress_update(void *p, uint64_t n_done, uint64_t n_total);

/* Takes the bar away. */
void progress_fini(struct progress *p);

#endif
