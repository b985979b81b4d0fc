/* What is said of a profile: its functions, as `go tool pprof` prints them; a flame graph; what a
 * request costs the server, which is the CPU time of a profile over the requests of its time. */
#ifndef S3_ANALYZE_TOOLS_PROFILE_SHOW_H
#define S3_ANALYZE_TOOLS_PROFILE_SHOW_H

#include "analyze/tools/profile/profile.h"
#include "analyze/write/sheet.h"

#include <stdio.h>

/* ---- Lines, and a picture ---- */

/* What a graph shows. */
struct graph_options {
    size_t type;          /* type of samples */
    double node_fraction; /* nodes below this share of the total are dropped; 0: none */
    size_t n_nodes;       /* largest number of nodes; 0: all */
    bool by_cum;          /* sorted by cum, else by flat */
};

/* Writes the functions with their own cost and that of all they call: `go tool pprof -top`. Write
 * errors stay in `f`. */
bool profile_write_top(const struct profile *p, const struct graph_options *how, FILE *f,
                       struct err *e);

/* Writes each sample on one line, the root first, and its value: "main;read 12". The reader of this
 * format adds up equal stacks. */
void profile_write_folded(const struct profile *p, size_t type, FILE *f);

/* Writes a flame graph as an svg element, the root on top. A box is a function at one place of the
 * stacks; its width is the share of the function and all that it calls. It needs no script and
 * nothing from elsewhere; pointing at a box shows its name and its figures. A profile with a base
 * gets a graph of the difference: boxes are as wide as both sides together, red where there is more
 * than in the base, blue where there is less. Write errors stay in `f`. False: out of memory. */
bool profile_write_flame(const struct profile *p, size_t type, FILE *f, struct err *e);

/* Adds a line: "Flame graph of cpu: 4.04s in all; before 3.90s". */
void profile_sum_line(struct sheet *s, const struct profile *p, size_t type);

/* ---- Cost ---- */

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
