/* The keys of an operation's slowest requests, which tables know the hashes of alone: kept while
 * rows are read, so that a report can name them. */
#ifndef S3_ANALYZE_DATA_SLOWEST_H
#define S3_ANALYZE_DATA_SLOWEST_H

#include "libcommon/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOWEST_KEPT      32
#define SLOWEST_MAX_BYTES 1024 /* of a key; S3 allows no longer ones */

struct slowest {
    size_t n, least; /* index of the fastest of them */
    int64_t over_ns; /* only what takes longer is taken */
    struct slowest_key {
        int64_t dur_ns;
        uint64_t object; /* as in struct table */
        char *key;       /* owned */
    } v[SLOWEST_KEPT];
};

/* Nothing yet, and nothing that takes at most over_ns is wanted: -1 for all. */
void slowest_init(struct slowest *s, int64_t over_ns);
void slowest_fini(struct slowest *s);

/* Takes a request if it is among the slowest; of equals the first that was given. False: out of
 * memory. */
bool slowest_take(struct slowest *s, int64_t dur_ns, uint64_t object, struct slice key);

static inline bool slowest_add(struct slowest *s, int64_t dur_ns, uint64_t object, struct slice key)
{
    return __builtin_expect(dur_ns <= s->over_ns, 1) || slowest_take(s, dur_ns, object, key);
}

/* Those of `from` too. False: out of memory. */
bool slowest_append(struct slowest *s, const struct slowest *from);

/* The key of that hash. NULL: not kept. */
const char *slowest_key(const struct slowest *s, uint64_t object);

#endif
