/* What the Date headers of the servers say of their clocks. */
#ifndef S3_LOADGEN_LOAD_DATES_H
#define S3_LOADGEN_LOAD_DATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The clock of a host is ahead of ours by more than lower_ns and less than upper_ns. That holds for
 * servers that make each Date when they send it. */
struct date_bracket {
    char text[32];        /* the latest header */
    int64_t date_ns;      /* its time */
    bool ticks;           /* a second was followed by the next */
    int64_t last_send_ns; /* when the last request was sent that it answered, wall clock */
    int64_t lower_ns, upper_ns, at_ns; /* the bounds as they were at at_ns, wall clock */
};

/* Makes n brackets of which nothing is known, for the caller to free. NULL: out of memory. */
struct date_bracket *dates_new(size_t n);

/* Takes a header that was read at now_ns in the answer to a request sent at send_ns, both by the
 * wall clock. */
void dates_saw(struct date_bracket *d, int64_t send_ns, int64_t now_ns, const char *text, size_t n);

/* Takes what another loop knows of the same clock. */
void dates_join(struct date_bracket *all, const struct date_bracket *d);

/* Widens the bounds of a server whose Date was not seen to tick: its Dates may be old. False:
 * nothing is known, or the bounds contradict each other, as with old Dates. */
bool dates_tell(struct date_bracket *d);

#endif
