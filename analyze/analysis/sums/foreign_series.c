/* Time series of a foreign file, made of the seconds that it has. */
#include "analyze/analysis/sums/foreign_internal.h"
#include "analyze/analysis/sums/sums_internal.h"
#include "analyze/data/slices.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>

#define GROUP_NS (10 * NS_PER_S)
#define MIN_P99  100 /* requests; with fewer, the p99 is the slowest request */

struct slice_grid foreign_grid(const struct sums_part *p)
{
    struct slice_grid grid = {0};

    if (p == NULL || p->end_ns <= p->start_ns)
        return grid;
    int64_t first_s = p->start_ns / NS_PER_S, last_s = (p->end_ns - 1) / NS_PER_S;
    int64_t step_s = (last_s - first_s) / ANALYSIS_MAX_SEGMENTS + 1;
    slice_grid_init(&grid, first_s * NS_PER_S, step_s * NS_PER_S,
                    (size_t)((last_s - first_s) / step_s) + 1);
    return grid;
}

/* Adds the seconds that are known, and scales their amounts up to the whole row. */
static void fill_row(struct series_row *r, const struct foreign_seconds *x, size_t *i,
                     int64_t end_ns)
{
    int64_t row_end_ns = r->start_ns + r->duration_ns, n_known = 0, n_micro = 0;

    for (; *i < x->n && x->at_s[*i] * NS_PER_S < row_end_ns; ++*i) {
        if (x->at_s[*i] * NS_PER_S < r->start_ns)
            continue;
        n_known++;
        r->bytes += x->v[*i].n_bytes;
        n_micro += x->v[*i].n_micro_objects;
        r->errors += x->v[*i].n_failed;
    }
    r->in_range = n_known > 0;
    if (n_known == 0)
        return;
    double share = (double)(int64_min(row_end_ns, end_ns) - r->start_ns) / 1e9 / (double)n_known;
    r->bytes = llround((double)r->bytes * share);
    r->objects = (double)n_micro / SUMS_MICRO * share;
}

/* Fills percentiles from groups. These are valid only for the group's ten seconds and one
 * client. */
static void fill_percentiles(struct series_row *rows, const struct slice_grid *grid,
                             const struct foreign_part *x)
{
    if (x->n_group_clients != 1 || grid->length_ns > GROUP_NS)
        return;
    for (size_t i = 0; i < x->n_groups; i++) {
        const struct request_group *g = &x->groups[i];
        for (size_t k = 0; !g->is_multi && g->start_ns != REQUEST_NO_TIME && k < grid->n; k++) {
            int64_t middle_ns = rows[k].start_ns + grid->length_ns / 2;
            if (middle_ns < g->start_ns || middle_ns - g->start_ns >= GROUP_NS)
                continue;
            rows[k].p50_ns = g->p50_ms * 1e6;
            rows[k].p99_ns = g->n_requests >= MIN_P99 ? g->p99_ms * 1e6 : NAN;
        }
    }
}

bool foreign_series(const struct foreign *f, const struct sums_part *p, const struct sums_op *op,
                    bool is_main, const struct slice_grid *grid, struct series_row **rows,
                    size_t *n, struct err *e)
{
    struct foreign_seconds x;
    size_t at = 0;

    *rows = NULL;
    *n = 0;
    if (p == NULL || p->end_ns <= p->start_ns)
        return true;
    /* The merge lost some seconds of the clients' own. Their first two contain earlier requests. */
    bool ok = is_main && f->is_merged
                  ? foreign_seconds(&x, &f->together, 1, (p->start_ns / NS_PER_S + 2) * NS_PER_S,
                                    p->end_ns - 1, e)
                  : foreign_seconds(&x, p, 1, INT64_MIN, INT64_MAX, e);
    ok = ok && mem_new(rows, grid->n, e);
    const struct slice_grid own = foreign_grid(p);
    for (; ok && *n < grid->n; ++*n) {
        (*rows)[*n] =
            (struct series_row){.start_ns = grid->start_ns + (int64_t)*n * grid->length_ns,
                                .duration_ns = grid->length_ns,
                                .objects = NAN,
                                .ops_avg_ns = NAN,
                                .p50_ns = NAN,
                                .p90_ns = NAN,
                                .p99_ns = NAN,
                                .max_ns = NAN,
                                .ttfb_p50_ns = NAN,
                                .response_p50_ns = NAN,
                                .response_p90_ns = NAN,
                                .response_p99_ns = NAN,
                                .response_max_ns = NAN,
                                .in_flight = NAN,
                                .lacks_parts = true,
                                .lacks_counts = true};
        fill_row(&(*rows)[*n], &x, &at, own.end_ns);
    }
    if (ok && op != NULL)
        fill_percentiles(*rows, grid, op->foreign);
    foreign_seconds_fini(&x);
    return ok;
}
