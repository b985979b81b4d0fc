#include "loadgen/load/dates.h"

#include "loadgen/util/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct date_bracket *dates_new(size_t n)
{
    struct date_bracket *d = calloc(n, sizeof *d);

    for (size_t i = 0; d != NULL && i < n; i++) {
        d[i].lower_ns = INT64_MIN;
        d[i].upper_ns = INT64_MAX;
    }
    return d;
}

void dates_saw(struct date_bracket *d, int64_t send_ns, int64_t now_ns, const char *text, size_t n)
{
    struct tm tm = {0};

    if (n >= sizeof d->text)
        return;
    if (memcmp(d->text, text, n) == 0 && d->text[n] == '\0') {
        d->last_send_ns = send_ns;
        return;
    }
    /* The old second was still on when the last request that got it was sent. */
    if (d->text[0] != '\0')
        d->upper_ns = clock_earlier(d->upper_ns, d->date_ns + CLOCK_NS_PER_S - d->last_send_ns);
    memcpy(d->text, text, n);
    d->text[n] = '\0';
    const char *end = strptime(d->text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    time_t date_s = end != NULL && *end == '\0' ? timegm(&tm) : -1;
    if (date_s < 0 || date_s >= INT64_MAX / CLOCK_NS_PER_S) {
        d->text[0] = '\0';
        return;
    }
    /* The new one had begun when its answer was here. */
    d->date_ns = date_s * CLOCK_NS_PER_S;
    d->last_send_ns = send_ns;
    int64_t lower_ns = d->date_ns - now_ns;
    d->lower_ns = lower_ns > d->lower_ns ? lower_ns : d->lower_ns;
    d->upper_ns = clock_earlier(d->upper_ns, d->date_ns + CLOCK_NS_PER_S - send_ns);
}
