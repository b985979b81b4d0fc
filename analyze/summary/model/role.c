#include "analyze/summary/model/role.h"

#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

#define CLEAN_UP_FRAC .1 /* of the operation before it; longer deletions are measured */

static bool uploads(const struct role_step *s)
{
    return strncmp(s->op, "PUT", 3) == 0;
}

static double length_ns(const struct role_step *s)
{
    return (double)s->end_ns - (double)s->start_ns;
}

/* Whether an operation deletes what the one before it used. */
static bool cleans_up(const struct role_step *s, const struct role_step *before)
{
    return strcmp(s->op, "DELETE") == 0 && !uploads(before) &&
           length_ns(s) < CLEAN_UP_FRAC * length_ns(before);
}

void role_assign(struct role_step *steps, size_t n)
{
    if (n >= 2 && cleans_up(&steps[n - 1], &steps[n - 2]))
        steps[--n].role = ROLE_CLEAN_UP;
    const bool is_prepared = n == 2 && uploads(&steps[0]);
    for (size_t k = 0; k < n; k++)
        steps[k].role = n > 1 && !is_prepared ? ROLE_PHASE : ROLE_BENCHMARK;
    if (is_prepared)
        steps[0].role = ROLE_PREPARATION;
}

/* Whether all runs ended before their benchmark began. */
static bool is_preparation_only(const struct dataset *d)
{
    bool is = d->n_inputs > 0;

    for (size_t i = 0; is && i < d->n_inputs; i++) {
        const struct recorded *r = &d->inputs[i].recorded;
        is = r->n_no_benchmark > 0 && r->n_no_benchmark == r->n_runs;
    }
    return is;
}

bool role_set(struct analysis *a, struct err *e)
{
    const bool is_preparation = is_preparation_only(a->dataset);
    size_t n = a->n_operations;
    struct role_step *steps;

    if (!mem_new(&steps, n, e))
        return false;
    for (size_t k = 0; k < n; k++) {
        const struct operation *op = &a->operations[k];
        steps[k] = (struct role_step){op->op, op->start_ns, op->end_ns, ROLE_BENCHMARK};
    }
    if (!a->mixed)
        role_assign(steps, n);
    for (size_t k = 0; k < n; k++)
        a->operations[k].role = is_preparation ? ROLE_PREPARATION : steps[k].role;
    free(steps);
    return true;
}

int role_main(const struct analysis *a)
{
    int k = (int)a->n_operations - 1;

    if (a->mixed && a->total.present && k > 0)
        return -1;
    while (k > 0 && !role_is_benchmark(a->operations[k].role))
        k--;
    return k;
}
