#include "analyze/tools/profile/profile_internal.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Units of one dimension follow each other, from small to large. */
static const struct unit {
    const char *name, *aliases[3];
    double factor;
    enum { BYTES, TIME } of;
} units[] = {
    {"B", {"b", "byte"}, 1, BYTES},
    {"kB", {"kb", "kbyte", "kilobyte"}, 1024., BYTES},
    {"MB", {"mb", "mbyte", "megabyte"}, 1048576., BYTES},
    {"GB", {"gb", "gbyte", "gigabyte"}, 1073741824., BYTES},
    {"TB", {"tb", "tbyte", "terabyte"}, 1099511627776., BYTES},
    {"PB", {"pb", "pbyte", "petabyte"}, 1125899906842624., BYTES},
    {"ns", {"ns", "nanosecond"}, 1, TIME},
    {"us", {"us", "microsecond"}, 1e3, TIME},
    {"ms", {"ms", "millisecond"}, 1e6, TIME},
    {"s", {"s", "sec", "second"}, 1e9, TIME},
    {"hrs", {"hour", "hr"}, 3600e9, TIME},
};
#define N_UNITS (sizeof units / sizeof *units)

/* Units for values below the smallest unit of a dimension. */
static const struct unit defaults[] = {{.name = "B", .factor = 1}, {.name = "s", .factor = 1e9}};

/* Finds a unit by its name in the singular or plural, in any case. */
static const struct unit *find(const char *name)
{
    size_t n = strlen(name);

    if (n > 2 && (name[n - 1] == 's' || name[n - 1] == 'S'))
        n--;
    for (size_t i = 0; i < N_UNITS; i++)
        for (size_t k = 0; k < 3 && units[i].aliases[k] != NULL; k++)
            if (strlen(units[i].aliases[k]) == n && strncasecmp(units[i].aliases[k], name, n) == 0)
                return &units[i];
    return NULL;
}

static const struct unit *largest_fitting(double value, int dimension)
{
    const struct unit *best = NULL;

    for (size_t i = 0; i < N_UNITS; i++)
        if ((int)units[i].of == dimension && value / units[i].factor >= 1)
            best = &units[i];
    return best;
}

static bool is_any(const char *to)
{
    return strcmp(to, "minimum") == 0 || strcmp(to, "auto") == 0;
}

struct profile_scaled profile_scale(int64_t value, const char *from, const char *to)
{
    const struct unit *unit = find(from), *target;
    double v = fabs((double)value);

    if (unit != NULL) {
        v *= unit->factor;
        target = is_any(to) ? largest_fitting(v, unit->of) : find(to);
        if (target == NULL || target->of != unit->of)
            target = &defaults[unit->of];
        v /= target->factor;
        to = target->name;
    } else if (is_any(to) || strcmp(to, "count") == 0 || strcmp(to, "sample") == 0 ||
               strcmp(to, "unit") == 0) {
        to = "";
    }
    return (struct profile_scaled){value < 0 ? -v : v, to};
}

struct profile_text profile_format(int64_t value, const char *from, const char *to)
{
    struct profile_scaled x = profile_scale(value, from, to);
    struct profile_text t;
    int n = snprintf(t.s, sizeof t.s, "%.2f", x.value);

    if (n > 3 && strcmp(t.s + n - 3, ".00") == 0)
        t.s[n -= 3] = '\0';
    if (strcmp(t.s, "0") == 0 || strcmp(t.s, "-0") == 0)
        return (struct profile_text){"0"};
    snprintf(t.s + n, sizeof t.s - (size_t)n, "%s", x.unit);
    return t;
}

struct profile_text profile_pct(int64_t value, int64_t total)
{
    double pct = total != 0 ? fabs((double)value / (double)total) * 100 : 0;
    struct profile_text t = {"  100%"};

    if (pct < 99.95 || pct > 100.05)
        snprintf(t.s, sizeof t.s, pct >= 1 ? "%5.2f%%" : "%5.2g%%", pct);
    return t;
}
