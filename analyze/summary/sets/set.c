/* Finds groups, active ranges and totals (docs/how-the-numbers-are-made.md, sections 2 and 4) of a
 * set of requests. The scans have passed over all rows. Here only rows near the ends of a range
 * matter, and the blocks show where those are. */
#include "analyze/summary/sets/set.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <stdlib.h>

/* ---- Groups ---- */

static bool group_init(struct set_group *g, const struct set *s, enum group_by by, struct err *e)
{
    size_t n_places = 0;
    for (size_t k = 0; k < s->n_scans; k++)
        n_places += s->scans[k]->n_places;
    int64_t *n_of_place = NULL;
    const struct table **tables = NULL;
    bool ok = mem_new(&n_of_place, n_places, e) && mem_new(&tables, s->n_scans, e);
    int64_t *next = n_of_place;
    for (size_t k = 0; ok && k < s->n_scans; k++) {
        tables[k] = s->scans[k]->t;
        for (size_t p = 0; p < s->scans[k]->n_places; p++)
            *next++ = s->scans[k]->parts[p].n;
    }
    ok = ok && group_keys_init(&g->keys, s->d, by, tables, s->n_scans, n_of_place, e);
    free(n_of_place);
    free(tables);
    if (!ok)
        return false;
    size_t n = g->keys.n;
    if (!mem_new(&g->parts, n, e) || !mem_new(&g->ok, n, e) || !mem_cleared(&g->n_inside, n, e))
        return false;
    for (size_t k = 0; k < n; k++)
        g->parts[k] = SCAN_PART_NONE;
    for (size_t k = 0; k < s->n_scans; k++) {
        const uint32_t *of_place = group_keys_of(&g->keys, k);
        for (size_t p = 0; p < s->scans[k]->n_places; p++)
            if (s->scans[k]->parts[p].n > 0)
                scan_part_merge(&g->parts[of_place[p]], &s->scans[k]->parts[p]);
    }
    return true;
}

static void group_trim(struct set_group *g)
{
    free(g->parts);
    free(g->ok);
    g->parts = NULL;
    g->ok = NULL;
}

void set_trim(struct set *s)
{
    group_trim(&s->hosts);
    group_trim(&s->clients);
}

static void group_fini(struct set_group *g)
{
    group_trim(g);
    group_keys_fini(&g->keys);
    free(g->n_inside);
}

/* ---- Active ranges ---- */

/* Finds the latest end up to a limit. limit_ns INT64_MIN: no end counts. */
struct ends {
    int64_t limit_ns, latest_ns;
};

static inline void ends_add(struct ends *x, int64_t end_ns)
{
    if (end_ns > x->latest_ns && end_ns <= x->limit_ns)
        x->latest_ns = end_ns;
}

/* One search for latest ends: for the whole set, and for each key of up to two groups. */
struct ends_search {
    struct ends whole, ok;            /* over all requests; over the successful ones */
    struct ends *by_host, *by_client; /* NULL: not wanted */
    bool failed_too;                  /* by_host and by_client count failed requests too */
};

static int64_t least_latest(const struct ends *x, size_t n, int64_t least_ns)
{
    for (size_t k = 0; x != NULL && k < n; k++) {
        /* No end lies before INT64_MIN. */
        if (x[k].limit_ns != INT64_MIN && x[k].latest_ns < least_ns)
            least_ns = x[k].latest_ns;
    }
    return least_ns;
}

static void search_block(struct ends_search *x, const struct set *s, size_t k, size_t block)
{
    const struct scan *scan = s->scans[k];
    const struct table *t = scan->t;
    const uint32_t *host_of = group_keys_of(&s->hosts.keys, k);
    const uint32_t *client_of = group_keys_of(&s->clients.keys, k);

    for (size_t i = block * BLOCKS_ROWS, end = blocks_end(&scan->blocks, block); i < end; i++) {
        int64_t end_ns = table_end(t, i);
        bool ok = !table_failed(t, i);

        ends_add(&x->whole, end_ns);
        if (ok)
            ends_add(&x->ok, end_ns);
        if (x->by_host != NULL && (ok || x->failed_too))
            ends_add(&x->by_host[host_of[table_place(t, i)]], end_ns);
        if (x->by_client != NULL && (ok || x->failed_too))
            ends_add(&x->by_client[client_of[table_place(t, i)]], end_ns);
    }
}

/* Searches from the last block to the first. It skips blocks that end before the least of the ends
 * found so far. Computing that least end costs a pass over all keys, so it is done only after at
 * least as many rows. */
static void search_ends(struct ends_search *x, const struct set *s)
{
    int64_t least_ns = INT64_MIN;
    size_t n_keys = s->hosts.keys.n + s->clients.keys.n, n_rows = 0;

    for (size_t k = 0; k < s->n_scans; k++) {
        for (size_t b = s->scans[k]->blocks.n; b-- > 0;) {
            if (s->scans[k]->blocks.v[b].max_end_ns <= least_ns)
                continue;
            search_block(x, s, k, b);
            n_rows += BLOCKS_ROWS;
            if (n_rows < n_keys)
                continue;
            n_rows = 0;
            least_ns = least_latest(&x->whole, 1, INT64_MAX);
            least_ns = least_latest(&x->ok, 1, least_ns);
            least_ns = least_latest(x->by_host, s->hosts.keys.n, least_ns);
            least_ns = least_latest(x->by_client, s->clients.keys.n, least_ns);
        }
    }
}

/* Searches ends before ns; INT64_MIN: there is no such end. */
static struct ends ends_before(int64_t ns)
{
    return (struct ends){ns == INT64_MIN ? ns : ns - 1, INT64_MIN};
}

static struct ends ends_of(const struct set *s, const struct segment_starts *starts)
{
    if (s->kind == RANGE_FULL && starts->last_ns != INT64_MIN)
        return (struct ends){INT64_MAX, INT64_MIN};
    return ends_before(starts->last_ns);
}

/* Sets up the search for each key of a group; *ends stays NULL if the group gets no figures of its
 * own. */
static bool group_ends(struct ends **ends, const struct set *s, const struct set_group *g,
                       struct err *e)
{
    if (!s->with_groups || g->keys.n < 2)
        return true;
    if (!mem_new(ends, g->keys.n, e))
        return false;
    for (size_t k = 0; k < g->keys.n; k++)
        (*ends)[k] = ends_of(s, &g->parts[k].ok);
    return true;
}

static struct segment_range range_of(const struct set *s, const struct segment_starts *starts,
                                     const struct ends *x)
{
    if (s->kind == RANGE_FULL)
        return (struct segment_range){starts->first_ns, x->latest_ns};
    return segment_range_single(starts, x->latest_ns);
}

/* The full range covers failed requests too: a store that fails is measured for as long as requests
 * were sent to it. */
static struct segment_range ok_range_of(const struct set *s, const struct scan_part *p,
                                        const struct ends *x)
{
    if (s->kind == RANGE_FULL && p->ok.last_ns != INT64_MIN)
        return (struct segment_range){scan_part_first_start_ns(p), p->last_end_ns};
    return range_of(s, &p->ok, x);
}

static struct segment_starts all_starts(const struct scan_part *p)
{
    struct segment_starts starts = p->ok;
    segment_starts_merge(&starts, &p->failed);
    return starts;
}

static bool threads_new(struct segment_thread **threads, size_t n, struct err *e)
{
    if (!mem_new(threads, n, e))
        return false;
    for (size_t i = 0; i < n; i++)
        (*threads)[i] = SEGMENT_THREAD_NONE;
    return true;
}

/* Index into s->threads of a table's thread `id`. */
static size_t thread_in_set(const struct set *s, const struct table *t, size_t id)
{
    return s->n_scans == 1 ? id : table_thread_index(t, id);
}

/* Finds the all-threads range of the successful requests. */
static bool range_of_ok_threads(struct set *s, struct err *e)
{
    s->ok = s->range;
    if (s->all.n_errors == 0)
        return true;
    struct segment_thread *threads;
    if (!threads_new(&threads, s->n_threads, e))
        return false;
    for (size_t k = 0; k < s->n_scans; k++) {
        const struct table *t = s->scans[k]->t;
        for (size_t i = 0; i < t->n; i++)
            if (!table_failed(t, i))
                segment_thread_add(&threads[thread_in_set(s, t, table_thread(t, i))], t->start[i],
                                   table_end(t, i));
    }
    s->ok = segment_range_all(threads, s->n_threads);
    free(threads);
    return true;
}

static void take_ranges(struct set_group *g, const struct set *s, const struct ends *ends)
{
    for (size_t k = 0; ends != NULL && k < g->keys.n; k++)
        g->ok[k] = ok_range_of(s, &g->parts[k], &ends[k]);
}

static bool find_ranges(struct set *s, struct err *e)
{
    struct segment_starts starts = all_starts(&s->all);
    struct ends_search x = {.whole = ends_of(s, &starts), .ok = ends_of(s, &s->all.ok)};
    bool ok =
        group_ends(&x.by_host, s, &s->hosts, e) && group_ends(&x.by_client, s, &s->clients, e);

    if (ok && (s->kind != RANGE_ALL || x.by_host != NULL || x.by_client != NULL))
        search_ends(&x, s);
    if (ok) {
        take_ranges(&s->hosts, s, x.by_host);
        take_ranges(&s->clients, s, x.by_client);
    }
    free(x.by_host);
    free(x.by_client);
    if (!ok)
        return false;
    if (s->kind == RANGE_ALL) {
        s->range = segment_range_all(s->threads, s->n_threads);
        return range_of_ok_threads(s, e);
    }
    s->range = range_of(s, &starts, &x.whole);
    s->ok = ok_range_of(s, &s->all, &x.ok);
    return true;
}

bool set_common_client_range(const struct set *s, struct segment_range *r, struct err *e)
{
    const struct set_group *g = &s->clients;
    struct segment_starts *starts = NULL;
    struct ends *ends = NULL;
    bool ok = mem_new(&starts, g->keys.n, e) && mem_new(&ends, g->keys.n, e);

    for (size_t k = 0; ok && k < g->keys.n; k++) {
        starts[k] = all_starts(&g->parts[k]);
        ends[k] = ends_before(starts[k].last_ns);
    }
    if (ok) {
        struct ends_search x = {.by_client = ends, .failed_too = true};
        x.whole.limit_ns = x.ok.limit_ns = INT64_MIN;
        search_ends(&x, s);
        *r = (struct segment_range){INT64_MIN, INT64_MAX};
    }
    for (size_t k = 0; ok && k < g->keys.n; k++) {
        struct segment_range one = segment_range_single(&starts[k], ends[k].latest_ns);
        r->start_ns = int64_max(one.start_ns, r->start_ns);
        r->end_ns = int64_min(one.end_ns, r->end_ns);
    }
    free(starts);
    free(ends);
    return ok;
}

static bool merge_scans(struct set *s, struct err *e)
{
    s->n_threads = s->n_scans == 1 ? s->scans[0]->n_threads : s->d->n_threads;
    if (!threads_new(&s->threads, s->n_threads, e))
        return false;
    for (size_t k = 0; k < s->n_scans; k++) {
        const struct scan_part *part = &s->scans[k]->all;
        int64_t sum;

        if (__builtin_add_overflow(s->all.n_bytes, part->n_bytes, &sum) ||
            __builtin_add_overflow(s->all.n_objects, part->n_objects, &sum))
            return err_set(e, "sum of bytes or of n_objects exceeds 2^63-1");
        scan_part_merge(&s->all, part);
        for (size_t i = 0; i < s->scans[k]->n_threads; i++) {
            const struct segment_thread *t = &s->scans[k]->ranges[i];
            if (segment_thread_used(t))
                segment_thread_add(&s->threads[thread_in_set(s, s->scans[k]->t, i)],
                                   t->last_start_ns, t->first_end_ns);
        }
    }
    return true;
}

bool set_init(struct set *s, const struct dataset *d, const struct scan *const *scans,
              size_t n_scans, enum range_kind kind, bool with_groups, struct err *e)
{
    *s = (struct set){
        .d = d,
        .scans = scans,
        .n_scans = n_scans,
        .kind = kind,
        .with_groups = with_groups,
        .all = SCAN_PART_NONE,
    };
    return merge_scans(s, e) && group_init(&s->hosts, s, GROUP_BY_HOST, e) &&
           group_init(&s->clients, s, GROUP_BY_CLIENT, e) && find_ranges(s, e);
}

void set_fini(struct set *s)
{
    free(s->threads);
    group_fini(&s->hosts);
    group_fini(&s->clients);
}

/* ---- Totals ---- */

/* The amounts within a range. A total starts as the sum over all successful requests. Those that
 * are not wholly within are then subtracted, and their part in the range is added. */
struct total {
    struct slice_amounts sum;
    int64_t full_ops, partial_ops, partial_ended;
    int64_t hung_ns; /* of failed requests outside of the range, all together */
};

static struct total total_of(const struct scan_part *p)
{
    return (struct total){
        .sum = {.bytes = p->n_bytes, .n_objects = p->n_objects},
        .full_ops = p->n - p->n_errors,
    };
}

static void total_correct(struct total *x, const struct segment_range *ok,
                          const struct attribution_request *r)
{
    if (!segment_range_usable(ok) || (r->start_ns >= ok->start_ns && r->end_ns < ok->end_ns - 1))
        return;
    struct slice_grid grid;
    struct slice_totals part = {0};
    x->sum.bytes -= r->bytes;
    x->sum.n_objects -= r->n_objects;
    x->full_ops--;
    slice_grid_init(&grid, ok->start_ns, ok->end_ns - ok->start_ns - 1, 1);
    slices_add_partial(&grid, &part, r);
    slice_merge(&x->sum, &part.sum);
    x->partial_ops += part.partial_ops;
    x->partial_ended += part.partial_ended;
}

static struct throughput throughput_of(const struct total *x, const struct segment_range *ok,
                                       int64_t n_errors)
{
    if (!segment_range_usable(ok))
        return (struct throughput){0};
    int64_t length_ns = ok->end_ns - ok->start_ns - 1;
    double seconds = (double)length_ns / 1e9;
    double n_objects = slice_n_objects(&x->sum);
    int64_t ops_ended = x->full_ops + x->partial_ended;
    return (struct throughput){
        .present = true,
        .start_ns = ok->start_ns,
        .duration_ns = length_ns,
        .n_bytes = x->sum.bytes,
        .n_objects = n_objects,
        .full_ops = x->full_ops,
        .partial_ops = x->partial_ops,
        .ops_ended = ops_ended,
        .errors = n_errors,
        .bytes_per_s = (double)x->sum.bytes / seconds,
        .objects_per_s = n_objects / seconds,
        .ops_ended_per_s = (double)ops_ended / seconds,
    };
}

static void throughput_lengthen(struct throughput *t, int64_t ns)
{
    double shorter = (double)t->duration_ns / (double)(t->duration_ns + ns);

    t->duration_ns += ns;
    t->bytes_per_s *= shorter;
    t->objects_per_s *= shorter;
    t->ops_ended_per_s *= shorter;
}

/* Narrows *inner, in which requests need no correction, to its part in *ok. */
static void narrow(struct segment_range *inner, const struct segment_range *ok)
{
    if (!segment_range_usable(ok))
        return;
    inner->start_ns = int64_max(ok->start_ns, inner->start_ns);
    inner->end_ns = int64_min(ok->end_ns - 1, inner->end_ns);
}

/* Sets up the totals before correction; *totals stays NULL if the group gets no figures. */
static bool group_totals(struct total **totals, const struct set_group *g,
                         struct segment_range *inner, struct err *e)
{
    if (g->results == NULL)
        return true;
    if (!mem_new(totals, g->keys.n, e))
        return false;
    for (size_t k = 0; k < g->keys.n; k++) {
        (*totals)[k] = total_of(&g->parts[k]);
        narrow(inner, &g->ok[k]);
    }
    return true;
}

static void correct_of(const struct set_group *g, struct total *totals, uint32_t key,
                       const struct attribution_request *r)
{
    if (totals != NULL)
        total_correct(&totals[key], &g->ok[key], r);
}

static void correct_block(const struct set *s, size_t k, size_t block, struct total *whole,
                          struct total *judged, struct total *hosts, struct total *clients,
                          struct slices_outside *outside)
{
    const struct scan *scan = s->scans[k];
    const struct table *t = scan->t;
    const uint32_t *host_of = group_keys_of(&s->hosts.keys, k);
    const uint32_t *client_of = group_keys_of(&s->clients.keys, k);

    for (size_t i = block * BLOCKS_ROWS, end = blocks_end(&scan->blocks, block); i < end; i++) {
        struct attribution_request r = analysis_request(t, i);
        if (r.start_ns < s->grid.start_ns || r.end_ns >= s->grid.end_ns)
            slices_add_outside(&s->grid, outside, &r);
        if (!r.ok && segment_range_usable(&s->range))
            judged->hung_ns += int64_max(s->range.start_ns - r.start_ns, 0) +
                               int64_max(r.end_ns - s->range.end_ns, 0);
        if (!r.ok)
            continue;
        total_correct(whole, &s->ok, &r);
        total_correct(judged, &s->range, &r);
        correct_of(&s->hosts, hosts, host_of[table_place(t, i)], &r);
        correct_of(&s->clients, clients, client_of[table_place(t, i)], &r);
    }
}

static bool choose_grid(struct set *s, int64_t segment_ns, bool by_total, struct err *e)
{
    const int64_t least_ns = dataset_start_resolution_ns(s->d);

    if (segment_ns != 0 && segment_ns < least_ns)
        return err_set(e, "segments of %s: starts are known to %s only; choose longer ones",
                       units_duration(segment_ns).s, units_duration(least_ns).s);
    if (segment_ns == 0)
        segment_ns = slice_choose_ns(by_total && segment_range_usable(&s->ok)
                                         ? s->ok.end_ns - s->ok.start_ns - 1
                                         : s->all.last_end_ns - scan_part_first_start_ns(&s->all));
    segment_ns = int64_max(segment_ns, least_ns);
    s->segment_ns = segment_ns;
    if (!segment_range_usable(&s->range)) {
        /* The grid is empty and after all requests: all of them count as before it. */
        slice_grid_init(&s->grid, INT64_MAX, segment_ns, 0);
        return true;
    }
    int64_t n = segment_count(&s->range, segment_ns);
    if (n > ANALYSIS_MAX_SEGMENTS)
        return err_set(e, "%lld segments of %lld ns: the limit is %d; choose longer ones",
                       (long long)n, (long long)segment_ns, ANALYSIS_MAX_SEGMENTS);
    slice_grid_init(&s->grid, s->range.start_ns, segment_ns, (size_t)n);
    return true;
}

static void finish_group(const struct set_group *g, const struct names *names,
                         const struct total *x)
{
    for (size_t k = 0; x != NULL && k < g->keys.n; k++)
        *set_group_result(g, k) = (struct host_result){
            .host = names->v[g->keys.id[k]],
            .n_requests = g->parts[k].n,
            .n_errors = g->parts[k].n_errors,
            .throughput = throughput_of(&x[k], &g->ok[k], g->parts[k].n_errors),
        };
}

/* Counts the successful requests inside the range: all of a scan minus those outside, which are
 * near its edges. */
static void count_inside(struct set *s)
{
    s->n_inside = s->all.n - s->all.n_errors;
    for (size_t k = 0; k < s->hosts.keys.n; k++)
        s->hosts.n_inside[k] = s->hosts.parts[k].n - s->hosts.parts[k].n_errors;
    for (size_t k = 0; k < s->clients.keys.n; k++)
        s->clients.n_inside[k] = s->clients.parts[k].n - s->clients.parts[k].n_errors;
    for (size_t k = 0; k < s->n_scans; k++) {
        const struct scan *scan = s->scans[k];
        const struct table *t = scan->t;
        const uint32_t *host_of = group_keys_of(&s->hosts.keys, k);
        const uint32_t *client_of = group_keys_of(&s->clients.keys, k);

        for (size_t b = 0; b < scan->blocks.n; b++) {
            if (scan->blocks.v[b].min_start_ns >= s->ok.start_ns &&
                scan->blocks.v[b].max_end_ns <= s->ok.end_ns)
                continue;
            for (size_t i = b * BLOCKS_ROWS, end = blocks_end(&scan->blocks, b); i < end; i++) {
                if (table_failed(t, i) || table_done_within(t, i, s->ok.start_ns, s->ok.end_ns))
                    continue;
                s->n_inside--;
                s->hosts.n_inside[host_of[table_place(t, i)]]--;
                s->clients.n_inside[client_of[table_place(t, i)]]--;
            }
        }
    }
}

bool set_totals(struct set *s, int64_t segment_ns, bool by_total, struct err *e)
{
    if (!choose_grid(s, segment_ns, by_total, e))
        return false;
    struct total whole = total_of(&s->all), judged = whole, *hosts = NULL, *clients = NULL;
    struct segment_range inner = {s->grid.start_ns, s->grid.end_ns};
    int64_t n_threads = 0;
    bool ok = group_totals(&hosts, &s->hosts, &inner, e) &&
              group_totals(&clients, &s->clients, &inner, e);
    narrow(&inner, &s->ok);
    narrow(&inner, &s->range);
    for (size_t k = 0; ok && k < s->n_scans; k++) {
        const struct scan *scan = s->scans[k];
        for (size_t b = 0; b < scan->blocks.n; b++)
            if (scan->blocks.v[b].min_start_ns < inner.start_ns ||
                scan->blocks.v[b].max_end_ns >= inner.end_ns)
                correct_block(s, k, b, &whole, &judged, hosts, clients, &s->outside);
    }
    s->total = throughput_of(&whole, &s->ok, s->all.n_errors);
    /* The single range ends before requests that hang at the end. The threads lost that time. */
    for (size_t i = 0; i < s->n_threads; i++)
        n_threads += segment_thread_used(&s->threads[i]);
    s->judged = throughput_of(&judged, &s->range, s->all.n_errors);
    if (s->judged.present && judged.hung_ns > 0)
        throughput_lengthen(&s->judged, judged.hung_ns / n_threads);
    finish_group(&s->hosts, &s->d->hosts, hosts);
    finish_group(&s->clients, &s->d->clients, clients);
    free(hosts);
    free(clients);
    count_inside(s);
    return ok;
}
