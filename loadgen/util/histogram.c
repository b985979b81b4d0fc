#include "loadgen/util/histogram.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/quantile.h"

#include <stdlib.h>

bool histogram_init(struct histogram *h, struct err *e)
{
    *h = (struct histogram){0};
    return mem_cleared(&h->count, HIST_N_COUNTERS, e);
}

void histogram_fini(struct histogram *h)
{
    free(h->count);
    *h = (struct histogram){0};
}

void histogram_add(struct histogram *h, int64_t v)
{
    if (h->n == 0 || v < h->min)
        h->min = v;
    if (h->n == 0 || v > h->max)
        h->max = v;
    h->n++;
    if (v > HIST_MAX_VALUE)
        h->n_over++;
    else
        h->count[hist_index(v)]++;
}

int64_t histogram_value_at(const struct histogram *h, uint64_t k)
{
    uint64_t below = 0;
    for (size_t i = 0; i < HIST_N_COUNTERS; i++) {
        below += h->count[i];
        if (below >= k)
            return int64_min(hist_upper(i), h->max);
    }
    return h->max;
}

int64_t histogram_quantile(const struct histogram *h, unsigned permille)
{
    return h->n > 0 ? histogram_value_at(h, quantile_index(h->n, permille) + 1) : 0;
}
