#include "analyze/render/plot/charts_internal.h"

#include "libcommon/hist.h"

#include <math.h>

/* Returns the place of a bucket on a log scale on which 0 has a place, too. */
static double place(size_t index)
{
    return log((double)hist_upper(index) + 1);
}

void plot_cdf_rows(FILE *f, const uint64_t *count, uint64_t n, int64_t max_ns, unsigned steps)
{
    size_t first = 0, last = HIST_N_INDEXES - 1;
    uint64_t below = 0, last_below = 0;

    while (first < last && count[first] == 0)
        first++;
    while (last > first && count[last] == 0)
        last--;
    double step = (place(last) - place(first)) / steps, last_x = -INFINITY;
    plot_out_row(f, "rr", (double)hist_lower(first) / 1e6, 0.0);
    for (size_t k = first; k <= last; k++) {
        if (count[k] == 0)
            continue;
        below += count[k];
        if (k != last && place(k) - last_x < step && (below - last_below) < n / steps)
            continue;
        int64_t ns = k == last && max_ns >= hist_lower(k) ? max_ns : hist_upper(k);
        plot_out_row(f, "rr", (double)ns / 1e6, 100.0 * (double)below / (double)n);
        last_below = below;
        last_x = place(k);
    }
}
