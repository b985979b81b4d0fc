/* Order of things (section 7): what is mixed, what is skipped and dropped, which active range is used;
 * then each operation type and the cluster total on its own, on several threads. */
#include "analysis.h"

#include "analysis_internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Mixed or not, and in what order ---- */

static int compare_spans(const void *a, const void *b)
{
    const struct op_span *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* Whether any two spans overlap: the one that starts first (ties by end) ends after the other's start. Sorts
 * them. */
static bool any_overlap(struct op_span *spans, size_t n)
{
    int64_t latest_end_ns = INT64_MIN;
    qsort(spans, n, sizeof *spans, compare_spans);
    for (size_t i = 0; i < n; i++) {
        if (latest_end_ns > spans[i].start_ns)
            return true;
        if (spans[i].end_ns > latest_end_ns)
            latest_end_ns = spans[i].end_ns;
    }
    return false;
}

static struct op_span table_span(const struct table *t)
{
    struct op_span span = {INT64_MAX, INT64_MIN, t->n};
    for (size_t i = 0; i < t->n; i++) {
        int64_t end_ns = table_end(t, i);
        span.start_ns = t->start[i] < span.start_ns ? t->start[i] : span.start_ns;
        span.end_ns = end_ns > span.end_ns ? end_ns : span.end_ns;
    }
    return span;
}

/* One operation type on its way to a struct operation. */
struct entry {
    struct table *table;
    const char *op;
    struct op_span span; /* before anything is dropped */
    size_t earliest;     /* row */
};

static size_t earliest_row(const struct dataset *d, const struct table *t)
{
    size_t best = 0;
    for (size_t i = 1; i < t->n; i++)
        if (t->start[i] <= t->start[best] && dataset_compare(d, t, i, t, best) < 0)
            best = i;
    return best;
}

static int compare_by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->op, ((const struct entry *)b)->op);
}

static int compare_by_start(const void *a, const void *b, void *dataset)
{
    const struct entry *x = a, *y = b;
    return dataset_compare(dataset, x->table, x->earliest, y->table, y->earliest);
}

/* ---- Dropping rows ---- */

/* Requests that start in [from_ns, last_ns] and end at end_ns or before. */
struct keep {
    int64_t from_ns, last_ns, end_ns;
};

#define KEEP_ALL ((struct keep){INT64_MIN, INT64_MAX, INT64_MAX})

static bool keep_row(void *ctx, const struct table *t, size_t i)
{
    const struct keep *k = ctx;
    return t->start[i] >= k->from_ns && t->start[i] <= k->last_ns && table_end(t, i) <= k->end_ns;
}

static int64_t add_clamped(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? INT64_MAX : INT64_MIN) : sum;
}

/* ---- The whole run ---- */

struct plan {
    struct dataset *d;
    struct analysis *a;
    struct entry *entries; /* by operation */
    size_t n;
    enum range_kind kind; /* of types, hosts and the total */
    struct cluster_total *total;
    const struct table **tables; /* all, in the entries' order */
    struct err *errors;          /* by task */
    atomic_size_t next_task;
    size_t n_tasks;
};

static bool has_errors(const struct plan *p)
{
    for (size_t k = 0; k < p->n; k++)
        for (size_t i = 0; i < p->entries[k].table->n; i++)
            if (p->entries[k].table->error[i] != 0)
                return true;
    return false;
}

/* skip, from and to. */
static void drop_early_and_late(struct plan *p)
{
    const struct analysis_options *o = &p->a->options;
    int64_t run_start_ns = INT64_MAX;
    for (size_t k = 0; k < p->n; k++)
        if (p->entries[k].span.start_ns < run_start_ns)
            run_start_ns = p->entries[k].span.start_ns;
    struct keep window = KEEP_ALL;
    if (o->has_from)
        window.from_ns = o->from_is_relative ? add_clamped(run_start_ns, o->from_ns) : o->from_ns;
    if (o->has_to)
        window.last_ns = add_clamped(o->to_ns, (o->to_is_relative ? run_start_ns : 0) - 1);
    for (size_t k = 0; k < p->n; k++) {
        struct keep keep = window;
        int64_t skip_to_ns = add_clamped(p->entries[k].span.start_ns, o->skip_ns);
        if (o->skip_ns > 0 && skip_to_ns > keep.from_ns)
            keep.from_ns = skip_to_ns;
        if (o->has_from || o->has_to || o->skip_ns > 0)
            table_retain(p->entries[k].table, keep_row, &keep);
    }
}

static void drop_outside(struct plan *p, const struct segment_range *r)
{
    struct keep keep = {r->start_ns, INT64_MAX, r->end_ns};
    for (size_t k = 0; k < p->n; k++)
        table_retain(p->entries[k].table, keep_row, &keep);
}

/* With errors and several clients: only the time in which all clients ran. */
static bool drop_outside_clients(struct plan *p, const struct set *whole, struct err *e)
{
    const struct group_keys *keys = &whole->clients.keys;
    if (keys->n < 2)
        return true;
    struct segment_starts *starts = malloc(keys->n * sizeof *starts);
    int64_t *latest = malloc(keys->n * sizeof *latest);
    if (starts == NULL || latest == NULL) {
        free(starts);
        free(latest);
        return err_set(e, "out of memory");
    }
    for (size_t c = 0; c < keys->n; c++) {
        starts[c] = SEGMENT_STARTS_NONE;
        latest[c] = INT64_MIN;
    }
    for (size_t k = 0; k < whole->n_tables; k++) {
        const struct table *t = whole->tables[k];
        for (size_t i = 0; i < t->n; i++)
            segment_starts_add(&starts[keys->of_place[t->place[i]]], t->start[i]);
    }
    for (size_t k = 0; k < whole->n_tables; k++) {
        const struct table *t = whole->tables[k];
        for (size_t i = 0; i < t->n; i++) {
            uint32_t c = keys->of_place[t->place[i]];
            int64_t end_ns = table_end(t, i);
            if (end_ns < starts[c].last_ns && end_ns > latest[c])
                latest[c] = end_ns;
        }
    }
    struct segment_range common = {INT64_MIN, INT64_MAX};
    for (size_t c = 0; c < keys->n; c++) {
        struct segment_range r = segment_range_single(&starts[c], latest[c]);
        if (r.start_ns > common.start_ns)
            common.start_ns = r.start_ns;
        if (r.end_ns < common.end_ns)
            common.end_ns = r.end_ns;
    }
    free(starts);
    free(latest);
    drop_outside(p, &common);
    return true;
}

/* ---- Where the all-threads range keeps little ---- */

static int compare_slow_threads(const void *a, const void *b)
{
    const struct slow_thread *x = a, *y = b;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

/* Under half of the set's whole duration. */
static bool is_short(const struct set *s)
{
    return !segment_range_usable(&s->range) ||
           s->range.end_ns - s->range.start_ns < (s->all.last_end_ns - s->all.first_start_ns) / 2;
}

/* The threads at fault: if none ended its first request later than a quarter into the set, or began its
 * last earlier than a quarter before the end, the range would have at least half of it. */
static bool find_slow_threads(struct operation *op, const struct set *s, struct err *e)
{
    int64_t quarter_ns = (s->all.last_end_ns - s->all.first_start_ns) / 4;
    op->slow_threads = malloc((s->d->n_threads + 1) * sizeof *op->slow_threads);
    if (op->slow_threads == NULL)
        return err_set(e, "out of memory");
    for (size_t i = 0; i < s->d->n_threads; i++) {
        const struct segment_thread *t = &s->threads[i];
        if (segment_thread_used(t) && (t->first_end_ns > s->all.first_start_ns + quarter_ns ||
                                       t->last_start_ns < s->all.last_end_ns - quarter_ns))
            op->slow_threads[op->n_slow_threads++] =
                (struct slow_thread){s->d->threads[i], t->first_end_ns, t->last_start_ns};
    }
    qsort(op->slow_threads, op->n_slow_threads, sizeof *op->slow_threads, compare_slow_threads);
    return true;
}

/* The single range's figures beside, where `all` (an operation or a whole mixed run) is short. */
static bool fill_single(struct operation *op, const struct set *all, const struct table *t,
                        int64_t segment_ns, struct err *e)
{
    struct set s;
    set_init(&s, all->d, &t, 1, RANGE_SINGLE, false);
    bool ok = set_scan(&s, e) && set_attribute(&s, segment_ns, false, e) &&
              find_slow_threads(op, all, e);
    if (ok) {
        op->range_is_short = true;
        op->single_throughput = s.total;
        op->single_segments = s.segments;
    }
    set_fini(&s);
    return ok;
}

/* The drop of section 7, before anything is analysed. */
static bool drop(struct plan *p, bool errors, bool prefiltered, struct err *e)
{
    enum range_kind wanted = p->a->options.range;
    bool by_clients = errors && (wanted == RANGE_AUTO || wanted == RANGE_SINGLE);
    bool by_range = p->a->mixed && !errors && wanted != RANGE_FULL;
    if (!by_clients && !by_range)
        return true;
    bool all_threads =
        wanted == RANGE_ALL || (wanted == RANGE_AUTO && !prefiltered && !p->d->has_intended);
    struct set whole;
    set_init(&whole, p->d, p->tables, p->n, all_threads ? RANGE_ALL : RANGE_SINGLE, false);
    bool ok = set_scan(&whole, e);
    if (ok && by_clients) {
        ok = drop_outside_clients(p, &whole, e);
    } else if (ok) {
        if (wanted == RANGE_AUTO && all_threads && is_short(&whole))
            for (size_t k = 0; ok && k < p->n; k++)
                if (p->entries[k].table->n > 0)
                    ok = fill_single(&p->a->operations[k], &whole, p->entries[k].table,
                                     p->a->options.segment_ns, e);
        drop_outside(p, &whole.range);
    }
    set_fini(&whole);
    return ok;
}

/* ---- Results ---- */

static bool host_results(const struct set *s, struct host_result **out, size_t *n, struct err *e)
{
    const struct set_group *g = &s->hosts;
    if (g->keys.n < 2)
        return true;
    *out = calloc(g->keys.n, sizeof **out);
    if (*out == NULL)
        return err_set(e, "out of memory");
    *n = g->keys.n;
    for (size_t k = 0; k < *n; k++)
        (*out)[k] = (struct host_result){
            .host = s->d->hosts.v[g->keys.id[k]],
            .n_requests = g->parts[k].n,
            .n_errors = g->parts[k].n_errors,
            .throughput = g->totals[k],
            .segments = g->segments[k],
        };
    return true;
}

static bool client_results(const struct set *s, struct operation *op, struct err *e)
{
    const struct set_group *g = &s->clients;
    if (g->keys.n < 2)
        return true;
    op->clients = calloc(g->keys.n, sizeof *op->clients);
    if (op->clients == NULL)
        return err_set(e, "out of memory");
    op->n_client_results = g->keys.n;
    for (size_t k = 0; k < g->keys.n; k++)
        op->clients[k] = (struct client_result){
            .client = s->d->clients.v[g->keys.id[k]],
            .n_requests = g->parts[k].n,
            .n_errors = g->parts[k].n_errors,
            .n_bytes = g->parts[k].n_bytes,
            .first_start_ns = g->parts[k].first_start_ns,
            .last_end_ns = g->parts[k].last_end_ns,
            .throughput = g->totals[k],
            .segments = g->segments[k],
        };
    return true;
}

static struct span span_of(const struct segment_range *r)
{
    return segment_range_usable(r) ? (struct span){true, r->start_ns, r->end_ns} : (struct span){0};
}

/* Moves what a series needs out of the set. */
static bool fill_source(struct analysis_source *source, struct set *s, struct err *e)
{
    source->tables = malloc((s->n_tables + 1) * sizeof *source->tables);
    if (source->tables == NULL)
        return err_set(e, "out of memory");
    memcpy(source->tables, s->tables, s->n_tables * sizeof *source->tables);
    source->n_tables = s->n_tables;
    source->hosts = s->hosts.keys;
    s->hosts.keys = (struct group_keys){0};
    source->grid = s->grid;
    source->segment_ns = s->segment_ns;
    source->has_range = segment_range_usable(&s->range);
    source->first_start_ns = s->all.first_start_ns;
    source->last_end_ns = s->all.last_end_ns;
    return true;
}

static void fill_operation(struct operation *op, const struct set *s)
{
    const struct attribution_outside *o = &s->outside;
    op->n_requests = s->all.n;
    op->n_errors = s->all.n_errors;
    op->n_objects = s->n_objects;
    op->n_bytes = s->all.n_bytes;
    op->objects_per_op = s->objects_per_op;
    op->concurrency = s->n_threads;
    op->n_hosts = (int64_t)s->hosts.keys.n;
    op->n_clients = (int64_t)s->clients.keys.n;
    op->start_ns = s->all.first_start_ns;
    op->end_ns = s->all.last_end_ns;
    op->range = span_of(&s->range);
    op->throughput = s->total;
    op->segments = s->segments;
    if (!s->segments.present)
        op->skipped = "too few samples";
    op->outside = (struct outside){
        .n = o->n_before + o->n_after,
        .n_bytes = o->before_bytes + o->after_bytes,
        .before_bytes = o->before_bytes,
        .after_bytes = o->after_bytes,
        .n_before = o->n_before,
        .n_after = o->n_after,
    };
}

static bool analyse_operation(struct plan *p, size_t k, struct err *e)
{
    struct operation *op = &p->a->operations[k];
    const struct table *t = p->entries[k].table;
    if (t->n == 0) {
        op->skipped = "no requests left";
        return true;
    }
    struct set s;
    set_init(&s, p->d, &t, 1, p->kind, true);
    bool ok = set_scan(&s, e) && set_attribute(&s, p->a->options.segment_ns, false, e);
    if (ok) {
        fill_operation(op, &s);
        ok = host_results(&s, &op->hosts, &op->n_host_results, e) && client_results(&s, op, e) &&
             analysis_requests(op, &s, e) && analysis_errors(op, p->d, t, e);
    }
    if (ok && p->kind == RANGE_ALL && p->a->options.range == RANGE_AUTO && is_short(&s))
        ok = fill_single(op, &s, t, p->a->options.segment_ns, e);
    ok = ok && fill_source(&p->a->internal->sources[k], &s, e);
    set_fini(&s);
    return ok;
}

static bool analyse_total(struct plan *p, struct err *e)
{
    struct cluster_total *total = &p->a->total;
    struct set s;
    set_init(&s, p->d, p->tables, p->n, p->kind, true);
    bool ok = set_scan(&s, e);
    if (ok && s.all.n > 0) {
        ok = set_attribute(&s, p->a->options.segment_ns, true, e);
        total->present = s.total.present;
        total->range = span_of(&s.range);
        total->throughput = s.total;
        total->segments = s.segments;
        ok = ok && host_results(&s, &total->hosts, &total->n_hosts, e) &&
             fill_source(&p->a->internal->sources[p->n], &s, e);
    }
    set_fini(&s);
    return ok;
}

/* ---- Threads ---- */

/* Tasks are the total, the longest, first, then the operations. Which thread does which changes nothing. */
static void *work(void *arg)
{
    struct plan *p = arg;
    size_t task;
    while ((task = atomic_fetch_add(&p->next_task, 1)) < p->n_tasks) {
        size_t k = p->a->mixed ? task - 1 : task;
        if (p->a->mixed && task == 0)
            analyse_total(p, &p->errors[task]);
        else
            analyse_operation(p, k, &p->errors[task]);
    }
    return NULL;
}

static bool run_tasks(struct plan *p, struct err *e)
{
    p->n_tasks = p->n + p->a->mixed;
    p->errors = calloc(p->n_tasks + 1, sizeof *p->errors);
    if (p->errors == NULL)
        return err_set(e, "out of memory");
    long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = p->a->options.threads > 0 ? p->a->options.threads : n_cores > 0 ? (size_t)n_cores : 1;
    pthread_t others[64];
    size_t n_others = 0, most = sizeof others / sizeof others[0];
    while (n_others + 1 < n && n_others + 1 < p->n_tasks && n_others < most &&
           pthread_create(&others[n_others], NULL, work, p) == 0)
        n_others++;
    work(p);
    for (size_t i = 0; i < n_others; i++)
        pthread_join(others[i], NULL);
    bool ok = true;
    for (size_t i = 0; ok && i < p->n_tasks; i++)
        if (p->errors[i].msg[0] != '\0')
            ok = err_set(e, "%s", p->errors[i].msg);
    free(p->errors);
    return ok;
}

/* ---- From the outside ---- */

static bool plan_init(struct plan *p, struct analysis *a, struct dataset *d, struct err *e)
{
    *p = (struct plan){.d = d, .a = a, .n = d->n_tables, .kind = RANGE_AUTO};
    p->entries = calloc(p->n + 1, sizeof *p->entries);
    p->tables = malloc((p->n + 1) * sizeof *p->tables);
    a->operations = calloc(p->n + 1, sizeof *a->operations);
    a->internal = calloc(1, sizeof *a->internal);
    if (a->internal != NULL)
        a->internal->sources = calloc(p->n + 1, sizeof *a->internal->sources);
    if (p->entries == NULL || p->tables == NULL || a->operations == NULL || a->internal == NULL ||
        a->internal->sources == NULL)
        return err_set(e, "out of memory");
    for (size_t k = 0; k < p->n; k++) {
        struct table *t = &d->tables[k];
        p->entries[k] = (struct entry){t, d->ops.v[t->op], table_span(t), earliest_row(d, t)};
    }
    return true;
}

/* Decides whether the capture is mixed and puts the operations in order. */
static bool set_order(struct plan *p, bool *op_prefiltered, struct err *e)
{
    struct dataset *d = p->d;
    struct op_span *spans = malloc((p->n + d->ops.n + 1) * sizeof *spans);
    if (spans == NULL)
        return err_set(e, "out of memory");
    for (size_t k = 0; k < p->n; k++)
        spans[k] = p->entries[k].span;
    p->a->mixed = any_overlap(spans, p->n);
    if (d->op_filtered) {
        size_t n = 0;
        for (size_t i = 0; i < d->ops.n; i++)
            if (d->op_spans[i].n > 0)
                spans[n++] = d->op_spans[i];
        *op_prefiltered = any_overlap(spans, n);
    }
    free(spans);
    if (p->a->mixed)
        qsort(p->entries, p->n, sizeof *p->entries, compare_by_name);
    else
        qsort_r(p->entries, p->n, sizeof *p->entries, compare_by_start, d);
    for (size_t k = 0; k < p->n; k++) {
        p->tables[k] = p->entries[k].table;
        p->a->operations[k].op = p->entries[k].op;
    }
    p->a->n_operations = p->n;
    return true;
}

static bool run(struct plan *p, struct err *e)
{
    struct analysis *a = p->a;
    bool op_prefiltered = false;
    if (!set_order(p, &op_prefiltered, e))
        return false;
    bool prefiltered = p->d->host_filtered || op_prefiltered;
    drop_early_and_late(p);
    bool errors = has_errors(p);
    if (!drop(p, errors, prefiltered, e))
        return false;
    p->kind = a->options.range;
    if (p->kind == RANGE_AUTO)
        p->kind = errors || prefiltered || a->mixed || p->d->has_intended ? RANGE_SINGLE : RANGE_ALL;
    a->range = p->kind;
    return run_tasks(p, e) && analysis_warnings(a, e);
}

bool analysis_run(struct analysis *a, struct dataset *d, const struct analysis_options *options,
                  struct err *e)
{
    struct plan p;
    *a = (struct analysis){.dataset = d, .options = *options, .n_rows = (int64_t)d->n_rows};
    bool ok = plan_init(&p, a, d, e) && run(&p, e);
    free(p.entries);
    free(p.tables);
    return ok;
}

void analysis_free(struct analysis *a)
{
    for (size_t k = 0; k < a->n_operations; k++) {
        struct operation *op = &a->operations[k];
        free(op->hosts);
        free(op->clients);
        analysis_requests_free(&op->requests);
        analysis_errors_free(op);
        free(op->slow_threads);
    }
    for (size_t k = 0; a->internal != NULL && a->internal->sources != NULL && k <= a->n_operations;
         k++)
        analysis_source_fini(&a->internal->sources[k]);
    if (a->internal != NULL)
        free(a->internal->sources);
    free(a->internal);
    free(a->operations);
    free(a->total.hosts);
    analysis_warnings_free(a);
    *a = (struct analysis){0};
}
