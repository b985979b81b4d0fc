/* When autoterm would have stopped a run, for its chart. */
#ifndef S3_ANALYZE_PLOT_REPLAY_H
#define S3_ANALYZE_PLOT_REPLAY_H

#include "analyze/data/dataset.h"
#include "libcommon/autoterm.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plot_replay {
    const char *op; /* owned by the dataset; "": all together */
    struct autoterm_stop stop;
};

struct plot_replays {
    int64_t dur_ns;
    double pct;
    struct plot_replay *v;
    size_t n;
};

/* Replays the dataset as it is: to be called before an analysis drops rows of it. `mixed`: all
 * operations together. Costs 16 bytes a request while it runs. The caller calls plot_replays_free
 * in any case. */
bool plot_replays_init(struct plot_replays *r, const struct dataset *d, bool mixed, int64_t dur_ns,
                       double pct, struct err *e);
void plot_replays_free(struct plot_replays *r);

/* That of an operation; NULL: none. */
const struct plot_replay *plot_replays_of(const struct plot_replays *r, const char *op);

#endif
