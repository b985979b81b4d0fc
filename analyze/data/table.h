/* Adds, moves and drops the rows of a table (struct table is in dataset.h). A column is a range of
 * reserved address space, which gets memory as rows come. When it is full, it is copied to a larger
 * range. */
#ifndef S3_ANALYZE_DATA_TABLE_H
#define S3_ANALYZE_DATA_TABLE_H

#include "analyze/data/dataset.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_BLOCK_ROWS 128

/* A block of requests on their way into a table, by column. A missing ttfb or late is
 * RECORD_NO_TIME. */
struct table_rows {
    size_t n;
    int64_t start[TABLE_BLOCK_ROWS], dur[TABLE_BLOCK_ROWS], bytes[TABLE_BLOCK_ROWS],
        ttfb[TABLE_BLOCK_ROWS], objects[TABLE_BLOCK_ROWS], late[TABLE_BLOCK_ROWS];
    uint64_t object[TABLE_BLOCK_ROWS];
    uint32_t thread[TABLE_BLOCK_ROWS], place[TABLE_BLOCK_ROWS];
    uint16_t error[TABLE_BLOCK_ROWS];
};

/* Makes an empty table with room for about `rows` rows; it can grow. False: out of memory. */
bool table_init(struct table *t, uint32_t op, size_t rows);
void table_fini(struct table *t);

/* Requests huge pages for a table that will have about `rows` rows in the end. */
void table_expect(struct table *t, size_t rows);

/* Appends a block of rows. False: out of memory, or more than 2^32 - 1 rows. */
bool table_add(struct table *t, const struct table_rows *r, struct err *e);

/* Appends all rows of `from`. Row i gets threads[i] and places[i]; an error x becomes errors[x].
 * False: out of memory, or more than 2^32 - 1 rows. */
bool table_append(struct table *t, const struct table *from, const uint32_t *threads,
                  const uint32_t *places, const uint16_t *errors, struct err *e);

/* Copies row `from` over row `to`. */
void table_move_row(struct table *t, size_t to, size_t from);

/* Gives the table thread ids of its own if it has fewer rows than the dataset has threads, and
 * place ids of its own likewise. No rows may be added afterwards. False: out of memory. */
bool table_own_ids(struct table *t, size_t n_threads, size_t n_places);

/* Drops all rows. Keeps the memory and slowest.over_ns. */
void table_clear(struct table *t);

#endif
