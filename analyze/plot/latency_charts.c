#include "analyze/estimate/confidence.h"
#include "analyze/plot/charts_internal.h"
#include "analyze/plot/names.h"
#include "analyze/plot/out.h"
#include "analyze/stats/stats.h"
#include "libcommon/mem.h"
#include "libcommon/quantile.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLOT_SPECTRUM_STEPS 20 /* of a nine */
#define PLOT_SPECTRUM_ROOM                                                                         \
    1.08             /* the axis ends so far behind the last, as plots/spectrum.gp says */
#define MAX_HOSTS 20 /* named */

/* ---- The spectrum ---- */

static bool has_spectrum(const struct plot_data *p)
{
    return p->operation != NULL && p->durations.n > 1;
}

/* 50 % is 0.3 nines, 90 % one, 99 % two. */
static double nines_of(double p)
{
    return -log10(1 - p);
}

/* The design effect of the percentile nearest to so many nines; 1 where it is not known. */
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

/* Values of a sample by ascending rank. */
struct ascent {
    const struct plot_sample *s;
    size_t bucket;
    uint64_t up_to; /* values in the buckets up to this one */
};

/* The value of a 1-based rank, which may not be less than that of the call before. */
static double ms_at(struct ascent *a, uint64_t rank)
{
    while (a->up_to < rank && a->bucket + 1 < HIST_N_INDEXES)
        a->up_to += a->s->count[++a->bucket];
    if (rank >= a->s->n)
        return (double)a->s->mark_ns[PLOT_DATA_N_MARKS - 1] / 1e6;
    return (double)hist_upper(a->bucket) / 1e6;
}

struct percentile {
    double nines, ms, lo_ms, hi_ms; /* NAN: no limit */
};

/* Percentiles with the order statistics that limit them: section 7 of
 * docs/how-the-numbers-are-made.md. v[], freed by the caller; NULL with *n 0: none; with *n 1: out
 * of memory. */
static struct percentile *percentiles_of(const struct plot_sample *s,
                                         const struct statistics_latency *l, size_t *n)
{
    *n = 0;
    if (s->n < 2)
        return NULL;
    struct ascent value = {s, 0, s->count[0]}, lo = value, hi = value;
    double last = log10((double)s->n);
    *n = (size_t)floor(last * PLOT_SPECTRUM_STEPS) + 2;
    uint64_t last_lo = 1, last_hi = 1;
    struct percentile *v = calloc(*n, sizeof *v);
    for (size_t i = 0; v != NULL && i < *n; i++) {
        double nines = i + 1 < *n ? (double)i / PLOT_SPECTRUM_STEPS : last;
        double p = 1 - pow(10, -nines);
        uint64_t n_e = (uint64_t)((double)s->n / deff_at(l, nines)), from = 0, to = 0;

        if (n_e > 0 && p > 0)
            stats_binomial_ranks(n_e, p, .95, &from, &to);
        uint64_t rank = i + 1 < *n ? (uint64_t)ceil(p * (double)s->n - 1e-9) : s->n;
        double scale = (double)(s->n + 1) / ((double)n_e + 1);
        bool has_band = from >= 1 && to <= n_e;
        /* Neighbours with other design effects must not let the limits fall back. */
        if (has_band) {
            uint64_t a = (uint64_t)floor((double)from * scale);
            uint64_t b = (uint64_t)ceil((double)to * scale);

            last_lo = a > last_lo ? a : last_lo;
            last_hi = b > last_hi ? b : last_hi;
        }
        v[i] = (struct percentile){nines, ms_at(&value, rank > 0 ? rank : 1),
                                   has_band ? ms_at(&lo, last_lo) : NAN,
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

/* "name":[[ms,...],[lo,...],[hi,...]] */
static bool put_readings(FILE *f, const char *name, const struct plot_sample *s,
                         const struct statistics_latency *l)
{
    size_t n;
    struct percentile *v = percentiles_of(s, l, &n);

    if (v == NULL)
        return n == 0;
    fprintf(f, ",\"%s\":[", name);
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < n; i++) {
            double x = k == 0 ? v[i].ms : k == 1 ? v[i].lo_ms : v[i].hi_ms;
            fputs(i > 0 ? "," : k > 0 ? "],[" : "[", f);
            if (isnan(x))
                fputs("null", f);
            else
                fprintf(f, "%.4g", x);
        }
    }
    fputs("]]", f);
    free(v);
    return true;
}

static bool put_all_readings(FILE *f, const struct plot_data *p)
{
    const struct statistics *st = p->statistics;
    const struct plot_sample *all[] = {&p->durations, &p->ttfb, &p->response};
    uint64_t most = 2;

    for (size_t i = 0; i < 3; i++)
        most = all[i]->n > most ? all[i]->n : most;
    fprintf(f, "{\"steps\":%d,\"right\":%.6g", PLOT_SPECTRUM_STEPS,
            fmax(1, log10((double)most)) * PLOT_SPECTRUM_ROOM);
    bool ok = put_readings(f, "duration", &p->durations, st != NULL ? &st->duration : NULL) &&
              put_readings(f, "time to first byte", &p->ttfb, st != NULL ? &st->ttfb : NULL) &&
              put_readings(f, "response time", &p->response, NULL);
    fputs("}", f);
    return ok;
}

static bool write_spectrum(FILE *f, const struct plot_data *p, const char *title)
{
    const struct statistics *st = p->statistics;
    const struct plot_sample *s = &p->durations;
    int64_t n = put_spectrum(f, "durations", s, st != NULL ? &st->duration : NULL);
    int64_t n_ttfb = put_spectrum(f, "ttfb", &p->ttfb, st != NULL ? &st->ttfb : NULL);
    int64_t n_response = put_spectrum(f, "response", &p->response, NULL);

    plot_out_block(f, "marks", "nines ms label");
    for (size_t i = 0; i < PLOT_DATA_N_MARKS; i++) {
        double pct = plot_data_mark_pct[i], nines = nines_of(pct / 100);
        if (pct < 100 && nines > log10((double)s->n))
            continue;
        char label[64];
        int length = pct < 100 ? snprintf(label, sizeof label, "p%g ", pct)
                               : snprintf(label, sizeof label, "max ");
        snprintf(label + length, sizeof label - (size_t)length, "%s",
                 units_duration(s->mark_ns[i]).s);
        plot_out_row(f, "rrs", pct < 100 ? nines : log10((double)s->n), (double)s->mark_ns[i] / 1e6,
                     label);
    }
    plot_out_block(f, "chart", CHARTS_COLUMNS " n n_ttfb n_response n_band");
    uint64_t from = 0, to = 0;
    double deff = deff_at(st != NULL ? &st->duration : NULL, .301);
    stats_binomial_ranks((uint64_t)((double)s->n / deff), .5, .95, &from, &to);
    plot_out_row(f, "srrriiii", title, 0.0, 0.0, 1.0, n, n_ttfb, n_response,
                 (int64_t)(from >= 1 && to <= (uint64_t)((double)s->n / deff)));
    return true;
}

const struct plot_kind plot_kind_spectrum = {
    "spectrum",
    "latency percentiles",
    "The duration that a share of the requests did not pass, each step to the right being one "
    "nine more; the band is the 95 % CI. Beside it the time to first byte and, of an open loop, "
    "the response time, which counts from when a request was due.",
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

/* The slowest by name; of the rest the median host, from the least p50 to the greatest p99. */
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
    plot_out_block(f, "chart", CHARTS_COLUMNS " n is_ttfb shared");
    plot_out_row(f, "srrriis", title, 0.0, 0.0, 1.0,
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

/* ---- Sizes ---- */

static bool has_latency_size(const struct plot_data *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->sizes.n_classes; i++)
        n += p->sizes.classes[i].durations.n > 0;
    return n > 0;
}

static double class_quantile_ms(const struct hist *h, unsigned permille)
{
    return (double)quantile_of_hist(h, permille) / 1e6;
}

static void put_classes(FILE *f, const struct plot_data *p)
{
    int64_t n = 0;
    plot_out_block(f, "classes", "index min_bytes max_bytes n min_ms p50_ms p90_ms p99_ms max_ms");
    for (size_t i = 0; i < p->sizes.n_classes; i++) {
        const struct plot_size_class *c = &p->sizes.classes[i];
        const struct hist *h = &c->durations;

        if (h->n > 0)
            plot_out_row(f, "iiiirrrrr", n++, c->min_bytes, c->max_bytes, (int64_t)h->n,
                         (double)h->min / 1e6, class_quantile_ms(h, 500), class_quantile_ms(h, 900),
                         class_quantile_ms(h, 990), (double)h->max / 1e6);
    }
}

static bool write_latency_size(FILE *f, const struct plot_data *p, const char *title)
{
    size_t least[2] = {PLOT_DATA_N_LOG, PLOT_DATA_N_LOG}, greatest[2] = {0, 0};
    uint32_t most = 0;

    for (size_t i = 0; i < PLOT_DATA_N_LOG * PLOT_DATA_N_LOG; i++) {
        const size_t at[2] = {i / PLOT_DATA_N_LOG, i % PLOT_DATA_N_LOG};
        for (size_t k = 0; k < 2 && p->sizes.density[i] > 0; k++) {
            least[k] = at[k] < least[k] ? at[k] : least[k];
            greatest[k] = at[k] > greatest[k] ? at[k] : greatest[k];
        }
        most = p->sizes.density[i] > most ? p->sizes.density[i] : most;
    }
    /* A margin, and so at least two rows and columns: of one gnuplot makes no picture. */
    for (size_t k = 0; k < 2; k++) {
        least[k] -= least[k] > 0;
        greatest[k] += greatest[k] + 1 < PLOT_DATA_N_LOG;
    }
    plot_out_block(f, "density", "size_bucket bucket requests");
    for (size_t b = least[1]; b <= greatest[1]; b++)
        for (size_t s = least[0]; s <= greatest[0]; s++)
            plot_out_row(f, "iii", (int64_t)s, (int64_t)b,
                         (int64_t)p->sizes.density[s * PLOT_DATA_N_LOG + b]);
    put_classes(f, p);
    plot_out_block(f, "chart", CHARTS_COLUMNS " first_size last_size first last most");
    plot_out_row(f, "srrriiiir", title, 0.0, 0.0, 1.0, (int64_t)least[0], (int64_t)greatest[0],
                 (int64_t)least[1], (int64_t)greatest[1], (double)most);
    return true;
}

const struct plot_kind plot_kind_latency_size = {
    "latency-size", "latency by object size",
    "How many requests of which size took how long: the stronger the colour, the more. Lines: p50 "
    "and p99 of each class of sizes.",
    .has_data = has_latency_size, .write = write_latency_size};
