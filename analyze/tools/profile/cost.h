/* What a request costs the server: the CPU time of a profile over the requests of its time, and
 * which part of the program took it. */
#ifndef S3_ANALYZE_TOOLS_PROFILE_COST_H
#define S3_ANALYZE_TOOLS_PROFILE_COST_H

#include "analyze/tools/profile/profile.h"
#include "analyze/write/sheet.h"

/* The requests that ended in the time of a profile. */
struct cost_load {
    char op[32];    /* "GET"; "" if several have a share of them */
    uint64_t n;     /* 0: unknown */
    double n_bytes; /* bytes that they moved */
};

/* Adds a sentence to the sheet: the cost of a request, and of a GiB. For a profile with a base it
 * adds the cost before and the parts in which it changed; loads[1] is the load of the base. Adds
 * nothing without requests, or if the profile is not of CPU time. */
void profile_cost_line(struct sheet *s, const struct profile *p, const struct cost_load loads[2]);

/* Adds a table of the parts of the program: the share of each in the CPU time, and its cost per
 * request. */
void profile_cost_parts(struct sheet *s, const struct profile *p, const struct cost_load loads[2]);

#endif
