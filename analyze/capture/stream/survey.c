#include "analyze/capture/stream/survey.h"

#include "analyze/base/intern.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rough size of a row without its texts. */
#define ROW_BYTES 150

/* The ids of the names by which requests are grouped. */
struct key {
    uint32_t op, host, client;
};

/* A set of numbers. */
struct numbers {
    uint64_t *v;   /* number + 1; 0: free */
    size_t n, cap; /* cap: a power of two, or 0 */
};

/* Sums of the rows of a part of the file, by group. */
struct unit {
    struct intern ops, hosts, clients, keys;
    struct survey_sum *sums; /* by id in `keys` */
    struct key last;         /* names of the last row, which most rows share */
    uint64_t n_rows, rows_hash;
    struct numbers threads;
    uint32_t top_thread;
    struct survey_block *blocks;
    size_t n_blocks, block_bytes;
};

struct surveyor {
    struct survey *s;
    bool with_blocks;
    struct intern ops, hosts, clients, keys;
    struct numbers threads; /* section << 32 | thread */
};

static void sum_add(struct survey_sum *to, const struct survey_sum *s)
{
    to->n += s->n;
    to->n_errors += s->n_errors;
    to->n_bytes += s->n_bytes;
    to->first_start_ns = int64_min(to->first_start_ns, s->first_start_ns);
    to->last_end_ns = int64_max(to->last_end_ns, s->last_end_ns);
}

/* ---- Sets of numbers ---- */

static inline uint64_t *numbers_slot(const struct numbers *t, uint64_t number)
{
    for (size_t i = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 20);; i++) {
        uint64_t *slot = &t->v[i & (t->cap - 1)];
        if (*slot == 0 || *slot == number + 1)
            return slot;
    }
}

static bool numbers_grow(struct numbers *t)
{
    struct numbers grown = {.cap = t->cap ? 2 * t->cap : 256};

    if (!mem_cleared(&grown.v, grown.cap, NULL))
        return false;
    for (size_t i = 0; i < t->cap; i++)
        if (t->v[i])
            *numbers_slot(&grown, t->v[i] - 1) = t->v[i];
    grown.n = t->n;
    free(t->v);
    *t = grown;
    return true;
}

static inline bool numbers_add(struct numbers *t, uint64_t number)
{
    if (2 * t->n >= t->cap && !numbers_grow(t))
        return false;
    uint64_t *slot = numbers_slot(t, number);
    t->n += *slot == 0;
    *slot = number + 1;
    return true;
}

/* ---- Units: any thread ---- */

static void *unit_new(void *ctx, struct err *e)
{
    struct unit *u;

    (void)ctx;
    return mem_cleared(&u, 1, e) ? u : NULL;
}

static void unit_free(void *ctx, void *unit)
{
    struct unit *u = unit;

    (void)ctx;
    intern_fini(&u->ops);
    intern_fini(&u->hosts);
    intern_fini(&u->clients);
    intern_fini(&u->keys);
    free(u->sums);
    free(u->threads.v);
    free(u->blocks);
    free(u);
}

/* Returns the id of s; tries `last` first. */
static inline uint32_t id_of(struct intern *t, struct slice s, uint32_t last)
{
    if (last < t->n && t->strings[last].n == s.n && memcmp(t->strings[last].p, s.p, s.n) == 0)
        return last;
    return intern_add(t, s);
}

/* Returns the sum of the row's group. NULL: out of memory. */
static inline struct survey_sum *sum_of(struct unit *u, const struct record *r)
{
    struct key k = {id_of(&u->ops, r->op, u->last.op), id_of(&u->hosts, r->endpoint, u->last.host),
                    id_of(&u->clients, r->client, u->last.client)};
    size_t n = u->keys.n;

    if (k.op == INTERN_NONE || k.host == INTERN_NONE || k.client == INTERN_NONE)
        return NULL;
    u->last = k;
    uint32_t id = intern_add(&u->keys, (struct slice){(const char *)&k, sizeof k});
    if (id == INTERN_NONE)
        return NULL;
    if (id == n) {
        if (!mem_more(&u->sums, n, NULL))
            return NULL;
        u->sums[n] = SURVEY_SUM_NONE;
    }
    return &u->sums[id];
}

static inline uint64_t slice_hash(struct slice s)
{
    return s.n ? intern_hash(s.p, s.n) : 0;
}

static uint64_t row_hash(const struct record *r)
{
    uint64_t parts[] = {
        (uint64_t)r->start_ns,     (uint64_t)r->end_ns,   (uint64_t)r->first_byte_ns,
        (uint64_t)r->last_byte_ns, (uint64_t)r->bytes,    (uint64_t)r->n_objects,
        slice_hash(r->op),         slice_hash(r->client), slice_hash(r->endpoint),
        slice_hash(r->file),       slice_hash(r->error),
    };
    /* Merged captures contain the hash, so it must be the same on every machine. */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        parts[i] = htole64(parts[i]);
    return intern_hash(parts, sizeof parts);
}

static bool add_to_block(struct unit *u, const struct record *r)
{
    struct survey_block *b = u->n_blocks ? &u->blocks[u->n_blocks - 1] : NULL;

    if (!b || b->n_rows == SURVEY_BLOCK_ROWS || u->block_bytes >= SURVEY_BLOCK_BYTES) {
        if (!mem_more(&u->blocks, u->n_blocks, NULL))
            return false;
        b = &u->blocks[u->n_blocks++];
        *b = (struct survey_block){.first_start_ns = INT64_MAX};
        u->block_bytes = 0;
    }
    b->n_rows++;
    b->first_start_ns = int64_min(b->first_start_ns, r->start_ns);
    u->block_bytes += ROW_BYTES + r->op.n + r->client.n + r->endpoint.n + r->file.n + r->error.n;
    return true;
}

static bool unit_rows(void *ctx, void *unit, const struct record *rows, size_t n, struct err *e)
{
    const struct surveyor *y = ctx;
    struct unit *u = unit;

    for (const struct record *r = rows; r < rows + n; r++) {
        struct survey_sum *sum = sum_of(u, r);
        if (!sum || !numbers_add(&u->threads, r->thread))
            return mem_none(e);
        sum_add(sum, &(struct survey_sum){.n = 1,
                                          .n_errors = r->error.n > 0,
                                          .n_bytes = r->error.n ? 0 : r->bytes,
                                          .first_start_ns = r->start_ns,
                                          .last_end_ns = r->end_ns});
        if (r->thread > u->top_thread)
            u->top_thread = r->thread;
        if (y->with_blocks) {
            u->rows_hash += row_hash(r);
            if (!add_to_block(u, r))
                return mem_none(e);
        }
    }
    u->n_rows += n;
    return true;
}

/* ---- Commit: one thread at a time ---- */

/* Adds a group of the unit to the survey's group with the same names. */
static bool commit_group(struct surveyor *y, const struct unit *u, uint32_t id)
{
    struct survey *s = y->s;
    struct key k;

    memcpy(&k, u->keys.strings[id].p, sizeof k);
    k.op = intern_add(&y->ops, u->ops.strings[k.op]);
    k.host = intern_add(&y->hosts, u->hosts.strings[k.host]);
    k.client = intern_add(&y->clients, u->clients.strings[k.client]);
    if (k.op == INTERN_NONE || k.host == INTERN_NONE || k.client == INTERN_NONE)
        return false;
    uint32_t group = intern_add(&y->keys, (struct slice){(const char *)&k, sizeof k});
    if (group == INTERN_NONE)
        return false;
    if (group == s->n_groups) {
        if (!mem_more(&s->groups, s->n_groups, NULL))
            return false;
        s->groups[s->n_groups++] = (struct survey_group){k.op, k.host, k.client, SURVEY_SUM_NONE};
    }
    sum_add(&s->groups[group].sum, &u->sums[id]);
    return true;
}

static bool commit_blocks(struct survey *s, const struct unit *u)
{
    for (size_t i = 0; i < u->n_blocks; i++) {
        if (!mem_more(&s->blocks, s->n_blocks, NULL))
            return false;
        s->blocks[s->n_blocks++] = u->blocks[i];
    }
    return true;
}

static bool commit_threads(struct surveyor *y, struct unit *u, uint32_t section)
{
    for (size_t i = 0; i < u->threads.cap; i++) {
        if (!u->threads.v[i])
            continue;
        if (!numbers_add(&y->threads, (uint64_t)section << 32 | (u->threads.v[i] - 1)))
            return false;
        u->threads.v[i] = 0;
    }
    u->threads.n = 0;
    return true;
}

static bool unit_commit(void *ctx, void *unit, uint32_t input, struct err *e)
{
    struct surveyor *y = ctx;
    struct survey *s = y->s;
    struct unit *u = unit;

    while (s->n_sections <= input) {
        if (!mem_more(&s->sections, s->n_sections, NULL))
            return mem_none(e);
        s->sections[s->n_sections++] = (struct survey_section){0};
    }
    for (uint32_t id = 0; id < u->keys.n; id++) {
        if (u->sums[id].n && !commit_group(y, u, id))
            return mem_none(e);
        sum_add(&s->sum, &u->sums[id]);
        u->sums[id] = SURVEY_SUM_NONE;
    }
    if (!commit_blocks(s, u) || !commit_threads(y, u, input))
        return mem_none(e);
    struct survey_section *section = &s->sections[input];
    section->n_rows += u->n_rows;
    if (u->top_thread > section->top_thread)
        section->top_thread = u->top_thread;
    s->rows_hash += u->rows_hash;
    u->n_rows = u->rows_hash = 0;
    u->top_thread = 0;
    u->n_blocks = 0;
    return true;
}

static bool comment(void *ctx, struct slice line, struct err *e)
{
    struct survey *s = ((struct surveyor *)ctx)->s;
    char text[SURVEY_MACHINE_BYTES + 24];

    if (line.n > SURVEY_MACHINE_BYTES || !slice_begins(line, "# s3load/machine/1 "))
        return keptlines_add(&s->comments, SURVEY_KEPT_COMMENTS, line.p, line.n, e);
    int n = snprintf(text, sizeof text, "%" PRIu64 " %.*s", s->comments.n + s->comments.n_left_out,
                     (int)line.n, line.p);
    return keptlines_add(&s->machine, SURVEY_KEPT_MACHINE, text, (size_t)n, e);
}

const char *survey_next_comment(const struct survey *s, struct survey_at *at)
{
    uint64_t n_before = at->i < SURVEY_KEPT_COMMENTS ? at->i : at->i + s->comments.n_left_out;
    const char *line = at->k < s->machine.n ? keptlines_get(&s->machine, at->k) : NULL;
    char *text = NULL;

    if (line != NULL && (strtoull(line, &text, 10) <= n_before || at->i == s->comments.n)) {
        at->k++;
        return text + 1;
    }
    return at->i < s->comments.n ? keptlines_get(&s->comments, at->i++) : NULL;
}

/* ---- The whole ---- */

static int by_name(const void *a, const void *b)
{
    const struct survey_part *p = a, *q = b;

    return strcmp(p->name, q->name);
}

/* Makes parts from the names, sorts them, and adds up their groups. `offset` is that of `op`,
 * `host` or `client` in struct survey_group; this member becomes an index into the sorted parts. */
static bool make_parts(struct survey *s, struct survey_parts *parts, struct intern *names,
                       size_t offset)
{
    uint32_t *at;

    if (!mem_new(&parts->v, names->n, NULL))
        return false;
    for (; parts->n < names->n; parts->n++) {
        if (!intern_show_nuls(&names->strings[parts->n]))
            return false;
        parts->v[parts->n] =
            (struct survey_part){(char *)names->strings[parts->n].p, SURVEY_SUM_NONE};
        names->strings[parts->n].p = NULL; /* now owned by the part */
    }
    if (!mem_new(&at, parts->n, NULL))
        return false;
    /* Finds each name's place after sorting; meanwhile sum.n holds its id. */
    for (size_t i = 0; i < parts->n; i++)
        parts->v[i].sum.n = i;
    qsort(parts->v, parts->n, sizeof *parts->v, by_name);
    for (size_t i = 0; i < parts->n; i++) {
        at[parts->v[i].sum.n] = (uint32_t)i;
        parts->v[i].sum.n = 0;
    }
    for (size_t i = 0; i < s->n_groups; i++) {
        uint32_t *index = (uint32_t *)((char *)&s->groups[i] + offset);
        *index = at[*index];
        sum_add(&parts->v[*index].sum, &s->groups[i].sum);
    }
    free(at);
    return true;
}

bool survey_read(struct survey *s, const char *path, const struct recfile_options *options,
                 bool with_blocks, struct err *e)
{
    struct surveyor y = {.s = s, .with_blocks = with_blocks};
    const struct recfile_sink sink = {.ctx = &y,
                                      .unit_new = unit_new,
                                      .unit_rows = unit_rows,
                                      .unit_commit = unit_commit,
                                      .unit_free = unit_free,
                                      .comment = comment};

    *s = (struct survey){.sum = SURVEY_SUM_NONE};
    bool ok = recfile_read(path, options, &sink, &s->info, e);
    if (ok && !(make_parts(s, &s->ops, &y.ops, offsetof(struct survey_group, op)) &&
                make_parts(s, &s->hosts, &y.hosts, offsetof(struct survey_group, host)) &&
                make_parts(s, &s->clients, &y.clients, offsetof(struct survey_group, client))))
        ok = mem_none(e);
    s->n_threads = y.threads.n;
    intern_fini(&y.ops);
    intern_fini(&y.hosts);
    intern_fini(&y.clients);
    intern_fini(&y.keys);
    free(y.threads.v);
    return ok;
}

static void parts_free(struct survey_parts *parts)
{
    for (size_t i = 0; i < parts->n; i++)
        free(parts->v[i].name);
    free(parts->v);
}

void survey_free(struct survey *s)
{
    parts_free(&s->ops);
    parts_free(&s->hosts);
    parts_free(&s->clients);
    free(s->groups);
    free(s->sections);
    keptlines_fini(&s->comments);
    keptlines_fini(&s->machine);
    free(s->blocks);
    *s = (struct survey){0};
}

const struct survey_part *survey_find(const struct survey_parts *parts, const char *name)
{
    const struct survey_part key = {.name = (char *)name};

    return bsearch(&key, parts->v, parts->n, sizeof *parts->v, by_name);
}

/* ---- Comments ---- */

/* Returns the text after "# PREFIX " in the line; NULL: the line does not begin so. */
static const char *behind(const char *line, const char *prefix)
{
    size_t n = strlen(prefix);

    line += strspn(line, "# ");
    return strncmp(line, prefix, n) == 0 && line[n] == ' ' ? line + n + 1 : NULL;
}

size_t survey_n_merged(const struct survey *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->comments.n; i++)
        n += behind(keptlines_get(&s->comments, i), "s3analyze/merge/1") != NULL;
    return n;
}

const char *survey_s3load_json(const struct survey *s, bool closing)
{
    size_t n = s->comments.n;

    if (survey_n_merged(s))
        return NULL; /* there may be one of each */
    for (size_t i = 0; i < n; i++) {
        const char *json = behind(keptlines_get(&s->comments, closing ? n - 1 - i : i), "s3load/1");
        if (json)
            return json;
    }
    return NULL;
}

const char *survey_command_line(const struct survey *s)
{
    static const char *const not_commands[] = {"s3load/1", "s3analyze/merge/1",
                                               "s3analyze/import/1"};
    const char *found = NULL;

    for (size_t i = 0; i < s->comments.n; i++) {
        const char *line = keptlines_get(&s->comments, i);
        bool is_other = false;

        for (size_t k = 0; k < sizeof not_commands / sizeof *not_commands; k++)
            is_other |= behind(line, not_commands[k]) != NULL;
        line += strspn(line, "# ");
        if (!is_other && *line)
            found = line;
    }
    return found;
}
