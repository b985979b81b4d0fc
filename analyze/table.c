#include "table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Memory is made present in steps: a fault for each page of 4 KiB costs more than filling it. The
 * first rows of a column get small pages, so that a short one costs little; behind them a huge page
 * begins, and the reservation is laid out so that it is aligned there. */
#define SMALL_PAGE_ROWS ((size_t)1 << 16)
#define MIN_STEP_ROWS   4096
#define MAX_STEP_ROWS   (1u << 20)
#define HUGE_PAGE       ((size_t)2 << 20)
#define PAGE            ((size_t)4096)

/* One column of a table: where its pointer is and how wide its values are. */
struct column {
    void **p;
    size_t width;
};

#define N_PACKED    5
#define MAX_COLUMNS (5 + N_PACKED)

static void packed_of(const struct table *table, struct packed *c[N_PACKED])
{
    struct table *t = (struct table *)table; /* what may change is for the caller to know */

    c[0] = &t->dur;
    c[1] = &t->bytes;
    c[2] = &t->ttfb;
    c[3] = &t->objects;
    c[4] = &t->late;
}

/* The columns that there are: others have one value throughout. */
static size_t columns_of(struct table *t, struct column c[MAX_COLUMNS])
{
    struct packed *packed[N_PACKED];
    size_t n = 0;

    c[n++] = (struct column){(void **)&t->start, sizeof *t->start};
    c[n++] = (struct column){(void **)&t->object, sizeof *t->object};
    c[n++] = (struct column){(void **)&t->thread, sizeof *t->thread};
    c[n++] = (struct column){(void **)&t->place, sizeof *t->place};
    if (t->error)
        c[n++] = (struct column){(void **)&t->error, sizeof *t->error};
    packed_of(t, packed);
    for (size_t i = 0; i < N_PACKED; i++)
        if (packed[i]->v)
            c[n++] = (struct column){(void **)&packed[i]->v, sizeof *packed[i]->v};
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
    struct packed *packed[N_PACKED];

    memset(t, 0, sizeof *t);
    t->op = op;
    packed_of(t, packed);
    for (size_t i = 0; i < N_PACKED; i++)
        packed[i]->same = PACKED_NONE;
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
    struct packed *packed[N_PACKED];
    size_t n = columns_of(t, c);

    for (size_t i = 0; i < n && t->cap; i++)
        munmap(*c[i].p, t->cap * c[i].width);
    packed_of(t, packed);
    for (size_t i = 0; i < N_PACKED; i++)
        free(packed[i]->wide);
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

/* A column for all rows that there is room for. NULL: out of memory. */
static void *new_column(const struct table *t, size_t width)
{
    void *column = reserve(t->cap, width);

    if (column)
        touch(column, width, 0, t->n_ready);
    return column;
}

/* A column of its own for what has been one value in the first n rows. */
static bool spread(struct table *t, struct packed *c, size_t n)
{
    c->v = new_column(t, sizeof *c->v);
    for (size_t i = 0; c->v && i < n; i++)
        c->v[i] = c->same;
    return c->v != NULL;
}

bool table_vary(struct table *t, struct packed *c, size_t i, uint32_t raw)
{
    if (!spread(t, c, i))
        return false;
    c->v[i] = raw;
    return true;
}

bool table_add_wide(struct table *t, struct packed *c, size_t i, int64_t value)
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
    if (!c->v && !spread(t, c, i))
        return false;
    c->v[i] = PACKED_WIDE_BASE + (uint32_t)c->n_wide;
    c->wide[c->n_wide++] = value;
    return true;
}

/* The memory of a new column is 0: success. */
bool table_add_error(struct table *t, size_t i, uint16_t error)
{
    t->error = new_column(t, sizeof *t->error);
    if (t->error)
        t->error[i] = error;
    return t->error != NULL;
}

static bool is_wide(uint32_t raw)
{
    return raw >= PACKED_WIDE_BASE && raw != PACKED_NONE;
}

/* Whether the first n values of `from` are all `same`. */
static bool are_all(const struct packed *from, size_t n, uint32_t same)
{
    uint32_t differs = 0;

    if (!from->v)
        return from->same == same;
    for (size_t i = 0; i < n; i++)
        differs |= from->v[i] ^ same;
    return differs == 0;
}

static bool append_packed(struct table *t, struct packed *c, const struct packed *from, size_t n)
{
    size_t at = t->n;

    if (at == 0 && !is_wide(packed_raw(from, 0)))
        c->same = packed_raw(from, 0);
    if (!c->v && are_all(from, n, c->same))
        return true;
    if (!c->v && !spread(t, c, at))
        return false;
    for (size_t i = 0; !from->v && i < n; i++)
        c->v[at + i] = from->same;
    if (!from->v)
        return true;
    memcpy(c->v + at, from->v, n * sizeof *c->v);
    if (from->n_wide == 0)
        return true;
    for (size_t i = 0; i < n; i++) {
        if (is_wide(from->v[i]) &&
            !table_add_wide(t, c, at + i, from->wide[from->v[i] - PACKED_WIDE_BASE]))
            return false;
    }
    return true;
}

bool table_append(struct table *t, const struct table *from, const uint32_t *places,
                  const uint16_t *errors)
{
    struct packed *packed[N_PACKED], *from_packed[N_PACKED];
    size_t at = t->n, n = from->n;

    if (n == 0)
        return true;
    if (!table_reserve(t, n))
        return false;
    memcpy(t->start + at, from->start, n * sizeof *t->start);
    memcpy(t->object + at, from->object, n * sizeof *t->object);
    memcpy(t->thread + at, from->thread, n * sizeof *t->thread);
    for (size_t i = 0; i < n; i++)
        t->place[at + i] = places[from->place[i]];
    packed_of(t, packed);
    packed_of(from, from_packed);
    for (size_t i = 0; i < N_PACKED; i++)
        if (!append_packed(t, packed[i], from_packed[i], n))
            return false;
    for (size_t i = 0; (t->error || from->error) && i < n; i++) {
        uint16_t error = errors[table_error(from, i)];
        if (t->error)
            t->error[at + i] = error;
        else if (error && !table_add_error(t, at + i, error))
            return false;
    }
    t->n += n;
    return true;
}

void table_clear(struct table *t)
{
    struct packed *packed[N_PACKED];

    t->n = 0;
    packed_of(t, packed);
    for (size_t i = 0; i < N_PACKED; i++)
        packed[i]->n_wide = 0;
}

void table_move_row(struct table *t, size_t to, size_t from)
{
    struct packed *packed[N_PACKED];

    t->start[to] = t->start[from];
    t->object[to] = t->object[from];
    t->thread[to] = t->thread[from];
    t->place[to] = t->place[from];
    if (t->error)
        t->error[to] = t->error[from];
    packed_of(t, packed);
    for (size_t i = 0; i < N_PACKED; i++)
        if (packed[i]->v)
            packed[i]->v[to] = packed[i]->v[from];
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
