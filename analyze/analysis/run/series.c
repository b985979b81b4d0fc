/* Computes time series on demand: nothing of the size hosts x segments is ever held. */
#include "analyze/analysis/run/run_internal.h"

#include "analyze/analysis/run/analysis.h"
#include "analyze/analysis/sums/sums.h"
#include "analyze/summary/sets/scan.h"

#include "analyze/base/csort.h"
#include "analyze/stats/picker.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>

void analysis_source_fini(struct analysis_source *s)
{
    for (size_t i = 0; s->rows != NULL && i < s->n_tables; i++)
        group_rows_fini(&s->rows[i]);
    free(s->rows);
    free(s->tables);
    group_keys_fini(&s->hosts);
}

/* Rows of one table: all of them, or those of one host. */
struct selection {
    const struct table *t;
    const uint32_t *row; /* NULL: all */
    size_t n;
};

static inline size_t selection_row(const struct selection *s, size_t j)
{
    return s->row != NULL ? s->row[j] : j;
}

static bool group_source(struct analysis_source *s, struct err *e)
{
    if (s->rows != NULL)
        return true;
    struct group_rows *rows = NULL;
    bool ok = mem_cleared(&rows, s->n_tables + 1, e);
    for (size_t i = 0; ok && i < s->n_tables; i++)
        ok = group_rows_init(&rows[i], s->tables[i], i, &s->hosts, e);
    for (size_t i = 0; !ok && rows != NULL && i < s->n_tables; i++)
        group_rows_fini(&rows[i]);
    if (!ok)
        free(rows);
    else
        s->rows = rows;
    return ok;
}

/* Makes a selection of each table. The caller frees *selections in any case. */
static bool select_rows(struct analysis_source *s, int host, struct selection **selections,
                        struct err *e)
{
    bool by_host = host >= 0 && s->hosts.n > 1;

    if (!mem_new(selections, s->n_tables, e) || (by_host && !group_source(s, e)))
        return false;
    struct selection *sel = *selections;
    for (size_t i = 0; i < s->n_tables; i++) {
        sel[i] = (struct selection){.t = s->tables[i], .n = s->tables[i]->n};
        if (by_host) {
            const struct group_rows *g = &s->rows[i];
            sel[i].row = g->row + g->first[host];
            sel[i].n = g->first[host + 1] - g->first[host];
        }
    }
    return true;
}

enum ended_value { ENDED_DURATION, ENDED_TTFB, ENDED_RESPONSE };

static bool has_value(const struct table *t, size_t row, enum ended_value what)
{
    return what == ENDED_DURATION || packed_has(what == ENDED_TTFB ? &t->ttfb : &t->late, row);
}

static int64_t value_of(const struct table *t, size_t row, enum ended_value what)
{
    return what == ENDED_TTFB ? packed_get(&t->ttfb, row)
                              : packed_get(&t->dur, row) +
                                    (what == ENDED_RESPONSE ? packed_get(&t->late, row) : 0);
}

/* Values of the successful requests by the segment k in which they end: v[first[k]] .. v[first[k +
 * 1] - 1]. */
struct ended {
    int64_t *v;
    size_t *first;
};

static bool ended_init(struct ended *x, const struct selection *sel, size_t n_sel,
                       const struct slice_grid *g, enum ended_value what, struct err *e)
{
    *x = (struct ended){0};
    if (!mem_cleared(&x->first, g->n + 2, e))
        return false;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n_sel; i++) {
            const struct table *t = sel[i].t;
            for (size_t j = 0; j < sel[i].n; j++) {
                size_t row = selection_row(&sel[i], j);
                int64_t end_ns = table_end(t, row);

                if (table_failed(t, row) || end_ns < g->start_ns || end_ns >= g->end_ns ||
                    !has_value(t, row, what))
                    continue;
                size_t k = slice_grid_index(g, end_ns);
                if (pass == 0)
                    csort_count(x->first, k);
                else
                    x->v[csort_place(x->first, k)] = value_of(t, row, what);
            }
        }
        if (pass == 0 && !mem_new(&x->v, csort_sum(x->first, g->n), e))
            return false;
    }
    return true;
}

static void ended_fini(struct ended *x)
{
    free(x->v);
    free(x->first);
}

/* Fills quantiles of durations, or fewer of other times. */
static bool fill_quantiles(struct series_row *rows, const struct selection *sel, size_t n_sel,
                           const struct slice_grid *g, enum ended_value what, struct err *e)
{
    const unsigned permille[] = {500, 900, 990, 1000};
    struct ended x;
    bool ok = ended_init(&x, sel, n_sel, g, what, e);

    for (size_t k = 0; ok && k < g->n; k++) {
        size_t n = x.first[k + 1] - x.first[k];
        int64_t q[4];

        if (n == 0)
            continue;
        picker_quantiles(x.v + x.first[k], n, permille, what == ENDED_TTFB ? 1 : 4, q);
        if (what == ENDED_TTFB) {
            rows[k].ttfb_p50_ns = (double)q[0];
        } else if (what == ENDED_RESPONSE) {
            rows[k].response_p50_ns = (double)q[0];
            rows[k].response_p90_ns = (double)q[1];
            rows[k].response_p99_ns = (double)q[2];
            rows[k].response_max_ns = (double)q[3];
        } else {
            rows[k].p50_ns = (double)q[0];
            rows[k].p90_ns = (double)q[1];
            rows[k].p99_ns = (double)q[2];
            rows[k].max_ns = (double)q[3];
        }
    }
    ended_fini(&x);
    return ok;
}

static bool fill_rows(struct series_row *rows, const struct selection *sel, size_t n_sel,
                      const struct slice_grid *g, const struct slice_grid *active, bool is_open,
                      struct err *e)
{
    struct slice_totals *slices;
    if (!mem_cleared(&slices, g->n, e))
        return false;
    for (size_t i = 0; i < n_sel; i++) {
        for (size_t j = 0; j < sel[i].n; j++) {
            struct attribution_request r = analysis_request(sel[i].t, selection_row(&sel[i], j));
            slices_add(g, slices, &r);
        }
    }
    for (size_t k = 0; k < g->n; k++) {
        const struct slice_totals *s = &slices[k];
        int64_t start_ns = g->start_ns + (int64_t)k * g->length_ns;

        rows[k] = series_row_empty(start_ns, g->length_ns);
        rows[k].bytes = s->sum.bytes;
        rows[k].objects = slice_n_objects(&s->sum);
        rows[k].full_ops = s->full_ops;
        rows[k].partial_ops = s->partial_ops;
        rows[k].ops_started = slice_ops_started(s);
        rows[k].ops_ended = slice_ops_ended(s);
        rows[k].errors = s->errors;
        rows[k].ops_avg_ns = slice_ended_mean_ns(s);
        rows[k].in_flight = slice_in_flight(s, g->length_ns);
        rows[k].in_range = start_ns >= active->start_ns && start_ns < active->end_ns;
    }
    free(slices);
    return fill_quantiles(rows, sel, n_sel, g, ENDED_DURATION, e) &&
           fill_quantiles(rows, sel, n_sel, g, ENDED_TTFB, e) &&
           (!is_open || fill_quantiles(rows, sel, n_sel, g, ENDED_RESPONSE, e));
}

bool analysis_grid_around(struct slice_grid *g, int64_t anchor_ns, int64_t length_ns,
                          int64_t first_ns, int64_t last_ns, struct err *e)
{
    int64_t n_before = first_ns < anchor_ns ? (anchor_ns - first_ns - 1) / length_ns + 1 : 0;
    int64_t n_after = (last_ns - anchor_ns) / length_ns + 1;
    __int128 start_ns = anchor_ns - (__int128)n_before * length_ns;

    if (n_before > ANALYSIS_MAX_SEGMENTS || n_after > ANALYSIS_MAX_SEGMENTS - n_before)
        return err_set(e, "more than %d segments of %lld ns: choose longer ones",
                       ANALYSIS_MAX_SEGMENTS, (long long)length_ns);
    if (start_ns < INT64_MIN || anchor_ns + (__int128)n_after * length_ns > INT64_MAX)
        return err_set(e, "segments of %s would end after the year 2262, the last of 64 bits",
                       units_duration(length_ns).s);
    slice_grid_init(g, (int64_t)start_ns, length_ns, (size_t)(n_before + n_after));
    return true;
}

static struct analysis_source *source_of(const struct analysis *a, int op)
{
    return &a->sources[op < 0 ? a->n_operations : (size_t)op];
}

bool analysis_series_on(const struct analysis *a, int op, int host, const struct slice_grid *grid,
                        struct series_row **rows, size_t *n, struct err *e)
{
    if (a->sums != NULL)
        return sums_series_on(a, op, host, grid, rows, n, e);
    struct analysis_source *s = source_of(a, op);
    *rows = NULL;
    *n = 0;
    if (grid->n == 0 || s->n_tables == 0)
        return true;
    struct selection *sel = NULL;
    bool ok = select_rows(s, host, &sel, e) && mem_new(rows, grid->n, e) &&
              fill_rows(*rows, sel, s->n_tables, grid, &s->grid, a->dataset->has_intended, e);
    free(sel);
    if (ok) {
        *n = grid->n;
        return true;
    }
    free(*rows);
    *rows = NULL;
    return false;
}

/* Finds the segments of an operation's series; n = 0: there is none. */
static bool series_grid(const struct analysis *a, int op, struct slice_grid *grid, struct err *e)
{
    const struct analysis_source *s = source_of(a, op);

    *grid = s->grid;
    if (s->n_tables == 0)
        grid->n = 0;
    return s->n_tables == 0 || !a->options.full_series ||
           analysis_grid_around(grid, s->has_range ? s->grid.start_ns : s->first_start_ns,
                                s->segment_ns, s->first_start_ns, s->last_end_ns, e);
}

bool analysis_series_length(const struct analysis *a, int op, size_t *n, struct err *e)
{
    struct slice_grid grid = {0};
    bool ok = a->sources == NULL || series_grid(a, op, &grid, e);

    *n = grid.n;
    return ok;
}

bool analysis_series(const struct analysis *a, int op, int host, struct series_row **rows,
                     size_t *n, struct err *e)
{
    struct slice_grid grid;

    if (a->sums != NULL)
        return sums_series(a, op, host, rows, n, e);
    *rows = NULL;
    *n = 0;
    return series_grid(a, op, &grid, e) && analysis_series_on(a, op, host, &grid, rows, n, e);
}
