/* Bounds for the clocks of servers, from their Date headers. */
#ifndef S3_LOADGEN_LOAD_DATES_H
#define S3_LOADGEN_LOAD_DATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The clock of a host is ahead of ours by more than lower_ns and less than upper_ns. This holds for
 * servers that make each Date when they send it. */
struct date_bracket {
    char text[32];        /* the latest Date */
    int64_t date_ns;      /* the time it gives */
    bool ticks;           /* two Dates in a row were one second apart */
    int64_t last_send_ns; /* when the last request with this Date was sent, wall clock */
    int64_t lower_ns, upper_ns, at_ns; /* the bounds, and the time they are for, wall clock */
};

/* Makes n brackets without any bounds; the caller frees them. NULL: out of memory. */
struct date_bracket *dates_new(size_t n);

/* Takes a Date that was read at now_ns, in the answer to a request sent at send_ns (wall clock). */
void dates_saw(struct date_bracket *d, int64_t send_ns, int64_t now_ns, const char *text, size_t n);

/* Adds what another loop knows about the same clock. */
void dates_join(struct date_bracket *all, const struct date_bracket *d);

/* Finishes the bounds. If a server's Date was not seen to tick, it may be old, so its upper bound
 * is raised. Returns false if nothing is known, or if the bounds contradict each other, as old
 * Dates can make them. */
bool dates_tell(struct date_bracket *d);

#endif
