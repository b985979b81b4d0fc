/* Cells: an operation with its settings. Groups the runs, and names what tells the cells apart. */
#include "analyze/tools/compare/compare_internal.h"

#include "analyze/tools/compare/alike.h"
#include "analyze/tools/compare/words.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- Groups of runs ---- */

/* The runs of both sides, then those of the history. */
static const struct run_kept *kept_of(const struct compare *c, const struct compare_options *o,
                                      size_t i)
{
    size_t n = compare_n_runs(c);

    return i < n ? &compare_nth_run(c, i)->kept : &o->history[i - n].kept;
}

static int set_of(const struct compare *c, size_t i)
{
    return i < c->before.n ? 0 : i < compare_n_runs(c) ? 1 : 2;
}

static bool has_key(void *compare, const struct alike_key *key)
{
    const struct compare *c = compare;

    for (size_t i = 0; i < c->n_keys; i++)
        if (c->keys[i].kind == key->kind && c->keys[i].setting == key->setting &&
            strcmp(c->keys[i].name, key->name) == 0)
            return true;
    return false;
}

/* Stops, with n_keys as it was, if out of memory. */
static bool add_key(void *compare, const struct alike_key *key)
{
    struct compare *c = compare;

    if (has_key(c, key))
        return false;
    if (!mem_more(&c->keys, c->n_keys, NULL))
        return true;
    c->keys[c->n_keys++] = *key;
    return false;
}

/* Puts each run into the first group of its own side, or of the history, that it is like. */
static bool group_sides(struct compare *c, const struct compare_options *o, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        c->group[i] = i;
        for (size_t k = 0; k < i && c->group[i] == i; k++)
            if (c->group[k] == k && set_of(c, k) == set_of(c, i) &&
                !alike_differ(kept_of(c, o, k), kept_of(c, o, i), NULL, NULL))
                c->group[i] = k;
        for (size_t k = 0; k < i && c->group[i] == i; k++)
            if (c->group[k] == k && set_of(c, k) == set_of(c, i) &&
                alike_differ(kept_of(c, o, k), kept_of(c, o, i), add_key, c))
                return mem_none(e);
    }
    return true;
}

/* Joins the groups of the sides, and of the history, that differ in no key. */
static void join_groups(struct compare *c, const struct compare_options *o, size_t n)
{
    for (size_t i = 0; i < c->before.n; i++)
        for (size_t k = c->before.n; k < n; k++) {
            bool is_joined = c->group[i] != i || c->group[k] != k ||
                             alike_differ(kept_of(c, o, i), kept_of(c, o, k), has_key, c);

            for (size_t j = c->before.n; j < n && !is_joined; j++)
                is_joined = set_of(c, j) == set_of(c, k) && c->group[j] == i;
            for (size_t j = k; j < n && !is_joined; j++)
                c->group[j] = c->group[j] == k ? i : c->group[j];
        }
}

bool compare_groups(struct compare *c, const struct compare_options *o, struct err *e)
{
    size_t n = compare_n_runs(c) + o->n_history;

    if (!mem_new(&c->group, n, e) || !group_sides(c, o, n, e))
        return false;
    join_groups(c, o, n);
    return true;
}

/* ---- Names ---- */

/* "64KiB", "8" */
static struct units_text setting_text(const struct run_kept_op *op, enum run_setting kind)
{
    const struct compare_span span = {op->setting[kind], op->setting[kind], false};

    return units_format("%s%.40s", kind == RUN_OBJECT_SIZE && op->sizes_differ ? "mean " : "",
                        compare_words_span(kind, &span).s);
}

/* Formats the value of an option of s3load, a string without its quotes. "": the run has none. */
static struct units_text option_text(const struct run_kept *r, const char *name)
{
    char text[COMPARE_OPTION_TEXT] = "";
    const json_t *value = json_object_get(r->options, name);

    if (strcmp(name, "duration_ns") == 0)
        return units_duration(json_integer_value(value));
    if (value != NULL && !json_is_string(value))
        compare_option_text(value, text);
    return units_format("%s", json_is_string(value) ? json_string_value(value) : text);
}

static void __attribute__((format(printf, 2, 3)))
append(struct compare_op *to, const char *fmt, ...)
{
    size_t n = strlen(to->name);
    va_list args;

    va_start(args, fmt);
    vsnprintf(to->name + n, sizeof to->name - n, fmt, args);
    va_end(args);
}

/* Appends a setting, "64KiB" or "c=8"; one of another operation of the run only if the operation's
 * own is no key. */
static void append_setting(struct compare_op *to, const struct compare *c, const struct run_kept *r,
                           const struct alike_key *key)
{
    const struct run_kept_op *op = alike_op_named(r, key->name);
    const struct alike_key own = {ALIKE_SETTING, key->setting, to->op};
    bool is_own = strcmp(key->name, to->op) == 0;

    if (op == NULL || (!is_own && has_key((void *)c, &own)))
        return;
    append(to, " %s%s%s%s%s", is_own ? "" : op->op, is_own ? "" : " ",
           key->setting == RUN_OBJECT_SIZE ? "" : run_setting_names[key->setting].brief,
           key->setting == RUN_OBJECT_SIZE ? "" : "=", setting_text(op, key->setting).s);
}

void compare_name_cell(struct compare_op *op, const struct compare *c,
                       const struct compare_options *o)
{
    const struct run_kept *r = kept_of(c, o, op->group);
    bool by_ops = has_key((void *)c, &(struct alike_key){ALIKE_OPS, 0, ""});

    append(op, "%s", op->op);
    for (size_t i = 0, n = 0; by_ops && i < r->n_ops; i++)
        if (!r->ops[i].is_beside && strcmp(r->ops[i].op, op->op) != 0)
            append(op, "%s%s", n++ > 0 ? "+" : " with ", r->ops[i].op);
    /* Sizes come first, then threads. */
    for (enum run_setting k = RUN_N_SETTINGS; k-- > 0;)
        for (size_t i = 0; i < c->n_keys; i++)
            if (c->keys[i].kind == ALIKE_SETTING && c->keys[i].setting == k)
                append_setting(op, c, r, &c->keys[i]);
    for (size_t i = 0; i < c->n_keys; i++)
        if (c->keys[i].kind == ALIKE_OPTION)
            append(op, " %s=%s", c->keys[i].name, option_text(r, c->keys[i].name).s);
        else if (c->keys[i].kind == ALIKE_SOURCE)
            append(op, " of %s", run_sources[r->source]);
}

/* ---- --cell ---- */

/* Whether an operation has a value, in the form of names. */
static bool has_value(const struct run_kept *r, size_t k, const char *picked)
{
    const struct units_text key = units_format("%.*s", (int)strcspn(picked, "="), picked);
    struct units_text own = option_text(r, key.s);

    if (strcmp(key.s, "op") == 0)
        own = units_format("%s", r->ops[k].op);
    for (enum run_setting s = 0; s < RUN_N_SETTINGS; s++)
        if (strcmp(key.s, run_setting_names[s].brief) == 0)
            own = setting_text(&r->ops[k], s);
    return strcasecmp(own.s, strchr(picked, '=') + 1) == 0;
}

bool compare_is_picked(const struct run_kept *r, size_t k, const struct cli_list *picked)
{
    if (picked == NULL || picked->n == 0)
        return true;
    for (size_t i = 0; i < picked->n; i++) {
        size_t n_key = strcspn(picked->v[i], "=") + 1;
        bool any = false;

        for (size_t j = 0; j < picked->n; j++)
            any |= strncmp(picked->v[i], picked->v[j], n_key) == 0 && has_value(r, k, picked->v[j]);
        if (!any)
            return false;
    }
    return !r->ops[k].is_beside || r->n_ops == 1;
}
