#include "analyze/render/plot/timeline.h"

#include "analyze/analysis/run/analysis.h"
#include "analyze/base/csort.h"
#include "analyze/data/slices.h"
#include "analyze/stats/picker.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_REQUESTS 20 /* in a bin, on average: percentiles of fewer are noise */
#define MIN_BINS     8
#define MIN_BIN_NS   1000
#define STEADY_FRAC  0.1 /* a number in flight that varies by less is steady */

int64_t plot_timeline_round_ns(int64_t ns)
{
    int64_t power_ns = MIN_BIN_NS;

    while (power_ns < INT64_MAX / 100 && power_ns * 10 < ns)
        power_ns *= 10;
    return ns <= power_ns       ? power_ns
           : ns <= 2 * power_ns ? 2 * power_ns
           : ns <= 5 * power_ns ? 5 * power_ns
                                : 10 * power_ns;
}

/* Returns a length of bins that people read well: more steps than the above, which waste less
 * width, and beyond half a minute those of clocks. */
static int64_t bin_ns(int64_t ns)
{
    static const int64_t clock_s[] = {30,  45,  60,  90,   120,  180,  240,
                                      300, 600, 900, 1200, 1800, 2700, 3600};
    int64_t round_ns = plot_timeline_round_ns(ns), tenth_ns = MIN_BIN_NS;

    for (size_t i = 0; ns > 20 * NS_PER_S && i < sizeof clock_s / sizeof *clock_s; i++)
        if (ns <= clock_s[i] * NS_PER_S)
            return clock_s[i] * NS_PER_S;
    while (tenth_ns * 100 <= ns)
        tenth_ns *= 10;
    for (int64_t tenths = 15; tenth_ns > MIN_BIN_NS && tenths < 100; tenths += 5)
        if (ns > 10 * tenth_ns && ns <= tenth_ns * tenths)
            return tenth_ns * tenths;
    return round_ns;
}

const struct table *plot_timeline_table(const struct analysis *a, int index, size_t i)
{
    const struct table *t = &a->dataset->tables[i];
    const char *op = a->dataset->ops.v[t->op];

    return index < 0 || strcmp(op, a->operations[index].op) == 0 ? t : NULL;
}

void plot_timeline_begin(struct plot_timeline *t, const struct analysis *a, int index)
{
    *t = (struct plot_timeline){
        .op = index >= 0 ? a->operations[index].op : "all operations together",
        .start_ns = INT64_MAX,
        .end_ns = INT64_MIN,
    };
    for (size_t k = 0; k < a->n_operations; k++) {
        const struct operation *op = &a->operations[k];
        if (op->n_requests == 0 || (index >= 0 && (size_t)index != k))
            continue;
        t->start_ns = int64_min(t->start_ns, op->start_ns);
        t->end_ns = int64_max(t->end_ns, op->end_ns);
        t->n_requests += op->n_requests;
        t->n_errors += op->n_errors;
        t->has_bytes |= op->n_bytes > 0;
        t->is_open |= op->requests.response_time.dur.present;
    }
    t->range = index >= 0 ? a->operations[index].range : a->total.range;
}

/* Ends the last bin with the run, so that its rates are over the time that it has. If that is less
 * than half a bin, the bin joins the one before it. */
static void end_with_the_run(struct plot_timeline *t, int64_t length_ns)
{
    struct series_row *last = &t->rows[t->n - 1], *before = last - 1;
    double busy_ns = last->in_flight * (double)length_ns;

    last->duration_ns = t->end_ns > last->start_ns ? t->end_ns - last->start_ns : 1;
    if (t->n < 2 || last->duration_ns >= length_ns / 2) {
        last->in_flight = busy_ns / (double)last->duration_ns;
        return;
    }
    busy_ns += before->in_flight * (double)length_ns;
    before->bytes += last->bytes;
    before->objects += last->objects;
    before->errors += last->errors;
    before->duration_ns += last->duration_ns;
    before->in_flight = busy_ns / (double)before->duration_ns;
    t->n--;
    for (size_t i = 0; i < t->n_messages; i++)
        t->messages[i].by_bin[t->n - 1] += t->messages[i].by_bin[t->n];
}

/* ---- Errors by message ---- */

struct ranked {
    int64_t n;
    size_t id;
};

static int by_number(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return x->n != y->n ? (x->n < y->n) - (x->n > y->n) : (x->id > y->id) - (x->id < y->id);
}

static void count_messages(struct ranked *v, const struct analysis *a, int index)
{
    for (size_t i = 0; i < a->dataset->n_tables; i++) {
        const struct table *t = plot_timeline_table(a, index, i);
        for (size_t k = 0; t != NULL && t->error != NULL && k < t->n; k++)
            v[t->error[k]].n += t->error[k] != 0;
    }
}

static bool fill_messages(struct plot_timeline *t, const struct analysis *a, int index,
                          struct err *e)
{
    const struct names *names = &a->dataset->errors;
    struct ranked *v = NULL;
    uint8_t *of_id = NULL;
    bool ok = mem_cleared(&v, names->n + 1, e) && mem_cleared(&of_id, names->n + 1, e);

    for (size_t i = 0; ok && i < names->n; i++)
        v[i].id = i;
    if (ok) {
        count_messages(v, a, index);
        qsort(v, names->n, sizeof *v, by_number);
    }
    for (size_t i = 0; ok && i < names->n && v[i].n > 0; i++) {
        size_t k = i < PLOT_TIMELINE_MESSAGES ? i : PLOT_TIMELINE_MESSAGES - 1;
        struct plot_timeline_message *m = &t->messages[k];

        of_id[v[i].id] = (uint8_t)k;
        m->text = i == k ? names->v[v[i].id] : NULL;
        m->n += v[i].n;
        if (i != k)
            continue;
        t->n_messages++;
        ok = mem_cleared(&m->by_bin, t->n, e);
    }
    for (size_t i = 0; ok && i < a->dataset->n_tables; i++) {
        const struct table *from = plot_timeline_table(a, index, i);
        for (size_t k = 0; from != NULL && from->error != NULL && k < from->n; k++) {
            if (from->error[k] == 0)
                continue;
            uint64_t at =
                (uint64_t)(table_end(from, k) - t->start_ns) / (uint64_t)t->rows[0].duration_ns;
            t->messages[of_id[from->error[k]]].by_bin[at < t->n ? at : t->n - 1]++;
        }
    }
    free(v);
    free(of_id);
    return ok;
}

/* ---- Sources without single requests ---- */

/* Joins the segments to at most n_most bins. */
static bool join_segments(struct plot_timeline *t, const struct analysis *a, int index,
                          size_t n_most, struct err *e)
{
    int64_t each_ns = t->rows[0].duration_ns;
    int64_t length_ns = plot_timeline_round_ns((int64_t)(t->n - 1) * each_ns / (int64_t)n_most + 1);
    struct slice_grid grid;

    length_ns = (length_ns + each_ns - 1) / each_ns * each_ns;
    slice_grid_init(&grid, t->start_ns, length_ns,
                    (size_t)((int64_t)(t->n - 1) * each_ns / length_ns) + 1);
    grid.end_ns = t->end_ns; /* the last bin holds no more than its segments */
    free(t->rows);
    t->rows = NULL;
    t->n = 0;
    if (!analysis_series_on(a, index, -1, &grid, &t->rows, &t->n, e))
        return false;
    t->rows[t->n - 1].duration_ns = t->end_ns - t->rows[t->n - 1].start_ns;
    return true;
}

/* Sets the range to the bins that are known; false: there are none. */
static bool find_known(struct plot_timeline *t)
{
    size_t n_known = 0;

    for (size_t i = 0; i < t->n; i++) {
        const struct series_row *r = &t->rows[i];
        if (isnan(r->objects))
            continue;
        t->range.start_ns = n_known++ == 0 ? r->start_ns : t->range.start_ns;
        t->range.end_ns = r->start_ns + r->duration_ns;
    }
    t->range.present = n_known > 0;
    return n_known > 0;
}

/* Fills the bins from the segments of the series, or several of them joined; errors have no
 * messages by time. */
static bool fill_from_series(struct plot_timeline *t, const struct analysis *a, int index,
                             size_t n_most, struct err *e)
{
    struct plot_timeline_message *m = &t->messages[0];

    if (!analysis_series(a, index, -1, &t->rows, &t->n, e))
        return false;
    if (t->n == 0)
        return true;
    t->start_ns = t->rows[0].start_ns;
    t->end_ns = t->rows[t->n - 1].start_ns + t->rows[t->n - 1].duration_ns;
    if ((t->n > n_most && !join_segments(t, a, index, n_most, e)) ||
        !mem_cleared(&m->by_bin, t->n, e))
        return false;
    for (size_t i = 0; i < t->n; i++) {
        m->by_bin[i] = t->rows[i].errors;
        m->n += t->rows[i].errors;
    }
    t->n_messages = m->n > 0;
    if (isnan(t->rows[0].objects) && !find_known(t))
        t->n = 0;
    return true;
}

/* ---- Single requests ---- */

bool plot_timeline_init(struct plot_timeline *t, const struct analysis *a, int index, size_t n_most,
                        struct err *e)
{
    struct slice_grid grid;

    plot_timeline_begin(t, a, index);
    if (t->n_requests == 0 || t->end_ns <= t->start_ns)
        return true;
    if (a->dataset->n_tables == 0)
        return fill_from_series(t, a, index, n_most, e);
    int64_t n_bins = t->n_requests / MIN_REQUESTS, span_ns = t->end_ns - t->start_ns;
    n_bins = n_bins < MIN_BINS ? MIN_BINS : n_bins > (int64_t)n_most ? (int64_t)n_most : n_bins;
    int64_t length_ns = bin_ns(span_ns / n_bins);
    slice_grid_init(&grid, t->start_ns, length_ns, (size_t)(span_ns / length_ns) + 1);
    if (!analysis_series_on(a, index, -1, &grid, &t->rows, &t->n, e))
        return false;
    if (t->n == 0)
        return true;
    for (size_t i = 0; index < 0 && i < t->n; i++)
        t->rows[i].p50_ns = t->rows[i].p90_ns = t->rows[i].p99_ns = t->rows[i].response_p50_ns =
            t->rows[i].response_p99_ns = NAN;
    bool ok = t->n_errors == 0 || fill_messages(t, a, index, e);
    if (ok)
        end_with_the_run(t, length_ns);
    return ok;
}

/* ---- Bands ---- */

static bool band_init(struct plot_band *b, size_t n, struct err *e)
{
    if (!mem_new(&b->least, n, e) || !mem_new(&b->most, n, e))
        return false;
    for (size_t i = 0; i < n; i++)
        b->least[i] = b->most[i] = NAN;
    return true;
}

static void band_add(struct plot_band *b, size_t i, double value)
{
    b->least[i] = fmin(b->least[i], value); /* of a number and NAN these are the number */
    b->most[i] = fmax(b->most[i], value);
}

bool plot_timeline_band(struct plot_timeline *t, const struct plot_timeline *fine,
                        enum plot_course what, struct err *e)
{
    if (fine->n <= t->n || t->n == 0)
        return true;
    if (!band_init(&t->band[what], t->n, e))
        return false;
    for (size_t i = 0; i < fine->n; i++) {
        const struct series_row *r = &fine->rows[i];
        int64_t at = (r->start_ns + r->duration_ns / 2 - t->start_ns) / t->rows[0].duration_ns;

        band_add(&t->band[what], at < (int64_t)t->n ? (size_t)at : t->n - 1,
                 plot_timeline_value(fine, what, i));
    }
    return true;
}

/* ---- A party against the others ---- */

#define N_SIZES 33 /* parties by size: that of the finding, and others by powers of four */

/* Returns which host, client, thread or size a request belongs to, by the finding's scope. */
static size_t party_of(const struct dataset *d, const struct table *t, size_t i,
                       const struct finding *x)
{
    double bytes = (double)packed_get(&t->bytes, i);

    if (x->scope == SCOPE_THREAD)
        return table_thread_index(t, table_thread(t, i));
    if (x->scope == SCOPE_SYSTEM)
        return bytes >= finding_value(x, "min_bytes") && bytes <= finding_value(x, "max_bytes")
                   ? 0
                   : 1 + (size_t)(bytes > 1 ? ilogb(bytes) / 2 : 0);
    const struct place *at = dataset_place(d, t, table_place(t, i));
    return x->scope == SCOPE_HOST ? at->host : at->client;
}

static bool is_named(const struct dataset *d, const struct finding *x, size_t k)
{
    const struct names *names = x->scope == SCOPE_HOST ? &d->hosts : &d->clients;

    if (x->scope == SCOPE_THREAD)
        return d->threads[k] == x->thread;
    if (x->scope == SCOPE_SYSTEM)
        return k == 0;
    bool is = strcmp(names->v[k], x->party) == 0;
    for (size_t i = 0; !is && i < x->n_others; i++)
        is = strcmp(names->v[k], x->others[i]) == 0;
    return is;
}

/* Sorts the durations of the successful requests by bin and party: v[first[k]] .. */
static bool sort_by_party(const struct plot_timeline *t, const struct analysis *a, int index,
                          const struct finding *x, size_t *first, int64_t **v, size_t n,
                          struct err *e)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < a->dataset->n_tables; i++) {
            const struct table *of = plot_timeline_table(a, index, i);
            for (size_t k = 0; of != NULL && k < of->n; k++) {
                size_t at = (size_t)((table_end(of, k) - t->start_ns) / t->rows[0].duration_ns);
                size_t to = party_of(a->dataset, of, k, x) * t->n + (at < t->n ? at : t->n - 1);

                if (table_failed(of, k))
                    continue;
                if (pass == 0)
                    csort_count(first, to);
                else
                    (*v)[csort_place(first, to)] =
                        packed_get(&of->dur, k) +
                        (packed_has(&of->late, k) ? packed_get(&of->late, k) : 0);
            }
        }
        if (pass == 0 && !mem_new(v, csort_sum(first, n), e))
            return false;
    }
    return true;
}

bool plot_timeline_party(struct plot_timeline *t, const struct analysis *a, int index,
                         const struct finding *x, size_t n_most, struct err *e)
{
    const struct dataset *d = a->dataset;
    size_t n = x->scope == SCOPE_HOST     ? d->hosts.n
               : x->scope == SCOPE_CLIENT ? d->clients.n
               : x->scope == SCOPE_SYSTEM ? N_SIZES
                                          : d->n_threads;
    size_t *first = NULL;
    int64_t *v = NULL;

    plot_timeline_begin(t, a, index);
    if (d->n_tables == 0 || n < 2 || t->end_ns <= t->start_ns || t->n_requests == 0)
        return true;
    int64_t n_bins = t->n_requests / MIN_REQUESTS / (int64_t)n, span_ns = t->end_ns - t->start_ns;
    n_bins = n_bins < MIN_BINS ? MIN_BINS : n_bins > (int64_t)n_most ? (int64_t)n_most : n_bins;
    int64_t length_ns = bin_ns(span_ns / n_bins);
    enum plot_course what =
        x->kind->is_slowness || x->scope == SCOPE_SYSTEM ? PLOT_P50 : PLOT_THROUGHPUT;
    t->n = (size_t)((span_ns + length_ns / 2) / length_ns);
    t->n = t->n > 0 ? t->n : 1;
    t->has_bytes = t->is_open = false;
    bool ok = mem_cleared(&t->rows, t->n, e) && mem_cleared(&first, n * t->n + 2, e) &&
              band_init(&t->band[what], t->n, e);
    for (size_t i = 0; ok && i < t->n; i++)
        t->rows[i] = series_row_empty(t->start_ns + (int64_t)i * length_ns, length_ns);
    if (ok)
        t->rows[t->n - 1].duration_ns = t->end_ns - t->rows[t->n - 1].start_ns;
    ok = ok && sort_by_party(t, a, index, x, first, &v, n * t->n, e);
    for (size_t k = 0; ok && k < n * t->n; k++) {
        struct series_row *r = &t->rows[k % t->n];
        size_t n_here = first[k + 1] - first[k];
        int64_t p50_ns = 0;

        if (n_here > 0)
            picker_quantiles(v + first[k], n_here, &(unsigned){500}, 1, &p50_ns);
        double value = what == PLOT_THROUGHPUT ? (double)n_here / ((double)r->duration_ns / 1e9)
                       : n_here > 0            ? (double)p50_ns
                                               : NAN;
        if (!is_named(d, x, k / t->n))
            band_add(&t->band[what], k % t->n, value);
        else if (what == PLOT_P50)
            r->p50_ns = fmax(r->p50_ns, value); /* of several the worst */
        else
            r->objects = r->objects > 0 ? fmin(r->objects, (double)n_here) : (double)n_here;
    }
    free(first);
    free(v);
    return ok;
}

double plot_timeline_value(const struct plot_timeline *t, enum plot_course what, size_t i)
{
    const struct series_row *r = &t->rows[i];

    switch (what) {
    case PLOT_THROUGHPUT:
        return (t->has_bytes && !isnan(r->objects) ? (double)r->bytes : r->objects) /
               ((double)r->duration_ns / 1e9);
    case PLOT_P50:
        return t->is_open ? r->response_p50_ns : r->p50_ns;
    case PLOT_P99:
        return t->is_open ? r->response_p99_ns : r->p99_ns;
    case PLOT_FAILED:
        return (double)r->errors;
    case PLOT_IN_FLIGHT:
        return r->in_flight;
    case PLOT_SERVICE_P50:
        return t->is_open ? r->p50_ns : NAN;
    case PLOT_SERVICE_P99:
        return t->is_open ? r->p99_ns : NAN;
    case PLOT_N_COURSE:
        break;
    }
    return NAN;
}

bool plot_timeline_is_steady(const struct plot_timeline *t)
{
    double least = INFINITY, most = 0;

    /* Fewer requests are in flight while threads start and stop: the active range shows that
     * already. */
    for (size_t i = 0; i < t->n; i++) {
        bool at_end = t->n > 2 && (i == 0 || i == t->n - 1);
        if (!t->rows[i].in_range || at_end)
            continue;
        least = t->rows[i].in_flight < least ? t->rows[i].in_flight : least;
        most = t->rows[i].in_flight > most ? t->rows[i].in_flight : most;
    }
    return most == 0 || most - least <= STEADY_FRAC * most;
}

void plot_timeline_fini(struct plot_timeline *t)
{
    for (size_t i = 0; i < PLOT_TIMELINE_MESSAGES; i++)
        free(t->messages[i].by_bin);
    for (size_t i = 0; i < PLOT_N_COURSE; i++) {
        free(t->band[i].least);
        free(t->band[i].most);
    }
    free(t->rows);
}
