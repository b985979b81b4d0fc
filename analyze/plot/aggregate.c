#include "analyze/plot/aggregate.h"

#include "analyze/aggregated/aggregate.h"
#include "analyze/plot/events.h"
#include "analyze/plot/names.h"
#include "analyze/plot/out.h"
#include "libcommon/units.h"

#include <math.h>

#define MAX_DRAWN 2000 /* points of a line */
#define MAX_HOSTS 12
#define GROUP_S   10.0

/* What a writer of data files gets. */
struct chart {
    const struct aggregate *a;
    const struct aggregate_part *part;     /* throughput */
    const struct aggregate_parts *parties; /* hosts or clients */
};

static double t_s(const struct aggregate *a, int64_t ns)
{
    return (double)(ns - a->total.x->start_ns) / 1e9;
}

/* Whole seconds, as the series has. */
static double first_s(const struct aggregate *a, const struct aggfile_entry *x)
{
    return t_s(a, x->start_ns / NS_PER_S * NS_PER_S);
}

static double last_s(const struct aggregate *a, const struct aggfile_entry *x)
{
    return t_s(a, ((x->end_ns - 1) / NS_PER_S + 1) * NS_PER_S);
}

static double zero_unix(const struct aggregate *a)
{
    return (double)a->total.x->start_ns / 1e9;
}

/* The first and last two seconds, which the recorder leaves out. */
static int64_t put_shades(FILE *f, const struct aggregate *a, const struct aggfile_entry *x,
                          double from, double to)
{
    plot_events_begin(f);
    plot_out_block(f, "shades", "from_s to_s is_warm_up");
    plot_out_row(f, "rri", first_s(a, x), from, INT64_C(0));
    plot_out_row(f, "rri", to, last_s(a, x), INT64_C(0));
    return 2;
}

static void put_mean(FILE *f, const struct aggregate_part *part, double from, double to)
{
    const struct aggregate_window *w = &part->window;
    plot_out_block(f, "means", "panel from_s to_s mean lo hi");
    if (part->x->n_bytes > 0)
        plot_out_row(f, "irrrrr", INT64_C(0), from, to, w->mean_bytes_per_s / MIB, NAN, NAN);
    plot_out_row(f, "irrrrr", INT64_C(1), from, to, w->mean_objects_per_s, NAN, NAN);
}

static int64_t put_marks(FILE *f, const struct chart *c)
{
    const struct aggregate_window *w = &c->part->window;
    const size_t picks[] = {w->fastest, w->median, w->slowest};

    plot_out_block(f, "marks", "kind t_s mb_per_sec objs_per_sec");
    bool has_median = c->part->x->n_seconds >= ANALYSIS_MIN_MEDIAN;
    for (int64_t i = 0; i < 3; i++) {
        const struct aggfile_second *s = &c->part->x->seconds[picks[i]];
        if (i == 1 && !has_median)
            continue;
        plot_out_row(f, "irrr", i, t_s(c->a, aggregate_second_ns(c->part, picks[i])) + .5,
                     s->bytes_per_s / MIB, s->objects_per_s);
    }
    return 2 + has_median;
}

static bool write_throughput(FILE *f, const void *ctx, const char *title)
{
    const struct chart *c = ctx;
    const struct aggfile_entry *x = c->part->x;
    int64_t n_errors = 0;
    double from = t_s(c->a, aggregate_second_ns(c->part, 0));
    double to = t_s(c->a, aggregate_second_ns(c->part, x->n_seconds - 1)) + 1;

    plot_out_block(f, "series", "start_time t_s duration_s mb_per_sec objs_per_sec");
    /* A long run is drawn in means of several seconds. */
    for (size_t i = 0, step = x->n_seconds / MAX_DRAWN + 1; i < x->n_seconds; i += step) {
        int64_t ns = aggregate_second_ns(c->part, i);
        double bytes = 0, objects = 0, n = 0;

        for (size_t k = i; k < i + step && k < x->n_seconds; k++, n++) {
            bytes += x->seconds[k].bytes_per_s;
            objects += x->seconds[k].objects_per_s;
        }
        plot_out_row(f, "trrrr", ns, t_s(c->a, ns), n, bytes / n / MIB, objects / n);
    }
    plot_out_block(f, "errors", "t_s errors");
    for (size_t i = 0; i < x->n_seconds; i++)
        if (x->seconds[i].n_errors > 0 && ++n_errors)
            plot_out_row(f, "ri", t_s(c->a, aggregate_second_ns(c->part, i)) + .5,
                         x->seconds[i].n_errors);
    int64_t n_shades = put_shades(f, c->a, x, from, to);
    put_mean(f, c->part, from, to);
    plot_out_block(f, "levels", "from_s to_s level");
    int64_t n_marks = put_marks(f, c);
    plot_out_block(f, "fine", "t_s mb_per_sec objs_per_sec");
    plot_out_block(f, "chart",
                   "title zero_unix t_min t_max has_bytes n_errors n_shades n_means n_bands "
                   "n_levels n_marks n_fine "
                   "fine_s segment_s");
    plot_out_row(f, "srrriiiiiiiirr", title, zero_unix(c->a), first_s(c->a, x), last_s(c->a, x),
                 (int64_t)(x->n_bytes > 0), n_errors, n_shades, (int64_t)(1 + (x->n_bytes > 0)),
                 INT64_C(0), INT64_C(0), n_marks, INT64_C(0), 1.0, 1.0);
    return true;
}

/* A percentile of too few requests is their slowest one, which says nothing of the share. */
static double percentile(const struct aggfile_group *g, double ms, int64_t least)
{
    return g->n_requests >= least ? ms : NAN;
}

static bool write_groups(FILE *f, const void *ctx, const char *title)
{
    const struct chart *c = ctx;
    const struct aggfile_entry *x = c->part->x;
    double end_s = t_s(c->a, x->end_ns);

    plot_events_begin(f);
    plot_out_block(f, "groups", "t_s length_s n_requests p50_ms p90_ms p99_ms max_ms client");
    for (size_t i = 0; i < x->n_groups; i++) {
        const struct aggfile_group *g = &x->groups[i];
        double from_s = t_s(c->a, g->start_ns);

        plot_out_row(f, "rrirrrrs", from_s, fmin(GROUP_S, fmax(end_s - from_s, 0)), g->n_requests,
                     g->p50_ms, percentile(g, g->p90_ms, 10), percentile(g, g->p99_ms, 100),
                     g->max_ms, x->group_clients[g->client]);
    }
    plot_out_block(f, "chart", "title zero_unix t_min t_max");
    plot_out_row(f, "srrr", title, zero_unix(c->a), t_s(c->a, x->start_ns), end_s);
    return true;
}

static const char *party_name(const void *parts, size_t i)
{
    return ((const struct aggregate_part *)parts)[i].x->name;
}

static bool write_parties(FILE *f, const void *ctx, const char *title)
{
    const struct chart *c = ctx;
    const struct aggfile_entry *all = c->a->total.x;
    bool has_bytes = all->n_bytes > 0;
    double unit = has_bytes ? MIB : 1, most = 0, from = INFINITY, to = -INFINITY;
    size_t n = c->parties->n < MAX_HOSTS ? c->parties->n : MAX_HOSTS;

    plot_out_block(f, "rates", "t_s host rate");
    for (size_t h = 0; h < n; h++) {
        const struct aggregate_part *part = &c->parties->v[h];
        size_t step = part->x->n_seconds / MAX_DRAWN + 1;

        for (size_t i = 0; i < part->x->n_seconds; i += step) {
            const struct aggfile_second *s = &part->x->seconds[i];
            double rate = (has_bytes ? s->bytes_per_s : s->objects_per_s) / unit;
            double t = t_s(c->a, aggregate_second_ns(part, i));

            most = fmax(most, rate);
            from = fmin(from, t);
            to = fmax(to, t + 1);
            plot_out_row(f, "rir", t + .5, (int64_t)h, rate);
        }
    }
    const struct plot_names names = plot_names_of(party_name, c->parties->v, n);
    char rest[128];
    plot_out_block(f, "names", "index mean name");
    for (size_t h = 0; h < n; h++) {
        const struct aggregate_window *w = &c->parties->v[h].window;
        plot_names_rest(&names, c->parties->v[h].x->name, rest, sizeof rest);
        plot_out_row(f, "irs", (int64_t)h,
                     (has_bytes ? w->mean_bytes_per_s : w->mean_objects_per_s) / unit,
                     intern_shown(rest));
    }
    int64_t n_shades = put_shades(f, c->a, all, from, to);
    plot_out_block(f, "chart",
                   "title zero_unix t_min t_max has_bytes n_hosts n_hosts_in_all lines most bin_s "
                   "n_bins n_shades shared");
    plot_out_row(f, "srrriiiirriis", title, zero_unix(c->a), first_s(c->a, all), last_s(c->a, all),
                 (int64_t)has_bytes, (int64_t)n, (int64_t)c->parties->n, INT64_C(1), most, 1.0,
                 (int64_t)(to - from), n_shades, names.shared);
    return true;
}

static bool has_series(const struct aggregate_parts *parties)
{
    size_t n = 0;
    for (size_t i = 0; i < parties->n; i++)
        n += parties->v[i].window.present;
    return n > 1;
}

#define BY_SECOND "The rate of each one, by whole seconds."

static bool add_parties(struct plot_set *s, const struct aggregate *a,
                        const struct aggregate_parts *parties, const struct plot_options *o,
                        struct err *e)
{
    static const struct plot_chart hosts = {"hosts", "throughput by host", BY_SECOND, write_parties,
                                            .stem = "hosts"};
    static const struct plot_chart clients = {"hosts", "throughput by client", BY_SECOND,
                                              write_parties, .stem = "clients"};
    const struct plot_chart *which = parties == &a->hosts ? &hosts : &clients;
    const struct chart c = {.a = a, .parties = parties};

    return !has_series(parties) || !plot_wants(o, which->stem) || plot_add(s, which, "", &c, o, e);
}

static bool add_throughput(struct plot_set *s, const struct aggregate *a,
                           const struct aggregate_part *part, const struct plot_options *o,
                           struct err *e)
{
    static const struct plot_chart throughput = {
        "throughput", "throughput over time",
        "One point per whole second. Grey: the first and last two seconds, which are not in the "
        "file. The line is the mean, crosses seconds with failed requests, whose bytes are counted "
        "too.",
        .write = write_throughput};
    const struct chart c = {.a = a, .part = part};

    return !part->window.present || !plot_wants(o, throughput.name) ||
           plot_add(s, &throughput, part->x->name, &c, o, e);
}

/* The operation with the most requests, for one picture. */
static const struct aggregate_part *largest(const struct aggregate *a)
{
    const struct aggregate_part *most = &a->ops.v[0];
    for (size_t i = 1; i < a->ops.n; i++)
        if (a->ops.v[i].x->n_requests > most->x->n_requests)
            most = &a->ops.v[i];
    return most;
}

/* Groups of requests of one size have percentiles. */
static bool add_groups(struct plot_set *s, const struct aggregate *a,
                       const struct aggregate_part *part, const struct plot_options *o,
                       struct err *e)
{
    static const struct plot_chart groups = {
        "groups", "durations of each 10 s",
        "What half, 90% and 99% of the requests of 10 seconds (and of one client) did not pass, "
        "and the slowest: of these 10 s alone, failed requests among them. None of it is a "
        "percentile of the run.",
        .write = write_groups};
    bool has_times = part->latency.kind == AGGREGATE_SINGLE && !part->is_preparation;
    const struct chart c = {.a = a, .part = part};

    for (size_t i = 0; has_times && i < part->x->n_groups; i++)
        has_times = part->x->groups[i].start_ns != AGGFILE_NO_TIME;
    return !has_times || !plot_wants(o, groups.name) || part->x->n_groups > MAX_DRAWN ||
           (o->stem != NULL && part != largest(a)) || plot_add(s, &groups, part->x->name, &c, o, e);
}

bool plot_add_aggregate(struct plot_set *s, const struct analysis *of, const struct plot_options *o,
                        struct err *e)
{
    const struct aggregate *a = of->aggregate;
    int main = plot_timeline_main(of);
    bool ok =
        add_parties(s, a, &a->hosts, o, e) && add_parties(s, a, &a->clients, o, e) &&
        (!a->overlaps || (o->stem != NULL && main >= 0) || add_throughput(s, a, &a->total, o, e));

    for (int k = 0; ok && k < (int)a->ops.n; k++)
        ok = ((o->stem != NULL && main != k) || add_throughput(s, a, a->in_order[k], o, e)) &&
             add_groups(s, a, a->in_order[k], o, e);
    return ok;
}
