/* Memory whose lack is an error value like any other: each of these fills *e where there is none.
 */
#ifndef S3_ANALYZE_BASE_MEM_H
#define S3_ANALYZE_BASE_MEM_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stdlib.h>

/* Always false: *e says that there is no memory. */
static inline bool mem_none(struct err *e)
{
    return err_set(e, "out of memory");
}

static inline bool mem_resize(void *array, size_t n, size_t size, struct err *e)
{
    void **p = array, *grown = realloc(*p, n * size);

    if (grown == NULL)
        return mem_none(e);
    *p = grown;
    return true;
}

static inline bool mem_grow(void *array, size_t n, size_t size, struct err *e)
{
    return (n & (n - 1)) != 0 || mem_resize(array, n > 0 ? 2 * n : 1, size, e);
}

/* Makes room for n > 0 elements in the array *v. False: out of memory, and *v is as it was. */
#define mem_room(v, n, e) mem_resize((v), (n), sizeof **(v), (e))

/* Makes room for one more in the array *v, which has n elements and grew by this alone: its
 * capacity is the next power of two. False: out of memory, and *v is as it was. */
#define mem_more(v, n, e) mem_grow((v), (n), sizeof **(v), (e))

#endif
