#include "analyze/plot/aggregate.h"

#include "analyze/aggregated/aggregate.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>

#define GROUP_S 10
#define MIN_P99 100 /* requests; of fewer it is none */

/* A second that the file knows. */
struct second {
    int64_t start_s;
    double bytes, objects;
    int64_t n_errors;
};

static void add_second(struct plot_timeline *t, double *n_known, const struct second *s)
{
    int64_t step_ns = t->n > 1 ? t->rows[1].start_ns - t->start_ns : t->rows[0].duration_ns;
    int64_t at_ns = s->start_s * NS_PER_S - t->start_ns;
    size_t k = (size_t)(at_ns / step_ns);
    struct series_row *r;

    if (at_ns < 0 || k >= t->n)
        return;
    r = &t->rows[k];
    r->objects = n_known[k]++ > 0 ? r->objects + s->objects : s->objects;
    r->bytes += (int64_t)llround(s->bytes);
    r->errors += s->n_errors;
    t->messages[0].by_bin[k] += s->n_errors;
    t->messages[0].n += s->n_errors;
    t->range.start_ns =
        t->range.present ? t->range.start_ns : s->start_s * NS_PER_S; /* they come by time */
    t->range.end_ns = (s->start_s + 1) * NS_PER_S;
    t->range.present = true;
}

/* Adds the seconds; of a merged file the clients' own, which are more complete than the merged. */
static void add_seconds(struct plot_timeline *t, double *n_known, const struct aggregate *a,
                        const struct aggregate_part *part, bool is_main)
{
    bool from_clients = is_main && a->is_merged;

    for (size_t i = 0; i < (from_clients ? a->n_sum : part->x->n_seconds); i++) {
        struct second s;
        if (from_clients) {
            const struct aggregate_sum_second *x = &a->sum[i];
            s = (struct second){x->start_s, x->bytes_per_s, x->objects_per_s, x->n_errors};
            if (s.start_s * NS_PER_S >= part->x->end_ns)
                break;
            if (s.start_s * NS_PER_S < part->x->start_ns + 2 * NS_PER_S)
                continue; /* what came before is in it */
        } else {
            const struct aggfile_second *x = &part->x->seconds[i];
            s = (struct second){aggregate_second_ns(part, i) / NS_PER_S, x->bytes_per_s,
                                x->objects_per_s, x->n_errors};
        }
        add_second(t, n_known, &s);
    }
}

/* Percentiles of a group hold for its ten seconds alone, and of one client. */
static void add_groups(struct plot_timeline *t, const struct aggfile_entry *x)
{
    if (x->n_group_clients != 1 || t->rows[0].duration_ns > GROUP_S * NS_PER_S)
        return;
    for (size_t i = 0; i < x->n_groups; i++) {
        const struct aggfile_group *g = &x->groups[i];
        for (size_t k = 0; !g->is_multi && g->start_ns != AGGFILE_NO_TIME && k < t->n; k++) {
            int64_t middle_ns = t->rows[k].start_ns + t->rows[k].duration_ns / 2;
            if (middle_ns < g->start_ns || middle_ns - g->start_ns >= GROUP_S * NS_PER_S)
                continue;
            t->rows[k].p50_ns = g->p50_ms * 1e6;
            t->rows[k].p99_ns = g->n_requests >= MIN_P99 ? g->p99_ms * 1e6 : NAN;
        }
    }
}

bool plot_aggregate_timeline(struct plot_timeline *t, const struct analysis *of, int index,
                             size_t n_most, struct err *e)
{
    const struct aggregate *a = of->aggregate;
    const struct aggregate_part *part = index < 0 ? &a->total : a->in_order[index];
    const struct aggfile_entry *x = part->x;
    int64_t first_s = x->start_ns / NS_PER_S, last_s = (x->end_ns - 1) / NS_PER_S;
    int64_t step_ns = plot_timeline_round_ns((last_s - first_s) * NS_PER_S / (int64_t)n_most + 1);
    double *n_known = NULL;

    *t = (struct plot_timeline){.op = index < 0 ? "all operations together" : x->name,
                                .has_bytes = x->n_bytes > 0,
                                .n_requests = x->n_requests,
                                .n_errors = x->n_errors};
    step_ns = int64_max(step_ns, NS_PER_S);
    size_t n = (size_t)((last_s - first_s) * NS_PER_S / step_ns) + 1;
    if (part->duration_ns <= 0)
        return true;
    bool ok = mem_new(&t->rows, n, e) && mem_cleared(&t->messages[0].by_bin, n, e) &&
              mem_cleared(&n_known, n, e);
    if (ok) {
        t->n = n;
        t->start_ns = first_s * NS_PER_S;
        t->end_ns = (last_s + 1) * NS_PER_S;
        for (size_t k = 0; k < n; k++)
            t->rows[k] = (struct series_row){.start_ns = t->start_ns + (int64_t)k * step_ns,
                                             .duration_ns = step_ns,
                                             .objects = NAN,
                                             .p50_ns = NAN,
                                             .p99_ns = NAN,
                                             .in_flight = NAN};
        add_seconds(t, n_known, a, part, index == plot_timeline_main(of));
        t->rows[n - 1].duration_ns = t->end_ns - t->rows[n - 1].start_ns;
        /* What is known stands for all of a bin. */
        for (size_t k = 0; k < n; k++) {
            double whole = (double)t->rows[k].duration_ns / 1e9;
            t->rows[k].bytes = n_known[k] > 0
                                   ? (int64_t)llround((double)t->rows[k].bytes / n_known[k] * whole)
                                   : 0;
            t->rows[k].objects *= n_known[k] > 0 ? whole / n_known[k] : 1;
        }
        t->n_messages = t->messages[0].n > 0;
        if (index >= 0)
            add_groups(t, x);
        if (!t->range.present)
            t->n = 0;
    }
    free(n_known);
    return ok;
}
