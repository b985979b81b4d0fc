#include "analyze/render/plot/charts_internal.h"
#include "analyze/render/plot/plot.h"
#include "analyze/tools/archive/cells.h"

#include <math.h>
#include <stdlib.h>

#define HEIGHT 460 /* pixels: levels lie above each other where throughput grows no more */

/* Rows of one operation and size are a chart, and of one level a point of each system. */
static const struct columns_order charts[] = {
    {&columns[COLUMNS_OP], false}, {&columns[COLUMNS_SIZE_OF], false}, {0}};
static const struct cells_options points = {.by = {{&columns[COLUMNS_OP], false},
                                                   {&columns[COLUMNS_LEVEL], false},
                                                   {&columns[COLUMNS_SIZE_OF], false}},
                                            .metrics = {RUN_THROUGHPUT, RUN_P50, RUN_P99},
                                            .n_metrics = 3};

static bool write_chart(FILE *f, const void *ctx, const char *title)
{
    const struct cells *c = ctx;
    const struct columns_row *first = c->lines[0].cell;
    size_t n = c->n_systems * c->n_cells;

    plot_out_block(f, "points",
                   "system is_tail level runs rate rate_least rate_most ms ms_least ms_most");
    for (size_t i = 0; i < 2 * n; i++) { /* the points of a line follow each other */
        size_t tail = i / n, system = i % n / c->n_cells, level = i % c->n_cells;
        const struct cells_figure *x = &c->lines[level].of[system],
                                  *y = &c->lines[(1 + tail) * c->n_cells + level].of[system];
        double unit = metrics[c->lines[0].metric].axis_unit;

        if (x->n > 0 && y->n > 0)
            plot_out_row(f, "iirirrrrrr", (int64_t)system, (int64_t)tail, columns_level(x->runs),
                         (int64_t)x->n_runs, x->median / unit, x->least / unit, x->greatest / unit,
                         y->median / NS_PER_MS, y->least / NS_PER_MS, y->greatest / NS_PER_MS);
    }
    plot_out_block(f, "systems", "system name");
    for (size_t k = 0; k < c->n_systems; k++)
        plot_out_row(f, "is", (int64_t)k, c->systems[k]);
    PLOT_OUT_CHART(f, NULL, title, "systems unit level latency", "isss", (int64_t)c->n_systems,
                   metrics[c->lines[0].metric].axis,
                   isnan(run_rate(&first->run->kept)) ? "requests in flight"
                                                      : "requests/s asked for",
                   first->op->of_response ? "response time" : "duration");
    return true;
}

/* A single run has no curve. */
static bool has_curve(const struct plot_data *p)
{
    (void)p;
    return false;
}

const struct plot_kind plot_kind_response = {
    .name = "response",
    .title = "latency by throughput, of systems",
    .caption = "A point for each level of load, with its level: the median of its runs, and lines "
               "from the least to the greatest. Solid lines join medians of durations, dashed ones "
               "99th percentiles.",
    .is_by_name = true,
    .has_data = has_curve,
};

/* Checks that the levels of each system differ in their load alone. */
static bool check_levels(const struct cells *c, struct err *e)
{
    for (size_t k = 0; k < c->n_systems; k++) {
        const struct columns_row *first = NULL;

        for (size_t i = 0; i < c->n_cells; i++) {
            const struct cells_figure *x = &c->lines[i].of[k];
            struct archive_difference d;

            if (x->n_runs == 0)
                continue;
            first = first != NULL ? first : x->runs;
            if (archive_differ(&first->run->kept, &x->runs->run->kept, true, &d))
                return err_usage(e,
                                 "%s: %s and %s differ in %s: %s and %s. The points of a line may "
                                 "differ in concurrency or rate alone",
                                 c->systems[k], first->run->label.s, x->runs->run->label.s, d.what,
                                 d.a, d.b);
        }
    }
    return true;
}

/* Adds the chart of a table, of one operation and size; none if it has no point. */
static bool add(struct plot_set *s, struct columns_table *t, const struct plot_options *o,
                struct err *e)
{
    const struct plot_chart chart = {.name = plot_kind_response.name,
                                     .title = "latency by throughput",
                                     .caption = plot_kind_response.caption,
                                     .write = write_chart,
                                     .height = o->height > 0 ? o->height : HEIGHT};
    struct cells c = {0};
    bool any = false, ok = cells_make(&c, t, &points, e) && check_levels(&c, e);

    if (ok && c.n_systems > PLOT_MOST_SYSTEMS)
        ok = err_usage(e, "--chart response has room for %d systems, and these captures are of %zu",
                       PLOT_MOST_SYSTEMS, c.n_systems);
    for (size_t i = 0; ok && i < c.n_cells * c.n_systems; i++)
        any |= c.figures[i].n > 0 && c.figures[c.n_cells * c.n_systems + i].n > 0;
    ok = ok && (!any || plot_add(s, &chart, cells_name(t->rows, charts).s, &c, o, e));
    cells_free(&c);
    return ok;
}

bool plot_add_response(struct plot_set *s, struct columns_table *t, const struct plot_options *o,
                       struct err *e)
{
    struct columns_table largest = {.n = 0};
    double most = 0;
    bool ok = true;

    qsort_r(t->rows, t->n, sizeof *t->rows, columns_compare_all, (void *)charts);
    for (size_t i = 0; ok && i < t->n;) {
        struct columns_table own = {.archive = t->archive, .rows = t->rows + i};
        double sum = 0;

        for (; i < t->n && cells_are_one(own.rows, &t->rows[i], charts); i++, own.n++)
            sum += t->rows[i].op->setting[RUN_OPERATIONS];
        ok = o->stem != NULL || add(s, &own, o, e);
        largest = sum > most ? own : largest;
        most = fmax(sum, most);
    }
    return ok && (o->stem == NULL || most == 0 || add(s, &largest, o, e));
}
