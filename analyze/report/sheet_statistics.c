#include "analyze/report/diagnosis.h"
#include "analyze/report/run_sheet.h"

#include <math.h>

/* `note`: why an interval may be unreliable; "": it is not. */
static void ci_row(struct sheet *s, const char *name, struct units_text (*text)(double),
                   const struct stats_ci *ci, const char *note)
{
    SHEET_ROW(s, TEXT_PLAIN, name, isnan(ci->value) ? "-" : text(ci->value).s,
              ci->ok ? text(ci->lo).s : "-", ci->ok ? text(ci->hi).s : "-",
              ci->ok ? note : ci->why);
}

static void latency_rows(struct sheet *s, const char *what, const struct statistics_latency *l)
{
    static const char *const names[STATISTICS_N_QUANTILES] = {"50%", "90%", "99%", "99.9%"};
    char name[32];

    for (size_t i = 0; l->n > 0 && i < STATISTICS_N_QUANTILES; i++) {
        snprintf(name, sizeof name, "%s, %s", what, names[i]);
        ci_row(s, name, units_real_duration, &l->q[i].ci, "");
    }
}

static void say(void *s, const char *sentence)
{
    sheet_item(s, TEXT_PLAIN, "%s", sentence);
}

void run_sheet_statistics(struct sheet *s, const struct statistics *x, bool has_dates)
{
    char title[160];

    if (x == NULL)
        return;
    s->when = SHEET_DETAIL;
    snprintf(title, sizeof title, "95 %% confidence intervals, from %.40s of %.40s",
             units_counted((int64_t)x->n_segments, "segment").s, units_duration(x->segment_ns).s);
    sheet_table(s, "lrrrw", title);
    SHEET_HEADINGS(s, "", "Estimate", "From", "To", "");
    if (x->bytes.present) {
        ci_row(s, "Throughput", units_byte_rate, &x->bytes.mean, statistics_doubt(&x->bytes));
        ci_row(s, "Throughput, median", units_byte_rate, &x->bytes.median, "");
    }
    ci_row(s, "Objects", units_object_rate, &x->objects.mean, statistics_doubt(&x->objects));
    ci_row(s, "Objects, median", units_object_rate, &x->objects.median, "");
    if (x->n_failed > 0)
        ci_row(s, "Error rate", units_frac_cell, &x->error_rate, "");
    latency_rows(s, "Duration", &x->duration);
    latency_rows(s, "TTFB", &x->ttfb);
    sheet_line(s, TEXT_FAINT,
               "Percentiles are of the successful requests that lie wholly in the range; service "
               "time, closed loop, %s.",
               units_counted(x->concurrency, "thread").s);
    diagnosis_put(&(struct diagnosis){say, s, has_dates}, x);
    s->when = SHEET_ALWAYS;
    diagnosis_put_co(&(struct diagnosis){say, s, has_dates}, x);
}
