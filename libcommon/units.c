#include "libcommon/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Parsing ---- */

/* An unsigned decimal number, exact to 18 digits after the point. */
struct decimal {
    uint64_t whole;
    uint64_t fraction; /* numerator over 10^18 */
};

#define FRACTION_SCALE UINT64_C(1000000000000000000)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits[.digits] at *p and moves *p behind them. */
static bool parse_decimal(const char **p, struct decimal *d)
{
    const char *s = *p;
    bool any = false;

    d->whole = d->fraction = 0;
    for (; is_digit(*s); s++, any = true) {
        if (__builtin_mul_overflow(d->whole, 10u, &d->whole) ||
            __builtin_add_overflow(d->whole, (uint64_t)(*s - '0'), &d->whole))
            return false;
    }
    if (*s == '.') {
        uint64_t weight = FRACTION_SCALE;
        for (s++; is_digit(*s); s++, any = true) {
            weight /= 10;
            d->fraction += weight * (uint64_t)(*s - '0');
        }
    }
    *p = s;
    return any;
}

/* Multiplies and rounds down. Returns false if the result does not fit. */
static bool decimal_times(struct decimal d, int64_t unit, int64_t *result)
{
    unsigned __int128 part = (unsigned __int128)d.fraction * (uint64_t)unit / FRACTION_SCALE;
    unsigned __int128 all = (unsigned __int128)d.whole * (uint64_t)unit + part;

    if (all > INT64_MAX)
        return false;
    *result = (int64_t)all;
    return true;
}

bool units_parse_size(const char *text, int64_t *bytes, struct err *e)
{
    static const char prefixes[] = "kmgtpe";
    const char *p = text;
    struct decimal d;

    if (!parse_decimal(&p, &d))
        return err_set(e, "expected a size such as 64KiB or 10MiB");
    bool is_whole = d.fraction == 0;
    if (p[0] == ' ' && p[1])
        p++;
    int64_t unit = 1;
    const char *prefix = *p ? strchr(prefixes, *p | 0x20) : NULL;
    if (prefix) {
        unit = INT64_C(1) << (10 * (prefix - prefixes + 1));
        p++;
        if (strcasecmp(p, "ib") == 0 || strcasecmp(p, "b") == 0)
            p = "";
    } else if (strcasecmp(p, "b") == 0) {
        p = "";
    }
    if (*p || (unit == 1 && !is_whole))
        return err_set(e, "expected a size such as 64KiB or 10MiB");
    if (!decimal_times(d, unit, bytes))
        return err_set(e, "expected a size below 8EiB");
    return true;
}

static bool parse_duration_unit(const char **p, int64_t *unit)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {
        {"ns", 1},         {"us", NS_PER_US},   {"\u00b5s", NS_PER_US}, {"\u03bcs", NS_PER_US},
        {"ms", NS_PER_MS}, {"s", NS_PER_S},     {"m", NS_PER_M},        {"h", NS_PER_H},
        {"d", NS_PER_D},   {"w", 7 * NS_PER_D},
    };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t n = strlen(units[i].name);
        if (strncmp(*p, units[i].name, n) == 0) {
            *p += n;
            *unit = units[i].ns;
            return true;
        }
    }
    return false;
}

bool units_parse_duration(const char *text, bool negative_ok, int64_t *ns, struct err *e)
{
    static const char expected[] = "expected a duration such as 500ms, 10s or 1m30s";
    const char *p = text;
    bool negative = *p == '-';

    if (negative && !negative_ok)
        return err_set(e, "expected a duration that is not negative");
    if (negative || (*p == '+' && negative_ok))
        p++;
    int64_t sum = 0;
    bool first = true;
    do {
        struct decimal d;
        if (!parse_decimal(&p, &d))
            return err_set(e, "%s", expected);
        int64_t unit = NS_PER_S;
        bool is_bare = first && !*p;
        /* A user who means days must not get seconds. */
        if (is_bare && (d.whole > 0 || d.fraction > 0))
            return err_set(e, "expected a unit: %sms, %ss, %sm, %sh or %sd", text, text, text, text,
                           text);
        if (!is_bare && !parse_duration_unit(&p, &unit))
            return err_set(e, "%s", expected);
        int64_t part;
        if (!decimal_times(d, unit, &part) || __builtin_add_overflow(sum, part, &sum))
            return err_set(e, "expected a duration below 292 years");
        first = false;
    } while (*p);
    *ns = negative ? -sum : sum;
    return true;
}

/* Reads the number at the start of `text`, and sets *end to what follows. strtod alone would also
 * take "inf", hexadecimal numbers and leading blanks. */
static bool parse_number(const char *text, double *value, char **end)
{
    const char *p = text + (*text == '-' || *text == '+');
    if (!is_digit(*p) && !(*p == '.' && is_digit(p[1])))
        return false;
    if (p[0] == '0' && (p[1] | 0x20) == 'x')
        return false;
    *value = strtod(text, end);
    return isfinite(*value);
}

bool units_parse_double(const char *text, double *value, struct err *e)
{
    char *end;

    return (parse_number(text, value, &end) && !*end) || err_set(e, "expected a number");
}

bool units_parse_byte_rate(const char *text, double *per_s, struct err *e)
{
    char size[32];
    size_t n = strlen(text);
    int64_t bytes;

    if (n < 2 || n > sizeof size || strcmp(text + n - 2, "/s") != 0)
        return err_set(e, "expected bytes per second such as 100MiB/s");
    snprintf(size, sizeof size, "%.*s", (int)n - 2, text);
    if (!units_parse_size(size, &bytes, e))
        return false;
    *per_s = (double)bytes;
    return true;
}

bool units_parse_pct(const char *text, double *pct, struct err *e)
{
    char *end;
    double v;

    if (!parse_number(text, &v, &end) || (*end && strcmp(end, "%") != 0))
        return err_set(e, "expected a percentage such as 7.5");
    if (v > 0 && v < 0.5 && *end == '\0')
        return err_set(e, "%g %% or %g %%? Write it with its %% sign", v, 100 * v);
    *pct = v;
    return true;
}

bool units_parse_rate(const char *text, double *per_s, struct err *e)
{
    char *end;
    double v;

    if (!parse_number(text, &v, &end) || v < 0)
        return err_set(e, "expected a rate such as 250 or 1.5k");
    if ((*end | 0x20) == 'k' || (*end | 0x20) == 'm') {
        v *= (*end | 0x20) == 'k' ? 1e3 : 1e6;
        end++;
    }
    if (strcmp(end, "/m") == 0)
        v /= 60;
    else if (strcmp(end, "/h") == 0)
        v /= 3600;
    else if (*end && strcmp(end, "/s") != 0)
        return err_set(e, "expected a rate such as 250 or 1.5k");
    if (!isfinite(v))
        return err_set(e, "expected a rate that is finite");
    *per_s = v;
    return true;
}

bool units_parse_int(const char *text, int64_t *value, struct err *e)
{
    const char *p = text + (*text == '-' || *text == '+');
    char *end;

    if (!is_digit(*p))
        return err_set(e, "expected an integer");
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (*end)
        return err_set(e, "expected an integer");
    if (errno == ERANGE)
        return err_set(e, "expected an integer of at most 63 bits");
    *value = v;
    return true;
}

/* ---- Formatting ---- */

static uint64_t round_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b >= b - b / 2);
}

/* Writes sign, value / unit_size with n_decimals decimals, and unit. Drops zeros at the end if the
 * shorter text is exact. Returns false if the number rounds up to `limit`, where the next larger
 * unit begins. */
static bool put_scaled(struct units_text *t, const char *sign, uint64_t value, uint64_t unit_size,
                       int n_decimals, uint64_t limit, const char *unit)
{
    uint64_t scale = 1;
    for (int i = 0; i < n_decimals; i++)
        scale *= 10;
    if (n_decimals > 0 && value % unit_size % (unit_size / scale) == 0) {
        while (n_decimals > 0 && value % unit_size % (unit_size / (scale / 10)) == 0) {
            n_decimals--;
            scale /= 10;
        }
    }
    uint64_t scaled = round_div(value, unit_size / scale);
    if (scaled >= limit * scale)
        return false;
    int n = snprintf(t->s, sizeof t->s, "%s%" PRIu64, sign, scaled / scale);
    if (n_decimals > 0)
        n += snprintf(t->s + n, sizeof t->s - (size_t)n, ".%0*" PRIu64, n_decimals, scaled % scale);
    snprintf(t->s + n, sizeof t->s - (size_t)n, "%s", unit);
    return true;
}

/* Writes "4m59.9s" below an hour, "1h2m3s" from an hour on. Drops zeros at the end if the shorter
 * text is exact. */
static void put_long_duration(struct units_text *t, const char *sign, uint64_t ns)
{
    uint64_t tenths = round_div(ns, NS_PER_S / 10);
    if (tenths >= 36000)
        tenths = round_div(ns, NS_PER_S) * 10;
    uint64_t h = tenths / 36000;
    uint64_t m = tenths / 600 % 60;
    uint64_t s = tenths / 10 % 60;
    bool is_exact = ns % (uint64_t)(NS_PER_S / 10) == 0;
    int n = snprintf(t->s, sizeof t->s, "%s", sign);
    if (h > 0)
        n += snprintf(t->s + n, sizeof t->s - (size_t)n, "%" PRIu64 "h", h);
    bool is_whole_minute = ns % (uint64_t)NS_PER_M == 0;
    if (h == 0 || m > 0 || !is_whole_minute)
        n += snprintf(t->s + n, sizeof t->s - (size_t)n, "%" PRIu64 "m", m);
    if (is_whole_minute)
        return;
    n += snprintf(t->s + n, sizeof t->s - (size_t)n, "%" PRIu64, s);
    if (h == 0 && (tenths % 10 > 0 || !is_exact))
        n += snprintf(t->s + n, sizeof t->s - (size_t)n, ".%" PRIu64, tenths % 10);
    snprintf(t->s + n, sizeof t->s - (size_t)n, "s");
}

struct units_text units_format(const char *fmt, ...)
{
    struct units_text t;
    va_list args;

    va_start(args, fmt);
    vsnprintf(t.s, sizeof t.s, fmt, args);
    va_end(args);
    return t;
}

struct units_text units_duration(int64_t ns)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{1, "ns"}, {NS_PER_US, "us"}, {NS_PER_MS, "ms"}, {NS_PER_S, "s"}};
    struct units_text t = {"0s"};
    uint64_t v = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    const char *sign = ns < 0 ? "-" : "";
    if (v == 0)
        return t;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        uint64_t unit = units[i].ns;
        uint64_t limit = unit == NS_PER_S ? 60 : 1000;
        int n_decimals = unit == 1 || v >= 100 * unit ? 0 : v >= 10 * unit ? 1 : 2;

        /* 9.996 needs one decimal less: it becomes 10.0. */
        if (n_decimals == 2 && round_div(v, unit / 100) >= 1000)
            n_decimals = 1;
        else if (n_decimals == 1 && round_div(v, unit / 10) >= 1000)
            n_decimals = 0;
        if (v < limit * unit && put_scaled(&t, sign, v, unit, n_decimals, limit, units[i].name))
            return t;
    }
    put_long_duration(&t, sign, v);
    return t;
}

/* Returns how many decimals give three significant digits, at least one. */
static int decimals_for(double v)
{
    return fabs(v) < 9.995 ? 2 : 1;
}

/* Drops zeros at the end of whole sizes, which are exact. A whole rate is chance, so it keeps them
 * from 1 KiB/s on. */
static struct units_text binary(double bytes, bool is_rate)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double v = fabs(bytes);
    size_t i = 0;

    /* 1023.95 would be printed as 1024.0. */
    for (; i + 1 < sizeof names / sizeof names[0] && v >= 1023.95; i++)
        v /= 1024;
    const char *sign = bytes < 0 ? "-" : "";
    const char *suffix = is_rate ? "/s" : "";
    if (v == floor(v) && v < 1e9 && (!is_rate || i == 0))
        return units_format("%s%.0f%s%s", sign, v, names[i], suffix);
    if (v < 0.995)
        return units_format("%s%.3g%s%s", sign, v, names[i], suffix);
    return units_format("%s%.*f%s%s", sign, decimals_for(v), v, names[i], suffix);
}

struct units_text units_real_duration(double ns)
{
    if (isnan(ns))
        return (struct units_text){"-"};
    return units_duration(ns >= 0x1p63 ? INT64_MAX : ns < -0x1p63 ? INT64_MIN : (int64_t)round(ns));
}

struct units_text units_bounds(double least_ns, double most_ns)
{
    const struct units_text least = units_real_duration(least_ns),
                            most = units_real_duration(most_ns);
    const char *unit = least.s + strspn(least.s, "0123456789.");

    if (isinf(most_ns))
        return units_format("%s and more (bounds)", least.s);
    if (strcmp(least.s, most.s) == 0)
        return least;
    if (strcmp(unit, most.s + strspn(most.s, "0123456789.")) != 0)
        return units_format("%s to %s (bounds)", least.s, most.s);
    return units_format("%.*s to %s (bounds)", (int)(unit - least.s), least.s, most.s);
}

struct units_text units_size(double bytes)
{
    return binary(bytes, false);
}

struct units_text units_byte_rate(double bytes_per_s)
{
    return binary(bytes_per_s, true);
}

struct units_text units_rate(double per_s)
{
    double v = fabs(per_s);

    if (v == 0)
        return units_format("0");
    if (v < 0.995)
        return units_format("%.3g", per_s);
    return units_format(v < 1e15 ? "%.*f" : "%.*e", v < 99.95 ? 2 : 1, per_s);
}

static struct units_text rate_of(double value, const char *unit)
{
    return units_format("%s%s", units_rate(value).s, unit);
}

struct units_text units_object_rate(double per_s)
{
    return rate_of(per_s, " obj/s");
}

struct units_text units_pct(double pct)
{
    return rate_of(pct, " %");
}

struct units_text units_frac_cell(double frac)
{
    return rate_of(100 * frac, "%");
}

struct units_text units_change(double change)
{
    return units_change_to(change, fabs(change) < 9.995 ? 2 : fabs(change) < 99.95);
}

struct units_text units_change_to(double change, int n_decimals)
{
    struct units_text t = units_format("%+.*f", n_decimals, change);

    if (t.s[strspn(t.s, "-0.")] == '\0')
        t.s[0] = '+';
    return t;
}

struct units_text units_count(int64_t n)
{
    struct units_text t;
    char digits[24];
    int n_digits = snprintf(digits, sizeof digits, "%" PRIu64, n < 0 ? -(uint64_t)n : (uint64_t)n);
    char *out = t.s;

    if (n < 0)
        *out++ = '-';
    for (int i = 0; i < n_digits; i++) {
        if (i > 0 && (n_digits - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return t;
}

struct units_text units_counted(int64_t n, const char *noun)
{
    return units_format("%.30s %.15s%s", units_count(n).s, noun, n == 1 ? "" : "s");
}
