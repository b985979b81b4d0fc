#include "analyze/data/group.h"

#include "analyze/base/csort.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b, void *names)
{
    const struct names *n = names;
    return strcmp(n->v[*(const uint32_t *)a], n->v[*(const uint32_t *)b]);
}

static uint32_t name_of(const struct dataset *d, const struct table *t, size_t place,
                        enum group_by by)
{
    const struct place *p = dataset_place(d, t, place);
    return by == GROUP_BY_HOST ? p->host : p->client;
}

bool group_keys_init(struct group_keys *k, const struct dataset *d, enum group_by by,
                     const struct table *const *tables, size_t n_tables, const int64_t *n_of_place,
                     struct err *e)
{
    struct names names = by == GROUP_BY_HOST ? d->hosts : d->clients;
    uint32_t *rank; /* index into k->id by id */
    size_t n_places = 0;

    for (size_t i = 0; i < n_tables; i++)
        n_places += dataset_n_places(d, tables[i]);
    size_t n_max = n_places < names.n ? n_places : names.n;
    *k = (struct group_keys){0};
    if (!mem_new(&k->first, n_tables, e) || !mem_new(&k->id, n_max, e) ||
        !mem_new(&k->of_place, n_places, e) || !mem_new(&rank, names.n, e))
        return false;
    for (size_t i = 0, first = 0; i < n_tables; first += dataset_n_places(d, tables[i++]))
        k->first[i] = first;
    for (size_t i = 0; i < names.n; i++)
        rank[i] = GROUP_NONE;
    for (size_t i = 0; i < n_tables; i++) {
        const int64_t *n_of = n_of_place + k->first[i];
        for (size_t p = 0; p < dataset_n_places(d, tables[i]); p++) {
            uint32_t id = name_of(d, tables[i], p, by);
            if (n_of[p] > 0 && rank[id] == GROUP_NONE) {
                rank[id] = 0;
                k->id[k->n++] = id;
            }
        }
    }
    qsort_r(k->id, k->n, sizeof *k->id, compare_names, &names);
    for (size_t i = 0; i < k->n; i++)
        rank[k->id[i]] = (uint32_t)i;
    /* A place without rows in this table gets a key, too, if another table has rows of its host. */
    for (size_t i = 0; i < n_tables; i++)
        for (size_t p = 0; p < dataset_n_places(d, tables[i]); p++)
            k->of_place[k->first[i] + p] = rank[name_of(d, tables[i], p, by)];
    free(rank);
    return true;
}

void group_keys_fini(struct group_keys *k)
{
    free(k->id);
    free(k->of_place);
    free(k->first);
    *k = (struct group_keys){0};
}

bool group_rows_init(struct group_rows *g, const struct table *t, size_t table,
                     const struct group_keys *k, struct err *e)
{
    *g = (struct group_rows){0};
    if (!mem_new(&g->row, t->n, e) || !mem_cleared(&g->first, k->n + 2, e))
        return false;
    const uint32_t *of_place = group_keys_of(k, table);
    for (size_t i = 0; i < t->n; i++)
        csort_count(g->first, of_place[table_place(t, i)]);
    csort_sum(g->first, k->n);
    for (size_t i = 0; i < t->n; i++)
        g->row[csort_place(g->first, of_place[table_place(t, i)])] = (uint32_t)i;
    return true;
}

bool group_rows_by(struct group_rows *g, size_t n_rows, const uint32_t *order, size_t n_keys,
                   size_t (*key)(const void *ctx, size_t row), const void *ctx, struct err *e)
{
    *g = (struct group_rows){0};
    if (!mem_new(&g->row, n_rows, e) || !mem_cleared(&g->first, n_keys + 2, e))
        return false;
    for (size_t i = 0; i < n_rows; i++) {
        size_t k = key(ctx, i);

        if (k < n_keys)
            csort_count(g->first, k);
    }
    csort_sum(g->first, n_keys);
    for (size_t i = 0; i < n_rows; i++) {
        uint32_t row = order != NULL ? order[i] : (uint32_t)i;
        size_t k = key(ctx, row);

        if (k < n_keys)
            g->row[csort_place(g->first, k)] = row;
    }
    return true;
}

void group_rows_fini(struct group_rows *g)
{
    free(g->row);
    free(g->first);
    *g = (struct group_rows){0};
}
