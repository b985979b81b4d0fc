/* What was asked of the system, by block of time: sizes, operations, threads, requests due. */
#include "analyze/findings/course.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>

#define MOST_SAMPLES (1 << 16)
#define MOST_ALIKE   256 /* kinds of requests; more of an operation count as one */
#define A_TENTH      141 /* log2(1.1), in units of 1 / COURSE_LOG_ONE */

bool course_load_init(struct course *c, size_t n, struct err *e)
{
    c->load.n_alike = n;
    return mem_cleared(&c->load.stratum, n, e) && mem_cleared(&c->load.work, n * c->n_blocks, e) &&
           (c->load.under_way != NULL || mem_cleared(&c->load.under_way, c->n_blocks, e));
}

void course_load_add(struct course *c, int64_t start_ns, int64_t end_ns, double weight)
{
    size_t b = course_block(c, start_ns), last = course_block(c, end_ns);

    for (; b < last; start_ns = c->bins_ns + (int64_t)++b * c->block_ns)
        c->load.under_way[b] +=
            weight * (double)(c->bins_ns + (int64_t)(b + 1) * c->block_ns - start_ns);
    c->load.under_way[b] += weight * (double)(end_ns - start_ns);
}

static uint64_t within_a_tenth(const struct packed *of, size_t i)
{
    int64_t x = packed_get(of, i);
    return x > 0 ? (uint64_t)(course_log2(x) / A_TENTH) + 1 : 0;
}

/* Kinds of requests: their keys in order of appearance, found by a hash table of indexes from 1. */
struct kinds {
    uint64_t keys[MOST_ALIKE];
    size_t n;
    uint16_t slots[4 * MOST_ALIKE];
};

/* Returns the kind of row i of a table, which is added; SIZE_MAX: there are too many. */
static size_t kind_of(const struct table *t, uint64_t stratum, size_t i, struct kinds *kinds)
{
    uint64_t key =
        stratum << 32 | within_a_tenth(&t->bytes, i) << 16 | within_a_tenth(&t->objects, i);
    size_t at = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) % (4 * MOST_ALIKE);

    for (; kinds->slots[at] > 0; at = (at + 1) % (4 * MOST_ALIKE))
        if (kinds->keys[kinds->slots[at] - 1] == key)
            return kinds->slots[at] - 1u;
    for (size_t j = 0; kinds->n == MOST_ALIKE && j < MOST_ALIKE; j++)
        if (kinds->keys[j] >> 32 == stratum)
            return j;
    if (kinds->n == MOST_ALIKE)
        return SIZE_MAX;
    kinds->keys[kinds->n++] = key;
    kinds->slots[at] = (uint16_t)kinds->n;
    return kinds->n - 1;
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
static void level_queues(struct course *c, size_t n_kinds)
{
    double squares = 0, products = 0, n = 0, met = 0;

    for (size_t i = 0; i < n_kinds * c->n_blocks; i++) {
        const struct course_work *w = &c->load.work[i];
        if (w->n == 0)
            continue;
        squares += w->met_squares - w->met * w->met / w->n;
        products += w->met_log - w->met * w->log / w->n;
        n += w->n;
        met += w->met;
    }
    double slope = squares > 0 ? fmin(fmax(products / squares, 0), 1) : 0;
    for (size_t i = 0; i < n_kinds * c->n_blocks; i++) {
        struct course_work *w = &c->load.work[i];
        w->log -= slope * (w->met - w->n * met / n);
    }
}

bool course_load_rows(struct course *c, const size_t *samples, const size_t *n_samples,
                      double rows_per_sample, const struct course_visits *threads, struct err *e)
{
    struct kinds kinds = {.n = 0};
    size_t step = n_samples[c->n_ops - 1] / MOST_SAMPLES + 1;
    int64_t *under_way;

    if (!count_under_way(c, &under_way, e))
        return false;
    if (!course_load_init(c, MOST_ALIKE, e) || !mem_cleared(&c->load.threads, c->n_blocks, e)) {
        free(under_way);
        return false;
    }
    c->load.sizes_are_alike = true;
    count_threads(c, threads);
    for (size_t k = 0, m = 0; k < c->n_ops; k++)
        for (const struct table *t = c->tables[k]; m < n_samples[k]; m += step) {
            size_t i = samples[m], stratum = course_stratum(c, k, i),
                   kind = kind_of(t, stratum, i, &kinds);
            int64_t dur_ns = int64_max(packed_get(&t->dur, i), 1);
            double ln = (double)course_log2(dur_ns) * COURSE_LOG_UNIT;

            course_load_add(c, t->start[i], table_end(t, i), rows_per_sample * (double)step);
            if (kind == SIZE_MAX)
                continue;
            struct course_work *w = course_work(c, kind, course_block(c, t->start[i]));
            c->load.stratum[kind] = stratum;
            course_work(c, kind, course_block(c, table_end(t, i)))->n_ended++;
            w->n++;
            w->ns += (double)dur_ns;
            w->log += ln;
            if (under_way != NULL) {
                double met = log1p(fmax((double)under_way[course_bin(c, t->start[i])], 0));
                w->met += met;
                w->met_squares += met * met;
                w->met_log += met * ln;
            }
            w->bytes += (double)packed_get(&t->bytes, i);
            w->objects += (double)packed_get(&t->objects, i);
        }
    for (size_t b = 0; b < c->n_blocks; b++)
        c->load.under_way[b] /= course_part(c, b, c->block_ns) * (double)c->block_ns;
    c->load.n_alike = kinds.n;
    level_queues(c, kinds.n);
    free(under_way);
    return true;
}
