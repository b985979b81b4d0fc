/* Strings to small integers, and strings to 64-bit hashes. */
#ifndef S3_ANALYZE_BASE_INTERN_H
#define S3_ANALYZE_BASE_INTERN_H

#include "libcommon/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERN_NONE UINT32_MAX

/* A 64-bit hash of n bytes, the same on every machine. Two of k different strings share a hash with
 * a probability of about k^2 / 2^65: 7e-5 for 50,000,000. Who knows the function can choose strings
 * that share one: what must hold against that takes intern_hash_keyed. */
uint64_t intern_hash(const void *bytes, size_t n);

/* The same under a key, which nobody can choose strings for who does not know it. */
uint64_t intern_hash_keyed(uint64_t key, const void *bytes, size_t n);

/* A random key, the same throughout a process and another one in the next. */
uint64_t intern_random_key(void);

/* Both halves of the 128-bit product: every input bit reaches every output bit, but of a 0. */
static inline uint64_t intern_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

struct intern_slot {
    uint64_t hash;
    uint32_t id; /* INTERN_NONE: free */
};

/* Ids are 0, 1, 2... in order of first appearance. Starts zeroed. */
struct intern {
    uint64_t key; /* of the hashes; set with the first slots */
    struct intern_slot *slots;
    size_t n_slots;        /* a power of two, or 0 */
    struct slice *strings; /* by id; NUL-terminated, owned */
    size_t n, cap;
};

/* Frees what it holds; it is as new then. */
void intern_fini(struct intern *t);

/* The id of s, which is added if it is new. INTERN_NONE: out of memory. */
uint32_t intern_add(struct intern *t, struct slice s);

/* The id of s, or INTERN_NONE. */
uint32_t intern_find(const struct intern *t, struct slice s);

/* Writes each NUL in an owned string as "\\0" (*s is replaced): names that differ behind one would
 * look the same. False: out of memory. */
bool intern_show_nuls(struct slice *s);

/* How a host's or client's name is shown, which a capture may leave empty. */
static inline const char *intern_shown(const char *name)
{
    return *name != '\0' ? name : "(unnamed)";
}

#endif
