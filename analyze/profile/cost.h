/* What a request costs the server: the CPU of a profile over the requests of its time, and which
 * part of the program took it. */
#ifndef S3_ANALYZE_PROFILE_COST_H
#define S3_ANALYZE_PROFILE_COST_H

#include "analyze/profile/profile.h"
#include "analyze/write/sheet.h"

/* The requests that ended in the time of a profile. */
struct cost_load {
    char op[32];    /* "GET"; "" where several have a share of them */
    uint64_t n;     /* 0: unknown */
    double n_bytes; /* that they moved */
};

/* Adds what a request costs, and a GiB, to the sheet: one sentence. Of a profile with a base it
 * says what it cost before, and in which parts it changed; loads[1] is that of the base. Adds
 * nothing without requests, or where the profile is not of CPU time. */
void profile_cost_line(struct sheet *s, const struct profile *p, const struct cost_load loads[2]);

/* Adds a table of the parts of the program: which share each has of the CPU, and of a request. */
void profile_cost_parts(struct sheet *s, const struct profile *p, const struct cost_load loads[2]);

#endif
