#include "analyze/tools/compare/alike.h"

#include "analyze/tools/compare/compare.h"

#include <math.h>
#include <string.h>

const struct run_kept_op *alike_op_named(const struct run_kept *r, const char *op)
{
    for (size_t k = 0; k < r->n_ops; k++)
        if (strcmp(r->ops[k].op, op) == 0)
            return &r->ops[k];
    return NULL;
}

/* Two runs, and who wants to know in what they differ; NULL: it does not matter in what. */
struct pair {
    const struct run_kept *a, *b;
    alike_take *take;
    void *ctx;
};

static bool differs(const struct pair *p, enum alike_kind kind, enum run_setting setting,
                    const char *name)
{
    const struct alike_key key = {kind, setting, name};

    return p->take == NULL || p->take(p->ctx, &key);
}

/* Means of random sizes and shares may differ by four standard errors: of the mean of sizes whose
 * standard deviation is twice the mean, of the share of an operation. has_asked: both runs recorded
 * for how long they were to run, which is compared in place of how long they did. */
static bool ops_differ(const struct pair *p, const struct run_kept_op *a,
                       const struct run_kept_op *b, bool has_asked)
{
    const double *x = a->setting, *y = b->setting;
    double rarity = sqrt(1 / x[RUN_OPERATIONS] + 1 / y[RUN_OPERATIONS]);
    struct compare_spans of_a = {.n_runs = 0}, of_b = {.n_runs = 0};

    compare_spans_add(&of_a, a);
    compare_spans_add(&of_b, b);
    for (enum run_setting k = RUN_OPERATIONS + 1; k < RUN_N_SETTINGS; k++) {
        double chance = 4 * rarity * (k == RUN_OBJECT_SIZE ? 2 : fmax(x[k], y[k]));

        if (!(k == RUN_DURATION_S && has_asked) && compare_spans_differ(k, &of_a, &of_b, chance) &&
            !compare_is_outcome(k, &of_a, &of_b) && differs(p, ALIKE_SETTING, k, a->op))
            return true;
    }
    return a->of_response != b->of_response && differs(p, ALIKE_TIMES, 0, a->op);
}

/* Whether `a` has an operation of the benchmark that b lacks. */
static bool has_more(const struct run_kept *a, const struct run_kept *b)
{
    for (size_t k = 0; k < a->n_ops; k++)
        if (!a->ops[k].is_beside && alike_op_named(b, a->ops[k].op) == NULL)
            return true;
    return false;
}

/* The options of s3load that both runs recorded. The hosts may differ: they are what is compared.
 * Options that rows show do not count, but how long a run was to be does: rows show how long it
 * was. */
static bool options_differ(const struct pair *p)
{
    const char *name;
    json_t *value;

    json_object_foreach(p->a->options, name, value)
    {
        const json_t *other = json_object_get(p->b->options, name);
        bool is_shown = compare_is_measured_option(name) && strcmp(name, "duration_ns") != 0;

        if (other != NULL && !is_shown && strcmp(name, "host") != 0 && !json_equal(value, other) &&
            differs(p, ALIKE_OPTION, 0, name))
            return true;
    }
    return false;
}

bool alike_differ(const struct run_kept *a, const struct run_kept *b, alike_take *take, void *ctx)
{
    const struct pair p = {a, b, take, ctx};
    bool has_asked = json_object_get(a->options, "duration_ns") != NULL &&
                     json_object_get(b->options, "duration_ns") != NULL;

    if (has_more(a, b) || has_more(b, a))
        return differs(&p, ALIKE_OPS, 0, "");
    for (size_t k = 0; k < a->n_ops; k++) {
        const struct run_kept_op *other = alike_op_named(b, a->ops[k].op);

        if (other != NULL && !(a->ops[k].is_beside && other->is_beside) &&
            ops_differ(&p, &a->ops[k], other, has_asked))
            return true;
    }
    return options_differ(&p) || (a->source != b->source && differs(&p, ALIKE_SOURCE, 0, ""));
}
