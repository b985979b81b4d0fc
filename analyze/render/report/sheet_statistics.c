#include "analyze/render/report/run.h"

#include <math.h>

struct intervals {
    struct sheet *s;
    const struct statistics *of;
    const char *doubt; /* why some of them are unreliable; "": all are reliable */
};

static void ci_row(struct intervals *x, const char *name, struct units_text (*text)(double),
                   const struct stats_ci *ci)
{
    const char *doubt = ci->ok ? statistics_doubt(x->of, ci) : "";

    if (*doubt != '\0')
        x->doubt = doubt;
    SHEET_ROW(x->s, TEXT_PLAIN, name, isnan(ci->value) ? "-" : text(ci->value).s,
              ci->ok ? text(ci->lo).s : "-", ci->ok ? text(ci->hi).s : "-",
              !ci->ok          ? ci->why
              : *doubt != '\0' ? "unreliable"
                               : "");
}

static void latency_rows(struct intervals *x, const char *what, const struct statistics_latency *l)
{
    static const char *const names[STATISTICS_N_QUANTILES] = {"p50", "p90", "p99", "p99.9"};
    char name[32];

    for (size_t i = 0; l->times.present && i < STATISTICS_N_QUANTILES; i++) {
        snprintf(name, sizeof name, "%s, %s", what, names[i]);
        ci_row(x, name, units_real_duration, &l->q[i].ci);
    }
}

static void co_row(struct sheet *s, const char *op, const struct statistics_co *co)
{
    sheet_item(s, TEXT_PLAIN,
               "%s, corrected for coordinated omission, interval %s: p50 %s, p90 %s, p99 %s, p99.9 "
               "%s.",
               op, units_duration(co->interval_ns).s, units_duration(co->q_ns[0]).s,
               units_duration(co->q_ns[1]).s, units_duration(co->q_ns[2]).s,
               units_duration(co->q_ns[3]).s);
}

void run_sheet_statistics(struct sheet *s, const struct operation *op)
{
    const struct statistics *x = op->statistics;
    char title[160];
    struct intervals all = {s, x, ""};

    if (x == NULL)
        return;
    s->when = SHEET_DETAIL;
    snprintf(title, sizeof title, "95 %% confidence intervals, from %.40s of %.40s",
             units_counted((int64_t)x->n_segments, "segment").s, units_duration(x->segment_ns).s);
    sheet_table(s, "lrrrw", title);
    SHEET_HEADINGS(s, "", "Estimate", "From", "To", "");
    if (x->bytes.present) {
        ci_row(&all, "Throughput", units_byte_rate, &x->bytes.mean);
        ci_row(&all, "Throughput, median", units_byte_rate, &x->bytes.median);
    }
    ci_row(&all, "Objects", units_object_rate, &x->objects.mean);
    ci_row(&all, "Objects, median", units_object_rate, &x->objects.median);
    if (x->n_failed > 0)
        ci_row(&all, "Error rate", units_frac_cell, &x->error_rate);
    latency_rows(&all, "Duration", &x->duration);
    latency_rows(&all, "TTFB", &x->ttfb);
    sheet_line(s, TEXT_FAINT,
               "Percentiles are of the successful requests that lie wholly in the range; service "
               "time, closed loop, %s.",
               units_counted(x->concurrency, "thread").s);
    if (*all.doubt != '\0')
        sheet_item(s, TEXT_PLAIN, "%s.", all.doubt);
    if (x->cut_ns > 0)
        sheet_item(s, TEXT_PLAIN, "Warm-up: %s left out.", units_duration(x->cut_ns).s);
    sheet_item(s, TEXT_PLAIN, "%s, busy %.1f %% of the time.",
               units_counted(x->concurrency, "thread").s, 100 * x->utilisation_frac);
    s->when = SHEET_ALWAYS;
    if (x->co.interval_ns > 0)
        co_row(s, op->op, &x->co);
}

/* ---- Assertions ---- */

static void put_answer(struct sheet *s, const struct slo_answer *a)
{
    const struct slo_measure *m = &a->measure;
    bool from = isfinite(m->lo), to = isfinite(m->hi);

    SHEET_ROW(s, sheet_verdict_style(slo_code(a->verdict)), slo_verdict_names[a->verdict],
              *a->op != '\0' ? a->op : "all", a->of->text, slo_measured_text(a).s);
    sheet_cell(s, "%s%s%s", from ? slo_value_text(a->of, m->lo).s : "",
               from && to ? " to "
               : from     ? " or more"
               : to       ? "up to "
                          : "-",
               to ? slo_value_text(a->of, m->hi).s : "");
    SHEET_CELLS(s, slo_why(a).s);
}

void slo_sheet(struct sheet *s, const struct slo_report *r)
{
    static const enum slo_verdict order[] = {SLO_MISSED, SLO_UNDECIDED, SLO_MET};
    size_t n[3] = {0};
    bool response = false;

    if (r == NULL)
        return;
    for (size_t i = 0; i < r->n; i++)
        n[r->v[i].verdict]++;
    enum slo_verdict all = slo_verdict(r);
    sheet_verdict(s, slo_code(all), "Assertions: %s (%zu met, %zu missed, %zu undecided)",
                  slo_verdict_names[all], n[SLO_MET], n[SLO_MISSED], n[SLO_UNDECIDED]);
    sheet_table(s, "lllrlw", "");
    SHEET_HEADINGS(s, "", "Operation", "Assertion", "Measured", "95 % interval", "");
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (size_t i = 0; i < r->n; i++) {
            if (r->v[i].verdict != order[k])
                continue;
            put_answer(s, &r->v[i]);
            response |= r->v[i].of_response;
        }
    if (response)
        sheet_span(s, TEXT_FAINT, "p50 and the like: response times, from the intended start.");
    sheet_gap(s);
}
