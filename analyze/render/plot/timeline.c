#include "analyze/render/plot/timeline.h"

#include "analyze/analysis/run/analysis.h"
#include "analyze/data/slices.h"
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
    int64_t length_ns = plot_timeline_round_ns(span_ns / n_bins);
    slice_grid_init(&grid, t->start_ns, length_ns, (size_t)(span_ns / length_ns) + 1);
    if (!analysis_series_on(a, index, -1, &grid, &t->rows, &t->n, e))
        return false;
    if (t->n == 0)
        return true;
    for (size_t i = 0; index < 0 && i < t->n; i++)
        t->rows[i].p50_ns = t->rows[i].p90_ns = t->rows[i].p99_ns = NAN;
    bool ok = t->n_errors == 0 || fill_messages(t, a, index, e);
    if (ok)
        end_with_the_run(t, length_ns);
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
        return r->p50_ns;
    case PLOT_P99:
        return r->p99_ns;
    case PLOT_FAILED:
        return (double)r->errors;
    case PLOT_IN_FLIGHT:
        return r->in_flight;
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
    free(t->rows);
}
