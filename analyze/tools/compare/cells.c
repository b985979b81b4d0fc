/* Cells: an operation with its settings. Groups the runs, finds and orders the cells, and names
 * what tells them apart. */
#include "analyze/tools/compare/compare_internal.h"

#include "analyze/tools/compare/alike.h"
#include "analyze/tools/compare/words.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/suggest.h"
#include "libcommon/units.h"

#include <jansson.h>
#include <math.h>
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

/* Fills in the name of a cell, which has its operation and its group. */
static void name_cell(struct compare_op *op, const struct compare *c,
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

/* ---- Which cells there are ---- */

/* Whether the i-th run is one of a side, and of a group. */
static bool is_in(const struct compare *c, size_t i, bool is_after, size_t group)
{
    return c->group[i] == group && (i >= c->before.n) == is_after;
}

/* Finds the runs of a side that have the cell, in `room`. Returns how many there are. */
static size_t find_runs(struct compare_runs *to, const struct compare *c, bool is_after,
                        const struct compare_op *cell, const struct run_op **room)
{
    *to = (struct compare_runs){.v = room};
    for (size_t i = 0; i < compare_n_runs(c); i++) {
        const struct run_op *o = run_op_named(compare_nth_run(c, i), cell->op);

        if (o == NULL || !is_in(c, i, is_after, cell->group))
            continue;
        to->v[to->n++] = o;
        to->n_dead += o->report.n_requests > 0 &&
                      operation_n_failed(&o->report) == operation_n_all(&o->report);
    }
    return to->n;
}

size_t compare_n_in(const struct compare *c, bool is_after, size_t group)
{
    size_t n = 0;

    for (size_t i = 0; i < compare_n_runs(c); i++)
        n += is_in(c, i, is_after, group);
    return n;
}

static bool warn_missing(struct compare *c, const struct compare_op *op, struct err *e)
{
    const struct compare_runs *runs = op->runs;
    size_t n_before = runs[0].n, n_after = runs[1].n;
    size_t all_before = compare_n_in(c, false, op->group),
           all_after = compare_n_in(c, true, op->group);
    const struct compare_side *without = n_before == 0 ? &c->before : &c->after;
    const struct run_op *some = n_after > 0 ? runs[1].v[n_after - 1] : runs[0].v[n_before - 1];

    if (n_before == 0 || n_after == 0) {
        bool is_thin = some->parts[0].too_thin != NULL;
        bool is_measured = role_is_benchmark(some->report.role);

        c->lacks_op |= !is_thin && is_measured;
        /* The other side lacks all of the cell, so what prepared it is no matter. */
        if (!is_measured && (all_before == 0 || all_after == 0))
            return true;
        return notes_add(&c->warnings, e,
                         is_thin       ? "thin-op-missing"
                         : is_measured ? "op-missing"
                                       : "preparation-missing",
                         NULL, "%s: no run of %s has it; not compared", op->name, without->name);
    }
    if (n_before < all_before || n_after < all_after)
        return notes_add(&c->warnings, e, "op-partly-missing", NULL,
                         "%s: %zu of %zu runs of %s and %zu of %zu of %s have it", op->name,
                         n_before, all_before, c->before.name, n_after, all_after, c->after.name);
    return true;
}

static bool is_known(const struct compare *c, const char *op, size_t group)
{
    for (size_t k = 0; k < c->n_ops; k++)
        if (c->ops[k].group == group && strcmp(c->ops[k].op, op) == 0)
            return true;
    return false;
}

/* Says which of the n cells each side has. */
static bool none_in_common(const struct compare_op *v, size_t n, struct err *e)
{
    char names[2][200] = {"", ""};

    for (size_t k = 0; k < n; k++)
        suggest_list(names[v[k].runs[0].n == 0], sizeof names[0], v[k].name);
    return err_set(e, "no operation type is on both sides: before has %s, after %s", names[0],
                   names[1]);
}

bool compare_find_cells(struct compare *c, const struct compare_options *o, struct err *e)
{
    size_t most = 0, n = 0, n_room = 0;

    for (size_t i = 0; i < compare_n_runs(c); i++)
        most += compare_nth_run(c, i)->n_ops;
    if (!mem_cleared(&c->ops, most, e) || !mem_new(&c->room, most, e))
        return false;
    for (size_t i = 0; i < compare_n_runs(c); i++) {
        const struct run *r = compare_nth_run(c, i);
        for (size_t k = 0; k < r->n_ops; k++)
            if (!is_known(c, r->ops[k].op, c->group[i]) &&
                compare_is_picked(&r->kept, k, o->picked)) {
                struct compare_op *op = &c->ops[c->n_ops++];

                op->op = r->ops[k].op;
                op->group = c->group[i];
                name_cell(op, c, o);
            }
    }
    for (size_t k = 0; k < c->n_ops; k++) {
        struct compare_op *op = &c->ops[k];

        n_room += find_runs(&op->runs[0], c, false, op, c->room + n_room);
        n_room += find_runs(&op->runs[1], c, true, op, c->room + n_room);
        if (!warn_missing(c, op, e))
            return false;
        if (op->runs[0].n > 0 && op->runs[1].n > 0)
            c->ops[n++] = *op;
    }
    if (n == 0)
        return none_in_common(c->ops, c->n_ops, e);
    c->n_ops = n;
    return true;
}

/* ---- Their order ---- */

static int real_order(double a, double b)
{
    return (a > b) - (a < b);
}

int compare_order(const void *a, const void *b)
{
    const struct compare_op *x = a, *y = b;
    int order = int64_order(x->change, y->change);

    if (order == 0 && x->change < CELL_OPEN && x->head != NULL && y->head != NULL)
        order = compare_is_worse(y->head) - compare_is_worse(x->head);
    if (order == 0 && !isnan(x->share_of_change) && !isnan(y->share_of_change))
        order = real_order(y->share_of_change, x->share_of_change);
    if (order == 0 && x->change < CELL_OPEN && x->head != NULL && y->head != NULL)
        order = real_order(fabs(compare_theta(y->head)), fabs(compare_theta(x->head)));
    if (order == 0)
        order = (y->n_carriers > 0) - (x->n_carriers > 0);
    if (order == 0)
        order = strcmp(x->op, y->op);
    for (enum run_setting k = RUN_N_SETTINGS; order == 0 && k-- > 0;)
        order = real_order(x->runs[0].v[0]->kept->setting[k], y->runs[0].v[0]->kept->setting[k]);
    return order;
}
