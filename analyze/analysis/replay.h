/* Replays the autoterm rule over a recorded run (docs/how-the-numbers-are-made.md, section 9). */
#ifndef S3_ANALYZE_ANALYSIS_REPLAY_H
#define S3_ANALYZE_ANALYSIS_REPLAY_H

#include "analyze/data/dataset.h"
#include "libcommon/autoterm.h"
#include "libcommon/err.h"

#include <stddef.h>
#include <stdint.h>

/* The requests of one or more operation types in order of their end: 16 bytes each. */
struct replay {
    const struct table *const *tables; /* borrowed */
    size_t n_tables;
    struct replay_item {
        int64_t end_ns;
        uint32_t table, row;
    } * items;
    size_t n;
    int64_t first_start_ns;
};

/* replay_fini may be called in any case. */
bool replay_init(struct replay *r, const struct table *const *tables, size_t n_tables,
                 struct err *e);
void replay_fini(struct replay *r);

/* When the rule would have stopped the run; may be called again with other settings. */
bool replay_run(const struct replay *r, int64_t dur_ns, double pct, struct autoterm_stop *stop,
                struct err *e);

#endif
