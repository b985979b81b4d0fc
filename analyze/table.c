#include "table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Memory is made present in steps: a fault for each page of 4 KiB costs more than filling it. The
 * first rows of a column get small pages, so that a short one costs little; behind them a huge page
 * begins, and the reservation is laid out so that it is aligned there. */
#define SMALL_PAGE_ROWS ((size_t)1 << 20)
#define MIN_STEP_ROWS   4096
#define MAX_STEP_ROWS   (1u << 20)
#define HUGE_PAGE       ((size_t)2 << 20)
#define PAGE            ((size_t)4096)

/* One column of a table: where its pointer is and how wide its values are. */
struct column {
    void **p;
    size_t width;
};

#define MAX_COLUMNS 10

static size_t columns_of(struct table *t, struct column c[MAX_COLUMNS])
{
    size_t n = 0;

    c[n++] = (struct column){(void **)&t->start, sizeof *t->start};
    c[n++] = (struct column){(void **)&t->dur.v, sizeof *t->dur.v};
    c[n++] = (struct column){(void **)&t->bytes.v, sizeof *t->bytes.v};
    c[n++] = (struct column){(void **)&t->ttfb.v, sizeof *t->ttfb.v};
    c[n++] = (struct column){(void **)&t->objects.v, sizeof *t->objects.v};
    c[n++] = (struct column){(void **)&t->object, sizeof *t->object};
    c[n++] = (struct column){(void **)&t->thread, sizeof *t->thread};
    c[n++] = (struct column){(void **)&t->place, sizeof *t->place};
    c[n++] = (struct column){(void **)&t->error, sizeof *t->error};
    if (t->late.v)
        c[n++] = (struct column){(void **)&t->late.v, sizeof *t->late.v};
    return n;
}

/* Address space for a column of `rows`. NULL: none. */
static void *reserve(size_t rows, size_t width)
{
    size_t bytes = rows * width, small = SMALL_PAGE_ROWS * width;
    char *p = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    size_t lead = (HUGE_PAGE - ((uintptr_t)p + small) % HUGE_PAGE) % HUGE_PAGE;
    if (lead)
        munmap(p, lead);
    if (lead < HUGE_PAGE)
        munmap(p + lead + bytes, HUGE_PAGE - lead);
    if (bytes > small)
        madvise(p + lead + small, bytes - small, MADV_HUGEPAGE);
    return p + lead;
}

/* Makes rows [from, to) of a column present. Only advice: without it they come page by page. */
static void touch(void *column, size_t width, size_t from, size_t to)
{
#ifdef MADV_POPULATE_WRITE
    if (to > SMALL_PAGE_ROWS)
        to = SMALL_PAGE_ROWS;
    uintptr_t begin = ((uintptr_t)column + from * width) & ~(uintptr_t)(PAGE - 1);
    uintptr_t end = ((uintptr_t)column + to * width + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    if (from < to)
        madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
#else
    (void)column, (void)width, (void)from, (void)to;
#endif
}

bool table_init(struct table *t, uint32_t op, size_t rows)
{
    struct column c[MAX_COLUMNS];

    memset(t, 0, sizeof *t);
    t->op = op;
    /* Where address space is limited, a smaller reservation will do: it can grow. */
    for (; rows >= MIN_STEP_ROWS; rows /= 2) {
        size_t n = columns_of(t, c), got = 0;
        t->cap = rows;
        while (got < n && (*c[got].p = reserve(rows, c[got].width)) != NULL)
            got++;
        if (got == n)
            return true;
        while (got--) {
            munmap(*c[got].p, rows * c[got].width);
            *c[got].p = NULL;
        }
    }
    t->cap = 0;
    return false;
}

void table_fini(struct table *t)
{
    struct column c[MAX_COLUMNS];
    size_t n = columns_of(t, c);

    for (size_t i = 0; i < n && t->cap; i++)
        munmap(*c[i].p, t->cap * c[i].width);
    free(t->dur.wide);
    free(t->bytes.wide);
    free(t->ttfb.wide);
    free(t->objects.wide);
    free(t->late.wide);
    memset(t, 0, sizeof *t);
}

/* More address space for all columns; pages move, their content does not. */
static bool enlarge(struct table *t)
{
    struct column c[MAX_COLUMNS];
    size_t n = columns_of(t, c);

    for (size_t i = 0; i < n; i++) {
        void *p = mremap(*c[i].p, t->cap * c[i].width, 2 * t->cap * c[i].width, MREMAP_MAYMOVE);
        if (p == MAP_FAILED) {
            /* Back to one size for all, so that table_fini finds them. */
            while (i--)
                mremap(*c[i].p, 2 * t->cap * c[i].width, t->cap * c[i].width, 0);
            return false;
        }
        *c[i].p = p;
    }
    t->cap *= 2;
    return true;
}

bool table_reserve(struct table *t, size_t rows)
{
    struct column c[MAX_COLUMNS];
    size_t want = t->n + rows;

    if (want <= t->n_ready)
        return true;
    if (want > UINT32_MAX)
        return false;
    while (want > t->cap)
        if (!enlarge(t))
            return false;
    size_t step = t->n / 8;
    step = step < MIN_STEP_ROWS ? MIN_STEP_ROWS : step > MAX_STEP_ROWS ? MAX_STEP_ROWS : step;
    size_t ready = want + step < t->cap ? want + step : t->cap;
    size_t n = columns_of(t, c);
    for (size_t i = 0; i < n; i++)
        touch(*c[i].p, c[i].width, t->n_ready, ready);
    t->n_ready = ready;
    return true;
}

bool table_add_wide(struct packed *c, size_t i, int64_t value)
{
    if (c->n_wide == c->cap_wide) {
        size_t cap = c->cap_wide ? c->cap_wide + c->cap_wide / 2 : 64;
        int64_t *grown = c->n_wide < PACKED_NONE - PACKED_WIDE_BASE
                             ? realloc(c->wide, cap * sizeof *grown)
                             : NULL;
        if (!grown)
            return false;
        c->wide = grown;
        c->cap_wide = cap;
    }
    c->v[i] = PACKED_WIDE_BASE + (uint32_t)c->n_wide;
    c->wide[c->n_wide++] = value;
    return true;
}

/* The first row with an intended time: rows before it have none. */
bool table_add_late(struct table *t)
{
    t->late.v = reserve(t->cap, sizeof *t->late.v);
    if (t->late.v)
        memset(t->late.v, 0xff, t->n * sizeof *t->late.v); /* PACKED_NONE */
    return t->late.v != NULL;
}

static bool append_packed(struct packed *c, size_t at, const struct packed *from, size_t n)
{
    memcpy(c->v + at, from->v, n * sizeof *c->v);
    if (from->n_wide == 0)
        return true;
    for (size_t i = 0; i < n; i++) {
        uint32_t v = from->v[i];
        if (v >= PACKED_WIDE_BASE && v != PACKED_NONE &&
            !table_add_wide(c, at + i, from->wide[v - PACKED_WIDE_BASE]))
            return false;
    }
    return true;
}

bool table_append(struct table *t, const struct table *from, const uint32_t *places,
                  const uint16_t *errors)
{
    size_t at = t->n, n = from->n;

    if (n == 0)
        return true;
    if (!table_reserve(t, n) || (from->late.v && !t->late.v && !table_add_late(t)))
        return false;
    memcpy(t->start + at, from->start, n * sizeof *t->start);
    memcpy(t->object + at, from->object, n * sizeof *t->object);
    memcpy(t->thread + at, from->thread, n * sizeof *t->thread);
    for (size_t i = 0; i < n; i++)
        t->place[at + i] = places[from->place[i]];
    for (size_t i = 0; i < n; i++)
        t->error[at + i] = errors[from->error[i]];
    if (!append_packed(&t->dur, at, &from->dur, n) ||
        !append_packed(&t->bytes, at, &from->bytes, n) ||
        !append_packed(&t->ttfb, at, &from->ttfb, n) ||
        !append_packed(&t->objects, at, &from->objects, n))
        return false;
    if (from->late.v) {
        if (!append_packed(&t->late, at, &from->late, n))
            return false;
    } else if (t->late.v) {
        memset(t->late.v + at, 0xff, n * sizeof *t->late.v); /* PACKED_NONE */
    }
    t->n += n;
    return true;
}

void table_clear(struct table *t)
{
    t->n = 0;
    t->dur.n_wide = t->bytes.n_wide = t->ttfb.n_wide = t->objects.n_wide = t->late.n_wide = 0;
}

void table_move_row(struct table *t, size_t to, size_t from)
{
    t->start[to] = t->start[from];
    t->dur.v[to] = t->dur.v[from];
    t->bytes.v[to] = t->bytes.v[from];
    t->ttfb.v[to] = t->ttfb.v[from];
    t->objects.v[to] = t->objects.v[from];
    if (t->late.v)
        t->late.v[to] = t->late.v[from];
    t->object[to] = t->object[from];
    t->thread[to] = t->thread[from];
    t->place[to] = t->place[from];
    t->error[to] = t->error[from];
}

void table_retain(struct table *t, bool (*keep)(void *ctx, const struct table *t, size_t i),
                  void *ctx)
{
    for (size_t i = 0; i < t->n;) {
        if (keep(ctx, t, i))
            i++;
        else
            table_move_row(t, i, --t->n);
    }
}
