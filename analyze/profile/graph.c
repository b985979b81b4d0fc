#include "analyze/profile/graph.h"

#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

void graph_free(struct graph *g)
{
    free(g->nodes);
    free(g->edges);
    free(g->all);
    intern_fini(&g->edge_keys);
    *g = (struct graph){0};
}

/* Adds a call to its edge, once for each sample. */
static bool add_edge(struct graph *g, uint32_t from, uint32_t to, int64_t weight, bool is_inlined,
                     size_t sample, struct err *e)
{
    uint32_t ends[2] = {from, to};
    uint32_t id = intern_add(&g->edge_keys, (struct slice){(const char *)ends, sizeof ends});

    if (id == INTERN_NONE)
        return mem_none(e);
    if (id == g->n_edges) {
        if (!mem_more(&g->edges, g->n_edges, e))
            return false;
        g->edges[g->n_edges++] = (struct graph_edge){from, to, 0, true, 0};
    }
    struct graph_edge *edge = &g->edges[id];
    if (edge->seen == sample)
        return true;
    edge->seen = sample;
    edge->weight += weight;
    edge->is_inlined &= is_inlined;
    return true;
}

/* A walk along a stack, from its root. */
struct walk {
    uint32_t parent; /* the last frame that is kept; INTERN_NONE: none yet */
    bool has_gap;    /* a frame after `parent` was left out */
};

static bool step(struct graph *g, struct walk *w, struct profile_call call, int64_t value,
                 size_t sample, struct err *e)
{
    struct graph_node *node = &g->all[call.frame];

    if (!node->is_kept) {
        w->has_gap = true;
        return true;
    }
    /* A function that calls itself counts once. */
    if (node->seen != sample)
        node->cum += value;
    node->seen = sample;
    if (w->parent != INTERN_NONE && w->parent != call.frame &&
        !add_edge(g, w->parent, call.frame, value, call.is_inlined, sample, e))
        return false;
    *w = (struct walk){call.frame, false};
    return true;
}

static bool add_sample(struct graph *g, size_t i, int64_t value, struct err *e)
{
    const struct profile_sample *s = &g->p->samples[i];
    struct walk w = {INTERN_NONE, false};

    for (size_t k = s->n_stack; k-- > 0;)
        if (!step(g, &w, g->p->stack[s->stack + k], value, i + 1, e))
            return false;
    if (w.parent != INTERN_NONE && !w.has_gap)
        g->all[w.parent].flat += value;
    return true;
}

/* Adds up all samples over the frames that are kept, and lists the nodes that are not empty. */
static bool build(struct graph *g, struct err *e)
{
    size_t n = g->p->frame_keys.n;

    intern_fini(&g->edge_keys);
    g->n_edges = g->n_nodes = 0;
    free(g->edges);
    g->edges = NULL;
    for (size_t i = 0; i < n; i++)
        g->all[i] = (struct graph_node){.frame = (uint32_t)i, .is_kept = g->all[i].is_kept};
    for (size_t i = 0; i < g->p->n_samples; i++) {
        int64_t value = profile_value(g->p, i, g->how->type);
        if (value != 0 && !add_sample(g, i, value, e))
            return false;
    }
    for (size_t i = 0; i < n; i++)
        if (g->all[i].flat != 0 || g->all[i].cum != 0)
            g->nodes[g->n_nodes++] = g->all[i];
    return true;
}

/* Keeps only the first n nodes of the list. */
static bool keep_only(struct graph *g, size_t n, struct err *e)
{
    for (size_t i = 0; i < g->p->frame_keys.n; i++)
        g->all[i].is_kept = false;
    for (size_t i = 0; i < n; i++)
        g->all[g->nodes[i].frame].is_kept = true;
    return build(g, e);
}

static int compare(const void *a, const void *b, void *graph)
{
    const struct graph_node *x = a, *y = b;
    const struct graph *g = graph;
    int64_t vx = llabs(g->how->by_cum ? x->cum : x->flat);
    int64_t vy = llabs(g->how->by_cum ? y->cum : y->flat);

    if (vx != vy)
        return vx > vy ? -1 : 1;
    int names = strcmp(g->p->shown[x->frame], g->p->shown[y->frame]);
    return names != 0 ? names : (x->frame > y->frame) - (x->frame < y->frame);
}

static void sort_nodes(struct graph *g)
{
    if (g->n_nodes > 0)
        qsort_r(g->nodes, g->n_nodes, sizeof *g->nodes, compare, g);
}

/* Returns a fraction of a total as a positive whole number, rounded down. */
static int64_t share(int64_t total, double fraction)
{
    return llabs((int64_t)((double)total * fraction));
}

static bool drop_small_nodes(struct graph *g, int64_t least, struct err *e)
{
    size_t n = 0, n_all = g->n_nodes;

    for (size_t i = 0; i < n_all; i++)
        if (llabs(g->nodes[i].cum) >= least)
            g->nodes[n++] = g->nodes[i];
    g->n_dropped = n_all - n;
    return n == n_all || keep_only(g, n, e);
}

static void drop_small_edges(struct graph *g, int64_t least)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n_edges; i++)
        if (llabs(g->edges[i].weight) >= least)
            g->edges[n++] = g->edges[i];
    g->n_edges = n;
}

bool graph_make(struct graph *g, const struct profile *p, const struct graph_options *how,
                struct err *e)
{
    size_t n = p->frame_keys.n;
    int64_t total = 0;

    g->p = p;
    g->how = how;
    if (!mem_new(&g->nodes, n, e) || !mem_new(&g->all, n, e))
        return false;
    for (size_t i = 0; i < n; i++)
        g->all[i].is_kept = true;
    if (!build(g, e))
        return false;
    for (size_t i = 0; i < g->n_nodes; i++)
        total += g->nodes[i].flat;
    if (!drop_small_nodes(g, share(total, how->node_fraction), e))
        return false;
    g->n_before = g->n_nodes;
    sort_nodes(g);
    if (how->n_nodes > 0 && how->n_nodes < g->n_nodes) {
        if (!keep_only(g, how->n_nodes, e))
            return false;
        sort_nodes(g);
    }
    drop_small_edges(g, share(total, how->edge_fraction));
    return true;
}
