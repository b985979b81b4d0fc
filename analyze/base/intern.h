/* Maps strings to small integers, and hashes strings to 64 bits. */
#ifndef S3_ANALYZE_BASE_INTERN_H
#define S3_ANALYZE_BASE_INTERN_H

#include "libcommon/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERN_NONE UINT32_MAX

/* Returns a 64-bit hash of n bytes, the same on every machine. Some two of k different strings
 * collide with a probability of about k^2 / 2^65: 7e-5 for 50,000,000 strings. An attacker can
 * choose strings that collide; use intern_hash_keyed where that matters. */
uint64_t intern_hash(const void *bytes, size_t n);

/* Like intern_hash, but mixes in a key: nobody can choose strings that collide without knowing it.
 */
uint64_t intern_hash_keyed(uint64_t key, const void *bytes, size_t n);

/* Returns a random key. Every call in a process returns the same one; each process has another. */
uint64_t intern_random_key(void);

/* XORs the two halves of the 128-bit product a * b. Every input bit affects every output bit,
 * unless a factor is 0. */
static inline uint64_t intern_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

struct intern_slot {
    uint64_t hash;
    uint32_t id; /* INTERN_NONE: free */
};

/* Maps strings to ids 0, 1, 2..., in order of first appearance. All zero is an empty map. */
struct intern {
    uint64_t key; /* of the hashes; set with the first slots */
    struct intern_slot *slots;
    size_t n_slots;        /* a power of two, or 0 */
    struct slice *strings; /* by id; NUL-terminated, owned */
    size_t n, cap;
};

/* Frees everything it holds and makes it empty again. */
void intern_fini(struct intern *t);

/* Returns the id of s; adds a copy of s if it is new. INTERN_NONE: out of memory. */
uint32_t intern_add(struct intern *t, struct slice s);

/* Returns the id of s, or INTERN_NONE if s was never added. */
uint32_t intern_find(const struct intern *t, struct slice s);

/* Replaces each NUL byte in *s by "\0", two characters: else names that differ only after a NUL
 * would look the same. If there is one, frees s->p and points it to a new string, which the caller
 * owns. False: out of memory. */
bool intern_show_nuls(struct slice *s);

/* Returns the name of a host or client to show; a capture may leave it empty. */
static inline const char *intern_shown(const char *name)
{
    return *name != '\0' ? name : "(unnamed)";
}

#endif
