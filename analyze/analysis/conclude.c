#include "analyze/analysis/conclude.h"

#include "analyze/findings/findings.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEFT_OUT_SAID    .01
#define LEFT_OUT_PROBLEM .10

bool conclude_course(void *plan, struct err *e)
{
    struct plan *p = plan;
    struct findings *out = &p->a->findings;
    const struct table **tables;
    size_t n = 0;
    bool ok = mem_new(&tables, p->n, e);

    for (size_t k = 0; ok && k < p->n; k++) {
        const struct table *t = p->entries[k].table;
        if (conclude_is_benchmark(p, k))
            tables[n++] = t;
        else if (t->n > 0)
            ok = findings_find_errors(out, p->d, &t, 1, e);
    }
    ok = ok && findings_find(out, p->d, tables, n, &p->run_ns, e);
    free(tables);
    return ok;
}

static bool add_left_out(struct plan *p, struct err *e)
{
    const struct analysis *a = p->a;
    double share = a->n_rows > 0 ? (double)a->left_out.by_range / (double)a->n_rows : 0;

    if (share < LEFT_OUT_SAID)
        return true;
    struct finding f =
        finding_of("left-out", share >= LEFT_OUT_PROBLEM ? FINDING_PROBLEM : FINDING_NOTICE, share);
    finding_figure(&f, "n", (double)a->left_out.by_range);
    finding_figure(&f, "share", share);
    return findings_add(
        &p->a->findings, &f, e, "%s of %s requests are left out, %s (--range full counts them)",
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

bool conclude(struct plan *p, struct err *e)
{
    struct findings *all = &p->a->findings;
    size_t first = all->n;

    return add_left_out(p, e) && conclude_figures(p, e) && join_alike(all, first, e) &&
           findings_rank(all, p->run_ns, e);
}
