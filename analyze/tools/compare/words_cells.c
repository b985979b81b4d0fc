/* What a comparison of several cells says: a sentence for all of them, and a row a cell. */
#include "analyze/tools/compare/compare_internal.h"
#include "analyze/tools/compare/words.h"

#include <math.h>

#define MAX_NAMED 3 /* cells of one kind in the sentence */

const char *const compare_change_names[] = {[CELL_WORSE] = "worse",
                                            [CELL_BETTER] = "better",
                                            [CELL_DIFFERS] = "differs",
                                            [CELL_OPEN] = "no-change-shown",
                                            [CELL_NO_DATA] = "not-enough-data"};

static bool is_worse(const struct compare_metric *m)
{
    return m != NULL && compare_is_changed(m) && compare_is_worse(m);
}

void compare_conclude(struct compare *c, struct compare_op *op)
{
    const struct compare_metric *errors = compare_metric_of(op, RUN_ERRORS);
    size_t dead_before = op->runs[0].n_dead, dead_after = op->runs[1].n_dead;

    /* More errors come first unless something else is worse. */
    op->head = compare_words_head(c, op);
    if (is_worse(errors) && !is_worse(op->head))
        op->head = errors;
    op->change = dead_after > dead_before                ? CELL_WORSE
                 : dead_after < dead_before              ? CELL_BETTER
                 : op->head == NULL || !op->head->cmp.ok ? CELL_NO_DATA
                 : !compare_is_changed(op->head)         ? CELL_OPEN
                 : op->head->verdict == STATS_DIFFERS    ? CELL_DIFFERS
                 : compare_is_worse(op->head)            ? CELL_WORSE
                                                         : CELL_BETTER;
    c->n_changes[op->change] += compare_is_measured(c, op);
}

static bool has_died(const struct compare_op *op)
{
    return op->runs[0].n_dead != op->runs[1].n_dead;
}

/* Appends "GET 64KiB, throughput -9.7 % (95 % CI -11.0 to -8.4)". */
static void append_cell(struct phrase *t, const struct compare_op *op)
{
    const struct compare_metric *m = op->head;
    const struct compare_runs *a = &op->runs[0], *b = &op->runs[1];

    phrase_append(t, "%s, ", op->name);
    if (has_died(op))
        phrase_append(t, "nothing succeeded in %zu of %zu runs, before in %zu of %zu", b->n_dead,
                      b->n, a->n_dead, a->n);
    else
        phrase_append(t, "%s %s", m->metric == RUN_OBJECTS ? "objects/s" : metrics[m->metric].name,
                      words_percent_of(m, compare_theta(m)).s);
    if (!has_died(op) && compare_words_interval(m).s[0] != '\0')
        phrase_append(t, " (%s)", compare_words_interval(m).s);
}

/* Appends "is slower: " and the first cells with that change, "; and 3 more." */
static void append_changed(struct phrase *t, const struct compare *c, enum compare_change change)
{
    static const char *const words[][2] = {
        {"slower", "worse"},
        {"faster", "better"},
        {"different if runs repeat", "different if runs repeat"}};
    size_t told = 0;
    bool is_time = true;

    for (size_t k = 0; k < c->n_ops; k++)
        if (c->ops[k].change == change)
            is_time &= !has_died(&c->ops[k]) && c->ops[k].head->metric != RUN_ERRORS;
    phrase_append(t, " %s %s: ", c->n_changes[change] == 1 ? "is" : "are", words[change][!is_time]);
    for (size_t k = 0; k < c->n_ops && told < MAX_NAMED; k++)
        if (compare_is_measured(c, &c->ops[k]) && c->ops[k].change == change) {
            phrase_append(t, "%s", told++ > 0 ? "; " : "");
            append_cell(t, &c->ops[k]);
        }
    if (c->n_changes[change] > told)
        phrase_append(t, "; and %zu more", c->n_changes[change] - told);
    phrase_append(t, ".");
}

struct phrase compare_words_headline(const struct compare *c)
{
    struct phrase t = {""};
    size_t n_all = 0, n_told = 0;

    for (enum compare_change i = CELL_WORSE; i < CELL_N; i++)
        n_all += c->n_changes[i];
    if (c->has_gate)
        phrase_append(&t, "%s ", compare_words_gate(c).s);
    for (enum compare_change i = CELL_WORSE; i <= CELL_DIFFERS; i++) {
        if (c->n_changes[i] == 0)
            continue;
        phrase_append(&t, n_told > 0 ? " %zu" : "%zu of %zu cells", c->n_changes[i], n_all);
        append_changed(&t, c, i);
        n_told += c->n_changes[i];
    }
    if (n_told == 0)
        phrase_append(&t, "None of %zu cells shows a change.", n_all);
    return t;
}

struct phrase compare_words_rest(const struct compare *c)
{
    struct phrase t = {""};
    size_t n_open = c->n_changes[CELL_OPEN], least = SIZE_MAX, most = 0, n_pairs = SIZE_MAX, n;
    double mde_frac = 0, before, after;

    for (size_t k = 0; k < c->n_ops; k++) {
        const struct compare_metric *m = compare_leading(&c->ops[k]);

        if (m != NULL && compare_is_measured(c, &c->ops[k]))
            n_pairs = m->n_pairs < n_pairs ? m->n_pairs : n_pairs;
        for (int side = 0; compare_is_measured(c, &c->ops[k]) && side < 2; side++) {
            least = c->ops[k].runs[side].n < least ? c->ops[k].runs[side].n : least;
            most = c->ops[k].runs[side].n > most ? c->ops[k].runs[side].n : most;
        }
        if (c->ops[k].change == CELL_OPEN && m != NULL)
            mde_frac = fmax(mde_frac, m->mde_frac);
    }
    if (n_open > 0)
        phrase_append(&t, "%zu show%s no change", n_open, n_open == 1 ? "s" : "");
    if (isinf(mde_frac))
        phrase_append(&t, "; of some, so few runs could show none");
    else if (mde_frac > 0)
        phrase_append(&t, "; a change of throughput by %.*f %% would have been seen",
                      mde_frac < .0995, 100 * mde_frac);
    phrase_append(&t, n_open > 0 ? ". " : "");
    if (c->n_changes[CELL_NO_DATA] > 0)
        phrase_append(&t, "%zu cannot be compared. ", c->n_changes[CELL_NO_DATA]);
    if (n_pairs > 0 && n_pairs < SIZE_MAX)
        phrase_append(&t, "%zu pairs%s a cell, taken in turns.", n_pairs,
                      most > least ? " or more" : "");
    else if (most > 0)
        phrase_append(&t, "%zu run%s%s a side of a cell.", least, most == 1 ? "" : "s",
                      most > least ? " or more" : "");
    if (compare_geomean(c, RUN_THROUGHPUT, &before, &after, &n) && n > 1)
        phrase_append(&t, " Throughput is %s in the geometric mean.",
                      words_change(100 * (after / before - 1), "%").s);
    if (compare_n_faulty(c) > 0)
        phrase_append(&t, " %zu of %zu runs had a problem.", compare_n_faulty(c),
                      compare_n_runs(c));
    return t;
}

/* "-9.7+-1.3%", or "+22 to 205%" if half of the interval is wider than the change; "~": no change
 * is shown; "": not compared. */
static struct units_text change_of(const struct compare_metric *m)
{
    if (m == NULL || !m->cmp.ok)
        return (struct units_text){""};
    if (!compare_is_changed(m))
        return (struct units_text){"~"};
    double theta = compare_theta(m), center = expm1(theta);
    double off = 100 * fmax(center - expm1(m->cmp.lo), expm1(m->cmp.hi) - center);
    if (off >= 100 * fabs(center))
        return units_format("%+.0f to %.0f" UNITS_CELL_PCT, 100 * expm1(m->cmp.lo),
                            100 * expm1(m->cmp.hi));
    return units_format("%.20s+-%.*f" UNITS_CELL_PCT, units_change(100 * center).s, off < 9.95,
                        off);
}

struct compare_words_cell compare_words_cell(const struct compare_op *op)
{
    const struct compare_metric *leading = compare_leading(op), *m = op->head;
    struct compare_words_cell r = {
        .throughput = change_of(leading),
        .p50 = change_of(compare_metric_of(op, RUN_P50)),
        .p99 = change_of(compare_metric_of(op, RUN_P99)),
    };

    if (leading != NULL) {
        r.before = metrics[leading->metric].text(leading->before.center);
        r.after = metrics[leading->metric].text(leading->after.center);
    }
    if (has_died(op) || op->change == CELL_NO_DATA)
        r.verdict = units_format("%s", !has_died(op)              ? "too little data"
                                       : op->change == CELL_WORSE ? "more runs fail"
                                                                  : "fewer runs fail");
    else if (op->change != CELL_OPEN || m->verdict == STATS_SAME)
        r.verdict = units_format("%s%s", compare_words_verdict_code(m),
                                 m->metric == RUN_ERRORS ? " errors" : "");
    return r;
}
