#include "analyze/base/intern.h"

#include "libcommon/le.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* Odd numbers with evenly spread bits (fractional parts of square roots of primes). */
static const uint64_t K0 = UINT64_C(0x6a09e667f3bcc909), K1 = UINT64_C(0xbb67ae8584caa73b),
                      K2 = UINT64_C(0x3c6ef372fe94f82b), K3 = UINT64_C(0xa54ff53a5f1d36f1);

/* Mixes 16 bytes into h. */
static inline uint64_t mix(uint64_t h, uint64_t a, uint64_t b)
{
    return intern_fold(h ^ a ^ K1, b ^ K2 ^ (h << 32 | h >> 32));
}

/* Reads the last 16 bytes or fewer as two words that may overlap. A word that makes a factor of the
 * first product 0 would hide the other word; nobody can choose such a word without the key. */
uint64_t intern_hash_keyed(uint64_t key, const void *bytes, size_t n)
{
    const unsigned char *p = bytes, *end = p + n;
    uint64_t h = K0 ^ n ^ key;

    for (; end - p > 16; p += 16)
        h = mix(h, le_load(p, 8), le_load(p + 8, 8));
    if (n >= 16)
        h = mix(h, le_load(end - 16, 8), le_load(end - 8, 8));
    else if (n >= 8)
        h = mix(h, le_load(p, 8), le_load(end - 8, 8));
    else if (n >= 4)
        h = mix(h, le_load(p, 4), le_load(end - 4, 4));
    else if (n > 0)
        h = mix(h, p[0], (uint64_t)p[n / 2] << 8 | end[-1]);
    return intern_fold(h ^ K3, h ^ K1);
}

uint64_t intern_hash(const void *bytes, size_t n)
{
    return intern_hash_keyed(0, bytes, n);
}

/* The system gives each process 16 random bytes. */
uint64_t intern_random_key(void)
{
    const void *bytes = (const void *)getauxval(AT_RANDOM);

    return bytes ? intern_hash(bytes, 16) : 0;
}

void intern_fini(struct intern *t)
{
    for (size_t i = 0; i < t->n; i++)
        free((char *)t->strings[i].p);
    free(t->strings);
    free(t->slots);
    memset(t, 0, sizeof *t);
}

/* Returns the slot of s, or the free slot to put it in. */
static struct intern_slot *slot_of(const struct intern *t, struct slice s, uint64_t hash)
{
    for (size_t i = hash;; i++) {
        struct intern_slot *slot = &t->slots[i & (t->n_slots - 1)];
        if (slot->id == INTERN_NONE)
            return slot;
        if (slot->hash == hash && t->strings[slot->id].n == s.n &&
            memcmp(t->strings[slot->id].p, s.p, s.n) == 0)
            return slot;
    }
}

static bool grow(struct intern *t)
{
    size_t n_old = t->n_slots, n_slots = n_old > 0 ? 2 * n_old : 64;
    struct intern_slot *old = t->slots, *slots;

    if (!mem_room(&t->strings, n_slots / 2, NULL) || !mem_new(&slots, n_slots, NULL))
        return false;
    for (size_t i = 0; i < n_slots; i++)
        slots[i].id = INTERN_NONE;
    t->slots = slots;
    t->n_slots = n_slots;
    t->cap = n_slots / 2;
    for (size_t i = 0; i < n_old; i++)
        if (old[i].id != INTERN_NONE)
            *slot_of(t, t->strings[old[i].id], old[i].hash) = old[i];
    free(old);
    return true;
}

uint32_t intern_find(const struct intern *t, struct slice s)
{
    return t->n ? slot_of(t, s, intern_hash_keyed(t->key, s.p, s.n))->id : INTERN_NONE;
}

uint32_t intern_add(struct intern *t, struct slice s)
{
    if (!t->n_slots)
        t->key = intern_random_key();
    uint64_t hash = intern_hash_keyed(t->key, s.p, s.n);
    struct intern_slot *slot = t->n_slots ? slot_of(t, s, hash) : NULL;

    if (slot && slot->id != INTERN_NONE)
        return slot->id;
    if (t->n == t->cap) {
        if (t->n >= INTERN_NONE - 1 || !grow(t))
            return INTERN_NONE;
        slot = slot_of(t, s, hash);
    }
    char *copy;
    if (!mem_new(&copy, s.n + 1, NULL))
        return INTERN_NONE;
    memcpy(copy, s.p, s.n);
    copy[s.n] = '\0';
    t->strings[t->n] = (struct slice){copy, s.n};
    *slot = (struct intern_slot){hash, (uint32_t)t->n};
    return (uint32_t)t->n++;
}

bool intern_show_nuls(struct slice *s)
{
    size_t n = 0;
    char *shown;

    if (!memchr(s->p, '\0', s->n))
        return true;
    if (!mem_new(&shown, 2 * s->n + 1, NULL))
        return false;
    for (size_t i = 0; i < s->n; i++) {
        if (s->p[i] == '\0')
            shown[n++] = '\\';
        shown[n++] = s->p[i] ? s->p[i] : '0';
    }
    shown[n] = '\0';
    free((char *)s->p);
    *s = (struct slice){shown, n};
    return true;
}
