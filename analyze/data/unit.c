#include "analyze/data/unit.h"

#include "analyze/data/errnorm.h"
#include "libcommon/int64.h"
#include "libcommon/le.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

#define KNOWN_LOG_LEAST 8
#define KNOWN_LOG_MOST  17 /* 8 MiB */

/* A unit's tables begin with room for this many rows, as many as a unit usually holds. */
#define UNIT_ROWS 32768

static const struct op_span no_span = {INT64_MAX, INT64_MIN, 0};

/* Returns the slot at which to start looking for x. Every word goes into the hash, since names of
 * one domain differ in few of them. So does the key: nobody can choose names that all collide. */
static inline size_t slot_of(const struct dataset_unit *u, const struct dataset_unit_known *x)
{
    uint64_t a = intern_fold(x->host_words[0] ^ u->key, x->host_words[2] ^ ~u->key);
    uint64_t b = intern_fold(x->op_word ^ u->key, x->client_words[0] ^ ~u->key);

    return intern_fold(a ^ x->host_words[1] ^ u->key, b ^ x->client_words[1] ^ ~u->key) >>
           (64 - u->known_log);
}

/* Returns the first free slot for x, at or after slot_of. */
static struct dataset_unit_known *free_slot(struct dataset_unit *u,
                                            const struct dataset_unit_known *x)
{
    size_t i = slot_of(u, x), mask = ((size_t)1 << u->known_log) - 1;

    while (u->known[i].group != UINT32_MAX)
        i = (i + 1) & mask;
    return &u->known[i];
}

static bool grow_known(struct dataset_unit *u, struct err *e)
{
    struct dataset_unit_known *old = u->known;
    size_t n_old = old ? (size_t)1 << u->known_log : 0;
    unsigned log = old ? u->known_log + 1 : KNOWN_LOG_LEAST;
    size_t n = (size_t)1 << log;
    struct dataset_unit_known *grown = aligned_alloc(64, n * sizeof *grown);

    if (!grown)
        return mem_none(e);
    for (size_t i = 0; i < n; i++)
        grown[i] = (struct dataset_unit_known){.group = UINT32_MAX};
    u->known = grown;
    u->known_log = log;
    for (size_t i = 0; i < n_old; i++)
        if (old[i].group != UINT32_MAX)
            *free_slot(u, &old[i]) = old[i];
    free(old);
    return true;
}

struct dataset_unit *dataset_unit_new(const struct dataset_filter *filter, struct err *e)
{
    struct dataset_unit *u;

    if (!mem_cleared(&u, 1, e))
        return NULL;
    u->filter = filter;
    u->key = intern_random_key();
    dataset_unit_clear(u);
    if ((intern_add(&u->errors, (struct slice){"", 0}) != INTERN_NONE || mem_none(e)) &&
        grow_known(u, e))
        return u;
    dataset_unit_free(u);
    return NULL;
}

void dataset_unit_free(struct dataset_unit *u)
{
    for (size_t i = 0; i < u->n_parts; i++)
        table_fini(&u->parts[i].rows);
    free(u->parts);
    intern_fini(&u->ops);
    intern_fini(&u->hosts);
    intern_fini(&u->clients);
    intern_fini(&u->errors);
    intern_fini(&u->groups);
    free(u->known);
    free(u->ops_global);
    free(u->places_global);
    free(u->errors_global);
    free(u);
}

void dataset_unit_clear(struct dataset_unit *u)
{
    for (size_t i = 0; i < u->n_parts; i++) {
        table_clear(&u->parts[i].rows);
        u->parts[i].span = no_span;
        u->parts[i].next.n = 0;
    }
    u->first_start_ns = INT64_MAX;
    u->last_end_ns = INT64_MIN;
    u->top_thread = -1;
    u->n_rows = u->fingerprint = u->n_unsized = 0;
}

/* Returns the first 8 bytes of s, with zeros for those it does not have. Reads beyond a short s;
 * see RECORD_PADDING. */
static inline uint64_t first_word(struct slice s)
{
    uint64_t x = le_load(s.p, 8);

    return s.n >= 8 ? x : x & ~(UINT64_MAX << (8 * s.n));
}

/* Returns the 8 bytes before the last `skipped` bytes of s; 0: s is too short. */
static inline uint64_t late_word(struct slice s, size_t skipped)
{
    return s.n >= skipped + 8 ? le_load(s.p + s.n - skipped - 8, 8) : 0;
}

static bool add_part(struct dataset_unit *u, struct err *e)
{
    if (!mem_room(&u->parts, u->n_parts + 1, e))
        return false;
    u->parts[u->n_parts].span = no_span;
    u->parts[u->n_parts].next.n = 0;
    if (!table_init(&u->parts[u->n_parts].rows, (uint32_t)u->n_parts, UNIT_ROWS))
        return mem_none(e);
    u->n_parts++;
    return true;
}

/* Returns a hash of s without its first 8 and, roughly, its last `skipped` bytes. */
static inline uint64_t middle(const struct dataset_unit *u, struct slice s, size_t skipped)
{
    uint64_t h = u->key;

    for (size_t i = 8; i + skipped < s.n; i += 8)
        h = intern_fold(h ^ le_load(s.p + i, 8), UINT64_C(0x9e3779b97f4a7c15));
    return h;
}

static inline __attribute__((always_inline)) struct dataset_unit_known
known_of(const struct dataset_unit *u, const struct record *r)
{
    struct slice host = r->endpoint, client = r->client, op = r->op;
    bool is_long = host.n > 24 || client.n > 16 || op.n > 8;

    return (struct dataset_unit_known){
        .host_words = {first_word(host), host.n > 24 ? middle(u, host, 16) : late_word(host, 8),
                       late_word(host, 0)},
        .client_words = {first_word(client), client.n > 16
                                                 ? middle(u, client, 8) ^ late_word(client, 0)
                                                 : late_word(client, 0)},
        .op_word = first_word(op) ^ (op.n > 8 ? middle(u, op, 8) ^ late_word(op, 0) : 0),
        .group = UINT32_MAX,
        .lengths = is_long ? DATASET_UNIT_LONG
                           : (uint32_t)host.n | (uint32_t)client.n << 8 | (uint32_t)op.n << 16,
    };
}

static bool same(struct slice a, struct slice b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Whether the group has the same names as the row, compared in full. */
static bool is_group(const struct dataset_unit *u, uint32_t group, const struct record *r)
{
    struct dataset_unit_group g;

    memcpy(&g, u->groups.strings[group].p, sizeof g);
    return same(u->ops.strings[g.op], r->op) && same(u->hosts.strings[g.host], r->endpoint) &&
           same(u->clients.strings[g.client], r->client);
}

/* Returns the row's group, which has no slot: adds it if it is new, and gives it a slot if one can
 * be had. NULL: *e says why. */
static __attribute__((noinline)) const struct dataset_unit_known *
find_group(struct dataset_unit *u, const struct record *r, struct err *e)
{
    struct dataset_unit_group g = {intern_add(&u->ops, r->op), intern_add(&u->hosts, r->endpoint),
                                   intern_add(&u->clients, r->client)};
    size_t n_known = u->groups.n;

    if (g.op == INTERN_NONE || g.host == INTERN_NONE || g.client == INTERN_NONE) {
        mem_none(e);
        return NULL;
    }
    if (u->ops.n > DATASET_MAX_OPS) {
        err_set(e, "more than %d operation types: not a capture of S3 requests", DATASET_MAX_OPS);
        return NULL;
    }
    if (u->ops.n > u->n_parts && !add_part(u, e))
        return NULL;
    uint32_t id = intern_add(&u->groups, (struct slice){(const char *)&g, sizeof g});
    if (id == INTERN_NONE) {
        mem_none(e);
        return NULL;
    }
    const struct dataset_filter *f = u->filter;
    u->unknown = known_of(u, r);
    u->unknown.group = id;
    u->unknown.op_id = g.op;
    u->unknown.in_span = filter_name_matches(f->host, u->hosts.strings[g.host].p) &&
                         filter_name_matches(f->client, u->clients.strings[g.client].p);
    u->unknown.keep =
        u->unknown.in_span && filter_op_matches(f->ops, f->n_ops, u->ops.strings[g.op].p);
    if (id < n_known) /* not new: there was no slot for it before, either */
        return &u->unknown;
    bool full = u->groups.n > (size_t)1 << (u->known_log - 1);
    if (full && u->known_log == KNOWN_LOG_MOST)
        return &u->unknown;
    if (full && !grow_known(u, e))
        return NULL;
    struct dataset_unit_known *slot = free_slot(u, &u->unknown);
    *slot = u->unknown;
    return slot;
}

static inline bool is_known(const struct dataset_unit *u, const struct dataset_unit_known *x,
                            const struct dataset_unit_known *y, const struct record *r)
{
    uint64_t differ =
        (x->host_words[0] ^ y->host_words[0]) | (x->host_words[1] ^ y->host_words[1]) |
        (x->host_words[2] ^ y->host_words[2]) | (x->client_words[0] ^ y->client_words[0]) |
        (x->client_words[1] ^ y->client_words[1]) | (x->op_word ^ y->op_word);

    return !differ && x->lengths == y->lengths &&
           (y->lengths != DATASET_UNIT_LONG || is_group(u, y->group, r));
}

/* The slots of rows are prefetched ROWS_AHEAD rows early if there are more than 2^CACHED_LOG slots,
 * too many to stay in the cache: with thousands of hosts, each row would wait for memory. */
#define ROWS_AHEAD 8
#define CACHED_LOG 10
static inline const struct dataset_unit_known *first_slot(const struct dataset_unit *u,
                                                          const struct record *r)
{
    struct dataset_unit_known x = known_of(u, r);

    return &u->known[slot_of(u, &x)];
}

/* Returns the row's group. NULL: *e says why. */
static inline const struct dataset_unit_known *group_of(struct dataset_unit *u,
                                                        const struct record *r, struct err *e)
{
    struct dataset_unit_known x = known_of(u, r);
    size_t mask = ((size_t)1 << u->known_log) - 1;

    for (size_t i = slot_of(u, &x); u->known[i].group != UINT32_MAX; i = (i + 1) & mask)
        if (__builtin_expect(is_known(u, &x, &u->known[i], r), 1))
            return &u->known[i];
    return find_group(u, r, e);
}

static __attribute__((noinline)) uint32_t error_of(struct dataset_unit *u, const struct record *r)
{
    char text[ERRNORM_MAX_BYTES];
    struct slice s = {text, errnorm_message(r->error, r->file, text)};

    if (u->errors.n >= DATASET_MAX_ERRORS && intern_find(&u->errors, s) == INTERN_NONE)
        s = slice_of(DATASET_OTHER_ERRORS);
    return intern_add(&u->errors, s);
}

static bool flush(struct dataset_unit_part *part, struct err *e)
{
    bool ok = part->next.n == 0 || table_add(&part->rows, &part->next, e);

    part->next.n = 0;
    return ok;
}

/* Adds a row to the part's block; a full block goes into the table. */
static bool add_to_part(struct dataset_unit *u, struct dataset_unit_part *part, uint32_t group,
                        const struct record *r, struct err *e)
{
    struct table_rows *to = &part->next;
    uint32_t error = r->error.n ? error_of(u, r) : 0;

    if (error == INTERN_NONE)
        return mem_none(e);
    size_t i = to->n++;
    to->start[i] = r->start_ns;
    to->dur[i] = r->end_ns - r->start_ns;
    to->bytes[i] = r->bytes;
    to->ttfb[i] = record_ttfb_ns(r);
    to->objects[i] = r->n_objects;
    to->late[i] = r->intended_ns == RECORD_NO_TIME ? RECORD_NO_TIME : r->start_ns - r->intended_ns;
    to->object[i] = dataset_unit_object(u->key, r->file);
    to->thread[i] = r->thread;
    to->place[i] = group;
    to->error[i] = (uint16_t)error;
    if (!slowest_add(&part->rows.slowest, to->dur[i], to->object[i], r->file))
        return mem_none(e);
    return to->n < TABLE_BLOCK_ROWS || flush(part, e);
}

/* Returns a hash of the row's start, end and bytes. The thread is left out: a merged copy has other
 * thread numbers. */
static inline uint64_t fingerprint_of(uint64_t key, const struct record *r)
{
    uint64_t a = (uint64_t)r->start_ns ^ key;
    uint64_t b = (uint64_t)r->end_ns ^ (uint64_t)r->bytes << 32 ^ (uint64_t)r->bytes >> 32 ^ ~key;

    return intern_fold(a, b);
}

bool dataset_unit_add(struct dataset_unit *u, const struct record *rows, size_t n, struct err *e)
{
    u->n_rows += n;
    for (const struct record *r = rows; r < rows + n; r++) {
        if (u->known_log > CACHED_LOG && rows + n - r > ROWS_AHEAD)
            __builtin_prefetch(first_slot(u, r + ROWS_AHEAD));
        const struct dataset_unit_known *g = group_of(u, r, e);
        if (!g)
            return false;
        u->first_start_ns = int64_min(u->first_start_ns, r->start_ns);
        u->last_end_ns = int64_max(u->last_end_ns, r->end_ns);
        u->top_thread = int64_max(u->top_thread, r->thread);
        u->fingerprint += fingerprint_of(u->key, r);
        if (!g->in_span)
            continue;
        struct dataset_unit_part *part = &u->parts[g->op_id];
        part->span.start_ns = int64_min(part->span.start_ns, r->start_ns);
        part->span.end_ns = int64_max(part->span.end_ns, r->end_ns);
        part->span.n++;
        if (!g->keep)
            continue;
        if (!filter_size_matches(&u->filter->sizes, r->bytes))
            u->n_unsized += r->error.n > 0 && r->bytes == 0;
        else if (!add_to_part(u, part, g->group, r, e))
            return false;
    }
    return true;
}

bool dataset_unit_finish(struct dataset_unit *u, struct err *e)
{
    for (size_t i = 0; i < u->n_parts; i++)
        if (!flush(&u->parts[i], e))
            return false;
    return true;
}
