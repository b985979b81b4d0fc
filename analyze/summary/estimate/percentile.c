#include "analyze/summary/estimate/percentile.h"

#include "analyze/data/slices.h"
#include "analyze/summary/estimate/latency.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>

struct passes {
    const struct table *t;
    const struct statistics *s;
    enum percentile_of of;
    struct slice_grid grid;
    struct latency latency;
    double limit_ns;
    int64_t *n_above; /* by segment: requests that took longer */
};

/* Returns false if the request has no such time. */
static bool time_of(const struct passes *p, size_t i, int64_t *ns)
{
    const struct table *t = p->t;

    if (p->of == PERCENTILE_TTFB) {
        *ns = packed_has(&t->ttfb, i) ? packed_get(&t->ttfb, i) : 0;
        return packed_has(&t->ttfb, i);
    }
    *ns = packed_get(&t->dur, i);
    if (p->of == PERCENTILE_DURATION)
        return true;
    *ns += packed_has(&t->late, i) ? packed_get(&t->late, i) : 0;
    return packed_has(&t->late, i);
}

static void go_over(struct passes *p, enum latency_pass pass)
{
    int64_t ns;

    for (size_t i = 0; i < p->t->n; i++) {
        if (!table_done_within(p->t, i, p->s->ok.start_ns, p->s->ok.end_ns) || !time_of(p, i, &ns))
            continue;
        size_t j = slice_grid_nearest(&p->grid, table_end(p->t, i));
        latency_take(&p->latency, pass, ns, j);
        p->n_above[j] += pass == LATENCY_SPLIT && (double)ns > p->limit_ns;
    }
}

static bool init(struct passes *x, struct err *e)
{
    slice_grid_init(&x->grid, x->s->start_ns, x->s->segment_ns, x->s->n_segments);
    if (!latency_init(&x->latency, x->grid.n, e))
        return false;
    x->latency.rate = &x->s->objects.mean;
    return mem_cleared(&x->n_above, x->grid.n, e);
}

static void fini(struct passes *x)
{
    latency_fini(&x->latency);
    free(x->n_above);
}

static bool run(struct passes *x, struct statistics_latency *found, struct err *e)
{
    for (enum latency_pass pass = LATENCY_COUNT; pass <= LATENCY_COLLECT; pass++) {
        go_over(x, pass);
        if (!latency_end(&x->latency, pass, e))
            return false;
    }
    return latency_finish(&x->latency, found, false, e);
}

bool percentile_find(const struct table *t, const struct statistics *s, enum percentile_of of,
                     struct stats_ratio p, double limit_ns, struct percentile *out, struct err *e)
{
    struct passes x = {.t = t, .s = s, .of = of, .limit_ns = limit_ns};
    struct statistics_latency found = {0};
    bool ok = init(&x, e);

    for (size_t q = 0; q < STATISTICS_N_QUANTILES; q++)
        x.latency.ratio[q] = p;
    ok = ok && run(&x, &found, e);
    *out = (struct percentile){.n = found.n, .q = found.q[0]};
    ok = ok && (found.n == 0 || stats_error_rate(NAN, x.n_above, x.latency.n_requests,
                                                 x.latency.n_segments, &out->above, e));
    fini(&x);
    return ok;
}

bool percentile_times(const struct table *t, const struct statistics *s, enum percentile_of of,
                      struct statistics_latency *out, struct err *e)
{
    struct passes x = {.t = t, .s = s, .of = of};
    bool ok = init(&x, e) && run(&x, out, e);

    fini(&x);
    return ok;
}
