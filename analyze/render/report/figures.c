#include "analyze/render/report/figures.h"

#include "libcommon/rfc3339.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct units_text figures_clock(int64_t ns)
{
    return units_format("%.12s", rfc3339_format(ns).s + 11);
}

struct units_text figures_moment(int64_t ns)
{
    return units_format("%.10s %s", rfc3339_format(ns).s, figures_clock(ns).s);
}

struct units_text figures_time(bool has_dates, int64_t ns)
{
    return has_dates ? figures_moment(ns) : figures_clock(ns);
}

struct figures_run figures_run(int64_t n_requests, int64_t start_ns, int64_t duration_ns)
{
    struct figures_run t;
    snprintf(t.s, sizeof t.s, "%s in %s from %.19s UTC", units_counted(n_requests, "request").s,
             units_duration(duration_ns).s, figures_moment(start_ns).s);
    return t;
}

const char *figures_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

struct units_text figures_ms(double ms)
{
    return units_real_duration(ms * 1e6);
}

struct units_text figures_field(const struct field *x, const void *group)
{
    double value = field_real(x, group);

    if (!field_is_known(x, group) || isnan(value))
        return (struct units_text){"-"};
    switch (x->unit) {
    case FIELD_COUNT:
        return units_count(field_integer(x, group));
    case FIELD_BYTES:
        return units_size(value);
    case FIELD_BYTES_PER_S:
        return units_byte_rate(value);
    case FIELD_NS:
        break;
    }
    return x->is_real ? units_real_duration(value) : units_duration(field_integer(x, group));
}

struct units_text figures_bucket(const struct size_bucket *b)
{
    struct units_text from = units_size((double)b->min_bytes);

    return b->max_bytes < 0 ? units_format("%s up", from.s)
                            : units_format("%s -> %s", from.s, units_size((double)b->max_bytes).s);
}

struct units_text figures_rate_like(double bytes_per_s, double largest)
{
    struct units_text t = units_byte_rate(largest);
    /* A rate far below a byte is written with an exponent. */
    const char *unit = t.s + strcspn(t.s, "BKMGTPE");
    struct units_text like;
    double scale = 1;
    /* The first letter of the unit gives its scale. */
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
