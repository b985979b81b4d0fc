#include "analyze/render/plot/charts_internal.h"

double charts_t_min(const struct plot_data *p)
{
    return plot_data_t_s(p, p->course.start_ns);
}

double charts_t_max(const struct plot_data *p)
{
    int64_t least_ns = p->course.start_ns + PLOT_DATA_MIN_SPAN_NS;
    return plot_data_t_s(p, p->course.end_ns > least_ns ? p->course.end_ns : least_ns);
}

double charts_bin_middle_s(const struct plot_data *p, const struct slice_grid *b, size_t k)
{
    return plot_data_t_s(p, b->start_ns) + ((double)k + .5) * (double)b->length_ns / 1e9;
}

int64_t charts_put_shades(FILE *f, const struct plot_data *p)
{
    int64_t n = 0;
    const struct plot_timeline *t = &p->course;

    plot_events_put(f, p);
    plot_out_block(f, "shades", "from_s to_s");
    double from = charts_t_min(p), to = charts_t_max(p);
    if (t->range.present) {
        double start = plot_data_t_s(p, t->range.start_ns);
        double end = plot_data_t_s(p, t->range.end_ns);

        if (start > from && ++n)
            plot_out_row(f, "rr", from, start);
        if (end < to && ++n)
            plot_out_row(f, "rr", end, to);
    }
    return n;
}

bool charts_has_durations(const struct plot_data *p)
{
    return p->operation != NULL && p->course.n_requests > p->course.n_errors;
}
