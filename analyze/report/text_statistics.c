#include "analyze/report/diagnosis.h"
#include "analyze/report/text_internal.h"

/* " * 99%:  4.8ms  4.5ms .. 5.1ms", or "-" and why there are no limits. */
static void ci_row(struct text_table *t, const char *name, struct units_text (*text)(double),
                   const struct stats_ci *ci, const char *note)
{
    TEXT_ITEM(t, TEXT_PLAIN, "%s:", name);
    if (!ci->ok) {
        TEXT_CELLS(t, "-", "");
        text_table_cell(t, "(%s)", ci->why);
        return;
    }
    text_table_cell(t, "%s", text(ci->value).s);
    text_table_cell(t, "%s .. %s", text(ci->lo).s, text(ci->hi).s);
    text_table_cell(t, *note != '\0' ? "(%s)" : "%s", note);
}

static void latency_rows(struct text_table *t, const char *what, const struct statistics_latency *l)
{
    static const char *const names[STATISTICS_N_QUANTILES] = {"50%", "90%", "99%", "99.9%"};
    char name[32];

    for (size_t i = 0; l->n > 0 && i < STATISTICS_N_QUANTILES; i++) {
        snprintf(name, sizeof name, "%s %s", what, names[i]);
        ci_row(t, name, figures_ns, &l->q[i].ci, "");
    }
}

static void say(void *out, const char *sentence)
{
    text_line(out, TEXT_PLAIN, " * %s", sentence);
}

void text_statistics_co(const struct text_view *v, const struct statistics *s)
{
    diagnosis_put_co(&(struct diagnosis){say, v->out, v->has_dates}, s);
}

void text_statistics_put(const struct text_view *v, const struct statistics *s)
{
    struct text_table t;
    if (s == NULL)
        return;
    text_blank(v->out);
    text_line(v->out, TEXT_HEADING, "95%% confidence, from %s of %s:",
              figures_counted((int64_t)s->n_segments, "segment").s,
              units_duration(s->segment_ns).s);
    text_table_init(&t, v->out, "lrll");
    if (s->bytes.present)
        ci_row(&t, "Average", units_byte_rate, &s->bytes.mean, diagnosis_doubt(&s->bytes));
    ci_row(&t, s->bytes.present ? "Average obj/s" : "Average", units_object_rate, &s->objects.mean,
           s->bytes.present ? "" : diagnosis_doubt(&s->objects));
    if (s->bytes.present)
        ci_row(&t, "Median segment", units_byte_rate, &s->bytes.median, "");
    else
        ci_row(&t, "Median segment", units_object_rate, &s->objects.median, "");
    if (s->n_failed > 0)
        ci_row(&t, "Errors", units_frac, &s->error_rate, "");
    text_table_span(&t, TEXT_FAINT, "   service time, closed loop, %s",
                    figures_counted(s->concurrency, "thread").s);
    latency_rows(&t, "Duration", &s->duration);
    latency_rows(&t, "TTFB", &s->ttfb);
    text_table_put(&t);
    diagnosis_put(&(struct diagnosis){say, v->out, v->has_dates}, s);
}
