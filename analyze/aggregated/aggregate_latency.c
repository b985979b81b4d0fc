#include "analyze/aggregated/aggregate_internal.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>

static void widen(struct aggregate_range *r, double ms)
{
    r->min_ms = fmin(r->min_ms, ms);
    r->max_ms = fmax(r->max_ms, ms);
}

/* Pools the groups' means and standard deviations into those of all requests (Chan, Golub,
 * LeVeque). */
static void pool(struct aggregate_latency *l, const struct aggfile_entry *x)
{
    long double sum = 0, squares = 0, n = (long double)l->n_requests;
    for (size_t i = 0; i < x->n_groups; i++)
        sum += (long double)x->groups[i].n_requests * x->groups[i].mean_ms;
    long double mean = sum / n;
    for (size_t i = 0; i < x->n_groups; i++) {
        const struct aggfile_group *g = &x->groups[i];
        long double k = (long double)g->n_requests, d = g->mean_ms - mean, sd = g->stddev_ms;

        squares += (k - 1) * sd * sd + k * d * d;
    }
    l->mean_ms = (double)mean;
    l->stddev_ms = n > 1 ? (double)sqrtl(squares / (n - 1)) : 0;
}

static void pool_single(struct aggregate_latency *l, const struct aggfile_entry *x)
{
    l->p50 = l->p90 = l->p99 = (struct aggregate_range){INFINITY, -INFINITY};
    l->min_ms = INFINITY;
    l->max_ms = -INFINITY;
    l->n_smallest_group = INT64_MAX;
    for (size_t i = 0; i < x->n_groups; i++) {
        const struct aggfile_group *g = &x->groups[i];

        l->min_ms = fmin(l->min_ms, g->min_ms);
        l->max_ms = fmax(l->max_ms, g->max_ms);
        l->n_smallest_group = int64_min(l->n_smallest_group, g->n_requests);
        widen(&l->p50, g->p50_ms);
        widen(&l->p90, g->p90_ms);
        widen(&l->p99, g->p99_ms);
    }
    l->is_one_group = l->is_complete && x->n_groups == 1 && x->n_empty_groups == 0;
    if (l->is_complete)
        pool(l, x);
}

/* True if the class is one step of the recorder's ladder of sizes: 1, 10, 100, 1 Ki, 10 Ki, 100 Ki,
 * 1 Mi, ... */
static bool is_one_step(const struct aggfile_class *c)
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
static bool is_exact(const struct aggfile_group *g)
{
    __int128 sum = 0;
    if (!g->is_multi)
        return false;
    for (size_t i = 0; i < g->n_classes; i++) {
        if (!is_one_step(&g->classes[i]))
            return false;
        sum += g->classes[i].n_requests;
    }
    return sum == g->n_requests;
}

static void add_class(struct aggregate_latency *l, const struct aggfile_class *c)
{
    size_t i = 0;
    while (i < l->n_classes && l->classes[i].min_bytes < c->min_bytes)
        i++;
    if (i == l->n_classes || l->classes[i].min_bytes != c->min_bytes) {
        for (size_t k = l->n_classes++; k > i; k--)
            l->classes[k] = l->classes[k - 1];
        l->classes[i] = *c;
        return;
    }
    struct aggfile_class *to = &l->classes[i];
    double n = (double)to->n_requests + (double)c->n_requests;
    if (n > 0)
        to->mean_ms =
            ((double)to->n_requests * to->mean_ms + (double)c->n_requests * c->mean_ms) / n;
    to->n_requests += c->n_requests;
    if (c->fastest_bytes_per_s > to->fastest_bytes_per_s)
        to->fastest_bytes_per_s = c->fastest_bytes_per_s;
    if (c->slowest_bytes_per_s < to->slowest_bytes_per_s)
        to->slowest_bytes_per_s = c->slowest_bytes_per_s;
}

static bool pool_multi(struct aggregate_latency *l, const struct aggfile_entry *x, struct err *e)
{
    /* more than the steps of the ladder up to 2^63 */
    if (!mem_cleared(&l->classes, 32, e))
        return false;
    if (!l->is_complete)
        return true;
    long double sum = 0;
    for (size_t i = 0; i < x->n_groups; i++)
        for (size_t k = 0; k < x->groups[i].n_classes; k++) {
            const struct aggfile_class *c = &x->groups[i].classes[k];
            sum += (long double)c->n_requests * c->mean_ms;
            add_class(l, c);
        }
    l->mean_ms = (double)(sum / (long double)l->n_requests);
    return true;
}

bool aggregate_latency(struct aggregate_part *part, struct err *e)
{
    const struct aggfile_entry *x = part->x;
    struct aggregate_latency *l = &part->latency;
    __int128 n_requests = 0;
    bool all_exact = true, any_multi = false;

    *l = (struct aggregate_latency){.n_groups = x->n_groups,
                                    .n_empty_groups = x->n_empty_groups,
                                    .mean_ms = NAN,
                                    .stddev_ms = NAN};
    for (size_t i = 0; i < x->n_groups; i++) {
        const struct aggfile_group *g = &x->groups[i];
        any_multi |= g->is_multi;
        all_exact = all_exact && (!g->is_multi || is_exact(g));
        if (!g->is_multi)
            n_requests += g->n_requests;
        for (size_t k = 0; k < g->n_classes; k++)
            n_requests += g->classes[k].n_requests;
    }
    for (size_t i = 0; any_multi && i < x->n_groups; i++)
        all_exact = all_exact && x->groups[i].is_multi;
    l->n_requests = n_requests <= INT64_MAX ? (int64_t)n_requests : INT64_MAX;
    l->is_complete = all_exact && x->n_groups > 0 && n_requests == x->n_requests;
    if (x->n_groups == 0)
        return true;
    l->kind = any_multi ? AGGREGATE_MULTI : AGGREGATE_SINGLE;
    if (any_multi)
        return pool_multi(l, x, e);
    pool_single(l, x);
    return true;
}
