/* Request statistics (docs/how-the-numbers-are-made.md, section 5) of one operation, in pieces that
 * may run at the same time: each fills fields that no other one touches. */
#include "analyze/summary/requests/requests.h"

#include "analyze/base/csort.h"
#include "analyze/base/hugemem.h"
#include "analyze/summary/requests/sample.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- First and last accesses ----
 *
 * Rows are partitioned by the hash of their key, so that the hash table of one partition stays in
 * the cache however many keys there are. */

/* First and last row of each object, by size bucket: bucket b holds the sizes in [edge[b], edge[b +
 * 1]). */
struct access {
    size_t n_buckets;
    uint64_t *pair;                     /* first row in the low half, last row in the high half */
    size_t first[ANALYSIS_N_SIZES + 1]; /* pairs of bucket b: n[b] from pair[first[b]] on */
    size_t n[ANALYSIS_N_SIZES];         /* objects */
    bool repeated[ANALYSIS_N_SIZES];    /* some object was accessed more than once */
};

#define PART_ROWS     4096 /* rows wanted in each partition */
#define MAX_PART_BITS 10
#define FIRST_OBJECTS 1024 /* objects for which the hash table has room at first */
#define FEW_OBJECTS   8192 /* up to here the whole hash table stays in the cache */
#define PREFETCH      32   /* rows to prefetch ahead */
#define SLOTS_EACH    4    /* slots of the hash table per object: few lookups need a second one */

/* Spreads all bits of a hash upwards. Hashes of keys are evenly spread, but nobody knows in which
 * bits. */
static inline uint64_t spread(uint64_t hash)
{
    return hash * UINT64_C(0x9E3779B97F4A7C15);
}

#define NOT_YET INT64_MIN

struct object {
    uint64_t hash;
    int64_t first_ns, last_ns; /* starts of the two rows; NOT_YET until a second row comes */
    uint32_t first, last;
};

/* Objects in order of appearance, found through an open-addressing table of their hashes. */
struct object_table {
    struct object *v;
    size_t n, cap;
    uint32_t *slot; /* index into v + 1; 0: free */
    size_t mask;    /* slots in use - 1 */
};

static size_t slot_of(const struct object_table *o, uint64_t hash)
{
    size_t slot = (size_t)(spread(hash) >> 20) & o->mask;
    while (o->slot[slot] != 0 && o->v[o->slot[slot] - 1].hash != hash)
        slot = (slot + 1) & o->mask;
    return slot;
}

static bool object_table_grow(struct object_table *o)
{
    size_t cap = o->cap > 0 ? o->cap * 2 : FIRST_OBJECTS;
    uint32_t *slot;

    if (!mem_room(&o->v, cap, NULL) || !mem_cleared(&slot, cap * SLOTS_EACH, NULL))
        return false;
    free(o->slot);
    o->slot = slot;
    o->mask = cap * SLOTS_EACH - 1;
    o->cap = cap;
    for (size_t i = 0; i < o->n; i++)
        slot[slot_of(o, o->v[i].hash)] = (uint32_t)i + 1;
    return true;
}

/* Empties the table for at most n_rows objects. */
static void object_table_clear(struct object_table *o, size_t n_rows)
{
    size_t n_slots = 64;
    while (n_slots < SLOTS_EACH * n_rows && n_slots < SLOTS_EACH * o->cap)
        n_slots *= 2;
    o->mask = n_slots - 1;
    o->n = 0;
    memset(o->slot, 0, (o->mask + 1) * sizeof *o->slot);
}

/* Rows with a key, grouped by partition. */
struct partition {
    uint64_t *hash;
    uint32_t *row;
    size_t *first; /* n + 1 */
    size_t n;
};

/* Returns the bucket of a size; n_buckets: none. A last edge of INT64_MAX excludes no size. */
static inline size_t bucket_of(const int64_t *edges, size_t n_buckets, int64_t bytes)
{
    if (bytes < edges[0] || (bytes >= edges[n_buckets] && edges[n_buckets] < INT64_MAX))
        return n_buckets;
    size_t b = 0;
    while (b + 1 < n_buckets && bytes >= edges[b + 1])
        b++;
    return b;
}

/* Returns the bucket of a row; n_buckets: the row does not count. */
static inline size_t bucket_of_row(const struct table *t, size_t i, const int64_t *edges,
                                   size_t n_buckets)
{
    if (table_failed(t, i) || t->object[i] == 0)
        return n_buckets;
    if (n_buckets == 1 && edges[0] == 0 && edges[1] == INT64_MAX)
        return 0;
    return bucket_of(edges, n_buckets, packed_get(&t->bytes, i));
}

static bool partition_init(struct partition *p, const struct table *t, const int64_t *edges,
                           size_t n_buckets, struct err *e)
{
    unsigned bits = 0;
    while (bits < MAX_PART_BITS && (t->n >> bits) > PART_ROWS)
        bits++;
    unsigned shift = 63 - bits;
    *p = (struct partition){.n = n_buckets << bits};
    if (!mem_cleared(&p->first, p->n + 2, e))
        return false;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < t->n; i++) {
            size_t b = bucket_of_row(t, i, edges, n_buckets);
            if (b == n_buckets)
                continue;
            size_t part = (b << bits) + (size_t)(spread(t->object[i]) >> 1 >> shift);
            if (pass == 0) {
                csort_count(p->first, part);
            } else {
                size_t at = csort_place(p->first, part);
                p->hash[at] = t->object[i];
                p->row[at] = (uint32_t)i;
            }
        }
        if (pass == 0) {
            size_t n = csort_sum(p->first, p->n);
            p->hash = hugemem_alloc((n + 1) * sizeof *p->hash);
            p->row = hugemem_alloc((n + 1) * sizeof *p->row);
            if (p->hash == NULL || p->row == NULL)
                return mem_none(e);
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

/* Adds a row to the object of `hash`. It reads the column of starts only from an object's second
 * row on: where there are many objects, most have one row. */
static inline bool add_row(struct object_table *o, const struct dataset *d, const struct table *t,
                           uint64_t hash, uint32_t row)
{
    size_t slot = slot_of(o, hash);
    if (o->slot[slot] == 0) {
        o->v[o->n++] = (struct object){hash, NOT_YET, NOT_YET, row, row};
        o->slot[slot] = (uint32_t)o->n;
        return o->n < o->cap || object_table_grow(o);
    }
    struct object *x = &o->v[o->slot[slot] - 1];
    int64_t start_ns = t->start[row];
    if (x->first_ns == NOT_YET)
        x->first_ns = x->last_ns = t->start[x->first];
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
    return true;
}

static void put_pairs(const struct object_table *o, uint64_t *pair)
{
    for (size_t i = 0; i < o->n; i++)
        pair[i] = o->v[i].first | (uint64_t)o->v[i].last << 32;
}

/* Finds the rows without partitions, provided that there are few objects (*done). */
static bool find_few(struct access *a, struct object_table *o, const struct dataset *d,
                     const struct table *t, const int64_t *edges, bool *done, struct err *e)
{
    size_t n_rows = 0;
    bool ok = true;

    for (size_t i = 0; ok && i < t->n && o->n <= FEW_OBJECTS; i++) {
        if (bucket_of_row(t, i, edges, 1) != 0)
            continue;
        n_rows++;
        ok = add_row(o, d, t, t->object[i], (uint32_t)i) || mem_none(e);
    }
    *done = ok && o->n <= FEW_OBJECTS;
    if (!*done)
        return ok;
    if (!mem_new(&a->pair, o->n, e))
        return false;
    a->n[0] = o->n;
    put_pairs(o, a->pair);
    a->repeated[0] = a->n[0] < n_rows;
    return true;
}

static bool find_in_partitions(struct access *a, struct object_table *o, const struct dataset *d,
                               const struct table *t, const int64_t *edges, struct err *e)
{
    struct partition p;
    bool ok = partition_init(&p, t, edges, a->n_buckets, e);
    size_t n_parts = ok ? p.n / a->n_buckets : 0, at = 0;
    bool many_rows_each = true; /* guess from the last partition: starts will be read */
    for (size_t b = 0; ok && b < a->n_buckets; b++) {
        a->first[b] = at;

        for (size_t k = b * n_parts; ok && k < (b + 1) * n_parts; k++) {
            size_t from = p.first[k], to = p.first[k + 1];
            if (from == to)
                continue;
            object_table_clear(o, to - from);
            for (size_t i = from; ok && i < to; i++) {
                if (many_rows_each && i + PREFETCH < to)
                    __builtin_prefetch(&t->start[p.row[i + PREFETCH]]);
                ok = add_row(o, d, t, p.hash[i], p.row[i]);
            }
            /* The pairs replace the hashes, which are no longer needed. */
            put_pairs(o, p.hash + at);
            at += o->n;
            many_rows_each = o->n < (to - from) / 2;
        }
        a->n[b] = at - a->first[b];
        a->repeated[b] = a->n[b] < p.first[(b + 1) * n_parts] - p.first[b * n_parts];
    }
    if (ok) {
        uint64_t *fitting = realloc(p.hash, (at + 1) * sizeof *fitting);
        a->pair = fitting != NULL ? fitting : p.hash;
        p.hash = NULL;
    }
    partition_fini(&p);
    return ok || mem_none(e);
}

/* Finds the first and last rows among all successful requests of the table that have a key
 * and a size in a bucket. Returns false if out of memory. access_fini may be called in any case.
 * Memory: 12 bytes a row while it runs, then 8 bytes an object. */
static bool access_init(struct access *a, const struct dataset *d, const struct table *t,
                        const int64_t *edges, size_t n_buckets, struct err *e)
{
    *a = (struct access){.n_buckets = n_buckets};
    struct object_table o = {0};
    bool done = false;
    bool ok = object_table_grow(&o) || mem_none(e);
    if (ok && n_buckets == 1)
        ok = find_few(a, &o, d, t, edges, &done, e);
    if (ok && !done)
        ok = find_in_partitions(a, &o, d, t, edges, e);
    free(o.v);
    free(o.slot);
    return ok;
}

static void access_fini(struct access *a)
{
    free(a->pair);
    *a = (struct access){0};
}

static struct parts one_part(const int64_t *room)
{
    return (struct parts){.n = 1, .room = room};
}

static struct parts parts_of(const struct set_group *g)
{
    return (struct parts){.n = g->keys.n, .of_place = g->keys.of_place, .room = g->n_inside};
}

bool requests_work_init(struct requests_work *w, struct operation *op, const struct set *s,
                        enum analysis_depth depth, struct err *e)
{
    struct requests *r = &op->requests;
    const struct table *t = s->scans[0]->t;

    *w = (struct requests_work){
        .brief = depth >= ANALYSIS_BRIEF,
        .op = op,
        .s = s,
        .rows = {.t = t, .scan = s->scans[0], .range = s->ok, .n = t->n},
        .hosts = parts_of(&s->hosts),
        .clients = parts_of(&s->clients),
    };
    if (!w->brief && op->clients != NULL &&
        !mem_cleared(&op->client_requests, s->clients.keys.n, e))
        return false;
    if (depth == ANALYSIS_TOTALS || !segment_range_usable(&s->ok) || s->n_inside == 0)
        return true;
    r->present = true;
    r->n = s->n_inside;
    r->single_size = s->scans[0]->min_bytes == s->scans[0]->max_bytes;
    if (r->single_size)
        r->object_size_bytes = s->scans[0]->min_bytes;
    if (!w->brief && w->hosts.n > 1 && !mem_cleared(&r->hosts, w->hosts.n, e))
        return false;
    w->by_host = r->hosts;
    return true;
}

/* Fills the times of a column, which are `at` bytes from the beginning of struct durations: of each
 * host where there is one size, and of each client. */
static bool fill_column(const struct requests_work *w, const struct packed *column, size_t at,
                        struct err *e)
{
    struct durations *clients = w->op->client_requests;

    return (w->by_host == NULL || !w->op->requests.single_size ||
            sample_times(&w->rows, &w->hosts, column,
                         (struct times *)((char *)&w->by_host->single + at), sizeof *w->by_host,
                         e)) &&
           (clients == NULL ||
            sample_times(&w->rows, &w->clients, column, (struct times *)((char *)clients + at),
                         sizeof *clients, e));
}

bool requests_times(void *work, struct err *e)
{
    const struct requests_work *w = work;

    return fill_column(w, &w->rows.t->dur, offsetof(struct durations, dur), e) &&
           fill_column(w, &w->rows.t->ttfb, offsetof(struct durations, ttfb), e);
}

bool requests_access(void *work, struct err *e)
{
    static const int64_t all_sizes[] = {0, INT64_MAX};
    struct requests_work *w = work;
    struct requests *r = &w->op->requests;
    struct access a;
    bool ok = access_init(&a, w->s->d, w->rows.t, all_sizes, 1, e);

    if (ok && a.repeated[0]) {
        const int64_t room = (int64_t)a.n[0];
        const struct parts all = one_part(&room);
        struct rows rows = {.t = w->rows.t, .pair = a.pair, .n = a.n[0]};

        ok = sample_times(&rows, &all, &rows.t->dur, &r->first_access.dur, 0, e) &&
             sample_times(&rows, &all, &rows.t->ttfb, &r->first_access.ttfb, 0, e);
        rows.shift = 32;
        ok = ok && sample_times(&rows, &all, &rows.t->dur, &r->last_access.dur, 0, e) &&
             sample_times(&rows, &all, &rows.t->ttfb, &r->last_access.ttfb, 0, e);
    }
    access_fini(&a);
    return ok;
}

/* ---- Several sizes ---- */

size_t requests_join_classes(const int64_t *n_by_class, int64_t n, uint8_t *of_class,
                             int64_t *edges)
{
    size_t first = 0, last = ANALYSIS_N_SIZES - 1;
    while (n_by_class[first] == 0)
        first++;
    while (n_by_class[last] == 0)
        last--;
    int64_t least = n / 20 > 1 ? n / 20 : 1, in_bucket = 0;
    size_t n_buckets = 0;
    edges[0] = analysis_size_edges[first];
    for (size_t c = first; c <= last; c++) {
        in_bucket += n_by_class[c];
        of_class[c] = (uint8_t)n_buckets;
        if (in_bucket >= least) {
            edges[++n_buckets] = analysis_size_edges[c + 1];
            in_bucket = 0;
        }
    }
    /* Classes left over at the top join the last bucket. */
    for (size_t c = first; c <= last; c++)
        if (of_class[c] == n_buckets)
            of_class[c]--;
    edges[n_buckets] = analysis_size_edges[last + 1];
    return n_buckets;
}

static bool first_access_by_size(struct requests *r, const struct requests_work *w,
                                 const int64_t *edges, struct err *e)
{
    struct access a;
    bool ok = access_init(&a, w->s->d, w->rows.t, edges, r->n_sizes, e);

    for (size_t b = 0; ok && b < r->n_sizes; b++) {
        if (!a.repeated[b])
            continue;
        const int64_t room = (int64_t)a.n[b];
        const struct parts all = one_part(&room);
        struct rows rows = {.t = w->rows.t, .pair = a.pair + a.first[b], .n = a.n[b]};
        ok = sample_sized(&rows, &all, &r->sizes[b].first_access, sizeof *r->sizes, e);
    }
    access_fini(&a);
    return ok;
}

bool requests_sizes(void *work, struct err *e)
{
    struct requests_work *w = work;
    struct requests *r = &w->op->requests;
    int64_t n_by_class[ANALYSIS_N_SIZES] = {0}, n = 0;
    __int128 bytes = 0;
    size_t row;

    for (size_t b = 0; b < rows_n_blocks(&w->rows); b++) {
        const struct rows_block block = rows_block(&w->rows, b);
        for (size_t k = block.from; k < block.to; k++) {
            if (!rows_get(&w->rows, &block, k, &row))
                continue;
            int64_t size = packed_get(&w->rows.t->bytes, row);
            n_by_class[analysis_size_class(size)]++;
            bytes += size;
            n++;
        }
    }
    uint8_t of_class[ANALYSIS_N_SIZES] = {0};
    int64_t edges[ANALYSIS_N_SIZES + 1], room[ANALYSIS_N_SIZES] = {0};
    r->mean_bytes = (double)bytes / (double)n;
    r->n_sizes = requests_join_classes(n_by_class, n, of_class, edges);
    if (!mem_cleared(&r->sizes, r->n_sizes, e))
        return false;
    for (size_t c = 0; c < ANALYSIS_N_SIZES; c++)
        room[of_class[c]] += n_by_class[c];
    for (size_t b = 0; b < r->n_sizes; b++) {
        r->sizes[b].min_bytes = edges[b];
        r->sizes[b].max_bytes = edges[b + 1] == INT64_MAX ? -1 : edges[b + 1];
    }
    const struct parts by_size = {.n = r->n_sizes, .of_class = of_class, .room = room};
    return sample_sized(&w->rows, &by_size, &r->sizes[0].all, sizeof *r->sizes, e) &&
           sample_times(&w->rows, &by_size, &w->rows.t->dur, &r->sizes[0].dur, sizeof *r->sizes,
                        e) &&
           (w->by_host == NULL ||
            sample_sized(&w->rows, &w->hosts, &w->by_host->sized, sizeof *w->by_host, e)) &&
           (w->brief || first_access_by_size(r, w, edges, e));
}

/* ---- Together ---- */

void requests_work_finish(struct requests_work *w)
{
    if (w->by_host == NULL)
        return;
    struct requests *r = &w->op->requests;
    const struct set_group *g = &w->s->hosts;
    for (size_t k = 0; k < g->keys.n; k++) {
        if (g->n_inside[k] == 0)
            continue;
        r->hosts[r->n_hosts] = r->hosts[k];
        r->hosts[r->n_hosts++].host = w->s->d->hosts.v[g->keys.id[k]];
    }
    if (r->n_hosts < 2) /* one host: its figures are those of all */
        r->n_hosts = 0;
}

void requests_free(struct requests *r)
{
    free(r->sizes);
    free(r->hosts);
}
