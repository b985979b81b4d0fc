#include "analyze/report/html_internal.h"

#include "analyze/report/diagnosis.h"
#include "analyze/write/html.h"
#include "libcommon/units.h"

#include <math.h>

/* `doubt` says why an interval that there is may not hold; "": nothing does. */
static void doubtful_ci_row(FILE *f, const char *name, const struct stats_ci *ci,
                            struct units_text (*text)(double), const char *doubt)
{
    html_row(f);
    html_name(f, name);
    HTML_CELLS(f, isnan(ci->value) ? "-" : text(ci->value).s, ci->ok ? text(ci->lo).s : "-",
               ci->ok ? text(ci->hi).s : "-");
    html_cell_text(f, ci->ok ? doubt : ci->why);
    html_row_end(f);
}

static void ci_row(FILE *f, const char *name, const struct stats_ci *ci,
                   struct units_text (*text)(double))
{
    doubtful_ci_row(f, name, ci, text, "");
}

const char *html_statistics_doubt(const struct statistics *s)
{
    return s == NULL ? "" : diagnosis_doubt(s->by_objects ? &s->objects : &s->bytes);
}

static void latency_rows(FILE *f, const char *what, const struct statistics_latency *l)
{
    static const char *const names[STATISTICS_N_QUANTILES] = {"50%", "90%", "99%", "99.9%"};
    char name[64];

    for (size_t i = 0; l->n > 0 && i < STATISTICS_N_QUANTILES; i++) {
        snprintf(name, sizeof name, "%s, %s", what, names[i]);
        ci_row(f, name, &l->q[i].ci, figures_ns);
    }
}

static void say(void *f, const char *sentence)
{
    html_element(f, "li", "%s", sentence);
}

void html_statistics(FILE *f, const char *section, const struct statistics *s)
{
    static const char *const names[] = {"", "Estimate", "From", "To", ""};
    const struct diagnosis d = {say, f, false};
    char caption[192];

    if (s == NULL)
        return;
    snprintf(
        caption, sizeof caption,
        "95%% confidence intervals, from %s of %.32s; percentiles of type 1, always an observed "
        "value",
        figures_counted((int64_t)s->n_segments, "segment").s, units_duration(s->segment_ns).s);
    html_table(f, section, caption, names, "lrrrl");
    if (s->bytes.present) {
        doubtful_ci_row(f, "Throughput", &s->bytes.mean, units_byte_rate,
                        diagnosis_doubt(&s->bytes));
        ci_row(f, "Throughput, median segment", &s->bytes.median, units_byte_rate);
    }
    doubtful_ci_row(f, "Objects", &s->objects.mean, units_object_rate,
                    diagnosis_doubt(&s->objects));
    ci_row(f, "Objects, median segment", &s->objects.median, units_object_rate);
    if (s->n_failed > 0)
        ci_row(f, "Error rate", &s->error_rate, units_frac);
    latency_rows(f, "Duration", &s->duration);
    latency_rows(f, "TTFB", &s->ttfb);
    html_table_end(f);
    fputs("<ul>\n", f);
    diagnosis_put(&d, s);
    diagnosis_put_co(&d, s);
    fputs("</ul>\n", f);
}
