/* Figures of an operation of a foreign file, from its counters and its seconds. */
#include "analyze/analysis/sums/foreign_internal.h"
#include "analyze/analysis/sums/sums_internal.h"
#include "analyze/summary/estimate/confidence.h"
#include "analyze/summary/sets/set.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>

static const char *const unknown_sizes =
    "what successful requests delivered is not in this file: its bytes and objects include failed "
    "requests of unknown size";
static const char *const with_failed = "its bytes and objects include failed requests";

/* ---- Seconds ---- */

bool foreign_seconds(struct foreign_seconds *x, const struct sums_part *p, int64_t clients,
                     int64_t from_ns, int64_t to_ns, struct err *e)
{
    *x = (struct foreign_seconds){0};
    if (!mem_new(&x->at_s, p->n_seconds, e) || !mem_new(&x->v, p->n_seconds, e))
        return false;
    for (size_t i = 0; i < p->n_seconds; i++) {
        int64_t at_s = p->first_s + (int64_t)i;

        if (p->seconds[i].n_started < clients || at_s * NS_PER_S < from_ns ||
            at_s * NS_PER_S > to_ns)
            continue;
        x->at_s[x->n] = at_s;
        x->v[x->n++] = p->seconds[i];
    }
    return true;
}

void foreign_seconds_fini(struct foreign_seconds *x)
{
    free(x->at_s);
    free(x->v);
}

static struct segment_pick mean_of(const struct foreign_seconds *x)
{
    double bytes = 0, objects = 0;

    for (size_t i = 0; i < x->n; i++) {
        bytes += (double)x->v[i].n_bytes;
        objects += sums_objects(&x->v[i]);
    }
    return (struct segment_pick){x->at_s[0] * NS_PER_S, bytes / (double)x->n,
                                 objects / (double)x->n};
}

/* Finds fastest, median and slowest of the seconds, by bytes if there are any. */
static bool segments_of(struct segments *to, const struct foreign_seconds *x, bool has_bytes,
                        struct err *e)
{
    const struct throughput by = {.present = true, .n_bytes = has_bytes};
    struct segment_pick *const picks[] = {&to->fastest, &to->median, &to->slowest};
    struct slice_amounts *cells = NULL;
    uint32_t *order = NULL;
    struct slice_grid grid;
    bool ok = mem_new(&cells, x->n, e) && mem_new(&order, x->n, e);

    for (size_t i = 0; ok && i < x->n; i++)
        cells[i] = sums_amounts(&x->v[i]);
    slice_grid_init(&grid, 0, NS_PER_S, x->n);
    if (ok)
        *to = segments_of_cells(&grid, cells, &by, order);
    for (size_t i = 0; ok && i < 3; i++)
        picks[i]->start_ns = x->at_s[picks[i]->start_ns / NS_PER_S] * NS_PER_S;
    free(cells);
    free(order);
    return ok;
}

/* ---- The whole time ---- */

struct throughput foreign_throughput(const struct sums_op *op, const struct sums_group *g)
{
    const struct foreign_part *of = op->foreign;
    const int64_t ns = op->all.end_ns - op->all.start_ns;
    struct sums_part all = {
        .n_bytes = of->ok_bytes, .n_objects = of->ok_objects, .n_errors = op->all.n_errors};
    unsigned unknown = (of->ok_bytes_known ? 0 : THROUGHPUT_BYTES) |
                       (of->ok_objects_known ? 0 : THROUGHPUT_OBJECTS);

    if (g != NULL) {
        all = (struct sums_part){0};
        unknown = 0;
    }
    for (size_t i = 0; g != NULL && i < g->n; i++) {
        all.n_bytes += g->part[i]->n_bytes;
        all.n_objects += g->part[i]->n_objects;
        all.n_errors += g->part[i]->n_errors;
    }
    if (ns <= 0)
        return (struct throughput){0};
    return (struct throughput){
        .present = true,
        .known = {THROUGHPUT_PARTS | THROUGHPUT_ENDED | unknown, unknown ? unknown_sizes : NULL},
        .start_ns = op->all.start_ns,
        .duration_ns = ns,
        .n_bytes = all.n_bytes,
        .n_objects = (double)all.n_objects,
        .errors = all.n_errors,
        .bytes_per_s = (double)all.n_bytes / ((double)ns / 1e9),
        .objects_per_s = (double)all.n_objects / ((double)ns / 1e9),
    };
}

bool foreign_segments(struct span *range, struct segments *to, const struct sums_op *op,
                      struct err *e)
{
    const struct sums_part *all = &op->all;
    const int64_t start_ns = all->first_s * NS_PER_S;
    struct foreign_seconds x;

    if (all->n_seconds == 0)
        return true;
    *range = (struct span){true, start_ns, start_ns + (int64_t)all->n_seconds * NS_PER_S};
    bool ok = foreign_seconds(&x, all, 1, INT64_MIN, INT64_MAX, e) &&
              segments_of(to, &x, all->n_bytes > 0, e);
    if (ok) {
        to->which = "without the first and last 2 s";
        to->with_failed = all->n_errors > 0;
        to->mean = mean_of(&x);
    }
    foreign_seconds_fini(&x);
    return ok;
}

struct together foreign_together(const struct foreign *f)
{
    const struct sums_part *p = &f->together;
    struct together t = {.present = p->n_seconds > 0};

    for (size_t i = 0; i < p->n_seconds; i++) {
        if (p->seconds[i].n_started < (int64_t)f->all.clients.n)
            continue;
        t.n_seconds++;
        t.bytes_per_s += (double)p->seconds[i].n_bytes;
        t.objects_per_s += sums_objects(&p->seconds[i]);
    }
    if (t.n_seconds > 0) {
        t.bytes_per_s /= (double)t.n_seconds;
        t.objects_per_s /= (double)t.n_seconds;
    }
    return t;
}

/* ---- By whole seconds ---- */

static bool fill_rates(struct operation *op, const struct foreign_seconds *x, struct err *e)
{
    const struct segment_pick mean = mean_of(x);

    op->throughput = (struct throughput){.present = true,
                                         .known = {.absent = THROUGHPUT_PARTS | THROUGHPUT_ENDED},
                                         .start_ns = op->range.start_ns,
                                         .duration_ns = op->range.end_ns - op->range.start_ns,
                                         .n_bytes = op->n_bytes,
                                         .bytes_per_s = mean.bytes_per_s,
                                         .objects_per_s = mean.objects_per_s};
    return segments_of(&op->segments, x, op->n_bytes > 0, e);
}

/* Fills the percentiles of durations, as far as the groups bound them. */
static bool fill_percentiles(struct statistics_latency *to, const struct operation *op,
                             const struct sums_op *of, struct err *e)
{
    to->times = op->requests.all.dur;
    for (size_t i = 0; i < STATISTICS_N_QUANTILES; i++) {
        struct sums_bounds p;

        if (!sums_foreign_percentile(&p, of, statistics_permille[i] * 1000, e))
            return false;
        bool is_known = p.present && isfinite(p.most_ns) && p.least_ns > 0;
        double value = is_known ? sqrt(p.least_ns * p.most_ns) : NAN;
        double lo = fmax(p.lo_ns, 0);

        to->q[i].ci = (struct stats_ci){.ok = is_known,
                                        .why = "its groups do not bound it",
                                        .value = value,
                                        .lo = lo,
                                        .hi = p.hi_ns,
                                        .lo90 = lo,
                                        .hi90 = p.hi_ns,
                                        .se = NAN,
                                        .df = NAN,
                                        .below = value - p.least_ns,
                                        .above = p.most_ns - value};
        to->q[i].can_gate = isfinite(p.hi_ns);
    }
    return true;
}

/* Moves a mean of all requests to the bounds of that of the successful ones. */
static void bound_mean(struct stats_ci *ci, double least, double most)
{
    double mean = ci->value;

    ci->value = (least + most) / 2;
    ci->below = ci->above = (most - least) / 2;
    ci->lo += least - mean;
    ci->lo90 += least - mean;
    ci->hi += most - mean;
    ci->hi90 += most - mean;
}

/* Fills the mean of the durations of the successful requests. If others failed, it lies within
 * bounds, whichever these were. The requests of 10 s count as one segment. */
static bool fill_mean(struct stats_ci *to, const struct operation *op, const struct sums_op *of,
                      struct err *e)
{
    const struct foreign_part *x = of->foreign;
    const struct times *t = &op->requests.all.dur;
    double n = (double)of->all.n_requests, failed = (double)of->all.n_errors;
    double fastest = (double)t->fastest_ns, slowest = (double)t->slowest_ns;
    int64_t *sum = NULL, *n_requests = NULL;
    size_t n_times = 0;

    *to = (struct stats_ci){.why = "its groups do not give it", .value = NAN};
    if ((t->known.absent & (1u << FIGURE_MEAN | 1u << FIGURE_FASTEST)) != 0 || failed == n)
        return true;
    bool ok = mem_cleared(&sum, x->n_groups, e) && mem_cleared(&n_requests, x->n_groups, e);
    for (size_t i = 0, k = 0; ok && i < x->n_groups; i++) {
        const struct request_group *g = &x->groups[i];

        k = i > 0 && g->client == g[-1].client ? k + 1 : 0;
        n_times = k + 1 > n_times ? k + 1 : n_times;
        n_requests[k] += g->n_requests;
        sum[k] += llround(g->mean_ms * 1e6 * (double)g->n_requests);
    }
    ok = ok && stats_mean_of_requests(t->mean_ns, sum, n_requests, n_times, NULL, to, e);
    if (failed > 0)
        bound_mean(to, fmax((n * t->mean_ns - failed * slowest) / (n - failed), fastest),
                   fmin((n * t->mean_ns - failed * fastest) / (n - failed), slowest));
    free(sum);
    free(n_requests);
    return ok;
}

bool foreign_by_second(struct operation *to, const struct foreign *f, const struct sums_op *op,
                       bool is_mixed, struct err *e)
{
    const struct sums_part *all = &op->all;
    /* The series of a merged file lacks some of these seconds, and has others in which not all
     * clients ran. */
    bool is_sum = !is_mixed && f->together.n_seconds > 0;
    struct series_row *rows = NULL;
    struct foreign_seconds x;
    bool ok = is_sum ? foreign_seconds(&x, &f->together, (int64_t)f->all.clients.n,
                                       (all->start_ns / NS_PER_S + 2) * NS_PER_S,
                                       all->end_ns - 2 * NS_PER_S, e)
                     : foreign_seconds(&x, all, 1, INT64_MIN, INT64_MAX, e);

    ok = ok && mem_new(&rows, x.n, e);
    /* Objects stand for requests, if each request has one. */
    for (size_t i = 0; ok && i < x.n; i++) {
        double objects = sums_objects(&x.v[i]);
        rows[i] = (struct series_row){.duration_ns = NS_PER_S,
                                      .bytes = x.v[i].n_bytes,
                                      .objects = objects,
                                      .errors = x.v[i].n_failed,
                                      .ops_ended = int64_max(llround(objects) - x.v[i].n_failed, 0),
                                      .lacks_times = true,
                                      .lacks_counts = all->n_objects != all->n_requests};
    }
    int64_t first_s = x.n > 0 ? x.at_s[0] : 0;
    to->range = (struct span){x.n > 0, first_s * NS_PER_S, (first_s + (int64_t)x.n) * NS_PER_S};
    to->segments = (struct segments){0};
    to->throughput = (struct throughput){.known.why = all->n_errors > 0 ? with_failed : NULL};
    ok = ok && (x.n == 0 || all->n_errors > 0 || fill_rates(to, &x, e));
    to->judged = to->throughput;
    ok = ok && sums_statistics(to, all, rows, x.n, e) &&
         (!to->requests.present || (fill_percentiles(&to->statistics->duration, to, op, e) &&
                                    fill_mean(&to->statistics->duration.mean, to, op, e)));
    free(rows);
    foreign_seconds_fini(&x);
    return ok;
}
