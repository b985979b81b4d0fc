#include "analyze/findings/findings.h"

#include "analyze/findings/find.h"

typedef bool detector_fn(struct search *, struct err *);

static bool look(struct findings *out, const struct dataset *d, const struct table **tables,
                 size_t n_tables, detector_fn *const *detectors, size_t n, int64_t *run_ns,
                 struct err *e)
{
    struct course c;
    struct search s = {0};
    bool ok = course_init(&c, d, tables, n_tables, e);

    *run_ns = 0;
    if (ok && c.n > 0) {
        *run_ns = c.end_ns - c.start_ns;
        ok = search_init(&s, &c, out, e);
        for (size_t i = 0; ok && i < n; i++)
            ok = detectors[i](&s, e);
    }
    search_fini(&s);
    course_fini(&c);
    return ok;
}

bool findings_find(struct findings *out, const struct dataset *d, const struct table **tables,
                   size_t n_tables, int64_t *run_ns, struct err *e)
{
    static detector_fn *const detectors[] = {find_stalls,     find_errors,  find_absent,
                                             find_stuck,      find_backlog, find_slow,
                                             find_slow_tails, find_levels};

    return look(out, d, tables, n_tables, detectors, sizeof detectors / sizeof *detectors, run_ns,
                e);
}

bool findings_find_errors(struct findings *out, const struct dataset *d,
                          const struct table **tables, size_t n_tables, struct err *e)
{
    static detector_fn *const detectors[] = {find_errors};
    int64_t run_ns;

    return look(out, d, tables, n_tables, detectors, 1, &run_ns, e);
}
