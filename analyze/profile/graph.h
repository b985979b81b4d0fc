/* The call graph of a profile: a node for each function with its cost, an edge for each call. What
 * is too small is left out by the rules of `go tool pprof`, so that all digits are the same. */
#ifndef S3_ANALYZE_PROFILE_GRAPH_H
#define S3_ANALYZE_PROFILE_GRAPH_H

#include "analyze/profile/profile.h"

struct graph_node {
    uint32_t frame;
    int64_t flat, cum; /* in the function itself; and in all that it calls */
    bool is_kept;      /* false: dropped */
    size_t seen;       /* the last sample that has it */
};

struct graph_edge {
    uint32_t from, to; /* frames */
    int64_t weight;
    bool is_inlined; /* in all samples */
    size_t seen;     /* the last sample that has it */
};

/* What a graph shows. */
struct graph_options {
    size_t type;          /* type of samples */
    double node_fraction; /* nodes below this share of the total are dropped; 0: none */
    double edge_fraction; /* the same for edges */
    size_t n_nodes;       /* largest number of nodes; 0: all */
    bool by_cum;          /* sorted by cum, else by flat */
};

struct graph {
    const struct profile *p;
    const struct graph_options *how;
    struct graph_node *nodes; /* sorted */
    size_t n_nodes;
    size_t n_before;  /* nodes before the limit on their number */
    size_t n_dropped; /* nodes that were too small */
    struct graph_edge *edges;
    size_t n_edges;
    struct intern edge_keys;
    struct graph_node *all; /* by frame */
};

/* Makes the graph of one type of samples; borrows `p` and `how`. False: out of memory. The caller
 * frees the graph in any case. */
bool graph_make(struct graph *g, const struct profile *p, const struct graph_options *how,
                struct err *e);
void graph_free(struct graph *g);

#endif
