#include "dataset.h"

#include "errnorm.h"
#include "intern.h"
#include "row_csv.h"
#include "table.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPS 1000
/* Threads below this number are looked up in an array, others in a hash table. */
#define DIRECT_THREADS 65536
#define KEPT_COMMENTS  8
#define OTHER_ERRORS   "(other errors)"

/* A row as a unit holds it: its strings are those of the unit. */
struct held_row {
    struct table_row row;
    uint32_t group;
    uint32_t error;
};

/* Operation, host and client as a unit numbers them. */
struct group {
    uint32_t op, host, client;
};

/* What a unit's group is in the dataset. */
struct group_target {
    bool known, in_span, keep; /* in_span: passes the host and client filters; keep: all of them */
    uint32_t op, table, place;
};

/* Rows of a part of the file, between parsing and commit. Its dictionaries outlive the rows: units
 * are used again. */
struct unit {
    struct unit *next;
    struct held_row *rows;
    size_t n, cap;
    struct intern ops, hosts, clients, errors, groups;
    struct group last; /* of the last row: most rows share its strings */
    struct group_target *targets;
    uint16_t *error_ids;
    size_t n_targets, n_error_ids;
};

struct loader {
    struct dataset *d;
    const struct dataset_filter *filter;
    struct intern ops, hosts, clients, errors, places;
    struct intern threads; /* numbers from DIRECT_THREADS up */
    uint32_t *direct_threads;
    uint32_t *far_threads; /* index of each in `threads` */
    uint32_t *table_of_op;
    uint64_t thread_base, thread_top; /* offset of this input; 1 + the highest thread so far */
    uint32_t input;
    struct dataset_input *in;
    pthread_mutex_t lock; /* of `free_units` */
    struct unit *free_units;
};

static bool no_memory(struct err *e) { return err_set(e, "out of memory"); }

/* Makes room for one more in an array of n. */
static bool more(void *array, size_t n, size_t size)
{
    void **p = array;

    if (n & (n - 1)) /* room grows at powers of two */
        return true;
    void *grown = realloc(*p, (n ? 2 * n : 1) * size);
    if (grown)
        *p = grown;
    return grown != NULL;
}

/* -- units: any thread -------------------------------------------------------------------------- */

static void *unit_new(void *ctx, struct err *e)
{
    struct loader *l = ctx;

    pthread_mutex_lock(&l->lock);
    struct unit *u = l->free_units;
    if (u)
        l->free_units = u->next;
    pthread_mutex_unlock(&l->lock);
    if (!u) {
        u = calloc(1, sizeof *u);
        if (!u)
            no_memory(e);
    }
    return u;
}

static void unit_free(void *ctx, void *unit)
{
    struct loader *l = ctx;
    struct unit *u = unit;

    u->n = 0;
    pthread_mutex_lock(&l->lock);
    u->next = l->free_units;
    l->free_units = u;
    pthread_mutex_unlock(&l->lock);
}

static void unit_destroy(struct unit *u)
{
    free(u->rows);
    intern_fini(&u->ops);
    intern_fini(&u->hosts);
    intern_fini(&u->clients);
    intern_fini(&u->errors);
    intern_fini(&u->groups);
    free(u->targets);
    free(u->error_ids);
    free(u);
}

/* Id of s; `last` is tried first. */
static inline uint32_t id_of(struct intern *t, struct slice s, uint32_t last)
{
    if (last < t->n && t->strings[last].n == s.n && memcmp(t->strings[last].p, s.p, s.n) == 0)
        return last;
    return intern_add(t, s);
}

static uint32_t error_of(struct unit *u, const struct record *r)
{
    char text[ERRNORM_MAX_BYTES];
    size_t n = errnorm_message(r->error, r->file, text);

    if (u->errors.n >= DATASET_MAX_ERRORS)
        return intern_add(&u->errors, (struct slice){OTHER_ERRORS, strlen(OTHER_ERRORS)});
    return intern_add(&u->errors, (struct slice){text, n});
}

/* 0 means "no key", so a key whose hash is 0 gets another one. */
static inline uint64_t object_of(struct slice file)
{
    uint64_t hash = file.n ? intern_hash(file.p, file.n) : 0;

    return hash || !file.n ? hash : 1;
}

static bool unit_rows(void *ctx, void *unit, const struct record *rows, size_t n, struct err *e)
{
    struct unit *u = unit;
    struct group g = u->last;

    (void)ctx;
    if (u->n + n > u->cap) {
        size_t cap = u->cap ? u->cap * 2 : 4096;
        struct held_row *grown = realloc(u->rows, cap * sizeof *grown);
        if (!grown)
            return no_memory(e);
        u->rows = grown;
        u->cap = cap;
    }
    for (const struct record *r = rows; r < rows + n; r++) {
        struct held_row *h = &u->rows[u->n++];
        g.op = id_of(&u->ops, r->op, g.op);
        g.host = id_of(&u->hosts, r->endpoint, g.host);
        g.client = id_of(&u->clients, r->client, g.client);
        h->group = intern_add(&u->groups, (struct slice){(const char *)&g, sizeof g});
        h->error = r->error.n ? error_of(u, r) : INTERN_NONE;
        if (g.op == INTERN_NONE || g.host == INTERN_NONE || g.client == INTERN_NONE ||
            h->group == INTERN_NONE || (r->error.n && h->error == INTERN_NONE))
            return no_memory(e);
        h->row = (struct table_row){
            .start = r->start_ns,
            .dur = r->end_ns - r->start_ns,
            .bytes = r->bytes,
            .ttfb = record_ttfb_ns(r),
            .objects = r->n_objects,
            .late = r->intended_ns == RECORD_NO_TIME ? RECORD_NO_TIME
                                                     : r->start_ns - r->intended_ns,
            .object = object_of(r->file),
            .thread = r->thread,
        };
    }
    u->last = g;
    return true;
}

/* -- filters ------------------------------------------------------------------------------------- */

/* Whether a host or client is meant: its name, a glob of it, or (hosts) either without the scheme. */
static bool matches(const char *pattern, const char *name)
{
    const char *bare = strstr(name, "://");

    if (!pattern || strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0)
        return true;
    return bare && !strstr(pattern, "://") &&
           (strcmp(pattern, bare + 3) == 0 || fnmatch(pattern, bare + 3, 0) == 0);
}

static bool op_chosen(const struct dataset_filter *f, const char *op)
{
    for (size_t i = 0; i < f->n_ops; i++)
        if (strcmp(f->ops[i], op) == 0)
            return true;
    return f->n_ops == 0;
}

/* -- commit: one thread at a time ----------------------------------------------------------------- */

static bool table_for(struct loader *l, uint32_t op, uint32_t *table, struct err *e)
{
    struct dataset *d = l->d;

    if (l->table_of_op[op] == INTERN_NONE) {
        if (!more(&d->tables, d->n_tables, sizeof *d->tables))
            return no_memory(e);
        d->tables[d->n_tables] = (struct table){.op = op};
        l->table_of_op[op] = (uint32_t)d->n_tables++;
    }
    *table = l->table_of_op[op];
    return true;
}

/* The global id of a unit's string. */
static uint32_t global(struct intern *to, const struct intern *from, uint32_t id)
{
    return intern_add(to, from->strings[id]);
}

static bool resolve_group(struct loader *l, struct unit *u, uint32_t group, struct err *e)
{
    struct dataset *d = l->d;
    struct group g;
    struct group_target *t = &u->targets[group];
    size_t n_ops = l->ops.n, n_places = l->places.n;

    memcpy(&g, u->groups.strings[group].p, sizeof g);
    struct place place = {global(&l->hosts, &u->hosts, g.host),
                          global(&l->clients, &u->clients, g.client)};
    t->op = global(&l->ops, &u->ops, g.op);
    t->place = intern_add(&l->places, (struct slice){(const char *)&place, sizeof place});
    if (place.host == INTERN_NONE || place.client == INTERN_NONE || t->op == INTERN_NONE ||
        t->place == INTERN_NONE)
        return no_memory(e);
    if (l->ops.n > n_ops) {
        if (n_ops == MAX_OPS)
            return err_set(e, "more than %d operation types: not a capture of S3 requests", MAX_OPS);
        if (!more(&d->op_spans, n_ops, sizeof *d->op_spans) ||
            !more(&l->table_of_op, n_ops, sizeof *l->table_of_op))
            return no_memory(e);
        d->op_spans[n_ops] = (struct op_span){INT64_MAX, INT64_MIN, 0};
        l->table_of_op[n_ops] = INTERN_NONE;
    }
    if (l->places.n > n_places) {
        if (!more(&d->places, n_places, sizeof *d->places))
            return no_memory(e);
        d->places[d->n_places++] = place;
    }
    t->in_span = matches(l->filter->host, l->hosts.strings[place.host].p) &&
                 matches(l->filter->client, l->clients.strings[place.client].p);
    t->keep = t->in_span && op_chosen(l->filter, l->ops.strings[t->op].p);
    t->known = true;
    return !t->keep || table_for(l, t->op, &t->table, e);
}

/* Makes targets and error ids for what is new in the unit's dictionaries. */
static bool resolve(struct loader *l, struct unit *u, struct err *e)
{
    if (u->groups.n > u->n_targets) {
        struct group_target *grown = realloc(u->targets, u->groups.cap * sizeof *grown);
        if (!grown)
            return no_memory(e);
        u->targets = grown;
        for (; u->n_targets < u->groups.n; u->n_targets++) {
            u->targets[u->n_targets].known = false;
            if (!resolve_group(l, u, (uint32_t)u->n_targets, e))
                return false;
        }
    }
    if (u->errors.n > u->n_error_ids) {
        uint16_t *grown = realloc(u->error_ids, u->errors.cap * sizeof *grown);
        if (!grown)
            return no_memory(e);
        u->error_ids = grown;
        for (; u->n_error_ids < u->errors.n; u->n_error_ids++) {
            uint32_t id;
            if (l->errors.n < DATASET_MAX_ERRORS)
                id = global(&l->errors, &u->errors, (uint32_t)u->n_error_ids);
            else if ((id = intern_find(&l->errors, u->errors.strings[u->n_error_ids])) ==
                     INTERN_NONE)
                id = intern_add(&l->errors, (struct slice){OTHER_ERRORS, strlen(OTHER_ERRORS)});
            if (id == INTERN_NONE)
                return no_memory(e);
            u->error_ids[u->n_error_ids] = (uint16_t)id;
        }
    }
    return true;
}

/* A new thread of the dataset. INTERN_NONE: out of memory. */
static uint32_t new_thread(struct dataset *d, uint32_t number)
{
    if (!more(&d->threads, d->n_threads, sizeof *d->threads))
        return INTERN_NONE;
    d->threads[d->n_threads] = number;
    return (uint32_t)d->n_threads++;
}

static uint32_t thread_index(struct loader *l, uint32_t number)
{
    if (number < DIRECT_THREADS) {
        uint32_t *index = &l->direct_threads[number];
        if (*index == INTERN_NONE)
            *index = new_thread(l->d, number);
        return *index;
    }
    size_t n = l->threads.n;
    uint32_t id = intern_add(&l->threads, (struct slice){(const char *)&number, sizeof number});
    if (id == INTERN_NONE || id < n)
        return id == INTERN_NONE ? id : l->far_threads[id];
    if (!more(&l->far_threads, n, sizeof *l->far_threads))
        return INTERN_NONE;
    return l->far_threads[id] = new_thread(l->d, number);
}

static bool unit_commit(void *ctx, void *unit, uint32_t input, struct err *e)
{
    struct loader *l = ctx;
    struct dataset *d = l->d;
    struct unit *u = unit;

    if (input != l->input) {
        l->input = input;
        l->thread_base = l->thread_top;
    }
    if (!resolve(l, u, e))
        return false;
    int64_t first = l->in->first_start_ns, last = l->in->last_end_ns;
    for (size_t i = 0; i < u->n; i++) {
        struct held_row *h = &u->rows[i];
        const struct group_target *t = &u->targets[h->group];
        int64_t start = h->row.start, end = start + h->row.dur;
        uint64_t number = h->row.thread + l->thread_base;
        if (number >= l->thread_top)
            l->thread_top = number + 1;
        first = start < first ? start : first;
        last = end > last ? end : last;
        if (!t->in_span)
            continue;
        struct op_span *span = &d->op_spans[t->op];
        span->start_ns = start < span->start_ns ? start : span->start_ns;
        span->end_ns = end > span->end_ns ? end : span->end_ns;
        span->n++;
        if (!t->keep)
            continue;
        if (number > UINT32_MAX)
            return err_set(e, "thread numbers past 4294967295 when inputs are put together");
        h->row.thread = thread_index(l, (uint32_t)number);
        h->row.place = t->place;
        h->row.error = h->error == INTERN_NONE ? 0 : u->error_ids[h->error];
        if (h->row.thread == INTERN_NONE || !table_add(&d->tables[t->table], &h->row))
            return no_memory(e);
        l->in->n_rows++;
    }
    l->in->first_start_ns = first;
    l->in->last_end_ns = last;
    u->n = 0;
    return true;
}

/* Keeps the first and the last few comments. */
static bool comment(void *ctx, struct slice line, struct err *e)
{
    struct dataset_input *in = ((struct loader *)ctx)->in;
    char *copy = strndup(line.p, line.n);

    if (copy && in->n_comments == 2 * KEPT_COMMENTS) {
        free(in->comments[KEPT_COMMENTS]);
        memmove(&in->comments[KEPT_COMMENTS], &in->comments[KEPT_COMMENTS + 1],
                (KEPT_COMMENTS - 1) * sizeof *in->comments);
        in->n_comments--;
    }
    if (!copy || !more(&in->comments, in->n_comments, sizeof *in->comments)) {
        free(copy);
        return no_memory(e);
    }
    in->comments[in->n_comments++] = copy;
    return true;
}

/* -- a whole dataset ------------------------------------------------------------------------------ */

static bool load_file(struct loader *l, const char *path, const struct recfile_options *options,
                      struct err *e)
{
    struct dataset *d = l->d;
    struct recfile_options o = *options;
    struct recfile_sink sink = {.ctx = l,
                                .unit_new = unit_new,
                                .unit_rows = unit_rows,
                                .unit_commit = unit_commit,
                                .unit_free = unit_free,
                                .comment = comment};

    o.slow_row = row_csv_parse;
    o.slow_new = row_csv_new;
    o.slow_free = row_csv_free;
    if (!more(&d->inputs, d->n_inputs, sizeof *d->inputs))
        return no_memory(e);
    l->in = &d->inputs[d->n_inputs++];
    *l->in = (struct dataset_input){.path = strdup(path),
                                    .first_start_ns = INT64_MAX,
                                    .last_end_ns = INT64_MIN,
                                    .thread_base = (uint32_t)l->thread_top};
    if (!l->in->path)
        return no_memory(e);
    l->thread_base = l->thread_top;
    l->input = 0;
    bool ok = recfile_read(path, &o, &sink, &l->in->info, e);
    d->n_rows += l->in->n_rows;
    d->has_intended |= l->in->info.has_intended;
    return ok;
}

/* Says which hosts, clients or operations there are, when none is the wanted one. */
static bool list_known(const struct intern *known, const char *kind, const char *wanted,
                       struct err *e)
{
    char list[512];
    size_t n = 0;

    list[0] = '\0';
    for (size_t i = 0; i < known->n && n < sizeof list; i++) {
        const char *name = known->strings[i].n ? known->strings[i].p : "(empty)";
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", name);
    }
    return err_set(e, "no %s \"%s\" in the capture; it has: %s%s", kind, wanted, list,
                   n >= sizeof list ? "..." : "");
}

static bool check_filter(const struct loader *l, struct err *e)
{
    const struct dataset_filter *f = l->filter;
    bool host = !f->host, client = !f->client;

    if (l->ops.n == 0)
        return true; /* no rows: nothing to choose from */
    for (size_t i = 0; i < l->hosts.n && !host; i++)
        host = matches(f->host, l->hosts.strings[i].p);
    for (size_t i = 0; i < l->clients.n && !client; i++)
        client = matches(f->client, l->clients.strings[i].p);
    if (!host)
        return list_known(&l->hosts, "host", f->host, e);
    if (!client)
        return list_known(&l->clients, "client", f->client, e);
    for (size_t i = 0; i < f->n_ops; i++)
        if (intern_find(&l->ops, (struct slice){f->ops[i], strlen(f->ops[i])}) == INTERN_NONE)
            return list_known(&l->ops, "operation", f->ops[i], e);
    return true;
}

struct exact {
    const struct dataset *d;
    const char *host, *client;
};

static bool is_exact(void *ctx, const struct table *t, size_t i)
{
    const struct exact *x = ctx;
    const struct place *p = &x->d->places[t->place[i]];

    return (!x->host || strcmp(x->d->hosts.v[p->host], x->host) == 0) &&
           (!x->client || strcmp(x->d->clients.v[p->client], x->client) == 0);
}

/* `name` if it is one of names, else NULL. */
static const char *exact_name(const struct names *names, const char *name)
{
    for (size_t i = 0; name && i < names->n; i++)
        if (strcmp(names->v[i], name) == 0)
            return name;
    return NULL;
}

/* A filter that is the very name of a host or client does not mean others that match it as a glob. */
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

/* Gives the strings of `from` to `to`. */
static bool move_names(struct names *to, struct intern *from)
{
    to->v = malloc((from->n + 1) * sizeof *to->v);
    if (!to->v)
        return false;
    for (size_t i = 0; i < from->n; i++) {
        to->v[i] = (char *)from->strings[i].p;
        from->strings[i].p = NULL;
    }
    to->n = from->n;
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
        struct unit *u = l->free_units;
        l->free_units = u->next;
        unit_destroy(u);
    }
    pthread_mutex_destroy(&l->lock);
    intern_fini(&l->ops);
    intern_fini(&l->hosts);
    intern_fini(&l->clients);
    intern_fini(&l->errors);
    intern_fini(&l->places);
    intern_fini(&l->threads);
    free(l->direct_threads);
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
    d->host_filtered = filter->host != NULL;
    d->client_filtered = filter->client != NULL;
    d->op_filtered = filter->n_ops > 0;
    pthread_mutex_init(&l.lock, NULL);
    l.direct_threads = malloc(DIRECT_THREADS * sizeof *l.direct_threads);
    /* Id 0 of the errors is success. */
    if (!l.direct_threads || intern_add(&l.errors, (struct slice){"", 0}) == INTERN_NONE)
        ok = no_memory(e);
    else
        memset(l.direct_threads, 0xff, DIRECT_THREADS * sizeof *l.direct_threads);
    for (size_t i = 0; ok && i < n_paths; i++)
        ok = load_file(&l, paths[i], options, e);
    ok = ok && check_filter(&l, e);
    if (ok && !(move_names(&d->ops, &l.ops) && move_names(&d->hosts, &l.hosts) &&
                move_names(&d->clients, &l.clients) && move_names(&d->errors, &l.errors)))
        ok = no_memory(e);
    if (ok)
        retain_exact(d, filter);
    loader_fini(&l);
    return ok;
}

void dataset_free(struct dataset *d)
{
    for (size_t i = 0; i < d->n_tables; i++)
        table_free(&d->tables[i]);
    free(d->tables);
    names_free(&d->ops);
    names_free(&d->hosts);
    names_free(&d->clients);
    names_free(&d->errors);
    free(d->op_spans);
    free(d->places);
    free(d->threads);
    for (size_t i = 0; i < d->n_inputs; i++) {
        free(d->inputs[i].path);
        for (size_t k = 0; k < d->inputs[i].n_comments; k++)
            free(d->inputs[i].comments[k]);
        free(d->inputs[i].comments);
    }
    free(d->inputs);
    memset(d, 0, sizeof *d);
}

static int order(int64_t a, int64_t b) { return (a > b) - (a < b); }

int dataset_compare(const struct dataset *d, const struct table *a, size_t i,
                    const struct table *b, size_t j)
{
    const struct place *p = &d->places[a->place[i]], *q = &d->places[b->place[j]];
    int c = order(a->start[i], b->start[j]);

    c = c ? c : order(d->threads[a->thread[i]], d->threads[b->thread[j]]);
    c = c ? c : order(table_end(a, i), table_end(b, j));
    c = c ? c : strcmp(d->ops.v[a->op], d->ops.v[b->op]);
    c = c ? c : strcmp(d->hosts.v[p->host], d->hosts.v[q->host]);
    if (c == 0 && a->object[i] != b->object[j])
        c = a->object[i] < b->object[j] ? -1 : 1;
    return c ? c : order(packed_get(&a->bytes, i), packed_get(&b->bytes, j));
}
