/* Sets of requests by host or by client: which of them a set has, and its rows in their order. */
#ifndef S3_ANALYZE_DATA_GROUP_H
#define S3_ANALYZE_DATA_GROUP_H

#include "analyze/data/dataset.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum group_by { GROUP_BY_HOST, GROUP_BY_CLIENT };

#define GROUP_NONE UINT32_MAX

/* The hosts (or clients) of a set of requests, sorted bytewise by name. */
struct group_keys {
    size_t n;
    uint32_t *id;       /* n ids into dataset.hosts (or clients) */
    uint32_t *of_place; /* index into id by place of the first (mostly the only) table, then of the
                           next; GROUP_NONE: a place that the set has not */
    size_t *first;      /* where in of_place each table begins */
};

/* Keys of the places that tables have rows of; n_of_place: their numbers, one table after another,
 * as of_place. group_keys_fini may be called in any case. */
bool group_keys_init(struct group_keys *k, const struct dataset *d, enum group_by by,
                     const struct table *const *tables, size_t n_tables, const int64_t *n_of_place,
                     struct err *e);
void group_keys_fini(struct group_keys *k);

/* Index into k->id by place of table `table`. */
static inline const uint32_t *group_keys_of(const struct group_keys *k, size_t table)
{
    return k->of_place + (table > 0 ? k->first[table] : 0);
}

/* Rows of one table, grouped: those of key k are row[first[k]] .. row[first[k + 1] - 1], in the
 * table's order. 4 bytes a row. */
struct group_rows {
    uint32_t *row;
    size_t *first; /* n keys + 1 */
};

/* All rows of t, the set's table `table`, must have a key. group_rows_fini may be called in any
 * case. */
bool group_rows_init(struct group_rows *g, const struct table *t, size_t table,
                     const struct group_keys *k, struct err *e);
void group_rows_fini(struct group_rows *g);

#endif
