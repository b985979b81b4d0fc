#include "analyze/tools/archive/trend.h"
#include "analyze/render/plot/charts_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct trend_chart {
    const struct trend_group *group;
    size_t series;
};

/* Returns the shift of a series that is part of a change; NULL: there is none. */
static const struct stats_change *shift_in(const struct trend_change *c, size_t series)
{
    for (size_t k = 0; k < c->n; k++)
        if (c->v[k].series == series)
            return &c->v[k];
    return NULL;
}

/* Writes the levels between changes; returns the number of changes. Without one there are no
 * levels. */
static int64_t write_levels(FILE *f, const struct trend_chart *x, double unit)
{
    const struct trend_group *g = x->group;
    double level = 0, from = .5;
    int64_t n = 0;

    plot_out_block(f, "levels", "from to value");
    for (size_t i = 0; i < g->n_changes; i++) {
        const struct stats_change *s = shift_in(&g->changes[i], x->series);
        double at = (double)g->changes[i].run + .5;

        if (s == NULL)
            continue;
        plot_out_row(f, "rrr", from, at, trend_value(g, s, s->before) / unit);
        level = trend_value(g, s, s->after);
        from = at;
        n++;
    }
    if (n > 0)
        plot_out_row(f, "rrr", from, (double)g->n + .5, level / unit);
    return n;
}

static bool write_chart(FILE *f, const void *ctx, const char *title)
{
    const struct trend_chart *x = ctx;
    const struct trend_series *s = &x->group->series[x->series];
    const struct metric *m = &metrics[s->metric];
    double unit = m->axis_unit, least = INFINITY, most = 0;

    plot_out_block(f, "runs", "run value");
    for (size_t i = 0; i < x->group->n; i++) {
        if (isnan(s->v[i]))
            continue;
        plot_out_row(f, "ir", (int64_t)i + 1, s->v[i] / unit);
        least = fmin(least, s->v[i] / unit);
        most = fmax(most, s->v[i] / unit);
    }
    int64_t n_changes = write_levels(f, x, unit);
    PLOT_OUT_CHART(f, NULL, title, "n n_changes least most unit", "iirrs", (int64_t)x->group->n,
                   n_changes, least, most, m->axis);
    return true;
}

bool plot_add_trend(struct plot_set *s, const struct trend_group *g, const char *id,
                    const struct plot_options *o, struct err *e)
{
    bool ok = true;

    for (size_t k = 0; ok && k < g->n_series && k < PLOT_TREND_MOST; k++) {
        const struct trend_chart x = {g, k};
        char title[160], stem[64];

        snprintf(title, sizeof title, "%.80s, %s by run", g->series[k].op,
                 metrics[g->series[k].metric].title);
        snprintf(stem, sizeof stem, "trend-%zu", s->n);
        const struct plot_chart chart = {
            .name = "trend",
            .title = title,
            .caption = "A dot for each run, in the order of their starts; lines are the levels "
                       "between changes. The axis does not begin at 0.",
            .write = write_chart,
            .stem = stem,
            .height = 260,
        };
        ok = plot_add(s, &chart, id, &x, o, e);
    }
    return ok;
}
