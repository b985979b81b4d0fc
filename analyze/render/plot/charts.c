#include "analyze/render/plot/charts_internal.h"

double charts_zero_unix(const struct plot_data *p)
{
    return p != NULL ? (double)p->a->run_start_ns / 1e9 : 0;
}

double charts_t_min(const struct plot_data *p)
{
    return p != NULL ? plot_data_t_s(p, p->course.start_ns) : 0;
}

double charts_t_max(const struct plot_data *p)
{
    return p != NULL ? plot_data_t_s(p, int64_max(p->course.start_ns + PLOT_DATA_MIN_SPAN_NS,
                                                  p->course.end_ns))
                     : 1;
}

double charts_bin_middle_s(const struct plot_data *p, const struct slice_grid *b, size_t k)
{
    return plot_data_t_s(p, b->start_ns) + ((double)k + .5) * (double)b->length_ns / 1e9;
}

uint32_t charts_extent(const uint32_t *count, size_t n, size_t step, size_t *least,
                       size_t *greatest)
{
    uint32_t most = 0;

    *least = PLOT_DATA_N_LOG;
    *greatest = 0;
    for (size_t i = 0; i < n; i++) {
        size_t bucket = i / step % PLOT_DATA_N_LOG;

        most = count[i] > most ? count[i] : most;
        *least = count[i] > 0 && bucket < *least ? bucket : *least;
        *greatest = count[i] > 0 && bucket > *greatest ? bucket : *greatest;
    }
    *least -= *least > 0;
    *greatest += *greatest + 1 < PLOT_DATA_N_LOG;
    return most;
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
