/* Sections 2 to 6 of analysis-semantics.md for one set of requests: one operation type, or all types
 * together. Three passes over the rows: counts, starts and threads; ends (the single range needs the
 * last start first); attribution. */
#include "analysis_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A matrix of slices, hosts x segments, of up to this size is filled in one pass over the rows. A larger one
 * is never held: its hosts come one after another. */
#define DENSE_BYTES (8u << 20)

static const struct set_part part_none = {
    .first_start_ns = INT64_MAX,
    .last_end_ns = INT64_MIN,
    .ok_starts = SEGMENT_STARTS_NONE,
};

static void part_merge(struct set_part *to, const struct set_part *from)
{
    to->n += from->n;
    to->n_errors += from->n_errors;
    to->n_bytes += from->n_bytes;
    if (from->first_start_ns < to->first_start_ns)
        to->first_start_ns = from->first_start_ns;
    if (from->last_end_ns > to->last_end_ns)
        to->last_end_ns = from->last_end_ns;
    segment_starts_merge(&to->ok_starts, &from->ok_starts);
}

void set_init(struct set *s, const struct dataset *d, const struct table *const *tables,
              size_t n_tables, enum range_kind kind, bool with_groups)
{
    *s = (struct set){
        .d = d,
        .tables = tables,
        .n_tables = n_tables,
        .kind = kind,
        .with_groups = with_groups,
        .all = part_none,
        .min_bytes = INT64_MAX,
        .max_bytes = INT64_MIN,
    };
}

static void group_fini(struct set_group *g)
{
    group_keys_fini(&g->keys);
    free(g->parts);
    free(g->ok);
    free(g->totals);
    free(g->segments);
}

void set_fini(struct set *s)
{
    free(s->threads);
    group_fini(&s->hosts);
    group_fini(&s->clients);
}

/* ---- First pass ---- */

struct scan {
    struct set_part *parts; /* by place */
    struct segment_starts failed;
    struct segment_thread *ok_threads; /* NULL: not wanted */
    int64_t sum_bytes, sum_objects;
    const struct table *earliest;
    size_t earliest_row;
};

static bool scan_table(struct set *s, const struct table *t, struct scan *sc, struct err *e)
{
    int64_t earliest_ns = sc->earliest != NULL ? sc->earliest->start[sc->earliest_row] : INT64_MAX;
    int64_t sum_bytes = sc->sum_bytes, sum_objects = sc->sum_objects;
    bool bytes_over = false, objects_over = false;

    for (size_t i = 0; i < t->n; i++) {
        int64_t start_ns = t->start[i], end_ns = table_end(t, i);
        struct set_part *p = &sc->parts[t->place[i]];
        if (start_ns <= earliest_ns &&
            (sc->earliest == NULL ||
             dataset_compare(s->d, t, i, sc->earliest, sc->earliest_row) < 0)) {
            earliest_ns = start_ns;
            sc->earliest = t;
            sc->earliest_row = i;
        }
        segment_thread_add(&s->threads[t->thread[i]], start_ns, end_ns);
        p->n++;
        p->first_start_ns = start_ns < p->first_start_ns ? start_ns : p->first_start_ns;
        p->last_end_ns = end_ns > p->last_end_ns ? end_ns : p->last_end_ns;
        if (t->error[i] != 0) {
            p->n_errors++;
            segment_starts_add(&sc->failed, start_ns);
            continue;
        }
        int64_t bytes = packed_get(&t->bytes, i);
        s->min_bytes = bytes < s->min_bytes ? bytes : s->min_bytes;
        s->max_bytes = bytes > s->max_bytes ? bytes : s->max_bytes;
        bytes_over |= __builtin_add_overflow(sum_bytes, bytes, &sum_bytes);
        objects_over |=
            __builtin_add_overflow(sum_objects, packed_get(&t->objects, i), &sum_objects);
        p->n_bytes = (int64_t)((uint64_t)p->n_bytes + (uint64_t)bytes);
        segment_starts_add(&p->ok_starts, start_ns);
        if (sc->ok_threads != NULL)
            segment_thread_add(&sc->ok_threads[t->thread[i]], start_ns, end_ns);
    }
    sc->sum_bytes = sum_bytes;
    sc->sum_objects = sum_objects;
    if (bytes_over)
        return err_set(e, "%s: sum of bytes exceeds 2^63-1", s->d->ops.v[t->op]);
    if (objects_over)
        return err_set(e, "%s: sum of n_objects exceeds 2^63-1", s->d->ops.v[t->op]);
    return true;
}

static struct segment_thread *threads_new(size_t n)
{
    struct segment_thread *threads = malloc((n + 1) * sizeof *threads);
    for (size_t i = 0; threads != NULL && i < n; i++)
        threads[i] = SEGMENT_THREAD_NONE;
    return threads;
}

static bool group_scan(struct set_group *g, const struct set *s, enum group_by by,
                       const struct set_part *by_place, struct err *e)
{
    int64_t *n = malloc((s->d->n_places + 1) * sizeof *n);
    if (n == NULL)
        return err_set(e, "out of memory");
    for (size_t p = 0; p < s->d->n_places; p++)
        n[p] = by_place[p].n;
    bool ok = group_keys_init(&g->keys, s->d, by, n, e);
    free(n);
    if (!ok)
        return false;
    g->parts = malloc((g->keys.n + 1) * sizeof *g->parts);
    g->ok = malloc((g->keys.n + 1) * sizeof *g->ok);
    g->totals = calloc(g->keys.n + 1, sizeof *g->totals);
    g->segments = calloc(g->keys.n + 1, sizeof *g->segments);
    if (g->parts == NULL || g->ok == NULL || g->totals == NULL || g->segments == NULL)
        return err_set(e, "out of memory");
    for (size_t k = 0; k < g->keys.n; k++)
        g->parts[k] = part_none;
    for (size_t p = 0; p < s->d->n_places; p++)
        if (by_place[p].n > 0)
            part_merge(&g->parts[g->keys.of_place[p]], &by_place[p]);
    return true;
}

/* ---- Second pass: active ranges ---- */

/* The latest end before a limit. */
struct ends {
    int64_t limit_ns, latest_ns;
};

static inline void ends_add(struct ends *x, int64_t end_ns)
{
    if (end_ns > x->latest_ns && end_ns < x->limit_ns)
        x->latest_ns = end_ns;
}

static struct ends ends_of(const struct set *s, const struct segment_starts *starts)
{
    return (struct ends){s->kind == RANGE_FULL ? INT64_MAX : starts->last_ns, INT64_MIN};
}

static struct segment_range range_of(const struct set *s, const struct segment_starts *starts,
                                     const struct ends *x)
{
    if (s->kind == RANGE_FULL)
        return (struct segment_range){starts->first_ns, x->latest_ns};
    return segment_range_single(starts, x->latest_ns);
}

/* Groups of one key alone have the range of the whole set and no figures of their own. */
static bool is_grouped(const struct set *s, const struct set_group *g)
{
    return s->with_groups && g->keys.n > 1;
}

static struct ends *group_ends(const struct set *s, const struct set_group *g)
{
    struct ends *x = malloc((g->keys.n + 1) * sizeof *x);
    for (size_t k = 0; x != NULL && k < g->keys.n; k++)
        x[k] = ends_of(s, &g->parts[k].ok_starts);
    return x;
}

static void group_ranges(const struct set *s, struct set_group *g, const struct ends *x)
{
    for (size_t k = 0; k < g->keys.n; k++)
        g->ok[k] = range_of(s, &g->parts[k].ok_starts, &x[k]);
}

static bool find_ranges(struct set *s, const struct scan *sc, struct err *e)
{
    struct segment_starts starts = s->all.ok_starts;
    segment_starts_merge(&starts, &sc->failed);
    struct ends all = ends_of(s, &starts), ok = ends_of(s, &s->all.ok_starts);
    bool by_host = is_grouped(s, &s->hosts), by_client = is_grouped(s, &s->clients);

    if (s->kind != RANGE_ALL || by_host || by_client) {
        struct ends *host = group_ends(s, &s->hosts), *client = group_ends(s, &s->clients);
        if (host == NULL || client == NULL) {
            free(host);
            free(client);
            return err_set(e, "out of memory");
        }
        for (size_t k = 0; k < s->n_tables; k++) {
            const struct table *t = s->tables[k];
            for (size_t i = 0; i < t->n; i++) {
                int64_t end_ns = table_end(t, i);
                ends_add(&all, end_ns);
                if (t->error[i] != 0)
                    continue;
                ends_add(&ok, end_ns);
                if (by_host)
                    ends_add(&host[s->hosts.keys.of_place[t->place[i]]], end_ns);
                if (by_client)
                    ends_add(&client[s->clients.keys.of_place[t->place[i]]], end_ns);
            }
        }
        group_ranges(s, &s->hosts, host);
        group_ranges(s, &s->clients, client);
        free(host);
        free(client);
    }
    if (s->kind == RANGE_ALL) {
        s->range = segment_range_all(s->threads, s->d->n_threads);
        s->ok = sc->ok_threads != NULL ? segment_range_all(sc->ok_threads, s->d->n_threads)
                                       : s->range;
    } else {
        s->range = range_of(s, &starts, &all);
        s->ok = range_of(s, &s->all.ok_starts, &ok);
    }
    return true;
}

static bool has_errors(const struct set *s)
{
    for (size_t k = 0; k < s->n_tables; k++)
        for (size_t i = 0; i < s->tables[k]->n; i++)
            if (s->tables[k]->error[i] != 0)
                return true;
    return false;
}

bool set_scan(struct set *s, struct err *e)
{
    const struct dataset *d = s->d;
    struct scan sc = {
        .parts = malloc((d->n_places + 1) * sizeof *sc.parts),
        .failed = SEGMENT_STARTS_NONE,
    };
    bool ok = sc.parts != NULL && (s->threads = threads_new(d->n_threads)) != NULL;
    if (ok && s->kind == RANGE_ALL && has_errors(s))
        ok = (sc.ok_threads = threads_new(d->n_threads)) != NULL;
    if (!ok)
        err_set(e, "out of memory");
    for (size_t p = 0; ok && p < d->n_places; p++)
        sc.parts[p] = part_none;
    for (size_t k = 0; ok && k < s->n_tables; k++)
        ok = scan_table(s, s->tables[k], &sc, e);
    if (ok) {
        for (size_t p = 0; p < d->n_places; p++)
            if (sc.parts[p].n > 0)
                part_merge(&s->all, &sc.parts[p]);
        for (size_t i = 0; i < d->n_threads; i++)
            s->n_threads += segment_thread_used(&s->threads[i]);
        s->n_objects = sc.sum_objects;
        if (sc.earliest != NULL)
            s->objects_per_op = packed_get(&sc.earliest->objects, sc.earliest_row);
        ok = group_scan(&s->hosts, s, GROUP_BY_HOST, sc.parts, e) &&
             group_scan(&s->clients, s, GROUP_BY_CLIENT, sc.parts, e) && find_ranges(s, &sc, e);
    }
    free(sc.parts);
    free(sc.ok_threads);
    return ok;
}

/* ---- Third pass: attribution ---- */

/* The one slice of a total (section 5); empty without a range. */
static struct segment_grid total_grid(const struct segment_range *ok)
{
    struct segment_grid g;
    if (segment_range_usable(ok))
        segment_grid_init(&g, ok->start_ns, ok->end_ns - ok->start_ns - 1, 1);
    else
        segment_grid_init(&g, INT64_MAX, 1, 0);
    return g;
}

static struct throughput throughput_of(const struct segment_grid *g, const struct slice_totals *s,
                                       int64_t n_errors)
{
    if (g->n == 0)
        return (struct throughput){0};
    double seconds = (double)g->length_ns / 1e9;
    double n_objects = slice_n_objects(s);
    return (struct throughput){
        .present = true,
        .start_ns = g->start_ns,
        .duration_ns = g->length_ns,
        .n_bytes = s->bytes,
        .n_objects = n_objects,
        .full_ops = s->full_ops,
        .partial_ops = s->partial_ops,
        .ops_ended = slice_ops_ended(s),
        .errors = n_errors,
        .bytes_per_s = (double)s->bytes / seconds,
        .objects_per_s = n_objects / seconds,
        .ops_ended_per_s = (double)slice_ops_ended(s) / seconds,
    };
}

struct order {
    const struct slice_totals *slices;
    bool by_objects;
};

static int compare_slices(const void *a, const void *b, void *arg)
{
    const struct order *o = arg;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct slice_totals *x = &o->slices[i], *y = &o->slices[j];
    int c = o->by_objects ? slice_compare_objects(x, y) : (x->bytes > y->bytes) - (x->bytes < y->bytes);
    return c != 0 ? c : (i > j) - (i < j);
}

static struct segment_pick pick(const struct segment_grid *g, const struct slice_totals *slices,
                                size_t k)
{
    double seconds = (double)g->length_ns / 1e9;
    return (struct segment_pick){
        .start_ns = g->start_ns + (int64_t)k * g->length_ns,
        .bytes_per_s = (double)slices[k].bytes / seconds,
        .objects_per_s = slice_n_objects(&slices[k]) / seconds,
    };
}

/* Section 6. `order` has room for g->n numbers. */
static struct segments segments_of(const struct segment_grid *g, const struct slice_totals *slices,
                                   bool by_objects, uint32_t *order)
{
    if (g->n < 2)
        return (struct segments){0};
    for (size_t k = 0; k < g->n; k++)
        order[k] = (uint32_t)k;
    struct order o = {slices, by_objects};
    qsort_r(order, g->n, sizeof *order, compare_slices, &o);
    return (struct segments){
        .present = true,
        .duration_ns = g->length_ns,
        .n = (int64_t)g->n,
        .by_objects = by_objects,
        .slowest = pick(g, slices, order[analysis_quantile_index(g->n, 0)]),
        .median = pick(g, slices, order[analysis_quantile_index(g->n, 50)]),
        .fastest = pick(g, slices, order[analysis_quantile_index(g->n, 100)]),
    };
}

/* What a group gathers in the third pass. */
struct lane {
    struct set_group *group;
    struct segment_grid *total_grids; /* by key; NULL: the set has no such groups */
    struct slice_totals *totals;      /* by key */
    struct slice_totals *matrix;      /* keys x segments; NULL: key by key, later */
};

static bool lane_init(struct lane *l, const struct set *s, struct set_group *g)
{
    *l = (struct lane){.group = g};
    if (!is_grouped(s, g))
        return true;
    size_t n = g->keys.n, cells = n * s->grid.n;
    l->total_grids = malloc(n * sizeof *l->total_grids);
    l->totals = calloc(n, sizeof *l->totals);
    if (l->total_grids == NULL || l->totals == NULL)
        return false;
    for (size_t k = 0; k < n; k++)
        l->total_grids[k] = total_grid(&g->ok[k]);
    if (cells > 0 && cells <= DENSE_BYTES / sizeof *l->matrix)
        l->matrix = calloc(cells, sizeof *l->matrix);
    return true; /* without the matrix it goes key by key */
}

static void lane_fini(struct lane *l)
{
    free(l->total_grids);
    free(l->totals);
    free(l->matrix);
}

static inline void lane_add(const struct lane *l, const struct segment_grid *grid, uint32_t place,
                            const struct attribution_request *r)
{
    if (l->total_grids == NULL)
        return;
    size_t k = l->group->keys.of_place[place];
    if (l->matrix != NULL)
        attribution_add(grid, &l->matrix[k * grid->n], r);
    if (r->ok)
        attribution_add(&l->total_grids[k], &l->totals[k], r);
}

static bool sorts_by_objects(const struct throughput *t)
{
    return !t->present || t->n_bytes == 0;
}

/* Segments of each key of a group too large for a matrix: groups the rows, then one key after another. */
static bool lane_key_by_key(struct lane *l, const struct set *s, uint32_t *order, struct err *e)
{
    struct group_rows *rows = calloc(s->n_tables, sizeof *rows);
    struct slice_totals *slices = malloc((s->grid.n + 1) * sizeof *slices);
    bool ok = (rows != NULL && slices != NULL) || err_set(e, "out of memory");
    for (size_t i = 0; ok && i < s->n_tables; i++)
        ok = group_rows_init(&rows[i], s->tables[i], &l->group->keys, e);
    for (size_t k = 0; ok && k < l->group->keys.n; k++) {
        memset(slices, 0, s->grid.n * sizeof *slices);
        for (size_t i = 0; i < s->n_tables; i++) {
            for (size_t j = rows[i].first[k]; j < rows[i].first[k + 1]; j++) {
                struct attribution_request r = analysis_request(s->tables[i], rows[i].row[j]);
                attribution_add(&s->grid, slices, &r);
            }
        }
        l->group->segments[k] =
            segments_of(&s->grid, slices, sorts_by_objects(&l->group->totals[k]), order);
    }
    for (size_t i = 0; rows != NULL && i < s->n_tables; i++)
        group_rows_fini(&rows[i]);
    free(rows);
    free(slices);
    return ok;
}

static bool lane_finish(struct lane *l, const struct set *s, uint32_t *order, struct err *e)
{
    struct set_group *g = l->group;
    if (l->total_grids == NULL)
        return true;
    for (size_t k = 0; k < g->keys.n; k++)
        g->totals[k] = throughput_of(&l->total_grids[k], &l->totals[k], g->parts[k].n_errors);
    if (s->grid.n < 2)
        return true;
    if (l->matrix == NULL)
        return lane_key_by_key(l, s, order, e);
    for (size_t k = 0; k < g->keys.n; k++)
        g->segments[k] = segments_of(&s->grid, &l->matrix[k * s->grid.n],
                                     sorts_by_objects(&g->totals[k]), order);
    return true;
}

static bool choose_grid(struct set *s, int64_t segment_ns, bool by_total, struct err *e)
{
    if (segment_ns == 0)
        segment_ns = segment_choose_ns(by_total && segment_range_usable(&s->ok)
                                           ? s->ok.end_ns - s->ok.start_ns - 1
                                           : s->all.last_end_ns - s->all.first_start_ns);
    s->segment_ns = segment_ns;
    if (!segment_range_usable(&s->range)) {
        /* An empty grid after all requests: what it leaves out counts as before. */
        segment_grid_init(&s->grid, INT64_MAX, segment_ns, 0);
        return true;
    }
    int64_t n = segment_count(&s->range, segment_ns);
    if (n > ANALYSIS_MAX_SEGMENTS)
        return err_set(e, "%lld segments of %lld ns: the limit is %d; choose longer ones",
                       (long long)n, (long long)segment_ns, ANALYSIS_MAX_SEGMENTS);
    segment_grid_init(&s->grid, s->range.start_ns, segment_ns, (size_t)n);
    return true;
}

bool set_attribute(struct set *s, int64_t segment_ns, bool by_total, struct err *e)
{
    if (!choose_grid(s, segment_ns, by_total, e))
        return false;
    const struct segment_grid grid = s->grid, whole = total_grid(&s->ok);
    struct slice_totals total = {0};
    struct lane hosts = {0}, clients = {0};
    struct slice_totals *slices = calloc(grid.n + 1, sizeof *slices);
    uint32_t *order = malloc((grid.n + 1) * sizeof *order);
    bool ok = slices != NULL && order != NULL && lane_init(&hosts, s, &s->hosts) &&
              lane_init(&clients, s, &s->clients);
    if (!ok)
        err_set(e, "out of memory");

    for (size_t j = 0; ok && j < s->n_tables; j++) {
        const struct table *t = s->tables[j];
        for (size_t i = 0; i < t->n; i++) {
            struct attribution_request r = analysis_request(t, i);
            if (hosts.matrix == NULL)
                attribution_add(&grid, slices, &r);
            if (r.start_ns < grid.start_ns || r.end_ns >= grid.end_ns)
                attribution_add_outside(&grid, &s->outside, &r);
            if (r.ok)
                attribution_add(&whole, &total, &r);
            lane_add(&hosts, &grid, t->place[i], &r);
            lane_add(&clients, &grid, t->place[i], &r);
        }
    }
    if (ok) {
        /* The segments of all are the sum of the hosts' segments. */
        for (size_t k = 0; hosts.matrix != NULL && k < s->hosts.keys.n; k++)
            for (size_t i = 0; i < grid.n; i++)
                slice_merge(&slices[i], &hosts.matrix[k * grid.n + i]);
        s->total = throughput_of(&whole, &total, s->all.n_errors);
        if (s->total.present)
            s->segments = segments_of(&grid, slices, sorts_by_objects(&s->total), order);
        ok = lane_finish(&hosts, s, order, e) && lane_finish(&clients, s, order, e);
    }
    lane_fini(&hosts);
    lane_fini(&clients);
    free(slices);
    free(order);
    return ok;
}
