/* Figures of requests from the 10-second groups of a foreign file. */
#include "analyze/analysis/sums/foreign_internal.h"
#include "analyze/summary/model/fields.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>

#define ABSENT(figure) (1u << (figure))
#define MAX_CLASSES    32 /* more than the steps of the recorder's ladder up to 2^63 */

static const char *const no_percentiles =
    "not in this file: percentiles were averaged by the recorder, over 10-second groups";
static const char *const only_bounds =
    "not in this file: the recorder kept percentiles of 10-second groups, which give bounds";
static const char *const not_all =
    "not in this file: percentiles were averaged by the recorder, over 10-second groups, which do "
    "not hold all requests";

static double ns_of(double ms)
{
    return ms >= 0 && ms < 1e12 ? ms * 1e6 : 0;
}

static void widen(struct group_range *r, double ms)
{
    r->least_ns = fmin(r->least_ns, ns_of(ms));
    r->most_ns = fmax(r->most_ns, ns_of(ms));
}

/* Pools the groups' means and standard deviations into those of all requests (Chan, Golub,
 * LeVeque). */
static void pool(struct times *t, const struct foreign_part *x)
{
    long double sum = 0, squares = 0, n = (long double)t->n;
    for (size_t i = 0; i < x->n_groups; i++)
        sum += (long double)x->groups[i].n_requests * x->groups[i].mean_ms;
    long double mean = sum / n;
    for (size_t i = 0; i < x->n_groups; i++) {
        const struct request_group *g = &x->groups[i];
        long double k = (long double)g->n_requests, d = g->mean_ms - mean, sd = g->stddev_ms;

        squares += (k - 1) * sd * sd + k * d * d;
    }
    t->mean_ns = ns_of((double)mean);
    t->stddev_ns = n > 1 ? ns_of((double)sqrtl(squares / (n - 1))) : 0;
}

/* Fills the bounds of the percentiles; those that are exact are known. */
static bool fill_bounds(struct requests *q, const struct sums_op *op, struct err *e)
{
    struct times *t = &q->all.dur;
    int64_t *const value[] = {&t->p50_ns, &t->p90_ns, &t->p99_ns};
    const enum figure figures[] = {FIGURE_P50, FIGURE_P90, FIGURE_P99};
    const uint32_t ppm[] = {500000, 900000, 990000};

    for (size_t i = 0; i < 3; i++) {
        struct sums_bounds p;

        if (!sums_foreign_percentile(&p, op, ppm[i], e))
            return false;
        q->groups.bounds[i] = (struct group_range){NAN, NAN};
        if (!p.present)
            continue;
        q->groups.bounds[i] = (struct group_range){p.least_ns, p.most_ns};
        if (t->known.why == no_percentiles)
            t->known.why = only_bounds;
        if (p.least_ns < p.most_ns || q->with_failed)
            continue;
        *value[i] = llround(p.least_ns);
        t->known.absent &= ~ABSENT(figures[i]);
    }
    return true;
}

static bool fill_single(struct requests *q, const struct sums_op *op, bool is_complete,
                        struct err *e)
{
    const struct foreign_part *x = op->foreign;
    const struct sums_part *all = &op->all;
    const struct group_range none = {INFINITY, -INFINITY};
    struct request_groups *to = &q->groups;
    struct times *t = &q->all.dur;
    double least_ms = INFINITY, most_ms = -INFINITY;

    *to = (struct request_groups){.v = x->groups,
                                  .clients = x->group_clients,
                                  .n = x->n_groups,
                                  .p50 = none,
                                  .p90 = none,
                                  .p99 = none};
    for (size_t i = 0; i < x->n_groups; i++) {
        const struct request_group *g = &x->groups[i];

        least_ms = fmin(least_ms, g->min_ms);
        most_ms = fmax(most_ms, g->max_ms);
        widen(&to->p50, g->p50_ms);
        widen(&to->p90, g->p90_ms);
        widen(&to->p99, g->p99_ms);
    }
    t->fastest_ns = llround(ns_of(least_ms));
    t->slowest_ns = llround(ns_of(most_ms));
    t->known.absent &= ~(ABSENT(FIGURE_FASTEST) | ABSENT(FIGURE_SLOWEST));
    if (is_complete) {
        pool(t, x);
        t->known.absent &= ~(ABSENT(FIGURE_MEAN) | ABSENT(FIGURE_STDDEV));
    }
    if (is_complete && x->n_groups == 1 && x->n_empty_groups == 0) {
        t->p50_ns = llround(to->p50.most_ns);
        t->p90_ns = llround(to->p90.most_ns);
        t->p99_ns = llround(to->p99.most_ns);
        t->known.absent &= ~(ABSENT(FIGURE_P50) | ABSENT(FIGURE_P90) | ABSENT(FIGURE_P99));
        t->known.why = "not in this file: the recorder keeps no other percentiles";
    }
    if (all->n_bytes % all->n_requests == 0 &&
        x->groups[0].object_bytes == all->n_bytes / all->n_requests)
        q->object_size_bytes = x->groups[0].object_bytes;
    return fill_bounds(q, op, e);
}

/* True if the class is one step of the recorder's ladder of sizes: 1, 10, 100, 1 Ki, 10 Ki, 100 Ki,
 * 1 Mi, ... */
static bool is_one_step(const struct request_class *c)
{
    for (int64_t unit = 1; unit < INT64_MAX / 1024; unit *= 1024) {
        const int64_t steps[] = {unit, 10 * unit, 100 * unit, 1024 * unit};
        for (int i = 0; i < 3; i++)
            if (c->min_bytes == steps[i] && c->max_bytes == steps[i + 1])
                return true;
    }
    return false;
}

/* True if the classes of a group are certain to be right. The recorder joins small classes with the
 * next one and then lists their requests twice, and it drops a small class at the top: both errors
 * can cancel. So each class must be a single step, and all must add up. */
static bool is_exact(const struct request_group *g)
{
    __int128 sum = 0;
    for (size_t i = 0; i < g->n_classes; i++) {
        if (!is_one_step(&g->classes[i]))
            return false;
        sum += g->classes[i].n_requests;
    }
    return g->is_multi && sum == g->n_requests;
}

static void add_class(struct requests *q, const struct request_class *c)
{
    size_t i = 0;
    while (i < q->n_sizes && q->sizes[i].min_bytes < c->min_bytes)
        i++;
    struct size_bucket *to = &q->sizes[i];
    if (i == q->n_sizes || to->min_bytes != c->min_bytes) {
        for (size_t k = q->n_sizes++; k > i; k--)
            q->sizes[k] = q->sizes[k - 1];
        *to = (struct size_bucket){
            .min_bytes = c->min_bytes,
            .max_bytes = c->max_bytes,
            .all = {.present = true,
                    .known = {times_quantile_bits() | ABSENT(FIGURE_SIZE) | ABSENT(FIGURE_MEAN),
                              no_percentiles},
                    .rated = true,
                    .slowest_bytes_per_s = INFINITY}};
    }
    struct sized *s = &to->all;
    double n = (double)s->n + (double)c->n_requests;
    if (n > 0)
        s->mean_ns = ((double)s->n * s->mean_ns + (double)c->n_requests * ns_of(c->mean_ms)) / n;
    s->n += c->n_requests;
    s->fastest_bytes_per_s = fmax(s->fastest_bytes_per_s, c->fastest_bytes_per_s);
    s->slowest_bytes_per_s = fmin(s->slowest_bytes_per_s, c->slowest_bytes_per_s);
}

static bool fill_multi(struct requests *q, const struct foreign_part *x, bool is_complete,
                       struct err *e)
{
    struct times *t = &q->all.dur;
    long double sum = 0;

    if (!is_complete)
        return true;
    if (!mem_cleared(&q->sizes, MAX_CLASSES, e))
        return false;
    for (size_t i = 0; i < x->n_groups; i++)
        for (size_t k = 0; k < x->groups[i].n_classes; k++) {
            const struct request_class *c = &x->groups[i].classes[k];
            sum += (long double)c->n_requests * c->mean_ms;
            add_class(q, c);
        }
    t->mean_ns = ns_of((double)(sum / (long double)t->n));
    t->known.absent &= ~ABSENT(FIGURE_MEAN);
    return true;
}

bool foreign_requests(struct requests *q, const struct sums_op *op, struct err *e)
{
    const struct foreign_part *x = op->foreign;
    const struct sums_part *all = &op->all;
    __int128 n = 0;
    bool all_exact = true, any_multi = false;

    for (size_t i = 0; i < x->n_groups; i++) {
        const struct request_group *g = &x->groups[i];
        any_multi |= g->is_multi;
        if (!g->is_multi)
            n += g->n_requests;
        for (size_t k = 0; k < g->n_classes; k++)
            n += g->classes[k].n_requests;
    }
    for (size_t i = 0; any_multi && i < x->n_groups; i++)
        all_exact = all_exact && is_exact(&x->groups[i]);
    *q = (struct requests){.why = "not in this file"};
    if (x->n_groups == 0 || all->n_requests == 0)
        return true;
    const bool is_complete = all_exact && n == all->n_requests;
    const int64_t n_known = n <= INT64_MAX ? (int64_t)n : INT64_MAX;
    *q = (struct requests){
        .present = true,
        .of_whole_run = true,
        .with_failed = all->n_errors > 0,
        .single_size = !any_multi,
        .n = n_known,
        .all.dur = {.present = true,
                    .n = n_known,
                    .known = {times_quantile_bits() | ABSENT(FIGURE_MEAN) | ABSENT(FIGURE_STDDEV) |
                                  ABSENT(FIGURE_FASTEST) | ABSENT(FIGURE_SLOWEST),
                              is_complete ? no_percentiles : not_all}},
        .mean_bytes = (double)all->n_bytes / (double)all->n_requests,
    };
    if (any_multi)
        return fill_multi(q, x, is_complete, e);
    return fill_single(q, op, is_complete, e);
}
