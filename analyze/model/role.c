#include "analyze/model/role.h"

#include <string.h>

#define CLEAN_UP_FRAC .1 /* of the operation before it: a longer deletion is measured */

static bool uploads(const struct operation *op)
{
    return strncmp(op->op, "PUT", 3) == 0;
}

static double length_ns(const struct operation *op)
{
    return (double)op->end_ns - (double)op->start_ns;
}

/* Whether an operation deletes what the one before it used. */
static bool cleans_up(const struct operation *op, const struct operation *before)
{
    return strcmp(op->op, "DELETE") == 0 && !uploads(before) &&
           length_ns(op) < CLEAN_UP_FRAC * length_ns(before);
}

void role_set(struct analysis *a)
{
    struct operation *op = a->operations;
    size_t n = a->n_operations;

    for (size_t k = 0; k < n; k++)
        op[k].role = ROLE_BENCHMARK;
    if (a->mixed)
        return;
    if (n >= 2 && cleans_up(&op[n - 1], &op[n - 2]))
        op[--n].role = ROLE_CLEAN_UP;
    if (n == 2 && uploads(&op[0]))
        op[0].role = ROLE_PREPARATION;
}

size_t role_n_phases(const struct analysis *a)
{
    size_t n = 0;

    for (size_t k = 0; k < a->n_operations; k++)
        n += a->operations[k].role == ROLE_BENCHMARK;
    return a->mixed ? 1 : n;
}

int role_main(const struct analysis *a)
{
    int k = (int)a->n_operations - 1;

    if (a->mixed && a->total.present && k > 0)
        return -1;
    while (k > 0 && a->operations[k].role != ROLE_BENCHMARK)
        k--;
    return k;
}
