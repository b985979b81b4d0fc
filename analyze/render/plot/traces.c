#include "analyze/render/plot/compare.h"

#include "analyze/data/slices.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>

#define MIN_STEPS 20 /* least number of steps in a trace, which has at most five times as many */

/* Returns a step of 1 ms, 5 ms, 10 ms, 50 ms ..., so that the steps of one run divide those of
 * another. */
static int64_t step_ns(int64_t duration_ns)
{
    int64_t ns = NS_PER_MS;
    for (int64_t next = 5; duration_ns / (ns * next) >= MIN_STEPS; next = 7 - next)
        ns *= next;
    return ns;
}

/* Chooses whole steps: a last one cut short would look slow. Without requests the steps are
 * seconds, as in the figures of the run, without the first two and the last one. */
static void trace_grid(struct plot_trace *t, struct slice_grid *grid, const struct operation *op,
                       bool by_second)
{
    int64_t start_ns = op->start_ns, end_ns = op->end_ns;

    t->length_ns = step_ns(end_ns - start_ns);
    if (by_second) {
        t->length_ns = NS_PER_S;
        start_ns = int64_max(start_ns / NS_PER_S * NS_PER_S + 2 * NS_PER_S, op->range.start_ns);
        end_ns = int64_min(end_ns / NS_PER_S * NS_PER_S - NS_PER_S, op->range.end_ns);
        t->from_ns = start_ns - op->start_ns / NS_PER_S * NS_PER_S;
    }
    slice_grid_init(grid, start_ns, t->length_ns,
                    end_ns > start_ns ? (size_t)((end_ns - start_ns) / t->length_ns) : 0);
}

static bool trace_fill(struct plot_trace *t, const struct analysis *a, size_t k, struct err *e)
{
    const struct operation *op = &a->operations[k];
    struct slice_grid grid;
    struct series_row *rows = NULL;
    size_t n = 0;

    t->has_bytes = op->n_bytes > 0;
    trace_grid(t, &grid, op, a->options.by_second);
    if (!mem_text(&t->op, op->op, e) || !mem_new(&t->rate[0], grid.n, e) ||
        !mem_new(&t->rate[1], grid.n, e) || !analysis_series_on(a, (int)k, -1, &grid, &rows, &n, e))
        return false;
    /* An aggregated capture may lack some seconds: the trace ends at the first gap. */
    size_t i = 0;
    for (; i < n && isnan(rows[i].objects); i++)
        t->from_ns += t->length_ns;
    for (; i < n && !isnan(rows[i].objects); i++, t->n++) {
        t->rate[0][t->n] = rows[i].objects / ((double)t->length_ns / 1e9);
        t->rate[1][t->n] = (double)rows[i].bytes / MIB / ((double)t->length_ns / 1e9);
    }
    free(rows);
    return true;
}

bool plot_traces_add(void *traces, const struct analysis *a, struct err *e)
{
    struct plot_traces *t = traces;
    for (size_t k = 0; k < a->n_operations; k++) {
        const struct operation *op = &a->operations[k];
        if (op->n_requests == 0 || (a->options.by_second && !op->throughput.present))
            continue;
        if (!mem_fit(&t->v, &t->cap, t->n + 1, e))
            return false;
        t->v[t->n] = (struct plot_trace){.is_after = t->is_after, .start_ns = op->start_ns};
        if (!trace_fill(&t->v[t->n++], a, k, e))
            return false;
    }
    return true;
}

void plot_traces_free(struct plot_traces *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->v[i].op);
        free(t->v[i].rate[0]);
        free(t->v[i].rate[1]);
    }
    free(t->v);
    *t = (struct plot_traces){0};
}
