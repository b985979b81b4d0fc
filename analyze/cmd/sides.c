#include "analyze/cmd/sides.h"

#include "analyze/read/aggpipe.h"
#include "libcommon/mem.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const struct cli_option sides_table[] = {
    {"before", CLI_OPERANDS, offsetof(struct sides_options, before), "CAPTURE...",
     .help = "runs before, or folders of them"},
    {"after", CLI_OPERANDS, offsetof(struct sides_options, after), "CAPTURE...",
     .help = "runs after, or folders of them"},
    {"before-name", CLI_STRING, offsetof(struct sides_options, before_name), "NAME",
     .help = "what to call them"},
    {"after-name", CLI_STRING, offsetof(struct sides_options, after_name), "NAME",
     .help = "what to call them"},
    {"cell", CLI_LIST, offsetof(struct sides_options, cells), "KEY=VALUE,...",
     .help = "of several cells only some: op=GET, size=64KiB, c=8 (threads), hosts=4 ..."},
    {0},
};

bool sides_given(const struct sides_options *o)
{
    return o->before.n > 0 || o->after.n > 0;
}

bool sides_check(const struct sides_options *o, const struct cli_args *args, const char *operands,
                 struct err *e)
{
    for (size_t i = 0; i < o->cells.n; i++)
        if (strchr(o->cells.v[i], '=') == NULL)
            return err_set(e, "--cell %s: write KEY=VALUE, as in size=64KiB", o->cells.v[i]);
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

/* ---- Folders ---- */

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Notes how many other files a folder has, with the name of one of them. */
static bool note_others(struct sides *s, const char *folder, struct err *e)
{
    struct dirent **names;
    const char *other = NULL;
    size_t n = 0;
    int n_all = scandir(folder, &names, NULL, alphasort);

    for (int i = 0; i < n_all; i++)
        if (*names[i]->d_name != '.' && !archive_is_capture(names[i]->d_name) && n++ == 0)
            other = names[i]->d_name;
    bool ok = other == NULL || notes_add(&s->notes, e, "not-captures", NULL,
                                         "%s: left out what is no capture by its name: %s%s",
                                         folder, other, n > 1 ? " and others" : "");
    for (int i = 0; i < n_all; i++)
        free(names[i]);
    if (n_all >= 0)
        free(names);
    return ok;
}

/* Without a folder the list stays as it was given. */
static bool find_captures(struct sides *s, struct archive_paths *found, struct cli_list *list,
                          struct err *e)
{
    bool any = false;

    for (size_t i = 0; i < list->n; i++)
        any |= is_folder(list->v[i]);
    if (!any)
        return true;
    if (!archive_find(found, list->v, list->n, e))
        return false;
    for (size_t i = 0; i < list->n; i++)
        if (is_folder(list->v[i]) && !note_others(s, list->v[i], e))
            return false;
    *list = (struct cli_list){(const char **)found->v, found->n};
    return true;
}

bool sides_find(struct sides *s, struct sides_options *o, struct err *e)
{
    return find_captures(s, &s->found[0], &o->before, e) &&
           find_captures(s, &s->found[1], &o->after, e);
}

/* ---- Runs ---- */

/* Reads the runs of a side; `found` has those of folders, which may be damaged. */
static bool load_side(struct sides *s, struct sides_runs *r, const struct cli_list *paths,
                      const struct archive_paths *found, const struct cli_list *picked,
                      const struct run_options *how, struct err *e)
{
    struct err why = {0};

    if (!mem_room(&r->v, paths->n + 1, e))
        return false;
    for (size_t i = 0; i < paths->n; i++) {
        if (run_load(&r->v[r->n], paths->v[i], how, &why)) {
            bool any = picked->n == 0;

            for (size_t k = 0; k < r->v[r->n].kept.n_ops; k++)
                any |= compare_is_picked(&r->v[r->n].kept, k, picked);
            if (any)
                r->n++;
            else
                run_free(&r->v[r->n]);
            continue;
        }
        run_free(&r->v[r->n]);
        if (!archive_is_found(found, paths->v[i]))
            return err_pass(e, &why);
        if (!notes_add(&s->notes, e, "not-read", NULL, "left out: %s", why.msg))
            return false;
    }
    if (r->n == 0 && why.msg[0] == '\0')
        return err_usage(e, "no run of %s has a cell with --cell %s",
                         r == &s->before ? "before" : "after", picked->v[0]);
    return r->n > 0 || err_pass(e, &why);
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
    if (!load_side(s, &s->before, &o->before, &s->found[0], &o->cells, &traced, e))
        return false;
    if (traces != NULL)
        traces->is_after = true;
    return load_side(s, &s->after, &o->after, &s->found[1], &o->cells, &traced, e);
}

void sides_free(struct sides *s)
{
    sides_runs_free(&s->before);
    sides_runs_free(&s->after);
    for (size_t i = 0; i < 2; i++)
        archive_free_paths(&s->found[i]);
    notes_free(&s->notes);
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
    struct compare_options own = *how;

    own.picked = &o->cells;
    bool ok = compare_run(c, &before, &after, &own, e);
    for (size_t i = 0; ok && i < s->notes.n; i++)
        ok = notes_add(&c->warnings, e, s->notes.v[i].code, NULL, "%s", s->notes.v[i].message);
    return ok;
}
