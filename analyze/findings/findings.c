#include "analyze/findings/findings.h"

#include "analyze/findings/find.h"

typedef bool detector_fn(struct search *, struct err *);

static bool look(struct findings *out, const struct course *c, detector_fn *const *detectors,
                 size_t n, struct err *e)
{
    struct search s;

    if (c->n == 0 || c->n_bins == 0)
        return true;
    bool ok = search_init(&s, c, out, e);
    for (size_t i = 0; ok && i < n; i++)
        ok = detectors[i](&s, e);
    search_fini(&s);
    return ok;
}

bool findings_find(struct findings *out, const struct course *c, struct err *e)
{
    static detector_fn *const detectors[] = {find_stalls,     find_errors,  find_absent,
                                             find_stuck,      find_backlog, find_slow,
                                             find_slow_tails, find_levels};

    return look(out, c, detectors, sizeof detectors / sizeof *detectors, e);
}

bool findings_find_errors(struct findings *out, const struct course *c, struct err *e)
{
    static detector_fn *const detectors[] = {find_errors};

    return look(out, c, detectors, 1, e);
}
