/* Chooses the requests that are compared, and computes the load that each met. */
#include "analyze/base/csort.h"
#include "analyze/findings/like.h"
#include "analyze/stats/stats.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_SLICES      COURSE_MAX_BLOCKS
#define LEAST_IN_CELL 10  /* requests of a class in a group, on average; else classes get wider */
#define LEAST_HOT     .01 /* share of the requests of an object that may be slow by itself */

/* Slices of the run: requests that begin in the first part of one are compared. The rest of it
 * shows the load that these met later. */
struct slices {
    int64_t every_ns, begin_ns, length_ns;
};

/* What a request met, and the integrals of its host (struct in_flight) when it began. */
struct met {
    float load[LIKE_N_LOADS];
    double n_ns, work_ns;
};

struct like_requests {
    const struct course *c;
    const struct course_extent *extents; /* of the tables; only while they are read */
    struct slices slices;
    struct course_request *v; /* by start: each that was in flight in a slice */
    size_t n, cap;
    struct met *met;
    struct course_kinds kinds;
    double usual_ns[COURSE_MAX_KINDS]; /* duration of a kind */
    uint64_t hot[LIKE_FEW_GROUPS];     /* hashes of the objects that are read or written most */
    size_t n_hot;
};

/* ---- Which requests ---- */

static struct slices choose_slices(const struct course *c)
{
    int64_t length_ns = int64_add_clamped(c->end_ns - c->start_ns, 1);
    double wanted = LIKE_WANTED + (double)LIKE_PER_PLACE * (double)c->n_places, n = (double)c->n;
    struct slices x = {length_ns, length_ns, length_ns};

    if (n > 2 * wanted) {
        x.every_ns = length_ns / N_SLICES + 1;
        x.begin_ns = (int64_t)((double)x.every_ns * wanted / n) + 1;
        x.length_ns = int64_min(x.begin_ns + x.begin_ns / 2, x.every_ns);
    }
    return x;
}

static int64_t into_slice_ns(const struct like_requests *r, int64_t ns)
{
    return (ns - r->c->start_ns) % r->slices.every_ns;
}

/* Whether something from start_ns to end_ns may be in a slice. Rows are roughly in order of time,
 * so most spans of rows lie between two slices. */
static bool is_in_slice(const struct like_requests *r, int64_t start_ns, int64_t end_ns)
{
    int64_t into_ns = into_slice_ns(r, start_ns);

    return into_ns < r->slices.length_ns || end_ns - start_ns >= r->slices.every_ns - into_ns;
}

static bool is_compared(const struct like_requests *r, const struct course_request *x)
{
    return !x->failed && into_slice_ns(r, x->start_ns) < r->slices.begin_ns;
}

/* Orders requests that began at one time, too, so that the order of rows does not count. */
static int compare_requests(const void *a, const void *b, void *course)
{
    const struct course_request *x = a, *y = b;
    const struct course *c = course;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    const int64_t of[][2] = {{x->end_ns, y->end_ns},
                             {x->op, y->op},
                             {c->hosts.of_place[x->place], c->hosts.of_place[y->place]},
                             {c->clients.of_place[x->place], c->clients.of_place[y->place]},
                             {x->bytes, y->bytes},
                             {x->objects, y->objects},
                             {x->failed, y->failed}};
    int order = 0;

    for (size_t i = 0; order == 0 && i < sizeof of / sizeof *of; i++)
        order = int64_order(of[i][0], of[i][1]);
    return order;
}

static bool read_requests(struct like_requests *r, struct err *e)
{
    const struct course *c = r->c;

    for (size_t k = 0; k < c->n_ops; k++) {
        const struct table *t = c->tables[k];
        size_t each = r->extents[k].rows_per_span;

        for (size_t from = 0; from < t->n; from += each) {
            const struct course_span *rows = &r->extents[k].spans[from / each];

            if (!is_in_slice(r, rows->start_ns, rows->end_ns))
                continue;
            for (size_t i = from; i < from + each && i < t->n; i++) {
                if (!is_in_slice(r, t->start[i], table_end(t, i)))
                    continue;
                if (!mem_fit(&r->v, &r->cap, r->n + 1, e))
                    return false;
                r->v[r->n++] = course_request(c, k, i);
            }
        }
    }
    qsort_r(r->v, r->n, sizeof *r->v, compare_requests, (void *)c);
    return true;
}

/* Makes classes of equal requests, as narrow as the number of requests allows, and finds the usual
 * duration of each: the 10th percentile, which queues hardly touch. */
static bool choose_classes(struct like_requests *r, struct err *e)
{
    const struct course *c = r->c;
    size_t n_groups = c->hosts.n > c->clients.n ? c->hosts.n : c->clients.n;
    size_t most = r->n / n_groups / LEAST_IN_CELL;
    double *ns;

    most = most > 2 * c->n_ops ? most : 2 * c->n_ops;
    r->kinds.width = log(COURSE_EQUAL_SIZES);
    while (!course_number_kinds(&r->kinds, r->v, r->n, most)) {
        r->kinds.width *= 2;
        if (r->kinds.width > log(0x1p63))
            r->n = 0; /* too many operations */
        if (r->kinds.width > M_LN2)
            most = COURSE_MAX_KINDS;
    }
    if (!mem_new(&ns, r->n, e))
        return false;
    for (size_t k = 0; k < r->kinds.n; k++) {
        size_t n = 0;
        for (size_t i = 0; i < r->n; i++)
            if (r->v[i].kind == k)
                ns[n++] = (double)(r->v[i].end_ns - r->v[i].start_ns);
        r->usual_ns[k] = stats_select(ns, n, n / 10);
    }
    free(ns);
    return true;
}

/* ---- The load ---- */

/* Requests in flight at a host or of a client, and their work; and the integrals of both over time,
 * up to at_ns. */
struct in_flight {
    int64_t at_ns;
    double n, work, n_ns, work_ns;
};

/* Something that happens to request i: what it met is known (at its end, or that of the slice), it
 * ends, it begins. A request meets what was in flight before any began at its time. */
struct event {
    int64_t ns;
    uint32_t i;
    enum { IS_KNOWN, ENDS, BEGINS, N_EVENTS } what;
};

static int compare_events(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->what != y->what ? (x->what > y->what) - (x->what < y->what)
                              : (x->i > y->i) - (x->i < y->i);
}

static void move_to(struct in_flight *x, int64_t ns)
{
    x->n_ns += (double)(ns - x->at_ns) * x->n;
    x->work_ns += (double)(ns - x->at_ns) * x->work;
    x->at_ns = ns;
}

/* Fills in what happens to request i. Returns the number of events. */
static size_t events_of(const struct like_requests *r, uint32_t i, struct event v[N_EVENTS])
{
    const struct course_request *x = &r->v[i];
    int64_t end_ns = int64_max(x->end_ns, int64_add_clamped(x->start_ns, 1)),
            left_ns = r->slices.length_ns - into_slice_ns(r, x->start_ns);

    v[0] = (struct event){x->start_ns, i, BEGINS};
    v[1] = (struct event){end_ns, i, ENDS};
    v[2] = (struct event){int64_min(end_ns, int64_add_clamped(x->start_ns, left_ns)), i, IS_KNOWN};
    return is_compared(r, x) ? N_EVENTS : N_EVENTS - 1;
}

static size_t event_slice(const struct event *of, int64_t min_ns, double per_ns)
{
    return (size_t)(((double)of->ns - (double)min_ns) * per_ns);
}

/* Sorts all events by time: first into as many slices of time as there may be, then each slice.
 * They are made twice, as one array of them is large enough. */
static bool sort_events(const struct like_requests *r, struct event **v, size_t *n, struct err *e)
{
    size_t n_slices = N_EVENTS * r->n, *first = NULL;
    int64_t min_ns = r->n > 0 ? r->v[0].start_ns : 0, max_ns = min_ns;
    struct event of[N_EVENTS];

    if (!mem_new(v, n_slices, e) || !mem_cleared(&first, n_slices + 2, e))
        return false;
    for (size_t i = 0; i < r->n; i++)
        max_ns = int64_max(max_ns, r->v[i].end_ns);
    double per_ns = ((double)n_slices - 1) / ((double)max_ns - (double)min_ns + 1);
    for (uint32_t i = 0; i < r->n; i++)
        for (size_t k = events_of(r, i, of); k-- > 0;)
            csort_count(first, event_slice(&of[k], min_ns, per_ns));
    *n = csort_sum(first, n_slices);
    for (uint32_t i = 0; i < r->n; i++)
        for (size_t k = events_of(r, i, of); k-- > 0;)
            (*v)[csort_place(first, event_slice(&of[k], min_ns, per_ns))] = of[k];
    for (size_t k = 0; k < n_slices; k++)
        if (first[k + 1] - first[k] > 1)
            qsort(*v + first[k], first[k + 1] - first[k], sizeof **v, compare_events);
    free(first);
    return true;
}

/* Notes what a request meets when it begins, or what it met on average. */
static void note(struct like_requests *r, const struct event *of, const struct in_flight *host,
                 const struct in_flight *client)
{
    struct met *x = &r->met[of->i];
    double ran_ns = fmax((double)(of->ns - r->v[of->i].start_ns), 1);

    if (of->what == BEGINS) {
        x->load[LIKE_BEGAN] = (float)host->n;
        x->load[LIKE_BEGAN_WORK] = (float)host->work;
        x->load[LIKE_OWN] = (float)client->n;
        x->n_ns = host->n_ns;
        x->work_ns = host->work_ns;
    } else {
        x->load[LIKE_MEAN] = (float)((host->n_ns - x->n_ns) / ran_ns - 1);
        x->load[LIKE_MEAN_WORK] =
            (float)((host->work_ns - x->work_ns) / ran_ns - r->usual_ns[r->v[of->i].kind]);
    }
}

/* Fills in the load of all requests, in one sweep over the events. */
static bool fill_loads(struct like_requests *r, struct err *e)
{
    const struct course *c = r->c;
    struct in_flight *hosts = NULL, *clients = NULL;
    struct event *v = NULL;
    size_t n = 0;
    bool ok = mem_cleared(&hosts, c->hosts.n, e) && mem_cleared(&clients, c->clients.n, e) &&
              mem_cleared(&r->met, r->n, e) && sort_events(r, &v, &n, e);

    for (size_t from = 0, to; ok && from < n; from = to) {
        for (to = from; to < n && v[to].ns == v[from].ns && v[to].what == v[from].what; to++) {
            size_t place = r->v[v[to].i].place;
            struct in_flight *host = &hosts[c->hosts.of_place[place]];

            move_to(host, v[to].ns);
            if (v[to].what != ENDS)
                note(r, &v[to], host, &clients[c->clients.of_place[place]]);
        }
        for (size_t i = from; i < to && v[from].what != IS_KNOWN; i++) {
            const struct course_request *x = &r->v[v[i].i];
            double sign = v[i].what == BEGINS ? 1 : -1;

            hosts[c->hosts.of_place[x->place]].n += sign;
            hosts[c->hosts.of_place[x->place]].work += sign * r->usual_ns[x->kind];
            clients[c->clients.of_place[x->place]].n += sign;
        }
    }
    free(hosts);
    free(clients);
    free(v);
    return ok;
}

/* Makes logs of the loads: work in units of the median work. */
static bool make_logs(struct like_requests *r, struct err *e)
{
    double *v;

    if (!mem_new(&v, r->n, e))
        return false;
    for (size_t i = 0; i < r->n; i++)
        v[i] = r->usual_ns[r->v[i].kind];
    float unit = r->n > 0 ? (float)fmax(stats_select(v, r->n, r->n / 2), 1) : 1;
    free(v);
    for (size_t i = 0; i < r->n; i++) {
        float *load = r->met[i].load;

        load[LIKE_BEGAN_WORK] /= unit;
        load[LIKE_MEAN_WORK] /= unit;
        for (int k = 0; k < LIKE_SIZE; k++)
            load[k] = log1pf(fmaxf(load[k], 0));
        load[LIKE_SIZE] = (float)fmod(log(fmax((double)r->v[i].bytes, 1)), r->kinds.width);
    }
    return true;
}

/* ---- Objects ---- */

/* An object, and the sum of the starts of its requests: it tells apart objects with equally many of
 * them, whatever the order of rows. The hash is another one in each process. */
struct object {
    uint64_t hash, starts;
    size_t n;
};

static int compare_hashes(const void *a, const void *b)
{
    const struct object *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static int compare_objects(const void *a, const void *b)
{
    const struct object *x = a, *y = b;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return (x->starts > y->starts) - (x->starts < y->starts);
}

/* Chooses the objects with many requests. Few objects need to be sorted: those whose hashes end in
 * digits that many requests have. */
static bool choose_objects(struct like_requests *r, struct err *e)
{
    struct object *v;
    size_t n_all = 0, n = 0, n_objects = 0, by_digits[1000] = {0};
    const size_t n_digits = sizeof by_digits / sizeof *by_digits;

    if (!mem_new(&v, r->n, e))
        return false;
    for (size_t i = 0; i < r->n; i++)
        if (is_compared(r, &r->v[i]) && r->v[i].object != 0) {
            v[n_all++] = (struct object){r->v[i].object, (uint64_t)r->v[i].start_ns, 1};
            by_digits[r->v[i].object % n_digits]++;
        }
    for (size_t i = 0; i < n_all; i++)
        if ((double)by_digits[v[i].hash % n_digits] > LEAST_HOT * (double)n_all)
            v[n++] = v[i];
    qsort(v, n, sizeof *v, compare_hashes);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || v[i].hash != v[n_objects - 1].hash) {
            v[n_objects++] = v[i];
            continue;
        }
        v[n_objects - 1].starts += v[i].starts;
        v[n_objects - 1].n++;
    }
    qsort(v, n_objects, sizeof *v, compare_objects);
    for (; r->n_hot < n_objects && r->n_hot < LIKE_FEW_GROUPS - 1; r->n_hot++) {
        if ((double)v[r->n_hot].n <= LEAST_HOT * (double)n_all)
            break;
        r->hot[r->n_hot] = v[r->n_hot].hash;
    }
    free(v);
    return true;
}

/* ---- Rows ---- */

bool like_requests_new(struct course *c, const struct course_extent *extents, struct err *e)
{
    if (!mem_cleared(&c->requests, 1, e))
        return false;
    c->requests->c = c;
    c->requests->extents = extents;
    c->requests->slices = choose_slices(c);
    return true;
}

bool like_read(struct like_requests *r, struct err *e)
{
    return read_requests(r, e) && choose_classes(r, e) && fill_loads(r, e) && make_logs(r, e) &&
           choose_objects(r, e);
}

void like_requests_free(struct like_requests *r)
{
    if (r == NULL)
        return;
    free(r->v);
    free(r->met);
    free(r);
}

static void add_row(struct like *l, const struct like_requests *r, size_t i)
{
    const struct course *c = l->c;
    const struct course_request *x = &r->v[i];
    double took_ns = fmax((double)(x->end_ns - x->start_ns), 1);
    int64_t bytes = int64_max(x->bytes, 1);
    struct like_class *class = &l->classes[x->kind];
    struct like_row *to = &l->v[l->n++];

    *to = (struct like_row){.start_ns = x->start_ns,
                            .n = 1,
                            .y = (float)log(took_ns),
                            .class = x->kind,
                            .host = c->hosts.of_place[x->place],
                            .client = c->clients.of_place[x->place]};
    memcpy(to->load, r->met[i].load, sizeof to->load);
    while (to->object < r->n_hot && r->hot[to->object] != x->object)
        to->object++;
    if (class->max_bytes == 0)
        *class = (struct like_class){x->op, bytes, bytes};
    class->min_bytes = int64_min(bytes, class->min_bytes);
    class->max_bytes = int64_max(bytes, class->max_bytes);
    l->busy_ns += took_ns;
}

bool like_init(struct like *l, const struct search *s, struct err *e)
{
    const struct course *c = s->c;
    const struct like_requests *r = c->requests;

    *l = (struct like){
        .c = c, .n_classes = r->kinds.n, .n_objects = r->n_hot > 0 ? r->n_hot + 1 : 0};
    if (!mem_new(&l->v, r->n, e) || !mem_cleared(&l->classes, l->n_classes, e))
        return false;
    for (size_t i = 0; i < r->n; i++) {
        size_t first = course_bin(c, r->v[i].start_ns), last = course_bin(c, r->v[i].end_ns);

        if (is_compared(r, &r->v[i]) && search_free_frac(s, first, last + 1, UINT8_MAX) == 1)
            add_row(l, r, i);
    }
    return true;
}

/* ---- By seconds ---- */

/* Returns the requests in flight at a group in a block, on average. */
static double in_flight_of(const struct course *c, const struct course_parties *p, size_t k,
                           size_t block)
{
    size_t per_block = (size_t)(c->block_ns / c->bin_ns), from = block * per_block;
    double busy_ns = 0;

    for (size_t j = from; j < from + per_block && j < c->n_bins; j++)
        busy_ns += (double)p->busy_ns[k][j];
    return busy_ns / (double)c->block_ns;
}

/* Adds the requests of an operation and a group in a block, which had one mean duration. */
static void add_second(struct like *l, const struct course_parties *p, size_t k, size_t op,
                       size_t block, const struct course_cell *cell, double in_flight)
{
    double mean = cell->log / cell->n;

    l->v[l->n++] = (struct like_row){.start_ns = course_block_start_ns(l->c, block),
                                     .n = (float)cell->n,
                                     .y = (float)mean,
                                     .load[LIKE_MEAN] = (float)log1p(in_flight),
                                     .class = (uint32_t)op,
                                     .host = p->clients ? 0 : (uint32_t)k,
                                     .client = p->clients ? (uint32_t)k : 0};
    l->busy_ns += exp(mean) * cell->n;
}

bool like_init_seconds(struct like *l, const struct search *s, const struct course_parties *p,
                       struct err *e)
{
    const struct course *c = s->c;

    *l = (struct like){.c = c, .n_classes = c->n_ops};
    if (c->cells == NULL || p->busy_ns == NULL)
        return true;
    if (!mem_new(&l->v, c->n_ops * c->n_blocks * p->n, e) || !mem_cleared(&l->classes, c->n_ops, e))
        return false;
    for (size_t b = 0; b < c->n_blocks; b++) {
        if (search_free_frac_of_block(s, b) < 1)
            continue;
        for (size_t i = 0; i < c->n_places; i++)
            for (size_t k = 0; k < c->n_ops && p->of_place[i] != UINT32_MAX; k++) {
                size_t group = p->of_place[i];
                const struct course_cell *cell = course_cell(c, k, i, b);

                l->classes[k].op = k;
                if (cell->n > 0)
                    add_second(l, p, group, k, b, cell, in_flight_of(c, p, group, b));
            }
    }
    return true;
}

void like_fini(struct like *l)
{
    free(l->v);
    free(l->classes);
    *l = (struct like){0};
}
