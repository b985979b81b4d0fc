#include "analyze/report/figures.h"

#include "libcommon/rfc3339.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const figures_names[N_FIGURES] = {
    [FIGURE_N] = "Considered", [FIGURE_SIZE] = "Avg size",   [FIGURE_TIME] = "Avg time",
    [FIGURE_MEAN] = "Avg",     [FIGURE_FASTEST] = "Fastest", [FIGURE_P25] = "25%",
    [FIGURE_P50] = "50%",      [FIGURE_P75] = "75%",         [FIGURE_P90] = "90%",
    [FIGURE_P99] = "99%",      [FIGURE_SLOWEST] = "Slowest", [FIGURE_STDDEV] = "StdDev",
};

const enum figure figures_times[] = {FIGURE_N,       FIGURE_MEAN,   FIGURE_FASTEST, FIGURE_P25,
                                     FIGURE_P50,     FIGURE_P75,    FIGURE_P90,     FIGURE_P99,
                                     FIGURE_SLOWEST, FIGURE_STDDEV, N_FIGURES};

struct units_text figures_clock(int64_t ns)
{
    struct units_text t;
    snprintf(t.s, sizeof t.s, "%.12s", rfc3339_format(ns).s + 11);
    return t;
}

struct units_text figures_moment(int64_t ns)
{
    struct units_text t;
    snprintf(t.s, sizeof t.s, "%.10s %.12s", rfc3339_format(ns).s, figures_clock(ns).s);
    return t;
}

struct units_text figures_time(bool has_dates, int64_t ns)
{
    return has_dates ? figures_moment(ns) : figures_clock(ns);
}

struct figures_run figures_run(int64_t n_requests, int64_t start_ns, int64_t duration_ns)
{
    struct figures_run t;
    snprintf(t.s, sizeof t.s, "%s in %s from %.19s UTC", figures_counted(n_requests, "request").s,
             units_duration(duration_ns).s, figures_moment(start_ns).s);
    return t;
}

const char *figures_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

struct units_text figures_counted(int64_t n, const char *noun)
{
    struct units_text t;
    snprintf(t.s, sizeof t.s, "%.30s %.15s%s", units_count(n).s, noun, n == 1 ? "" : "s");
    return t;
}

struct units_text figures_ns(double ns)
{
    return isnan(ns) ? (struct units_text){"-"} : units_duration((int64_t)round(ns));
}

struct units_text figures_ms(double ms)
{
    return figures_ns(ms * 1e6);
}

struct figures figures_of_times(const struct times *t)
{
    return (struct figures){
        .present = t->present,
        .n = t->n,
        .v = {[FIGURE_MEAN] = figures_ns(t->mean_ns),
              [FIGURE_FASTEST] = units_duration(t->fastest_ns),
              [FIGURE_P25] = units_duration(t->p25_ns),
              [FIGURE_P50] = units_duration(t->p50_ns),
              [FIGURE_P75] = units_duration(t->p75_ns),
              [FIGURE_P90] = units_duration(t->p90_ns),
              [FIGURE_P99] = units_duration(t->p99_ns),
              [FIGURE_SLOWEST] = units_duration(t->slowest_ns),
              [FIGURE_STDDEV] = figures_ns(t->stddev_ns)},
    };
}

static struct units_text rate(const struct sized *s, double bytes_per_s)
{
    return s->rated ? units_byte_rate(bytes_per_s) : (struct units_text){"-"};
}

struct figures figures_of_sized(const struct sized *s)
{
    return (struct figures){
        .present = s->present,
        .n = s->n,
        .n_unrated = s->n_unrated,
        .v = {[FIGURE_SIZE] = units_size(s->mean_bytes),
              [FIGURE_TIME] = figures_ns(s->mean_ns),
              [FIGURE_MEAN] = rate(s, s->mean_bytes_per_s),
              [FIGURE_FASTEST] = rate(s, s->fastest_bytes_per_s),
              [FIGURE_P50] = rate(s, s->p50_bytes_per_s),
              [FIGURE_P90] = rate(s, s->p90_bytes_per_s),
              [FIGURE_P99] = rate(s, s->p99_bytes_per_s),
              [FIGURE_SLOWEST] = rate(s, s->slowest_bytes_per_s)},
    };
}

struct units_text figures_bucket(const struct size_bucket *b)
{
    struct units_text t;
    if (b->max_bytes < 0)
        snprintf(t.s, sizeof t.s, "%.16s up", units_size((double)b->min_bytes).s);
    else
        snprintf(t.s, sizeof t.s, "%.16s -> %.16s", units_size((double)b->min_bytes).s,
                 units_size((double)b->max_bytes).s);
    return t;
}

struct units_text figures_rate_like(double bytes_per_s, double largest)
{
    struct units_text t = units_byte_rate(largest);
    /* A rate far below a byte is written with an exponent. */
    const char *unit = t.s + strcspn(t.s, "BKMGTPE");
    struct units_text like;
    double scale = 1;
    /* The unit's first letter, as far as it is a prefix. */
    for (const char *c = "BKMGTPE"; *c && *c != *unit; c++)
        scale *= 1024;
    double v = bytes_per_s / scale;
    int n_decimals = v < 9.995 ? 2 : 1;
    if (v < 0.995)
        snprintf(like.s, sizeof like.s, "%.3g%s", v, unit);
    else
        snprintf(like.s, sizeof like.s, "%.*f%s", n_decimals, v, unit);
    return like;
}
