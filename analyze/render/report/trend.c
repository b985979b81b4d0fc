#include "analyze/render/report/archive.h"

#include "analyze/render/report/figures.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GROUPS_SHOWN 12 /* in text: folders hold odd single runs, too */

/* ---- Words ---- */

/* Returns "14 March", with the year if the runs are of several years, and the time if the run
 * before is of the same day. */
static struct units_text day_of(const struct trend_group *g, size_t run)
{
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    struct rfc3339_text first = rfc3339_format(g->runs[0]->kept.start_ns);
    struct rfc3339_text last = rfc3339_format(g->runs[g->n - 1]->kept.start_ns);
    struct rfc3339_text t = rfc3339_format(g->runs[run]->kept.start_ns);
    struct rfc3339_text before = rfc3339_format(g->runs[run > 0 ? run - 1 : 0]->kept.start_ns);
    bool same_day = strncmp(t.s, before.s, 10) == 0, years = strncmp(first.s, last.s, 4) != 0;
    struct units_text out;

    snprintf(out.s, sizeof out.s, "%d %s%s%.*s%s%.*s", atoi(t.s + 8), months[atoi(t.s + 5) - 1],
             years ? " " : "", years ? 4 : 0, t.s, same_day ? " " : "", same_day ? 8 : 0, t.s + 11);
    return out;
}

static const struct metric *metric_of(const struct trend_group *g, const struct stats_change *x)
{
    return &metrics[g->series[x->series].metric];
}

/* "12 % slower", "8.3 % faster", "+30 points" */
static struct units_text change_of(const struct trend_group *g, const struct stats_change *x)
{
    double pct = 100 * fabs(exp(x->after - x->before) - 1);

    return metric_of(g, x)->kind == METRIC_DIFFERENCE
               ? units_format("%s points", units_change(100 * (x->after - x->before)).s)
               : units_format("%.*f %% %s", pct < 9.95, pct,
                              trend_is_worse(g, x) ? "slower" : "faster");
}

struct phrase trend_says(const struct trend_group *g, const struct trend_change *c)
{
    const struct metric *m = metric_of(g, &c->v[0]);
    bool is_quantile = m->kind == METRIC_QUANTILE;

    if (m->kind == METRIC_DIFFERENCE)
        return phrase_format("Since %s (run %zu) %s of the %.100ss fail, before it %s (p = %.3f).",
                             day_of(g, c->run).s, c->run + 1, units_pct(100 * c->v[0].after).s,
                             g->series[c->v[0].series].op, units_pct(100 * c->v[0].before).s,
                             c->v[0].p);
    return phrase_format("Since %s (run %zu) %.100ss are %s%s%s (p = %.3f).", day_of(g, c->run).s,
                         c->run + 1, g->series[c->v[0].series].op, change_of(g, &c->v[0]).s,
                         is_quantile ? " at " : "", is_quantile ? m->name : "", c->v[0].p);
}

struct phrase trend_names(const struct trend_group *g)
{
    const struct run_kept *r = &g->runs[0]->kept;
    static const char *const of[] = {"", ", of sums", ", of aggregated captures"};
    struct phrase t;
    bool of_response = false;
    size_t n = (size_t)snprintf(t.s, sizeof t.s, "%s of", units_counted((int64_t)g->n, "run").s);

    for (size_t k = 0; k < r->n_ops && n < 200; k++) {
        const struct run_kept_op *op = &r->ops[k];
        double bytes = op->setting[RUN_OBJECT_SIZE];

        if (op->is_beside)
            continue;
        of_response |= op->of_response;
        n += (size_t)snprintf(t.s + n, sizeof t.s - n, " %.60s (%s%s%s),", op->op,
                              bytes > 0 ? units_size(bytes).s : "", bytes > 0 ? ", " : "",
                              units_counted((int64_t)op->setting[RUN_CONCURRENCY], "thread").s);
    }
    snprintf(t.s + n, sizeof t.s - n, " %.10s to %.10s%s%s", rfc3339_format(r->start_ns).s,
             rfc3339_format(g->runs[g->n - 1]->kept.start_ns).s, of[r->source],
             of_response ? ", percentiles of response times" : "");
    return t;
}

struct phrase trend_sums_up(const struct trend_group *g)
{
    if (g->n < TREND_LEAST_RUNS)
        return phrase_format("Too few runs to show a change: it takes %d.", TREND_LEAST_RUNS);
    if (g->n_changes == 0)
        return phrase_format("No change is shown.");
    return trend_says(g, &g->changes[g->n_changes - 1]);
}

struct phrase trend_answers(const struct trend *t)
{
    const struct trend_group *g = &t->groups[0];
    const struct archive_label last = g->runs[g->n - 1]->label;

    if (t->dead != NULL)
        return t->dead->dead_frac > 0
                   ? phrase_format("In the last run, %s, no %.60s succeeded in the last %s of it.",
                                   last.s, t->dead->op, units_pct(100 * t->dead->dead_frac).s)
                   : phrase_format("In the last run, %s, no %.60s succeeded.", last.s, t->dead->op);
    if (t->last == EXIT_FAILED)
        return phrase_format("The last run (%s) is still at the worse level.", last.s);
    if (t->unsure != NULL)
        return phrase_format(
            "Undecided: the last run, %s, is at a level that is only %s; more runs decide.", last.s,
            change_of(g, &t->unsure->v[0]).s);
    if (t->odd != SIZE_MAX && isnan(g->series[t->odd].v[g->n - 1]))
        return phrase_format(
            "Undecided: the last run, %s, has too few requests to know its %.60s %s.", last.s,
            g->series[t->odd].op, metrics[g->series[t->odd].metric].name);
    if (t->odd != SIZE_MAX)
        return phrase_format(
            "Undecided: %.60s %s of the last run, %s, is %.1f standard deviations off its level; "
            "%d runs show whether that stays.",
            g->series[t->odd].op, metrics[g->series[t->odd].metric].name, last.s,
            fabs(g->series[t->odd].last_z), STATS_CHANGES_LEAST);
    if (t->last == EXIT_DONE)
        return phrase_format("The last run, %s, is no worse than its level.", last.s);
    if (g->n >= TREND_LEAST_RUNS)
        return phrase_format("Undecided: %.200s could not be read, and may be the last run.",
                             figures_file(t->unread->path));
    return phrase_format("Undecided: %s with the last run's settings; it takes %d.",
                         units_counted((int64_t)g->n, "run").s, TREND_LEAST_RUNS);
}

/* ---- Sheets ---- */

static void put_shift(struct sheet *s, const struct trend_group *g, const struct trend_change *c,
                      const struct stats_change *x)
{
    const struct metric *m = metric_of(g, x);

    sheet_row(s, trend_is_worse(g, x) ? TEXT_WARNING : TEXT_PLAIN);
    sheet_cell(s, "%zu", c->run + 1);
    SHEET_CELLS(s, g->runs[c->run]->label.s, g->series[x->series].op, m->title,
                m->text(trend_value(g, x, x->before)).s, m->text(trend_value(g, x, x->after)).s,
                change_of(g, x).s);
    sheet_cell(s, "%.3f", x->p);
}

void trend_sheet_changes(struct sheet *s, const struct trend_group *g)
{
    for (size_t i = 0; i < g->n_changes; i++)
        sheet_item(s, trend_is_worse(g, &g->changes[i].v[0]) ? TEXT_ERROR : TEXT_PLAIN, "%s",
                   trend_says(g, &g->changes[i]).s);
    if (g->n_changes == 0) {
        sheet_line(s, TEXT_PLAIN, "%s", trend_sums_up(g).s);
        return;
    }
    sheet_table(s, "rlllrrrr", "Levels");
    SHEET_HEADINGS(s, "From run", "Name", "Op", "Metric", "Before", "After", "Change", "p");
    for (size_t i = 0; i < g->n_changes; i++) {
        const struct trend_change *c = &g->changes[i];

        for (size_t k = 0; k < c->n; k++)
            put_shift(s, g, c, &c->v[k]);
    }
}

void trend_sheet_runs(struct sheet *s, const struct trend_group *g)
{
    enum sheet_when before = s->when;

    s->when = SHEET_DETAIL;
    sheet_table(s, "rllrrrrrrrrr", "Runs");
    sheet_headings(s);
    SHEET_CELLS(s, "Run", "Name", "Start, UTC");
    for (size_t k = 0; k < g->n_series && k < 9; k++)
        sheet_cell(s, "%s %s", g->series[k].op, metrics[g->series[k].metric].title);
    for (size_t i = 0; i < g->n; i++) {
        sheet_row(s, TEXT_PLAIN);
        sheet_cell(s, "%zu", i + 1);
        SHEET_CELLS(s, g->runs[i]->label.s, figures_moment(g->runs[i]->kept.start_ns).s);
        for (size_t k = 0; k < g->n_series && k < 9; k++)
            sheet_cell(s, "%s",
                       isnan(g->series[k].v[i])
                           ? "-"
                           : metrics[g->series[k].metric].text(g->series[k].v[i]).s);
    }
    s->when = before;
}

void trend_sheet(struct sheet *s, const void *trend)
{
    const struct trend *t = trend;

    if (t->shows_last)
        sheet_verdict(s, t->last, "%s", trend_answers(t).s);
    for (size_t k = 0; k < t->n; k++) {
        s->when = k < MAX_GROUPS_SHOWN ? SHEET_ALWAYS : SHEET_DETAIL;
        sheet_title(s, "%s", trend_names(&t->groups[k]).s);
        trend_sheet_changes(s, &t->groups[k]);
        trend_sheet_runs(s, &t->groups[k]);
    }
    s->when = SHEET_BRIEF;
    if (t->n > MAX_GROUPS_SHOWN)
        sheet_line(s, TEXT_PLAIN, "%zu more groups of runs with other settings: -v shows them.",
                   t->n - MAX_GROUPS_SHOWN);
    s->when = SHEET_ALWAYS;
    archive_sheet_unread(s, t->archive);
}
