/* Groups requests by host or by client: which ones a set of tables has, and the rows of each. */
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
    uint32_t *of_place; /* index into id, by place; the places of all tables, one table after
                           another; GROUP_NONE: the set has no row of this host (or client) */
    size_t *first;      /* by table: index of its first place in of_place */
};

/* Finds the keys of a set of tables. n_of_place has the number of rows of each place, in the order
 * of of_place. False: out of memory; group_keys_fini may be called then, too. */
bool group_keys_init(struct group_keys *k, const struct dataset *d, enum group_by by,
                     const struct table *const *tables, size_t n_tables, const int64_t *n_of_place,
                     struct err *e);
void group_keys_fini(struct group_keys *k);

/* Returns the part of of_place for table number `table` of the set. */
static inline const uint32_t *group_keys_of(const struct group_keys *k, size_t table)
{
    return k->of_place + (table > 0 ? k->first[table] : 0);
}

/* The rows of one table by key: key k has row[first[k]] .. row[first[k + 1] - 1], in the table's
 * order. 4 bytes per row. */
struct group_rows {
    uint32_t *row;
    size_t *first; /* n keys + 1 */
};

/* Groups the rows of t, which is table number `table` of the set; every row must have a key. False:
 * out of memory; group_rows_fini may be called then, too. */
bool group_rows_init(struct group_rows *g, const struct table *t, size_t table,
                     const struct group_keys *k, struct err *e);

/* Groups the rows below n_rows by any key. `key` returns the key of a row; from n_keys on it leaves
 * the row out. The rows of a key keep the order that they have in `order`; NULL: ascending. False:
 * out of memory; group_rows_fini may be called then, too. */
bool group_rows_by(struct group_rows *g, size_t n_rows, const uint32_t *order, size_t n_keys,
                   size_t (*key)(const void *ctx, size_t row), const void *ctx, struct err *e);
void group_rows_fini(struct group_rows *g);

#endif
