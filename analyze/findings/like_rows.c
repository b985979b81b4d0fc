/* Chooses the requests that are compared, and computes the load that each met. */
#include "analyze/base/csort.h"
#include "analyze/findings/like.h"
#include "analyze/stats/stats.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WANTED        (1 << 14) /* requests; 64 more for each pair of a host and a client */
#define MAX_SLICES    128
#define CLASS_WIDTH   log(1.1) /* sizes within 10 % are equal (the specification of findings) */
#define CLASS_SLOTS   (1 << 13)
#define MOST_CLASSES  (CLASS_SLOTS / 2)
#define LEAST_IN_CELL 8 /* requests of a class in a group, on average; else classes get wider */
#define MOST_OBJECTS  16
#define LEAST_HOT     .01       /* share of the requests of an object that may be slow by itself */
#define OBJECT_SAMPLE (1 << 12) /* requests, of which objects with many are chosen */
#define RADIX_BITS    11        /* three passes sort by a time in steps of 2^-33 of a slice */
#define RADIX_SIZE    (1 << RADIX_BITS)
#define NOT_BEGUN     (-1.)

/* A request that was in flight in a slice. */
struct request {
    int64_t start_ns, end_ns;
    int64_t work_ns; /* the usual duration of its class */
    uint64_t object;
    uint32_t slice, op, host, client, class;
    float size, objects; /* logs of the bytes and of the number of objects */
    bool failed, counts;
    float load[LIKE_N_LOADS];
    double begun_n_ns, begun_work_ns; /* the integrals of its host then (struct in_flight) */
};

/* Slices of the run: requests that begin in the first part of one are compared. The rest of it
 * shows the load that these met later. */
struct slices {
    size_t n;
    int64_t start_ns, every_ns, begin_ns, length_ns;
};

struct like_requests {
    const struct course *c;
    const struct course_extent *extents; /* of the tables; only while they are read */
    struct slices slices;
    struct request *v;
    size_t n, cap;
    size_t first[MAX_SLICES + 2]; /* of each slice, in these two: */
    uint32_t *by_start, *by_end, *spare;
    double class_width; /* log of the ratio of sizes within a class */
    size_t n_classes;
};

/* ---- Which requests ---- */

static struct slices choose_slices(const struct course *c)
{
    int64_t length_ns = int64_add_clamped(c->end_ns - c->start_ns, 1);
    double wanted = WANTED + 64. * (double)c->n_places, n = (double)c->n;
    struct slices x = {1, c->start_ns, length_ns, length_ns, length_ns};

    if (n <= 2 * wanted)
        return x;
    x.n = MAX_SLICES;
    x.every_ns = length_ns / MAX_SLICES + 1;
    x.begin_ns = (int64_t)((double)x.every_ns * wanted / n) + 1;
    x.length_ns = int64_min(x.begin_ns + x.begin_ns / 2, x.every_ns);
    return x;
}

static int64_t slice_start_ns(const struct slices *x, size_t slice)
{
    return x->start_ns + (int64_t)slice * x->every_ns;
}

static float log_of(int64_t x)
{
    return logf((float)int64_max(x, 1));
}

/* Appends row i of operation k, which was in flight in the slice. False: out of memory. */
static bool add_request(struct like_requests *r, size_t slice, size_t k, size_t i, struct err *e)
{
    const struct course *c = r->c;
    const struct table *t = c->tables[k];
    int64_t start_ns = t->start[i], end_ns = table_end(t, i);
    int64_t into_ns = start_ns - slice_start_ns(&r->slices, slice);
    size_t place = course_place(t, i);
    uint32_t host = c->hosts.of_place[place], client = c->clients.of_place[place];
    bool begins = into_ns >= 0 && into_ns < r->slices.begin_ns, failed = table_failed(t, i);

    if (host == UINT32_MAX || client == UINT32_MAX)
        return true;
    if (!mem_fit(&r->v, &r->cap, r->n + 1, e))
        return false;
    r->v[r->n++] = (struct request){.start_ns = start_ns,
                                    .end_ns = end_ns,
                                    .slice = (uint32_t)slice,
                                    .object = t->object[i],
                                    .op = (uint32_t)k,
                                    .host = host,
                                    .client = client,
                                    .begun_n_ns = NOT_BEGUN,
                                    .size = log_of(packed_get(&t->bytes, i)),
                                    .objects = log_of(packed_get(&t->objects, i)),
                                    .failed = failed,
                                    .counts = begins && !failed};
    return true;
}

/* Adds row i of operation k to the slices in which it was in flight. False: out of memory. */
static bool add_row(struct like_requests *r, size_t k, size_t i, struct err *e)
{
    const struct table *t = r->c->tables[k];
    const struct slices *x = &r->slices;
    int64_t into_ns = t->start[i] - x->start_ns;
    size_t slice = (size_t)(into_ns / x->every_ns);

    into_ns -= (int64_t)slice * x->every_ns;
    if (into_ns < x->length_ns && !add_request(r, slice, k, i, e))
        return false;
    for (into_ns += packed_get(&t->dur, i) - x->every_ns; into_ns >= 0 && ++slice < x->n;
         into_ns -= x->every_ns)
        if (!add_request(r, slice, k, i, e))
            return false;
    return true;
}

/* Whether a request of some rows may be in a slice. Rows are roughly in order of time, so most
 * spans of rows lie between two slices. */
static bool may_be_in_slice(const struct slices *x, const struct course_span *rows)
{
    int64_t into_ns = (rows->start_ns - x->start_ns) % x->every_ns;

    return into_ns < x->length_ns || rows->end_ns - rows->start_ns >= x->every_ns - into_ns;
}

static bool read_requests(struct like_requests *r, struct err *e)
{
    const struct course *c = r->c;

    for (size_t k = 0; k < c->n_ops; k++) {
        size_t n = c->tables[k]->n, each = r->extents[k].rows_per_span;
        for (size_t from = 0; from < n; from += each) {
            if (!may_be_in_slice(&r->slices, &r->extents[k].spans[from / each]))
                continue;
            for (size_t i = from; i < from + each && i < n; i++)
                if (!add_row(r, k, i, e))
                    return false;
        }
    }
    return true;
}

/* ---- Order of time ---- */

/* Sorts the requests order[0..n-1] of a slice by start or by end. */
static void sort_by_time(const struct like_requests *r, uint32_t *order, size_t n, size_t slice,
                         bool ends)
{
    int64_t from_ns = slice_start_ns(&r->slices, slice);
    double step = 0x1p33 / ((double)r->slices.length_ns + 1);

    for (int shift = 0; shift < 3 * RADIX_BITS; shift += RADIX_BITS) {
        size_t first[RADIX_SIZE + 2] = {0};
        for (int pass = 0; pass < 2; pass++) {
            for (size_t i = 0; i < n; i++) {
                const struct request *x = &r->v[order[i]];
                int64_t into_ns = (ends ? x->end_ns : x->start_ns) - from_ns,
                        ns = int64_max(int64_min(into_ns, r->slices.length_ns), 0);
                size_t key =
                    (size_t)fmin((double)ns * step, 0x1p33 - 1) >> shift & (RADIX_SIZE - 1);

                if (pass == 0)
                    csort_count(first, key);
                else
                    r->spare[csort_place(first, key)] = order[i];
            }
            if (pass == 0)
                csort_sum(first, RADIX_SIZE);
        }
        memcpy(order, r->spare, n * sizeof *order);
    }
}

/* Orders requests that began at one time, so that the order of rows does not count. */
static int compare_ties(const void *a, const void *b, void *requests)
{
    const struct request *x = (const struct request *)requests + *(const uint32_t *)a,
                         *y = (const struct request *)requests + *(const uint32_t *)b;
    const double of[][2] = {{x->op, y->op},     {x->host, y->host},       {x->client, y->client},
                            {x->size, y->size}, {x->objects, y->objects}, {x->failed, y->failed}};
    int order = int64_order(x->end_ns, y->end_ns);

    for (size_t i = 0; order == 0 && i < sizeof of / sizeof *of; i++)
        order = (of[i][0] > of[i][1]) - (of[i][0] < of[i][1]);
    return order;
}

/* Finishes the order by start of the requests v[0..n-1] of a slice. */
static void sort_exactly(struct like_requests *r, uint32_t *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && r->v[v[j]].start_ns < r->v[v[j - 1]].start_ns; j--) {
            uint32_t swap = v[j];
            v[j] = v[j - 1];
            v[j - 1] = swap;
        }
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && r->v[v[to]].start_ns == r->v[v[from]].start_ns;)
            to++;
        if (to - from > 1)
            qsort_r(v + from, to - from, sizeof *v, compare_ties, r->v);
    }
}

static bool sort_requests(struct like_requests *r, struct err *e)
{
    if (!mem_new(&r->by_start, r->n, e) || !mem_new(&r->by_end, r->n, e) ||
        !mem_new(&r->spare, r->n, e))
        return false;
    for (size_t i = 0; i < r->n; i++)
        csort_count(r->first, r->v[i].slice);
    csort_sum(r->first, r->slices.n);
    for (size_t i = 0; i < r->n; i++)
        r->by_start[csort_place(r->first, r->v[i].slice)] = (uint32_t)i;
    for (size_t k = 0; k < r->slices.n; k++) {
        uint32_t *v = r->by_start + r->first[k];
        size_t n = r->first[k + 1] - r->first[k];

        sort_by_time(r, v, n, k, false);
        sort_exactly(r, v, n);
        memcpy(r->by_end + r->first[k], v, n * sizeof *v);
        sort_by_time(r, r->by_end + r->first[k], n, k, true);
    }
    return true;
}

/* ---- Classes of equal requests ---- */

/* A slot of the table of classes; id 0: it is empty. */
struct slot {
    uint64_t code;
    uint32_t id;
};

/* Numbers the classes; false: there are too many. */
static bool number_classes(struct like_requests *r, struct slot *slots)
{
    double per = 1 / r->class_width;

    memset(slots, 0, CLASS_SLOTS * sizeof *slots);
    r->n_classes = 0;
    for (size_t i = 0; i < r->n; i++) {
        struct request *x = &r->v[r->by_start[i]];
        uint64_t code = (((uint64_t)x->op << 12 | (uint64_t)(x->size * per + .5)) << 12 |
                         (uint64_t)(x->objects * per + .5))
                            << 1 |
                        x->failed;
        size_t at = (size_t)(code * UINT64_C(0x9E3779B97F4A7C15) >> 51);

        while (slots[at].id > 0 && slots[at].code != code)
            at = (at + 1) % CLASS_SLOTS;
        if (slots[at].id == 0) {
            if (r->n_classes == MOST_CLASSES)
                return false;
            slots[at] = (struct slot){code, (uint32_t)++r->n_classes};
        }
        x->class = slots[at].id - 1;
    }
    return true;
}

/* Makes classes as narrow as the number of requests allows. */
static bool choose_classes(struct like_requests *r, struct err *e)
{
    const struct course *c = r->c;
    size_t n_groups = c->hosts.n > c->clients.n ? c->hosts.n : c->clients.n;
    struct slot *slots;

    if (!mem_new(&slots, CLASS_SLOTS, e))
        return false;
    for (r->class_width = CLASS_WIDTH;; r->class_width *= 2) {
        bool fits = number_classes(r, slots);
        if (fits && (r->class_width > M_LN2 || r->n_classes <= 2 * c->n_ops ||
                     LEAST_IN_CELL * r->n_classes * n_groups <= r->n))
            break;
    }
    free(slots);
    return true;
}

/* Fills in the usual duration of each class: the 10th percentile, which queues hardly touch. */
static bool fill_work(struct like_requests *r, struct err *e)
{
    size_t *first = NULL;
    double *v = NULL;
    int64_t *usual_ns = NULL;
    bool ok = mem_cleared(&first, r->n_classes + 2, e) && mem_new(&v, r->n, e) &&
              mem_new(&usual_ns, r->n_classes, e);

    for (size_t i = 0; ok && i < r->n; i++)
        csort_count(first, r->v[i].class);
    if (ok)
        csort_sum(first, r->n_classes);
    for (size_t i = 0; ok && i < r->n; i++)
        v[csort_place(first, r->v[i].class)] = (double)(r->v[i].end_ns - r->v[i].start_ns);
    for (size_t k = 0; ok && k < r->n_classes; k++) {
        size_t n = first[k + 1] - first[k];
        usual_ns[k] = (int64_t)stats_select(v + first[k], n, n / 10);
    }
    for (size_t i = 0; ok && i < r->n; i++)
        r->v[i].work_ns = usual_ns[r->v[i].class];
    free(first);
    free(v);
    free(usual_ns);
    return ok;
}

/* ---- The load ---- */

/* Requests in flight at a host or of a client, and their work; and the integrals of both over time,
 * up to at_ns. A request meets what was in flight before any began at its time. */
struct in_flight {
    int64_t at_ns, n, began_ns, n_before;
    double work, n_ns, work_ns, work_before;
};

static void begin(struct in_flight *x, const struct request *r)
{
    if (x->began_ns != r->start_ns) {
        x->began_ns = r->start_ns;
        x->n_before = x->n;
        x->work_before = x->work;
    }
}

static void add(struct in_flight *x, int sign, const struct request *r)
{
    x->n += sign;
    x->work += sign * (double)r->work_ns;
}

static void move_to(struct in_flight *x, int64_t ns)
{
    double took_ns = (double)(ns - x->at_ns);

    x->n_ns += took_ns * (double)x->n;
    x->work_ns += took_ns * x->work;
    x->at_ns = ns;
}

/* Fills in the load of the requests of a slice, in one sweep over its starts and ends. */
static void sweep(struct like_requests *r, size_t slice, struct in_flight *hosts,
                  struct in_flight *clients)
{
    const struct course *c = r->c;
    int64_t from_ns = slice_start_ns(&r->slices, slice);
    int64_t to_ns = int64_add_clamped(from_ns, r->slices.length_ns);
    size_t start = r->first[slice], end = start, last = r->first[slice + 1];

    for (size_t k = 0; k < c->hosts.n; k++)
        hosts[k] = (struct in_flight){.at_ns = from_ns, .began_ns = INT64_MIN};
    for (size_t k = 0; k < c->clients.n; k++)
        clients[k] = (struct in_flight){.began_ns = INT64_MIN};
    while (end < last) {
        const struct request *next = &r->v[r->by_end[end]];
        bool begins = next->begun_n_ns == NOT_BEGUN ||
                      (start < last && r->v[r->by_start[start]].start_ns < next->end_ns);
        struct request *x = &r->v[begins ? r->by_start[start++] : r->by_end[end++]];
        struct in_flight *host = &hosts[x->host], *client = &clients[x->client];
        int64_t ns = begins ? x->start_ns : x->end_ns;

        move_to(host, int64_max(int64_min(ns, to_ns), from_ns));
        if (begins) {
            begin(host, x);
            begin(client, x);
            x->load[LIKE_BEGAN] = (float)host->n_before;
            x->load[LIKE_BEGAN_WORK] = (float)host->work_before;
            x->load[LIKE_OWN] = (float)client->n_before;
            x->begun_n_ns = host->n_ns;
            x->begun_work_ns = host->work_ns;
        } else {
            double ran_ns = (double)(host->at_ns - int64_max(x->start_ns, from_ns));
            x->load[LIKE_MEAN] = (float)((host->n_ns - x->begun_n_ns) / fmax(ran_ns, 1) - 1);
            x->load[LIKE_MEAN_WORK] =
                (float)((host->work_ns - x->begun_work_ns) / fmax(ran_ns, 1) - (double)x->work_ns);
        }
        add(host, begins ? 1 : -1, x);
        add(client, begins ? 1 : -1, x);
    }
}

static bool fill_loads(struct like_requests *r, struct err *e)
{
    const struct course *c = r->c;
    struct in_flight *hosts = NULL, *clients = NULL;
    bool ok = mem_new(&hosts, c->hosts.n, e) && mem_new(&clients, c->clients.n, e);

    for (size_t k = 0; ok && k < r->slices.n; k++)
        sweep(r, k, hosts, clients);
    free(hosts);
    free(clients);
    return ok;
}

/* ---- Rows ---- */

/* Makes logs of the loads: work in units of the median work. */
static bool make_logs(struct like_requests *r, struct err *e)
{
    double *v, unit;

    if (!mem_new(&v, r->n, e))
        return false;
    for (size_t i = 0; i < r->n; i++)
        v[i] = (double)r->v[i].work_ns;
    unit = r->n > 0 ? fmax(stats_select(v, r->n, r->n / 2), 1) : 1;
    free(v);
    for (size_t i = 0; i < r->n; i++) {
        struct request *x = &r->v[i];
        double within = x->size / r->class_width + .5;

        x->load[LIKE_BEGAN_WORK] /= (float)unit;
        x->load[LIKE_MEAN_WORK] /= (float)unit;
        for (int k = 0; k < LIKE_SIZE; k++)
            x->load[k] = log1pf(fmaxf(x->load[k], 0));
        x->load[LIKE_SIZE] = (float)((within - floor(within)) * r->class_width);
    }
    return true;
}

/* A slot of the table of objects. The hash is another one in each process. */
struct object {
    uint64_t hash, starts; /* starts: sum of the starts of its requests, which tells apart objects
                              with equally many of them, whatever the order of rows */
    uint32_t n, id;        /* n: requests; 0: the slot is empty */
};

static int compare_objects(const void *a, const void *b)
{
    const struct object *x = a, *y = b;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return (x->starts > y->starts) - (x->starts < y->starts);
}

static struct object *slot_of(struct object *slots, size_t n_slots, uint64_t hash)
{
    size_t at = hash % n_slots;

    while (slots[at].n > 0 && slots[at].hash != hash)
        at = (at + 1) % n_slots;
    return &slots[at];
}

/* Numbers the objects with many requests; all others together have the last number. */
static bool choose_objects(struct like *l, const struct like_requests *r, const uint32_t *from,
                           struct err *e)
{
    struct object *slots, hot[MOST_OBJECTS + 1];
    uint64_t below = course_sample_below(OBJECT_SAMPLE, l->n);
    size_t n = 0, n_samples = 0, n_slots;

    for (size_t i = 0; i < l->n; i++)
        n_samples += course_is_sampled(l->v[i].start_ns, below);
    n_slots = 2 * n_samples + 1;
    if (!mem_cleared(&slots, n_slots, e))
        return false;
    for (size_t i = 0; i < l->n; i++) {
        if (!course_is_sampled(l->v[i].start_ns, below))
            continue;
        struct object *x = slot_of(slots, n_slots, r->v[from[i]].object);
        x->hash = r->v[from[i]].object;
        x->starts += (uint64_t)l->v[i].start_ns;
        x->n++;
        x->id = UINT32_MAX;
    }
    for (size_t k = 0; k < n_slots; k++)
        if (slots[k].hash != 0 && slots[k].n > LEAST_HOT * (double)n_samples) {
            hot[n++] = slots[k];
            qsort(hot, n, sizeof *hot, compare_objects);
            n = n > MOST_OBJECTS ? MOST_OBJECTS : n;
        }
    for (size_t k = 0; k < n; k++)
        slot_of(slots, n_slots, hot[k].hash)->id = (uint32_t)k;
    for (size_t i = 0; i < l->n && n > 0; i++) {
        const struct object *x = slot_of(slots, n_slots, r->v[from[i]].object);
        l->v[i].object = x->n > 0 && x->id < n ? x->id : (uint32_t)n;
    }
    l->n_objects = n > 0 ? n + 1 : 0;
    free(slots);
    return true;
}

/* Adds a request to its class. */
static void add_to_class(struct like_class *to, const struct request *x)
{
    int64_t bytes = (int64_t)fmin(round(exp(x->size)), 0x1p62);

    if (to->max_bytes == 0)
        *to = (struct like_class){x->op, bytes, bytes};
    to->min_bytes = int64_min(bytes, to->min_bytes);
    to->max_bytes = int64_max(bytes, to->max_bytes);
}

/* Leaves out what a stall or a burst of errors masks. False: out of memory. */
static bool leave_out_masked(struct like_requests *r, const struct search *s, struct err *e)
{
    const struct course *c = s->c;
    uint32_t *n_before; /* by bin: bins before it that carry a mask */

    if (!mem_new(&n_before, c->n_bins + 1, e))
        return false;

    n_before[0] = 0;
    for (size_t j = 0; j < c->n_bins; j++)
        n_before[j + 1] = n_before[j] + (s->masked[j] != 0);
    for (size_t i = 0; i < r->n; i++)
        r->v[i].counts = r->v[i].counts && n_before[course_bin(c, r->v[i].start_ns)] ==
                                               n_before[course_bin(c, r->v[i].end_ns) + 1];
    free(n_before);
    return true;
}

static bool take_rows(struct like *l, const struct like_requests *r, struct err *e)
{
    float per[LIKE_N_LOADS];
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        n += r->v[i].counts;
        for (int k = 0; k < LIKE_N_LOADS && r->v[i].counts; k++)
            l->most[k] = fmaxf(l->most[k], r->v[i].load[k]);
    }
    for (int k = 0; k < LIKE_N_LOADS; k++)
        per[k] = l->most[k] > 0 ? (LIKE_LEVELS - 1) / l->most[k] : 0;
    uint32_t *from;
    l->n_classes = r->n_classes;
    if (!mem_new(&l->v, n, e) || !mem_cleared(&l->classes, r->n_classes, e) ||
        !mem_new(&from, n, e))
        return false;
    for (size_t i = 0; i < r->n; i++) {
        const struct request *x = &r->v[r->by_start[i]];
        if (!x->counts)
            continue;
        struct like_row *to = &l->v[l->n];
        from[l->n++] = r->by_start[i];
        *to = (struct like_row){.start_ns = x->start_ns,
                                .n = 1,
                                .y = log_of(x->end_ns - x->start_ns),
                                .class = x->class,
                                .host = x->host,
                                .client = x->client};
        for (int k = 0; k < LIKE_N_LOADS; k++)
            to->load[k] = (uint8_t)(x->load[k] * per[k]);
        l->busy_ns += (double)(x->end_ns - x->start_ns);
        add_to_class(&l->classes[x->class], x);
    }
    bool ok = choose_objects(l, r, from, e);
    free(from);
    return ok;
}

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
    return read_requests(r, e) && sort_requests(r, e) && choose_classes(r, e) && fill_work(r, e) &&
           fill_loads(r, e) && make_logs(r, e);
}

void like_requests_free(struct like_requests *r)
{
    if (r == NULL)
        return;
    free(r->v);
    free(r->by_start);
    free(r->by_end);
    free(r->spare);
    free(r);
}

bool like_init(struct like *l, const struct search *s, struct err *e)
{
    *l = (struct like){.c = s->c};
    return leave_out_masked(s->c->requests, s, e) && take_rows(l, s->c->requests, e);
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

    l->v[l->n++] = (struct like_row){
        .start_ns = course_block_start_ns(l->c, block),
        .n = (float)cell->n,
        .y = (float)mean,
        .load[LIKE_MEAN] =
            (uint8_t)fmin(log1p(in_flight) * LIKE_LEVELS / LIKE_MOST_IN_FLIGHT, LIKE_LEVELS - 1),
        .class = (uint32_t)op,
        .host = p->clients ? 0 : (uint32_t)k,
        .client = p->clients ? (uint32_t)k : 0};
    l->busy_ns += exp(mean) * cell->n;
}

bool like_init_seconds(struct like *l, const struct search *s, const struct course_parties *p,
                       struct err *e)
{
    const struct course *c = s->c;

    *l = (struct like){.c = c, .n_classes = c->n_ops, .most[LIKE_MEAN] = LIKE_MOST_IN_FLIGHT};
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
