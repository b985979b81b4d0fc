#include "analyze/render/report/plan_sheet.h"

#include "analyze/render/report/figures.h"
#include "analyze/tools/compare/metric.h"

#include <math.h>

#define MOST_TIMES 100 /* longer: how much longer is a guess */

const char *const plan_gate_names[] = {"no worse", "worse", "undecided"};

static struct phrase rate_text(double per_s)
{
    return per_s > 0 ? phrase_format("%s requests/s", units_rate(per_s).s)
                     : phrase_format("%s", "no rate");
}

/* Says how much longer runs must be to decide the rates between the ends: the undecided interval
 * shrinks with the root of the number of requests. */
static struct phrase longer_runs(const struct plan *p, double width)
{
    double times = pow(100 * width / p->asked.precision_pct, 2);

    return times < 2 ? phrase_format("%s", "")
                     : phrase_format(
                           " Runs of this length do not decide the rates between; runs about %.0f "
                           "times as long would bring the ends to %g %% of each other.",
                           times, p->asked.precision_pct);
}

/* Says why a search that ended has no answer, and what to do next. */
static struct phrase why_unconfirmed(const struct plan *p)
{
    double times = plan_capacity_longer(&p->found, p->points, p->n_points);

    if (p->n_disturbed >= (size_t)p->asked.max_runs)
        return phrase_format("%s", "The machine was too busy: repeat it in another --dir when "
                                   "nothing else runs there.");
    if (times > 0)
        return phrase_format(
            "Runs of this length do not decide the other rates: repeat it in "
            "another --dir with a --duration %s.",
            times > MOST_TIMES ? "that is much longer"
                               : phrase_format("about %.0f times as long", ceil(fmax(times, 2))).s);
    if (p->found.met == 0)
        return phrase_format("%s", "No rate met the assertions; below, \"Not met\" says what the "
                                   "server did instead: mend that, ask for less with --slo, or for "
                                   "lower rates with a longer --duration.");
    return phrase_format("--max-runs ended the search: repeat it in another --dir with a higher "
                         "--max-runs, and --from %.4g.",
                         p->found.met);
}

/* Returns what a run at this rate, which was missed, did not meet. */
static const char *said_at(const struct plan *p, double rate)
{
    const struct plan_run *r = p->runs;

    while (r->why_not != NULL || r->point.level != rate || r->verdict == SLO_MET)
        r++;
    return r->says;
}

static struct phrase of_capacity(const struct plan *p)
{
    const struct plan_interval x = p->found;
    const struct plan_run *last = p->n > 0 ? &p->runs[p->n - 1] : NULL;

    if (x.confirmed && p->next.done)
        return phrase_format(
            "The assertions are met up to %s requests/s and missed at %s, %s apart; both "
            "ends are confirmed (%s).%s",
            units_rate(x.met).s, units_rate(x.missed).s, units_pct(100 * (x.missed / x.met - 1)).s,
            units_counted((int64_t)p->n_points, "run").s, longer_runs(p, x.missed / x.met - 1).s);
    if (x.flat_to > 0)
        return phrase_format(
            "No rate is low enough to meet the assertions: %s at %s requests/s, and "
            "%s at %s (%s).",
            said_at(p, x.missed), units_rate(x.missed).s, said_at(p, x.flat_to),
            units_rate(x.flat_to).s, units_counted((int64_t)p->n_points, "run").s);
    if (!p->next.done)
        return phrase_format(
            "Not decided yet after %s: met at %s, missed at %s; next: %s requests/s%s.",
            units_counted((int64_t)p->n_points, "run").s, rate_text(x.met).s, rate_text(x.missed).s,
            units_rate(p->next.level).s, p->next.confirms ? ", to confirm that end" : "");
    if (last != NULL && last->not_offered)
        return phrase_format("Met at %s; the limit was not found, as %s at %s: more --concurrent, "
                             "--threads or machines are needed.",
                             rate_text(x.met).s, last->why_not, units_rate(last->point.level).s);
    return phrase_format("Not confirmed after %s: met at %s, missed at %s. %s",
                         units_counted((int64_t)p->n_points, "run").s, rate_text(x.met).s,
                         rate_text(x.missed).s, why_unconfirmed(p).s);
}

static struct phrase of_ab(const struct plan *p)
{
    static const char *const words[] = {"No worse than the gates allow", "Worse than a gate allows",
                                        "Undecided"};
    struct plan_judged first = plan_ab_judge(p->gates, p->n_gates, 0, p->points, p->n_points);

    return phrase_format(
        "%s after %s, judged %s; the risk of error over all of these is below 5 %%%s",
        words[p->answer], units_counted((int64_t)p->n_points, "run").s,
        units_counted((int64_t)first.n_looks, "time").s,
        p->next.done ? "." : "; more runs follow.");
}

static struct phrase of_sweep(const struct plan *p)
{
    return phrase_format("%s at %s%s", units_counted((int64_t)p->n_points, "run").s,
                         units_counted((int64_t)p->n_levels, "level").s,
                         p->next.done ? "." : "; more runs follow.");
}

/* Returns the largest share of failed requests in the runs that count; of a capacity, in those that
 * met the assertions. */
static double most_failed(const struct plan *p)
{
    double most = 0;

    for (size_t i = 0; i < p->n; i++)
        if (p->runs[i].why_not == NULL &&
            (p->asked.kind != PLAN_CAPACITY || p->runs[i].verdict == SLO_MET))
            most = fmax(most, p->runs[i].failed_frac);
    return most;
}

static bool judges_errors(const struct plan *p)
{
    bool any = false;

    for (size_t g = 0; g < p->n_gates; g++)
        any |= p->gates[g].metric == RUN_ERRORS;
    return any;
}

/* Says that requests failed, after the answer: rates and times are those of the others. */
static struct phrase errors_text(const struct plan *p)
{
    double most = most_failed(p);

    if (!(most > 0))
        return phrase_format("%s", "");
    if (p->asked.kind == PLAN_AB)
        return phrase_format(" Errors: %s -> %s%s.",
                             units_pct(100 * plan_level_of(p, 0).failed_frac).s,
                             units_pct(100 * plan_level_of(p, 1).failed_frac).s,
                             judges_errors(p) ? "" : ", which no gate judges");
    return phrase_format(" Errors: up to %s of the requests of a run%s.", units_pct(100 * most).s,
                         p->asked.kind == PLAN_CAPACITY ? " that met the assertions" : "");
}

struct phrase plan_sentence(const struct plan *p)
{
    const struct phrase answer = p->asked.kind == PLAN_CAPACITY ? of_capacity(p)
                                 : p->asked.kind == PLAN_AB     ? of_ab(p)
                                                                : of_sweep(p);

    struct phrase waits = {""};
    double most = 0;

    for (size_t i = 0; i < p->n; i++)
        most = fmax(most, p->runs[i].waited_pct);
    if (most > 0)
        waits =
            phrase_format(" s3load waited up to %.2g %% of the time for a CPU: %s.", most,
                          p->n_disturbed > 0 ? "runs that did not meet the assertions then do not "
                                               "count"
                                             : "the answer depends on that");
    return phrase_format("%s%s%s", answer.s, errors_text(p).s, waits.s);
}

/* ---- Tables ---- */

/* Returns a cell; no text for all runs: none has errors, and the column is left out. */
static struct units_text errors_cell(double failed_frac, bool any)
{
    return any && isfinite(failed_frac) ? units_frac_cell(failed_frac) : (struct units_text){""};
}

static bool has_errors(const struct plan *p)
{
    bool any = false;

    for (size_t i = 0; i < p->n; i++)
        any |= p->runs[i].failed_frac > 0;
    return any;
}

static void put_runs(struct sheet *s, const struct plan *p)
{
    bool judged = p->asked.kind == PLAN_CAPACITY, ab = p->asked.kind == PLAN_AB;
    bool errors = has_errors(p);

    sheet_table(s, ab ? "rlrrrrrlw" : "rrrrrrrlw", "Runs");
    SHEET_HEADINGS(s, "Run",
                   ab                     ? "Side"
                   : p->by_rate || judged ? "Rate"
                                          : "Concurrent",
                   "Offered", "Reached/s", "p50", "p99", "Errors", judged ? "Answer" : "",
                   judged ? "Not met" : "");
    for (size_t i = 0; i < p->n; i++) {
        const struct plan_run *r = &p->runs[i];
        bool known = r->point.per_s > 0;

        sheet_row(s, r->why_not != NULL || (judged && r->verdict != SLO_MET) ? TEXT_WARNING
                                                                             : TEXT_PLAIN);
        sheet_cell(s, "%u", r->number);
        if (ab)
            sheet_cell(s, "%s", r->point.level > 0 ? "after" : "before");
        else
            sheet_cell(s, "%.10g", r->point.level);
        SHEET_CELLS(s, isfinite(r->offered_frac) ? units_frac_cell(r->offered_frac).s : "-",
                    known ? units_rate(r->point.per_s).s : "-", units_real_duration(r->p50_ns).s,
                    units_real_duration(r->p99_ns).s, errors_cell(r->failed_frac, errors).s,
                    r->why_not != NULL ? "does not count"
                    : judged           ? slo_verdict_names[r->verdict]
                                       : "",
                    r->why_not != NULL ? r->why_not
                    : r->says != NULL  ? r->says
                                       : "");
    }
}

static void put_levels(struct sheet *s, const struct plan *p)
{
    bool errors = has_errors(p);

    sheet_table(s, "rrrlrrrr", "Levels, means of their runs");
    SHEET_HEADINGS(s, p->by_rate ? "Rate" : "Concurrent", "Runs", "Reached/s",
                   "Slowest to fastest run", "p50", "p99", "Errors", "In flight");
    for (size_t i = 0; i < p->n_levels; i++) {
        struct plan_level x = plan_level_of(p, p->levels[i]);
        /* In a closed loop the requests in flight, by Little's law, equal the level asked for,
         * unless some of them failed. */
        bool failed = x.failed_frac > 0;
        bool off = !p->by_rate && !failed && fabs(x.in_flight / x.level - 1) > .1;

        if (x.n == 0)
            continue;
        sheet_row(s, off || failed ? TEXT_WARNING : TEXT_PLAIN);
        sheet_cell(s, "%.6g", x.level);
        sheet_cell(s, "%zu", x.n);
        SHEET_CELLS(s, units_rate(x.per_s).s);
        sheet_cell(s, "%s to %s", units_rate(x.least_per_s).s, units_rate(x.most_per_s).s);
        SHEET_CELLS(s, units_real_duration(x.p50_ns).s, units_real_duration(x.p99_ns).s,
                    errors_cell(x.failed_frac, errors).s);
        sheet_cell(s, isfinite(x.in_flight) ? "%.2f%s" : "-", x.in_flight,
                   off ? ", not what was asked" : "");
    }
    sheet_span(s, TEXT_FAINT,
               "In flight: successful requests per second times mean duration (Little's law).");
}

static struct units_text change(const struct plan *p, size_t gate, double theta)
{
    return units_frac_cell(plan_change_frac(p, gate, theta));
}

static void put_gates(struct sheet *s, const struct plan *p)
{
    sheet_table(s, "llrlrl", "Gates, after against before");
    SHEET_HEADINGS(s, "Operation", "Metric", "Change", "Interval of this look", "Allowed", "");
    for (size_t g = 0; g < p->n_gates; g++) {
        const struct plan_gate *gate = &p->gates[g];
        struct plan_judged x = plan_ab_judge(p->gates, p->n_gates, g, p->points, p->n_points);
        double limit = gate->up_is_better ? -gate->limit : gate->limit;

        SHEET_ROW(s, sheet_verdict_style(slo_code(x.answer)), gate->op, metrics[gate->metric].title,
                  isnan(x.theta) ? "-" : change(p, g, x.theta).s);
        sheet_cell(s, isnan(x.lo) ? "-" : "%s to %s", change(p, g, x.lo).s, change(p, g, x.hi).s);
        SHEET_CELLS(s, change(p, g, limit).s, plan_gate_names[x.answer]);
    }
}

void plan_sheet(struct sheet *s, const void *plan)
{
    const struct plan *p = plan;

    sheet_verdict(s, slo_code(p->answer), "%s", plan_sentence(p).s);
    sheet_line(s, TEXT_FAINT, "%s", p->asked.command);
    plan_sheet_tables(s, p);
}

void plan_sheet_tables(struct sheet *s, const struct plan *p)
{
    if (p->asked.kind == PLAN_AB)
        put_gates(s, p);
    if (p->asked.kind == PLAN_SWEEP)
        put_levels(s, p);
    put_runs(s, p);
}
