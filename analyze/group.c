#include "group.h"

#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b, void *names)
{
    const struct names *n = names;
    return strcmp(n->v[*(const uint32_t *)a], n->v[*(const uint32_t *)b]);
}

bool group_keys_init(struct group_keys *k, const struct dataset *d, enum group_by by,
                     const int64_t *n_by_place, struct err *e)
{
    struct names names = by == GROUP_BY_HOST ? d->hosts : d->clients;
    uint32_t *rank = malloc((names.n + 1) * sizeof *rank); /* index into k->id by id */
    *k = (struct group_keys){
        .id = malloc((names.n + 1) * sizeof *k->id),
        .of_place = malloc((d->n_places + 1) * sizeof *k->of_place),
    };
    if (rank == NULL || k->id == NULL || k->of_place == NULL) {
        free(rank);
        return err_set(e, "out of memory");
    }
    for (size_t i = 0; i < names.n; i++)
        rank[i] = GROUP_NONE;
    for (size_t p = 0; p < d->n_places; p++) {
        uint32_t id = by == GROUP_BY_HOST ? d->places[p].host : d->places[p].client;
        if (n_by_place[p] > 0 && rank[id] == GROUP_NONE) {
            rank[id] = 0;
            k->id[k->n++] = id;
        }
    }
    qsort_r(k->id, k->n, sizeof *k->id, compare_names, &names);
    for (size_t i = 0; i < k->n; i++)
        rank[k->id[i]] = (uint32_t)i;
    for (size_t p = 0; p < d->n_places; p++) {
        uint32_t id = by == GROUP_BY_HOST ? d->places[p].host : d->places[p].client;
        k->of_place[p] = n_by_place[p] > 0 ? rank[id] : GROUP_NONE;
    }
    free(rank);
    return true;
}

void group_keys_fini(struct group_keys *k)
{
    free(k->id);
    free(k->of_place);
    *k = (struct group_keys){0};
}

bool group_rows_init(struct group_rows *g, const struct table *t, const struct group_keys *k,
                     struct err *e)
{
    *g = (struct group_rows){
        .row = malloc((t->n + 1) * sizeof *g->row),
        .first = calloc(k->n + 2, sizeof *g->first),
    };
    if (g->row == NULL || g->first == NULL)
        return err_set(e, "out of memory");
    /* Counts go two places up and become starts one place up, which the second pass moves to where
     * they belong. */
    size_t *next = g->first + 1;
    for (size_t i = 0; i < t->n; i++)
        next[k->of_place[table_place(t, i)] + 1]++;
    for (size_t i = 1; i <= k->n; i++)
        next[i] += next[i - 1];
    for (size_t i = 0; i < t->n; i++)
        g->row[next[k->of_place[table_place(t, i)]]++] = (uint32_t)i;
    return true;
}

void group_rows_fini(struct group_rows *g)
{
    free(g->row);
    free(g->first);
    *g = (struct group_rows){0};
}
