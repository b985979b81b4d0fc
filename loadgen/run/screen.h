/* What a run shows while it lasts: on standard error, and unless it is asked for only on a
 * terminal. */
#ifndef S3_LOADGEN_RUN_SCREEN_H
#define S3_LOADGEN_RUN_SCREEN_H

#include "loadgen/load/recorder.h"

#include <stdbool.h>
#include <stdint.h>

struct screen {
    bool enabled;
    int64_t start_ns;
    int64_t next_ns; /* when the next line is due */
    bool bar_shown;
    unsigned n_lines;
};

void screen_init(struct screen *s, bool quiet, bool asked);

/* A new part of the run begins; what a line tells of comes so much later. */
void screen_begin(struct screen *s, int64_t now_ns, int64_t lag_ns);

/* A bar: n_done of n_total (0: not known), n_bytes in all, are done. */
void screen_bar(struct screen *s, int64_t now_ns, const char *what, uint64_t n_done,
                uint64_t n_total, double n_bytes);
void screen_end_bar(struct screen *s);

/* Whether the second that ends at *next_ns is over; sets the end of the next one then. */
bool screen_is_second(int64_t *next_ns, int64_t now_ns);

/* The line of a second. */
void screen_line(struct screen *s, int64_t now_ns, const struct recorder_tick *tick,
                 unsigned n_running, double cpu_pct, const char *autoterm);

#endif
