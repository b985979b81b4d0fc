#include "analyze/findings/course.h"

#include "analyze/base/tasks.h"
#include "analyze/findings/like.h"
#include "analyze/stats/stats.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_BIN_NS       (2 * NS_PER_MS)
#define WANTED_SAMPLES     (1 << 16)
#define TAIL_RANK          100
#define TAIL_TOP           10
#define MAX_HUNG           10000
#define WIDE_BITS          32
#define LEAST_WIDE         100
#define COUNTS_PER_REQUEST 2 /* counters in course.ended, at most */

struct pass {
    struct course *c;
    struct course_visits *places, *threads;
    int64_t *of_message;            /* number of errors, by index into dataset.errors */
    uint64_t sample_below;          /* see course_is_sampled */
    struct course_request *samples; /* successes, table by table */
    size_t n_samples, samples_cap;
    double per_bin;
    uint64_t per_wide; /* wide bins per bin, with WIDE_BITS fraction bits, rounded up */
};

/* ---- Extent, messages ---- */

static void visits_add(struct course_visits *to, const struct course_visits *v)
{
    to->first_ns = int64_min(v->first_ns, to->first_ns);
    to->last_ns = int64_max(v->last_ns, to->last_ns);
    to->n += v->n;
}

static void visits_clear(struct course_visits *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] = (struct course_visits){INT64_MAX, INT64_MIN, 0};
}

/* Adds the extent of a table to the course. */
static void add_extent(struct pass *p, const struct table *t, const struct course_extent *x)
{
    struct course *c = p->c;
    size_t n_places = dataset_n_places(c->d, t);

    c->n += (int64_t)t->n;
    c->full_until_ns = int64_max(x->last_start_ns, c->full_until_ns);
    for (size_t id = 0; id < n_places; id++) {
        const struct course_visits *v = &x->visits[id];
        if (v->n == 0)
            continue;
        visits_add(&p->places[t->own_places.index != NULL ? t->own_places.index[id] : id], v);
        c->start_ns = int64_min(v->first_ns, c->start_ns);
        c->end_ns = int64_max(v->last_ns, c->end_ns);
    }
    for (size_t id = 0, n = dataset_n_threads(c->d, t); id < n; id++)
        visits_add(&p->threads[table_thread_index(t, id)], &x->visits[n_places + id]);
}

/* Returns start_ns + ns, but at most end_ns: a double rounds a span of centuries. */
static int64_t time_after(const struct course *c, double ns)
{
    int64_t length_ns = c->end_ns - c->start_ns;

    return ns < (double)length_ns ? c->start_ns + (int64_t)ns : c->end_ns;
}

/* Finds the time in which nine in ten threads were at work. Throughput changes while clients are
 * started one by one, and while threads end because each has made its number of requests; the
 * system does not change then. A thread that made far fewer requests than others may hang: it
 * counts as at work to the end. In an open loop threads are a pool, which are at work as needed. */
static bool find_full_time(struct course *c, const struct course_visits *threads, struct err *e)
{
    double *v;
    size_t n = 0, n_ended = 0, may_miss;

    if (!mem_new(&v, c->d->n_threads, e))
        return false;
    for (size_t i = 0; i < c->d->n_threads; i++)
        if (threads[i].n > 0)
            v[n++] = (double)threads[i].n;
    may_miss = n / 10;
    /* A thread with fewer may hang. */
    double least = n > 0 ? COURSE_NEARLY_ALL * stats_select(v, n, n / 2) : 0;
    n = 0;
    for (size_t i = 0; i < c->d->n_threads; i++)
        if (threads[i].n > 0)
            v[n++] = (double)(threads[i].first_ns - c->start_ns);
    if (n > 0)
        c->full_from_ns = time_after(c, stats_select(v, n, n - 1 - may_miss));
    for (size_t i = 0; i < c->d->n_threads; i++)
        if (threads[i].n > 0 && (double)threads[i].n >= least)
            v[n_ended++] = (double)(threads[i].last_ns - c->start_ns);
    if (n_ended > may_miss)
        c->full_until_ns =
            int64_min(c->full_until_ns, time_after(c, stats_select(v, n_ended, may_miss)));
    free(v);
    return true;
}

static bool look_at_extents(struct pass *p, const struct course_extent *extents, struct err *e)
{
    struct course *c = p->c;

    if (!mem_new(&p->threads, c->d->n_threads, e))
        return false;
    visits_clear(p->threads, c->d->n_threads);
    for (size_t k = 0; k < c->n_ops; k++) {
        const struct table *t = c->tables[k];

        add_extent(p, t, &extents[k]);
        for (size_t i = 0; t->error != NULL && i < t->n; i++)
            p->of_message[t->error[i]]++;
        c->open_loop = c->open_loop || !packed_has_none(&t->late);
    }
    for (size_t id = 1; id < c->d->errors.n; id++)
        c->n_failed += p->of_message[id];
    c->last_start_ns = c->full_until_ns;
    for (size_t i = 0; i < c->d->n_threads; i++)
        c->n_threads += p->threads[i].n > 0;
    return c->open_loop || find_full_time(c, p->threads, e);
}

static bool choose_messages(const struct pass *p, struct err *e)
{
    struct course *c = p->c;
    if (!mem_cleared(&c->messages, c->d->errors.n, e))
        return false;
    for (size_t id = 1; id < c->d->errors.n; id++)
        if (p->of_message[id] > 0)
            c->messages[c->n_messages++] = (struct course_message){
                .text = c->d->errors.v[id], .id = id, .n = p->of_message[id]};
    if (!course_choose_messages(c, e))
        return false;
    /* look_at_rows counts them again: the rarest are now merged into one. */
    for (size_t k = 0; k < c->n_messages; k++) {
        c->messages[k].n = 0;
        c->messages[k].first_ns = INT64_MAX;
        c->messages[k].last_ns = INT64_MIN;
    }
    return true;
}

/* ---- First pass: counts and sampled durations ---- */

static void add_error(struct course *c, size_t table, size_t place, uint16_t id, size_t bin,
                      int64_t start_ns, int64_t end_ns)
{
    size_t k = 0;
    while (k + 1 < c->n_messages && c->messages[k].id != id)
        k++;
    struct course_message *m = &c->messages[k];
    m->n++;
    m->took_ns += (__int128)end_ns - start_ns;
    m->by_bin[bin]++;
    m->by_host[c->hosts.of_place[place]]++;
    m->by_client[c->clients.of_place[place]]++;
    m->by_op[table]++;
    m->first_ns = int64_min(end_ns, m->first_ns);
    m->last_ns = int64_max(end_ns, m->last_ns);
}

struct course_request course_request(const struct course *c, size_t k, size_t i)
{
    const struct table *t = c->tables[k];

    return (struct course_request){.start_ns = t->start[i],
                                   .due_ns = course_due_ns(t, i),
                                   .end_ns = table_end(t, i),
                                   .bytes = packed_get(&t->bytes, i),
                                   .objects = packed_get(&t->objects, i),
                                   .object = t->object[i],
                                   .op = (uint32_t)k,
                                   .place = (uint32_t)course_place(t, i),
                                   .failed = table_failed(t, i)};
}

static inline size_t bin_of(const struct course *c, double per_bin, int64_t end_ns)
{
    size_t bin = (size_t)(int64_t)((double)(end_ns - c->start_ns) * per_bin);

    return bin < c->n_bins ? bin : c->n_bins - 1; /* rounded up at the end of a long run */
}

/* Returns the counters of course.ended for requests that end in the bin. */
static inline uint32_t *ended_in(const struct course *c, uint64_t per_wide, size_t bin)
{
    return course_ended(c, (size_t)(bin * per_wide >> WIDE_BITS));
}

static void look_at_lateness(struct course *c, const struct table *t)
{
    if (packed_has_none(&t->late))
        return;
    for (size_t i = 0; i < t->n; i++)
        if (packed_has(&t->late, i)) {
            int64_t late_ns = packed_get(&t->late, i);
            size_t block = course_block(c, t->start[i]);

            c->late_n[block]++;
            c->late_ns[block] += (double)late_ns;
            c->load.due[course_block(c, course_due_ns(t, i))]++;
        }
}

/* Counts the requests and errors of table k, and samples it. False: out of memory. */
static bool look_at_rows(struct pass *p, size_t k, struct err *e)
{
    struct course *c = p->c;
    /* Local copies, so that the compiler sees that writing a counter does not change them. */
    const struct table rows = *c->tables[k], *t = &rows;
    const struct course grid = *c;
    double per_bin = p->per_bin;
    uint64_t sample_below = p->sample_below, per_wide = p->per_wide;

    for (size_t i = 0; i < t->n; i++) {
        int64_t start_ns = t->start[i], end_ns = table_end(t, i);
        size_t bin = bin_of(&grid, per_bin, end_ns);

        if (grid.ended != NULL) {
            uint32_t *ended = ended_in(&grid, per_wide, bin);
            ended[course_place(t, i)]++;
            ended[grid.n_places + k]++;
        }
        if (table_failed(t, i)) {
            grid.failed[bin]++;
            add_error(c, k, course_place(t, i), table_error(t, i), bin, start_ns, end_ns);
            course_load_add(c, start_ns, end_ns, 1);
            continue;
        }
        grid.ok[bin]++;
        if (!course_is_sampled(start_ns, sample_below))
            continue;
        if (!mem_fit(&p->samples, &p->samples_cap, p->n_samples + 1, e))
            return false;
        p->samples[p->n_samples++] = course_request(c, k, i);
    }
    look_at_lateness(c, t);
    return true;
}

/* Fits a Pareto distribution through two ranks near the top of ns[0..n-1], which it reorders. The
 * few longest samples do not count: the caller asks whether these belong to the tail. With too few
 * samples the tail is assumed to be heavy. */
static struct course_tail tail_of(double *ns, size_t n, double rows_per_sample)
{
    size_t rank = (size_t)fmax(fmin((double)(n / 10), TAIL_RANK), 1);
    double from_ns = fmax(stats_select(ns, n, n - rank), 1);
    double top_ns = rank > TAIL_TOP ? stats_select(ns, n, n - TAIL_TOP) : from_ns;
    double exponent = log((double)rank / TAIL_TOP) / fmax(log(top_ns / from_ns), 1e-2);

    return (struct course_tail){from_ns, (double)rank * rows_per_sample,
                                rank >= 2 * TAIL_TOP ? exponent : 1};
}

/* Fills in the median, the 90th percentile and the tail of the durations of operation k. */
static bool summarize(const struct pass *p, size_t k, size_t first, struct err *e)
{
    struct course *c = p->c;
    size_t n = p->n_samples - first;
    double *ns;

    if (!mem_new(&ns, n, e))
        return false;
    for (size_t i = 0; i < n; i++)
        ns[i] = (double)(p->samples[first + i].end_ns - p->samples[first + i].start_ns);
    if (n > 0) {
        c->median_ns[k] = fmax(stats_select(ns, n, n / 2), 1);
        c->p90_ns[k] = fmax(stats_select(ns, n, n - 1 - n / 10), 1);
        c->tail[k] = tail_of(ns, n, 0x1p32 / (double)p->sample_below);
    }
    free(ns);
    return true;
}

/* ---- Second pass: requests that hung ---- */

static int compare_hung(const void *a, const void *b)
{
    const struct course_hung *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Adds the requests of table k that took least_ns or more, and says which took hung_ns and failed;
 * false: there are too many. A packed value is the duration, or, of a long one, at least
 * PACKED_WIDE_BASE: most rows need not be unpacked. */
static bool collect_hung(const struct pass *p, size_t k, int64_t least_ns, int64_t hung_ns)
{
    struct course *c = p->c;
    const struct table *t = c->tables[k];
    const uint32_t *packed = t->dur.v;
    uint32_t least = least_ns < PACKED_WIDE_BASE ? (uint32_t)least_ns : PACKED_WIDE_BASE;
    size_t n = c->n_hung;

    for (size_t i = 0; i < t->n; i++) {
        if ((packed != NULL && packed[i] < least) || packed_get(&t->dur, i) < least_ns)
            continue;
        if (n == MAX_HUNG)
            return false;
        c->hung[n++] =
            (struct course_hung){.start_ns = t->start[i],
                                 .end_ns = table_end(t, i),
                                 .thread = c->d->threads[table_thread_index(t, table_thread(t, i))],
                                 .place = (uint32_t)course_place(t, i),
                                 .table = (uint32_t)k,
                                 .failed = table_failed(t, i) && packed_get(&t->dur, i) >= hung_ns};
    }
    c->n_hung = n;
    return true;
}

/* Returns the length that the tail of operation k hardly has. */
static double unlikely_ns(const struct course *c, size_t k)
{
    const struct course_tail *t = &c->tail[k];
    return t->from_ns * pow(t->n / COURSE_LONG_CHANCE, 1 / t->exponent);
}

/* Finds the unlikely requests that a thread sent one after another. */
static void link_hung(struct course *c)
{
    for (size_t i = 0; i < c->n_hung; i++) {
        struct course_hung *h = &c->hung[i];
        double least_ns = unlikely_ns(c, h->table), soon_ns = c->median_ns[h->table];

        if ((double)(h->end_ns - h->start_ns) < least_ns)
            continue;
        for (size_t j = i + 1; j < c->n_hung && h->next == 0; j++) {
            struct course_hung *x = &c->hung[j];

            if ((double)(x->start_ns - h->end_ns) > soon_ns)
                break;
            if (x->thread == h->thread && x->table == h->table && x->start_ns >= h->end_ns &&
                (double)(x->end_ns - x->start_ns) >= least_ns) {
                h->next = (uint32_t)j;
                x->follows = true;
            }
        }
    }
}

static void find_hung(const struct pass *p)
{
    struct course *c = p->c;
    for (size_t k = 0; k < c->n_ops; k++) {
        double hung_ns = COURSE_HUNG_TIMES * c->p90_ns[k];
        double least_ns = fmin(hung_ns, unlikely_ns(c, k));

        c->hung_ns[k] = INT64_MAX;
        for (int tries = 0; hung_ns > 0 && hung_ns < 0x1p62 && tries <= 10; tries++) {
            if (collect_hung(p, k, (int64_t)least_ns, (int64_t)hung_ns)) {
                c->hung_ns[k] = (int64_t)hung_ns;
                break;
            }
            hung_ns *= least_ns < hung_ns ? 1 : 2;
            least_ns = hung_ns;
        }
    }
    qsort(c->hung, c->n_hung, sizeof *c->hung, compare_hung);
    link_hung(c);
    for (size_t i = 0; i < c->n_hung; i++) {
        const struct course_hung *h = &c->hung[i];
        if (!h->failed)
            continue;
        size_t bin = bin_of(c, p->per_bin, h->end_ns);
        c->timed_out[bin]++;
        if (c->ended == NULL)
            continue;
        uint32_t *ended = ended_in(c, p->per_wide, bin);
        ended[h->place]--;
        ended[c->n_places + h->table]--;
    }
}

/* ---- Set-up, and all passes ---- */

static void choose_grid(struct course *c)
{
    int64_t length_ns = c->end_ns - c->start_ns;

    c->bin_ns = length_ns / COURSE_MAX_BINS + 1;
    c->bin_ns = int64_max(LEAST_BIN_NS, c->bin_ns);
    c->bin_ns = int64_max(dataset_start_resolution_ns(c->d), c->bin_ns);
    c->bins_ns = c->start_ns;
    c->shortest_ns = 3 * c->bin_ns;
    c->n_bins = (size_t)(length_ns / c->bin_ns) + 1;
    size_t bins_per_block = (c->n_bins + COURSE_MAX_BLOCKS - 1) / COURSE_MAX_BLOCKS;
    c->block_ns = (int64_t)bins_per_block * c->bin_ns;
    c->n_blocks = (c->n_bins + bins_per_block - 1) / bins_per_block;
    size_t counts = (size_t)int64_min(COUNTS_PER_REQUEST * c->n, COURSE_MAX_CELLS);
    size_t most_wide = counts / (c->n_places + c->n_ops);
    size_t per_wide = most_wide > 0 ? (c->n_bins + most_wide - 1) / most_wide : c->n_bins;
    c->wide_ns = (int64_t)per_wide * c->bin_ns;
    c->n_wide = (c->n_bins + per_wide - 1) / per_wide;
}

static bool alloc_counts(struct course *c, struct err *e)
{
    size_t max_hung = c->n < MAX_HUNG ? (size_t)c->n : MAX_HUNG;

    return mem_cleared(&c->ok, c->n_bins, e) && mem_cleared(&c->failed, c->n_bins, e) &&
           mem_cleared(&c->timed_out, c->n_bins, e) &&
           ((c->n_places < 2 && c->n_ops < 2) || c->n_wide < LEAST_WIDE ||
            mem_cleared(&c->ended, c->n_wide * (c->n_places + c->n_ops), e)) &&
           mem_cleared(&c->load.under_way, c->n_blocks, e) &&
           (!c->open_loop || mem_cleared(&c->load.due, c->n_blocks, e)) &&
           mem_cleared(&c->late_n, c->n_blocks, e) && mem_cleared(&c->late_ns, c->n_blocks, e) &&
           mem_cleared(&c->tail, c->n_ops, e) && mem_new(&c->hung, max_hung, e);
}

static int compare_names(const void *a, const void *b, void *names)
{
    char *const *v = names;
    return strcmp(v[*(const uint32_t *)a], v[*(const uint32_t *)b]);
}

/* Fills in the hosts (or clients) that have a request, sorted by name. */
static bool fill_parties(const struct pass *p, struct course_parties *of, struct err *e)
{
    const struct dataset *d = p->c->d;
    const struct names *names = of->clients ? &d->clients : &d->hosts;
    uint32_t *id = NULL, *index = NULL;
    size_t n = 0;
    bool ok = course_parties_alloc(of, names->n, e) && mem_new(&of->of_place, d->n_places, e) &&
              mem_new(&id, names->n, e) && mem_new(&index, names->n, e);

    if (!ok)
        goto done;
    memset(index, -1, names->n * sizeof *index);
    for (size_t i = 0; i < d->n_places; i++) {
        uint32_t of_place = of->clients ? d->places[i].client : d->places[i].host;
        of->of_place[i] = p->places[i].n > 0 ? of_place : UINT32_MAX;
        if (p->places[i].n > 0 && index[of_place] == UINT32_MAX) {
            index[of_place] = 0;
            id[n++] = of_place;
        }
    }
    qsort_r(id, n, sizeof *id, compare_names, names->v);
    of->n = n;
    for (size_t k = 0; k < n; k++) {
        index[id[k]] = (uint32_t)k;
        of->name[k] = names->v[id[k]];
        of->first_ns[k] = INT64_MAX;
        of->last_ns[k] = INT64_MIN;
    }
    for (size_t i = 0; i < d->n_places; i++) {
        if (of->of_place[i] == UINT32_MAX)
            continue;
        size_t k = of->of_place[i] = index[of->of_place[i]];
        of->n_requests[k] += p->places[i].n;
        of->first_ns[k] = int64_min(p->places[i].first_ns, of->first_ns[k]);
        of->last_ns[k] = int64_max(p->places[i].last_ns, of->last_ns[k]);
    }
done:
    free(id);
    free(index);
    return ok;
}

/* Tasks that go over the rows beside each other. */
static bool look_at_all_rows(void *pass, struct err *e)
{
    struct pass *p = pass;
    struct course *c = p->c;

    for (size_t k = 0; k < c->n_ops; k++) {
        size_t first = p->n_samples;

        if (!look_at_rows(p, k, e) || !summarize(p, k, first, e))
            return false;
    }
    find_hung(p);
    return course_load_rows(c, p->samples, p->n_samples, (double)(c->n - c->n_failed), p->threads,
                            e);
}

static bool read_requests(void *requests, struct err *e)
{
    return like_read(requests, e);
}

static bool gather(struct pass *p, const struct course_extent *extents, struct err *e)
{
    struct course *c = p->c;

    visits_clear(p->places, c->n_places);
    if (!look_at_extents(p, extents, e))
        return false;
    if (c->n == 0)
        return true;
    choose_grid(c);
    if (!alloc_counts(c, e) || !fill_parties(p, &c->hosts, e) || !fill_parties(p, &c->clients, e) ||
        !choose_messages(p, e) || !like_requests_new(c, extents, e))
        return false;
    p->sample_below = course_sample_below(WANTED_SAMPLES, (double)c->n);
    p->per_bin = 1 / (double)c->bin_ns;
    p->per_wide = (UINT64_C(1) << WIDE_BITS) / (uint64_t)(c->wide_ns / c->bin_ns) + 1;
    struct task tasks[] = {{look_at_all_rows, p, 2}, {read_requests, c->requests, 1}};
    return tasks_run(tasks, 2, c->use_threads, e);
}

bool course_of_rows(struct course *c, const struct dataset *d, const struct table **tables,
                    const struct course_extent *extents, size_t n_tables, unsigned n_threads,
                    struct err *e)
{
    if (!course_init(c, n_tables, e))
        return false;
    c->has_requests = true;
    c->use_threads = n_threads;
    c->d = d;
    c->tables = tables;
    c->n_places = d->n_places;
    for (size_t k = 0; k < n_tables; k++) {
        c->ops[k] = (struct course_op){d->ops.v[tables[k]->op], (int64_t)tables[k]->n};
        c->operations.name[k] = c->ops[k].name;
        c->operations.n_requests[k] = c->ops[k].n;
    }
    struct pass p = {.c = c};
    bool ok = mem_cleared(&p.of_message, d->errors.n, e) && mem_new(&p.places, d->n_places, e) &&
              gather(&p, extents, e);
    free(p.samples);
    free(p.of_message);
    free(p.places);
    free(p.threads);
    return ok;
}
