/* The columns of one operation type: adding, moving and dropping rows (struct table is in
 * dataset.h). Columns are reserved address space that is touched as rows come; where it gets short,
 * they are copied to more of it. */
#ifndef S3_ANALYZE_DATA_TABLE_H
#define S3_ANALYZE_DATA_TABLE_H

#include "analyze/data/dataset.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_BLOCK_ROWS 128

/* Requests on their way into a table, by column; ttfb and late are RECORD_NO_TIME if there is none.
 */
struct table_rows {
    size_t n;
    int64_t start[TABLE_BLOCK_ROWS], dur[TABLE_BLOCK_ROWS], bytes[TABLE_BLOCK_ROWS],
        ttfb[TABLE_BLOCK_ROWS], objects[TABLE_BLOCK_ROWS], late[TABLE_BLOCK_ROWS];
    uint64_t object[TABLE_BLOCK_ROWS];
    uint32_t thread[TABLE_BLOCK_ROWS], place[TABLE_BLOCK_ROWS];
    uint16_t error[TABLE_BLOCK_ROWS];
};

/* An empty table with room for about `rows` (it grows beyond). False: out of memory. */
bool table_init(struct table *t, uint32_t op, size_t rows);
void table_fini(struct table *t);

/* About so many rows will there be in the end. Says which memory is worth huge pages. */
void table_expect(struct table *t, size_t rows);

/* Appends rows. False: out of memory, or more rows than 32 bits count. */
bool table_add(struct table *t, const struct table_rows *r);

/* Appends all rows of `from`, with other threads and places (threads[i] is that of row i) and with
 * errors replaced by what the map `errors` says. False: as table_add. */
bool table_append(struct table *t, const struct table *from, const uint32_t *threads,
                  const uint32_t *places, const uint16_t *errors);

/* Row `to` becomes a copy of row `from`. */
void table_move_row(struct table *t, size_t to, size_t from);

/* Gives the rows ids of threads and places of their own where they are fewer than the dataset's
 * n_threads, n_places. No row may be added then. False: out of memory. */
bool table_own_ids(struct table *t, size_t n_threads, size_t n_places);

/* Empties a table and keeps its memory, and what its slowest rows must be slower than. */
void table_clear(struct table *t);

#endif
