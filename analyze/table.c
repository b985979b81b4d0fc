#include "table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Growth of a column; large ones move by remapping pages, not by copying. */
#define FIRST_ROWS 256
#define HUGE_PAGE  (2u << 20)

/* -- growing arrays ------------------------------------------------------------------------------ */

static bool resize(void *array, size_t count, size_t size)
{
    void **p = array, *grown = realloc(*p, count * size);

    if (!grown)
        return false;
    *p = grown;
    /* Touching fresh memory is dear; huge pages make it cheap. Only advice: failure is no harm. */
    if (count * size >= 2 * HUGE_PAGE) {
        uintptr_t begin = ((uintptr_t)grown + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
        uintptr_t end = ((uintptr_t)grown + count * size) & ~(uintptr_t)(HUGE_PAGE - 1);
        if (end > begin)
            madvise((void *)begin, end - begin, MADV_HUGEPAGE);
    }
    return true;
}

static bool packed_add(struct packed *c, size_t i, int64_t value)
{
    if (value >= 0 && value < (int64_t)PACKED_WIDE_BASE) {
        c->v[i] = (uint32_t)value;
        return true;
    }
    if (c->n_wide == c->cap_wide) {
        size_t cap = c->cap_wide ? c->cap_wide * 2 : 64;
        if (c->n_wide >= PACKED_NONE - PACKED_WIDE_BASE || !resize(&c->wide, cap, sizeof *c->wide))
            return false;
        c->cap_wide = cap;
    }
    c->v[i] = PACKED_WIDE_BASE + (uint32_t)c->n_wide;
    c->wide[c->n_wide++] = value;
    return true;
}

static void packed_fini(struct packed *c)
{
    free(c->v);
    free(c->wide);
}

static bool grow(struct table *t)
{
    size_t cap = t->cap ? t->cap + t->cap / 2 : FIRST_ROWS;

    if (cap > UINT32_MAX || !resize(&t->start, cap, sizeof *t->start) ||
        !resize(&t->dur.v, cap, sizeof *t->dur.v) ||
        !resize(&t->bytes.v, cap, sizeof *t->bytes.v) ||
        !resize(&t->ttfb.v, cap, sizeof *t->ttfb.v) ||
        !resize(&t->objects.v, cap, sizeof *t->objects.v) ||
        (t->late.v && !resize(&t->late.v, cap, sizeof *t->late.v)) ||
        !resize(&t->object, cap, sizeof *t->object) ||
        !resize(&t->thread, cap, sizeof *t->thread) || !resize(&t->place, cap, sizeof *t->place) ||
        !resize(&t->error, cap, sizeof *t->error))
        return false;
    t->cap = cap;
    return true;
}

/* The first row with an intended time: rows before it have none. */
static bool add_late(struct table *t)
{
    if (t->late.v)
        return true;
    if (!resize(&t->late.v, t->cap, sizeof *t->late.v))
        return false;
    for (size_t i = 0; i < t->n; i++)
        t->late.v[i] = PACKED_NONE;
    return true;
}

/* A time that may be missing. */
static bool optional_add(struct packed *c, size_t i, int64_t value)
{
    if (value != RECORD_NO_TIME)
        return packed_add(c, i, value);
    c->v[i] = PACKED_NONE;
    return true;
}

bool table_add(struct table *t, const struct table_row *r)
{
    size_t i = t->n;

    if (i == t->cap && !grow(t))
        return false;
    if (r->late != RECORD_NO_TIME && !add_late(t))
        return false;
    t->start[i] = r->start;
    t->object[i] = r->object;
    t->thread[i] = r->thread;
    t->place[i] = r->place;
    t->error[i] = r->error;
    if (!packed_add(&t->dur, i, r->dur) || !packed_add(&t->bytes, i, r->bytes) ||
        !optional_add(&t->ttfb, i, r->ttfb) || !packed_add(&t->objects, i, r->objects) ||
        (t->late.v && !optional_add(&t->late, i, r->late)))
        return false;
    t->n++;
    return true;
}

void table_free(struct table *t)
{
    free(t->start);
    packed_fini(&t->dur);
    packed_fini(&t->bytes);
    packed_fini(&t->ttfb);
    packed_fini(&t->objects);
    packed_fini(&t->late);
    free(t->object);
    free(t->thread);
    free(t->place);
    free(t->error);
    memset(t, 0, sizeof *t);
}

void table_retain(struct table *t, bool (*keep)(void *ctx, const struct table *t, size_t i),
                  void *ctx)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++) {
        if (!keep(ctx, t, i))
            continue;
        t->start[n] = t->start[i];
        t->dur.v[n] = t->dur.v[i];
        t->bytes.v[n] = t->bytes.v[i];
        t->ttfb.v[n] = t->ttfb.v[i];
        t->objects.v[n] = t->objects.v[i];
        if (t->late.v)
            t->late.v[n] = t->late.v[i];
        t->object[n] = t->object[i];
        t->thread[n] = t->thread[i];
        t->place[n] = t->place[i];
        t->error[n] = t->error[i];
        n++;
    }
    t->n = n;
}
