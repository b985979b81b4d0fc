/* The columns of one operation type: adding and dropping rows (struct table is in dataset.h). */
#ifndef S3_TABLE_H
#define S3_TABLE_H

#include "dataset.h"

#include <stdbool.h>
#include <stdint.h>

/* One request on its way into a table; ttfb and late are RECORD_NO_TIME if there is none. */
struct table_row {
    int64_t start, dur, bytes, ttfb, objects, late;
    uint64_t object;
    uint32_t thread, place;
    uint16_t error;
};

/* False: out of memory (or more rows, or more wide values, than 32 bits count). */
bool table_add(struct table *t, const struct table_row *r);
void table_free(struct table *t);

#endif
