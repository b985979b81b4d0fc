/* What was asked of the system, by block of time: sizes, operations, threads, requests due. */
#include "analyze/findings/course.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOG_ONE   1e3  /* durations count in thousandths, so that sums are exact */
#define OF_KEY    1000 /* classes of sizes in the key of a kind */
#define N_STRATA  100  /* size strata in it: 0 bytes, and one per factor of 4 */
#define N_OCTAVES 100  /* of a number of requests: more than there are */

bool course_load_init(struct course *c, size_t n, struct err *e)
{
    c->load.n_alike = n;
    return mem_cleared(&c->strata, n + c->n_ops, e) &&
           mem_cleared(&c->stratum_of_op, c->n_ops + 1, e) && mem_cleared(&c->load.stratum, n, e) &&
           mem_cleared(&c->load.work, n * c->n_blocks, e) &&
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

/* ---- Kinds ---- */

static uint64_t class_of(const struct course_kinds *kinds, int64_t x)
{
    return x > 0 ? 1 + (uint64_t)(log((double)x) / kinds->width) : 0;
}

static uint64_t key_of(const struct course_kinds *kinds, const struct course_request *r)
{
    uint64_t sizes = r->bytes > 0 ? 1 + (uint64_t)ilogb((double)r->bytes) / 2 : 0;

    return (((r->op * N_STRATA + sizes) * OF_KEY + class_of(kinds, r->bytes)) * OF_KEY +
            class_of(kinds, r->objects)) *
               2 +
           r->failed;
}

/* Returns the kind with that key, which is added; `most`: there are too many. */
static size_t kind_of(struct course_kinds *kinds, uint64_t key, size_t most)
{
    const size_t n_slots = sizeof kinds->slots / sizeof *kinds->slots;
    size_t at = (size_t)course_hash(key) % n_slots;

    for (; kinds->slots[at] > 0; at = (at + 1) % n_slots)
        if (kinds->keys[kinds->slots[at] - 1] == key)
            return kinds->slots[at] - 1u;
    if (kinds->n == most)
        return most;
    kinds->keys[kinds->n++] = key;
    kinds->slots[at] = (uint16_t)kinds->n;
    return kinds->n - 1;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool course_number_kinds(struct course_kinds *kinds, struct course_request *v, size_t n,
                         size_t most)
{
    struct course_kinds sorted = {.width = kinds->width};
    uint32_t number[COURSE_MAX_KINDS];

    most = most < COURSE_MAX_KINDS ? most : COURSE_MAX_KINDS;
    *kinds = sorted;
    for (size_t i = 0; i < n; i++) {
        v[i].kind = (uint32_t)kind_of(kinds, key_of(kinds, &v[i]), most);
        if (v[i].kind == most)
            return false;
    }
    memcpy(sorted.keys, kinds->keys, sizeof sorted.keys);
    qsort(sorted.keys, kinds->n, sizeof *sorted.keys, compare_keys);
    for (size_t k = 0; k < kinds->n; k++)
        number[k] = (uint32_t)((const uint64_t *)bsearch(&kinds->keys[k], sorted.keys, kinds->n,
                                                         sizeof *sorted.keys, compare_keys) -
                               sorted.keys);
    for (size_t i = 0; i < n; i++)
        v[i].kind = number[v[i].kind];
    memcpy(kinds->keys, sorted.keys, sizeof sorted.keys);
    return true;
}

/* Gives each kind its stratum. An operation without samples has one, too. */
static void fill_strata(struct course *c, const struct course_kinds *kinds)
{
    const uint64_t per_stratum = 2 * OF_KEY * OF_KEY;
    size_t k = 0;

    for (size_t op = 0; op < c->n_ops; op++) {
        c->stratum_of_op[op] = c->n_strata;
        do {
            uint64_t of = k < c->load.n_alike ? kinds->keys[k] / per_stratum : 0;
            int sizes = (int)(of % N_STRATA);
            double min_bytes = sizes > 0 ? ldexp(1, 2 * (sizes - 1)) : 0;

            for (; k < c->load.n_alike && kinds->keys[k] / per_stratum == of; k++)
                c->load.stratum[k] = c->n_strata;
            c->strata[c->n_strata++] = (struct course_stratum){
                .op = op,
                .min_bytes = (int64_t)min_bytes,
                .max_bytes = sizes > 0 ? (int64_t)fmin(ldexp(1, 2 * sizes) - 1, 0x1p62) : 0};
        } while (k < c->load.n_alike && kinds->keys[k] / per_stratum / N_STRATA == op);
    }
    c->stratum_of_op[c->n_ops] = c->n_strata;
}

/* ---- Load ---- */

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
            (*n)[course_bin(c, course_due_ns(c->tables[k], i))] +=
                !table_failed(c->tables[k], i) || packed_get(&c->tables[k]->dur, i) < c->hung_ns[k];
    for (size_t j = 1; j < c->n_bins; j++)
        (*n)[j] += (*n)[j - 1] - c->ok[j - 1] - c->failed[j - 1] + c->timed_out[j - 1];
    return true;
}

/* Returns what requests under way, of which the log is `met`, add to the log of a duration. */
static double added_by(const double *slope, double met)
{
    double sum = 0;
    for (size_t k = 0; k < N_OCTAVES; k++)
        sum += slope[k] * fmin(fmax(met / LOG_ONE - (double)k * M_LN2, 0), M_LN2);
    return sum;
}

/* In an open loop the queue is chance: takes away what the number of requests under way does. How
 * durations grow with it, by octave of it, comes from requests of one kind and block, so that what
 * changes over time cannot bend it. The more requests are under way, the more they queue: the slope
 * never falls. No system that works on answers more than proportionally later. */
static void level_queues(struct course *c)
{
    double squares[N_OCTAVES] = {0}, products[N_OCTAVES] = {0}, slope[N_OCTAVES], n = 0, met = 0;

    for (size_t i = 0; i < c->load.n_alike * c->n_blocks; i++) {
        const struct course_work *w = &c->load.work[i];
        if (w->n == 0)
            continue;
        size_t k = (size_t)(w->met / w->n / LOG_ONE / M_LN2);
        squares[k] += w->met_squares - w->met * w->met / w->n;
        products[k] += w->met_log - w->met * w->log / w->n;
        n += w->n;
        met += w->met;
    }
    for (size_t k = 0; k < N_OCTAVES; k++) {
        double sum = 0, product = 0, least = 1;

        for (size_t j = k; j < N_OCTAVES; j++) {
            sum += squares[j];
            product += products[j];
            least = sum > 0 ? fmin(product / sum, least) : least;
        }
        slope[k] = fmax(least, k > 0 ? slope[k - 1] : 0);
    }
    for (size_t i = 0; i < c->load.n_alike * c->n_blocks; i++) {
        struct course_work *w = &c->load.work[i];
        double more = added_by(slope, w->met / fmax(w->n, 1)) - added_by(slope, met / n);

        w->log = w->log / LOG_ONE - w->n * more;
        w->ns *= exp(-more);
    }
}

/* Adds the samples to the work and to the strata; logarithms in units of 1 / LOG_ONE. */
static bool add_samples(struct course *c, const struct course_request *v, size_t n,
                        const int64_t *under_way, struct err *e)
{
    struct {
        double sum, squares;
    } * logs;

    if (!mem_cleared(&logs, c->n_strata, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t stratum = c->load.stratum[v[i].kind];
        struct course_work *w = course_work(c, v[i].kind, course_block(c, v[i].due_ns));
        double ns = fmax((double)(v[i].end_ns - v[i].due_ns), 1), ln = rint(LOG_ONE * log(ns));

        course_work(c, v[i].kind, course_block(c, v[i].end_ns))->n_ended++;
        c->strata[stratum].n++;
        logs[stratum].sum += ln;
        logs[stratum].squares += ln * ln;
        w->n++;
        w->ns += ns;
        w->log += ln;
        w->bytes += (double)v[i].bytes;
        w->objects += (double)v[i].objects;
        if (under_way != NULL) {
            int64_t at_start = under_way[course_bin(c, v[i].due_ns)];
            double met = rint(LOG_ONE * log1p((double)int64_max(at_start, 0)));

            w->met += met;
            w->met_squares += met * met;
            w->met_log += met * ln;
        }
    }
    for (size_t q = 0; q < c->n_strata; q++) {
        double mean = logs[q].sum / fmax(c->strata[q].n, 1);
        c->strata[q].sd =
            sqrt(fmax(logs[q].squares / fmax(c->strata[q].n, 1) - mean * mean, 0)) / LOG_ONE;
    }
    free(logs);
    return true;
}

bool course_load_rows(struct course *c, struct course_request *v, size_t n, double of,
                      const struct course_visits *threads, struct err *e)
{
    struct course_kinds kinds = {.width = log(COURSE_EQUAL_SIZES)};
    int64_t *under_way;

    if (!count_under_way(c, &under_way, e))
        return false;
    bool fit = course_number_kinds(&kinds, v, n, COURSE_MAX_KINDS);
    while (!fit && kinds.width < log(0x1p63)) {
        kinds.width *= 2;
        fit = course_number_kinds(&kinds, v, n, COURSE_MAX_KINDS);
    }
    bool ok =
        course_load_init(c, fit ? kinds.n : 0, e) && mem_cleared(&c->load.threads, c->n_blocks, e);
    if (ok) {
        c->load.sizes_are_alike = true;
        fill_strata(c, &kinds);
        count_threads(c, threads);
        for (size_t i = 0; i < n; i++)
            course_load_add(c, v[i].start_ns, v[i].end_ns, of / (double)n);
        for (size_t b = 0; b < c->n_blocks; b++)
            c->load.under_way[b] /= course_part(c, b, c->block_ns) * (double)c->block_ns;
        ok = !fit || add_samples(c, v, n, under_way, e);
        level_queues(c);
    }
    free(under_way);
    return ok;
}
