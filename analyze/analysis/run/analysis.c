/* Runs an analysis: finds whether the run is mixed, drops what is skipped, and chooses the active
 * range; then analyses each operation type and the cluster total, as tasks on several threads. */
#include "analyze/analysis/run/analysis.h"

#include "analyze/analysis/conclude/conclude.h"
#include "analyze/analysis/run/run_internal.h"
#include "analyze/analysis/sums/sums.h"
#include "analyze/summary/estimate/confidence.h"
#include "analyze/summary/model/role.h"
#include "analyze/summary/requests/errors.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

const char *const analysis_range_names[] = {"auto", "all", "single", "full", NULL};

/* With more places the search for findings runs alone, since it takes some 250 bytes a place. */
#define MANY_PLACES 10000

/* ---- Mixed or not, and in what order ---- */

static int compare_by_name(const void *a, const void *b)
{
    return strcmp(((const struct plan_entry *)a)->name, ((const struct plan_entry *)b)->name);
}

static int compare_by_start(const void *a, const void *b, void *dataset)
{
    const struct plan_entry *x = a, *y = b;
    return dataset_compare(dataset, x->table, x->scan.earliest, y->table, y->scan.earliest);
}

static void fill_times(struct operation *op, const struct scan_part *all)
{
    op->start_ns = scan_part_first_start_ns(all);
    op->end_ns = all->last_end_ns;
}

/* Decides whether the capture is mixed and whether it counts as prefiltered, and orders the
 * operations. */
static bool set_order(struct plan *p, struct err *e)
{
    struct dataset *d = p->d;
    struct op_span *spans;

    if (!mem_new(&spans, p->n + d->ops.n + 1, e))
        return false;
    size_t n = 0;
    for (size_t k = 0; k < p->n; k++) {
        const struct scan_part *all = &p->entries[k].scan.all;
        if (all->n > 0)
            spans[n++] = (struct op_span){scan_part_first_start_ns(all), all->last_end_ns, 0};
    }
    p->a->mixed = dataset_any_overlap(spans, n);
    /* The threads of an import are guessed, so the time in which all of them ran means nothing. */
    p->prefiltered = d->host_filtered || dataset_is_imported(d);
    if (d->op_filtered) {
        n = 0;
        for (size_t i = 0; i < d->ops.n; i++)
            if (d->op_spans[i].n > 0)
                spans[n++] = d->op_spans[i];
        p->prefiltered = p->prefiltered || dataset_any_overlap(spans, n);
    }
    free(spans);
    if (p->a->mixed)
        qsort(p->entries, p->n, sizeof *p->entries, compare_by_name);
    else
        qsort_r(p->entries, p->n, sizeof *p->entries, compare_by_start, d);
    for (size_t k = 0; k < p->n; k++) {
        p->scans[k] = &p->entries[k].scan;
        p->tables[k] = p->entries[k].table;
        p->entries[k].op = &p->a->operations[k];
        p->entries[k].op->op = p->entries[k].name;
        if (p->scans[k]->all.n > 0)
            fill_times(p->entries[k].op, &p->scans[k]->all);
    }
    p->a->n_operations = p->n;
    return role_set(p->a, e);
}

/* ---- Results ---- */

static struct span span_of(const struct segment_range *r)
{
    return segment_range_usable(r) ? (struct span){true, r->start_ns, r->end_ns} : (struct span){0};
}

/* Returns the only host of a set; NULL if there are several. */
static const char *only_host(const struct set *s)
{
    const struct group_keys *k = &s->hosts.keys;
    return k->n == 1 ? s->d->hosts.v[k->id[0]] : NULL;
}

static void fill_operation(struct operation *op, const struct set *s)
{
    const struct slices_outside *o = &s->outside;
    const struct scan *scan = s->scans[0];

    op->n_requests = s->all.n;
    op->n_errors = s->all.n_errors;
    op->n_objects = s->all.n_objects;
    op->n_bytes = s->all.n_bytes;
    op->objects_per_op = packed_get(&scan->t->objects, scan->earliest);
    for (size_t i = 0; i < s->n_threads; i++)
        op->concurrency += segment_thread_used(&s->threads[i]);
    op->n_hosts = (int64_t)s->hosts.keys.n;
    op->n_clients = (int64_t)s->clients.keys.n;
    op->only_host = only_host(s);
    fill_times(op, &s->all);
    op->range = span_of(&s->range);
    op->throughput = s->total;
    op->judged = s->judged;
    op->outside = (struct outside){
        .n = o->n_before + o->n_after,
        .n_bytes = o->before_bytes + o->after_bytes,
        .before_bytes = o->before_bytes,
        .after_bytes = o->after_bytes,
        .n_before = o->n_before,
        .n_after = o->n_after,
    };
}

/* Makes room for the results of hosts, if there are several. */
static bool alloc_hosts(struct set_group *g, struct host_result **hosts, size_t *n, struct err *e)
{
    if (g->keys.n < 2)
        return true;
    if (!mem_cleared(hosts, g->keys.n, e))
        return false;
    *n = g->keys.n;
    g->results = *hosts;
    g->stride = sizeof **hosts;
    return true;
}

static bool alloc_clients(struct set_group *g, struct operation *op, struct err *e)
{
    if (g->keys.n < 2)
        return true;
    if (!mem_cleared(&op->clients, g->keys.n, e))
        return false;
    op->n_client_results = g->keys.n;
    g->results = &op->clients->result;
    g->stride = sizeof *op->clients;
    return true;
}

static void fill_clients(struct operation *op, const struct set_group *g)
{
    for (size_t k = 0; k < op->n_client_results; k++) {
        struct client_result *c = &op->clients[k];
        c->n_bytes = g->parts[k].n_bytes;
        c->first_start_ns = scan_part_first_start_ns(&g->parts[k]);
        c->last_end_ns = g->parts[k].last_end_ns;
    }
}

static bool wants_single(const struct plan_entry *x)
{
    const struct plan *p = x->plan;
    return p->kind == RANGE_ALL && p->a->options.range == RANGE_AUTO &&
           p->a->options.depth != ANALYSIS_TOTALS && drop_is_short(&x->set);
}

/* Finds ranges and totals of an operation, and what there is to compute for it. */
static bool prepare_entry(void *entry, struct err *e)
{
    struct plan_entry *x = entry;
    const struct plan *p = x->plan;
    const struct scan *const *scan = &p->scans[x - p->entries];

    if (!set_init(&x->set, p->d, scan, 1, p->kind, true, e))
        return false;
    /* The total, and the search for findings unless it ran alone, still need the parts. */
    if (!p->a->mixed && !wants_single(x) && p->d->n_places > MANY_PLACES)
        scan_trim(&x->scan);
    if (!alloc_hosts(&x->set.hosts, &x->op->hosts, &x->op->n_host_results, e) ||
        !alloc_clients(&x->set.clients, x->op, e) ||
        !set_totals(&x->set, p->a->options.segment_ns, false, e))
        return false;
    fill_operation(x->op, &x->set);
    fill_clients(x->op, &x->set.clients);
    set_trim(&x->set);
    return requests_work_init(&x->requests, x->op, &x->set, p->a->options.depth, e);
}

static bool prepare_total(void *plan, struct err *e)
{
    struct plan *p = plan;
    struct cluster_total *total = &p->a->total;

    if (!set_init(&p->total, p->d, p->scans, p->n, p->kind, true, e) ||
        !alloc_hosts(&p->total.hosts, &total->hosts, &total->n_hosts, e) ||
        !set_totals(&p->total, p->a->options.segment_ns, true, e))
        return false;
    set_trim(&p->total);
    return true;
}

static bool segment_set(void *set, struct err *e)
{
    return set_segments(set, e);
}

static bool group_errors(void *entry, struct err *e)
{
    struct plan_entry *x = entry;
    return analysis_errors(x->op, x->plan->d, x->table, e);
}

/* Percentiles are computed once, with their intervals. */
static void take_times(struct requests *to, const struct statistics *s)
{
    if (!to->present)
        return;
    to->all = (struct durations){s->duration.times, s->ttfb.times};
    to->response_time.dur = s->response.times;
}

static bool fill_statistics(void *entry, struct err *e)
{
    struct plan_entry *x = entry;
    const struct set *s = &x->set;

    /* Without an active range of all requests, only the times are kept. */
    const struct segment_range *range = x->op->judged.present ? &s->range : &s->ok;
    const struct statistics_input in = {
        .dataset = s->d,
        .table = x->table,
        .n = x->table->n,
        .blocks = &x->scan.blocks,
        .start_ns = range->start_ns,
        .end_ns = range->end_ns,
        .ok = {true, s->ok.start_ns, s->ok.end_ns},
        .total = &x->op->judged,
        .n_requests = operation_n_all(x->op),
        .n_errors = operation_n_failed(x->op),
        .concurrency = x->op->concurrency,
        .co_interval_ns = x->plan->a->options.co_interval_ns,
    };

    if ((x->op->statistics = statistics_new(&in, e)) == NULL)
        return false;
    take_times(&x->op->requests, x->op->statistics);
    if (!x->op->judged.present) {
        statistics_free(x->op->statistics);
        x->op->statistics = NULL;
    } else if (x->op->n_failed_apart > 0) {
        x->op->judged = (struct throughput){.known.why = ANALYSIS_FAILED_APART};
        statistics_forget_rates(x->op->statistics, ANALYSIS_FAILED_APART);
    }
    return true;
}

static void add_entry_tasks(struct plan *p, struct plan_entry *x)
{
    size_t n = x->table->n;
    plan_add_task(p, segment_set, &x->set, n, WEIGHT_SEGMENTS);
    if (p->a->options.depth == ANALYSIS_TOTALS)
        return;
    if (x->op->n_errors > 0)
        plan_add_task(p, group_errors, x, n, WEIGHT_ERRORS);
    if (wants_single(x))
        plan_add_task(p, drop_fill_single, x, n, WEIGHT_SEGMENTS);
    else
        scan_trim(&x->scan);
    if (x->op->judged.present || x->op->requests.present)
        plan_add_task(p, fill_statistics, x, n, WEIGHT_STATISTICS);
    if (!x->op->requests.present)
        return;
    if (!x->requests.brief)
        plan_add_task(p, requests_times, &x->requests, n, WEIGHT_TIMES);
    if (!x->op->requests.single_size)
        plan_add_task(p, requests_sizes, &x->requests, n, WEIGHT_SIZES);
    else if (!x->requests.brief)
        plan_add_task(p, requests_access, &x->requests, n, WEIGHT_ACCESS);
}

/* Moves what a series needs from the set to *source. */
static bool fill_source(struct analysis_source *source, struct set *s, struct err *e)
{
    if (!mem_new(&source->tables, s->n_scans + 1, e))
        return false;
    for (size_t k = 0; k < s->n_scans; k++)
        source->tables[k] = s->scans[k]->t;
    source->n_tables = s->n_scans;
    source->hosts = s->hosts.keys;
    s->hosts.keys = (struct group_keys){0};
    source->grid = s->grid;
    source->segment_ns = s->segment_ns;
    source->has_range = segment_range_usable(&s->range);
    source->first_start_ns = scan_part_first_start_ns(&s->all);
    source->last_end_ns = s->all.last_end_ns;
    return true;
}

static struct coverage coverage_of(const struct operation *op, const struct table *t)
{
    struct coverage c = {op->start_ns,  op->end_ns, op->start_ns, op->end_ns, 0, op->n_bytes,
                         op->n_objects, 0};
    if (op->n_errors == 0)
        return c;
    c.ok_start_ns = INT64_MAX;
    c.ok_end_ns = INT64_MIN;
    for (size_t i = 0; i < t->n; i++) {
        if (table_failed(t, i))
            continue;
        c.ok_start_ns = int64_min(c.ok_start_ns, t->start[i]);
        c.ok_end_ns = int64_max(c.ok_end_ns, table_end(t, i));
    }
    for (size_t i = 0; i < t->n; i++)
        c.n_after += table_failed(t, i) && table_end(t, i) > c.ok_end_ns;
    return c;
}

static bool finish_entry(struct plan_entry *x, struct analysis_source *source, struct err *e)
{
    struct operation *op = x->op;
    if (x->table->n == 0) {
        op->skipped = "no requests left";
        return true;
    }
    op->coverage = coverage_of(op, x->table);
    op->segments = x->set.segments;
    if (!op->segments.present)
        op->skipped = "too few samples";
    requests_work_finish(&x->requests);
    bool ok = fill_source(source, &x->set, e);
    x->requests = (struct requests_work){0};
    set_fini(&x->set);
    x->set = (struct set){0};
    return ok;
}

static bool finish_total(struct plan *p, struct err *e)
{
    struct cluster_total *total = &p->a->total;
    struct set *s = &p->total;

    total->present = s->total.present;
    total->range = span_of(&s->range);
    total->throughput = s->total;
    total->judged = s->judged;
    for (size_t k = 0; k < p->n; k++)
        if (p->entries[k].op->n_failed_apart > 0)
            total->judged = (struct throughput){.known.why = ANALYSIS_FAILED_APART};
    total->coverage = COVERAGE_NONE;
    for (size_t k = 0; k < p->n; k++)
        if (p->entries[k].table->n > 0)
            conclude_add_coverage(&total->coverage, &p->entries[k].op->coverage);
    total->segments = s->segments;
    total->only_host = only_host(s);
    return fill_source(&p->a->sources[p->n], s, e);
}

static bool analyse(struct plan *p, struct err *e)
{
    size_t n_rows = 0;
    for (size_t k = 0; k < p->n; k++)
        n_rows += p->entries[k].table->n;
    bool with_total = p->a->mixed && n_rows > 0;

    for (size_t k = 0; k < p->n; k++)
        if (p->entries[k].table->n > 0)
            plan_add_task(p, prepare_entry, &p->entries[k], p->entries[k].table->n, WEIGHT_SET);
    if (with_total)
        plan_add_task(p, prepare_total, p, n_rows, WEIGHT_SET);
    if (!plan_run_tasks(p, e))
        return false;

    for (size_t k = 0; k < p->n; k++)
        if (p->entries[k].table->n > 0)
            add_entry_tasks(p, &p->entries[k]);
    if (with_total)
        plan_add_task(p, segment_set, &p->total, n_rows, WEIGHT_SEGMENTS);
    if (!plan_run_tasks(p, e))
        return false;

    for (size_t k = 0; k < p->n; k++)
        if (!finish_entry(&p->entries[k], &p->a->sources[k], e))
            return false;
    return !with_total || finish_total(p, e);
}

/* ---- From the outside ---- */

static bool extent_of(struct course_extent *x, const struct scan *s, struct err *e)
{
    *x = (struct course_extent){
        .last_start_ns = int64_max(s->all.ok.last_ns, s->all.failed.last_ns),
        .rows_per_span = BLOCKS_ROWS,
    };
    if (!mem_new(&x->visits, s->n_places + s->n_threads, e) || !mem_new(&x->spans, s->blocks.n, e))
        return false;
    for (size_t b = 0; b < s->blocks.n; b++)
        x->spans[b] = (struct course_span){s->blocks.v[b].min_start_ns, s->blocks.v[b].max_end_ns};
    for (size_t i = 0; i < s->n_places; i++)
        x->visits[i] = (struct course_visits){scan_part_first_start_ns(&s->parts[i]),
                                              s->parts[i].last_end_ns, s->parts[i].n};
    for (size_t i = 0; i < s->n_threads; i++)
        x->visits[s->n_places + i] = (struct course_visits){
            s->threads[i].first_start_ns, s->threads[i].last_end_ns, s->threads[i].n};
    return true;
}

static bool course_of_entries(struct course *c, const void *plan, size_t first, size_t end,
                              struct err *e)
{
    const struct plan *p = plan;
    struct course_extent *extents;

    *c = (struct course){0};
    if (!mem_cleared(&extents, end - first, e))
        return false;
    bool ok = true;
    for (size_t k = first; ok && k < end; k++)
        ok = extent_of(&extents[k - first], p->scans[k], e);
    ok = ok &&
         course_of_rows(c, p->d, p->tables + first, extents, end - first, p->a->options.threads, e);
    for (size_t k = first; k < end; k++) {
        free(extents[k - first].visits);
        free(extents[k - first].spans);
    }
    free(extents);
    return ok;
}

/* A task; it must run before rows are dropped. */
static bool find(void *plan, struct err *e)
{
    struct plan *p = plan;
    return conclude_course(p->a, course_of_entries, p, &p->run_ns, e);
}

static bool run(struct plan *p, struct err *e)
{
    struct analysis *a = p->a;
    if (!plan_scan(p, e) || !set_order(p, e) || !drop_early_and_late(p, e))
        return false;
    for (size_t k = 0; k < p->n; k++)
        p->errors = p->errors || p->entries[k].scan.all.n_errors > 0;
    bool with_findings = a->options.depth != ANALYSIS_TOTALS;
    if (with_findings)
        plan_add_task(p, find, p, p->d->n_rows, WEIGHT_COURSE);
    if (p->d->n_places > MANY_PLACES && !plan_run_tasks(p, e))
        return false;
    if (!drop_outside(p, e))
        return false;
    p->kind = a->options.range;
    if (p->kind == RANGE_AUTO)
        p->kind = p->errors || p->prefiltered || a->mixed || p->d->has_intended ? RANGE_SINGLE
                                                                                : RANGE_ALL;
    a->range = p->kind;
    return analyse(p, e) && (!with_findings || conclude(a, p->scans, p->run_ns, e));
}

bool analysis_run(struct analysis *a, struct dataset *d, const struct analysis_options *options,
                  struct err *e)
{
    struct plan p;
    *a = (struct analysis){.dataset = d,
                           .options = *options,
                           .n_rows = (int64_t)d->n_rows,
                           .left_out = {.by_size = (int64_t)d->n_unsized}};
    bool ok = plan_init(&p, a, d, e) && run(&p, e);
    plan_fini(&p);
    return ok;
}

void analysis_take_operation(struct operation *to, struct operation *from)
{
    *to = *from;
    to->only_host = NULL;
    to->hosts = NULL;
    to->clients = NULL;
    to->errors = NULL;
    to->requests.sizes = NULL;
    to->requests.hosts = NULL;
    to->n_host_results = to->n_client_results = to->n_error_groups = 0;
    to->requests.n_sizes = to->requests.n_hosts = 0;
    from->statistics = NULL;
}

void analysis_free(struct analysis *a)
{
    for (size_t k = 0; k < a->n_operations; k++) {
        struct operation *op = &a->operations[k];
        free(op->hosts);
        free(op->clients);
        free(op->client_requests);
        requests_free(&op->requests);
        analysis_errors_free(op);
        statistics_free(op->statistics);
    }
    for (size_t k = 0; a->sources != NULL && k <= a->n_operations; k++)
        analysis_source_fini(&a->sources[k]);
    free(a->sources);
    sums_source_free(a->sums);
    free(a->operations);
    free(a->total.hosts);
    free(a->total.series_of);
    findings_free(&a->findings);
    *a = (struct analysis){0};
}
