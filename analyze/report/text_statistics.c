#include "analyze/report/text_internal.h"

#include <inttypes.h>
#include <math.h>

enum unit { UNIT_BYTES, UNIT_OBJECTS, UNIT_NS, UNIT_FRACTION };

static struct units_text figure(enum unit unit, double x)
{
    switch (unit) {
    case UNIT_BYTES:
        return units_byte_rate(x);
    case UNIT_OBJECTS:
        return units_object_rate(x);
    case UNIT_FRACTION:
        return units_pct(100 * x);
    case UNIT_NS:
        break;
    }
    return units_duration((int64_t)round(x));
}

/* " * 99%:  4.8ms  4.5ms .. 5.1ms", or "-" and why there are no limits. */
static void ci_row(struct text_table *t, const char *name, enum unit unit,
                   const struct stats_ci *ci, const char *note)
{
    text_table_row(t, TEXT_PLAIN);
    text_table_cell(t, " * %s:", name);
    if (!ci->ok) {
        TEXT_CELLS(t, "-", "");
        text_table_cell(t, "(%s)", ci->why);
        return;
    }
    text_table_cell(t, "%s", figure(unit, ci->value).s);
    text_table_cell(t, "%s .. %s", figure(unit, ci->lo).s, figure(unit, ci->hi).s);
    text_table_cell(t, "%s", note);
}

static const char *stall_note(const struct statistics_rate *r)
{
    return statistics_few_stalls(r) ? "(CI unreliable: fewer than 10 stalls)" : "";
}

static void latency_rows(struct text_table *t, const char *what, const struct statistics_latency *l)
{
    static const char *const names[STATISTICS_N_QUANTILES] = {"50%", "90%", "99%", "99.9%"};
    char name[32];

    for (size_t i = 0; l->n > 0 && i < STATISTICS_N_QUANTILES; i++) {
        snprintf(name, sizeof name, "%s %s", what, names[i]);
        ci_row(t, name, UNIT_NS, &l->q[i].ci, "");
    }
}

static void put_series(const struct text_view *v, const struct statistics *s)
{
    enum unit unit = s->by_objects ? UNIT_OBJECTS : UNIT_BYTES;
    if (s->cut_ns > 0)
        text_line(v->out, TEXT_PLAIN, " * Warm-up: %s left out.", units_duration(s->cut_ns).s);
    if (!s->warmup.steady && s->n_segments >= STATS_MIN_SEGMENTS)
        text_line(v->out, TEXT_PLAIN, " * No steady state was reached.");
    else if (s->warmup.n_cut > 0)
        text_line(v->out, TEXT_PLAIN, " * Warm-up: the first %s; %s after it.",
                  units_duration((int64_t)s->warmup.n_cut * s->segment_ns).s,
                  figure(unit, s->warmup.mean_rest).s);
    if (s->drift.reported)
        text_line(v->out, TEXT_PLAIN, " * Drift: %+.1f%% from start to end (p=%.2g).",
                  100 * s->drift.change_frac, s->drift.p);
    for (size_t i = 0; i < s->shifts.n; i++) {
        const struct stats_shift *x = &s->shifts.v[i];
        text_line(v->out, TEXT_PLAIN, " * Change at %s UTC: %s -> %s.",
                  text_cells_time(v, s->start_ns + (int64_t)x->at * s->segment_ns).s,
                  figure(unit, x->before).s, figure(unit, x->after).s);
    }
}

static void put_hosts(const struct text_view *v, const struct statistics_hosts *h,
                      enum unit rate_unit)
{
    enum unit unit = h->by_latency ? UNIT_NS : rate_unit;
    if (h->n == 0)
        return;
    if (h->test.ok)
        text_line(v->out, TEXT_PLAIN,
                  " * Hosts, by %s: %s (up to %.1f%% off, p=%.2g); Jain %.4f, CV %.1f%%.",
                  h->by_latency ? "duration" : "throughput", h->test.reported ? "uneven" : "even",
                  100 * h->test.max_deviation_frac, h->test.p, h->test.jain, 100 * h->test.cv_frac);
    for (size_t k = 0; k < h->n; k++)
        if (h->v[k].outlier)
            text_line(v->out, TEXT_PLAIN, " * Outlier: %s at %s (z=%.1f).", h->v[k].host,
                      figure(unit, h->v[k].value).s, h->v[k].z);
}

static void put_latency_notes(const struct text_view *v, const struct statistics *s)
{
    text_line(v->out, TEXT_PLAIN, " * Threads busy: %.1f%%.", 100 * s->utilisation_frac);
    if (s->duration.n > 0 && !isnan(s->residual_ns[0]))
        text_line(v->out, TEXT_PLAIN,
                  " * A request seen at a random moment has still to run: 50%% %s, 90%% %s, 99%% "
                  "%s.",
                  figure(UNIT_NS, s->residual_ns[0]).s, figure(UNIT_NS, s->residual_ns[1]).s,
                  figure(UNIT_NS, s->residual_ns[2]).s);
}

void text_statistics_co(const struct text_view *v, const struct statistics *s)
{
    if (s != NULL && s->co.interval_ns > 0)
        text_line(v->out, TEXT_PLAIN,
                  " * Corrected for coordinated omission, interval %s: 50%% %s, 90%% %s, 99%% %s, "
                  "99.9%% %s.",
                  units_duration(s->co.interval_ns).s, units_duration(s->co.q_ns[0]).s,
                  units_duration(s->co.q_ns[1]).s, units_duration(s->co.q_ns[2]).s,
                  units_duration(s->co.q_ns[3]).s);
}

void text_statistics_put(const struct text_view *v, const struct statistics *s)
{
    struct text_table t;
    if (s == NULL)
        return;
    text_blank(v->out);
    text_line(v->out, TEXT_HEADING, "95%% confidence, from %zu segments of %s:", s->n_segments,
              units_duration(s->segment_ns).s);
    text_table_init(&t, v->out, "lrll");
    if (s->bytes.present)
        ci_row(&t, "Average", UNIT_BYTES, &s->bytes.mean, stall_note(&s->bytes));
    ci_row(&t, s->bytes.present ? "Average obj/s" : "Average", UNIT_OBJECTS, &s->objects.mean,
           s->bytes.present ? "" : stall_note(&s->objects));
    if (s->bytes.present)
        ci_row(&t, "Median segment", UNIT_BYTES, &s->bytes.median, "");
    else
        ci_row(&t, "Median segment", UNIT_OBJECTS, &s->objects.median, "");
    if (s->n_failed > 0)
        ci_row(&t, "Errors", UNIT_FRACTION, &s->error_rate, "");
    text_table_span(&t, TEXT_FAINT, "   service time, closed loop, %" PRId64 " thread%s",
                    s->concurrency, s->concurrency == 1 ? "" : "s");
    latency_rows(&t, "Duration", &s->duration);
    latency_rows(&t, "TTFB", &s->ttfb);
    text_table_put(&t);
    put_series(v, s);
    put_hosts(v, &s->hosts, s->by_objects ? UNIT_OBJECTS : UNIT_BYTES);
    put_latency_notes(v, s);
}
