#include "analyze/plot/compare.h"

#include "analyze/compare/words.h"
#include "analyze/plot/cdf.h"
#include "analyze/plot/out.h"
#include "libcommon/hist.h"
#include "libcommon/mem.h"
#include "libcommon/segment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIB           0x1p20
#define MIN_STEPS     50 /* of a trace */
#define CDF_STEPS     300
#define RUN_CDF_STEPS 100
#define MAX_ROWS      60  /* of the forest plot */
#define FOREST_HEAD   110 /* pixels above and below its rows */

const char *const plot_compare_charts[] = {"compare-throughput", "compare-cdf", "compare-change",
                                           NULL};

/* ---- Traces ---- */

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
    t->op = strdup(op->op);
    t->has_bytes = op->n_bytes > 0;
    t->length_ns = step_ns(op->end_ns - op->start_ns);
    /* Whole steps: the last one, cut short, would look slow. */
    int64_t n_steps = (op->end_ns - op->start_ns) / t->length_ns;
    segment_grid_init(&grid, op->start_ns, t->length_ns, (size_t)n_steps);
    t->rate = calloc((size_t)n_steps + 1, sizeof *t->rate);
    if (t->op == NULL || t->rate == NULL)
        return mem_none(e);
    if (!analysis_series_on(a, (int)k, -1, &grid, &rows, &n, e))
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

void plot_traces_free(struct plot_traces *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->v[i].op);
        free(t->v[i].rate);
    }
    free(t->v);
    *t = (struct plot_traces){0};
}

/* ---- Throughput ---- */

struct op_chart {
    const struct compare *c;
    const struct compare_op *op;
    const struct plot_traces *traces;
};

static bool is_of(const struct plot_trace *t, const struct op_chart *x, bool is_after)
{
    return t->is_after == is_after && strcmp(t->op, x->op->op) == 0;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Mean of a trace over the k-th of longer steps. NaN: it does not reach so far. */
static double joined_rate(const struct plot_trace *t, int64_t length_ns, size_t k)
{
    size_t joined = (size_t)(length_ns / t->length_ns);
    double sum = 0;
    if ((k + 1) * joined > t->n)
        return NAN;
    for (size_t i = 0; i < joined; i++)
        sum += t->rate[k * joined + i];
    return sum / (double)joined;
}

/* Thin lines of the runs, and the median of those that still run while most do. */
static bool put_traces(FILE *f, const struct op_chart *x, bool is_after, double *t_max,
                       double *most)
{
    int64_t length_ns = 1;
    size_t n_runs = 0;
    plot_out_block(f, is_after ? "after_runs" : "before_runs", "t_s rate");
    for (size_t i = 0; i < x->traces->n; i++) {
        const struct plot_trace *t = &x->traces->v[i];
        if (!is_of(t, x, is_after))
            continue;
        length_ns = t->length_ns > length_ns ? t->length_ns : length_ns;
        if (n_runs++ > 0)
            fputc('\n', f); /* ends the line */
        for (size_t k = 0; k < t->n; k++) {
            double t_s = ((double)k + .5) * (double)t->length_ns / 1e9;
            plot_out_row(f, "rr", t_s, t->rate[k]);
            *t_max = t_s > *t_max ? t_s : *t_max;
            *most = t->rate[k] > *most ? t->rate[k] : *most;
        }
    }
    double *v = calloc(n_runs + 1, sizeof *v);
    if (v == NULL)
        return false;
    plot_out_block(f, is_after ? "after_median" : "before_median", "t_s rate");
    for (size_t k = 0;; k++) {
        size_t n = 0;
        for (size_t i = 0; i < x->traces->n; i++) {
            const struct plot_trace *t = &x->traces->v[i];
            double rate = is_of(t, x, is_after) ? joined_rate(t, length_ns, k) : NAN;
            if (!isnan(rate))
                v[n++] = rate;
        }
        if (n == 0 || 2 * n < n_runs)
            break;
        qsort(v, n, sizeof *v, compare_doubles);
        plot_out_row(f, "rr", ((double)k + .5) * (double)length_ns / 1e9,
                     (v[(n - 1) / 2] + v[n / 2]) / 2);
    }
    free(v);
    return true;
}

static bool write_throughput(FILE *f, const void *ctx, const char *title)
{
    const struct op_chart *x = ctx;
    double t_max = 0, most = 0;
    bool has_bytes = false;
    for (size_t i = 0; i < x->traces->n; i++)
        has_bytes |= strcmp(x->traces->v[i].op, x->op->op) == 0 && x->traces->v[i].has_bytes;
    if (!put_traces(f, x, false, &t_max, &most) || !put_traces(f, x, true, &t_max, &most))
        return false;
    plot_out_block(f, "chart",
                   "title zero_unix t_min t_max most has_bytes before after n_before n_after");
    plot_out_row(f, "srrrrissii", title, 0.0, 0.0, t_max, most, (int64_t)has_bytes,
                 x->c->before.name, x->c->after.name, (int64_t)x->op->n_before,
                 (int64_t)x->op->n_after);
    return true;
}

static bool has_traces(const struct op_chart *x, bool is_after)
{
    for (size_t i = 0; i < x->traces->n; i++)
        if (is_of(&x->traces->v[i], x, is_after) && x->traces->v[i].n > 1)
            return true;
    return false;
}

/* ---- Distributions ---- */

/* Each run's, and that of all of them together. */
static bool put_cdfs(FILE *f, const struct compare_side *side, const char *op, const char *runs,
                     const char *all)
{
    uint64_t *sum = calloc(HIST_N_INDEXES, sizeof *sum), n_all = 0;
    uint64_t *one = calloc(HIST_N_INDEXES, sizeof *one);
    double worst_ns = 0;
    size_t n_runs = 0;
    bool ok = sum != NULL && one != NULL;
    plot_out_block(f, runs, "ms pct");
    for (size_t i = 0; ok && i < side->n; i++) {
        const struct run_op *o = run_op_named(&side->runs[i], op);
        uint64_t n = 0;
        memset(one, 0, HIST_N_INDEXES * sizeof *one);
        for (size_t k = 0; o != NULL && o->count != NULL && k < o->n_buckets; k++) {
            one[o->first_bucket + k] = o->count[k];
            sum[o->first_bucket + k] += o->count[k];
            n += o->count[k];
        }
        if (n == 0)
            continue;
        double max_ns = o->figures.duration_ns[RUN_WORST];
        worst_ns = max_ns > worst_ns ? max_ns : worst_ns;
        n_all += n;
        if (n_runs++ > 0)
            fputc('\n', f); /* ends the line */
        plot_cdf_rows(f, one, n, (int64_t)max_ns, RUN_CDF_STEPS);
    }
    plot_out_block(f, all, "ms pct");
    if (ok && n_all > 0)
        plot_cdf_rows(f, sum, n_all, (int64_t)worst_ns, CDF_STEPS);
    free(sum);
    free(one);
    return ok;
}

static bool write_cdf(FILE *f, const void *ctx, const char *title)
{
    const struct op_chart *x = ctx;
    if (!put_cdfs(f, &x->c->before, x->op->op, "before_runs", "all_before") ||
        !put_cdfs(f, &x->c->after, x->op->op, "after_runs", "all_after"))
        return false;
    plot_out_block(f, "chart", "title zero_unix t_min t_max before after n_before n_after");
    plot_out_row(f, "srrrssii", title, 0.0, 0.0, 1.0, x->c->before.name, x->c->after.name,
                 (int64_t)x->op->n_before, (int64_t)x->op->n_after);
    return true;
}

static bool has_durations(const struct compare_side *side, const char *op)
{
    for (size_t i = 0; i < side->n; i++) {
        const struct run_op *o = run_op_named(&side->runs[i], op);
        if (o != NULL && o->count != NULL && !isnan(o->figures.duration_ns[RUN_WORST]))
            return true;
    }
    return false;
}

/* ---- Changes ---- */

/* Ratios after/before that can be drawn. */
static bool is_drawn(const struct compare_metric *m)
{
    return m->cmp.ok && !m->cmp.is_difference && isfinite(m->cmp.theta) && m->part->kind == RUN_ALL;
}

static size_t n_drawn(const struct compare *c)
{
    size_t n = 0;
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < c->ops[k].n_metrics; i++)
            n += is_drawn(&c->ops[k].metrics[i]);
    return n < MAX_ROWS ? n : MAX_ROWS;
}

/* -1 worse, 1 better, 2 a change only if runs repeat well, 0 none shown. */
static int64_t direction(const struct compare_metric *m)
{
    switch (m->verdict) {
    case STATS_BETTER:
        return 1;
    case STATS_WORSE:
        return -1;
    case STATS_DIFFERS:
        return 2;
    default:
        return 0;
    }
}

static double pct_of(double theta)
{
    return isfinite(theta) ? 100 * expm1(theta) : NAN;
}

static bool write_change(FILE *f, const void *ctx, const char *title)
{
    const struct compare *c = ctx;
    size_t n = n_drawn(c), index = 0;
    double least = -1, most = 1;
    char name[160];
    plot_out_block(f, "rows",
                   "index change_pct lo_pct hi_pct same_lo_pct same_hi_pct direction name change");
    for (size_t k = 0; k < c->n_ops; k++) {
        for (size_t i = 0; i < c->ops[k].n_metrics && index < n; i++) {
            const struct compare_metric *m = &c->ops[k].metrics[i];
            if (!is_drawn(m))
                continue;
            struct compare_words_row words = compare_words_row(m);
            const double v[] = {pct_of(m->cmp.theta), pct_of(m->cmp.lo), pct_of(m->cmp.hi),
                                -100 * m->delta, 100 * m->delta};
            for (size_t j = 0; j < 5; j++) {
                least = v[j] < least ? v[j] : least;
                most = v[j] > most ? v[j] : most;
            }
            snprintf(name, sizeof name, "%.60s %s", c->ops[k].op, words.metric);
            plot_out_row(f, "irrrrriss", (int64_t)index++, v[0], v[1], v[2], v[3], v[4],
                         direction(m), name, words.change);
        }
    }
    plot_out_block(f, "chart", "title zero_unix t_min t_max n least most");
    plot_out_row(f, "srrrirr", title, 0.0, 0.0, 1.0, (int64_t)n, least, most);
    return true;
}

/* ---- All of them ---- */

static int64_t n_requests(const struct compare *c, const struct compare_op *op)
{
    int64_t n = 0;
    for (size_t i = 0; i < c->before.n; i++) {
        const struct run_op *o = run_op_named(&c->before.runs[i], op->op);
        n += o != NULL ? o->n_requests : 0;
    }
    return n;
}

bool plot_add_compare(struct plot_set *s, const struct compare *c, const struct plot_traces *traces,
                      const char *folder, const char *stem, const struct plot_options *o,
                      struct err *e)
{
    size_t n = n_drawn(c);
    struct plot_options sized = *o; /* its rows need room */
    sized.height = o->height > 0 ? o->height : FOREST_HEAD + 26 * (int)n;
    if (sized.height < FOREST_HEAD + 16 * (int)n)
        sized.height = FOREST_HEAD + 16 * (int)n;
    if (plot_wants(o, "compare-change") && n > 0 &&
        !plot_add(s, "compare-change", NULL, "changes",
                  "Dot and line: the change with its 95% confidence interval. The band is what "
                  "counts as the same. Triangles up are better, down worse; a diamond is a change "
                  "only if "
                  "runs repeat well enough; * is exploratory.",
                  folder, stem, &sized, write_change, c, e))
        return false;
    size_t n_ops = c->n_ops, first = 0;
    if (stem != NULL) { /* one picture: of the operation with the most requests */
        for (size_t k = 1; k < c->n_ops; k++)
            if (n_requests(c, &c->ops[k]) > n_requests(c, &c->ops[first]))
                first = k;
        n_ops = first + 1;
    }
    for (size_t k = first; k < n_ops; k++) {
        const struct op_chart x = {c, &c->ops[k], traces};
        const char *op = x.op->op;
        if (plot_wants(o, "compare-throughput") && has_traces(&x, false) && has_traces(&x, true) &&
            !plot_add(
                s, "compare-throughput", op, "throughput over time",
                "Both sides from their start on: each run thin, the median of the runs thick.",
                folder, stem, o, write_throughput, &x, e))
            return false;
        if (plot_wants(o, "compare-cdf") && has_durations(&c->before, op) &&
            has_durations(&c->after, op) &&
            !plot_add(s, "compare-cdf", op, "latency distribution",
                      "The share of the requests that took at most so long: each run thin, all "
                      "runs of a side together thick.",
                      folder, stem, o, write_cdf, &x, e))
            return false;
    }
    return true;
}
