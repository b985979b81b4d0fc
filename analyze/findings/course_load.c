/* What was asked of the system, by block of time: sizes, operations, threads, requests due. */
#include "analyze/findings/course.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>

#define MOST_SAMPLES (1 << 16)
#define MOST_ALIKE   256 /* kinds of requests */
#define A_TENTH      141 /* log2(1.1), in units of 1 / COURSE_LOG_ONE */

bool course_load_init(struct course *c, size_t n, struct err *e)
{
    c->load.n_alike = n;
    return mem_cleared(&c->load.stratum, n, e) && mem_cleared(&c->load.work, n * c->n_blocks, e) &&
           (c->load.under_way != NULL || mem_cleared(&c->load.under_way, c->n_blocks, e));
}

/* Whole nanoseconds: their sums are exact, whatever the order of rows. */
void course_load_add(struct course *c, int64_t start_ns, int64_t end_ns, double weight)
{
    size_t b = course_block(c, start_ns), last = course_block(c, end_ns);

    for (; b < last; start_ns = c->bins_ns + (int64_t)++b * c->block_ns)
        c->load.under_way[b] +=
            rint(weight * (double)(c->bins_ns + (int64_t)(b + 1) * c->block_ns - start_ns));
    c->load.under_way[b] += rint(weight * (double)(end_ns - start_ns));
}

/* Kinds of requests: their keys, found by a hash table of indexes from 1. Numbers of a kind are
 * equal within a tenth, or more if there would be too many kinds. */
struct kinds {
    int64_t width; /* in units of 1 / COURSE_LOG_ONE */
    size_t n;
    uint64_t keys[MOST_ALIKE];
    uint16_t slots[4 * MOST_ALIKE];
};

static uint64_t class_of(const struct kinds *kinds, const struct packed *of, size_t i)
{
    int64_t x = packed_get(of, i);
    return x > 0 ? (uint64_t)(course_log2(x) / kinds->width) + 1 : 0;
}

/* Returns the kind with that key, which is added; SIZE_MAX: there are too many. */
static size_t kind_of(struct kinds *kinds, uint64_t key)
{
    size_t at = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) % (4 * MOST_ALIKE);

    for (; kinds->slots[at] > 0; at = (at + 1) % (4 * MOST_ALIKE))
        if (kinds->keys[kinds->slots[at] - 1] == key)
            return kinds->slots[at] - 1u;
    if (kinds->n == MOST_ALIKE)
        return SIZE_MAX;
    kinds->keys[kinds->n++] = key;
    kinds->slots[at] = (uint16_t)kinds->n;
    return kinds->n - 1;
}

/* Samples of successful rows: those of table k end before n_samples[k]. */
struct samples {
    const size_t *rows, *n_samples;
    uint64_t below; /* of them, those that course_is_sampled chooses */
};

struct sample {
    const struct table *t;
    size_t table, i, m; /* row i is sample m */
};

/* Goes on to the next sample; begins with {0}. */
static bool next_sample(const struct course *c, const struct samples *of, struct sample *x)
{
    for (; x->table < c->n_ops; x->table++)
        for (x->t = c->tables[x->table]; x->m < of->n_samples[x->table];) {
            x->i = of->rows[x->m++];
            if (course_is_sampled(x->t->start[x->i], of->below))
                return true;
        }
    return false;
}

static uint64_t key_of(const struct course *c, const struct kinds *kinds, const struct sample *x)
{
    return (uint64_t)course_stratum(c, x->table, x->i) << 32 |
           class_of(kinds, &x->t->bytes, x->i) << 16 | class_of(kinds, &x->t->objects, x->i);
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Finds the kinds of all samples and sorts them, so that the order of rows does not count. False:
 * there are too many operations. */
static bool find_kinds(const struct course *c, const struct samples *of, struct kinds *kinds)
{
    bool fit = false;

    for (int64_t width = A_TENTH; !fit && width < 64 * COURSE_LOG_ONE; width *= 2) {
        struct sample x = {0};

        *kinds = (struct kinds){.width = width};
        for (fit = true; fit && next_sample(c, of, &x);)
            fit = kind_of(kinds, key_of(c, kinds, &x)) != SIZE_MAX;
    }
    struct kinds sorted = {.width = kinds->width};
    qsort(kinds->keys, kinds->n, sizeof *kinds->keys, compare_keys);
    for (size_t k = 0; k < kinds->n; k++)
        kind_of(&sorted, kinds->keys[k]);
    *kinds = sorted;
    return fit;
}

static void count_threads(struct course *c, const struct course_visits *threads)
{
    for (size_t i = 0; i < c->d->n_threads; i++)
        for (size_t b = threads[i].n > 0 ? course_block(c, threads[i].first_ns) : c->n_blocks;
             b < c->n_blocks && course_block_start_ns(c, b) <= threads[i].last_ns; b++)
            c->load.threads[b]++;
}

/* Allocates and fills the number of requests under way, by bin; NULL in a closed loop. */
static bool count_under_way(const struct course *c, int64_t **n, struct err *e)
{
    *n = NULL;
    if (!c->open_loop)
        return true;
    if (!mem_cleared(n, c->n_bins, e))
        return false;
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < c->tables[k]->n; i++)
            (*n)[course_bin(c, c->tables[k]->start[i])]++;
    for (size_t j = 1; j < c->n_bins; j++)
        (*n)[j] += (*n)[j - 1] - c->ok[j - 1] - c->failed[j - 1];
    return true;
}

/* In an open loop the queue is chance: takes away what the number of requests under way does. How
 * durations grow with it comes from requests of one kind and block, so that what changes over time
 * cannot bend it; no system that works on answers more than proportionally later. */
static void level_queues(struct course *c)
{
    double squares = 0, products = 0, n = 0, met = 0;

    for (size_t i = 0; i < c->load.n_alike * c->n_blocks; i++) {
        const struct course_work *w = &c->load.work[i];
        if (w->n == 0)
            continue;
        squares += w->met_squares - w->met * w->met / w->n;
        products += w->met_log - w->met * w->log / w->n;
        n += w->n;
        met += w->met;
    }
    double slope = squares > 0 ? fmin(fmax(products / squares, 0), 1) : 0;
    for (size_t i = 0; i < c->load.n_alike * c->n_blocks; i++) {
        struct course_work *w = &c->load.work[i];
        double more = slope * (w->met - w->n * met / n);

        w->log = COURSE_LOG_UNIT * (w->log - more);
        w->ns *= exp(-COURSE_LOG_UNIT * more / fmax(w->n, 1));
    }
}

/* Adds the samples to the work; logarithms in units of 1 / COURSE_LOG_ONE, so that sums are exact.
 */
static void add_samples(struct course *c, const struct samples *of, struct kinds *kinds,
                        const int64_t *under_way)
{
    for (struct sample x = {0}; next_sample(c, of, &x);) {
        size_t kind = kind_of(kinds, key_of(c, kinds, &x)), i = x.i;
        struct course_work *w = course_work(c, kind, course_block(c, x.t->start[i]));
        int64_t dur_ns = int64_max(packed_get(&x.t->dur, i), 1);
        double ln = (double)course_log2(dur_ns);

        c->load.stratum[kind] = course_stratum(c, x.table, i);
        course_work(c, kind, course_block(c, table_end(x.t, i)))->n_ended++;
        w->n++;
        w->ns += (double)dur_ns;
        w->log += ln;
        if (under_way != NULL) {
            int64_t n = under_way[course_bin(c, x.t->start[i])];
            double met = (double)course_log2(1 + int64_max(n, 0));

            w->met += met;
            w->met_squares += met * met;
            w->met_log += met * ln;
        }
        w->bytes += (double)packed_get(&x.t->bytes, i);
        w->objects += (double)packed_get(&x.t->objects, i);
    }
}

bool course_load_rows(struct course *c, const size_t *rows, const size_t *n_samples,
                      uint64_t sample_below, const struct course_visits *threads, struct err *e)
{
    struct samples some = {rows, n_samples, sample_below};
    double n = (double)n_samples[c->n_ops - 1], weight;
    struct kinds kinds;
    int64_t *under_way;

    if (n > MOST_SAMPLES)
        some.below = (uint64_t)((double)sample_below * MOST_SAMPLES / n);
    weight = 0x1p32 / (double)some.below;
    if (!count_under_way(c, &under_way, e))
        return false;
    bool fit = find_kinds(c, &some, &kinds), ok = course_load_init(c, fit ? kinds.n : 0, e) &&
                                                  mem_cleared(&c->load.threads, c->n_blocks, e);
    if (ok) {
        c->load.sizes_are_alike = true;
        count_threads(c, threads);
        for (struct sample x = {0}; next_sample(c, &some, &x);)
            course_load_add(c, x.t->start[x.i], table_end(x.t, x.i), weight);
        for (size_t b = 0; b < c->n_blocks; b++)
            c->load.under_way[b] /= course_part(c, b, c->block_ns) * (double)c->block_ns;
        if (fit)
            add_samples(c, &some, &kinds, under_way);
        level_queues(c);
    }
    free(under_way);
    return ok;
}
