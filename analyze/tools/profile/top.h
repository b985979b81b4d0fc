/* A profile as text, each line as `go tool pprof` prints it. */
#ifndef S3_ANALYZE_TOOLS_PROFILE_TOP_H
#define S3_ANALYZE_TOOLS_PROFILE_TOP_H

#include "analyze/tools/profile/profile.h"

#include <stdio.h>

/* What a graph shows. */
struct graph_options {
    size_t type;          /* type of samples */
    double node_fraction; /* nodes below this share of the total are dropped; 0: none */
    double edge_fraction; /* the same for edges */
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

#endif
