/* Time series of sums, by whole seconds; of a foreign file, made of the seconds that it has. */
#include "analyze/analysis/sums/foreign_internal.h"
#include "analyze/analysis/sums/sums_internal.h"
#include "analyze/data/slices.h"
#include "analyze/summary/model/role.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>

#define GROUP_NS (10 * NS_PER_S)
#define MIN_P99  100 /* requests; with fewer, the p99 is the slowest request */

/* ---- Of a foreign file ---- */

/* Returns the grid of a part's series: its whole time by seconds, or longer steps. NULL: empty. */
static struct slice_grid foreign_grid(const struct sums_part *p)
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

/* Fills the series of part p. If the file knows no second of a row, its objects are NAN and its
 * bytes mean nothing. `op`: take percentiles of its groups; NULL: none. is_main: p is what the
 * report is about. *n is 0 if p is NULL. The caller frees *rows. False: out of memory. */
static bool foreign_series(const struct foreign *f, const struct sums_part *p,
                           const struct sums_op *op, bool is_main, const struct slice_grid *grid,
                           struct series_row **rows, size_t *n, struct err *e)
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
        struct series_row *r = &(*rows)[*n];

        *r = series_row_empty(grid->start_ns + (int64_t)*n * grid->length_ns, grid->length_ns);
        r->objects = r->in_flight = NAN;
        r->lacks_parts = r->lacks_counts = true;
        fill_row(r, &x, &at, own.end_ns);
    }
    if (ok && op != NULL)
        fill_percentiles(*rows, grid, op->foreign);
    foreign_seconds_fini(&x);
    return ok;
}

/* ---- Of an analysis ---- */

static struct series_row row_of(const struct sums_group *g, int64_t start_ns, int64_t length_ns,
                                const struct slice_grid *grid)
{
    const struct sums_second s = sums_seconds_of(g, start_ns, start_ns + length_ns);
    struct series_row r = series_row_empty(start_ns, length_ns);

    r.lacks_parts = true;
    r.bytes = s.n_bytes;
    r.objects = sums_objects(&s);
    r.ops_started = s.n_started;
    r.ops_ended = s.n_ended;
    r.errors = s.n_failed;
    r.ops_avg_ns = s.n_ended > 0 ? (double)s.ended_ns / (double)s.n_ended : NAN;
    r.in_flight = (double)s.busy_ns / (double)length_ns;
    r.in_range = start_ns >= grid->start_ns && start_ns + length_ns <= grid->end_ns;
    return r;
}

/* Returns the part of a foreign file that has a series; NULL: it has none. */
static const struct sums_part *foreign_part_of(const struct sums_source *source, int op, int party)
{
    const struct sums_op *all = &source->sums->foreign->all;
    size_t i = (size_t)party;

    if (party < 0)
        return op < 0 ? &all->all : &source->ops[op]->all;
    if (op >= 0)
        return NULL;
    return i < all->hosts.n ? &all->hosts.v[i] : &all->clients.v[i - all->hosts.n];
}

/* Returns the parts that a series adds up: of one operation or all, of one host or all. */
static struct sums_group group_of(const struct sums_source *source, int op, int host,
                                  const struct sums_part **part)
{
    if (op < 0 && source->sums->n_ops == 0)
        return (struct sums_group){0};
    if (op < 0)
        return host < 0 ? source->all.v[0] : source->hosts.v[host];
    *part = host < 0 ? &source->ops[op]->all : &source->ops[op]->hosts.v[host];
    return (struct sums_group){.part = part, .n = 1};
}

bool sums_series_on(const struct analysis *a, int op, int host, const struct slice_grid *grid,
                    struct series_row **rows, size_t *n, struct err *e)
{
    const struct sums_source *source = a->sums;
    const struct slice_grid *active = &source->grids[op < 0 ? a->n_operations : (size_t)op];
    const struct sums_part *part;

    *n = 0;
    if (source->sums->foreign != NULL)
        return foreign_series(source->sums->foreign, foreign_part_of(source, op, host),
                              op < 0 ? NULL : source->ops[op], host < 0 && op == role_main(a), grid,
                              rows, n, e);
    const struct sums_group g = group_of(source, op, host, &part);
    if (!mem_new(rows, grid->n, e))
        return false;
    for (; *n < grid->n; ++*n) {
        int64_t start_ns = grid->start_ns + (int64_t)*n * grid->length_ns;
        (*rows)[*n] =
            row_of(&g, start_ns, int64_min(grid->length_ns, grid->end_ns - start_ns), active);
    }
    return true;
}

bool sums_series(const struct analysis *a, int op, int host, struct series_row **rows, size_t *n,
                 struct err *e)
{
    const struct sums_source *source = a->sums;
    const struct sums_part *part;
    struct slice_grid grid = source->grids[op < 0 ? a->n_operations : (size_t)op];

    if (source->sums->foreign != NULL) {
        grid = foreign_grid(foreign_part_of(source, op, host));
        return sums_series_on(a, op, host, &grid, rows, n, e);
    }
    const struct sums_group g = group_of(source, op, host, &part);
    if (a->options.full_series && grid.length_ns > 0) {
        /* Extend the segments' grid, if there is one, in both directions. */
        int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, length_ns = grid.length_ns;
        for (size_t i = 0; i < g.n; i++) {
            int64_t part_ns = g.part[i]->first_s * NS_PER_S;
            int64_t part_end_ns = part_ns + (int64_t)g.part[i]->n_seconds * NS_PER_S;

            first_ns = int64_min(part_ns, first_ns);
            last_ns = int64_max(part_end_ns, last_ns);
        }
        int64_t start_ns = grid.n == 0 ? first_ns : grid.start_ns;
        start_ns -= (start_ns - first_ns + length_ns - 1) / length_ns * length_ns;
        slice_grid_init(&grid, start_ns, length_ns,
                        (size_t)((last_ns - start_ns + length_ns - 1) / length_ns));
    }
    return sums_series_on(a, op, host, &grid, rows, n, e);
}
