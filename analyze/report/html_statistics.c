#include "analyze/report/html_internal.h"

#include "analyze/write/html.h"
#include "libcommon/units.h"

#include <inttypes.h>
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

static const char *doubt_of(const struct statistics_rate *r)
{
    return statistics_few_stalls(r)
               ? "95% CI unreliable: fewer than 10 stalls do not tell how often they come"
               : "";
}

const char *html_statistics_doubt(const struct statistics *s)
{
    return s == NULL ? "" : doubt_of(s->by_objects ? &s->objects : &s->bytes);
}

static struct units_text frac_text(double frac)
{
    return units_pct(100 * frac);
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

static void put_steadiness(FILE *f, const struct statistics *s)
{
    struct units_text (*rate)(double) = s->by_objects ? units_object_rate : units_byte_rate;
    fputs("<ul>\n", f);
    if (s->cut_ns > 0)
        html_element(f, "li", "Warm-up: %s left out.", units_duration(s->cut_ns).s);
    else if (!s->warmup.steady && s->n_segments >= STATS_MIN_SEGMENTS)
        html_element(f, "li", "No steady state was reached.");
    else if (s->warmup.n_cut > 0)
        html_element(f, "li", "Warm-up: the first %s; %s after it.",
                     units_duration((int64_t)s->warmup.n_cut * s->segment_ns).s,
                     rate(s->warmup.mean_rest).s);
    else
        html_element(f, "li", "No warm-up was found.");
    if (s->drift.reported)
        html_element(f, "li", "Drift: %+.1f%% from start to end (p = %.2g).",
                     100 * s->drift.change_frac, s->drift.p);
    for (size_t i = 0; i < s->shifts.n; i++) {
        const struct stats_shift *x = &s->shifts.v[i];
        html_element(f, "li", "Change at %s UTC: from %s to %s.",
                     html_cells_clock(s->start_ns + (int64_t)x->at * s->segment_ns).s,
                     rate(x->before).s, rate(x->after).s);
    }
    const struct statistics_rate *series = s->by_objects ? &s->objects : &s->bytes;
    if (series->n_stalls > 0)
        html_element(f, "li", "Stalls, segments below half of the median: %zu%s.", series->n_stalls,
                     series->n_stalls < STATS_FEW_STALLS
                         ? "; with so few the interval of the mean is unreliable"
                         : "");
    html_element(f, "li", "%" PRId64 " thread%s, busy %.1f%% of the time.", s->concurrency,
                 s->concurrency == 1 ? "" : "s", 100 * s->utilisation_frac);
    if (s->duration.n > 0 && !isnan(s->residual_ns[0]))
        html_element(f, "li",
                     "A request seen at a random moment has still to run: 50%% %s, 90%% %s, "
                     "99%% %s.",
                     figures_ns(s->residual_ns[0]).s, figures_ns(s->residual_ns[1]).s,
                     figures_ns(s->residual_ns[2]).s);
    if (s->co.interval_ns > 0)
        html_element(f, "li",
                     "Durations corrected for coordinated omission, one request every %s: 50%% "
                     "%s, 90%% %s, 99%% %s, 99.9%% %s.",
                     units_duration(s->co.interval_ns).s, units_duration(s->co.q_ns[0]).s,
                     units_duration(s->co.q_ns[1]).s, units_duration(s->co.q_ns[2]).s,
                     units_duration(s->co.q_ns[3]).s);
    if (s->hosts.n > 0 && s->hosts.test.ok)
        html_element(
            f, "li", "Hosts are %s by %s: up to %.1f%% off (p = %.2g), Jain %.4f, CV %.1f%%.",
            s->hosts.test.reported ? "uneven" : "even",
            s->hosts.by_latency ? "duration" : "throughput", 100 * s->hosts.test.max_deviation_frac,
            s->hosts.test.p, s->hosts.test.jain, 100 * s->hosts.test.cv_frac);
    for (size_t k = 0; k < s->hosts.n; k++)
        if (s->hosts.v[k].outlier)
            html_element(f, "li", "Outlier: %s (z = %.1f).", s->hosts.v[k].host, s->hosts.v[k].z);
    fputs("</ul>\n", f);
}

void html_statistics(FILE *f, const char *section, const struct statistics *s)
{
    static const char *const names[] = {"", "Estimate", "From", "To", ""};
    char caption[160];

    if (s == NULL)
        return;
    snprintf(caption, sizeof caption,
             "95%% confidence intervals, from %zu segments of %.32s; "
             "percentiles of type 1, always an observed value",
             s->n_segments, units_duration(s->segment_ns).s);
    html_table(f, section, caption, names, "lrrrl");
    if (s->bytes.present) {
        doubtful_ci_row(f, "Throughput", &s->bytes.mean, units_byte_rate, doubt_of(&s->bytes));
        ci_row(f, "Throughput, median segment", &s->bytes.median, units_byte_rate);
    }
    doubtful_ci_row(f, "Objects", &s->objects.mean, units_object_rate, doubt_of(&s->objects));
    ci_row(f, "Objects, median segment", &s->objects.median, units_object_rate);
    if (s->n_failed > 0)
        ci_row(f, "Error rate", &s->error_rate, frac_text);
    latency_rows(f, "Duration", &s->duration);
    latency_rows(f, "TTFB", &s->ttfb);
    html_table_end(f);
    put_steadiness(f, s);
}
