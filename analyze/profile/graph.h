/* Who calls whom in a profile, and what each function costs: a node for each function, an edge for
 * each call, without what is too small to be shown. What is left out, and how, is as `go tool
 * pprof` does it, so that all digits are the same. */
#ifndef S3_ANALYZE_PROFILE_GRAPH_H
#define S3_ANALYZE_PROFILE_GRAPH_H

#include "analyze/profile/profile.h"

struct graph_node {
    uint32_t frame;
    int64_t flat, cum; /* in the function itself; and in all that it calls */
    bool is_kept;      /* else it is dropped */
    size_t seen;       /* the last sample that has it */
};

struct graph_edge {
    uint32_t from, to; /* frames */
    int64_t weight;
    bool is_inlined; /* always */
    size_t seen;     /* the last sample that has it */
};

/* What is shown of it. */
struct graph_options {
    size_t type;          /* of samples */
    double node_fraction; /* nodes below this share of the total are dropped; 0: none */
    double edge_fraction; /* edges likewise */
    size_t n_nodes;       /* no more than these; 0: all */
    bool by_cum;          /* in the order of cum, else of flat */
};

struct graph {
    struct graph_node *nodes; /* sorted */
    size_t n_nodes;
    size_t n_before,
        n_dropped; /* nodes before the limit of their number; those that were too small */
    struct graph_edge *edges;
    size_t n_edges;
    struct intern edge_keys;
    struct graph_node *all; /* by frame */
};

/* Makes the graph of one type of samples. False: out of memory; the caller frees it in any case. */
bool graph_make(struct graph *g, const struct profile *p, const struct graph_options *how,
                struct err *e);
void graph_free(struct graph *g);

#endif
