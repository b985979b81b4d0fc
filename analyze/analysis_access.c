/* The first and the last request per object (section 8). Rows are partitioned by the hash of their key, so
 * that the hash table of one partition stays in the cache however many keys there are. */
#include "analysis_internal.h"

#include <stdlib.h>
#include <string.h>

#define PART_ROWS      4096 /* wanted per partition */
#define MAX_PART_BITS  10
#define FIRST_CAPACITY 1024 /* of the hash table */

/* Hashes of keys are taken as evenly spread, but not which bits: this spreads all of them upwards. */
static inline uint64_t spread(uint64_t hash)
{
    return hash * UINT64_C(0x9E3779B97F4A7C15);
}

/* One object; hash 0: free. */
struct object {
    uint64_t hash;
    int64_t first_ns, last_ns; /* starts of the two rows */
    uint32_t first, last;
};

struct object_table {
    struct object *v;
    size_t capacity; /* allocated */
    size_t mask;     /* slots in use - 1 */
    size_t n;
};

static size_t slot_of(const struct object_table *o, uint64_t hash)
{
    size_t slot = (size_t)(spread(hash) >> 20) & o->mask;
    while (o->v[slot].hash != 0 && o->v[slot].hash != hash)
        slot = (slot + 1) & o->mask;
    return slot;
}

static bool object_table_grow(struct object_table *o)
{
    struct object_table old = *o;
    o->capacity = (old.mask + 1) * 2;
    o->mask = o->capacity - 1;
    o->v = calloc(o->capacity, sizeof *o->v);
    if (o->v == NULL) {
        *o = old;
        return false;
    }
    for (size_t i = 0; i <= old.mask; i++)
        if (old.v[i].hash != 0)
            o->v[slot_of(o, old.v[i].hash)] = old.v[i];
    free(old.v);
    return true;
}

/* Empties the table; n_rows is the most that may come. */
static void object_table_clear(struct object_table *o, size_t n_rows)
{
    size_t n_slots = FIRST_CAPACITY;
    while (n_slots < 2 * n_rows && n_slots < o->capacity)
        n_slots *= 2;
    o->mask = n_slots - 1;
    o->n = 0;
    memset(o->v, 0, n_slots * sizeof *o->v);
}

/* Rows with a key, partition by partition. */
struct partition {
    uint64_t *hash;
    uint32_t *row;
    size_t *first; /* n + 1 */
    size_t n;
};

/* Bucket of a size; n_buckets: none. */
static inline size_t bucket_of(const int64_t *edges, size_t n_buckets, int64_t bytes)
{
    if (bytes < edges[0])
        return n_buckets;
    size_t b = 0;
    while (b < n_buckets && bytes >= edges[b + 1])
        b++;
    return b;
}

static bool partition_init(struct partition *p, const struct table *t, const int64_t *edges,
                           size_t n_buckets, struct err *e)
{
    unsigned bits = 0;
    while (bits < MAX_PART_BITS && (t->n >> bits) > PART_ROWS)
        bits++;
    unsigned shift = 63 - bits;
    *p = (struct partition){.n = n_buckets << bits};
    p->first = calloc(p->n + 2, sizeof *p->first);
    if (p->first == NULL)
        return err_set(e, "out of memory");

    size_t *next = p->first + 1; /* as in group_rows_init */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < t->n; i++) {
            if (t->error[i] != 0 || t->object[i] == 0)
                continue;
            size_t b = n_buckets == 1 ? 0 : bucket_of(edges, n_buckets, packed_get(&t->bytes, i));
            if (b == n_buckets)
                continue;
            size_t part = (b << bits) + (size_t)(spread(t->object[i]) >> 1 >> shift);
            if (pass == 0) {
                next[part + 1]++;
            } else {
                size_t at = next[part]++;
                p->hash[at] = t->object[i];
                p->row[at] = (uint32_t)i;
            }
        }
        if (pass == 0) {
            for (size_t k = 1; k <= p->n; k++)
                next[k] += next[k - 1];
            p->hash = malloc((next[p->n] + 1) * sizeof *p->hash);
            p->row = malloc((next[p->n] + 1) * sizeof *p->row);
            if (p->hash == NULL || p->row == NULL)
                return err_set(e, "out of memory");
        }
    }
    return true;
}

static void partition_fini(struct partition *p)
{
    free(p->hash);
    free(p->row);
    free(p->first);
}

/* Finds the objects among rows [from, to) of the partition. */
static bool find_objects(struct object_table *o, const struct dataset *d, const struct table *t,
                         const struct partition *p, size_t from, size_t to)
{
    object_table_clear(o, to - from);
    for (size_t k = from; k < to; k++) {
        if (k + 16 < to)
            __builtin_prefetch(&t->start[p->row[k + 16]]);
        uint32_t row = p->row[k];
        int64_t start_ns = t->start[row];
        size_t slot = slot_of(o, p->hash[k]);
        struct object *x = &o->v[slot];
        if (x->hash == 0) {
            *x = (struct object){p->hash[k], start_ns, start_ns, row, row};
            if (++o->n * 2 > o->mask && !object_table_grow(o))
                return false;
            continue;
        }
        if (start_ns < x->first_ns ||
            (start_ns == x->first_ns && dataset_compare(d, t, row, t, x->first) < 0)) {
            x->first_ns = start_ns;
            x->first = row;
        }
        if (start_ns > x->last_ns ||
            (start_ns == x->last_ns && dataset_compare(d, t, row, t, x->last) > 0)) {
            x->last_ns = start_ns;
            x->last = row;
        }
    }
    return true;
}

bool access_init(struct access *a, const struct dataset *d, const struct table *t,
                 const int64_t *edges, size_t n_buckets, struct err *e)
{
    *a = (struct access){.n_buckets = n_buckets};
    struct partition p;
    struct object_table o = {.v = malloc(FIRST_CAPACITY * sizeof *o.v), .capacity = FIRST_CAPACITY};
    bool ok = partition_init(&p, t, edges, n_buckets, e);
    if (ok && o.v == NULL)
        ok = err_set(e, "out of memory");

    size_t n_parts = ok ? p.n / n_buckets : 0, at = 0;
    for (size_t b = 0; ok && b < n_buckets; b++) {
        a->first[b] = at;
        for (size_t k = b * n_parts; ok && k < (b + 1) * n_parts; k++) {
            if (p.first[k] == p.first[k + 1])
                continue;
            if (!find_objects(&o, d, t, &p, p.first[k], p.first[k + 1])) {
                ok = err_set(e, "out of memory");
                break;
            }
            /* The pairs take the place of the hashes, which are not needed any more. */
            for (size_t i = 0; i <= o.mask; i++)
                if (o.v[i].hash != 0)
                    p.hash[at++] = o.v[i].first | (uint64_t)o.v[i].last << 32;
        }
        a->n[b] = at - a->first[b];
        a->repeated[b] = ok && a->n[b] < p.first[(b + 1) * n_parts] - p.first[b * n_parts];
    }
    if (ok) {
        uint64_t *fitting = realloc(p.hash, (at + 1) * sizeof *fitting);
        a->pair = fitting != NULL ? fitting : p.hash;
        p.hash = NULL;
    }
    free(o.v);
    partition_fini(&p);
    return ok;
}

void access_fini(struct access *a)
{
    free(a->pair);
    *a = (struct access){0};
}
