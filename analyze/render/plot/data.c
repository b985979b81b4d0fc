#include "analyze/render/plot/data.h"

#include "analyze/analysis/run/analysis.h"
#include "analyze/base/tasks.h"
#include "analyze/data/slices.h"
#include "analyze/summary/estimate/confidence.h"
#include "analyze/summary/sets/scan.h"
#include "libcommon/attribution.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/segment.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double plot_data_mark_pct[PLOT_DATA_N_MARKS] = {50, 90, 99, 99.9, 100};

#define MAX_LINE_BINS 400 /* for lines of hosts */
#define MAX_ROW_BINS  100 /* for a heat map of many hosts */
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

/* Divides a time into bins of a round length: at most `most` + 1. */
static void bins_over(struct slice_grid *bins, int64_t start_ns, int64_t end_ns, size_t most)
{
    int64_t span_ns = end_ns - start_ns;
    if (span_ns < PLOT_DATA_MIN_SPAN_NS)
        span_ns = PLOT_DATA_MIN_SPAN_NS;
    int64_t length_ns = plot_timeline_round_ns(span_ns / (int64_t)most + 1);
    slice_grid_init(bins, start_ns, length_ns, (size_t)(span_ns / length_ns) + 1);
}

/* ---- Which requests ---- */

static const struct table *table_of(const struct plot_data *p, size_t i)
{
    return plot_timeline_table(p->a, p->index, i);
}

/* ---- The series ---- */

/* Returns the length of the segments; without any, about a fiftieth of the time. */
static int64_t series_length_ns(const struct plot_data *p)
{
    return p->segments->present ? p->segments->duration_ns
           : p->a->options.segment_ns > 0
               ? p->a->options.segment_ns
               : plot_timeline_round_ns((p->course.end_ns - p->course.start_ns) / 50);
}

static bool has_requests(const struct plot_data *p)
{
    return p->a->dataset->n_tables > 0;
}

/* Fills in the series of segments, continued on both sides until it covers every request. Sums have
 * whole seconds. */
static bool fill_series(struct plot_data *p, struct err *e)
{
    int64_t length_ns = series_length_ns(p);
    int64_t anchor_ns = p->course.range.present ? p->course.range.start_ns : p->course.start_ns;
    struct slice_grid grid;

    if (!has_requests(p)) {
        length_ns = (length_ns + NS_PER_S - 1) / NS_PER_S * NS_PER_S;
        anchor_ns -= anchor_ns % NS_PER_S;
    }
    return analysis_grid_around(&grid, anchor_ns, length_ns, p->course.start_ns, p->course.end_ns,
                                e) &&
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
    /* Numbers sort by value: 2 before 10. */
    return strverscmp(((const struct plot_party *)a)->name, ((const struct plot_party *)b)->name);
}

static int slowest_first(const void *a, const void *b)
{
    const struct plot_party *x = a, *y = b;
    if (x->has_finding != y->has_finding)
        return x->has_finding ? -1 : 1;
    return x->mean != y->mean ? (x->mean > y->mean) - (x->mean < y->mean) : compare_parties(a, b);
}

/* Adds a party; *row becomes 1 + the index of its row. */
static bool add_party(struct plot_parties *x, size_t *row, const char *name, struct err *e)
{
    int64_t *sum;

    if (!mem_more(&x->v, x->n, e) || !mem_cleared(&sum, x->bins.n, e))
        return false;
    x->v[x->n] = (struct plot_party){.name = name, .sum = sum};
    *row = ++x->n;
    return true;
}

/* State of the pass over the requests for one plot_data. */
struct work {
    struct plot_data *p;
    size_t *host_of, *client_of; /* by id: 1 + its row; 0: none yet */
    struct segment_range inside; /* the time whose requests are in the samples */
};

/* Spreads an amount of a request over the bins that it touches. Returns the last of them. */
static inline size_t spread(int64_t *v, const struct slice_grid *g,
                            const struct attribution_request *r, int64_t amount)
{
    size_t first = slice_grid_index(g, r->start_ns), last = slice_grid_index(g, r->end_ns);

    if (first == last)
        v[last] += amount;
    else
        slices_spread(g, first, last, r, amount, &v[first], sizeof *v);
    return last;
}

static bool add_row(const struct work *x, const struct table *t, size_t i, struct err *e)
{
    struct plot_data *p = x->p;
    const struct dataset *d = p->a->dataset;
    const struct place *place = dataset_place(d, t, table_place(t, i));
    size_t *host = &x->host_of[place->host], *client = &x->client_of[place->client];
    const struct attribution_request r = analysis_request(t, i);
    int64_t dur_ns = r.end_ns - r.start_ns, bytes = r.bytes;

    if ((*host == 0 && !add_party(&p->hosts, host, d->hosts.v[place->host], e)) ||
        (*client == 0 && !add_party(&p->clients, client, d->clients.v[place->client], e)))
        return false;
    size_t end = spread(p->clients.v[*client - 1].sum, &p->heat.bins, &r, dur_ns);
    if (!r.ok)
        return true;
    spread(p->hosts.v[*host - 1].sum, &p->hosts.bins, &r,
           p->course.has_bytes ? bytes : r.n_objects * (p->host_unit < 1 ? MICRO : 1));
    int64_t late_ns = packed_has(&t->late, i) ? packed_get(&t->late, i) : 0;
    p->heat.count[end * PLOT_DATA_N_LOG + log_bucket(dur_ns + late_ns)]++;
    if (bytes > 0)
        p->sizes.count[log_bucket(bytes)]++;
    else
        p->sizes.n_empty++;
    if (p->sizes.density != NULL && table_done_within(t, i, x->inside.start_ns, x->inside.end_ns))
        p->sizes.density[log_bucket(bytes) * PLOT_DATA_N_LOG + log_bucket(dur_ns)]++;
    return true;
}

static void sort_parties(struct plot_parties *x, int (*compare)(const void *, const void *))
{
    if (x->n > 1) /* x->v may be NULL */
        qsort(x->v, x->n, sizeof *x->v, compare);
}

/* Keeps only the first `most` parties. */
static void cut_parties(struct plot_parties *x, size_t most)
{
    x->n_in_all = x->n;
    while (x->n > most)
        free(x->v[--x->n].sum);
}

/* Marks the hosts, which are sorted by name, that findings name. */
static void mark_found(struct plot_parties *hosts, const struct plot_data *p)
{
    for (size_t i = 0; i < p->a->findings.n && hosts->n > 0; i++) {
        const struct finding *x = &p->a->findings.v[i];
        bool concerns = x->op == NULL || *p->op == '\0' || strcmp(x->op, p->op) == 0;
        const struct plot_party named = {.name = x->party};
        struct plot_party *found =
            x->scope == SCOPE_HOST && concerns
                ? bsearch(&named, hosts->v, hosts->n, sizeof *hosts->v, compare_parties)
                : NULL;

        if (found != NULL)
            found->has_finding = true;
    }
}

static void fill_means(const struct plot_data *p, struct plot_parties *x)
{
    for (size_t i = 0; i < x->n; i++) {
        size_t n = x->bins.n;
        for (size_t k = 0; k < x->bins.n; k++)
            n -= isnan(plot_data_rate(p, &x->v[i], k));
        for (size_t k = 0; k < x->bins.n; k++)
            if (!isnan(plot_data_rate(p, &x->v[i], k)))
                x->v[i].mean += plot_data_rate(p, &x->v[i], k) / (double)n;
    }
}

static void finish_parties(struct plot_data *p)
{
    fill_means(p, &p->hosts);
    sort_parties(&p->hosts, compare_parties);
    mark_found(&p->hosts, p);
    if (p->hosts.n > PLOT_DATA_MAX_BY_NAME)
        sort_parties(&p->hosts, slowest_first);
    cut_parties(&p->hosts, PLOT_DATA_MAX_HOSTS);
    sort_parties(&p->clients, compare_parties);
    cut_parties(&p->clients, PLOT_DATA_MAX_CLIENTS);
}

/* Chooses the bins of the hosts' rates: for lines the segments, or several of them joined. */
static void choose_host_bins(struct plot_data *p, size_t n_hosts)
{
    if ((n_hosts > PLOT_DATA_MAX_LINES && has_requests(p)) || p->n_rows == 0) {
        size_t most = n_hosts <= MANY_HOSTS ? PLOT_DATA_MAX_HEAT_BINS : MAX_ROW_BINS;
        bins_over(&p->hosts.bins, p->course.start_ns, p->course.end_ns, most);
        return;
    }
    size_t joined = (p->n_rows + MAX_LINE_BINS - 1) / MAX_LINE_BINS;
    slice_grid_init(&p->hosts.bins, p->rows[0].start_ns, p->rows[0].duration_ns * (int64_t)joined,
                    (p->n_rows + joined - 1) / joined);
}

/* Adds a party from its series, unless all of that is unknown. */
static bool add_series(const struct plot_data *p, struct plot_parties *x, const char *name,
                       int party, struct err *e)
{
    struct series_row *rows = NULL;
    size_t n = 0, n_known = 0, row;
    bool ok = analysis_series_on(p->a, p->index, party, &x->bins, &rows, &n, e);

    for (size_t k = 0; k < n; k++)
        n_known += !isnan(rows[k].objects);
    if (ok && n_known > 0)
        ok = add_party(x, &row, name, e);
    for (size_t k = 0; ok && n_known > 0 && k < n; k++)
        x->v[x->n - 1].sum[k] = isnan(rows[k].objects) ? PLOT_DATA_UNKNOWN
                                : p->course.has_bytes
                                    ? rows[k].bytes
                                    : (int64_t)llround(rows[k].objects / p->host_unit);
    free(rows);
    return ok;
}

/* Fills in hosts and clients from their series; a single host has the series of all. */
static bool fill_from_series(struct plot_data *p, struct err *e)
{
    const struct operation *op = p->operation;
    const struct cluster_total *all = &p->a->total;
    const struct host_result *hosts = op != NULL ? op->hosts : all->hosts;
    size_t n_hosts = op != NULL ? op->n_host_results : all->n_hosts;
    const char *only = op != NULL ? op->only_host : all->only_host;
    bool by_name = op == NULL && all->series_of != NULL, ok = true;

    choose_host_bins(p, by_name ? all->n_series_hosts : n_hosts);
    p->clients.bins = p->hosts.bins;
    for (size_t i = 0; ok && by_name && i < all->n_series_hosts + all->n_series_clients; i++)
        ok = add_series(p, i < all->n_series_hosts ? &p->hosts : &p->clients, all->series_of[i],
                        (int)i, e);
    for (size_t i = 0; ok && !by_name && i < n_hosts; i++)
        ok = add_series(p, &p->hosts, hosts[i].host, (int)i, e);
    if (ok && !by_name && n_hosts == 0 && only != NULL)
        ok = add_series(p, &p->hosts, only, -1, e);
    fill_means(p, &p->clients);
    finish_parties(p);
    return ok;
}

static bool fill_pass(struct work *x, struct err *e)
{
    struct plot_data *p = x->p;
    const struct dataset *d = p->a->dataset;

    bins_over(&p->heat.bins, p->course.start_ns, p->course.end_ns, PLOT_DATA_MAX_HEAT_BINS);
    p->clients.bins = p->heat.bins;
    choose_host_bins(p, p->operation != NULL ? (size_t)p->operation->n_hosts : p->a->total.n_hosts);
    bool ok = mem_cleared(&x->host_of, d->hosts.n, e) &&
              mem_cleared(&x->client_of, d->clients.n, e) &&
              mem_cleared(&p->heat.count, p->heat.bins.n * PLOT_DATA_N_LOG, e);
    for (size_t i = 0; ok && i < d->n_tables; i++) {
        const struct table *t = table_of(p, i);
        for (size_t k = 0; ok && t != NULL && k < t->n; k++)
            ok = add_row(x, t, k, e);
    }
    if (ok)
        finish_parties(p);
    free(x->host_of);
    free(x->client_of);
    return ok;
}

/* ---- Durations ---- */

/* Sets the marks to what the report says. */
static void set_marks(struct plot_sample *s, const struct times *t,
                      const struct statistics_latency *l)
{
    const double p999_ns = l != NULL ? l->q[STATISTICS_N_QUANTILES - 1].ci.value : NAN;
    const int64_t marks[PLOT_DATA_N_MARKS] = {t->p50_ns, t->p90_ns, t->p99_ns,
                                              isnan(p999_ns) ? PLOT_DATA_UNKNOWN : (int64_t)p999_ns,
                                              s->most_ns};

    memcpy(s->mark_ns, marks, sizeof marks);
}

static void add_time(struct plot_sample *s, int64_t ns)
{
    s->n++;
    s->count[hist_index(ns)]++;
    s->most_ns = int64_max(s->most_ns, ns);
}

static bool fill_samples(struct plot_data *p, const struct segment_range *inside, struct err *e)
{
    const struct operation *op = p->operation;
    bool is_open = op != NULL && op->requests.response_time.dur.present;

    if (!mem_cleared(&p->durations.count, HIST_N_INDEXES, e) ||
        !mem_cleared(&p->ttfb.count, HIST_N_INDEXES, e) ||
        !mem_cleared(&p->service.count, HIST_N_INDEXES, e))
        return false;
    for (size_t i = 0; i < p->a->dataset->n_tables; i++) {
        const struct table *t = table_of(p, i);
        for (size_t k = 0; t != NULL && k < t->n; k++) {
            if (!table_done_within(t, k, inside->start_ns, inside->end_ns))
                continue;
            int64_t dur_ns = packed_get(&t->dur, k);
            bool has_late = packed_has(&t->late, k);
            if (has_late || !is_open)
                add_time(&p->durations, dur_ns + (has_late ? packed_get(&t->late, k) : 0));
            if (packed_has(&t->ttfb, k))
                add_time(&p->ttfb, packed_get(&t->ttfb, k));
            if (has_late)
                add_time(&p->service, dur_ns);
        }
    }
    if (op != NULL) {
        const struct statistics *st = op->statistics;
        set_marks(&p->durations, is_open ? &op->requests.response_time.dur : &op->requests.all.dur,
                  st == NULL ? NULL
                  : is_open  ? &st->response
                             : &st->duration);
        set_marks(&p->ttfb, &op->requests.all.ttfb, st != NULL ? &st->ttfb : NULL);
    }
    return true;
}

static bool init_density(struct plot_data *p, struct err *e)
{
    const struct requests *q = p->operation != NULL ? &p->operation->requests : NULL;

    return q == NULL || !q->present || q->single_size || q->n_sizes == 0 || !has_requests(p) ||
           mem_cleared(&p->sizes.density, (size_t)PLOT_DATA_N_LOG * PLOT_DATA_N_LOG, e);
}

/* Chooses bins of 100 requests or more: with fewer, the p99 is the slowest request. */
static bool fill_fine(struct plot_data *p, struct err *e)
{
    size_t most = (size_t)(p->course.n_requests / 100);
    most = most < MIN_FINE_BINS ? MIN_FINE_BINS : most < MAX_FINE_BINS ? most : MAX_FINE_BINS;
    return plot_timeline_init(&p->course, p->a, p->index, most, e);
}

/* ---- All of it: two pieces, which may run at the same time ---- */

static bool fill_over_time(void *work, struct err *e)
{
    struct work *w = work;
    return init_density(w->p, e) && fill_series(w->p, e) && fill_fine(w->p, e) &&
           (has_requests(w->p) ? fill_pass(w, e) : fill_from_series(w->p, e));
}

static bool fill_distributions(void *work, struct err *e)
{
    struct work *w = work;
    return fill_samples(w->p, &w->inside, e);
}

static void begin(struct plot_data *p, const struct analysis *a, int index)
{
    const struct operation *op = index >= 0 ? &a->operations[index] : NULL;
    *p = (struct plot_data){
        .a = a,
        .index = index,
        .operation = op,
        .op = op != NULL ? op->op : "",
        .shown = op != NULL ? throughput_shown(&op->judged, &op->throughput)
                            : throughput_shown(&a->total.judged, &a->total.throughput),
        .segments = op != NULL ? &op->segments : &a->total.segments,
        .statistics = op != NULL ? op->statistics : NULL,
    };
    plot_timeline_begin(&p->course, a, index);
    double n_objects = 0;
    for (size_t k = 0; k < a->n_operations; k++)
        n_objects += (double)a->operations[k].n_objects;
    p->host_unit = p->course.has_bytes || n_objects * MICRO > 0x1p62 ? 1 : 1.0 / MICRO;
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
        if (!ok || p->course.n_requests == 0)
            continue;
        const struct throughput *t =
            p->operation != NULL ? &p->operation->throughput : &a->total.throughput;
        work[i].p = p;
        work[i].inside = t->present
                             ? (struct segment_range){t->start_ns, t->start_ns + t->duration_ns + 1}
                             : (struct segment_range){0, -1};
        tasks[n_tasks++] =
            (struct task){fill_over_time, &work[i], 2 * (uint64_t)p->course.n_requests};
        tasks[n_tasks++] =
            (struct task){fill_distributions, &work[i], (uint64_t)p->course.n_requests};
    }
    ok = ok && tasks_run(tasks, n_tasks, a->options.threads, e);
    free(work);
    free(tasks);
    return ok;
}

static void free_parties(struct plot_parties *x)
{
    for (size_t i = 0; i < x->n; i++)
        free(x->v[i].sum);
    free(x->v);
}

void plot_data_fini(struct plot_data *p)
{
    free(p->rows);
    plot_timeline_fini(&p->course);
    free(p->heat.count);
    free_parties(&p->hosts);
    free_parties(&p->clients);
    free(p->durations.count);
    free(p->ttfb.count);
    free(p->service.count);
    free(p->sizes.density);
    *p = (struct plot_data){0};
}
