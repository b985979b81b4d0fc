#include "analyze/analysis/conclude/conclude.h"

#include "analyze/base/paths.h"
#include "analyze/findings/course.h"
#include "analyze/summary/estimate/confidence.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <stdlib.h>

#define LEFT_OUT_SAID    .01
#define LEFT_OUT_PROBLEM .10

/* Adds a finding that says what sums by second cannot show. */
static bool add_resolution(struct analysis *a, const struct course *c, struct err *e)
{
    struct finding f = finding_of("from-sums", FINDING_NOTICE, 0);
    const char *name = a->dataset->inputs[0].path;

    paths_shorten(&name, 1);
    return findings_add(&a->findings, &f, e,
                        "%s holds sums by second, not requests. Throughput is of whole seconds, "
                        "figures of requests are of the whole run, percentiles are within 0.1 %%. "
                        "Not visible: stalls shorter than %s, swings shorter than 2s (they look "
                        "longer), single requests that hang, late starts, "
                        "what befalls one size or one pair of client and host, when or where a "
                        "few requests are slow, whether load is why a host or client takes longer",
                        name, units_duration(c->n_bins > 0 ? c->shortest_ns : 2 * NS_PER_S).s);
}

/* Names the phase in the findings from `first` on, except those that name their operation. */
static bool name_phase(struct findings *all, size_t first, const struct operation *op,
                       struct err *e)
{
    for (size_t i = first; i < all->n; i++) {
        struct finding *f = &all->v[i];
        char *sentence;

        f->phase = op->op;
        if (f->op != NULL)
            continue;
        if (!mem_format(&sentence, e, "%s: %s", op->op, f->sentence))
            return false;
        free(f->sentence);
        f->sentence = sentence;
        f->op = op->op;
    }
    return true;
}

bool conclude_course(struct analysis *a, conclude_source *course_of, const void *source,
                     int64_t *run_ns, struct err *e)
{
    int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
    bool ok = true, resolution_said = a->sums == NULL || a->series_note != NULL;

    for (size_t k = 0, end; ok && k < a->n_operations; k = end) {
        const enum role role = a->operations[k].role;
        size_t n_before = a->findings.n;
        struct course c;

        end = a->mixed ? a->n_operations : k + 1;
        ok = course_of(&c, source, k, end, e) && findings_find(&a->findings, &c, role, e) &&
             (role != ROLE_PHASE || name_phase(&a->findings, n_before, &a->operations[k], e));
        if (ok && role_is_benchmark(role) && c.n > 0) {
            start_ns = int64_min(start_ns, c.start_ns);
            end_ns = int64_max(end_ns, c.end_ns);
            *run_ns = end_ns - start_ns;
        }
        if (ok && role_is_benchmark(role) && !resolution_said) {
            ok = add_resolution(a, &c, e);
            resolution_said = true;
        }
        course_fini(&c);
    }
    return ok;
}

static bool add_left_out(struct analysis *a, struct err *e)
{
    const struct left_out *l = &a->left_out;
    int64_t n = l->by_range + l->of_throughput;
    double share = a->n_rows > 0 ? (double)n / (double)a->n_rows : 0;

    if (share < LEFT_OUT_SAID)
        return true;
    struct finding f = finding_of("left-out", share >= LEFT_OUT_PROBLEM, share);
    finding_figure(&f, "n", (double)n);
    finding_figure(&f, "share", share);
    return findings_add(
        &a->findings, &f, e,
        "%s of %s requests are left out%s, %s (s3analyze analyze --range full counts them)",
        units_count(n).s, units_count(a->n_rows).s,
        l->of_throughput > 0 ? " of the throughput" : "", l->range);
}

/* If several operations have findings of one kind from `first` on, keeps the first of these and
 * adds the number of the others to its sentence. */
static bool join_alike(struct findings *all, size_t first, struct err *e)
{
    for (size_t i = first; i < all->n; i++) {
        struct finding *f = &all->v[i];
        size_t n_alike = 1, kept = i + 1;

        for (size_t k = i + 1; k < all->n; k++) {
            struct finding *x = &all->v[k];
            if (f->op == NULL || x->op == NULL || x->kind != f->kind) {
                all->v[kept++] = *x;
                continue;
            }
            free(x->sentence);
            n_alike++;
        }
        all->n = kept;
        if (n_alike == 1)
            continue;
        char *sentence;
        if (!mem_format(&sentence, e, "%s (%zu operations alike)", f->sentence, n_alike))
            return false;
        free(f->sentence);
        f->sentence = sentence;
        f->op = NULL;
    }
    return true;
}

bool conclude(struct analysis *a, const struct scan *const *scans, int64_t run_ns, struct err *e)
{
    size_t first = a->findings.n;

    if (!add_left_out(a, e) || !conclude_figures(a, scans, e) || !conclude_machines(a, e) ||
        !join_alike(&a->findings, first, e) || !findings_rank(&a->findings, run_ns, e))
        return false;
    for (size_t k = 0; k < a->n_operations; k++)
        if (a->operations[k].statistics != NULL)
            statistics_find_change(a->operations[k].statistics, &a->findings, a->operations[k].op);
    return true;
}
