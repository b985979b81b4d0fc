#include "analyze/cmd/sides.h"

#include "analyze/base/paths.h"
#include "analyze/cmd/output.h"
#include "analyze/read/aggpipe.h"
#include "analyze/tools/archive/archive.h"
#include "libcommon/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const char *const pooled[] = {" --before", " --after", " --history"};
#define HISTORY    2
#define MOST_SHOWN 700 /* bytes of a command in a message */

/* Writes a side's option with those of its runs that are alike with `like`; if none are, with those
 * that are alike with the first of them. */
static void put_alike(FILE *f, size_t side, const struct sides_runs *a, const struct run *like)
{
    struct archive_difference d;
    bool is_first = true;
    size_t k = 0;

    while (k < a->n && archive_differ(&like->kept, &a->v[k].kept, &d))
        k++;
    for (size_t i = 0; i < a->n; i++) {
        if (archive_differ(k < a->n ? &like->kept : &a->v->kept, &a->v[i].kept, &d))
            continue;
        fputs(is_first || side == HISTORY ? pooled[side] : "", f);
        output_word(f, a->v[i].path);
        is_first = false;
    }
}

/* Checks the runs of v[at]; the message has those of both sides, or of the history, that are like
 * the first of them. */
static bool check_one(const struct sides_runs *const v[], size_t at, const char *command,
                      struct err *e)
{
    const struct run *first = v[at]->v;
    struct archive_difference d;
    char *text = NULL;
    size_t i = 1, n = 0;

    while (i < v[at]->n && !archive_differ(&first->kept, &first[i].kept, &d))
        i++;
    if (i >= v[at]->n)
        return true;
    FILE *f = open_memstream(&text, &n);
    for (size_t k = 0; f != NULL && k <= HISTORY; k++)
        if ((k == HISTORY) == (at == HISTORY))
            put_alike(f, k, v[k], first);
    if (f == NULL || fclose(f) != 0)
        return mem_none(e);
    const char *names[] = {first->path, first[i].path};
    paths_shorten(names, 2);
    err_usage(e,
              "%s runs count as repetitions, but these differ in %s: %s (%s) and %s (%s). Give "
              "runs that are alike: s3analyze %s%s%s",
              pooled[at] + 1, d.what, d.a, archive_label(names[0]).s, d.b,
              archive_label(names[1]).s, command, at == HISTORY ? " BEFORE AFTER" : "",
              n <= MOST_SHOWN ? text : " ... (s3analyze trend shows which)");
    free(text);
    return false;
}

bool sides_check_alike(const struct sides *s, const struct sides_runs *history, const char *command,
                       struct err *e)
{
    const struct sides_runs *runs[] = {&s->before, &s->after, history};
    bool ok = true;

    for (size_t i = 0; ok && i < sizeof runs / sizeof *runs; i++)
        ok = check_one(runs, i, command, e);
    return ok;
}

bool sides_compare(struct compare *c, const struct sides *s, const struct sides_options *o,
                   const struct compare_options *how, struct err *e)
{
    const struct compare_side before = side(&s->before, o->before_name, "before");
    const struct compare_side after = side(&s->after, o->after_name, "after");

    return compare_run(c, &before, &after, how, e);
}
