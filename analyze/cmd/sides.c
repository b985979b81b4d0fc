#include "analyze/cmd/sides.h"

#include "analyze/read/aggpipe.h"
#include "libcommon/mem.h"

#include <stdlib.h>

const struct cli_option sides_table[] = {
    {"before", CLI_OPERANDS, offsetof(struct sides_options, before), "CAPTURE...",
     .help = "runs before"},
    {"after", CLI_OPERANDS, offsetof(struct sides_options, after), "CAPTURE...",
     .help = "runs after"},
    {"before-name", CLI_STRING, offsetof(struct sides_options, before_name), "NAME",
     .help = "what to call them"},
    {"after-name", CLI_STRING, offsetof(struct sides_options, after_name), "NAME",
     .help = "what to call them"},
    {0},
};

bool sides_given(const struct sides_options *o)
{
    return o->before.n > 0 || o->after.n > 0;
}

bool sides_check(const struct sides_options *o, const struct cli_args *args, const char *operands,
                 struct err *e)
{
    if (!sides_given(o))
        return true;
    if (args->n_operands > 0)
        return err_set(e, "give either %s, or --before and --after", operands);
    if (o->before.n == 0 || o->after.n == 0)
        return err_set(e, "--%s is missing", o->before.n == 0 ? "before" : "after");
    return true;
}

bool sides_spool(const struct sides_options *o, enum run_basis *basis, struct err *e)
{
    const struct cli_list *before = &o->before, *after = &o->after;

    if (!aggpipe_spool(before->v, before->n, e) || !aggpipe_spool(after->v, after->n, e))
        return false;
    *basis = sides_basis(RUN_OF_REQUESTS, before->v, before->n);
    *basis = sides_basis(*basis, after->v, after->n);
    return true;
}

enum run_basis sides_basis(enum run_basis others, const char *const *paths, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        enum run_basis own = run_source(paths[i]);
        others = own > others ? own : others;
    }
    return others;
}

bool sides_runs_add(struct sides_runs *r, const char *const *paths, size_t n,
                    const struct run_options *how, struct err *e)
{
    if (!mem_room(&r->v, r->n + n + 1, e))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!run_load(&r->v[r->n++], paths[i], how, e))
            return false;
    return true;
}

void sides_runs_free(struct sides_runs *r)
{
    for (size_t i = 0; i < r->n; i++)
        run_free(&r->v[i]);
    free(r->v);
    *r = (struct sides_runs){0};
}

bool sides_load(struct sides *s, const struct sides_options *o, const struct run_options *how,
                struct plot_traces *traces, struct err *e)
{
    struct run_options traced = *how;
    if (traces != NULL) {
        traced.seen = plot_traces_add;
        traced.seen_ctx = traces;
        traces->is_after = false;
    }
    if (!sides_runs_add(&s->before, o->before.v, o->before.n, &traced, e))
        return false;
    if (traces != NULL)
        traces->is_after = true;
    return sides_runs_add(&s->after, o->after.v, o->after.n, &traced, e);
}

void sides_free(struct sides *s)
{
    sides_runs_free(&s->before);
    sides_runs_free(&s->after);
}

static struct compare_side side(const struct sides_runs *r, const char *name, const char *usual)
{
    return (struct compare_side){name != NULL ? name : usual, r->v, r->n};
}

bool sides_compare(struct compare *c, const struct sides *s, const struct sides_options *o,
                   const struct compare_options *how, struct err *e)
{
    const struct compare_side before = side(&s->before, o->before_name, "before");
    const struct compare_side after = side(&s->after, o->after_name, "after");

    return compare_run(c, &before, &after, how, e);
}
