#include "loadgen/run/screen.h"

#include "libcommon/units.h"
#include "loadgen/util/clock.h"

#include <stdio.h>
#include <unistd.h>

#define BAR_WIDTH     30
#define HEADING_EVERY 20 /* lines */

void screen_init(struct screen *s, bool quiet, bool asked)
{
    *s = (struct screen){.enabled = !quiet && (asked || isatty(STDERR_FILENO))};
}

void screen_begin(struct screen *s, int64_t now_ns, int64_t lag_ns)
{
    s->start_ns = now_ns;
    s->next_ns = now_ns + lag_ns + CLOCK_NS_PER_S;
}

void screen_bar(struct screen *s, int64_t now_ns, const char *what, uint64_t n_done,
                uint64_t n_total, double n_bytes)
{
    static const char full[] = "##############################";

    if (!s->enabled)
        return;
    double seconds = (double)(now_ns - s->start_ns) / (double)CLOCK_NS_PER_S;
    if (n_total == 0) {
        fprintf(stderr, "\r\033[K%s: %s", what, units_count((int64_t)n_done).s);
    } else {
        double share = (double)n_done / (double)n_total;
        fprintf(stderr, "\r\033[K%s [%-*.*s] %3.0f%% of %s (%s), %.0fs", what, BAR_WIDTH,
                (int)(share * BAR_WIDTH), full, 100 * share, units_count((int64_t)n_total).s,
                units_size(n_bytes).s, seconds);
    }
    s->bar_shown = true;
}

void screen_end_bar(struct screen *s)
{
    if (s->bar_shown)
        fputs("\r\033[K", stderr);
    s->bar_shown = false;
}

bool screen_is_second(int64_t *next_ns, int64_t now_ns)
{
    if (now_ns < *next_ns)
        return false;
    *next_ns += CLOCK_NS_PER_S;
    if (*next_ns <= now_ns)
        *next_ns = now_ns + CLOCK_NS_PER_S;
    return true;
}

void screen_line(struct screen *s, int64_t now_ns, const struct recorder_tick *tick,
                 unsigned n_running, double cpu_pct, const char *autoterm)
{
    const struct units_text p50 = units_duration(tick->p50_ns), p99 = units_duration(tick->p99_ns);
    bool known = tick->p50_ns > 0;

    if (!s->enabled)
        return;
    if (s->n_lines++ % HEADING_EVERY == 0)
        fprintf(stderr, "%7s  %11s  %9s  %6s  %7s  %7s  %6s  %4s\n", "time", "throughput", "obj/s",
                "failed", "50%", "99%", "active", "CPU");
    fprintf(stderr, "%6.0fs  %11s  %9s  %6s  %7s  %7s  %6u  %3.0f%%",
            (double)(now_ns - s->start_ns) / 1e9, units_byte_rate((double)tick->counts.n_bytes).s,
            units_rate((double)tick->counts.n_objects).s,
            units_count((int64_t)tick->counts.n_errors).s, known ? p50.s : "-", known ? p99.s : "-",
            n_running, cpu_pct);
    fprintf(stderr, "%s%s\n", *autoterm != '\0' ? " " : "", autoterm);
}
