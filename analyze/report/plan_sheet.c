#include "analyze/report/plan_sheet.h"

#include "analyze/compare/metric.h"
#include "analyze/report/figures.h"

#include <math.h>

static struct plan_sentence __attribute__((format(printf, 1, 2))) said(const char *fmt, ...)
{
    struct plan_sentence x;
    va_list args;

    va_start(args, fmt);
    vsnprintf(x.s, sizeof x.s, fmt, args);
    va_end(args);
    return x;
}

static struct units_text level_text(double level)
{
    return level > 0 ? units_rate(level) : (struct units_text){"any rate tried"};
}

static struct plan_sentence of_capacity(const struct plan *p, const struct plan_next *next)
{
    struct plan_interval x = plan_capacity_found(p->points, p->n_points);
    const struct plan_run *last = p->n > 0 ? &p->runs[p->n - 1] : NULL;

    if (x.confirmed && next->done)
        return said("The assertions are met up to %s requests/s and missed at %s, %s apart; both "
                    "ends are confirmed (%s).",
                    units_rate(x.met).s, units_rate(x.missed).s, units_frac(x.missed / x.met - 1).s,
                    figures_counted((int64_t)p->n, "run").s);
    if (!next->done)
        return said("Not decided yet after %s: met at %s, missed at %s; next: %s requests/s%s.",
                    figures_counted((int64_t)p->n, "run").s, level_text(x.met).s,
                    level_text(x.missed).s, units_rate(next->level).s,
                    next->confirms ? ", to confirm that end" : "");
    if (last != NULL && last->why_not != NULL)
        return said(
            "Met at %s requests/s; the limit was not found, as %s at %s: more --concurrent, "
            "--threads or machines are needed.",
            level_text(x.met).s, last->why_not, units_rate(last->point.level).s);
    return said("Not confirmed after %s: met at %s requests/s, missed at %s.",
                figures_counted((int64_t)p->n, "run").s, level_text(x.met).s,
                level_text(x.missed).s);
}

static struct plan_sentence of_ab(const struct plan *p, const struct plan_next *next)
{
    static const char *const words[] = {"undecided", "after is no worse than the gate allows",
                                        "after is worse than the gate allows"};
    enum plan_answer answer = plan_ab_answer(p->gates, p->n_gates, p->points, p->n_points);

    return said("%s after %s, looked at %zu times; the error of all looks is below 5 %%%s",
                words[answer], figures_counted((int64_t)p->n_points, "run").s, p->n_points / 4,
                next->done ? "." : "; more runs follow.");
}

static struct plan_sentence of_sweep(const struct plan *p, const struct plan_next *next)
{
    return said("%s at %zu levels%s", figures_counted((int64_t)p->n_points, "run").s, p->n_levels,
                next->done ? "." : "; more runs follow.");
}

struct plan_sentence plan_sentence(const struct plan *p)
{
    struct plan_next next = plan_next(p);

    return p->asked.kind == PLAN_CAPACITY ? of_capacity(p, &next)
           : p->asked.kind == PLAN_AB     ? of_ab(p, &next)
                                          : of_sweep(p, &next);
}

/* ---- Tables ---- */

static struct units_text time_of(double ns)
{
    return isfinite(ns) ? units_duration(llround(ns)) : (struct units_text){"-"};
}

static void put_runs(struct sheet *s, const struct plan *p)
{
    bool judged = p->asked.kind == PLAN_CAPACITY;

    sheet_table(s, "rrrrrrlw", "Runs");
    SHEET_HEADINGS(s, "Run", p->by_rate || judged ? "Rate" : "Concurrent", "Offered", "Reached/s",
                   "50%", "99%", "", "");
    for (size_t i = 0; i < p->n; i++) {
        const struct plan_run *r = &p->runs[i];
        bool known = r->point.per_s > 0;

        sheet_row(s, r->why_not != NULL || (judged && r->point.verdict != SLO_MET) ? TEXT_WARNING
                                                                                   : TEXT_PLAIN);
        sheet_cell(s, "%u", r->number);
        SHEET_CELLS(s, units_rate(r->point.level).s,
                    isfinite(r->offered_frac) ? units_frac(r->offered_frac).s : "-",
                    known ? units_rate(r->point.per_s).s : "-", time_of(r->p50_ns).s,
                    time_of(r->p99_ns).s,
                    r->why_not != NULL ? "does not count"
                    : judged           ? slo_verdict_names[r->point.verdict]
                                       : "",
                    r->why_not != NULL ? r->why_not
                    : r->says != NULL  ? r->says
                                       : "");
    }
}

static void put_gates(struct sheet *s, const struct plan *p)
{
    static const char *const words[] = {"undecided", "no worse", "worse"};

    sheet_table(s, "llrlrl", "Gates, after against before");
    SHEET_HEADINGS(s, "Operation", "Metric", "Change", "Interval of this look", "Allowed", "");
    for (size_t g = 0; g < p->n_gates; g++) {
        const struct plan_gate *gate = &p->gates[g];
        struct plan_judged x = plan_ab_judge(p->gates, p->n_gates, g, p->points, p->n_points);
        double limit = gate->up_is_better ? -gate->limit : gate->limit;
        double v[] = {x.theta, x.lo, x.hi, limit};

        for (size_t i = 0; i < 4 && !gate->is_difference; i++)
            v[i] = expm1(v[i]);
        SHEET_ROW(s, x.answer == PLAN_NO_WORSE ? TEXT_PLAIN : TEXT_WARNING, p->gate_op[g],
                  metrics[p->gate_metric[g]].title, isnan(x.theta) ? "-" : units_frac(v[0]).s);
        sheet_cell(s, isnan(x.lo) ? "-" : "%s to %s", units_frac(v[1]).s, units_frac(v[2]).s);
        SHEET_CELLS(s, units_frac(v[3]).s, words[x.answer]);
    }
}

void plan_sheet(struct sheet *s, const struct plan *p)
{
    sheet_line(s, plan_verdict(p) == SLO_MET ? TEXT_HEADING : TEXT_WARNING, "%s",
               plan_sentence(p).s);
    sheet_line(s, TEXT_FAINT, "%s", p->asked.command);
    sheet_gap(s);
    if (p->asked.kind == PLAN_AB)
        put_gates(s, p);
    else
        put_runs(s, p);
}
