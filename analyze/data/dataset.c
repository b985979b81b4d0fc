#include "analyze/data/dataset.h"

#include "analyze/base/intern.h"
#include "analyze/data/table.h"
#include "analyze/data/unit.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Thread numbers below this are looked up in an array, others in a hash table. */
#ifndef DIRECT_THREADS
#define DIRECT_THREADS 65536
#endif
#define KEPT_COMMENTS 8

struct loader {
    struct dataset *d;
    const struct dataset_filter *filter;
    struct intern ops, hosts, clients, errors, places;
    struct intern threads; /* numbers from DIRECT_THREADS up */
    uint32_t *direct_threads;
    uint32_t *far_threads;              /* thread index in the dataset, by id in `threads` */
    uint32_t *table_of_op;              /* INTERN_NONE: no rows yet */
    size_t n_spans;                     /* entries of d->op_spans and table_of_op */
    uint64_t thread_base, thread_top;   /* offset of this input; 1 + the highest thread so far */
    uint32_t *row_threads, *row_places; /* of the rows being committed; one allocation for both */
    size_t cap_rows;
    uint32_t input;
    struct dataset_input *in;
    pthread_mutex_t lock; /* of `free_units` */
    struct dataset_unit *free_units;
};

/* ---- Units: any thread ---- */

static void *take_unit(void *ctx, struct err *e)
{
    struct loader *l = ctx;

    pthread_mutex_lock(&l->lock);
    struct dataset_unit *u = l->free_units;
    if (u)
        l->free_units = u->next;
    pthread_mutex_unlock(&l->lock);
    return u ? u : dataset_unit_new(l->filter, e);
}

static void give_unit_back(void *ctx, void *unit)
{
    struct loader *l = ctx;
    struct dataset_unit *u = unit;

    dataset_unit_clear(u);
    pthread_mutex_lock(&l->lock);
    u->next = l->free_units;
    l->free_units = u;
    pthread_mutex_unlock(&l->lock);
}

static bool add_rows(void *ctx, void *unit, const struct record *rows, size_t n, struct err *e)
{
    (void)ctx;
    return dataset_unit_add(unit, rows, n, e);
}

/* ---- Commit: one thread at a time ---- */

static bool resolve_ops(struct loader *l, struct dataset_unit *u, struct err *e)
{
    struct dataset *d = l->d;

    if (u->n_ops_global < u->ops.n && !mem_room(&u->ops_global, u->ops.n, e))
        return false;
    for (; u->n_ops_global < u->ops.n; u->n_ops_global++) {
        uint32_t id = intern_add(&l->ops, u->ops.strings[u->n_ops_global]);
        if (id == INTERN_NONE)
            return mem_none(e);
        if (id == l->n_spans) {
            if (!mem_more(&d->op_spans, l->n_spans, e) || !mem_more(&l->table_of_op, l->n_spans, e))
                return false;
            d->op_spans[id] = (struct op_span){INT64_MAX, INT64_MIN, 0};
            l->table_of_op[id] = INTERN_NONE;
            if (++l->n_spans > DATASET_MAX_OPS)
                return err_set(e, "more than %d operation types: not captures of S3 requests",
                               DATASET_MAX_OPS);
        }
        u->ops_global[u->n_ops_global] = id;
    }
    return true;
}

static bool resolve_places(struct loader *l, struct dataset_unit *u, struct err *e)
{
    struct dataset *d = l->d;

    if (u->n_places_global < u->groups.n && !mem_room(&u->places_global, u->groups.n, e))
        return false;
    for (; u->n_places_global < u->groups.n; u->n_places_global++) {
        struct dataset_unit_group g;
        memcpy(&g, u->groups.strings[u->n_places_global].p, sizeof g);
        struct place place = {intern_add(&l->hosts, u->hosts.strings[g.host]),
                              intern_add(&l->clients, u->clients.strings[g.client])};
        if (place.host == INTERN_NONE || place.client == INTERN_NONE)
            return mem_none(e);
        uint32_t id = intern_add(&l->places, (struct slice){(const char *)&place, sizeof place});
        if (id == INTERN_NONE)
            return mem_none(e);
        if (id == d->n_places) {
            if (!mem_more(&d->places, d->n_places, e))
                return false;
            d->places[d->n_places++] = place;
        }
        u->places_global[u->n_places_global] = id;
    }
    return true;
}

static bool resolve_errors(struct loader *l, struct dataset_unit *u, struct err *e)
{
    if (u->n_errors_global < u->errors.n && !mem_room(&u->errors_global, u->errors.n, e))
        return false;
    for (; u->n_errors_global < u->errors.n; u->n_errors_global++) {
        struct slice s = u->errors.strings[u->n_errors_global];
        if (l->errors.n >= DATASET_MAX_ERRORS && intern_find(&l->errors, s) == INTERN_NONE)
            s = slice_of(DATASET_OTHER_ERRORS);
        uint32_t id = intern_add(&l->errors, s);
        if (id == INTERN_NONE)
            return mem_none(e);
        u->errors_global[u->n_errors_global] = (uint16_t)id;
    }
    return true;
}

/* Adds a thread to the dataset and returns its index. INTERN_NONE: out of memory. */
static uint32_t new_thread(struct dataset *d, uint32_t number, struct err *e)
{
    if (!mem_more(&d->threads, d->n_threads, e))
        return INTERN_NONE;
    d->threads[d->n_threads] = number;
    return (uint32_t)d->n_threads++;
}

static uint32_t thread_index(struct loader *l, uint32_t number, struct err *e)
{
    if (number < DIRECT_THREADS) {
        uint32_t *index = &l->direct_threads[number];
        if (*index == INTERN_NONE)
            *index = new_thread(l->d, number, e);
        return *index;
    }
    size_t n = l->threads.n;
    uint32_t id = intern_add(&l->threads, (struct slice){(const char *)&number, sizeof number});
    if (id == INTERN_NONE || id < n)
        return id == INTERN_NONE ? id : l->far_threads[id];
    if (!mem_more(&l->far_threads, n, e))
        return INTERN_NONE;
    return l->far_threads[id] = new_thread(l->d, number, e);
}

/* Estimates how many rows a table will have in the end. So far it has n_earlier from earlier inputs
 * and n from this one. Scales n by the share of the file that is read; if the file's size is not
 * known, adds a quarter. The estimate is 5 % low on purpose: reserved rows that never come cost
 * memory, and growing costs little. */
static size_t expected_rows(const struct recfile_info *info, size_t n_earlier, size_t n)
{
    if (info->n_done_bytes == 0 || info->n_file_bytes == 0)
        return n_earlier + n + n / 4;
    double share = (double)info->n_done_bytes / (double)info->n_file_bytes;
    return n_earlier + (size_t)fmin(.95 * (double)n / share, UINT32_MAX); /* the most of a table */
}

/* Returns the table of an operation; makes it when its first n rows come. NULL: out of memory. */
static struct table *table_of(struct loader *l, uint32_t op, size_t n, struct err *e)
{
    struct dataset *d = l->d;

    if (l->table_of_op[op] == INTERN_NONE) {
        if (!mem_more(&d->tables, d->n_tables, e) ||
            !table_init(&d->tables[d->n_tables], op, 2 * expected_rows(&l->in->info, 0, n)))
            return NULL;
        l->table_of_op[op] = (uint32_t)d->n_tables++;
    }
    return &d->tables[l->table_of_op[op]];
}

/* Sets row_threads[i] and row_places[i] to the dataset's thread and place of row i of t, which
 * belongs to unit u. */
static bool index_rows(struct loader *l, const struct dataset_unit *u, const struct table *t,
                       struct err *e)
{
    const uint32_t *direct = l->direct_threads;

    if (t->n > l->cap_rows) {
        if (!mem_room(&l->row_threads, 2 * t->n, e))
            return false;
        l->row_places = l->row_threads + t->n;
        l->cap_rows = t->n;
    }
    for (size_t i = 0; i < t->n; i++) {
        uint64_t number = table_thread(t, i) + l->thread_base;
        uint32_t index = number < DIRECT_THREADS ? direct[number] : INTERN_NONE;

        if (index == INTERN_NONE && (index = thread_index(l, (uint32_t)number, e)) == INTERN_NONE)
            return mem_none(e);
        l->row_threads[i] = index;
    }
    for (size_t i = 0; i < t->n; i++)
        l->row_places[i] = u->places_global[table_place(t, i)];
    return true;
}

static bool commit_part(struct loader *l, struct dataset_unit *u, size_t op, struct err *e)
{
    struct dataset_unit_part *part = &u->parts[op];
    struct op_span *span = &l->d->op_spans[u->ops_global[op]];

    if (part->span.n == 0)
        return true;
    span->start_ns = int64_min(span->start_ns, part->span.start_ns);
    span->end_ns = int64_max(span->end_ns, part->span.end_ns);
    span->n += part->span.n;
    if (part->rows.n == 0)
        return true;
    struct table *t = table_of(l, u->ops_global[op], part->rows.n, e);
    if (!t || !index_rows(l, u, &part->rows, e))
        return mem_none(e);
    size_t n = t->n - t->n_earlier + part->rows.n; /* of this input */
    table_expect(t, expected_rows(&l->in->info, t->n_earlier, n));
    l->in->n_rows += part->rows.n;
    if (!slowest_append(&t->slowest, &part->rows.slowest))
        return mem_none(e);
    part->rows.slowest.over_ns = t->slowest.over_ns; /* the unit's next rows must be slower */
    return table_append(t, &part->rows, l->row_threads, l->row_places, u->errors_global, e);
}

/* Counts the unit's rows in section `number` of the input; adds the section if it is new. */
static bool add_to_section(const struct loader *l, uint32_t number, const struct dataset_unit *u,
                           struct err *e)
{
    struct dataset_input *in = l->in;

    if (u->n_rows == 0)
        return true;
    if (in->n_sections == 0 || in->sections[in->n_sections - 1].number != number) {
        if (!mem_more(&in->sections, in->n_sections, e))
            return false;
        in->sections[in->n_sections++] =
            (struct dataset_section){.number = number,
                                     .thread_base = (uint32_t)l->thread_base,
                                     .first_start_ns = INT64_MAX,
                                     .last_end_ns = INT64_MIN};
    }
    struct dataset_section *s = &in->sections[in->n_sections - 1];
    s->n_rows += u->n_rows;
    s->fingerprint += u->fingerprint;
    s->first_start_ns = int64_min(s->first_start_ns, u->first_start_ns);
    s->last_end_ns = int64_max(s->last_end_ns, u->last_end_ns);
    return true;
}

static bool commit_unit(void *ctx, void *unit, uint32_t input, struct err *e)
{
    struct loader *l = ctx;
    struct dataset_unit *u = unit;
    struct dataset_input *in = l->in;

    if (input != l->input) {
        l->input = input;
        l->thread_base = l->thread_top;
    }
    uint64_t top = l->thread_base + (uint64_t)(u->top_thread + 1);
    if (top > (uint64_t)UINT32_MAX + 1)
        return err_set(e, "thread numbers past %u where inputs are put together", UINT32_MAX);
    if (top > l->thread_top)
        l->thread_top = top;
    in->first_start_ns = int64_min(in->first_start_ns, u->first_start_ns);
    in->last_end_ns = int64_max(in->last_end_ns, u->last_end_ns);
    l->d->n_unsized += u->n_unsized;
    if (!add_to_section(l, input, u, e) || !dataset_unit_finish(u, e) || !resolve_ops(l, u, e) ||
        !resolve_places(l, u, e) || !resolve_errors(l, u, e))
        return false;
    for (size_t op = 0; op < u->n_parts; op++)
        if (!commit_part(l, u, op, e))
            return false;
    dataset_unit_clear(u);
    return true;
}

static bool comment(void *ctx, struct slice line, struct err *e)
{
    struct dataset_input *in = ((struct loader *)ctx)->in;

    return keptlines_add(&in->comments, KEPT_COMMENTS, line.p, line.n, e) &&
           recorded_add(&in->recorded, &in->said, line.p, line.n, e);
}

/* ---- A whole dataset ---- */

static bool load_file(struct loader *l, const char *path, const struct recfile_options *options,
                      struct err *e)
{
    struct dataset *d = l->d;
    struct recfile_sink sink = {.ctx = l,
                                .unit_new = take_unit,
                                .unit_rows = add_rows,
                                .unit_commit = commit_unit,
                                .unit_free = give_unit_back,
                                .comment = comment};

    if (!mem_more(&d->inputs, d->n_inputs, e))
        return false;
    l->in = &d->inputs[d->n_inputs++];
    *l->in = (struct dataset_input){.first_start_ns = INT64_MAX,
                                    .last_end_ns = INT64_MIN,
                                    .thread_base = (uint32_t)l->thread_top};
    if (!mem_text(&l->in->path, path, e))
        return false;
    l->thread_base = l->thread_top;
    l->input = 0;
    for (size_t i = 0; i < d->n_tables; i++)
        d->tables[i].n_earlier = d->tables[i].n;
    char *damage = NULL;
    bool ok =
        recfile_read(path, options, &sink, &l->in->info, e) &&
        recorded_damage_line(&damage, &l->in->info, e) &&
        (damage == NULL || recorded_add(&l->in->recorded, &l->in->said, damage, strlen(damage), e));
    free(damage);
    d->n_rows += l->in->n_rows;
    d->has_intended |= l->in->info.has_intended;
    return ok;
}

static bool check_filter(const struct loader *l, struct err *e)
{
    const struct dataset_filter *f = l->filter;
    bool host = !f->host, client = !f->client;

    if (l->ops.n == 0)
        return true; /* no rows: nothing to choose from */
    for (size_t i = 0; i < l->hosts.n && !host; i++)
        host = filter_name_matches(f->host, l->hosts.strings[i].p);
    for (size_t i = 0; i < l->clients.n && !client; i++)
        client = filter_name_matches(f->client, l->clients.strings[i].p);
    if (!host)
        return filter_list_known(filter_interned(&l->hosts), "host", f->host, e);
    if (!client)
        return filter_list_known(filter_interned(&l->clients), "client", f->client, e);
    return filter_ops_known(filter_interned(&l->ops), f->ops, f->n_ops, e);
}

struct exact {
    const struct dataset *d;
    const char *host, *client;
};

static bool is_exact(void *ctx, const struct table *t, size_t i)
{
    const struct exact *x = ctx;
    const struct place *p = dataset_place(x->d, t, table_place(t, i));

    return (!x->host || strcmp(x->d->hosts.v[p->host], x->host) == 0) &&
           (!x->client || strcmp(x->d->clients.v[p->client], x->client) == 0);
}

/* Returns `name` if it is one of names, else NULL. */
static const char *exact_name(const struct names *names, const char *name)
{
    for (size_t i = 0; name && i < names->n; i++)
        if (strcmp(names->v[i], name) == 0)
            return name;
    return NULL;
}

/* If a filter is exactly the name of a host or client, drops the rows of others that match it only
 * as a glob. */
static void retain_exact(struct dataset *d, const struct dataset_filter *f)
{
    struct exact x = {d, exact_name(&d->hosts, f->host), exact_name(&d->clients, f->client)};

    if (!x.host && !x.client)
        return;
    d->n_rows = 0;
    for (size_t i = 0; i < d->n_tables; i++) {
        table_retain(&d->tables[i], is_exact, &x);
        d->n_rows += d->tables[i].n;
    }
}

/* Moves the strings of `from` to `to`. False: out of memory. */
static bool move_names(struct names *to, struct intern *from)
{
    if (!mem_new(&to->v, from->n, NULL))
        return false;
    for (; to->n < from->n; to->n++) {
        struct slice *s = &from->strings[to->n];
        if (!intern_show_nuls(s))
            return false;
        to->v[to->n] = (char *)s->p;
        s->p = NULL;
    }
    return true;
}

static void names_free(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->v[i]);
    free(names->v);
}

static void loader_fini(struct loader *l)
{
    while (l->free_units) {
        struct dataset_unit *u = l->free_units;
        l->free_units = u->next;
        dataset_unit_free(u);
    }
    pthread_mutex_destroy(&l->lock);
    intern_fini(&l->ops);
    intern_fini(&l->hosts);
    intern_fini(&l->clients);
    intern_fini(&l->errors);
    intern_fini(&l->places);
    intern_fini(&l->threads);
    free(l->direct_threads);
    free(l->row_threads);
    free(l->far_threads);
    free(l->table_of_op);
}

bool dataset_load(struct dataset *d, const char *const *paths, size_t n_paths,
                  const struct dataset_filter *filter, const struct recfile_options *options,
                  struct err *e)
{
    struct loader l = {.d = d, .filter = filter};
    bool ok = true;

    memset(d, 0, sizeof *d);
    d->host_filtered = filter->host != NULL || filter->sizes.given;
    d->op_filtered = filter->n_ops > 0;
    pthread_mutex_init(&l.lock, NULL);
    /* Error id 0 means success. */
    if (!mem_new(&l.direct_threads, DIRECT_THREADS, e) ||
        intern_add(&l.errors, (struct slice){"", 0}) == INTERN_NONE)
        ok = mem_none(e);
    else
        memset(l.direct_threads, 0xff, DIRECT_THREADS * sizeof *l.direct_threads);
    for (size_t i = 0; ok && i < n_paths; i++)
        ok = load_file(&l, paths[i], options, e);
    ok = ok && check_filter(&l, e);
    if (ok && !(move_names(&d->ops, &l.ops) && move_names(&d->hosts, &l.hosts) &&
                move_names(&d->clients, &l.clients) && move_names(&d->errors, &l.errors)))
        ok = mem_none(e);
    if (ok)
        retain_exact(d, filter);
    for (size_t i = 0; ok && i < d->n_tables; i++)
        ok = table_own_ids(&d->tables[i], d->n_threads, d->n_places) || mem_none(e);
    for (size_t i = 0; ok && d->ops.n == 1 && i < d->n_inputs; i++)
        recorded_only(&d->inputs[i].recorded, d->ops.v[0]);
    loader_fini(&l);
    malloc_trim(0); /* the units' own names were many small blocks */
    return ok;
}

int64_t dataset_start_resolution_ns(const struct dataset *d)
{
    int64_t ns = 0;

    for (size_t i = 0; i < d->n_inputs; i++)
        ns = int64_max(ns, d->inputs[i].recorded.imports.start_ns);
    return ns;
}

int64_t dataset_duration_resolution_ns(const struct dataset *d)
{
    int64_t ns = 0;

    for (size_t i = 0; i < d->n_inputs; i++)
        ns = int64_max(ns, d->inputs[i].recorded.imports.duration_ns);
    return ns;
}

bool dataset_is_imported(const struct dataset *d)
{
    bool is = false;

    for (size_t i = 0; i < d->n_inputs; i++)
        is |= d->inputs[i].recorded.imports.n > 0;
    return is;
}

void dataset_free(struct dataset *d)
{
    for (size_t i = 0; i < d->n_tables; i++)
        table_fini(&d->tables[i]);
    free(d->tables);
    names_free(&d->ops);
    names_free(&d->hosts);
    names_free(&d->clients);
    names_free(&d->errors);
    free(d->op_spans);
    free(d->places);
    free(d->threads);
    for (size_t i = 0; i < d->n_inputs; i++) {
        json_decref(d->inputs[i].recorded.settings);
        lineset_fini(&d->inputs[i].said);
        free(d->inputs[i].path);
        free(d->inputs[i].sections);
        keptlines_fini(&d->inputs[i].comments);
    }
    free(d->inputs);
    memset(d, 0, sizeof *d);
}

struct table *dataset_table(const struct dataset *d, const char *op)
{
    for (size_t k = 0; k < d->n_tables; k++)
        if (strcmp(d->ops.v[d->tables[k].op], op) == 0)
            return &d->tables[k];
    return NULL;
}

static int64_t ttfb_or_none(const struct table *t, size_t i)
{
    return packed_has(&t->ttfb, i) ? packed_get(&t->ttfb, i) : -1;
}

int dataset_compare(const struct dataset *d, const struct table *a, size_t i, const struct table *b,
                    size_t j)
{
    const struct place *p = dataset_place(d, a, table_place(a, i));
    const struct place *q = dataset_place(d, b, table_place(b, j));
    int c = int64_order(a->start[i], b->start[j]);

    c = c ? c
          : int64_order(d->threads[table_thread_index(a, table_thread(a, i))],
                        d->threads[table_thread_index(b, table_thread(b, j))]);
    c = c ? c : int64_order(table_end(a, i), table_end(b, j));
    c = c ? c : strcmp(d->ops.v[a->op], d->ops.v[b->op]);
    c = c ? c : strcmp(d->hosts.v[p->host], d->hosts.v[q->host]);
    c = c ? c : int64_order(packed_get(&a->bytes, i), packed_get(&b->bytes, j));
    c = c ? c : int64_order(packed_get(&a->objects, i), packed_get(&b->objects, j));
    return c ? c : int64_order(ttfb_or_none(a, i), ttfb_or_none(b, j));
}

/* ---- Spans ---- */

/* Each thread goes on to the next operation on its own, so operations that run one after the other
 * overlap, too. They are mixed from an overlap of one part in so many of the shorter span on. */
#define MIXED_PART 10

static __int128 length_of(const struct op_span *s)
{
    return (__int128)s->end_ns - s->start_ns;
}

static int compare_spans(const void *a, const void *b)
{
    const struct op_span *x = a, *y = b;
    int c = int64_order(x->start_ns, y->start_ns);

    return c ? c : int64_order(x->end_ns, y->end_ns);
}

bool dataset_any_overlap(struct op_span *spans, size_t n)
{
    struct op_span last = {INT64_MIN, INT64_MIN, 0}; /* the one that ends last */
    qsort(spans, n, sizeof *spans, compare_spans);
    for (size_t i = 0; i < n; i++) {
        const struct op_span *s = &spans[i];
        int64_t end_ns = int64_min(last.end_ns, s->end_ns);

        __int128 shorter = length_of(s) < length_of(&last) ? length_of(s) : length_of(&last);

        if (end_ns > s->start_ns && MIXED_PART * ((__int128)end_ns - s->start_ns) >= shorter)
            return true;
        if (s->end_ns > last.end_ns)
            last = *s;
    }
    return false;
}
