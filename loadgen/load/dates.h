/* Bounds for the clocks of servers, from their Date headers. */
#ifndef S3_LOADGEN_LOAD_DATES_H
#define S3_LOADGEN_LOAD_DATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bounds for a host's clock: it is ahead of ours by more than lower_ns and less than upper_ns. This
 * is true for servers that make each Date when they send it. */
struct date_bracket {
    char text[32];        /* the latest Date */
    int64_t date_ns;      /* time of the latest Date */
    bool ticks;           /* two Dates in a row were one second apart */
    int64_t last_send_ns; /* when the last request with this Date was sent, wall clock */
    int64_t lower_ns, upper_ns, at_ns; /* the bounds, and the time they are for, wall clock */
};

/* Makes n brackets without any bounds; the caller frees them. NULL: out of memory. */
struct date_bracket *dates_new(size_t n);

/* Takes into account a Date that was read at now_ns, in the answer to a request sent at send_ns
 * (wall clock). */
void dates_saw(struct date_bracket *d, int64_t send_ns, int64_t now_ns, const char *text, size_t n);

/* Narrows the bounds by those of another loop for the same clock. */
void dates_join(struct date_bracket *all, const struct date_bracket *d);

/* Finishes the bounds. If no two Dates of a server were one second apart, its Dates may be old, so
 * the upper bound is raised. Returns false if nothing is known, or if the bounds contradict each
 * other, as with old Dates. */
bool dates_settle(struct date_bracket *d);

#endif
