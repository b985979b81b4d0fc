/* Keeps the keys of an operation's slowest requests while rows are read, so that a report can name
 * them. Tables keep only hashes of keys. */
#ifndef S3_ANALYZE_DATA_SLOWEST_H
#define S3_ANALYZE_DATA_SLOWEST_H

#include "libcommon/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOWEST_KEPT      32
#define SLOWEST_MAX_BYTES 1024 /* of a key, which is S3's limit; longer ones are cut */

struct slowest {
    size_t n;
    size_t least;    /* index of the fastest; set when v is full */
    int64_t over_ns; /* only requests that last longer are kept; -1: all */
    struct slowest_key {
        int64_t dur_ns;
        uint64_t object; /* hash of the key, as in struct table */
        char *key;       /* owned */
    } v[SLOWEST_KEPT];
};

/* Makes *s empty. */
void slowest_init(struct slowest *s);
void slowest_fini(struct slowest *s);

/* Adds a request that lasts longer than s->over_ns; a full list drops its fastest. False: out of
 * memory. */
bool slowest_take(struct slowest *s, int64_t dur_ns, uint64_t object, struct slice key);

/* Adds a request if it is among the slowest; of equal ones, the first added stays. False: out of
 * memory. */
static inline bool slowest_add(struct slowest *s, int64_t dur_ns, uint64_t object, struct slice key)
{
    return __builtin_expect(dur_ns <= s->over_ns, 1) || slowest_take(s, dur_ns, object, key);
}

/* Adds copies of the requests of `from`. False: out of memory. */
bool slowest_append(struct slowest *s, const struct slowest *from);

/* Returns the key with the hash `object`; *s owns it. NULL: not kept. */
const char *slowest_key(const struct slowest *s, uint64_t object);

#endif
