#include "loadgen/load/load.h"

#include <string.h>
#include <time.h>

#define UNKNOWN_NS (INT64_MAX / 2)

/* Well-kept clocks drift apart by at most 1 / DRIFT_PARTS: 500 ppm. */
#define DRIFT_PARTS 2000

/* Many servers make a Date only now and then, and send it until it is this old. */
#define CACHED_NS (5 * NS_PER_S)

/* Narrows the bounds by bounds known at at_ns. The older of the two are first widened by the
 * clocks' drift since then. */
static void take(struct date_bracket *d, int64_t lower_ns, int64_t upper_ns, int64_t at_ns)
{
    if (d->at_ns == 0) {
        d->lower_ns = -UNKNOWN_NS;
        d->upper_ns = UNKNOWN_NS;
    }
    int64_t drift_ns = (at_ns - d->at_ns) / DRIFT_PARTS;
    int64_t old_ns = int64_max(drift_ns, 0);
    int64_t new_ns = old_ns - drift_ns;
    d->lower_ns = -int64_min(old_ns - d->lower_ns, new_ns - lower_ns);
    d->upper_ns = int64_min(d->upper_ns + old_ns, upper_ns + new_ns);
    d->at_ns += drift_ns > 0 ? at_ns - d->at_ns : 0;
}

void dates_join(struct date_bracket *all, const struct date_bracket *d)
{
    if (d->at_ns != 0)
        take(all, d->lower_ns, d->upper_ns, d->at_ns);
    all->ticks |= d->ticks;
}

bool dates_settle(struct date_bracket *d)
{
    bool holds = d->at_ns != 0 && d->lower_ns > -UNKNOWN_NS / 2 && d->lower_ns <= d->upper_ns;

    d->upper_ns += d->ticks ? 0 : CACHED_NS;
    return holds;
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
    /* When the last request with the old Date was sent, the second of that Date was not yet
     * over. */
    if (d->text[0] != '\0')
        take(d, -UNKNOWN_NS, d->date_ns + NS_PER_S - d->last_send_ns, d->last_send_ns);
    memcpy(d->text, text, n);
    d->text[n] = '\0';
    const char *end = strptime(d->text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    time_t date_s = end != NULL && *end == '\0' ? timegm(&tm) : -1;
    if (date_s < 0 || date_s >= INT64_MAX / NS_PER_S) {
        d->text[0] = '\0';
        return;
    }
    /* This answer arrived after the second of the new Date had begun. */
    d->ticks |= date_s * NS_PER_S == d->date_ns + NS_PER_S;
    d->date_ns = date_s * NS_PER_S;
    d->last_send_ns = send_ns;
    take(d, d->date_ns - now_ns, d->date_ns + NS_PER_S - send_ns, now_ns);
}
