#include "analyze/render/plot/charts_internal.h"

#include "analyze/stats/stats.h"
#include "analyze/summary/estimate/confidence.h"
#include "analyze/write/csv.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CDF_STEPS      300
#define SPECTRUM_STEPS 20   /* per nine */
#define SPECTRUM_ROOM  1.08 /* axis / place of the last point, as in plots/spectrum.gp */
#define MAX_HOSTS      20   /* named */

/* "p99 12.3ms", "max 20.1ms" */
static struct units_text mark_label(const struct plot_sample *s, size_t i)
{
    double pct = plot_data_mark_pct[i];
    struct units_text at = units_duration(s->mark_ns[i]);

    return pct == 100 ? units_format("max %s", at.s) : units_format("p%g %s", pct, at.s);
}

/* ---- The spectrum ---- */

/* Of an open loop the response time is shown, from when a request was due. */
static const char *time_name(const struct plot_data *p)
{
    return p->service.n > 0 ? "response time" : "duration";
}

static bool has_spectrum(const struct plot_data *p)
{
    return p->operation != NULL && p->durations.n > 1;
}

/* Converts a fraction to nines: 50 % is 0.3 nines, 90 % one, 99 % two. */
static double nines_of(double p)
{
    return -log10(1 - p);
}

/* Returns the design effect of the percentile nearest to that many nines; 1: not known. */
static double deff_at(const struct statistics_latency *l, double nines)
{
    static const double at[STATISTICS_N_QUANTILES] = {.301, 1, 2, 3};
    size_t nearest = 0;

    for (size_t i = 1; i < STATISTICS_N_QUANTILES; i++)
        if (fabs(at[i] - nines) < fabs(at[nearest] - nines))
            nearest = i;
    double deff = l != NULL ? l->q[nearest].deff : 1;
    return deff >= 1 ? deff : 1;
}

/* Goes through the values of a sample by ascending rank. */
struct ascent {
    const struct plot_sample *s;
    size_t bucket;
    uint64_t up_to; /* values in the buckets up to this one */
};

/* Returns the value of a 1-based rank, which may not be less than in the call before. */
static double ms_at(struct ascent *a, uint64_t rank)
{
    while (a->up_to < rank && a->bucket + 1 < HIST_N_INDEXES)
        a->up_to += a->s->count[++a->bucket];
    if (rank >= a->s->n)
        return (double)a->s->most_ns / 1e6;
    return (double)hist_upper(a->bucket) / 1e6;
}

struct percentile {
    double nines, ms, lo_ms, hi_ms; /* NAN: no limit */
};

/* Returns the exact value of the report where it has that percentile; else `ms`, that of a bucket.
 */
static double exact_ms(const struct plot_sample *s, double nines, double ms)
{
    for (size_t i = 0; i + 1 < PLOT_DATA_N_MARKS; i++)
        if (s->mark_ns[i] != PLOT_DATA_UNKNOWN && s->mark_ns[i] > 0 &&
            fabs(nines_of(plot_data_mark_pct[i] / 100) - nines) < .5 / SPECTRUM_STEPS)
            return (double)s->mark_ns[i] / 1e6;
    return ms;
}

/* Returns *n percentiles with their confidence limits, which are order statistics (section 7 of
 * docs/how-the-numbers-are-made.md). The caller frees them. NULL: there are none (*n 0), or out of
 * memory. */
static struct percentile *percentiles_of(const struct plot_sample *s,
                                         const struct statistics_latency *l, size_t *n)
{
    *n = 0;
    if (s->n < 2)
        return NULL;
    struct ascent value = {s, 0, s->count[0]}, lo = value, hi = value;
    double last = log10((double)s->n);
    *n = (size_t)floor(last * SPECTRUM_STEPS) + 2;
    uint64_t last_lo = 1, last_hi = 1;
    struct percentile *v = calloc(*n, sizeof *v);
    for (size_t i = 0; v != NULL && i < *n; i++) {
        double nines = i + 1 < *n ? (double)i / SPECTRUM_STEPS : last;
        double p = 1 - pow(10, -nines);
        uint64_t n_e = (uint64_t)((double)s->n / deff_at(l, nines)), from = 0, to = 0;

        if (n_e > 0 && p > 0)
            stats_binomial_ranks(n_e, p, .95, &from, &to);
        uint64_t rank = i + 1 < *n ? (uint64_t)ceil(p * (double)s->n - 1e-9) : s->n;
        double scale = (double)(s->n + 1) / ((double)n_e + 1);
        bool has_band = from >= 1 && to <= n_e;
        /* Design effects differ between neighbours: do not let the limits fall. */
        if (has_band) {
            uint64_t a = (uint64_t)floor((double)from * scale);
            uint64_t b = (uint64_t)ceil((double)to * scale);

            last_lo = a > last_lo ? a : last_lo;
            last_hi = b > last_hi ? b : last_hi;
        }
        double ms = ms_at(&value, rank > 0 ? rank : 1);
        v[i] =
            (struct percentile){nines, exact_ms(s, nines, ms), has_band ? ms_at(&lo, last_lo) : NAN,
                                has_band ? ms_at(&hi, last_hi) : NAN};
    }
    return v;
}

static int64_t put_spectrum(FILE *f, const char *name, const struct plot_sample *s,
                            const struct statistics_latency *l)
{
    size_t n;
    struct percentile *v = percentiles_of(s, l, &n);

    plot_out_block(f, name, "nines ms lo_ms hi_ms");
    for (size_t i = 0; v != NULL && i < n; i++)
        plot_out_row(f, "rrrr", v[i].nines, v[i].ms, v[i].lo_ms, v[i].hi_ms);
    n = v != NULL ? n : 0;
    free(v);
    return (int64_t)n;
}

/* "name":[[ms,lo,hi],...]; [ms] where there are no limits. */
static bool put_readings(FILE *f, const char *name, const struct plot_sample *s,
                         const struct statistics_latency *l)
{
    size_t n;
    struct percentile *v = percentiles_of(s, l, &n);

    if (v == NULL)
        return n == 0;
    fprintf(f, ",\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "%s[%.4g", i > 0 ? "," : "", v[i].ms);
        if (!isnan(v[i].lo_ms))
            fprintf(f, ",%.4g,%.4g", v[i].lo_ms, v[i].hi_ms);
        fputs("]", f);
    }
    fputs("]", f);
    free(v);
    return true;
}

static const struct statistics_latency *shown_latency(const struct plot_data *p)
{
    const struct statistics *st = p->statistics;
    return st == NULL ? NULL : p->service.n > 0 ? &st->response : &st->duration;
}

static bool put_all_readings(FILE *f, const struct plot_data *p)
{
    const struct statistics *st = p->statistics;
    const struct plot_sample *all[] = {&p->durations, &p->ttfb, &p->service};
    uint64_t most = 2;

    for (size_t i = 0; i < 3; i++)
        most = all[i]->n > most ? all[i]->n : most;
    fprintf(f, "{\"steps\":%d,\"right\":%.6g", SPECTRUM_STEPS,
            fmax(1, log10((double)most)) * SPECTRUM_ROOM);
    bool ok = put_readings(f, time_name(p), &p->durations, shown_latency(p)) &&
              put_readings(f, "time to first byte", &p->ttfb, st != NULL ? &st->ttfb : NULL) &&
              put_readings(f, "service time", &p->service, NULL);
    fputs("}", f);
    return ok;
}

static bool write_spectrum(FILE *f, const struct plot_data *p, const char *title)
{
    const struct statistics *st = p->statistics;
    const struct plot_sample *s = &p->durations;
    int64_t n = put_spectrum(f, "durations", s, shown_latency(p));
    int64_t n_ttfb = put_spectrum(f, "ttfb", &p->ttfb, st != NULL ? &st->ttfb : NULL);
    int64_t n_service = put_spectrum(f, "service", &p->service, NULL);

    plot_out_block(f, "marks", "nines ms label");
    for (size_t i = 0; i < PLOT_DATA_N_MARKS; i++) {
        double pct = plot_data_mark_pct[i], nines = nines_of(pct / 100);
        if (s->mark_ns[i] == PLOT_DATA_UNKNOWN || (pct < 100 && nines > log10((double)s->n)))
            continue;
        plot_out_row(f, "rrs", pct < 100 ? nines : log10((double)s->n), (double)s->mark_ns[i] / 1e6,
                     mark_label(s, i).s);
    }
    uint64_t from = 0, to = 0;
    double deff = deff_at(shown_latency(p), .301);
    stats_binomial_ranks((uint64_t)((double)s->n / deff), .5, .95, &from, &to);
    PLOT_OUT_CHART(f, NULL, title, "n n_ttfb n_service n_band time", "iiiis", n, n_ttfb, n_service,
                   (int64_t)(from >= 1 && to <= (uint64_t)((double)s->n / deff)), time_name(p));
    return true;
}

const struct plot_kind plot_kind_spectrum = {
    "spectrum",
    "latency percentiles",
    "How long a share of the requests took at most. Each step to the right adds a nine: 90 %, 99 "
    "%, 99.9 %. The band is the 95 % CI. Beside it is the time to first byte. Of an open loop the "
    "response time comes first, which counts from when a request was due.",
    .has_data = has_spectrum,
    .write = write_spectrum,
    .readings = put_all_readings};

/* ---- Hosts ---- */

/* Durations, or times to first byte where sizes differ. */
struct host_times {
    const char *name;
    int64_t p50_ns, p99_ns;
};

static bool has_host_latency(const struct plot_data *p)
{
    const struct requests *q = p->operation != NULL ? &p->operation->requests : NULL;
    size_t n = 0;

    for (size_t i = 0; q != NULL && q->present && i < q->n_hosts; i++)
        n += q->single_size ? q->hosts[i].single.dur.present : q->hosts[i].sized.ttfb.present;
    return n > 1;
}

static int host_latency_height(const struct plot_data *p)
{
    size_t n = p->operation->requests.n_hosts;

    return 310 + 5 * (int)(n < MAX_HOSTS ? n : MAX_HOSTS);
}

static int slowest_first(const void *a, const void *b)
{
    const struct host_times *x = a, *y = b;
    return x->p50_ns != y->p50_ns ? (x->p50_ns < y->p50_ns) - (x->p50_ns > y->p50_ns)
                                  : strverscmp(x->name, y->name);
}

static const char *name_of(const void *ctx, size_t i)
{
    return ((const struct host_times *)ctx)[i].name;
}

static bool has_slow_finding(const struct plot_data *p, const char *host)
{
    for (size_t i = 0; i < p->a->findings.n; i++) {
        const struct finding *x = &p->a->findings.v[i];
        if (x->scope == SCOPE_HOST && x->kind->is_slowness && strcmp(x->party, host) == 0)
            return true;
    }
    return false;
}

/* Writes the slowest hosts by name, and one row for the others: the median host, from the least p50
 * to the greatest p99. */
static void put_hosts(FILE *f, const struct plot_data *p, const struct host_times *v, size_t n,
                      const struct plot_names *names)
{
    size_t n_named = n <= MAX_HOSTS + 1 ? n : MAX_HOSTS;
    char name[128];

    plot_out_block(f, "hosts", "index from_ms p50_ms p99_ms is_slow name");
    for (size_t i = 0; i < n_named; i++) {
        plot_names_rest(names, v[i].name, name, sizeof name);
        plot_out_row(f, "irrris", (int64_t)i, (double)v[i].p50_ns / 1e6, (double)v[i].p50_ns / 1e6,
                     (double)v[i].p99_ns / 1e6, (int64_t)has_slow_finding(p, v[i].name),
                     intern_shown(name));
    }
    if (n_named == n)
        return;
    int64_t most_ns = 0;
    for (size_t i = n_named; i < n; i++)
        most_ns = int64_max(most_ns, v[i].p99_ns);
    snprintf(name, sizeof name, "%zu more", n - n_named);
    plot_out_row(f, "irrris", (int64_t)n_named, (double)v[n - 1].p50_ns / 1e6,
                 (double)v[(n_named + n) / 2].p50_ns / 1e6, (double)most_ns / 1e6, INT64_C(0),
                 name);
}

static bool write_host_latency(FILE *f, const struct plot_data *p, const char *title)
{
    const struct requests *q = &p->operation->requests;
    struct host_times *v;
    size_t n = 0;

    if (!mem_new(&v, q->n_hosts, NULL))
        return false;
    for (size_t i = 0; i < q->n_hosts; i++) {
        const struct times *t = q->single_size ? &q->hosts[i].single.dur : &q->hosts[i].sized.ttfb;
        if (t->present)
            v[n++] = (struct host_times){q->hosts[i].host, t->p50_ns, t->p99_ns};
    }
    qsort(v, n, sizeof *v, slowest_first);
    struct plot_names names = plot_names_of(name_of, v, n);
    put_hosts(f, p, v, n, &names);
    PLOT_OUT_CHART(f, NULL, title, "n is_ttfb shared", "iis",
                   (int64_t)(n <= MAX_HOSTS + 1 ? n : MAX_HOSTS + 1), (int64_t)!q->single_size,
                   names.shared);
    free(v);
    return true;
}

const struct plot_kind plot_kind_host_latency = {
    "host-latency",
    "latency by host",
    "The slowest hosts first: a dot at the median, a line to p99. Triangles are hosts that a "
    "finding names.",
    .has_data = has_host_latency,
    .write = write_host_latency,
    .height = host_latency_height};

/* ---- Latency over time ---- */

static bool has_groups(const struct plot_data *p)
{
    return p->operation != NULL && p->operation->requests.groups.n > 0;
}

static bool has_latency(const struct plot_data *p)
{
    if (has_groups(p))
        return false;
    for (size_t i = 0; i < p->course.n; i++)
        if (!isnan(p->course.rows[i].p50_ns))
            return charts_has_durations(p);
    return false;
}

static bool write_latency(FILE *f, const struct plot_data *p, const char *title)
{
    double lo = INFINITY, hi = 0;
    bool is_open = p->service.n > 0;

    plot_out_block(f, "series", "t_s duration_s p50_ms p90_ms p99_ms max_ms");
    for (size_t i = 0; i < p->course.n; i++) {
        const struct series_row *r = &p->course.rows[i];
        double p50_ns = is_open ? r->response_p50_ns : r->p50_ns;
        double p90_ns = is_open ? r->response_p90_ns : r->p90_ns;
        double p99_ns = is_open ? r->response_p99_ns : r->p99_ns;
        double max_ns = is_open ? r->response_max_ns : r->max_ns;

        lo = p50_ns < lo ? p50_ns : lo;
        hi = max_ns > hi ? max_ns : hi;
        plot_out_row(f, "rrrrrr", plot_data_t_s(p, r->start_ns), (double)r->duration_ns / 1e9,
                     p50_ns / 1e6, p90_ns / 1e6, p99_ns / 1e6, max_ns / 1e6);
    }
    int64_t n_shades = charts_put_shades(f, p);
    PLOT_OUT_CHART(f, p, title, "n_shades lo_ms hi_ms segment_s time", "irrrs", n_shades, lo / 1e6,
                   hi / 1e6, (double)p->course.rows[0].duration_ns / 1e9, time_name(p));
    return true;
}

const struct plot_kind plot_kind_latency = {
    "latency",
    "latency over time",
    "Quantiles of the durations of the successful requests that end in each step of time, on a "
    "logarithmic scale.",
    .is_course = true,
    .has_data = has_latency,
    .write = write_latency};

static bool write_latency_heat(FILE *f, const struct plot_data *p, const char *title)
{
    struct csv_out_number t_s[PLOT_DATA_MAX_HEAT_BINS];
    size_t first, last;
    uint32_t most =
        charts_extent(p->heat.count, p->heat.bins.n * PLOT_DATA_N_LOG, 1, &first, &last);

    plot_out_block(f, "heat", "t_s bucket from_ms requests");
    for (size_t k = 0; k < p->heat.bins.n; k++)
        t_s[k] = csv_out_number(charts_bin_middle_s(p, &p->heat.bins, k));
    for (size_t b = first; b <= last; b++) {
        struct csv_out_number from_ms = csv_out_number(plot_data_log_lower(b) / 1e6);
        for (size_t k = 0; k < p->heat.bins.n; k++)
            plot_out_row(f, "nini", t_s[k].s, (int64_t)b, from_ms.s,
                         (int64_t)p->heat.count[k * PLOT_DATA_N_LOG + b]);
    }
    plot_events_put(f, p);
    PLOT_OUT_CHART(f, p, title, "first last most bin_s n_bins time", "iirris", (int64_t)first,
                   (int64_t)last, (double)most, (double)p->heat.bins.length_ns / 1e9,
                   (int64_t)p->heat.bins.n, time_name(p));
    return true;
}

const struct plot_kind plot_kind_latency_heat = {
    "latency-heat",
    "latency heat map",
    "How many requests ended when, after how long: the stronger the colour, the more. Bands are "
    "different kinds of requests; a stripe upwards is a stall.",
    .of_requests = true,
    .has_data = charts_has_durations,
    .write = write_latency_heat};

/* ---- The distribution ---- */

static void put_cdf(FILE *f, const char *name, const struct plot_sample *s)
{
    plot_out_block(f, name, "ms pct");
    if (s->n > 0)
        plot_cdf_rows(f, s->count, s->n, s->most_ns, CDF_STEPS);
}

static void put_cdf_marks(FILE *f, const struct plot_sample *s, int64_t which)
{
    for (size_t i = 0; s->n > 0 && i < PLOT_DATA_N_MARKS; i++)
        if (s->mark_ns[i] != PLOT_DATA_UNKNOWN)
            plot_out_row(f, "irrs", which, (double)s->mark_ns[i] / 1e6, plot_data_mark_pct[i],
                         mark_label(s, i).s);
}

static bool has_sample(const struct plot_data *p)
{
    return charts_has_durations(p) && p->durations.n > 0;
}

static bool write_cdf(FILE *f, const struct plot_data *p, const char *title)
{
    put_cdf(f, "durations", &p->durations);
    put_cdf(f, "ttfb", &p->ttfb);
    plot_out_block(f, "marks", "is_ttfb ms pct label");
    put_cdf_marks(f, &p->durations, 0);
    put_cdf_marks(f, &p->ttfb, 1);
    PLOT_OUT_CHART(f, p, title, "n n_ttfb time", "iis", (int64_t)p->durations.n, (int64_t)p->ttfb.n,
                   time_name(p));
    return true;
}

const struct plot_kind plot_kind_cdf = {
    "cdf",
    "latency distribution",
    "The share of the requests that took at most that long; dots mark percentiles. The time to "
    "first byte is beside the whole duration, where it was recorded.",
    .is_by_name = true,
    .has_data = has_sample,
    .write = write_cdf};

/* ---- Groups of an aggregated capture ---- */

#define GROUP_S 10.0

/* Leaves out percentiles of too few requests, which are the slowest request only. */
static bool write_groups(FILE *f, const struct plot_data *p, const char *title)
{
    const struct request_groups *of = &p->operation->requests.groups;
    double end_s = plot_data_t_s(p, p->operation->end_ns);
    int64_t n_p90 = 0, n_p99 = 0;

    plot_events_put(f, p);
    plot_out_block(f, "groups", "t_s length_s n_requests p50_ms p90_ms p99_ms max_ms client");
    for (size_t i = 0; i < of->n; i++) {
        const struct request_group *g = &of->v[i];
        double from_s = plot_data_t_s(p, g->start_ns);

        if (g->start_ns == REQUEST_NO_TIME)
            continue;
        bool has_p90 = g->n_requests >= 10, has_p99 = g->n_requests >= 100;
        n_p90 += has_p90;
        n_p99 += has_p99;
        plot_out_row(f, "rrirrrrs", from_s, fmin(GROUP_S, fmax(end_s - from_s, 0)), g->n_requests,
                     g->p50_ms, has_p90 ? g->p90_ms : NAN, has_p99 ? g->p99_ms : NAN, g->max_ms,
                     of->clients[g->client]);
    }
    PLOT_OUT_CHART(f, p, title, "n_p90 n_p99", "ii", n_p90, n_p99);
    return true;
}

const struct plot_kind plot_kind_groups = {
    "groups", "durations of each 10 s",
    "For each 10 s (and each client) the duration within which half, 90% and 99% of the requests "
    "ended, and the slowest. Failed requests are among them. None of these is a percentile of the "
    "run.",
    .has_data = has_groups, .write = write_groups};
