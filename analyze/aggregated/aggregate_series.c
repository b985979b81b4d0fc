/* Time series of an aggregated capture, made of the seconds of its file. */
#include "analyze/aggregated/aggregate.h"
#include "analyze/model/role.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>

#define GROUP_NS (10 * NS_PER_S)
#define MIN_P99  100 /* requests; with fewer, the p99 is the slowest request */

/* A time series that is being made. */
struct series {
    const struct slice_grid *grid;
    struct series_row *rows;
    int64_t *n_known; /* seconds of each row */
    int64_t end_ns;   /* of the requests, rounded up to a second */
};

/* Returns the figures of an operation, of all operations (op -1), or of a party in all operations.
 * NULL: parties of single operations are unknown. */
static const struct aggregate_part *part_of(const struct analysis *a, int op, int party)
{
    const struct aggregate *of = a->aggregate;
    size_t i = (size_t)party;

    if (party < 0)
        return op < 0 ? &of->total : of->in_order[op];
    if (op >= 0)
        return NULL;
    return i < of->hosts.n ? &of->hosts.v[i] : &of->clients.v[i - of->hosts.n];
}

static struct slice_grid grid_of(const struct aggregate_part *part)
{
    int64_t first_s = part->x->start_ns / NS_PER_S, last_s = (part->x->end_ns - 1) / NS_PER_S;
    int64_t step_s = (last_s - first_s) / ANALYSIS_MAX_SEGMENTS + 1;
    struct slice_grid grid;

    slice_grid_init(&grid, first_s * NS_PER_S, step_s * NS_PER_S,
                    (size_t)((last_s - first_s) / step_s) + 1);
    return grid;
}

static void add_second(struct series *s, int64_t start_ns, double bytes, double objects,
                       int64_t n_errors)
{
    if (start_ns < s->grid->start_ns || start_ns >= s->grid->end_ns)
        return;
    size_t k = slice_grid_index(s->grid, start_ns);
    struct series_row *r = &s->rows[k];
    r->objects = s->n_known[k]++ > 0 ? r->objects + objects : objects;
    r->bytes += (int64_t)llround(bytes);
    r->errors += n_errors;
}

/* Adds the clients' own seconds, since the merge lost some. Leaves out the first two, which also
 * contain earlier requests. */
static void add_clients(struct series *s, const struct aggregate *a,
                        const struct aggregate_part *part)
{
    for (size_t i = 0; i < a->n_sum; i++) {
        const struct aggregate_sum_second *x = &a->sum[i];
        int64_t start_ns = x->start_s * NS_PER_S;

        if (x->start_s >= part->x->start_ns / NS_PER_S + 2 && start_ns < part->x->end_ns)
            add_second(s, start_ns, x->bytes_per_s, x->objects_per_s, x->n_errors);
    }
}

static void add_seconds(struct series *s, const struct aggregate_part *part)
{
    for (size_t i = 0; i < part->x->n_seconds; i++) {
        const struct aggfile_second *x = &part->x->seconds[i];
        add_second(s, aggregate_second_ns(part, i), x->bytes_per_s, x->objects_per_s, x->n_errors);
    }
}

/* Scales the amounts of a row's known seconds up to the whole row. */
static void scale(struct series *s)
{
    for (size_t k = 0; k < s->grid->n; k++) {
        struct series_row *r = &s->rows[k];
        double whole_s = (double)(int64_min(r->start_ns + r->duration_ns, s->end_ns) - r->start_ns);

        if (s->n_known[k] == 0)
            continue;
        whole_s /= (double)NS_PER_S * (double)s->n_known[k];
        r->bytes = (int64_t)llround((double)r->bytes * whole_s);
        r->objects *= whole_s;
    }
}

/* Fills percentiles from groups. These are valid only for the group's ten seconds and one
 * client. */
static void add_groups(struct series *s, const struct aggfile_entry *x)
{
    if (x->n_group_clients != 1 || s->grid->length_ns > GROUP_NS)
        return;
    for (size_t i = 0; i < x->n_groups; i++) {
        const struct aggfile_group *g = &x->groups[i];
        for (size_t k = 0; !g->is_multi && g->start_ns != AGGFILE_NO_TIME && k < s->grid->n; k++) {
            int64_t middle_ns = s->rows[k].start_ns + s->grid->length_ns / 2;
            if (middle_ns < g->start_ns || middle_ns - g->start_ns >= GROUP_NS)
                continue;
            s->rows[k].p50_ns = g->p50_ms * 1e6;
            s->rows[k].p99_ns = g->n_requests >= MIN_P99 ? g->p99_ms * 1e6 : NAN;
        }
    }
}

bool aggregate_series_on(const struct analysis *a, int op, int party, const struct slice_grid *grid,
                         struct series_row **rows, size_t *n, struct err *e)
{
    const struct aggregate_part *part = part_of(a, op, party);
    struct series s = {.grid = grid};

    *rows = NULL;
    *n = 0;
    if (part == NULL || part->x->end_ns <= part->x->start_ns)
        return true;
    if (!mem_new(&s.rows, grid->n, e) || !mem_cleared(&s.n_known, grid->n, e)) {
        free(s.rows);
        return false;
    }
    const struct slice_grid own = grid_of(part);
    s.end_ns = own.end_ns;
    for (size_t k = 0; k < grid->n; k++)
        s.rows[k] = (struct series_row){.start_ns = grid->start_ns + (int64_t)k * grid->length_ns,
                                        .duration_ns = grid->length_ns,
                                        .objects = NAN,
                                        .ops_avg_ns = NAN,
                                        .p50_ns = NAN,
                                        .p90_ns = NAN,
                                        .p99_ns = NAN,
                                        .max_ns = NAN,
                                        .ttfb_p50_ns = NAN,
                                        .in_flight = NAN,
                                        .lacks_parts = true,
                                        .lacks_counts = true};
    if (party < 0 && a->aggregate->is_merged && op == role_main(a))
        add_clients(&s, a->aggregate, part);
    else
        add_seconds(&s, part);
    scale(&s);
    for (size_t k = 0; k < grid->n; k++)
        s.rows[k].in_range = s.n_known[k] > 0;
    if (op >= 0)
        add_groups(&s, part->x);
    free(s.n_known);
    *rows = s.rows;
    *n = grid->n;
    return true;
}

bool aggregate_series(const struct analysis *a, int op, int party, struct series_row **rows,
                      size_t *n, struct err *e)
{
    const struct aggregate_part *part = part_of(a, op, party);
    struct slice_grid grid = {0};

    if (part != NULL)
        grid = grid_of(part);
    return aggregate_series_on(a, op, party, &grid, rows, n, e);
}
