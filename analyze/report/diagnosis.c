#include "analyze/report/diagnosis.h"

#include "analyze/report/figures.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static void __attribute__((format(printf, 2, 3)))
say(const struct diagnosis *d, const char *fmt, ...)
{
    char sentence[1024]; /* longer names of hosts are cut */
    va_list args;

    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    d->say(d->ctx, sentence);
}

static void put_series(const struct diagnosis *d, const struct statistics *s)
{
    struct units_text (*rate)(double) = s->by_objects ? units_object_rate : units_byte_rate;
    const struct statistics_rate *series = s->by_objects ? &s->objects : &s->bytes;

    if (s->cut_ns > 0)
        say(d, "Warm-up: %s left out.", units_duration(s->cut_ns).s);
    if (!s->warmup.steady && s->n_segments >= STATS_MIN_SEGMENTS)
        say(d, "No steady state was reached.");
    else if (s->warmup.n_cut > 0)
        say(d, "Warm-up: the first %s; %s after it.",
            units_duration((int64_t)s->warmup.n_cut * s->segment_ns).s,
            rate(s->warmup.mean_rest).s);
    else if (s->cut_ns == 0)
        say(d, "No warm-up was found.");
    if (s->drift.reported)
        say(d, "Drift: %+.1f %% from start to end (p=%.2g).", 100 * s->drift.change_frac,
            s->drift.p);
    for (size_t i = 0; i < s->shifts.n; i++) {
        const struct stats_shift *x = &s->shifts.v[i];
        int64_t at_ns = s->start_ns + (int64_t)x->at * s->segment_ns;

        say(d, "Change at %s UTC: %s -> %s.", figures_time(d->has_dates, at_ns).s,
            rate(x->before).s, rate(x->after).s);
    }
    if (series->n_stalls > 0)
        say(d, "Stalls, below half of the median segment: %zu.", series->n_stalls);
}

static void put_hosts(const struct diagnosis *d, const struct statistics *s)
{
    const struct statistics_hosts *h = &s->hosts;
    struct units_text (*text)(double) = h->by_latency   ? units_real_duration
                                        : s->by_objects ? units_object_rate
                                                        : units_byte_rate;

    if (h->n > 0 && h->test.ok)
        say(d, "Hosts, by %s: %s (up to %.1f %% off, p=%.2g); CV %.1f %%.",
            h->by_latency ? "duration" : "throughput", h->test.reported ? "uneven" : "even",
            100 * h->test.max_deviation_frac, h->test.p, 100 * h->test.cv_frac);
    /* Of many even hosts some are off by chance. */
    for (size_t k = 0; h->test.reported && k < h->n; k++)
        if (h->v[k].outlier)
            say(d, "Outlier: %s at %s (z=%.1f).", h->v[k].host, text(h->v[k].value).s, h->v[k].z);
}

void diagnosis_put(const struct diagnosis *d, const struct statistics *s)
{
    put_series(d, s);
    put_hosts(d, s);
    say(d, "%s, busy %.1f %% of the time.", units_counted(s->concurrency, "thread").s,
        100 * s->utilisation_frac);
}

void diagnosis_put_co(const struct diagnosis *d, const struct statistics *s)
{
    if (s != NULL && s->co.interval_ns > 0)
        say(d,
            "Corrected for coordinated omission, interval %s: 50%% %s, 90%% %s, 99%% %s, 99.9%% "
            "%s.",
            units_duration(s->co.interval_ns).s, units_duration(s->co.q_ns[0]).s,
            units_duration(s->co.q_ns[1]).s, units_duration(s->co.q_ns[2]).s,
            units_duration(s->co.q_ns[3]).s);
}
