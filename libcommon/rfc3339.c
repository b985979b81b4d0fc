#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <string.h>

#define S_PER_DAY   INT64_C(86400)
#define EPOCH_YEAR  1970
#define EPOCH_DAYS  719162 /* from 0001-01-01 to 1970-01-01 */
#define DATE_LENGTH 19     /* YYYY-MM-DDThh:mm:ss */

/* Days of a year before month m (1..12; 13: the year's length). */
static const int16_t days_before_month[2][14] = {
    {0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365},
    {0, 0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366},
};

static bool is_leap(unsigned year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days from the epoch to the first day of `year`: 365 for each year, one more for each leap year
 * before it in the Gregorian calendar. */
static int64_t days_before_year(unsigned year)
{
    unsigned y = year - 1;
    return (int64_t)(365 * y + y / 4 - y / 100 + y / 400) - EPOCH_DAYS;
}

/* Returns the value of a digit. Sets *bad if it is none, so that one test covers many digits. */
static inline unsigned digit(const char *p, unsigned *bad)
{
    unsigned d = (unsigned)(unsigned char)*p - '0';
    *bad |= d > 9;
    return d;
}

static inline unsigned two_digits(const char *p, unsigned *bad)
{
    return 10 * digit(p, bad) + digit(p + 1, bad);
}

bool rfc3339_parse(const char *text, size_t n, int64_t *ns)
{
    if (n < DATE_LENGTH + 1)
        return false;
    unsigned bad = 0;
    unsigned year = 100 * two_digits(text, &bad) + two_digits(text + 2, &bad);
    unsigned month = two_digits(text + 5, &bad);
    unsigned day = two_digits(text + 8, &bad);
    unsigned hour = two_digits(text + 11, &bad);
    unsigned minute = two_digits(text + 14, &bad);
    unsigned second = two_digits(text + 17, &bad);
    bad |=
        text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':';
    /* Allow one year more on either side: the offset may bring it back into the range. */
    if (bad || year < EPOCH_YEAR - 1 || year > 2263 || month < 1 || month > 12 || hour > 23 ||
        minute > 59 || second > 59)
        return false;
    const int16_t *before = days_before_month[is_leap(year)];
    if (day < 1 || (int)day > before[month + 1] - before[month])
        return false;

    const char *p = text + DATE_LENGTH;
    const char *end = text + n;
    unsigned fraction = 0;
    if (*p == '.') {
        p++;
        int n_digits = 0;
        for (; p < end && (unsigned)(unsigned char)*p - '0' <= 9; p++, n_digits++) {
            if (n_digits == 9)
                return false;
            fraction = 10 * fraction + (unsigned)(*p - '0');
        }
        if (n_digits == 0)
            return false;
        for (; n_digits < 9; n_digits++)
            fraction *= 10;
    }

    int64_t offset_s = 0;
    if (end - p == 6 && (*p == '+' || *p == '-')) {
        unsigned h = two_digits(p + 1, &bad);
        unsigned m = two_digits(p + 4, &bad);

        if (bad || p[3] != ':' || h > 23 || m > 59)
            return false;
        offset_s = (int64_t)(60 * h + m) * (*p == '-' ? -60 : 60);
    } else if (end - p != 1 || *p != 'Z') {
        return false;
    }

    int64_t days = days_before_year(year) + before[month] + (int64_t)day - 1;
    int64_t s = days * S_PER_DAY + (int64_t)(3600 * hour + 60 * minute + second) - offset_s;
    if (s < 0 || s > INT64_MAX / NS_PER_S)
        return false;
    int64_t result;
    if (__builtin_add_overflow(s * NS_PER_S, (int64_t)fraction, &result))
        return false;
    *ns = result;
    return true;
}

static char *put_digits(char *out, unsigned value, int n)
{
    for (int i = n - 1; i >= 0; i--) {
        out[i] = (char)('0' + value % 10);
        value /= 10;
    }
    return out + n;
}

char *rfc3339_put(char *out, int64_t ns)
{
    /* Rounded down: a segment may begin before 1970. */
    int64_t s = ns / NS_PER_S - (ns % NS_PER_S < 0);
    int64_t days = s / S_PER_DAY - (s % S_PER_DAY < 0);
    unsigned second_of_day = (unsigned)(s - days * S_PER_DAY);

    /* 146097 days are 400 years; the estimate is off by one at most. */
    unsigned year = EPOCH_YEAR + (unsigned)(days * 400 / 146097);
    if (days_before_year(year + 1) <= days)
        year++;
    else if (days_before_year(year) > days)
        year--;
    int day_of_year = (int)(days - days_before_year(year));
    const int16_t *before = days_before_month[is_leap(year)];
    unsigned month = 1 + (unsigned)day_of_year / 31;
    if (before[month + 1] <= day_of_year)
        month++;

    out = put_digits(out, year, 4);
    *out++ = '-';
    out = put_digits(out, month, 2);
    *out++ = '-';
    out = put_digits(out, (unsigned)(day_of_year - before[month]) + 1, 2);
    *out++ = 'T';
    out = put_digits(out, second_of_day / 3600, 2);
    *out++ = ':';
    out = put_digits(out, second_of_day / 60 % 60, 2);
    *out++ = ':';
    out = put_digits(out, second_of_day % 60, 2);
    *out++ = '.';
    out = put_digits(out, (unsigned)((ns % NS_PER_S + NS_PER_S) % NS_PER_S), 9);
    *out++ = 'Z';
    return out;
}

struct rfc3339_text rfc3339_format(int64_t ns)
{
    struct rfc3339_text t;
    *rfc3339_put(t.s, ns) = '\0';
    return t;
}

struct rfc3339_text rfc3339_moment(int64_t ns)
{
    struct rfc3339_text t = rfc3339_format(ns);
    memcpy(t.s + 23, "Z", 2);
    return t;
}
