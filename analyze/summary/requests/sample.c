/* Moments and quantiles of the durations, TTFBs and throughputs of requests, in groups. Quantiles
 * are exact; sums are exact integers, so the order of rows changes no digit. */
#include "analyze/summary/requests/sample.h"

#include "analyze/stats/picker.h"
#include "analyze/summary/model/fields.h"
#include "analyze/summary/requests/moments.h"
#include "libcommon/mem.h"
#include "libcommon/quantile.h"

#include <stdlib.h>
#include <string.h>

const int64_t analysis_size_edges[ANALYSIS_N_SIZES + 1] = {
    0,
    1,
    10,
    100,
    INT64_C(1) << 10,
    INT64_C(10) << 10,
    INT64_C(100) << 10,
    INT64_C(1) << 20,
    INT64_C(10) << 20,
    INT64_C(100) << 20,
    INT64_C(1) << 30,
    INT64_C(10) << 30,
    INT64_C(100) << 30,
    INT64_C(1) << 40,
    INT64_MAX,
};

/* By number of bits: the class of the smallest number that has so many bits. */
static const uint8_t class_of_bits[64] = {
    0,  1,  1,  1,  1,  2,  2,  2,  3,  3,  3,  4,  4,  4,  4,  5,  5,  5,  6,  6,  6,  7,
    7,  7,  7,  8,  8,  8,  9,  9,  9,  10, 10, 10, 10, 11, 11, 11, 12, 12, 12, 13, 13, 13,
    13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13,
};

size_t analysis_size_class(int64_t bytes)
{
    size_t c = bytes > 0 ? class_of_bits[64 - __builtin_clzll((unsigned long long)bytes)] : 0;
    return c + (c + 1 < ANALYSIS_N_SIZES && bytes >= analysis_size_edges[c + 1]);
}

/* ---- Moments and quantiles ---- */

/* Figures of the values of one part, or of all. */
struct figures {
    struct moments moments;
    int64_t min, max;
    int64_t q[TIMES_N_QUANTILES];
};

/* A request for figures: of which values, by which parts, and where to put the result. */
struct question {
    const struct rows *rows;
    const struct parts *parts;
    const struct packed *column, *plus; /* plus: added to column; NULL: nothing */
    struct times *by_part;              /* `stride` bytes apart; NULL: not wanted */
    size_t stride;
};

/* Gets the value of a row. Returns false if it has none. */
static inline bool value_of(const struct question *q, size_t row, int64_t *value)
{
    if (!packed_has(q->column, row) || (q->plus != NULL && !packed_has(q->plus, row)))
        return false;
    *value = packed_get(q->column, row) + (q->plus != NULL ? packed_get(q->plus, row) : 0);
    return true;
}

/* The number of ranks needed: the least value, the quantiles and the greatest value. */
#define N_RANKS (TIMES_N_QUANTILES + 2)

static void fill_ranks(size_t n, size_t ranks[N_RANKS])
{
    ranks[0] = 0;
    for (size_t i = 0; i < TIMES_N_QUANTILES; i++)
        ranks[i + 1] = quantile_index(n, times_quantiles[i]->permille);
    ranks[N_RANKS - 1] = n - 1;
}

static void take_ranks(struct figures *f, const int64_t *values)
{
    f->min = values[0];
    memcpy(f->q, values + 1, sizeof f->q);
    f->max = values[N_RANKS - 1];
}

/* Returns element i of structs that are `stride` bytes apart. */
static void *at(void *first, size_t i, size_t stride)
{
    return (char *)first + i * stride;
}

static void fill_times(struct times *t, const struct figures *f)
{
    if (f->moments.n == 0)
        return;
    *t = (struct times){
        .present = true,
        .n = f->moments.n,
        .mean_ns = moments_mean(&f->moments),
        .stddev_ns = moments_stddev(&f->moments),
        .fastest_ns = f->min,
        .slowest_ns = f->max,
    };
    for (size_t i = 0; i < TIMES_N_QUANTILES; i++)
        times_set_quantile(t, i, f->q[i]);
}

static void fill_part(const struct question *q, size_t part, const struct figures *f)
{
    if (q->by_part != NULL)
        fill_times(at(q->by_part, part, q->stride), f);
}

/* ---- By counting: for few parts with many rows, in two passes ---- */

#define COUNTED_MAX_PARTS 16
#define COUNTED_MIN_ROWS  16384 /* rows per part, on average */

struct counted {
    struct picker parts[COUNTED_MAX_PARTS], all;
    bool *wanted; /* by bucket: some picker wants its values */
    bool with_all;
};

static bool counted_init(struct counted *c, size_t n_parts, bool with_all)
{
    *c = (struct counted){
        .wanted = calloc(HIST_N_INDEXES, sizeof *c->wanted),
        .with_all = with_all,
    };
    bool ok = c->wanted != NULL && (!with_all || picker_init(&c->all));
    for (size_t p = 0; ok && p < n_parts; p++)
        ok = picker_init(&c->parts[p]);
    return ok;
}

static void counted_fini(struct counted *c)
{
    for (size_t p = 0; p < COUNTED_MAX_PARTS; p++)
        picker_fini(&c->parts[p]);
    picker_fini(&c->all);
    free(c->wanted);
}

/* True if all rows of a block count and have packed values of the column, none of them wide. */
static bool is_plain(const struct question *q, const struct rows_block *block)
{
    return block->all && q->rows->pair == NULL && q->plus == NULL && q->column->v != NULL &&
           q->column->n_wide == 0 && q->parts->of_class == NULL;
}

static inline size_t part_of_place(const struct question *q, size_t row)
{
    return q->parts->of_place != NULL ? q->parts->of_place[table_place(q->rows->t, row)] : 0;
}

static void count_plain(struct counted *c, const struct question *q, const struct rows_block *block,
                        struct figures *by_part)
{
    /* An addition to a part waits for the one before it, so every second row goes to another array.
     */
    struct {
        uint64_t number_and_sum;
        unsigned __int128 squares;
    } sums[2][COUNTED_MAX_PARTS] = {{{0}}};
    const struct ids place = q->rows->t->place; /* a copy: no store below aliases it */
    const uint32_t *of_place = q->parts->of_place, *column = q->column->v;
    for (size_t row = block->from; row < block->to; row++) {
        uint32_t v = column[row];
        size_t p = of_place != NULL ? of_place[ids_get(&place, row)] : 0;

        if (v == PACKED_NONE)
            continue;
        sums[row % 2][p].number_and_sum += BLOCKS_ONE + v;
        sums[row % 2][p].squares += (uint64_t)v * v;
        picker_count32(&c->parts[p], v);
    }
    for (size_t p = 0; p < q->parts->n; p++) {
        struct moments *to = &by_part[p].moments;
        uint64_t number_and_sum = sums[0][p].number_and_sum + sums[1][p].number_and_sum;

        to->n += blocks_number(number_and_sum);
        to->sum += blocks_sum(number_and_sum);
        to->small_squares += sums[0][p].squares + sums[1][p].squares;
    }
}

static void count_values(struct counted *c, const struct question *q, struct figures *by_part)
{
    size_t row;
    int64_t v;

    for (size_t b = 0; b < rows_n_blocks(q->rows); b++) {
        const struct rows_block block = rows_block(q->rows, b);
        if (is_plain(q, &block)) {
            count_plain(c, q, &block, by_part);
            continue;
        }
        for (size_t k = block.from; k < block.to; k++) {
            if (!rows_get(q->rows, &block, k, &row) || !value_of(q, row, &v))
                continue;
            size_t p = part_of(q->parts, q->rows->t, row);
            moments_add(&by_part[p].moments, v);
            picker_count(&c->parts[p], v);
        }
    }
}

static inline void collect_value(struct counted *c, size_t part, int64_t v)
{
    picker_collect(&c->parts[part], v);
    if (c->with_all)
        picker_collect(&c->all, v);
}

static void collect_plain(struct counted *c, const struct question *q,
                          const struct rows_block *block)
{
    const uint32_t *v = q->column->v;
    for (size_t row = block->from; row < block->to; row++)
        if (c->wanted[hist_index32(v[row])] && v[row] != PACKED_NONE)
            collect_value(c, part_of_place(q, row), v[row]);
}

static void collect_values(struct counted *c, const struct question *q)
{
    size_t row;
    int64_t v;

    for (size_t b = 0; b < rows_n_blocks(q->rows); b++) {
        const struct rows_block block = rows_block(q->rows, b);
        if (is_plain(q, &block)) {
            collect_plain(c, q, &block);
            continue;
        }
        for (size_t k = block.from; k < block.to; k++) {
            if (rows_get(q->rows, &block, k, &row) && value_of(q, row, &v) &&
                c->wanted[hist_index(v)])
                collect_value(c, part_of(q->parts, q->rows->t, row), v);
        }
    }
}

static bool aim(struct picker *p, const struct figures *f, bool *wanted)
{
    size_t ranks[N_RANKS];
    if (f->moments.n == 0)
        return picker_aim(p, NULL, 0);
    fill_ranks((size_t)f->moments.n, ranks);
    bool ok = picker_aim(p, ranks, N_RANKS);
    if (ok)
        picker_mark(p, wanted);
    return ok;
}

static void finish(struct picker *p, struct figures *f)
{
    size_t ranks[N_RANKS];
    int64_t values[N_RANKS];

    if (f->moments.n == 0)
        return;
    fill_ranks((size_t)f->moments.n, ranks);
    picker_finish(p, ranks, values);
    take_ranks(f, values);
}

static bool answer_by_counting(const struct question *q, struct figures *all, struct err *e)
{
    struct counted c;
    struct figures by_part[COUNTED_MAX_PARTS] = {0};
    size_t n = q->parts->n;
    bool ok = counted_init(&c, n, all != NULL && n > 1);

    if (ok)
        count_values(&c, q, by_part);
    if (ok && c.with_all) {
        for (size_t p = 0; p < n; p++) {
            moments_merge(&all->moments, &by_part[p].moments);
            picker_merge(&c.all, &c.parts[p]);
        }
        ok = aim(&c.all, all, c.wanted);
    }
    for (size_t p = 0; ok && p < n; p++)
        ok = aim(&c.parts[p], &by_part[p], c.wanted);
    if (ok)
        collect_values(&c, q);
    for (size_t p = 0; ok && p < n; p++) {
        finish(&c.parts[p], &by_part[p]);
        fill_part(q, p, &by_part[p]);
    }
    if (ok && c.with_all)
        finish(&c.all, all);
    else if (ok && all != NULL)
        *all = by_part[0];
    counted_fini(&c);
    return ok || mem_none(e);
}

/* ---- By holding the values: 8 bytes a row, in one pass ---- */

/* Values by part: those of part p are v[first[p]] .. v[next[p] - 1]. */
struct sample {
    int64_t *v;
    size_t *first, *next;
};

static bool sample_init(struct sample *s, const struct parts *parts, struct err *e)
{
    size_t room = 0;

    if (!mem_new(&s->first, parts->n, e) || !mem_new(&s->next, parts->n, e))
        return false;
    for (size_t p = 0; p < parts->n; p++) {
        s->first[p] = s->next[p] = room;
        room += (size_t)parts->room[p];
    }
    return mem_new(&s->v, room, e);
}

static void sample_fini(struct sample *s)
{
    free(s->v);
    free(s->first);
    free(s->next);
}

/* Closes the gaps after parts that have fewer values than room. */
static void sample_close(struct sample *s, size_t n_parts)
{
    size_t n_before = 0;
    for (size_t p = 0; p < n_parts; p++) {
        size_t n = s->next[p] - s->first[p];
        if (s->first[p] != n_before)
            memmove(s->v + n_before, s->v + s->first[p], n * sizeof *s->v);
        s->first[p] = n_before;
        s->next[p] = n_before += n;
    }
}

/* Finds the values of ascending ranks; v is reordered. */
static bool select_values(int64_t *v, size_t n, const size_t *ranks, size_t n_ranks, int64_t *out,
                          struct err *e)
{
    if (n >= COUNTED_MIN_ROWS)
        return picker_select(v, n, ranks, n_ranks, out) || mem_none(e);
    picker_select_in_place(v, n, 0, ranks, n_ranks, out);
    return true;
}

/* Fills f with the quantiles of its f->moments.n values; v is reordered. */
static bool select_figures(struct figures *f, int64_t *v, struct err *e)
{
    size_t ranks[N_RANKS], n = (size_t)f->moments.n;
    int64_t values[N_RANKS];

    if (n == 0)
        return true;
    fill_ranks(n, ranks);
    if (!select_values(v, n, ranks, N_RANKS, values, e))
        return false;
    take_ranks(f, values);
    return true;
}

static bool answer_by_holding(const struct question *q, struct figures *all, struct err *e)
{
    struct sample s = {0};
    size_t row;
    int64_t v;
    bool ok = sample_init(&s, q->parts, e);

    for (size_t b = 0; ok && b < rows_n_blocks(q->rows); b++) {
        const struct rows_block block = rows_block(q->rows, b);
        for (size_t k = block.from; k < block.to; k++) {
            if (rows_get(q->rows, &block, k, &row) && value_of(q, row, &v))
                s.v[s.next[part_of(q->parts, q->rows->t, row)]++] = v;
        }
    }
    if (ok)
        sample_close(&s, q->parts->n);
    /* The parts go first: reordering all values would mix them. */
    for (size_t p = 0; ok && p < q->parts->n; p++) {
        struct figures f = {0};
        for (size_t i = s.first[p]; i < s.next[p]; i++)
            moments_add(&f.moments, s.v[i]);
        ok = select_figures(&f, s.v + s.first[p], e);
        fill_part(q, p, &f);
        if (all != NULL)
            moments_merge(&all->moments, &f.moments);
    }
    if (ok && all != NULL)
        ok = select_figures(all, s.v, e);
    sample_fini(&s);
    return ok;
}

/* Fills the times of each part and, unless `all` is NULL, the figures of all values. */
static bool answer(const struct question *q, struct figures *all, struct err *e)
{
    size_t n = q->parts->n;
    if (packed_has_none(q->column))
        return true;
    if (q->rows->pair == NULL && n <= COUNTED_MAX_PARTS && q->rows->n / n >= COUNTED_MIN_ROWS)
        return answer_by_counting(q, all, e);
    return answer_by_holding(q, all, e);
}

bool sample_times(const struct rows *rows, const struct parts *parts, const struct packed *column,
                  const struct packed *plus, struct times *all, struct times *by_part,
                  size_t stride, struct err *e)
{
    const struct question q = {rows, parts, column, plus, by_part, stride};
    struct figures of_all = {0};

    if (!answer(&q, all != NULL ? &of_all : NULL, e))
        return false;
    if (all != NULL)
        fill_times(all, &of_all);
    return true;
}

/* ---- Throughputs of single requests ---- */

/* Returns bytes per second as the bits of a double. Positive doubles sort as their bits do. */
static inline int64_t rate_bits(int64_t bytes, int64_t duration_ns)
{
    double rate = (double)bytes / ((double)duration_ns / 1e9);
    int64_t bits;

    memcpy(&bits, &rate, sizeof bits);
    return bits;
}

static inline double bits_rate(int64_t bits)
{
    double rate;
    memcpy(&rate, &bits, sizeof rate);
    return rate;
}

/* Sums over the requests of one part. */
struct size_sums {
    int64_t n, n_rated;
    __int128 bytes, ns, rated_bytes, rated_ns;
};

/* Adds up sums, and collects rates by part: those of part p are the n_rated values from v +
 * first[p] on. */
static void add_rates(struct sample *s, struct size_sums *sums, const struct rows *rows,
                      const struct parts *parts)
{
    const struct table *t = rows->t;
    size_t row;

    for (size_t b = 0; b < rows_n_blocks(rows); b++) {
        const struct rows_block block = rows_block(rows, b);
        for (size_t k = block.from; k < block.to; k++) {
            if (!rows_get(rows, &block, k, &row))
                continue;
            size_t part = part_of(parts, t, row);
            struct size_sums *x = &sums[part];
            int64_t bytes = packed_get(&t->bytes, row), ns = packed_get(&t->dur, row);
            x->n++;
            x->bytes += bytes;
            x->ns += ns;
            if (bytes > 0 && ns > 0) {
                x->rated_bytes += bytes;
                x->rated_ns += ns;
                x->n_rated++;
                s->v[s->next[part]++] = rate_bits(bytes, ns);
            }
        }
    }
}

/* Fills *out; v holds the rates' bits and is overwritten. */
static bool fill_sized(struct sized *out, const struct size_sums *s, int64_t *v, struct err *e)
{
    const unsigned permille[] = {1000, 990, 900, 500, 0};
    size_t n = (size_t)s->n_rated, ranks[5];
    int64_t values[5], least = INT64_MAX;

    if (s->n == 0)
        return true;
    out->present = true;
    out->n = s->n;
    out->n_unrated = s->n - s->n_rated;
    out->mean_bytes = (double)s->bytes / (double)s->n;
    out->mean_ns = (double)s->ns / (double)s->n;
    out->rated = n > 0;
    if (n == 0)
        return true;
    /* Percentiles count from the fastest request, so ranks count from the greatest rate. */
    for (size_t i = 0; i < 5; i++)
        ranks[i] = n - 1 - quantile_index(n, permille[i]);
    /* Subtract the least: small numbers are selected faster, in narrower buckets. */
    for (size_t i = 0; i < n; i++)
        least = v[i] < least ? v[i] : least;
    for (size_t i = 0; i < n; i++)
        v[i] -= least;
    if (!select_values(v, n, ranks, 5, values, e))
        return false;
    out->mean_bytes_per_s = (double)s->rated_bytes / ((double)s->rated_ns / 1e9);
    out->slowest_bytes_per_s = bits_rate(least + values[0]);
    out->p99_bytes_per_s = bits_rate(least + values[1]);
    out->p90_bytes_per_s = bits_rate(least + values[2]);
    out->p50_bytes_per_s = bits_rate(least + values[3]);
    out->fastest_bytes_per_s = bits_rate(least + values[4]);
    return true;
}

bool sample_sized(const struct rows *rows, const struct parts *parts, struct sized *by_part,
                  size_t stride, struct err *e)
{
    struct sample s = {0};
    struct size_sums *sums;
    bool ok = mem_cleared(&sums, parts->n, e) && sample_init(&s, parts, e);

    if (ok)
        add_rates(&s, sums, rows, parts);
    for (size_t p = 0; ok && p < parts->n; p++)
        ok = fill_sized(at(by_part, p, stride), &sums[p], s.v + s.first[p], e);
    sample_fini(&s);
    free(sums);
    return ok && sample_times(rows, parts, &rows->t->ttfb, NULL, NULL, &by_part->ttfb, stride, e);
}
