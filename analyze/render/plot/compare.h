/* Charts of a comparison: throughput of both sides over time, aligned at the start; their latency
 * distributions; the changes with their confidence intervals. */
#ifndef S3_ANALYZE_RENDER_PLOT_COMPARE_H
#define S3_ANALYZE_RENDER_PLOT_COMPARE_H

#include "analyze/render/plot/plot.h"
#include "analyze/tools/compare/compare.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Throughput of one operation in one run, over time. */
struct plot_trace {
    bool is_after;
    char *op;
    bool has_bytes;
    int64_t start_ns;  /* of the operation, which tells the run */
    int64_t from_ns;   /* start of the trace, from the run's start */
    int64_t length_ns; /* length of a step */
    double *rate[2];   /* by step: objects/s, and MiB/s */
    size_t n;
};

struct plot_traces {
    bool is_after; /* the side whose runs are being added */
    struct plot_trace *v;
    size_t n, cap;
};

/* Adds the operations of a run; `traces` is a struct plot_traces (for run_load). */
bool plot_traces_add(void *traces, const struct analysis *a, struct err *e);
void plot_traces_free(struct plot_traces *t);

/* Adds the charts of a comparison whose runs gave these traces. */
bool plot_add_compare(struct plot_set *s, const struct compare *c, const struct plot_traces *traces,
                      const struct plot_options *o, struct err *e);

#endif
