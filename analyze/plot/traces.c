#include "analyze/plot/compare.h"

#include "libcommon/mem.h"
#include "libcommon/segment.h"
#include "libcommon/units.h"

#include <stdlib.h>

#define MIN_STEPS          50                  /* of a trace */
#define STEP_OF_SECONDS_NS INT64_C(1000000000) /* the first two of which are left out */

/* Steps of 1 ms, 10 ms ..., so that those of one run divide those of another. */
static int64_t step_ns(int64_t duration_ns)
{
    int64_t ns = 1000000;
    while (duration_ns / (ns * 10) >= MIN_STEPS)
        ns *= 10;
    return ns;
}

static bool trace_fill(struct plot_trace *t, const struct analysis *a, size_t k, struct err *e)
{
    const struct operation *op = &a->operations[k];
    struct segment_grid grid;
    struct series_row *rows = NULL;
    size_t n = 0;

    t->has_bytes = op->n_bytes > 0;
    t->length_ns = a->sums != NULL ? STEP_OF_SECONDS_NS : step_ns(op->end_ns - op->start_ns);
    t->from_ns = a->sums != NULL ? 2 * STEP_OF_SECONDS_NS : 0;
    /* Whole steps: the last one, cut short, would look slow. */
    int64_t start_ns = op->start_ns + t->from_ns, end_ns = op->end_ns;
    if (a->sums != NULL) {
        start_ns -= start_ns % STEP_OF_SECONDS_NS;
        end_ns -= end_ns % STEP_OF_SECONDS_NS + STEP_OF_SECONDS_NS;
    }
    int64_t n_steps = end_ns > start_ns ? (end_ns - start_ns) / t->length_ns : 0;
    segment_grid_init(&grid, start_ns, t->length_ns, (size_t)n_steps);
    if (!mem_text(&t->op, op->op, e) || !mem_new(&t->rate, (size_t)n_steps, e) ||
        !analysis_series_on(a, (int)k, -1, &grid, &rows, &n, e))
        return false;
    for (size_t i = 0; i < n; i++)
        t->rate[i] = (t->has_bytes ? (double)rows[i].bytes / MIB : rows[i].objects) /
                     ((double)t->length_ns / 1e9);
    t->n = n;
    free(rows);
    return true;
}

bool plot_traces_add(void *traces, const struct analysis *a, struct err *e)
{
    struct plot_traces *t = traces;
    for (size_t k = 0; k < a->n_operations; k++) {
        if (a->operations[k].n_requests == 0)
            continue;
        if (!mem_fit(&t->v, &t->cap, t->n + 1, e))
            return false;
        t->v[t->n] = (struct plot_trace){.is_after = t->is_after};
        if (!trace_fill(&t->v[t->n++], a, k, e))
            return false;
    }
    return true;
}

bool plot_traces_add_seconds(struct plot_traces *t, const struct run *r, struct err *e)
{
    for (size_t k = 0; k < r->n_ops; k++) {
        const struct run_op *op = &r->ops[k];
        if (op->rate == NULL)
            continue;
        if (!mem_fit(&t->v, &t->cap, t->n + 1, e))
            return false;
        struct plot_trace *trace = &t->v[t->n++];
        *trace = (struct plot_trace){.is_after = t->is_after,
                                     .has_bytes = op->report.throughput.n_bytes > 0,
                                     .from_ns = 2 * STEP_OF_SECONDS_NS,
                                     .length_ns = STEP_OF_SECONDS_NS};
        if (!mem_text(&trace->op, op->op, e) || !mem_new(&trace->rate, op->n_rates, e))
            return false;
        for (; trace->n < op->n_rates; trace->n++)
            trace->rate[trace->n] = op->rate[trace->n] / (trace->has_bytes ? MIB : 1);
    }
    return true;
}

void plot_traces_free(struct plot_traces *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->v[i].op);
        free(t->v[i].rate);
    }
    free(t->v);
    *t = (struct plot_traces){0};
}
