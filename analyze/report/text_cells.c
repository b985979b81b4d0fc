#include "analyze/report/text_internal.h"

#include <string.h>

struct units_text text_cells_time(const struct text_view *v, int64_t ns)
{
    return v->has_dates ? figures_moment(ns) : figures_clock(ns);
}

void text_cells_figures(struct text_table *t, const struct figures *x, const enum figure *columns)
{
    for (; *columns != N_FIGURES; columns++) {
        if (*columns == FIGURE_N)
            text_table_cell(t, "%s", units_count(x->n).s);
        else
            text_table_cell(t, "%s", x->v[*columns].s);
    }
}

struct units_text text_cells_rate_like(double bytes_per_s, double largest)
{
    struct units_text t = units_byte_rate(largest);
    /* A rate far below a byte is written with an exponent. */
    const char *unit = t.s + strcspn(t.s, "BKMGTPE");
    struct units_text like;
    double scale = 1;
    /* The unit's first letter, as far as it is a prefix. */
    for (const char *c = "BKMGTPE"; *c && *c != *unit; c++)
        scale *= 1024;
    double v = bytes_per_s / scale;
    int n_decimals = v < 9.995 ? 2 : 1;
    if (v < 0.995)
        snprintf(like.s, sizeof like.s, "%.3g%s", v, unit);
    else
        snprintf(like.s, sizeof like.s, "%.*f%s", n_decimals, v, unit);
    return like;
}
