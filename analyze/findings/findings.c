#include "analyze/findings/findings.h"

#include "analyze/findings/find.h"

bool findings_find(struct findings *out, const struct course *c, enum role role, struct err *e)
{
    static detector *const all[] = {DETECTORS};
    struct search s;

    if (c->n == 0 || c->n_bins == 0)
        return true;
    bool ok = search_init(&s, c, out, e);
    s.role = role;
    for (size_t i = 0; ok && i < sizeof all / sizeof *all; i++)
        ok = (!role_is_benchmark(role) && all[i] != find_errors) || all[i](&s, e);
    search_fini(&s);
    return ok;
}
