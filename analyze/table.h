/* The columns of one operation type: adding, moving and dropping rows (struct table is in
 * dataset.h). Columns are reserved address space that is touched as rows come, so that they never
 * move or are copied. */
#ifndef S3_TABLE_H
#define S3_TABLE_H

#include "dataset.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a table whose size is not known beforehand: address space, not memory. */
#define TABLE_MANY_ROWS ((size_t)1 << 27)

/* One request on its way into a table; ttfb and late are RECORD_NO_TIME if there is none. */
struct table_row {
    int64_t start, dur, bytes, ttfb, objects, late;
    uint64_t object;
    uint32_t thread, place;
    uint16_t error;
};

/* An empty table with room for about `rows` (it grows beyond). False: out of memory. */
bool table_init(struct table *t, uint32_t op, size_t rows);
void table_fini(struct table *t);

/* Makes ready for n more rows. False: out of memory, or more rows than 32 bits count. */
bool table_reserve(struct table *t, size_t n);

/* Appends one row; table_reserve must have made it ready. False: out of memory. */
static inline bool table_add(struct table *t, const struct table_row *r);

/* Appends all rows of `from`, with place and error replaced by what the maps say; threads are
 * copied as they are. False: as table_reserve. */
bool table_append(struct table *t, const struct table *from, const uint32_t *places,
                  const uint16_t *errors);

/* Row `to` becomes a copy of row `from`. */
void table_move_row(struct table *t, size_t to, size_t from);

/* Empties a table and keeps its memory. */
void table_clear(struct table *t);

/* ---- */

/* Slow parts of table_add: row i is the first that differs from those before it, or has a value
 * that does not fit, or is the first that failed. */
bool table_vary(struct table *t, struct packed *c, size_t i, uint32_t raw);
bool table_add_wide(struct table *t, struct packed *c, size_t i, int64_t value);
bool table_add_error(struct table *t, size_t i, uint16_t error);

static inline bool table_put_raw(struct table *t, struct packed *c, size_t i, uint32_t raw)
{
    if (c->v != NULL)
        c->v[i] = raw;
    else if (i == 0)
        c->same = raw;
    else if (c->same != raw)
        return table_vary(t, c, i, raw);
    return true;
}

static inline bool table_put(struct table *t, struct packed *c, size_t i, int64_t value)
{
    if (__builtin_expect(value < 0 || value >= (int64_t)PACKED_WIDE_BASE, 0))
        return table_add_wide(t, c, i, value);
    return table_put_raw(t, c, i, (uint32_t)value);
}

static inline bool table_put_optional(struct table *t, struct packed *c, size_t i, int64_t value)
{
    return value != RECORD_NO_TIME ? table_put(t, c, i, value)
                                   : table_put_raw(t, c, i, PACKED_NONE);
}

static inline bool table_add(struct table *t, const struct table_row *r)
{
    size_t i = t->n++;
    bool ok = true;

    t->start[i] = r->start;
    t->object[i] = r->object;
    t->thread[i] = r->thread;
    t->place[i] = r->place;
    ok &= table_put(t, &t->dur, i, r->dur);
    ok &= table_put(t, &t->bytes, i, r->bytes);
    ok &= table_put_optional(t, &t->ttfb, i, r->ttfb);
    ok &= table_put(t, &t->objects, i, r->objects);
    ok &= table_put_optional(t, &t->late, i, r->late);
    if (t->error != NULL)
        t->error[i] = r->error;
    else if (r->error != 0)
        ok &= table_add_error(t, i, r->error);
    return ok;
}

#endif
