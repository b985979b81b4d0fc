/* The answer of a comparison in a few sentences. */
#include "analyze/tools/compare/words.h"

#include "analyze/summary/requests/sample.h"

#include <math.h>
#include <string.h>

#define MAX_ANSWERED 4   /* operations */
#define END_ROOM     256 /* bytes of a text, for what comes after the operations */

static struct units_text value_of(const struct compare_metric *m, const struct compare_values *v)
{
    return m->cmp.is_difference ? units_pct(100 * v->center) : compare_words_value(m->metric, v);
}

/* Appends "2604.5 -> 2438.6 obj/s, -4.9 %"; the unit comes once if both values have the same one.
 */
static void append_values(struct phrase *t, const struct compare_metric *m)
{
    struct units_text a = value_of(m, &m->before), b = value_of(m, &m->after);
    size_t n_a = strspn(a.s, "0123456789."), n_b = strspn(b.s, "0123456789.");

    if (strcmp(a.s + n_a, b.s + n_b) == 0)
        a.s[n_a] = '\0';
    phrase_append(t, "%s -> %s, %s", a.s, b.s, words_percent_of(m, compare_theta(m)).s);
}

/* Appends "2604.5 -> 2438.6 obj/s, -4.9 % (95 % CI -14 to +8)". */
static void append_figures(struct phrase *t, const struct compare_metric *m)
{
    append_values(t, m);
    if (compare_words_interval(m).s[0] != '\0')
        phrase_append(t, " (%s)", compare_words_interval(m).s);
}

static bool is_changed(const struct compare_metric *m)
{
    return m != NULL && compare_is_changed(m);
}

/* Returns the first of these durations that changed: the median, the 99th percentile, the 90th if
 * it is in the family. NULL: none did. */
static const struct compare_metric *changed_duration(const struct compare_op *op)
{
    static const enum run_metric durations[] = {RUN_P50, RUN_P99, RUN_P90};
    for (size_t i = 0; i < 3; i++)
        if (is_changed(compare_metric_of(op, durations[i])) &&
            (durations[i] != RUN_P90 || compare_metric_of(op, RUN_P90)->in_family))
            return compare_metric_of(op, durations[i]);
    return NULL;
}

/* Whether operations share threads: if one gets slower, the others lose throughput. */
static bool is_shared(const struct compare *c)
{
    size_t n = 0;
    for (size_t k = 0; k < c->n_ops; k++)
        n += compare_is_measured(c, &c->ops[k]);
    return n > 1 && compare_nth_run(c, 0)->mixed;
}

/* Whether only the throughput of an operation changed, in the direction of other operations of the
 * run whose durations changed. */
static bool follows(const struct compare *c, const struct compare_op *op)
{
    bool any = false;
    if (!is_shared(c) || !is_changed(compare_leading(op)) || changed_duration(op) != NULL)
        return false;
    for (size_t k = 0; k < c->n_ops; k++)
        any |=
            compare_is_measured(c, &c->ops[k]) && changed_duration(&c->ops[k]) != NULL &&
            compare_is_worse(changed_duration(&c->ops[k])) == compare_is_worse(compare_leading(op));
    return any;
}

const struct compare_metric *compare_words_head(const struct compare *c,
                                                const struct compare_op *op)
{
    const struct compare_metric *leading = compare_leading(op), *d = changed_duration(op);
    const struct compare_metric *errors = compare_metric_of(op, RUN_ERRORS);

    if (d != NULL)
        return is_changed(leading) && !is_shared(c) ? leading : d;
    return is_changed(errors) && !is_changed(leading) ? errors : leading;
}

/* Appends "no request of after succeeded"; false: requests succeeded on both sides. */
static bool append_dead(struct phrase *t, const struct compare *c, const struct compare_op *op)
{
    bool before = op->runs[0].n_dead == op->runs[0].n, after = op->runs[1].n_dead == op->runs[1].n;
    if (before && after)
        phrase_append(t, "no request succeeded");
    else if (before || after)
        phrase_append(t, "no request of %.24s succeeded", before ? c->before.name : c->after.name);
    return before || after;
}

static const char *title_of(const struct compare_metric *m)
{
    return metrics[m->metric].says != NULL ? metrics[m->metric].says : "";
}

/* Appends "slower: 510 -> 402 obj/s, -21 % (95 % CI -24 to -18)". */
static void append_head(struct phrase *t, const struct compare_metric *m)
{
    if (!m->cmp.ok) {
        phrase_append(t, "not enough data to compare (%s)", m->cmp.why);
        if (isfinite(compare_theta(m))) {
            phrase_append(t, ": ");
            append_figures(t, m);
        }
        return;
    }
    if (m->verdict == STATS_SAME || m->verdict == STATS_SAME_WITHIN_RUN)
        phrase_append(t, "the same within %.3g %%: ", 100 * m->delta);
    else if (!compare_is_changed(m))
        phrase_append(t, "no change shown: ");
    else if (m->verdict == STATS_DIFFERS)
        phrase_append(t, "differs: ");
    else
        phrase_append(t, metrics[m->metric].kind == METRIC_DIFFERENCE ? "%s errors: " : "%s: ",
                      m->verdict == STATS_BETTER ? metrics[m->metric].better
                                                 : metrics[m->metric].worse);
    phrase_append(t, "%s", title_of(m));
    append_figures(t, m);
    if (m->verdict == STATS_DIFFERS)
        phrase_append(t, ", unless identical runs vary by more than %.*f %%",
                      m->cmp.break_even < .0995, 100 * m->cmp.break_even);
    else if (compare_words_unseen(m).s[0] != '\0')
        phrase_append(t, "; %s", compare_words_unseen(m).s);
}

/* Appends "; median duration 1.18 -> 2.3ms, +95 %", or ". Durations alike" if none changed and both
 * figures, even untested ones, are close. */
static void append_durations(struct phrase *t, const struct compare_op *op,
                             const struct compare_metric *head)
{
    const struct compare_metric *leading = compare_leading(op);
    const struct compare_metric *p[] = {compare_metric_of(op, RUN_P50),
                                        compare_metric_of(op, RUN_P99)};
    size_t n_alike = 0, n = 0;
    bool is_close = true;

    if (head != leading && leading != NULL && leading->cmp.ok)
        phrase_append(t, "; throughput %s%s", words_percent_of(leading, compare_theta(leading)).s,
                      is_changed(leading) ? "" : ", no change shown");
    for (size_t i = 0; i < 2; i++) {
        if (p[i] == NULL || !(fabs(expm1(compare_theta(p[i]))) < 2 * metrics[RUN_P50].delta))
            is_close = false;
        if (p[i] == NULL || !p[i]->cmp.ok)
            continue;
        n++;
        n_alike += !is_changed(p[i]);
        if (!is_changed(p[i]) || p[i] == head)
            continue;
        phrase_append(t, "; %s", title_of(p[i]));
        append_values(t, p[i]);
    }
    if (n > 0 && n_alike == n)
        phrase_append(t, is_close ? ". Durations alike" : ". Durations: no change shown");
    else if (n == 2 && head == p[1] && n_alike == 1)
        phrase_append(t, "; median alike");
    else if (n == 2 && n_alike == 1 && !is_changed(p[1]))
        phrase_append(t, "; p99 alike");
}

static void append_errors(struct phrase *t, const struct compare_op *op)
{
    const struct compare_metric *m = compare_metric_of(op, RUN_ERRORS);
    if (!is_changed(m))
        return;
    phrase_append(t, ". Errors: ");
    append_values(t, m);
}

static void append_size(struct phrase *t, size_t class)
{
    if (class == 0)
        phrase_append(t, "below %s", units_size((double)analysis_size_edges[1]).s);
    else if (class + 1 < ANALYSIS_N_SIZES)
        phrase_append(t, "of %s to %s", units_size((double)analysis_size_edges[class]).s,
                      units_size((double)analysis_size_edges[class + 1]).s);
    else
        phrase_append(t, "of %s up", units_size((double)analysis_size_edges[class]).s);
}

/* "at http://h2:9000" */
static void append_place(struct phrase *t, const struct compare_carrier *x)
{
    switch (x->kind) {
    case COMPARE_AT_HOSTS:
    case COMPARE_FROM_CLIENTS:
        phrase_append(t, "%s %.100s", x->kind == COMPARE_AT_HOSTS ? "at" : "at client",
                      intern_shown(x->name[0]));
        if (x->n > 1)
            phrase_append(t, " and %.100s", intern_shown(x->name[1]));
        break;
    case COMPARE_IN_SIZES:
        phrase_append(t, "in requests ");
        append_size(t, x->size[0]);
        phrase_append(t, x->n > 1 ? " and " : "");
        if (x->n > 1)
            append_size(t, x->size[1]);
        break;
    case COMPARE_IN_TIME:
        if (x->lo < .6)
            phrase_append(t, "in the first %.1f s", x->hi);
        else
            phrase_append(t, "between %.1f and %.1f s", x->lo, x->hi);
        break;
    case COMPARE_IN_TAIL:
        phrase_append(t, "in the slowest %.0f %% of the requests", 100 * x->lo);
        break;
    }
}

/* ". 92 % of the added time is at http://h2:9000 (there +103 %, elsewhere +2.1 %)" */
static void append_where(struct phrase *t, const struct compare_op *op)
{
    for (size_t i = 0; i < op->n_carriers; i++) {
        const struct compare_carrier *x = &op->carriers[i];

        if (i == 0 && x->frac > .995)
            phrase_append(t, ". All of the %s time is ", x->change > 0 ? "added" : "saved");
        else if (i == 0)
            phrase_append(t, ". %.0f %% of the %s time is ", 100 * x->frac,
                          x->change > 0 ? "added" : "saved");
        else if (x->frac > .995)
            phrase_append(t, ", and all of it ");
        else
            phrase_append(t, ", and %.0f %% of it ", 100 * x->frac);
        append_place(t, x);
        phrase_append(t, " (there %s, elsewhere %s)", words_change(100 * x->change, "%").s,
                      words_change(100 * x->rest, "%").s);
    }
}

static void append_op(struct phrase *t, const struct compare *c, const struct compare_op *op)
{
    const struct compare_metric *head = compare_words_head(c, op), *leading = compare_leading(op);

    phrase_append(t, "%.24s: ", op->op);
    if (append_dead(t, c, op))
        return;
    if (head == NULL) {
        phrase_append(t, "nothing to compare");
        return;
    }
    if (follows(c, op)) {
        phrase_append(t, "durations alike; throughput follows other operations, ");
        append_values(t, leading);
        append_errors(t, op);
        return;
    }
    bool in_part = !is_changed(head) && op->n_carriers > 0;
    if (in_part) {
        phrase_append(t, "differs ");
        append_place(t, &op->carriers[0]);
        phrase_append(t, ": durations there %s, elsewhere %s; over all ",
                      words_change(100 * op->carriers[0].change, "%").s,
                      words_change(100 * op->carriers[0].rest, "%").s);
    }
    append_head(t, head);
    if (!in_part)
        append_durations(t, op, head);
    if (head->metric != RUN_ERRORS)
        append_errors(t, op);
    if (changed_duration(op) != NULL && op->share_of_change >= .5)
        phrase_append(t, ". %.0f %% of the %s is in %.24s", 100 * op->share_of_change,
                      !is_changed(leading) ? compare_is_worse(head) ? "added time" : "saved time"
                      : compare_is_worse(leading) ? "lost throughput"
                                                  : "gained throughput",
                      op->op);
    if (!in_part)
        append_where(t, op);
    if (op->sizes_differ)
        phrase_append(t, ". Object sizes differ, so bytes/s are not judged");
}

/* Appends "GET: slower, -21 %" if an operation became worse, and its errors before its rate. False:
 * it did not. */
static bool append_worse(struct phrase *t, const struct compare *c, const struct compare_op *op)
{
    const struct compare_metric *errors = compare_metric_of(op, RUN_ERRORS);
    const struct compare_metric *m = op->head;

    if (!compare_is_measured(c, op) || op->change != CELL_WORSE)
        return false;
    const char *between = t->s[0] != '\0' ? "; " : "";
    if (op->runs[1].n_dead > op->runs[0].n_dead) {
        phrase_append(t, "%s%.60s: no request of %s succeeded", between, op->name,
                      units_counted((int64_t)op->runs[1].n_dead, "run").s);
        return true;
    }
    m = errors != NULL && errors->verdict == STATS_WORSE ? errors : m;
    phrase_append(t, "%s%.60s: %s%s, %s", between, op->name, metrics[m->metric].worse,
                  m == errors ? " errors" : "", words_percent_of(m, compare_theta(m)).s);
    return true;
}

enum exit_code compare_words_judge(const struct compare *c, struct phrase *why)
{
    size_t n_worse = 0, n_open = 0;

    *why = (struct phrase){""};
    for (size_t k = 0; k < c->n_ops; k++) {
        const struct compare_metric *m = compare_leading(&c->ops[k]);
        bool worse = append_worse(why, c, &c->ops[k]);

        n_worse += worse;
        n_open += !worse && compare_is_measured(c, &c->ops[k]) &&
                  (m == NULL || m->verdict == STATS_DIFFERS || m->verdict == STATS_INCONCLUSIVE ||
                   m->verdict == STATS_NOT_ENOUGH_DATA);
    }
    if (c->has_gate && c->gate == EXIT_FAILED && n_worse == 0)
        phrase_append(why, "%s", compare_words_gate(c).s);
    if (n_worse == 0)
        phrase_append(why, "%s%s", why->s[0] != '\0' ? " " : "",
                      n_open > 0 ? "No verdict on " : "Nothing became worse");
    if (n_worse == 0 && n_open > 0)
        phrase_append(why, "%s", units_counted((int64_t)n_open, "operation").s);
    size_t n_limits = n_open + compare_n_faulty(c) + compare_n_limits(c);
    if (compare_n_faulty(c) > 0)
        phrase_append(why, "; %s", compare_words_faulty(c).s);
    else if (compare_n_limits(c) > 0)
        phrase_append(why, "; settings of the runs differ (below)");
    if (c->has_gate)
        return c->gate == EXIT_DONE && n_limits > 0 ? EXIT_UNDECIDED : c->gate;
    return n_worse > 0 ? EXIT_FAILED : n_limits > 0 ? EXIT_UNDECIDED : EXIT_DONE;
}

struct phrase compare_words_answer(const struct compare *c)
{
    struct phrase t = {""};
    const struct compare_op *order[MAX_ANSWERED];
    size_t n = 0, n_told = 0, n_faulty = compare_n_faulty(c), n_answered = 0;

    if (c->has_cells) {
        phrase_append(&t, "%s %s", compare_words_headline(c).s, compare_words_rest(c).s);
        return t;
    }

    for (size_t k = 0; k < c->n_ops; k++) {
        const struct compare_op *op = &c->ops[k];
        if (!compare_is_measured(c, op))
            continue;
        n_answered++;
        size_t at = n < MAX_ANSWERED ? n++ : MAX_ANSWERED;
        if (at == MAX_ANSWERED && compare_order(op, order[--at]) >= 0)
            continue;
        for (; at > 0 && compare_order(op, order[at - 1]) < 0; at--)
            order[at] = order[at - 1];
        order[at] = op;
    }
    if (c->has_gate)
        phrase_append(&t, "%s ", compare_words_gate(c).s);
    for (; n_told < n; n_told++) {
        struct phrase one = {""};
        append_op(&one, c, order[n_told]);
        if (n_told > 0 && strlen(t.s) + strlen(one.s) + END_ROOM > sizeof t.s)
            break;
        phrase_append(&t, "%s%s.", n_told > 0 ? " " : "", one.s);
    }
    if (n_answered > n_told)
        phrase_append(&t, " %zu more operation%s.", n_answered - n_told,
                      n_answered - n_told == 1 ? "" : "s");
    if (n == 0)
        phrase_append(&t, "Nothing to compare.");
    if (n > 0 && compare_leading(order[0]) != NULL && compare_leading(order[0])->n_pairs > 0)
        phrase_append(&t, " %zu pairs, taken in turns.", compare_leading(order[0])->n_pairs);
    struct phrase limits = compare_words_limits(c);
    if (limits.s[0] != '\0')
        phrase_append(&t, " The sides differ: %s.", limits.s);
    if (n_faulty > 0)
        phrase_append(&t, " %zu of %zu runs had a problem.", n_faulty, compare_n_runs(c));
    return t;
}
