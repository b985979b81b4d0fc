#include "analyze/tools/archive/trend.h"

#include "analyze/tools/compare/alike.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Metrics that change within so many runs have changed together. */
#define NEAR 5

/* Changes for the worse are reported first, of them those of errors. Throughput is next if its
 * change has this share of the strength of the strongest metric. */
#define PREFERRED .5

/* A last run that is so many standard deviations off its level is not noise. */
#define ODD 3.5

/* ---- Groups ---- */

static bool add_run(struct trend *t, const struct archive_run *r, struct err *e)
{
    size_t k = 0;

    while (k < t->n && alike_differ(&t->groups[k].runs[0]->kept, &r->kept, NULL, NULL))
        k++;
    if (k == t->n) {
        if (!mem_more(&t->groups, t->n, e))
            return false;
        t->groups[t->n++] = (struct trend_group){0};
    }
    struct trend_group *g = &t->groups[k];
    if (!mem_more(&g->runs, g->n, e))
        return false;
    g->runs[g->n++] = r;
    return true;
}

static int newest_first(const void *a, const void *b)
{
    const struct trend_group *x = a, *y = b;

    return int64_order(y->runs[y->n - 1]->kept.start_ns, x->runs[x->n - 1]->kept.start_ns);
}

/* ---- Series ---- */

static bool add_series(struct trend_group *g, const char *op, enum run_metric metric, struct err *e)
{
    struct trend_series *s = &g->series[g->n_series];
    size_t n = 0;

    *s = (struct trend_series){.op = op, .metric = metric, .last_z = NAN};
    if (!mem_new(&s->v, g->n, e))
        return false;
    for (size_t i = 0; i < g->n; i++) {
        const struct run_kept_op *x = alike_op_named(&g->runs[i]->kept, op);

        if (x != NULL && archive_is_bounded(x, metric))
            s->slack = fmax(s->slack, log(x->figure[metric].most / x->figure[metric].least));
        s->v[i] = x != NULL ? archive_value(x, metric) : NAN;
        n += s->v[i] > 0;
    }
    if (n > 0)
        g->n_series++;
    else
        free(s->v);
    return true;
}

/* The metrics that cmp judges, of the operations that the runs were made for; errors if there are
 * any. */
static bool fill_series(struct trend_group *g, struct err *e)
{
    const struct run_kept *first = &g->runs[0]->kept;

    if (!mem_cleared(&g->series, first->n_ops * TREND_MAX_METRICS, e))
        return false;
    for (size_t k = 0; k < first->n_ops; k++) {
        const struct run_kept_op *op = &first->ops[k];

        if (!op->is_beside &&
            (!add_series(g, op->op, archive_rate_metric(op), e) ||
             !add_series(g, op->op, RUN_P50, e) || !add_series(g, op->op, RUN_P99, e) ||
             !add_series(g, op->op, RUN_ERRORS, e)))
            return false;
    }
    return true;
}

/* ---- Changes ---- */

static bool is_share(const struct trend_group *g, size_t series)
{
    return metrics[g->series[series].metric].kind == METRIC_DIFFERENCE;
}

double trend_value(const struct trend_group *g, const struct stats_change *x, double level)
{
    return is_share(g, x->series) ? level : exp(level);
}

bool trend_is_worse(const struct trend_group *g, const struct stats_change *x)
{
    return (x->after > x->before) != metrics[g->series[x->series].metric].up_is_better;
}

/* Whether a change of a metric is part of the change *c of its operation. */
static bool belongs_to(const struct trend_group *g, const struct trend_change *c,
                       const struct stats_change *x)
{
    for (size_t k = 0; k < c->n; k++)
        if (c->v[k].series == x->series)
            return false;
    return c->n < TREND_MAX_METRICS && llabs((int64_t)x->at - (int64_t)c->run) <= NEAR &&
           strcmp(g->series[x->series].op, g->series[c->v[0].series].op) == 0;
}

/* Percentiles are those of the successful requests: they are not worse since fewer fail. */
static int urgency(const struct trend_group *g, const struct stats_change *x, bool fewer)
{
    bool hidden = fewer && metrics[g->series[x->series].metric].kind == METRIC_QUANTILE;
    return 2 * (trend_is_worse(g, x) && !hidden) + is_share(g, x->series);
}

/* Makes one change of *first and of the changes of the operation's other metrics near it. Sets the
 * strength of the changes taken to 0. */
static void take_change(struct trend_group *g, const struct stats_changes *found,
                        struct stats_change *first)
{
    struct trend_change *c = &g->changes[g->n_changes++];

    *c = (struct trend_change){.run = first->at, .v = {*first}, .n = 1};
    first->strength = 0;
    for (size_t i = 0; i < found->n; i++)
        if (found->v[i].strength > 0 && belongs_to(g, c, &found->v[i])) {
            c->v[c->n++] = found->v[i];
            found->v[i].strength = 0;
        }
    bool fewer = false;
    for (size_t k = 0; k < c->n; k++)
        fewer |= is_share(g, c->v[k].series) && !trend_is_worse(g, &c->v[k]);
    for (size_t k = 1; k < c->n; k++) {
        struct stats_change head = c->v[0], other = c->v[k];
        int more = urgency(g, &other, fewer) - urgency(g, &head, fewer);

        if (more > 0 || (more == 0 && metrics[g->series[other.series].metric].up_is_better &&
                         other.strength >= PREFERRED * head.strength)) {
            c->v[k] = head;
            c->v[0] = other;
        }
    }
}

static int by_run(const void *a, const void *b)
{
    const struct trend_change *x = a, *y = b;
    int order = int64_order((int64_t)x->run, (int64_t)y->run);

    return order != 0 ? order : int64_order((int64_t)x->v[0].series, (int64_t)y->v[0].series);
}

/* Takes the changes, the strongest first. */
static bool take_changes(struct trend_group *g, const struct stats_changes *found, struct err *e)
{
    if (!mem_cleared(&g->changes, found->n, e))
        return false;
    for (;;) {
        struct stats_change *strongest = NULL;

        for (size_t i = 0; i < found->n; i++)
            if (found->v[i].strength > (strongest != NULL ? strongest->strength : 0))
                strongest = &found->v[i];
        if (strongest == NULL)
            break;
        take_change(g, found, strongest);
    }
    if (g->n_changes > 0)
        qsort(g->changes, g->n_changes, sizeof *g->changes, by_run);
    return true;
}

static bool find_changes(struct trend_group *g, struct err *e)
{
    struct stats_changes found = {0};
    double *levels = NULL;

    if (!fill_series(g, e))
        return false;
    if (g->n < TREND_LEAST_RUNS || g->n_series == 0)
        return true;
    bool ok = mem_new(&levels, g->n_series * g->n, e);
    for (size_t s = 0; ok && s < g->n_series; s++)
        for (size_t i = 0; i < g->n; i++)
            levels[s * g->n + i] = is_share(g, s) ? g->series[s].v[i] : log(g->series[s].v[i]);
    ok = ok && stats_changes(levels, g->n_series, g->n, &found, e);
    /* Values anywhere within their bounds may have no change that is smaller. */
    for (size_t i = 0; ok && i < found.n; i++)
        if (fabs(found.v[i].after - found.v[i].before) < g->series[found.v[i].series].slack)
            found.v[i].strength = 0;
    ok = ok && take_changes(g, &found, e);
    for (size_t s = 0; ok && s < g->n_series; s++)
        g->series[s].last_z = found.last_z[s];
    stats_changes_free(&found);
    free(levels);
    return ok;
}

/* ---- The last run ---- */

/* Returns an operation of which no request succeeded in the last run, or none in a last part that
 * is a finding. NULL: there is none. */
static const struct run_kept_op *dead_in(const struct run_kept *r)
{
    for (size_t k = 0; k < r->n_ops; k++) {
        const struct run_kept_op *op = &r->ops[k];

        if (!op->is_beside && (op->dead_frac >= FINDING_LEAST_DEAD ||
                               (double)op->n_errors == op->setting[RUN_OPERATIONS]))
            return op;
    }
    return NULL;
}

/* Whether a change for the worse is no chance. One archive in fifty in which nothing changes shows
 * one (docs/how-the-numbers-are-made.md, section 13), and a nightly job looks each night. A change
 * that cmp would call the same needs the least p, and as many runs as an archive. */
static bool is_sure(const struct trend_group *g, const struct trend_change *c)
{
    const struct stats_change *x = &c->v[0];

    return is_share(g, x->series) || (x->p <= TREND_SURE_P && g->n - c->run >= TREND_LEAST_RUNS) ||
           fabs(expm1(x->after - x->before)) >= metrics[g->series[x->series].metric].delta;
}

static enum exit_code check_last(struct trend *t)
{
    const struct trend_group *g = &t->groups[0];

    t->odd = SIZE_MAX;
    t->dead = dead_in(&g->runs[g->n - 1]->kept);
    if (t->dead != NULL)
        return EXIT_FAILED;
    for (size_t i = 0; i < g->n_changes; i++) {
        const struct trend_change *c = &g->changes[i];
        bool is_last = true;

        for (size_t k = i + 1; k < g->n_changes; k++)
            is_last &=
                strcmp(g->series[g->changes[k].v[0].series].op, g->series[c->v[0].series].op) != 0;
        if (is_last && trend_is_worse(g, &c->v[0]) && is_sure(g, c))
            return EXIT_FAILED;
        if (is_last && trend_is_worse(g, &c->v[0]))
            t->unsure = c;
    }
    for (size_t s = 0; s < g->n_series && g->n >= TREND_LEAST_RUNS; s++) {
        const struct trend_series *x = &g->series[s];
        if (isnan(x->v[g->n - 1]) ||
            (metrics[x->metric].up_is_better ? -x->last_z : x->last_z) > ODD)
            t->odd = s;
    }
    return t->odd != SIZE_MAX || t->unsure != NULL || g->n < TREND_LEAST_RUNS || g->n_series == 0 ||
                   t->unread != NULL
               ? EXIT_UNDECIDED
               : EXIT_DONE;
}

/* ---- All of it ---- */

bool trend_find(struct trend *t, const struct archive *a, struct err *e)
{
    bool ok = true;

    *t = (struct trend){.archive = a};
    for (size_t i = 0; i < a->n_unread; i++)
        if (a->unread[i].is_newest)
            t->unread = &a->unread[i];
    for (size_t i = 0; ok && i < a->n; i++)
        ok = add_run(t, &a->runs[i], e);
    if (ok)
        qsort(t->groups, t->n, sizeof *t->groups, newest_first);
    for (size_t k = 0; ok && k < t->n; k++)
        ok = find_changes(&t->groups[k], e);
    if (ok)
        t->last = check_last(t);
    return ok;
}

void trend_free(struct trend *t)
{
    for (size_t k = 0; k < t->n; k++) {
        struct trend_group *g = &t->groups[k];
        for (size_t s = 0; s < g->n_series; s++)
            free(g->series[s].v);
        free(g->series);
        free(g->changes);
        free(g->runs);
    }
    free(t->groups);
    *t = (struct trend){0};
}
