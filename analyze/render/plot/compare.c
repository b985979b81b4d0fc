#include "analyze/render/plot/compare.h"
#include "analyze/render/plot/charts_internal.h"

#include "analyze/base/phrase.h"
#include "analyze/tools/compare/words.h"
#include "libcommon/hist.h"
#include "libcommon/mem.h"
#include "libcommon/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CDF_STEPS     300
#define RUN_CDF_STEPS 100
#define MAX_ROWS      60  /* rows of the forest plot */
#define FOREST_HEAD   110 /* pixels above and below its rows */

/* ---- Throughput ---- */

struct op_chart {
    const struct compare *c;
    const struct compare_op *op;
    const struct plot_traces *traces;
};

/* Whether a trace is of a run of the comparison; other runs may have been read. */
static bool is_of(const struct plot_trace *t, const struct op_chart *x, bool is_after)
{
    const struct compare_runs *runs = &x->op->runs[is_after];
    bool is_one = false;

    for (size_t i = 0; i < runs->n; i++)
        is_one |= runs->v[i]->report.start_ns == t->start_ns;
    return is_one && t->is_after == is_after && strcmp(t->op, x->op->op) == 0;
}

/* Whether throughput is drawn in bytes: not if the object sizes differ between the sides. */
static bool is_by_bytes(const struct op_chart *x)
{
    bool has_bytes = false;

    for (size_t i = 0; i < x->traces->n; i++)
        has_bytes |= strcmp(x->traces->v[i].op, x->op->op) == 0 && x->traces->v[i].has_bytes;
    return has_bytes && !x->op->sizes_differ;
}

/* Returns the mean of a trace over the k-th of longer steps; NaN: the trace ends before. */
static double joined_rate(const struct plot_trace *t, bool by_bytes, int64_t length_ns, size_t k)
{
    size_t joined = (size_t)(length_ns / t->length_ns);
    double sum = 0;

    if ((k + 1) * joined > t->n)
        return NAN;
    for (size_t i = 0; i < joined; i++)
        sum += t->rate[by_bytes][k * joined + i];
    return sum / (double)joined;
}

/* Writes thin lines of the runs, and their median while at least half of them still run. */
static bool put_traces(FILE *f, const struct op_chart *x, bool is_after, double *t_max,
                       double *most)
{
    int64_t length_ns = 1, from_ns = 0;
    size_t n_runs = 0;
    bool by_bytes = is_by_bytes(x);

    plot_out_block(f, is_after ? "after_runs" : "before_runs", "t_s rate");
    for (size_t i = 0; i < x->traces->n; i++) {
        const struct plot_trace *t = &x->traces->v[i];
        if (!is_of(t, x, is_after))
            continue;
        length_ns = int64_max(length_ns, t->length_ns);
        from_ns = t->from_ns;
        if (n_runs++ > 0)
            fputc('\n', f); /* ends the line */
        for (size_t k = 0; k < t->n; k++) {
            double t_s = ((double)from_ns + ((double)k + .5) * (double)t->length_ns) / 1e9;
            double rate = t->rate[by_bytes][k];

            plot_out_row(f, "rr", t_s, rate);
            *t_max = t_s > *t_max ? t_s : *t_max;
            *most = rate > *most ? rate : *most;
        }
    }
    double *v;
    if (!mem_new(&v, n_runs, NULL))
        return false;
    plot_out_block(f, is_after ? "after_median" : "before_median", "t_s rate lo hi");
    for (size_t k = 0;; k++) {
        size_t n = 0;
        for (size_t i = 0; i < x->traces->n; i++) {
            const struct plot_trace *t = &x->traces->v[i];
            double rate = is_of(t, x, is_after) ? joined_rate(t, by_bytes, length_ns, k) : NAN;

            if (!isnan(rate))
                v[n++] = rate;
        }
        if (n == 0 || 2 * n < n_runs)
            break;
        double median = stats_sort_median(v, n);
        plot_out_row(f, "rrrr", ((double)from_ns + ((double)k + .5) * (double)length_ns) / 1e9,
                     median, v[n / 4], v[n - 1 - n / 4]);
    }
    free(v);
    return true;
}

static bool write_throughput(FILE *f, const void *ctx, const char *title)
{
    const struct op_chart *x = ctx;
    double t_max = 0, most = 0;

    if (!put_traces(f, x, false, &t_max, &most) || !put_traces(f, x, true, &t_max, &most))
        return false;
    plot_out_block(f, "chart",
                   "title zero_unix t_min t_max most has_bytes before after n_before n_after");
    plot_out_row(f, "srrrrissii", title, 0.0, 0.0, t_max, most, (int64_t)is_by_bytes(x),
                 x->c->before.name, x->c->after.name, (int64_t)x->op->runs[0].n,
                 (int64_t)x->op->runs[1].n);
    return true;
}

/* True if both sides have traces. */
static bool has_traces(const struct op_chart *x)
{
    bool has[2] = {false, false};

    for (size_t i = 0; i < x->traces->n; i++)
        for (int side = 0; side < 2; side++)
            has[side] |= is_of(&x->traces->v[i], x, side == 1) && x->traces->v[i].n > 1;
    return has[0] && has[1];
}

/* ---- Distributions ---- */

/* Writes the distribution of each run, and that of all runs together; adds their requests to
 * *n_all. */
static bool put_cdfs(FILE *f, const struct compare_runs *of, const char *runs, const char *all,
                     uint64_t *n_all)
{
    uint64_t *sum = NULL, *one = NULL;
    double worst_ns = 0;
    size_t n_runs = 0;
    bool ok = mem_cleared(&sum, HIST_N_INDEXES, NULL) && mem_new(&one, HIST_N_INDEXES, NULL);

    plot_out_block(f, runs, "ms pct");
    for (size_t i = 0; ok && i < of->n; i++) {
        const struct statistics_latency *d = run_durations(of->v[i]);

        if (d == NULL)
            continue;
        memset(one, 0, HIST_N_INDEXES * sizeof *one);
        for (size_t k = 0; k < d->n_buckets; k++) {
            one[d->first_bucket + k] = d->count[k];
            sum[d->first_bucket + k] += d->count[k];
        }
        worst_ns = fmax(worst_ns, (double)d->times.slowest_ns);
        *n_all += (uint64_t)d->times.n;
        if (n_runs++ > 0)
            fputc('\n', f); /* ends the line */
        plot_cdf_rows(f, one, (uint64_t)d->times.n, d->times.slowest_ns, RUN_CDF_STEPS);
    }
    plot_out_block(f, all, "ms pct");
    if (ok && *n_all > 0)
        plot_cdf_rows(f, sum, *n_all, (int64_t)worst_ns, CDF_STEPS);
    free(sum);
    free(one);
    return ok;
}

static bool write_cdf(FILE *f, const void *ctx, const char *title)
{
    const struct op_chart *x = ctx;
    uint64_t before = 0, after = 0;

    if (!put_cdfs(f, &x->op->runs[0], "before_runs", "all_before", &before) ||
        !put_cdfs(f, &x->op->runs[1], "after_runs", "all_after", &after))
        return false;
    PLOT_OUT_CHART(f, NULL, title, "before after n_before n_after requests_before requests_after",
                   "ssiiii", x->c->before.name, x->c->after.name, (int64_t)x->op->runs[0].n,
                   (int64_t)x->op->runs[1].n, (int64_t)before, (int64_t)after);
    return true;
}

/* True if both sides have durations. */
static bool has_durations(const struct op_chart *x)
{
    bool has[2] = {false, false};

    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < x->op->runs[side].n; i++)
            has[side] |= run_durations(x->op->runs[side].v[i]) != NULL;
    return has[0] && has[1];
}

/* ---- The shift function ---- */

static double pct_of(double theta)
{
    return isfinite(theta) ? 100 * expm1(theta) : NAN;
}

/* Percentiles in tenths of a percent. */
static const unsigned shift_permille[] = {10,  50,  100, 150, 200, 250, 300, 350,
                                          400, 450, 500, 550, 600, 650, 700, 750,
                                          800, 850, 900, 950, 980, 990, 995, 999};
#define N_SHIFTS (sizeof shift_permille / sizeof *shift_permille)

/* Returns the value of a 1-based rank: the middle of its bucket. */
static double value_at(const struct statistics_latency *d, uint64_t rank)
{
    uint64_t up_to = 0;
    size_t k = 0;

    while (k + 1 < d->n_buckets && (up_to += d->count[k]) < rank)
        k++;
    size_t bucket = d->first_bucket + k;
    return ((double)hist_lower(bucket) + (double)hist_upper(bucket)) / 2;
}

/* Returns a quantile of one run with its confidence limits: order statistics for the effective
 * number of requests. The design effect is that of the nearest quantile of the analysis. */
static struct stats_ci quantile_ci(const struct run_op *o, unsigned permille)
{
    const struct run_value *v = o->parts[0].value;
    const struct statistics_latency *d = run_durations(o);
    double deff = permille < 750   ? v[RUN_P50].deff
                  : permille < 950 ? v[RUN_P90].deff
                                   : v[RUN_P99].deff;
    uint64_t n = (uint64_t)d->times.n, from, to;
    uint64_t n_e = (uint64_t)((double)n / (deff >= 1 ? deff : 1));
    struct stats_ci ci = {.value = value_at(d, quantile_index(n, permille) + 1)};

    for (int level = 0; level < 2; level++) {
        double *lo = level == 0 ? &ci.lo : &ci.lo90, *hi = level == 0 ? &ci.hi : &ci.hi90;
        stats_binomial_ranks(n_e, permille / 1000.0, level == 0 ? .95 : .9, &from, &to);
        double scale = ((double)n + 1) / ((double)n_e + 1);
        ci.ok = from >= 1 && to <= n_e;
        if (!ci.ok)
            return ci;
        *lo = value_at(d, (uint64_t)fmax(1, floor((double)from * scale)));
        *hi = value_at(d, (uint64_t)ceil((double)to * scale));
    }
    return ci;
}

/* Fills in the quantile of each run of a side that has the operation, and returns how many have it.
 * *one: that of the last run, with its limits. */
static size_t side_quantiles(const struct compare_runs *runs, bool has_order, unsigned permille,
                             double *v, struct stats_ci *one)
{
    size_t n = 0;
    for (size_t i = 0; i < runs->n; i++) {
        const struct run_op *o = runs->v[i];
        if (run_durations(o) == NULL)
            continue;
        *one = quantile_ci(o, permille);
        one->ok &= has_order;
        v[n++] = one->value;
    }
    return n;
}

static bool compare_quantile(const struct op_chart *x, unsigned permille, struct stats_cmp *out)
{
    struct stats_ci a = {.ok = false}, b = {.ok = false};
    double *v;

    if (!mem_new(&v, compare_n_runs(x->c), NULL))
        return false;
    /* Sums lack the order of requests in time, which limits need. All runs are reduced alike. */
    bool has_order = compare_nth_run(x->c, 0)->basis == RUN_OF_REQUESTS;
    size_t n_a = side_quantiles(&x->op->runs[0], has_order, permille, v, &a);
    size_t n_b = side_quantiles(&x->op->runs[1], has_order, permille, v + n_a, &b);
    bool ok = true;
    *out = (struct stats_cmp){.ok = false};
    if (n_a == 1 && n_b == 1 && a.ok && b.ok)
        stats_cmp_single(STATS_QUANTILES, &a, &b, (struct stats_noise){.kind = STATS_NOISE_UNKNOWN},
                         out);
    else if (n_a + n_b > 2 && n_a > 0 && n_b > 0)
        ok = stats_cmp_groups(v, n_a, v + n_a, n_b, false, out, NULL);
    free(v);
    return ok;
}

/* Writes the block "chart" of charts with a row or a place for each of n changes, in percent. */
static void put_forest(FILE *f, const struct compare *c, const char *title, size_t n, double least,
                       double most)
{
    PLOT_OUT_CHART(f, NULL, title, "n least most before after", "irrss", (int64_t)n, least, most,
                   c->before.name, c->after.name);
}

static bool write_shift(FILE *f, const void *ctx, const char *title)
{
    const struct op_chart *x = ctx;
    double least = -1, most = 1;
    size_t n = 0;

    plot_out_block(f, "shift", "nines pct change_pct lo_pct hi_pct");
    for (size_t i = 0; i < N_SHIFTS; i++) {
        struct stats_cmp cmp;
        if (!compare_quantile(x, shift_permille[i], &cmp))
            return false;
        if (!cmp.ok || !isfinite(cmp.lo) || !isfinite(cmp.hi))
            continue;
        double p = shift_permille[i] / 1000.0;
        const double v[] = {pct_of(cmp.theta), pct_of(cmp.lo), pct_of(cmp.hi)};
        least = fmin(least, v[1]);
        most = fmax(most, v[2]);
        plot_out_row(f, "rrrrr", -log10(1 - p), 100 * p, v[0], v[1], v[2]);
        n++;
    }
    put_forest(f, x->c, title, n, least, most);
    return true;
}

/* Whether at least the medians can be compared. */
static bool has_shift(const struct op_chart *x)
{
    struct stats_cmp cmp;
    return compare_quantile(x, 500, &cmp) && cmp.ok && isfinite(cmp.lo) && isfinite(cmp.hi);
}

/* ---- Runs ---- */

static bool has_runs(const struct compare *c, const struct compare_op *op,
                     const struct compare_metric *m)
{
    return !c->single && role_is_benchmark(op->role) && m->part->kind == RUN_ALL &&
           m->before.center > 0 && !m->cmp.is_difference && m->verdict != STATS_NOT_JUDGED;
}

/* Whether a chart has a row for a metric. */
typedef bool row_filter(const struct compare *c, const struct compare_op *op,
                        const struct compare_metric *m);

struct forest_row {
    const char *op;
    const struct compare_metric *m;
};

/* Fills in these rows; returns their number. */
static size_t rows_of(const struct compare *c, row_filter *is_shown, struct forest_row v[MAX_ROWS])
{
    size_t n = 0;

    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < c->ops[k].n_metrics && n < MAX_ROWS; i++)
            if (is_shown(c, &c->ops[k], &c->ops[k].metrics[i]))
                v[n++] = (struct forest_row){c->ops[k].name, &c->ops[k].metrics[i]};
    return n;
}

/* Writes each run's value as a change from the median run before. */
static bool write_runs(FILE *f, const void *ctx, const char *title)
{
    const struct compare *c = ctx;
    struct forest_row row[MAX_ROWS];
    size_t n = rows_of(c, has_runs, row);
    double least = -1, most = 1;

    plot_out_block(f, "dots", "index side is_median pct");
    for (size_t i = 0; i < n; i++)
        for (int side = 0; side < 2; side++) {
            const struct compare_values *before = &row[i].m->before,
                                        *v = side == 0 ? before : &row[i].m->after;
            for (size_t j = 0; j <= v->n; j++) {
                double pct = 100 * ((j < v->n ? v->v[j] : v->center) / before->center - 1);

                least = fmin(least, pct);
                most = fmax(most, pct);
                plot_out_row(f, "iiir", (int64_t)i, (int64_t)side, (int64_t)(j == v->n), pct);
            }
        }
    plot_out_block(f, "names", "index name");
    for (size_t i = 0; i < n; i++)
        plot_out_row(f, "is", (int64_t)i,
                     phrase_format("%.60s %s", row[i].op, metrics[row[i].m->metric].title).s);
    put_forest(f, c, title, n, least, most);
    return true;
}

/* ---- Changes ---- */

/* Whether a metric has a ratio after/before that can be drawn. */
static bool is_drawn(const struct compare *c, const struct compare_op *op,
                     const struct compare_metric *m)
{
    (void)c;
    (void)op;
    return m->cmp.ok && !m->cmp.is_difference && isfinite(m->cmp.theta) &&
           m->part->kind == RUN_ALL && m->verdict != STATS_NOT_JUDGED;
}

/* Returns -1: worse, 1: better, 2: a change only if runs repeat well, 0: no change shown. */
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

static bool write_change(FILE *f, const void *ctx, const char *title)
{
    const struct compare *c = ctx;
    struct forest_row row[MAX_ROWS];
    size_t n = rows_of(c, is_drawn, row);
    double least = -1, most = 1;

    plot_out_block(f, "rows",
                   "index change_pct lo_pct hi_pct same_lo_pct same_hi_pct direction name change");
    for (size_t i = 0; i < n; i++) {
        const struct compare_metric *m = row[i].m;
        struct compare_words_row words = compare_words_row(m);
        const double v[] = {pct_of(compare_theta(m)), pct_of(m->cmp.lo), pct_of(m->cmp.hi),
                            -100 * m->delta, 100 * m->delta};

        for (size_t j = 0; j < 5; j++) {
            least = v[j] < least ? v[j] : least;
            most = v[j] > most ? v[j] : most;
        }
        plot_out_row(f, "irrrrriss", (int64_t)i, v[0], v[1], v[2], v[3], v[4], direction(m),
                     phrase_format("%.60s %s", row[i].op, words.metric).s, words.change);
    }
    put_forest(f, c, title, n, least, most);
    return true;
}

/* ---- All of them ---- */

static int64_t n_requests(const struct compare_op *op)
{
    int64_t n = 0;
    for (size_t i = 0; i < op->runs[0].n; i++)
        n += op->runs[0].v[i]->report.n_requests;
    return n;
}

/* Returns the height of a chart with n rows. */
static int height_of(const struct plot_options *o, size_t n)
{
    int least = FOREST_HEAD + 16 * (int)n;
    int height = o->height > 0 ? o->height : FOREST_HEAD + 26 * (int)n;

    return height > least ? height : least;
}

/* A kind of chart: one for each operation or, with is_shown, one of the metrics of all operations,
 * which is drawn if it has a row. */
struct compare_kind {
    struct plot_chart chart;
    bool (*has_data)(const struct op_chart *x);
    row_filter *is_shown;
    bool is_by_name; /* drawn only if it is asked for by name */
};

static const struct compare_kind kinds[] = {
    {{"compare-change", "changes",
      "Dot and line: the change with its 95 % confidence interval. The band is what counts as the "
      "same. Triangles up are better, down worse; a diamond is a change only if runs repeat well "
      "enough; * is exploratory.",
      .write = write_change},
     .is_shown = is_drawn},
    {{"compare-throughput", "throughput over time",
      "Both sides from their start on: the median of the runs, and a band from their lower to "
      "their upper quartile. Of fewer than four runs each is a thin line.",
      .write = write_throughput},
     .has_data = has_traces},
    {{"compare-spectrum", "latency percentiles",
      "The duration within which a share of the requests ended; each step to the right adds a nine "
      "to the share. Each run is thin, all runs of a side together are thick.",
      .write = write_cdf},
     .has_data = has_durations},
    {{"compare-cdf", "latency distribution",
      "The share of the requests that took at most that long. Each run is thin, all runs of a side "
      "together are thick.",
      .write = write_cdf},
     .has_data = has_durations,
     .is_by_name = true},
    {{"compare-shift", "change of latency by percentile",
      "How much longer or shorter the duration is at each percentile, with its 95 % CI: where the "
      "line lies above 0, requests take longer after.",
      .write = write_shift},
     .has_data = has_shift},
    {{"compare-runs", "runs",
      "A dot for each run, against the median run before; bars are medians. Circles are before, "
      "triangles after.",
      .write = write_runs},
     .is_shown = has_runs},
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

struct plot_listed plot_compare_listed(size_t i)
{
    return i < N_KINDS ? (struct plot_listed){kinds[i].chart.name, kinds[i].chart.title,
                                              kinds[i].is_by_name}
                       : (struct plot_listed){0};
}

static bool add_op(struct plot_set *s, const struct op_chart *x, const struct plot_options *o,
                   struct err *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < N_KINDS; i++)
        if (kinds[i].has_data != NULL && plot_wants(o, kinds[i].chart.name) &&
            (o->n_charts > 0 || !kinds[i].is_by_name) && kinds[i].has_data(x))
            ok = plot_add(s, &kinds[i].chart, x->op->name, x, o, e);
    return ok;
}

bool plot_add_compare(struct plot_set *s, const struct compare *c, const struct plot_traces *traces,
                      const struct plot_options *o, struct err *e)
{
    size_t first = 0, end = c->n_ops;
    struct forest_row row[MAX_ROWS];
    bool ok = true;

    for (size_t i = 0; ok && i < N_KINDS; i++) {
        struct plot_chart chart = kinds[i].chart;
        size_t n = kinds[i].is_shown != NULL && plot_wants(o, chart.name)
                       ? rows_of(c, kinds[i].is_shown, row)
                       : 0;

        chart.height = height_of(o, n);
        ok = n == 0 || plot_add(s, &chart, NULL, c, o, e);
    }
    if (o->stem != NULL) { /* one picture: that of the operation with the most requests */
        for (size_t k = 1; k < c->n_ops; k++)
            if (n_requests(&c->ops[k]) > n_requests(&c->ops[first]))
                first = k;
        end = first + 1;
    }
    for (size_t k = first; ok && k < end; k++)
        ok = (o->benchmark_only && o->stem == NULL && !role_is_benchmark(c->ops[k].role)) ||
             add_op(s, &(struct op_chart){c, &c->ops[k], traces}, o, e);
    return ok;
}
