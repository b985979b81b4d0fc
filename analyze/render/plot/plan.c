#include "analyze/tools/plan/plan.h"
#include "analyze/render/plot/charts_internal.h"

#include <math.h>

/* What a mark of a run shows: its throughput, or a percentile of its response times. */
enum mark { REACHED, P50, P99 };

struct plan_chart {
    const struct plan *plan;
    enum mark first, last;
};

/* Returns the value of a mark; NaN: the run does not count, or has no such figure. */
static double value_of(const struct plan_run *r, enum mark of)
{
    const double v[] = {r->point.per_s, r->p50_ns / 1e6, r->p99_ns / 1e6};

    return r->why_not == NULL && v[of] > 0 ? v[of] : NAN;
}

/* Writes where lines stand: across at the limits of the assertions, upright at the answer. */
static void put_lines(FILE *f, const struct plan_chart *x)
{
    const struct plan *p = x->plan;

    plot_out_block(f, "lines", "is_upright at text");
    plot_out_row(f, "irs", (int64_t)0, 0.0, ""); /* of an empty block gnuplot makes an error */
    for (size_t i = 0; x->first == P50 && i < p->slo.n; i++)
        if (p->slo.v[i].figure == SLO_TIME)
            plot_out_row(f, "irs", (int64_t)0, p->slo.v[i].limit / 1e6, p->slo.v[i].text);
    if (p->asked.kind == PLAN_CAPACITY && p->found.met > 0)
        plot_out_row(f, "irs", (int64_t)1, p->found.met,
                     units_format("%s/s", units_rate(p->found.met).s).s);
}

static bool write_chart(FILE *f, const void *ctx, const char *title)
{
    const struct plan_chart *x = ctx;
    const struct plan *p = x->plan;
    bool is_judged = p->asked.kind == PLAN_CAPACITY;

    plot_out_block(f, "runs", "level value is_tail verdict");
    for (size_t i = 0; i < p->n; i++)
        for (enum mark m = x->first; m <= x->last; m++)
            if (!isnan(value_of(&p->runs[i], m)))
                plot_out_row(f, "rrii", p->runs[i].point.level, value_of(&p->runs[i], m),
                             (int64_t)(m == P99),
                             (int64_t)(is_judged ? p->runs[i].verdict : SLO_MET));
    put_lines(f, x);
    PLOT_OUT_CHART(f, NULL, title, "is_judged unit level", "iss", (int64_t)is_judged,
                   x->first == REACHED ? "requests/s" : "ms",
                   p->by_rate || is_judged ? "requests/s asked for" : "requests in flight");
    return true;
}

static bool add(struct plot_set *s, const struct plan_chart *x, const struct plot_options *o,
                struct err *e)
{
    const struct plot_chart chart = {
        .name = "plan",
        .title = x->first == REACHED ? "throughput by level" : "response time by level",
        .caption = x->first == REACHED
                       ? "A mark for each run that counts. Both axes are logarithmic."
                       : "Median and 99th percentile of each run that counts. A line across is a "
                         "limit that was asked for, an upright one the answer.",
        .write = write_chart,
        .stem = x->first == REACHED ? "plan-throughput" : "plan-latency",
        .height = 360,
    };
    size_t n = 0;

    for (size_t i = 0; i < x->plan->n; i++)
        n += !isnan(value_of(&x->plan->runs[i], x->first));
    return n == 0 || plot_add(s, &chart, NULL, x, o, e);
}

bool plot_add_plan(struct plot_set *s, const struct plan *p, const struct plot_options *o,
                   struct err *e)
{
    const struct plan_chart throughput = {p, REACHED, REACHED}, latency = {p, P50, P99};

    return (p->asked.kind != PLAN_SWEEP || add(s, &throughput, o, e)) &&
           (p->asked.kind == PLAN_AB || add(s, &latency, o, e));
}
