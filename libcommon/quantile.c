#include "libcommon/quantile.h"

#include "libcommon/mem.h"

bool quantile_of_values(const int64_t *v, size_t n, const unsigned *permille, size_t n_wanted,
                        int64_t *out, struct err *e)
{
    size_t ranks[QUANTILE_MAX];
    for (size_t i = 0; i < n_wanted; i++)
        ranks[i] = quantile_index(n, permille[i]);
    return hist_select(v, n, ranks, n_wanted, out) || mem_none(e);
}

int64_t quantile_of_hist(const struct hist *h, unsigned permille)
{
    return h->n > 0 ? hist_value_at(h, quantile_index(h->n, permille) + 1) : 0;
}
