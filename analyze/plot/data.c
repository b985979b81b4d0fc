#include "analyze/plot/data.h"

#include "analyze/base/tasks.h"
#include "analyze/sets/scan.h"
#include "analyze/stats/picker.h"
#include "libcommon/attribution.h"
#include "libcommon/mem.h"
#include "libcommon/segment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double plot_data_mark_pct[PLOT_DATA_N_MARKS] = {50, 90, 99, 99.9, 100};

#define MAX_LINE_BINS 400 /* of hosts as lines */
#define MAX_ROW_BINS  100 /* of many hosts as a heat map */
#define MANY_HOSTS    100
#define MICRO         1000000 /* objects are spread in millionths */
#define MIN_FINE_BINS 50
#define MAX_FINE_BINS 400

/* ---- Buckets ---- */

static size_t log_bucket(int64_t v)
{
    /* 2^(1/4), 2^(2/4), 2^(3/4) times 2^63 */
    static const uint64_t edges[] = {UINT64_C(0x9837F0518DB8A96F), UINT64_C(0xB504F333F9DE6484),
                                     UINT64_C(0xD744FCCAD69D6AF4)};
    if (v < 2)
        return 0;
    unsigned shift = (unsigned)__builtin_clzll((uint64_t)v);
    uint64_t mantissa = (uint64_t)v << shift;
    return (63 - shift) * 4 + (mantissa > edges[0]) + (mantissa > edges[1]) + (mantissa > edges[2]);
}

double plot_data_log_lower(size_t bucket)
{
    return bucket == 0 ? 0 : exp2((double)bucket / 4);
}

/* Bins of a round length, at most so many and one more. */
static void bins_over(struct segment_grid *bins, int64_t start_ns, int64_t end_ns, size_t most)
{
    int64_t span_ns = end_ns - start_ns;
    if (span_ns < PLOT_DATA_MIN_SPAN_NS)
        span_ns = PLOT_DATA_MIN_SPAN_NS;
    int64_t length_ns = plot_timeline_round_ns(span_ns / (int64_t)most + 1);
    segment_grid_init(bins, start_ns, length_ns, (size_t)(span_ns / length_ns) + 1);
}

/* ---- Which requests ---- */

static const struct table *table_of(const struct plot_data *p, size_t i)
{
    return plot_timeline_table(p->a, p->index, i);
}

static void find_span(struct plot_data *p)
{
    struct plot_timeline t;

    plot_timeline_begin(&t, p->a, p->index);
    p->zero_ns = p->a->run_start_ns;
    p->start_ns = t.start_ns;
    p->end_ns = t.end_ns;
    p->n_requests = t.n_requests;
    p->n_errors = t.n_errors;
    p->has_bytes = t.has_bytes;
    double n_objects = 0;
    for (size_t k = 0; k < p->a->n_operations; k++)
        n_objects += (double)p->a->operations[k].n_objects;
    p->host_unit = p->has_bytes || n_objects * MICRO > 0x1p62 ? 1 : 1.0 / MICRO;
}

/* ---- The series ---- */

/* That of the segments; where there are none, about a fiftieth of the time. */
static int64_t series_length_ns(const struct plot_data *p)
{
    int64_t wanted_ns = (p->end_ns - p->start_ns) / 50, power_ns = 1;
    if (p->segments->present)
        return p->segments->duration_ns;
    if (p->a->options.segment_ns > 0)
        return p->a->options.segment_ns;
    while (power_ns * 10 <= wanted_ns)
        power_ns *= 10;
    return wanted_ns >= 5 * power_ns   ? 5 * power_ns
           : wanted_ns >= 2 * power_ns ? 2 * power_ns
                                       : power_ns;
}

/* The segments, continued on both sides until they hold every request. */
static bool fill_series(struct plot_data *p, struct err *e)
{
    int64_t length_ns = series_length_ns(p);
    int64_t anchor_ns = p->range.present ? p->range.start_ns : p->start_ns;
    struct segment_grid grid;

    return analysis_grid_around(&grid, anchor_ns, length_ns, p->start_ns, p->end_ns, e) &&
           analysis_series_on(p->a, p->index, -1, &grid, &p->rows, &p->n_rows, e);
}

void plot_data_thin(const struct series_row *rows, size_t n, size_t max_rows, size_t n_columns,
                    double (*column)(const struct series_row *row, size_t i), bool *keep)
{
    if (n <= max_rows) {
        memset(keep, true, n * sizeof *keep);
        return;
    }
    memset(keep, false, n * sizeof *keep);
    size_t n_stretches = max_rows / (2 * n_columns);
    for (size_t s = 0; s < n_stretches; s++) {
        size_t from = s * n / n_stretches, to = (s + 1) * n / n_stretches;
        for (size_t c = 0; c < n_columns; c++) {
            size_t least = n, greatest = n;
            for (size_t i = from; i < to; i++) {
                double x = column(&rows[i], c);
                if (isnan(x))
                    continue;
                if (least == n || x < column(&rows[least], c))
                    least = i;
                if (greatest == n || x > column(&rows[greatest], c))
                    greatest = i;
            }
            if (least < n)
                keep[least] = keep[greatest] = true;
        }
    }
    keep[0] = keep[n - 1] = true;
}

/* ---- The pass over the requests ---- */

static int compare_parties(const void *a, const void *b)
{
    return strcmp(((const struct plot_party *)a)->name, ((const struct plot_party *)b)->name);
}

static int compare_means(const void *a, const void *b)
{
    const struct plot_party *x = a, *y = b;
    return x->mean != y->mean ? (x->mean > y->mean) - (x->mean < y->mean) : compare_parties(a, b);
}

/* Which names the set has: used[id]. */
static bool find_parties(const struct plot_data *p, bool *host_used, bool *client_used,
                         struct err *e)
{
    const struct dataset *d = p->a->dataset;
    for (size_t i = 0; i < d->n_tables; i++) {
        const struct table *t = table_of(p, i);
        bool *used;

        if (t == NULL)
            continue;
        if (!mem_cleared(&used, dataset_n_places(d, t), e))
            return false;
        for (size_t k = 0; k < t->n; k++)
            used[table_place(t, k)] = true;
        for (size_t k = 0; k < dataset_n_places(d, t); k++) {
            host_used[dataset_place(d, t, k)->host] |= used[k];
            client_used[dataset_place(d, t, k)->client] |= used[k];
        }
        free(used);
    }
    return true;
}

static size_t n_used(const bool *used, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += used[i];
    return count;
}

static bool add_parties(struct plot_party **v, size_t *n, size_t *of_id, const struct names *names,
                        const bool *used, size_t n_bins, struct err *e)
{
    if (!mem_cleared(v, n_used(used, names->n), e))
        return false;
    for (size_t i = 0; i < names->n; i++) {
        if (!used[i])
            continue;
        of_id[i] = (*n)++;
        (*v)[of_id[i]].name = names->v[i];
        if (!mem_cleared(&(*v)[of_id[i]].sum, n_bins, e))
            return false;
    }
    return true;
}

struct pass {
    size_t *host_of, *client_of; /* by id */
    struct segment_range inside; /* of the sample */
};

static size_t class_of(const struct plot_data *p, int64_t bytes)
{
    size_t c = 0;
    while (c + 1 < p->n_classes && bytes >= p->classes[c + 1].min_bytes)
        c++;
    return c;
}

/* Spreads an amount of a request over the bins that it touches. Returns the last of them. */
static inline size_t spread(int64_t *v, const struct segment_grid *g,
                            const struct attribution_request *r, int64_t amount)
{
    size_t first = segment_grid_index(g, r->start_ns), last = segment_grid_index(g, r->end_ns);

    if (first == last)
        v[last] += amount;
    else
        attribution_spread(g, first, last, r, amount, &v[first], sizeof *v);
    return last;
}

static void add_row(struct plot_data *p, const struct pass *x, const struct table *t, size_t i)
{
    const struct place *place = dataset_place(p->a->dataset, t, table_place(t, i));
    const struct attribution_request r = analysis_request(t, i);
    int64_t dur_ns = r.end_ns - r.start_ns, bytes = r.bytes;
    size_t end = spread(p->clients[x->client_of[place->client]].sum, &p->bins, &r, dur_ns);

    if (!r.ok)
        return;
    spread(p->hosts[x->host_of[place->host]].sum, &p->host_bins, &r,
           p->has_bytes ? bytes : r.n_objects * (p->host_unit < 1 ? MICRO : 1));
    p->heat[end * PLOT_DATA_N_LOG + log_bucket(dur_ns)]++;
    if (bytes > 0)
        p->sizes[log_bucket(bytes)]++;
    else
        p->n_empty++;
    if (p->n_classes > 0 && table_done_within(t, i, x->inside.start_ns, x->inside.end_ns)) {
        hist_add(&p->classes[class_of(p, bytes)].durations, dur_ns);
        p->density[log_bucket(bytes) * PLOT_DATA_N_LOG + log_bucket(dur_ns)]++;
    }
}

/* Keeps the first `most` of the parties. */
static void cut_parties(struct plot_party *v, size_t *n, size_t most)
{
    for (size_t i = most; i < *n; i++)
        free(v[i].sum);
    *n = *n < most ? *n : most;
}

static void finish_parties(struct plot_data *p)
{
    for (size_t h = 0; h < p->n_hosts; h++) {
        struct plot_party *x = &p->hosts[h];
        for (size_t k = 0; k < p->host_bins.n; k++)
            x->mean += plot_data_rate(p, x, k) / (double)p->host_bins.n;
    }
    p->n_hosts_in_all = p->n_hosts;
    p->n_clients_in_all = p->n_clients;
    if (p->n_hosts > PLOT_DATA_MAX_HOSTS) {
        qsort(p->hosts, p->n_hosts, sizeof *p->hosts, compare_means);
        cut_parties(p->hosts, &p->n_hosts, PLOT_DATA_MAX_HOSTS);
    }
    qsort(p->hosts, p->n_hosts, sizeof *p->hosts, compare_parties);
    qsort(p->clients, p->n_clients, sizeof *p->clients, compare_parties);
    cut_parties(p->clients, &p->n_clients, PLOT_DATA_MAX_CLIENTS);
}

/* Where the hosts' rates are cut: for lines at the segments, or several of them together. */
static void choose_host_bins(struct plot_data *p, size_t n_hosts)
{
    if (n_hosts > PLOT_DATA_MAX_LINES || p->n_rows == 0) {
        size_t most = n_hosts <= MANY_HOSTS ? PLOT_DATA_MAX_HEAT_BINS : MAX_ROW_BINS;
        bins_over(&p->host_bins, p->start_ns, p->end_ns, most);
        return;
    }
    size_t joined = (p->n_rows + MAX_LINE_BINS - 1) / MAX_LINE_BINS;
    segment_grid_init(&p->host_bins, p->rows[0].start_ns, p->rows[0].duration_ns * (int64_t)joined,
                      (p->n_rows + joined - 1) / joined);
}

static bool fill_pass(struct plot_data *p, struct pass *x, struct err *e)
{
    const struct dataset *d = p->a->dataset;
    bool *host_used = NULL, *client_used = NULL;

    bins_over(&p->bins, p->start_ns, p->end_ns, PLOT_DATA_MAX_HEAT_BINS);
    bool ok =
        mem_cleared(&host_used, d->hosts.n, e) && mem_cleared(&client_used, d->clients.n, e) &&
        mem_cleared(&x->host_of, d->hosts.n, e) && mem_cleared(&x->client_of, d->clients.n, e) &&
        mem_cleared(&p->heat, p->bins.n * PLOT_DATA_N_LOG, e) &&
        find_parties(p, host_used, client_used, e);
    if (ok) {
        choose_host_bins(p, n_used(host_used, d->hosts.n));
        ok = add_parties(&p->hosts, &p->n_hosts, x->host_of, &d->hosts, host_used, p->host_bins.n,
                         e) &&
             add_parties(&p->clients, &p->n_clients, x->client_of, &d->clients, client_used,
                         p->bins.n, e);
    }
    for (size_t i = 0; ok && i < d->n_tables; i++) {
        const struct table *t = table_of(p, i);
        for (size_t k = 0; t != NULL && k < t->n; k++)
            add_row(p, x, t, k);
    }
    if (ok)
        finish_parties(p);
    free(host_used);
    free(client_used);
    free(x->host_of);
    free(x->client_of);
    return ok;
}

/* ---- Durations ---- */

static bool finish_sample(struct plot_sample *s, const int64_t *v, size_t n, struct err *e)
{
    static const unsigned marks[PLOT_DATA_N_MARKS] = {500, 900, 990, 999, 1000};
    s->n = n;
    if (n == 0)
        return true;
    if (!mem_cleared(&s->count, HIST_N_INDEXES, e))
        return false;
    for (size_t i = 0; i < n; i++)
        s->count[hist_index(v[i])]++;
    return picker_quantiles(v, n, marks, PLOT_DATA_N_MARKS, s->mark_ns, e);
}

enum which_time { TIME_DURATION, TIME_TTFB, TIME_RESPONSE, N_TIMES };

static bool has_time(const struct table *t, size_t i, enum which_time which)
{
    return which == TIME_DURATION || packed_has(which == TIME_TTFB ? &t->ttfb : &t->late, i);
}

static int64_t time_of(const struct table *t, size_t i, enum which_time which)
{
    int64_t dur_ns = packed_get(&t->dur, i);
    return which == TIME_DURATION ? dur_ns
           : which == TIME_TTFB   ? packed_get(&t->ttfb, i)
                                  : dur_ns + packed_get(&t->late, i);
}

static bool fill_samples(struct plot_data *p, const struct segment_range *inside, struct err *e)
{
    size_t room = 0;
    for (size_t i = 0; i < p->a->dataset->n_tables; i++) {
        const struct table *t = table_of(p, i);
        room += t != NULL ? t->n : 0;
    }
    int64_t *v;
    bool ok = mem_new(&v, room, e);
    struct plot_sample *samples[N_TIMES] = {&p->durations, &p->ttfb, &p->response};
    for (int which = 0; ok && which < N_TIMES; which++) {
        size_t n = 0;
        for (size_t i = 0; i < p->a->dataset->n_tables; i++) {
            const struct table *t = table_of(p, i);
            for (size_t k = 0; t != NULL && k < t->n; k++)
                if (table_done_within(t, k, inside->start_ns, inside->end_ns) &&
                    has_time(t, k, (enum which_time)which))
                    v[n++] = time_of(t, k, (enum which_time)which);
        }
        ok = finish_sample(samples[which], v, n, e);
    }
    free(v);
    return ok;
}

static bool init_classes(struct plot_data *p, struct err *e)
{
    const struct requests *q = p->operation != NULL ? &p->operation->requests : NULL;
    if (q == NULL || !q->present || q->single_size || q->n_sizes == 0)
        return true;
    if (!mem_cleared(&p->classes, q->n_sizes, e) ||
        !mem_cleared(&p->density, (size_t)PLOT_DATA_N_LOG * PLOT_DATA_N_LOG, e))
        return false;
    for (size_t i = 0; i < q->n_sizes; i++) {
        p->classes[i].min_bytes = q->sizes[i].min_bytes;
        p->classes[i].max_bytes = q->sizes[i].max_bytes;
        p->n_classes = i + 1;
        if (!hist_init(&p->classes[i].durations, e))
            return false;
    }
    return true;
}

/* Of fewer than 100 requests the p99 is the slowest one. */
static bool fill_fine(struct plot_data *p, struct err *e)
{
    size_t most = (size_t)(p->n_requests / 100);
    most = most < MIN_FINE_BINS ? MIN_FINE_BINS : most < MAX_FINE_BINS ? most : MAX_FINE_BINS;
    return plot_timeline_init(&p->fine, p->a, p->index, most, e);
}

/* The pieces of the work, which may run at the same time. */
struct work {
    struct plot_data *p;
    struct pass x;
};

static bool fill_over_time(void *work, struct err *e)
{
    struct work *w = work;
    return init_classes(w->p, e) && fill_series(w->p, e) && fill_fine(w->p, e) &&
           fill_pass(w->p, &w->x, e);
}

static bool fill_distributions(void *work, struct err *e)
{
    struct work *w = work;
    return fill_samples(w->p, &w->x.inside, e);
}

static void begin(struct plot_data *p, const struct analysis *a, int index)
{
    const struct operation *op = index >= 0 ? &a->operations[index] : NULL;
    *p = (struct plot_data){
        .a = a,
        .index = index,
        .operation = op,
        .op = op != NULL ? op->op : "",
        .range = op != NULL ? op->range : a->total.range,
        .throughput = op != NULL ? &op->throughput : &a->total.throughput,
        .segments = op != NULL ? &op->segments : &a->total.segments,
        .statistics = op != NULL ? op->statistics : NULL,
    };
    find_span(p);
}

bool plot_data_init(struct plot_data *v, size_t n, const struct analysis *a, const int *index,
                    struct err *e)
{
    size_t n_tasks = 0;
    struct work *work = NULL;
    struct task *tasks = NULL;
    bool ok = mem_cleared(&work, n + 1, e) && mem_new(&tasks, 2 * n + 1, e);

    for (size_t i = 0; i < n; i++) {
        struct plot_data *p = &v[i];
        begin(p, a, index[i]);
        if (!ok || p->n_requests == 0)
            continue;
        const struct throughput *t = p->throughput;
        work[i].p = p;
        work[i].x.inside =
            t->present ? (struct segment_range){t->start_ns, t->start_ns + t->duration_ns + 1}
                       : (struct segment_range){0, -1};
        tasks[n_tasks++] = (struct task){fill_over_time, &work[i], 2 * (uint64_t)p->n_requests};
        tasks[n_tasks++] = (struct task){fill_distributions, &work[i], (uint64_t)p->n_requests};
    }
    ok = ok && tasks_run(tasks, n_tasks, a->options.threads, e);
    free(work);
    free(tasks);
    return ok;
}

static void free_parties(struct plot_party *v, size_t n)
{
    for (size_t i = 0; v != NULL && i < n; i++)
        free(v[i].sum);
    free(v);
}

void plot_data_fini(struct plot_data *p)
{
    free(p->rows);
    plot_timeline_fini(&p->fine);
    free(p->heat);
    free_parties(p->hosts, p->n_hosts);
    free_parties(p->clients, p->n_clients);
    free(p->durations.count);
    free(p->ttfb.count);
    free(p->response.count);
    free(p->density);
    for (size_t i = 0; i < p->n_classes; i++)
        hist_fini(&p->classes[i].durations);
    free(p->classes);
    *p = (struct plot_data){0};
}
