#include "libcommon/hist.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stdlib.h>

bool hist_init(struct hist *h, struct err *e)
{
    *h = (struct hist){0};
    return mem_cleared(&h->count, HIST_N_COUNTERS, e);
}

void hist_fini(struct hist *h)
{
    free(h->count);
    *h = (struct hist){0};
}

void hist_add(struct hist *h, int64_t v)
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

int64_t hist_value_at(const struct hist *h, uint64_t k)
{
    uint64_t below = 0;
    for (size_t i = 0; i < HIST_N_COUNTERS; i++) {
        below += h->count[i];
        if (below >= k)
            return int64_min(hist_upper(i), h->max);
    }
    return h->max;
}
