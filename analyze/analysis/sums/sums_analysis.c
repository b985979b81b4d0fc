/* Makes an analysis of the sums of a run, by whole seconds; of foreign files, too. */
#include "analyze/analysis/sums/sums.h"

#include "analyze/analysis/conclude/conclude.h"
#include "analyze/analysis/sums/foreign_internal.h"
#include "analyze/analysis/sums/sums_internal.h"
#include "analyze/data/slices.h"
#include "analyze/summary/estimate/confidence.h"
#include "analyze/summary/model/role.h"
#include "analyze/summary/requests/errors.h"
#include "analyze/summary/sets/set.h"
#include "libcommon/attribution.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/segment.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void sums_source_free(struct sums_source *s)
{
    if (s == NULL)
        return;
    free(s->ops);
    free(s->grids);
    sums_groups_fini(&s->all);
    sums_groups_fini(&s->hosts);
    notes_free(&s->notes);
    free(s);
}

const struct sums *sums_of(const struct analysis *a)
{
    return a->sums->sums;
}

const struct sums_op *sums_op_of(const struct analysis *a, size_t k)
{
    return a->sums->ops[k];
}

/* ---- Seconds ---- */

/* Adds the seconds of a part in [start, end), both whole seconds, to `to`. */
static void add_seconds(struct sums_second *to, const struct sums_part *p, int64_t start_ns,
                        int64_t end_ns)
{
    int64_t from = start_ns / NS_PER_S - p->first_s, end = end_ns / NS_PER_S - p->first_s;
    for (int64_t i = from > 0 ? from : 0; i < end && i < (int64_t)p->n_seconds; i++)
        for (size_t column = 0; column < SUMS_N_COLUMNS; column++)
            *sums_cell(to, column) += *sums_cell(&p->seconds[i], column);
}

struct sums_second sums_seconds_of(const struct sums_group *g, int64_t start_ns, int64_t end_ns)
{
    struct sums_second sum = {0};
    for (size_t i = 0; i < g->n; i++)
        add_seconds(&sum, g->part[i], start_ns, end_ns);
    return sum;
}

struct slice_amounts sums_amounts(const struct sums_second *s)
{
    const unsigned __int128 micro = ((unsigned __int128)1 << ATTRIBUTION_FRAC_BITS) / SUMS_MICRO;
    return (struct slice_amounts){
        .bytes = s->n_bytes,
        .n_objects = s->n_micro_objects / SUMS_MICRO,
        .object_frac = (unsigned __int128)(s->n_micro_objects % SUMS_MICRO) * micro,
    };
}

static struct throughput throughput_of(const struct sums_group *g,
                                       const struct segment_range *range)
{
    struct throughput t = {0};
    if (range->end_ns <= range->start_ns)
        return t;
    const struct sums_second s = sums_seconds_of(g, range->start_ns, range->end_ns);
    double seconds = (double)(range->end_ns - range->start_ns) / 1e9;
    t = (struct throughput){
        .present = true,
        .start_ns = range->start_ns,
        .duration_ns = range->end_ns - range->start_ns,
        .n_bytes = s.n_bytes,
        .n_objects = sums_objects(&s),
        .known = {.absent = THROUGHPUT_PARTS},
        .ops_ended = s.n_ended,
        .bytes_per_s = (double)s.n_bytes / seconds,
        .objects_per_s = sums_objects(&s) / seconds,
        .ops_ended_per_s = (double)s.n_ended / seconds,
    };
    for (size_t i = 0; i < g->n; i++)
        t.errors += g->part[i]->n_errors;
    return t;
}

static bool fill_segments(struct segments *out, const struct sums_group *g,
                          const struct slice_grid *grid, const struct throughput *t, struct err *e)
{
    if (grid->n < 2)
        return true;
    struct slice_amounts *cells = NULL;
    uint32_t *order = NULL;
    bool ok = mem_new(&cells, grid->n, e) && mem_new(&order, grid->n, e);
    for (size_t k = 0; ok && k < grid->n; k++) {
        int64_t start_ns = grid->start_ns + (int64_t)k * grid->length_ns;
        const struct sums_second s = sums_seconds_of(g, start_ns, start_ns + grid->length_ns);

        cells[k] = sums_amounts(&s);
    }
    if (ok)
        *out = segments_of_cells(grid, cells, t, order);
    free(cells);
    free(order);
    return ok;
}

/* ---- Errors ---- */

static bool fill_errors(struct operation *to, const struct sums_op *op, struct err *e)
{
    struct error_cell *cells;
    if (!mem_new(&cells, op->n_errors, e))
        return false;
    for (size_t i = 0; i < op->n_errors; i++) {
        const struct sums_error *x = &op->errors[i];
        cells[i] = (struct error_cell){x->message, {x->host, x->n, x->first_ns, x->last_ns}};
    }
    bool ok = analysis_errors_of(to, cells, op->n_errors, e);
    for (size_t i = 0; op->foreign != NULL && i < to->n_error_groups; i++) {
        to->errors[i].known.absent = ERROR_TIMES;
        to->errors[i].n_hosts = 0;
    }
    free(cells);
    return ok;
}

/* ---- Operations ---- */

/* Narrows a range to whole seconds. */
static struct segment_range whole_seconds(int64_t start_ns, int64_t end_ns)
{
    int64_t start_s = start_ns / NS_PER_S + (start_ns % NS_PER_S > 0), end_s = end_ns / NS_PER_S;
    if (start_ns >= end_ns || start_s >= end_s)
        return (struct segment_range){0, 0};
    return (struct segment_range){start_s * NS_PER_S, end_s * NS_PER_S};
}

/* Returns the whole seconds of requests that ran from start_ns to end_ns; for RANGE_INNER only
 * those that a recorder of aggregated captures would have written of them. */
static struct segment_range seconds_between(const struct analysis *a, int64_t start_ns,
                                            int64_t end_ns)
{
    if (a->range == RANGE_INNER)
        return whole_seconds((start_ns / NS_PER_S + 2) * NS_PER_S,
                             (end_ns / NS_PER_S - 1) * NS_PER_S);
    return whole_seconds(start_ns, end_ns);
}

/* Returns the active range of requests that ran from start_ns to end_ns. `threads` is the range in
 * which all their threads ran. */
static struct segment_range active_range(const struct analysis *a, int64_t start_ns, int64_t end_ns,
                                         const struct sums_range *threads)
{
    if (a->range == RANGE_ALL)
        return whole_seconds(threads->start_ns, threads->end_ns);
    const struct segment_range own = seconds_between(a, start_ns, end_ns);
    if (!a->sums->by_clients)
        return own;
    return whole_seconds(int64_max(own.start_ns, a->sums->together.start_ns),
                         int64_min(own.end_ns, a->sums->together.end_ns));
}

/* Finds the seconds in which all clients ran, where only these count: if requests failed, as in
 * rows (analyze/analysis/run/drop.c), and for RANGE_INNER, as aggregate_common does. */
static bool find_together(struct analysis *a, struct sums_source *source, bool failed,
                          struct err *e)
{
    struct sums_groups clients = {0};
    struct segment_range *r = &source->together;
    int64_t last_start_ns = INT64_MIN, first_end_ns = INT64_MAX;
    bool wanted = a->range == RANGE_INNER ? !a->mixed
                                          : failed && a->options.range == RANGE_AUTO &&
                                                !dataset_is_imported(a->dataset);
    bool ok = !wanted ||
              sums_groups_init(&clients, source->sums->ops, source->sums->n_ops, SUMS_BY_CLIENT, e);

    source->by_clients = ok && clients.n > 1;
    *r = (struct segment_range){INT64_MIN, INT64_MAX};
    for (size_t i = 0; ok && i < clients.n; i++) {
        int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;

        for (size_t k = 0; k < clients.v[i].n; k++) {
            start_ns = int64_min(clients.v[i].part[k]->start_ns, start_ns);
            end_ns = int64_max(clients.v[i].part[k]->end_ns, end_ns);
        }
        const struct segment_range one = seconds_between(a, start_ns, end_ns);
        r->start_ns = int64_max(one.start_ns, r->start_ns);
        r->end_ns = int64_min(one.end_ns, r->end_ns);
        last_start_ns = int64_max(start_ns, last_start_ns);
        first_end_ns = int64_min(end_ns, first_end_ns);
    }
    sums_groups_fini(&clients);
    if (!source->by_clients || a->range == RANGE_INNER)
        return ok;
    /* Seconds that all clients ran in for a part only are left out, too, but that is no news. */
    const struct sums_second in =
        sums_seconds_of(source->all.v, last_start_ns, first_end_ns + NS_PER_S - 1);
    a->left_out.of_throughput = a->n_rows - in.n_ended - in.n_failed;
    a->left_out.range = LEFT_OUT_NOT_ALL_CLIENTS;
    return ok;
}

static bool make_grid(struct slice_grid *g, const struct analysis *a, const struct segment_range *r,
                      int64_t run_ns, struct err *e)
{
    int64_t length_ns = a->options.segment_ns;
    if (length_ns == 0)
        length_ns = slice_choose_ns(run_ns);
    if (length_ns % NS_PER_S != 0)
        return err_set(e, "%s: sums are by the second: segments (--dur) must have whole seconds",
                       a->dataset->inputs[0].path);
    int64_t n = r->end_ns > r->start_ns ? segment_count(r, length_ns) : 0;
    if (n > ANALYSIS_MAX_SEGMENTS)
        return err_set(e, "%s: more than %d segments: take longer ones (--dur)",
                       a->dataset->inputs[0].path, ANALYSIS_MAX_SEGMENTS);
    slice_grid_init(g, r->start_ns, length_ns, (size_t)n);
    return true;
}

/* Finds the bytes before and after the segments, and the requests that end there. */
static struct outside outside_of(const struct sums_group *g, const struct sums_part *all,
                                 const struct slice_grid *grid)
{
    struct outside o = {0};
    if (grid->n == 0)
        return o;
    int64_t end_ns = (all->first_s + (int64_t)all->n_seconds) * NS_PER_S;
    const struct sums_second before = sums_seconds_of(g, 0, grid->start_ns);
    const struct sums_second after = sums_seconds_of(g, grid->end_ns, end_ns);
    o.before_bytes = before.n_bytes;
    o.after_bytes = after.n_bytes;
    o.n_bytes = before.n_bytes + after.n_bytes;
    o.n_before = before.n_ended + before.n_failed;
    o.n_after = after.n_ended + after.n_failed;
    o.n = o.n_before + o.n_after;
    return o;
}

/* Fills a host or client of `op`. */
static bool fill_host(struct host_result *h, const struct sums_group *g, const struct sums_op *op,
                      const struct segment_range *range, const struct slice_grid *grid,
                      struct err *e)
{
    *h = (struct host_result){.host = g->name,
                              .throughput = op->foreign != NULL ? foreign_throughput(op, g)
                                                                : throughput_of(g, range)};
    for (size_t i = 0; i < g->n; i++) {
        h->n_requests += g->part[i]->n_requests;
        h->n_errors += g->part[i]->n_errors;
    }
    return fill_segments(&h->segments, g, grid, &h->throughput, e);
}

/* Fills hosts and clients. The figures of a single one are those of the operation. */
static bool fill_parties(struct operation *to, const struct sums_op *op,
                         const struct segment_range *range, const struct slice_grid *grid,
                         struct err *e)
{
    bool ok = true;
    to->n_host_results = op->hosts.n > 1 ? op->hosts.n : 0;
    to->n_client_results = op->clients.n > 1 ? op->clients.n : 0;
    if (!mem_cleared(&to->hosts, to->n_host_results, e) ||
        !mem_cleared(&to->clients, to->n_client_results, e) ||
        !mem_cleared(&to->client_requests, to->n_client_results, e))
        return false;
    for (size_t i = 0; ok && i < to->n_host_results; i++) {
        const struct sums_part *p = &op->hosts.v[i];
        ok = fill_host(&to->hosts[i], &(struct sums_group){p->name, &p, 1}, op, range, grid, e);
    }
    for (size_t i = 0; ok && i < to->n_client_results; i++) {
        const struct sums_part *p = &op->clients.v[i];
        to->clients[i] =
            (struct client_result){.n_bytes = p->n_bytes,
                                   .known = {.absent = p->start_ns > p->end_ns ? CLIENT_TIMES : 0},
                                   .first_start_ns = p->start_ns,
                                   .last_end_ns = p->end_ns};
        ok = fill_host(&to->clients[i].result, &(struct sums_group){p->name, &p, 1}, op, range,
                       grid, e);
        to->client_requests[i] = sums_durations(p);
    }
    return ok;
}

/* Finds when requests succeeded, to the second. If no request failed before the last second with a
 * success, successes lasted until the first failure. */
static struct coverage coverage_of(const struct operation *op, const struct sums_op *of)
{
    const struct sums_part *p = &of->all;
    struct coverage c = {op->start_ns, op->end_ns,    INT64_MAX, INT64_MIN, 0,
                         op->n_bytes,  op->n_objects, 0};
    int64_t first_error_ns = INT64_MAX, last_s = INT64_MIN;

    if (of->foreign != NULL && p->n_requests > p->n_errors) {
        c.ok_start_ns = c.start_ns;
        c.ok_end_ns = c.end_ns;
    }
    if (of->foreign != NULL)
        return c;
    for (size_t i = 0; i < p->n_seconds; i++) {
        int64_t second = p->first_s + (int64_t)i;
        if (p->seconds[i].n_ended > 0) {
            c.ok_start_ns = int64_min(c.ok_start_ns, int64_max(second * NS_PER_S, c.start_ns));
            last_s = second;
            c.n_after = 0;
        } else {
            c.n_after += p->seconds[i].n_failed;
        }
    }
    if (last_s == INT64_MIN)
        return c;
    for (size_t i = 0; i < op->n_error_groups; i++)
        first_error_ns = int64_min(first_error_ns, op->errors[i].first_ns);
    c.ok_end_ns = int64_min((last_s + 1) * NS_PER_S, c.end_ns);
    c.within_ns = NS_PER_S;
    if (first_error_ns >= last_s * NS_PER_S && first_error_ns < c.ok_end_ns) {
        c.ok_end_ns = first_error_ns;
        c.n_after = op->n_errors;
    }
    return c;
}

static bool fill_operation(struct analysis *a, const struct sums_source *source, size_t k,
                           struct err *e)
{
    struct operation *to = &a->operations[k];
    const struct sums_op *op = source->ops[k];
    const struct foreign *foreign = source->sums->foreign;
    struct slice_grid *grid = &source->grids[k];
    const struct sums_part *all = &op->all;
    const struct sums_group g = {op->op, &all, 1};
    const struct segment_range range =
        active_range(a, all->start_ns, all->end_ns, a->mixed ? &source->sums->range : &op->range);

    *to = (struct operation){
        .op = op->op,
        .n_requests = all->n_requests,
        .n_errors = all->n_errors,
        .n_objects = all->n_objects,
        .n_bytes = all->n_bytes,
        .objects_per_op = op->first_objects,
        .concurrency = op->n_threads,
        .n_hosts = (int64_t)op->hosts.n,
        .n_clients = foreign != NULL ? (int64_t)foreign->n_ran : (int64_t)op->clients.n,
        .only_host = op->hosts.n == 1 ? op->hosts.v[0].name : NULL,
        .start_ns = all->start_ns,
        .end_ns = all->end_ns,
        .range = {range.end_ns > range.start_ns, range.start_ns, range.end_ns},
        .throughput = foreign != NULL ? foreign_throughput(op, NULL) : throughput_of(&g, &range),
    };
    to->judged = to->throughput;
    if (foreign != NULL) {
        if (!foreign_segments(&to->range, &to->segments, op, e) ||
            !foreign_requests(&to->requests, op, e))
            return false;
    } else {
        if (!make_grid(grid, a, &range, all->end_ns - all->start_ns, e) ||
            !fill_segments(&to->segments, &g, grid, &to->throughput, e) ||
            !sums_requests(&to->requests, op, e))
            return false;
        to->outside = outside_of(&g, all, grid);
        to->skipped = to->segments.present ? NULL : "too few samples";
    }
    if (!fill_parties(to, op, &range, grid, e) || !fill_errors(to, op, e))
        return false;
    to->coverage = coverage_of(to, op);
    return true;
}

/* ---- All operations together ---- */

static bool fill_total(struct analysis *a, const struct sums_source *source, struct err *e)
{
    struct cluster_total *total = &a->total;
    const struct sums *s = source->sums;
    const struct foreign *f = s->foreign;
    const struct sums_groups *hosts = &source->hosts;
    const struct dataset_input *in = &a->dataset->inputs[0];
    const struct segment_range range =
        active_range(a, in->first_start_ns, in->last_end_ns, &s->range);
    struct slice_grid *grid = &source->grids[s->n_ops];

    if (f != NULL && s->lacks_ops)
        return true; /* the file has only the total of all its operations */
    total->throughput = total->judged =
        f != NULL ? foreign_throughput(&f->all, NULL) : throughput_of(source->all.v, &range);
    total->present = total->throughput.present;
    total->coverage = COVERAGE_NONE;
    for (size_t k = 0; k < a->n_operations; k++)
        conclude_add_coverage(&total->coverage, &a->operations[k].coverage);
    total->range = (struct span){total->present, range.start_ns, range.end_ns};
    total->only_host = hosts->n == 1 ? hosts->v[0].name : NULL;
    total->n_hosts = hosts->n > 1 ? hosts->n : 0;
    bool ok = mem_cleared(&total->hosts, total->n_hosts, e) &&
              (f != NULL ? foreign_segments(&total->range, &total->segments, &f->all, e)
                         : make_grid(grid, a, &range, range.end_ns - range.start_ns, e) &&
                               fill_segments(&total->segments, source->all.v, grid,
                                             &total->throughput, e));
    for (size_t i = 0; ok && i < total->n_hosts; i++)
        ok = fill_host(&total->hosts[i], &hosts->v[i], f != NULL ? &f->all : source->ops[0], &range,
                       grid, e);
    return ok;
}

/* Names the series of all operations together that a foreign file has beside each operation's. */
static bool name_series(struct cluster_total *total, const struct foreign *f, struct err *e)
{
    const struct sums_parts *hosts = &f->all.hosts, *clients = &f->all.clients;
    size_t n = hosts->n + clients->n;

    if (!mem_new(&total->series_of, n, e))
        return false;
    for (size_t i = 0; i < n; i++)
        total->series_of[i] = i < hosts->n ? hosts->v[i].name : clients->v[i - hosts->n].name;
    total->n_series_hosts = hosts->n;
    total->n_series_clients = clients->n;
    return true;
}

/* ---- Findings ---- */

static bool course_of(struct course *c, const void *sums_source, size_t first, size_t end,
                      struct err *e)
{
    const struct sums_source *source = sums_source;
    return sums_course(c, source->sums, source->ops + first, end - first, e);
}

/* ---- The analysis ---- */

/* Makes a dataset without rows that stands for the file. */
static bool stand_in(struct dataset *d, const struct sums *s, const char *path, struct err *e)
{
    struct stat st;
    *d = (struct dataset){.has_intended = s->has_intended, .n_threads = (size_t)s->n_threads};
    if (!mem_cleared(&d->inputs, 1, e))
        return false;
    struct dataset_input *in = &d->inputs[d->n_inputs++];
    in->first_start_ns = INT64_MAX;
    in->last_end_ns = INT64_MIN;
    in->info.generation = s->foreign != NULL ? RECFILE_AGGREGATE : RECFILE_SUMS;
    if (stat(path, &st) == 0)
        in->info.n_file_bytes = (uint64_t)st.st_size;
    for (size_t k = 0; k < s->n_ops; k++) {
        const struct sums_part *p = &s->ops[k].all;
        in->n_rows += (uint64_t)p->n_requests;
        in->first_start_ns = int64_min(p->start_ns, in->first_start_ns);
        in->last_end_ns = int64_max(p->end_ns, in->last_end_ns);
    }
    d->n_rows = in->info.n_rows = in->n_rows;
    if (!mem_text(&in->path, path, e) || !recorded_take(&in->recorded, &s->said, e))
        return false;
    if (s->foreign != NULL) {
        const char *command = s->foreign->command;
        return keptlines_add(&in->comments, 1, command, strlen(command), e);
    }
    if (s->n_ops == 1 && !s->lacks_ops)
        recorded_only(&in->recorded, s->ops[0].op);
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct sums_op *x = *(const struct sums_op *const *)a,
                         *y = *(const struct sums_op *const *)b;
    if (x->all.start_ns != y->all.start_ns)
        return x->all.start_ns < y->all.start_ns ? -1 : 1;
    return strcmp(x->op, y->op);
}

/* Orders mixed operations by name, others by start. */
static bool set_order(struct analysis *a, struct sums_source *source, struct err *e)
{
    const struct sums *s = source->sums;
    struct op_span *spans;

    if (!mem_new(&spans, s->n_ops, e))
        return false;
    for (size_t k = 0; k < s->n_ops; k++) {
        source->ops[k] = &s->ops[k];
        spans[k] = (struct op_span){s->ops[k].all.start_ns, s->ops[k].all.end_ns, 0};
    }
    a->mixed = dataset_any_overlap(spans, s->n_ops);
    free(spans);
    if (!a->mixed)
        qsort(source->ops, s->n_ops, sizeof *source->ops, by_start);
    return true;
}

static bool begin(struct analysis *a, const struct sums *s, struct err *e)
{
    bool failed = false;

    if (!mem_cleared(&a->operations, s->n_ops, e) || !mem_cleared(&a->sums, 1, e))
        return false;
    struct sums_source *source = a->sums;
    source->sums = s;
    if (!mem_new(&source->ops, s->n_ops, e) || !mem_cleared(&source->grids, s->n_ops + 1, e) ||
        !sums_groups_init(&source->all, s->ops, s->n_ops, SUMS_TOGETHER, e) ||
        !sums_groups_init(&source->hosts, s->ops, s->n_ops, SUMS_BY_HOST, e))
        return false;
    if (s->foreign != NULL) {
        a->range = RANGE_FULL;
        a->series_note = "By whole seconds, failed requests included; the first and last two are "
                         "not in the file. Percentiles: each of 10 s alone.";
        if (!s->lacks_ops)
            a->together = foreign_together(s->foreign);
        return set_order(a, source, e);
    }
    for (size_t k = 0; k < s->n_ops; k++)
        failed |= s->ops[k].all.n_errors > 0;
    a->range = a->options.range;
    if (a->range == RANGE_AUTO)
        a->range =
            failed || s->has_intended || dataset_is_imported(a->dataset) ? RANGE_FULL : RANGE_ALL;
    if (a->range == RANGE_SINGLE)
        return err_set(e,
                       "%s: the single range needs requests: for sums choose --range all or full",
                       a->dataset->inputs[0].path);
    return set_order(a, source, e) && find_together(a, source, failed, e);
}

/* Fills statistics by second. */
static bool fill_by_second(struct analysis *a, size_t k, struct err *e)
{
    struct operation *op = &a->operations[k];
    const struct sums_source *source = a->sums;
    struct slice_grid grid;
    struct series_row *rows = NULL;
    size_t n = 0;

    if (source->sums->foreign != NULL)
        return foreign_by_second(op, source->sums->foreign, source->ops[k], a->mixed, e);
    slice_grid_init(&grid, op->range.start_ns, NS_PER_S,
                    (size_t)((op->range.end_ns - op->range.start_ns) / NS_PER_S));
    bool ok = sums_series_on(a, (int)k, -1, &grid, &rows, &n, e) &&
              sums_statistics(op, &source->ops[k]->all, rows, n, e);
    free(rows);
    return ok;
}

bool sums_analyze(struct analysis *a, struct dataset *d, const struct sums *s, const char *path,
                  const struct analysis_options *options, struct err *e)
{
    *a = (struct analysis){.dataset = d, .options = *options};
    if (!stand_in(d, s, path, e))
        return false;
    if (d->n_rows == 0)
        return err_set(e, "%s: no requests", path);
    a->n_rows = (int64_t)d->n_rows;
    a->run_start_ns = d->inputs[0].first_start_ns;
    if (!begin(a, s, e))
        return false;
    struct sums_source *source = a->sums;
    for (; a->n_operations < s->n_ops; a->n_operations++)
        if (!fill_operation(a, source, a->n_operations, e)) {
            a->n_operations++;
            return false;
        }
    int64_t run_ns = 0;
    bool ok =
        role_set(a, e) && (!a->mixed || fill_total(a, source, e)) &&
        (s->foreign == NULL || (name_series(&a->total, s->foreign, e) &&
                                foreign_notes(&source->notes, s->foreign, a, source->ops, e))) &&
        conclude_course(a, course_of, source, &run_ns, e) && conclude(a, NULL, run_ns, e);
    a->notes = source->notes;
    for (size_t k = 0; ok && options->by_second && k < a->n_operations; k++) {
        ok = fill_by_second(a, k, e);
        if (ok)
            statistics_find_change(a->operations[k].statistics, &a->findings, a->operations[k].op);
    }
    return ok;
}
