#include "analyze/analysis/conclude.h"

#include "analyze/findings/findings.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEFT_OUT_SAID    .01
#define LEFT_OUT_PROBLEM .10

static bool find_in(struct plan *p, const struct table **tables, size_t n, bool is_benchmark,
                    struct err *e)
{
    struct course c;
    bool ok = course_of_rows(&c, p->d, tables, n, e);

    if (ok && is_benchmark && c.n > 0)
        p->run_ns = c.end_ns - c.start_ns;
    ok = ok && (is_benchmark ? findings_find(&p->a->findings, &c, e)
                             : findings_find_errors(&p->a->findings, &c, e));
    course_fini(&c);
    return ok;
}

bool conclude_course(void *plan, struct err *e)
{
    struct plan *p = plan;
    const struct table **tables;
    size_t n = 0;
    bool ok = mem_new(&tables, p->n, e);

    for (size_t k = 0; ok && k < p->n; k++) {
        const struct table *t = p->entries[k].table;
        if (conclude_is_benchmark(p->a, k))
            tables[n++] = t;
        else if (t->n > 0)
            ok = find_in(p, &t, 1, false, e);
    }
    ok = ok && find_in(p, tables, n, true, e);
    free(tables);
    return ok;
}

static bool add_left_out(struct analysis *a, struct err *e)
{
    double share = a->n_rows > 0 ? (double)a->left_out.by_range / (double)a->n_rows : 0;

    if (share < LEFT_OUT_SAID)
        return true;
    struct finding f =
        finding_of("left-out", share >= LEFT_OUT_PROBLEM ? FINDING_PROBLEM : FINDING_NOTICE, share);
    finding_figure(&f, "n", (double)a->left_out.by_range);
    finding_figure(&f, "share", share);
    return findings_add(
        &a->findings, &f, e, "%s of %s requests are left out, %s (--range full counts them)",
        units_count(a->left_out.by_range).s, units_count(a->n_rows).s, a->left_out.range);
}

/* Of findings of one kind that several operations have, from `first` on, the first stays, and
 * counts the others. */
static bool join_alike(struct findings *all, size_t first, struct err *e)
{
    for (size_t i = first; i < all->n; i++) {
        struct finding *f = &all->v[i];
        size_t n_alike = 1, kept = i + 1;

        for (size_t k = i + 1; k < all->n; k++) {
            struct finding *x = &all->v[k];
            if (f->op == NULL || x->op == NULL || strcmp(x->kind, f->kind) != 0) {
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

bool conclude(struct analysis *a, const struct plan *p, int64_t run_ns, struct err *e)
{
    size_t first = a->findings.n;

    return add_left_out(a, e) && conclude_figures(a, p, e) && join_alike(&a->findings, first, e) &&
           findings_rank(&a->findings, run_ns, e);
}
