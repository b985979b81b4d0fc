#include "analyze/findings/findings.h"

#include "analyze/findings/find.h"

static bool look(struct findings *out, const struct course *c, detector *const *detectors, size_t n,
                 bool is_preparation, struct err *e)
{
    struct search s;

    if (c->n == 0 || c->n_bins == 0)
        return true;
    bool ok = search_init(&s, c, out, e);
    s.is_preparation = is_preparation;
    for (size_t i = 0; ok && i < n; i++)
        ok = detectors[i](&s, e);
    search_fini(&s);
    return ok;
}

bool findings_find(struct findings *out, const struct course *c, struct err *e)
{
    static detector *const detectors[] = {DETECTORS};

    return look(out, c, detectors, sizeof detectors / sizeof *detectors, false, e);
}

bool findings_find_errors(struct findings *out, const struct course *c, struct err *e)
{
    detector *const errors = find_errors;

    return look(out, c, &errors, 1, true, e);
}
