#include "analyze/data/table.h"

#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Page faults dominate the cost of adding rows: one takes longer than filling its 4 KiB. Memory
 * that will probably be filled gets huge pages; the rest is pre-faulted, STEP_ROWS rows at a time.
 */
#define STEP_ROWS ((size_t)16384)
#define HUGE_PAGE ((size_t)2 << 20)
#define PAGE      ((size_t)64 << 10) /* the largest base page of any system */
#define ROOM_ROWS (PAGE / 2)         /* cap is a multiple of this: every column has whole pages */

/* One column of a table: where its pointer is and how wide its values are. */
struct column {
    void **p;
    size_t width;
};

#define N_PACKED    5
#define MAX_COLUMNS (5 + N_PACKED)

static void packed_of(const struct table *table, struct packed *c[N_PACKED])
{
    struct table *t = (struct table *)table; /* a caller with a const table only reads */

    c[0] = &t->dur;
    c[1] = &t->bytes;
    c[2] = &t->ttfb;
    c[3] = &t->objects;
    c[4] = &t->late;
}

static size_t column_of_ids(struct column *c, size_t n, struct ids *ids)
{
    if (ids->v != NULL)
        c[n++] = (struct column){(void **)&ids->v, sizeof *ids->v};
    else if (ids->wide != NULL)
        c[n++] = (struct column){(void **)&ids->wide, sizeof *ids->wide};
    return n;
}

/* Lists the columns that have memory; the others hold one value for all rows. */
static size_t columns_of(struct table *t, struct column c[MAX_COLUMNS])
{
    struct packed *packed[N_PACKED];
    size_t n = 0;

    c[n++] = (struct column){(void **)&t->start, sizeof *t->start};
    c[n++] = (struct column){(void **)&t->object, sizeof *t->object};
    n = column_of_ids(c, n, &t->thread);
    n = column_of_ids(c, n, &t->place);
    if (t->error)
        c[n++] = (struct column){(void **)&t->error, sizeof *t->error};
    packed_of(t, packed);
    for (size_t i = 0; i < N_PACKED; i++)
        if (packed[i]->v)
            c[n++] = (struct column){(void **)&packed[i]->v, sizeof *packed[i]->v};
    return n;
}

/* Reserves address space for a column of `rows` values, aligned to huge pages if it is at least as
 * large as one. NULL: failed. */
static void *reserve(size_t rows, size_t width)
{
    size_t bytes = rows * width, slack = bytes < HUGE_PAGE ? 0 : HUGE_PAGE;
    char *p = mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    size_t lead = slack ? HUGE_PAGE - (uintptr_t)p % HUGE_PAGE : 0;
    if (lead)
        munmap(p, lead);
    if (lead < slack)
        munmap(p + lead + bytes, slack - lead);
    return p + lead;
}

/* Returns how many bytes at the front of a column get huge pages if `rows` rows are expected. The
 * last huge page must be at least half full. */
static size_t huge_bytes(size_t rows, size_t width)
{
    return (rows * width + HUGE_PAGE / 2) / HUGE_PAGE * HUGE_PAGE;
}

/* Requests huge pages for rows [from, to) of a column. None of them may have been touched yet. */
static void advise(const struct table *t, void *column, size_t width, size_t from, size_t to)
{
    size_t begin = (from * width + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    size_t end = huge_bytes(to, width);

    if (end > t->cap * width) /* the memory after the column is not ours */
        end = t->cap * width;

    if (begin < end)
        madvise((char *)column + begin, end - begin, MADV_HUGEPAGE);
}

/* Pre-faults the small pages of rows [from, to) of a column. If that fails, they fault one by one
 * later. */
static void touch(const struct table *t, void *column, size_t width, size_t from, size_t to)
{
#ifdef MADV_POPULATE_WRITE
    size_t begin = from * width / PAGE * PAGE, huge_end = huge_bytes(t->n_advised, width);
    size_t end = (to * width + PAGE - 1) / PAGE * PAGE;

    if (begin < huge_end)
        begin = huge_end;
    if (begin < end)
        madvise((char *)column + begin, end - begin, MADV_POPULATE_WRITE);
#else
    (void)t, (void)column, (void)width, (void)from, (void)to;
#endif
}

static size_t room_for(size_t rows)
{
    return (rows / ROOM_ROWS + 1) * ROOM_ROWS;
}

static bool reserve_columns(struct table *t, size_t rows)
{
    struct column c[MAX_COLUMNS];
    size_t n = columns_of(t, c), got = 0;

    t->cap = room_for(rows);
    while (got < n && (*c[got].p = reserve(t->cap, c[got].width)) != NULL)
        got++;
    if (got == n)
        return true;
    while (got--) {
        munmap(*c[got].p, t->cap * c[got].width);
        *c[got].p = NULL;
    }
    t->cap = 0;
    return false;
}

bool table_init(struct table *t, uint32_t op, size_t rows)
{
    struct packed *packed[N_PACKED];

    memset(t, 0, sizeof *t);
    t->op = op;
    slowest_init(&t->slowest);
    packed_of(t, packed);
    for (size_t i = 0; i < N_PACKED; i++)
        packed[i]->same = PACKED_NONE;
    /* If address space is short, starts with less: the table can grow. */
    while (!reserve_columns(t, rows)) {
        if (rows < ROOM_ROWS)
            return false;
        rows /= 2;
    }
    return true;
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
    slowest_fini(&t->slowest);
    free(t->own_threads.index);
    free(t->own_places.index);
    memset(t, 0, sizeof *t);
}

/* Moves a column of n rows by copying it. Before Linux 6.17, mremap fails on a range of which only
 * a part was advised, and it has unmapped the target by then. */
static void move_column(struct column c, void *to, size_t cap, size_t n)
{
    memcpy(to, *c.p, n * c.width);
    munmap(*c.p, cap * c.width);
    *c.p = to;
}

/* Moves all columns to address space for `cap` rows. False: out of memory; nothing has changed. */
static bool enlarge(struct table *t, size_t cap)
{
    struct column c[MAX_COLUMNS];
    void *to[MAX_COLUMNS];
    size_t n = columns_of(t, c), got = 0;

    while (got < n && (to[got] = reserve(cap, c[got].width)) != NULL)
        got++;
    for (size_t i = 0; i < got; i++)
        if (got < n) {
            munmap(to[i], cap * c[i].width);
        } else {
            advise(t, to[i], c[i].width, 0, t->n_advised);
            move_column(c[i], to[i], t->cap, t->n);
        }
    if (got < n)
        return false;
    t->cap = cap;
    return true;
}

/* Makes room for `rows` more rows. */
static bool ready_for(struct table *t, size_t rows, struct err *e)
{
    struct column c[MAX_COLUMNS];
    size_t want = t->n + rows;

    if (want <= t->n_ready)
        return true;
    if (want > UINT32_MAX)
        return err_set(e,
                       "more than %u requests of one operation: aggregate parts of them, and "
                       "merge the sums",
                       UINT32_MAX);
    if (want > t->cap && !enlarge(t, room_for(2 * want)))
        return mem_none(e);
    size_t step = want < STEP_ROWS ? want : STEP_ROWS;
    size_t ready = want + step < t->cap ? want + step : t->cap;
    size_t n = columns_of(t, c);
    for (size_t i = 0; i < n; i++)
        touch(t, *c[i].p, c[i].width, t->n_ready, ready);
    t->n_ready = ready;
    return true;
}

void table_expect(struct table *t, size_t rows)
{
    struct column c[MAX_COLUMNS];

    if (rows > t->cap)
        rows = t->cap;
    if (rows <= t->n_advised + t->n_advised / 8)
        return;
    size_t n = columns_of(t, c);
    for (size_t i = 0; i < n; i++)
        advise(t, *c[i].p, c[i].width, t->n_ready, rows);
    t->n_advised = rows;
}

/* Reserves a zeroed column for t->cap rows. NULL: out of memory. */
static void *new_column(const struct table *t, size_t width)
{
    void *column = reserve(t->cap, width);

    if (column) {
        advise(t, column, width, 0, t->n_advised);
        touch(t, column, width, 0, t->n_ready);
    }
    return column;
}

/* Gives c memory of its own, and writes its single value to the first n rows. */
static bool spread(struct table *t, struct packed *c, size_t n)
{
    c->v = new_column(t, sizeof *c->v);
    for (size_t i = 0; c->v && i < n; i++)
        c->v[i] = c->same;
    return c->v != NULL;
}

static bool is_wide(uint32_t raw)
{
    return raw >= PACKED_WIDE_BASE && raw != PACKED_NONE;
}

/* Stores a value of row i that does not fit into 32 bits. False: out of memory, or too many. */
static bool put_wide(struct packed *c, size_t i, int64_t value)
{
    if (c->n_wide == PACKED_NONE - PACKED_WIDE_BASE)
        return false;
    if (c->n_wide == c->cap_wide) {
        size_t cap = c->cap_wide ? c->cap_wide + c->cap_wide / 2 : 64;

        if (!mem_room(&c->wide, cap, NULL))
            return false;
        c->cap_wide = cap;
    }
    c->v[i] = PACKED_WIDE_BASE + (uint32_t)c->n_wide;
    c->wide[c->n_wide++] = value;
    return true;
}

/* ---- Adding rows: t->n counts them only at the end ---- */

/* Whether n values all equal *same, the single value of a column without memory. If the table has
 * no rows yet, sets *same to v[0] first. */
static bool stays_same(const struct table *t, uint32_t *same, const uint32_t *v, size_t n)
{
    uint32_t differs = 0;

    if (t->n == 0 && n > 0)
        *same = v[0];
    for (size_t i = 0; i < n; i++)
        differs |= v[i] ^ *same;
    return differs == 0;
}

/* Packs n values: a missing one becomes PACKED_NONE, a wide one is cut to 32 bits. Returns whether
 * any is wide. Most blocks have no wide or missing values, which a loop without branches finds out
 * first. */
static bool pack(uint32_t *to, const int64_t *v, size_t n)
{
    uint64_t beyond = 0;
    bool any_wide = false;

    for (size_t i = 0; i < n; i++) {
        uint64_t value = (uint64_t)v[i];
        beyond |= value | (value + ((UINT64_C(1) << 32) - PACKED_WIDE_BASE));
        to[i] = (uint32_t)value;
    }
    for (size_t i = 0; beyond >> 32 && i < n; i++) {
        bool none = v[i] == RECORD_NO_TIME;
        to[i] = none ? PACKED_NONE : (uint32_t)v[i];
        any_wide |= !none && (uint64_t)v[i] >= PACKED_WIDE_BASE;
    }
    return any_wide;
}

static bool add_packed(struct table *t, struct packed *c, const int64_t *v, size_t n)
{
    uint32_t raw[TABLE_BLOCK_ROWS];
    bool any_wide, ok = true;

    if (!c->v) {
        any_wide = pack(raw, v, n);
        if (!any_wide && stays_same(t, &c->same, raw, n))
            return true;
        if (!spread(t, c, t->n))
            return false;
    }
    any_wide = pack(c->v + t->n, v, n);
    for (size_t i = 0; ok && any_wide && i < n; i++)
        if ((uint64_t)v[i] >= PACKED_WIDE_BASE && v[i] != RECORD_NO_TIME)
            ok = put_wide(c, t->n + i, v[i]);
    return ok;
}

/* Gives c memory for ids up to `most`, and copies the ids that it has. */
static bool widen_ids(struct table *t, struct ids *c, uint32_t most)
{
    struct ids to = {0};

    if (most <= UINT16_MAX)
        to.v = new_column(t, sizeof *to.v);
    else
        to.wide = new_column(t, sizeof *to.wide);
    if (!to.v && !to.wide)
        return false;
    for (size_t i = 0; to.v && i < t->n; i++)
        to.v[i] = (uint16_t)c->same;
    for (size_t i = 0; to.wide && i < t->n; i++)
        to.wide[i] = ids_get(c, i);
    if (c->v)
        munmap(c->v, t->cap * sizeof *c->v);
    *c = to;
    return true;
}

static bool add_ids(struct table *t, struct ids *c, const uint32_t *ids, size_t n)
{
    uint32_t bits = 0;

    if (!c->v && !c->wide && stays_same(t, &c->same, ids, n))
        return true;
    for (size_t i = 0; i < n; i++)
        bits |= ids[i];
    if (!c->wide && (!c->v || bits > UINT16_MAX) && !widen_ids(t, c, bits | c->same))
        return false;
    for (size_t i = 0; c->v && i < n; i++)
        c->v[t->n + i] = (uint16_t)ids[i];
    if (c->wide)
        memcpy(c->wide + t->n, ids, n * sizeof *ids);
    return true;
}

/* A new column is all 0, which means success: earlier rows need no writing. */
static bool add_errors(struct table *t, const uint16_t *errors, size_t n)
{
    uint16_t any = 0;

    for (size_t i = 0; i < n; i++)
        any |= errors[i];
    if (!t->error && any)
        t->error = new_column(t, sizeof *t->error);
    if (t->error)
        memcpy(t->error + t->n, errors, n * sizeof *errors);
    return t->error || !any;
}

bool table_add(struct table *t, const struct table_rows *r, struct err *e)
{
    size_t n = r->n;

    if (!ready_for(t, n, e))
        return false;
    memcpy(t->start + t->n, r->start, n * sizeof *t->start);
    memcpy(t->object + t->n, r->object, n * sizeof *t->object);
    if (!add_ids(t, &t->thread, r->thread, n) || !add_ids(t, &t->place, r->place, n) ||
        !add_packed(t, &t->dur, r->dur, n) || !add_packed(t, &t->bytes, r->bytes, n) ||
        !add_packed(t, &t->ttfb, r->ttfb, n) || !add_packed(t, &t->objects, r->objects, n) ||
        !add_packed(t, &t->late, r->late, n) || !add_errors(t, r->error, n))
        return mem_none(e);
    t->n += n;
    return true;
}

/* ---- Rows of another table ---- */

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
        if (is_wide(from->v[i]) && !put_wide(c, at + i, from->wide[from->v[i] - PACKED_WIDE_BASE]))
            return false;
    }
    return true;
}

/* A new column is all 0, which means success: earlier rows of t need no writing. */
static bool append_errors(struct table *t, const struct table *from, const uint16_t *map)
{
    if (!t->error && !from->error)
        return true;
    if (!t->error)
        t->error = new_column(t, sizeof *t->error);
    for (size_t i = 0; t->error && i < from->n; i++)
        t->error[t->n + i] = map[table_error(from, i)];
    return t->error != NULL;
}

bool table_append(struct table *t, const struct table *from, const uint32_t *threads,
                  const uint32_t *places, const uint16_t *errors, struct err *e)
{
    struct packed *packed[N_PACKED], *from_packed[N_PACKED];
    size_t n = from->n;

    if (n == 0)
        return true;
    if (!ready_for(t, n, e))
        return false;
    memcpy(t->start + t->n, from->start, n * sizeof *t->start);
    memcpy(t->object + t->n, from->object, n * sizeof *t->object);
    packed_of(t, packed);
    packed_of(from, from_packed);
    for (size_t i = 0; i < N_PACKED; i++)
        if (!append_packed(t, packed[i], from_packed[i], n))
            return mem_none(e);
    if (!add_ids(t, &t->thread, threads, n) || !add_ids(t, &t->place, places, n) ||
        !append_errors(t, from, errors))
        return mem_none(e);
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
    slowest_fini(&t->slowest);
}

static void move_id(struct ids *c, size_t to, size_t from)
{
    if (c->v != NULL)
        c->v[to] = c->v[from];
    else if (c->wide != NULL)
        c->wide[to] = c->wide[from];
}

void table_move_row(struct table *t, size_t to, size_t from)
{
    struct packed *packed[N_PACKED];

    t->start[to] = t->start[from];
    t->object[to] = t->object[from];
    move_id(&t->thread, to, from);
    move_id(&t->place, to, from);
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

static int compare_ids(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool own_ids(struct own_ids *own, struct ids *c, size_t n_rows)
{
    uint32_t *index;

    if (!mem_new(&index, n_rows, NULL))
        return false;
    for (size_t i = 0; i < n_rows; i++)
        index[i] = ids_get(c, i);
    qsort(index, n_rows, sizeof *index, compare_ids);
    size_t n = 0;
    for (size_t i = 0; i < n_rows; i++)
        if (n == 0 || index[i] != index[n - 1])
            index[n++] = index[i];
    if (!c->v && !c->wide)
        c->same = 0;
    for (size_t i = 0; (c->v || c->wide) && i < n_rows; i++) {
        uint32_t id = ids_get(c, i);
        size_t own_id =
            (size_t)((uint32_t *)bsearch(&id, index, n, sizeof id, compare_ids) - index);

        /* Fits: a table's own id is never larger than the dataset's. */
        if (c->v)
            c->v[i] = (uint16_t)own_id;
        else
            c->wide[i] = (uint32_t)own_id;
    }
    *own = (struct own_ids){index, n};
    return true;
}

bool table_own_ids(struct table *t, size_t n_threads, size_t n_places)
{
    return (t->n >= n_threads || own_ids(&t->own_threads, &t->thread, t->n)) &&
           (t->n >= n_places || own_ids(&t->own_places, &t->place, t->n));
}
