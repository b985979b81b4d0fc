#include "tests/unit/fingerprint.h"

#include "analyze/base/intern.h"

#include <stdlib.h>

/* The rows of a unit that is not yet committed. */
struct held {
    uint64_t *hashes;
    size_t n, cap;
};

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
    return (h ^ intern_hash(p, n)) * UINT64_C(0x9e3779b97f4a7c15) + n;
}

static uint64_t record_hash(const struct record *r)
{
    const int64_t numbers[] = {r->start_ns,     r->end_ns,       r->first_byte_ns,
                               r->last_byte_ns, r->intended_ns,  r->bytes,
                               r->n_objects,    (int64_t)r->cat, r->thread};
    const struct slice texts[] = {r->op, r->client, r->endpoint, r->file, r->error};
    uint64_t h = mix(1, numbers, sizeof numbers);

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        h = mix(h, texts[i].p, texts[i].n);
    return h;
}

static void add_hash(struct fingerprint *f, uint64_t hash, uint32_t input)
{
    const uint64_t row[] = {hash, input};

    f->hash = mix(f->hash, row, sizeof row);
    f->n_rows++;
}

void fingerprint_add(struct fingerprint *f, const struct record *r, uint32_t input)
{
    add_hash(f, record_hash(r), input);
}

static void *unit_new(void *ctx, struct err *e)
{
    (void)ctx, (void)e;
    return calloc(1, sizeof(struct held));
}

static void unit_free(void *ctx, void *unit)
{
    (void)ctx;
    free(((struct held *)unit)->hashes);
    free(unit);
}

static bool unit_rows(void *ctx, void *unit, const struct record *rows, size_t n, struct err *e)
{
    struct held *h = unit;

    (void)ctx, (void)e;
    if (h->n + n > h->cap) {
        h->cap = (h->n + n) * 2;
        h->hashes = realloc(h->hashes, h->cap * sizeof *h->hashes);
        if (!h->hashes)
            return false;
    }
    for (size_t i = 0; i < n; i++)
        h->hashes[h->n++] = record_hash(&rows[i]);
    return true;
}

static bool unit_commit(void *ctx, void *unit, uint32_t input, struct err *e)
{
    struct held *h = unit;

    if (h->n == 1 && ((struct fingerprint *)ctx)->refuse_single_rows)
        return err_set(e, "a single row");
    for (size_t i = 0; i < h->n; i++)
        add_hash(ctx, h->hashes[i], input);
    h->n = 0;
    return true;
}

static bool add_comment(void *ctx, struct slice line, struct err *e)
{
    struct fingerprint *f = ctx;

    (void)e;
    f->comments = mix(f->comments, line.p, line.n);
    return true;
}

void fingerprint_fill(struct fingerprint *f, const char *path, struct recfile_options options)
{
    struct recfile_sink sink = {.ctx = f,
                                .comment = add_comment,
                                .unit_new = unit_new,
                                .unit_rows = unit_rows,
                                .unit_commit = unit_commit,
                                .unit_free = unit_free};

    f->ok = recfile_read(path, &options, &sink, &f->info, &f->err);
}

struct fingerprint fingerprint_read(const char *path, struct recfile_options options)
{
    struct fingerprint f = {0};

    fingerprint_fill(&f, path, options);
    return f;
}
