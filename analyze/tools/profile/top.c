#include "analyze/tools/profile/show.h"

#include "analyze/tools/profile/profile_internal.h"
#include "libcommon/mem.h"

#include <inttypes.h>
#include <time.h>

/* ---- The call graph ----
 *
 * A node for each function with its cost. What is too small is left out by the rules of `go tool
 * pprof`, so that all digits are the same. */

enum { CALLED_INLINE = 1, CALLED = 2 };

struct graph_node {
    uint32_t frame;
    int64_t flat, cum; /* in the function itself; and in all that it calls */
    bool is_kept;      /* false: dropped */
    unsigned calls;    /* how others call it */
    size_t seen;       /* the last sample that has it */
};

struct graph {
    const struct profile *p;
    const struct graph_options *how;
    struct graph_node *nodes; /* sorted */
    size_t n_nodes;
    size_t n_before;        /* nodes before the limit on their number */
    size_t n_dropped;       /* nodes that were too small */
    struct graph_node *all; /* by frame */
};

static void graph_free(struct graph *g)
{
    free(g->nodes);
    free(g->all);
    *g = (struct graph){0};
}

/* Walks along a stack from its root. `parent` is the last frame that is kept; has_gap: one after it
 * was left out. */
static void add_sample(struct graph *g, size_t i, int64_t value)
{
    const struct profile_sample *s = &g->p->samples[i];
    uint32_t parent = INTERN_NONE;
    bool has_gap = false;

    for (size_t k = s->n_stack; k-- > 0;) {
        const struct profile_call call = g->p->stack[s->stack + k];
        struct graph_node *node = &g->all[call.frame];

        has_gap = !node->is_kept;
        if (has_gap)
            continue;
        /* A function that calls itself counts once. */
        if (node->seen != i + 1)
            node->cum += value;
        node->seen = i + 1;
        if (parent != INTERN_NONE && parent != call.frame)
            node->calls |= call.is_inlined ? CALLED_INLINE : CALLED;
        parent = call.frame;
    }
    if (parent != INTERN_NONE && !has_gap)
        g->all[parent].flat += value;
}

/* Adds up all samples over the frames that are kept, and lists the nodes that are not empty. */
static void build(struct graph *g)
{
    size_t n = g->p->frame_keys.n;

    g->n_nodes = 0;
    for (size_t i = 0; i < n; i++)
        g->all[i] = (struct graph_node){.frame = (uint32_t)i, .is_kept = g->all[i].is_kept};
    for (size_t i = 0; i < g->p->n_samples; i++) {
        int64_t value = profile_value(g->p, i, g->how->type);
        if (value != 0)
            add_sample(g, i, value);
    }
    for (size_t i = 0; i < n; i++)
        if (g->all[i].flat != 0 || g->all[i].cum != 0)
            g->nodes[g->n_nodes++] = g->all[i];
}

/* Keeps only the first n nodes of the list. */
static void keep_only(struct graph *g, size_t n)
{
    for (size_t i = 0; i < g->p->frame_keys.n; i++)
        g->all[i].is_kept = false;
    for (size_t i = 0; i < n; i++)
        g->all[g->nodes[i].frame].is_kept = true;
    build(g);
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

static void drop_small_nodes(struct graph *g, int64_t least)
{
    size_t n = 0, n_all = g->n_nodes;

    for (size_t i = 0; i < n_all; i++)
        if (llabs(g->nodes[i].cum) >= least)
            g->nodes[n++] = g->nodes[i];
    g->n_dropped = n_all - n;
    if (n < n_all)
        keep_only(g, n);
}

/* Makes the graph of one type of samples; borrows `p` and `how`. False: out of memory. The caller
 * frees the graph in any case. */
static bool graph_make(struct graph *g, const struct profile *p, const struct graph_options *how,
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
    build(g);
    for (size_t i = 0; i < g->n_nodes; i++)
        total += g->nodes[i].flat;
    drop_small_nodes(g, share(total, how->node_fraction));
    g->n_before = g->n_nodes;
    sort_nodes(g);
    if (how->n_nodes > 0 && how->n_nodes < g->n_nodes) {
        keep_only(g, how->n_nodes);
        sort_nodes(g);
    }
    return true;
}

/* ---- Text ---- */

/* The form in which values are written. */
struct form {
    const struct profile *p;
    const char *unit, *shown_unit; /* of the samples; of the text */
    int64_t total;
    size_t type;
};

static struct form form_of(const struct profile *p, size_t type)
{
    return (struct form){p, p->types[type].unit, "minimum", profile_total(p, type), type};
}

static struct profile_text value(const struct form *form, int64_t v)
{
    return profile_format(v, form->unit, form->shown_unit);
}

/* Chooses one unit for all values: the unit of the smallest value. If the total needs a larger
 * unit, takes the unit of 100 times the smallest value. */
static void choose_unit(struct form *form, const struct graph *g)
{
    int64_t least = 0;

    for (size_t i = 0; i < g->n_nodes; i++) {
        int64_t flat = llabs(g->nodes[i].flat), v = flat != 0 ? flat : llabs(g->nodes[i].cum);
        if (v > 0 && (least == 0 || v < least))
            least = v;
    }
    if (g->n_nodes == 0)
        return;
    if (least == 0)
        least = form->total;
    const char *unit = profile_scale(least, form->unit, "minimum").unit;
    const char *largest = profile_scale(form->total, form->unit, "minimum").unit;
    if (strcmp(unit, largest) != 0 && least < form->total / 100 + (form->total % 100 != 0))
        unit = profile_scale(100 * least, form->unit, "minimum").unit;
    form->shown_unit = *unit != '\0' ? unit : form->unit;
}

static void put_duration(const struct form *form, FILE *f)
{
    const struct profile *p = form->p;
    struct profile_scaled total = profile_scale(form->total, form->unit, "nanoseconds");

    fprintf(f, "Duration: %s, Total samples = %s ",
            profile_format(p->duration_ns, "nanoseconds", "auto").s, value(form, form->total).s);
    if (strcmp(total.unit, "ns") == 0 && total.value != 0)
        fprintf(f, "(%s)", profile_pct((int64_t)total.value, p->duration_ns).s);
    fputc('\n', f);
}

/* Writes what was profiled, and when, in local time. */
static void put_header(const struct form *form, FILE *f)
{
    const struct profile *p = form->p;

    if (p->file != NULL && *p->file != '\0') {
        struct slice base = profile_base(p->file);
        fprintf(f, "File: %.*s\n", (int)base.n, base.p);
    }
    if (p->build_id != NULL && *p->build_id != '\0')
        fprintf(f, "Build ID: %s\n", p->build_id);
    for (size_t i = 0; i < p->n_comments; i++)
        if (p->comments[i][0] != '#')
            fprintf(f, "%s\n", p->comments[i]);
    if (*p->types[form->type].name != '\0')
        fprintf(f, "Type: %s\n", p->types[form->type].name);
    if (*p->doc_url != '\0')
        fprintf(f, "Doc: %s\n", p->doc_url);
    if (p->time_ns != 0) {
        time_t s = (time_t)(p->time_ns / 1000000000 - (p->time_ns % 1000000000 < 0));
        struct tm tm;
        char text[64] = "";

        if (localtime_r(&s, &tm) != NULL)
            strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %Z", &tm);
        fprintf(f, "Time: %s\n", text);
    }
    if (p->duration_ns != 0)
        put_duration(form, f);
}

static void put_shown(const struct form *form, const struct graph *g, FILE *f)
{
    int64_t shown = 0;

    put_header(form, f);
    for (size_t i = 0; i < g->n_nodes; i++)
        shown += g->nodes[i].flat;
    struct profile_text pct = profile_pct(shown, form->total);
    fprintf(f, "Showing nodes accounting for %s, %s of %s total\n", value(form, shown).s,
            pct.s + strspn(pct.s, " "), value(form, form->total).s);
    if (form->total == 0)
        return;
    int64_t cutoff = (int64_t)((double)form->total * g->how->node_fraction);
    if (g->n_dropped > 0)
        fprintf(f, "Dropped %zu node%s (cum <= %s)\n", g->n_dropped, g->n_dropped > 1 ? "s" : "",
                value(form, llabs(cutoff)).s);
    if (g->n_nodes > 0 && g->n_nodes < g->n_before)
        fprintf(f, "Showing top %zu nodes out of %zu\n", g->n_nodes, g->n_before);
}

/* Writes flat, flat%, sum%, cum and cum% of a node. */
static void put_figures(const struct form *form, const struct graph_node *n, int64_t sum, FILE *f)
{
    fprintf(f, "%10s %s %s %10s %s", value(form, n->flat).s, profile_pct(n->flat, form->total).s,
            profile_pct(sum, form->total).s, value(form, n->cum).s,
            profile_pct(n->cum, form->total).s);
}

bool profile_write_top(const struct profile *p, const struct graph_options *how, FILE *f,
                       struct err *e)
{
    static const char *const words[] = {"", " (inline)", "", " (partial-inline)"};
    struct form form = form_of(p, how->type);
    struct graph g = {0};
    bool ok = graph_make(&g, p, how, e);
    int64_t sum = 0;

    if (ok) {
        choose_unit(&form, &g);
        put_shown(&form, &g, f);
        fprintf(f, "%10s %5s%% %5s%% %10s %5s%%\n", "flat", "flat", "sum", "cum", "cum");
    }
    for (size_t i = 0; ok && i < g.n_nodes; i++) {
        const struct graph_node *n = &g.nodes[i];
        put_figures(&form, n, sum += n->flat, f);
        fprintf(f, "  %s%s\n", p->shown[n->frame], words[n->calls]);
    }
    graph_free(&g);
    return ok;
}

/* ---- One line a stack ---- */

/* Writes a name without the characters that separate fields in this format. */
static void put_folded_name(const char *name, FILE *f)
{
    for (; *name != '\0'; name++)
        fputc(*name == ';' ? ':' : *name, f);
}

void profile_write_folded(const struct profile *p, size_t type, FILE *f)
{
    for (size_t i = 0; i < p->n_samples; i++) {
        const struct profile_sample *s = &p->samples[i];
        int64_t value = profile_value(p, i, type);

        for (size_t k = value != 0 ? s->n_stack : 0; k-- > 0;) {
            put_folded_name(p->shown[p->stack[s->stack + k].frame], f);
            fputc(k > 0 ? ';' : ' ', f);
        }
        if (value != 0 && s->n_stack > 0)
            fprintf(f, "%" PRId64 "\n", value);
    }
}
