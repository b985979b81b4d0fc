/* Finds rows that the captures contain twice. No two requests have the same times to the
 * nanosecond. */
#include "analyze/summary/sets/scan.h"

#include "analyze/base/intern.h"
#include "libcommon/mem.h"

#include <stdlib.h>

/* A hash table of the rows seen so far, keyed by their contents. */
struct seen {
    const struct table *t;
    uint64_t key;
    uint32_t *slots; /* row + 1; 0: free */
    size_t n_slots;
    bool with_threads;
};

static bool seen_init(struct seen *x, const struct table *t, bool with_threads, struct err *e)
{
    size_t n_slots = 64;

    while (n_slots < 2 * t->n)
        n_slots *= 2;
    *x = (struct seen){t, intern_random_key(), NULL, n_slots, with_threads};
    return mem_cleared(&x->slots, n_slots, e);
}

static uint64_t hash_of(const struct seen *x, size_t i)
{
    const struct table *t = x->t;
    const uint64_t row[] = {(uint64_t)t->start[i], (uint64_t)packed_get(&t->dur, i), t->object[i],
                            x->with_threads ? table_thread(t, i) : 0};

    return intern_hash_keyed(x->key, row, sizeof row);
}

static bool same_packed(const struct packed *c, size_t i, size_t k)
{
    bool has = packed_has(c, i);

    return has == packed_has(c, k) && (!has || packed_get(c, i) == packed_get(c, k));
}

/* True if two rows are equal in every column; the thread counts only if x->with_threads. */
static bool same_rows(const struct seen *x, size_t i, size_t k)
{
    const struct table *t = x->t;

    return t->start[i] == t->start[k] && t->object[i] == t->object[k] &&
           (!x->with_threads || table_thread(t, i) == table_thread(t, k)) &&
           table_place(t, i) == table_place(t, k) && table_error(t, i) == table_error(t, k) &&
           same_packed(&t->dur, i, k) && same_packed(&t->bytes, i, k) &&
           same_packed(&t->ttfb, i, k) && same_packed(&t->objects, i, k) &&
           same_packed(&t->late, i, k);
}

/* Returns the first row equal to row i; i itself if there was none. */
static size_t first_like(struct seen *x, size_t i)
{
    size_t slot = (size_t)hash_of(x, i) & (x->n_slots - 1);

    while (x->slots[slot] != 0 && !same_rows(x, x->slots[slot] - 1, i))
        slot = (slot + 1) & (x->n_slots - 1);
    if (x->slots[slot] == 0)
        x->slots[slot] = (uint32_t)i + 1;
    return x->slots[slot] - 1;
}

bool identical_count(struct scan *s, struct err *e)
{
    struct seen x;

    if (!seen_init(&x, s->t, true, e))
        return false;
    for (size_t i = 0; i < s->t->n; i++)
        s->n_identical += first_like(&x, i) != i;
    free(x.slots);
    return true;
}

/* ---- Sections ---- */

/* A section and its index in the order of reading, in which thread numbers grow. */
struct place_in_time {
    const struct dataset_section *section;
    uint32_t index;
};

static int compare_starts(const void *a, const void *b)
{
    int64_t x = ((const struct place_in_time *)a)->section->first_start_ns;
    int64_t y = ((const struct place_in_time *)b)->section->first_start_ns;

    return (x > y) - (x < y);
}

/* Marks the sections that overlap another one in time. Returns false if there are none. */
static bool mark_overlapping(struct place_in_time *v, size_t n, bool *overlaps)
{
    bool any = false;
    size_t latest = 0; /* the section so far that ends last */

    qsort(v, n, sizeof *v, compare_starts);

    for (size_t i = 1; i < n; i++) {
        if (v[i].section->first_start_ns <= v[latest].section->last_end_ns)
            any = overlaps[v[i].index] = overlaps[v[latest].index] = true;
        if (v[i].section->last_end_ns > v[latest].section->last_end_ns)
            latest = i;
    }
    return any;
}

/* Finds the section of each thread id of the table. */
static void find_sections(const struct dataset *d, const struct table *t,
                          const uint32_t *thread_base, size_t n_sections, uint32_t *section)
{
    for (size_t id = 0; id < dataset_n_threads(d, t); id++) {
        uint32_t number = d->threads[table_thread_index(t, id)];
        size_t low = 0, high = n_sections; /* thread_base[low] <= number < thread_base[high] */
        while (high - low > 1) {
            size_t middle = low + (high - low) / 2;

            *(thread_base[middle] <= number ? &low : &high) = middle;
        }
        section[id] = (uint32_t)low;
    }
}

static bool count_repeats(struct scan *s, const uint32_t *section, const bool *overlaps,
                          struct err *e)
{
    const struct table *t = s->t;
    struct seen x;

    if (!seen_init(&x, t, false, e))
        return false;
    for (size_t i = 0; i < t->n; i++) {
        uint32_t k = section[table_thread(t, i)];
        if (!overlaps[k])
            continue;
        struct scan_repeats *r = &s->repeats[k];
        r->n++;
        r->n_fine += t->start[i] % 1000000 != 0;
        r->n_repeated += section[table_thread(t, first_like(&x, i))] != k;
    }
    free(x.slots);
    return true;
}

bool identical_count_repeated(struct scan *s, const struct dataset *d, struct err *e)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n_inputs; i++)
        n += d->inputs[i].n_sections;
    if (n < 2)
        return true;
    struct place_in_time *v = NULL;
    uint32_t *thread_base = NULL, *section = NULL;
    bool *overlaps = NULL;
    bool ok = mem_new(&v, n, e) && mem_new(&thread_base, n, e) &&
              mem_new(&section, dataset_n_threads(d, s->t), e) && mem_cleared(&overlaps, n, e);
    n = 0;
    for (size_t i = 0; ok && i < d->n_inputs; i++)
        for (size_t k = 0; k < d->inputs[i].n_sections; k++, n++) {
            v[n] = (struct place_in_time){&d->inputs[i].sections[k], (uint32_t)n};
            thread_base[n] = v[n].section->thread_base;
        }
    if (ok && mark_overlapping(v, n, overlaps)) {
        find_sections(d, s->t, thread_base, n, section);
        ok = mem_cleared(&s->repeats, n, e) && count_repeats(s, section, overlaps, e);
    }
    free(v);
    free(thread_base);
    free(section);
    free(overlaps);
    return ok;
}
