#include "analyze/base/progress.h"

#include "libcommon/units.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS (500 * NS_PER_MS) /* work shorter than this needs no bar */
#define INTERVAL_NS (100 * NS_PER_MS)
#define BAR_WIDTH   30

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

void progress_init(struct progress *p, bool quiet)
{
    *p = (struct progress){.enabled = !quiet && isatty(STDERR_FILENO), .start_ns = now_ns()};
}

void progress_update(void *ctx, uint64_t n_done, uint64_t n_total)
{
    static const char full[] = "##############################";
    struct progress *p = ctx;

    if (!p->enabled)
        return;
    int64_t now = now_ns();
    if (now - p->start_ns < PATIENCE_NS || now - p->last_ns < INTERVAL_NS)
        return;
    p->last_ns = now;
    p->shown = true;
    if (n_total == 0) {
        fprintf(stderr, "\r\033[KReading: %s", units_size((double)n_done).s);
        return;
    }
    double share = n_done < n_total ? (double)n_done / (double)n_total : 1;
    fprintf(stderr, "\r\033[KReading [%-*.*s] %3.0f %% of %s", BAR_WIDTH, (int)(share * BAR_WIDTH),
            full, 100 * share, units_size((double)n_total).s);
}

void progress_fini(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
