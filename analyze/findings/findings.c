#include "analyze/findings/findings.h"

#include "analyze/findings/find.h"

bool findings_find(struct findings *out, const struct course *c, enum role role, struct err *e)
{
    static detector *const all[] = {DETECTORS}, *const errors[] = {find_errors};
    detector *const *detectors = all;
    size_t n = sizeof all / sizeof *all;
    struct search s;

    if (!role_is_benchmark(role)) {
        detectors = errors;
        n = sizeof errors / sizeof *errors;
    }
    if (c->n == 0 || c->n_bins == 0)
        return true;
    bool ok = search_init(&s, c, out, e);
    s.role = role;
    for (size_t i = 0; ok && i < n; i++)
        ok = detectors[i](&s, e);
    search_fini(&s);
    return ok;
}
