#include "analyze/plot/write.h"

#include "analyze/estimate/confidence.h"
#include "analyze/plot/cdf.h"
#include "analyze/plot/charts_internal.h"
#include "analyze/plot/events.h"
#include "analyze/plot/names.h"
#include "analyze/plot/out.h"
#include "analyze/read/aggfile.h"
#include "analyze/write/csv.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>

#define MAX_ROWS      2000 /* of a series */
#define CDF_STEPS     300
#define MAX_SIZE_BARS 40
#define SERIES_COLUMNS                                                                             \
    "start_time t_s duration_s mb_per_sec objs_per_sec ops_ended_per_sec errors in_range p50_ms "  \
    "p90_ms p99_ms max_ms ttfb_p50_ms in_flight"

/* ---- What several charts have ---- */

double charts_zero_unix(const struct plot_data *p)
{
    return (double)p->zero_ns / 1e9;
}

double charts_t_min(const struct plot_data *p)
{
    return plot_data_t_s(p, p->course.start_ns);
}

double charts_t_max(const struct plot_data *p)
{
    int64_t least_ns = p->course.start_ns + PLOT_DATA_MIN_SPAN_NS;
    return plot_data_t_s(p, p->course.end_ns > least_ns ? p->course.end_ns : least_ns);
}

/* A segment that hangs over the first start or the latest end says too little to be drawn. */
static bool is_drawn(const struct plot_data *p, const struct series_row *r)
{
    return !isnan(r->objects) && (p->n_rows <= 2 || r->in_range ||
                                  (r->start_ns >= p->course.start_ns &&
                                   r->start_ns + r->duration_ns <= p->course.end_ns));
}

/* The block "series", thinned out so that the least and the greatest of each column stay. */
static bool put_series(FILE *f, const struct plot_data *p, size_t n_columns,
                       double (*column)(const struct series_row *row, size_t i))
{
    bool *keep;

    if (!mem_new(&keep, p->n_rows, NULL))
        return false;
    plot_data_thin(p->rows, p->n_rows, MAX_ROWS, n_columns, column, keep);
    plot_out_block(f, "series", SERIES_COLUMNS);
    for (size_t i = 0; i < p->n_rows; i++) {
        const struct series_row *r = &p->rows[i];
        double seconds = (double)r->duration_ns / 1e9;

        if (keep[i] && is_drawn(p, r))
            plot_out_row(f, "trrrrriirrrrrr", r->start_ns, plot_data_t_s(p, r->start_ns), seconds,
                         (double)r->bytes / MIB / seconds, r->objects / seconds,
                         r->lacks_counts ? NAN : (double)r->ops_ended / seconds, r->errors,
                         (int64_t)r->in_range, r->p50_ns / 1e6, r->p90_ns / 1e6, r->p99_ns / 1e6,
                         r->max_ns / 1e6, r->ttfb_p50_ns / 1e6, r->in_flight);
    }
    free(keep);
    return true;
}

double charts_bin_middle_s(const struct plot_data *p, const struct slice_grid *b, size_t k)
{
    return plot_data_t_s(p, b->start_ns) + ((double)k + .5) * (double)b->length_ns / 1e9;
}

static double row_middle_s(const struct plot_data *p, const struct series_row *r)
{
    return plot_data_t_s(p, r->start_ns) + (double)r->duration_ns / 2e9;
}

/* Returns how many there are. */
static int64_t put_errors(FILE *f, const struct plot_data *p)
{
    int64_t n = 0;

    plot_out_block(f, "errors", "t_s errors");
    for (size_t k = 0; k < p->course.n; k++)
        if (p->course.rows[k].errors > 0 && ++n)
            plot_out_row(f, "ri", row_middle_s(p, &p->course.rows[k]), p->course.rows[k].errors);
    return n;
}

int64_t charts_put_shades(FILE *f, const struct plot_data *p)
{
    int64_t n = 0;
    const struct statistics *s = p->statistics;

    plot_events_put(f, p);
    plot_out_block(f, "shades", "from_s to_s is_warm_up");
    double from = charts_t_min(p), to = charts_t_max(p);
    if (p->course.range.present) {
        double start = plot_data_t_s(p, p->course.range.start_ns);
        double end = plot_data_t_s(p, p->course.range.end_ns);

        if (start > from && ++n)
            plot_out_row(f, "rri", from, start, INT64_C(0));
        if (end < to && ++n)
            plot_out_row(f, "rri", end, to, INT64_C(0));
    }
    if (s != NULL && s->warmup.steady && s->warmup.n_cut > 0 && !plot_events_have_warm_up(p) && ++n)
        plot_out_row(f, "rri", plot_data_t_s(p, s->start_ns),
                     plot_data_t_s(p, statistics_steady_from_ns(s)), INT64_C(1));
    return n;
}

/* ---- Throughput ---- */

static double rate_column(const struct series_row *row, size_t i)
{
    return i == 0 ? (double)row->bytes : row->objects;
}

static bool put_mean(FILE *f, const struct plot_data *p, int64_t panel,
                     const struct statistics_rate *r, double mean, double unit)
{
    struct span of = {true, p->throughput->start_ns,
                      p->throughput->start_ns + p->throughput->duration_ns};

    if (p->segments->which != NULL)
        of = p->course.range;
    double from = plot_data_t_s(p, of.start_ns), to = plot_data_t_s(p, of.end_ns);
    bool has_ci = r != NULL && r->present && r->mean.ok;

    plot_out_row(f, "irrrrr", panel, from, to, mean / unit, has_ci ? r->mean.lo / unit : NAN,
                 has_ci ? r->mean.hi / unit : NAN);
    return has_ci;
}

/* *n_bands: those with an interval. */
static int64_t put_means(FILE *f, const struct plot_data *p, int64_t *n_bands)
{
    const struct statistics *s = p->statistics;
    struct segment_pick mean = {0, p->throughput->bytes_per_s, p->throughput->objects_per_s};

    *n_bands = 0;
    plot_out_block(f, "means", "panel from_s to_s mean lo hi");
    if (!p->throughput->present)
        return 0;
    if (p->segments->which != NULL)
        mean = p->segments->mean;
    if (p->course.has_bytes)
        *n_bands += put_mean(f, p, 0, s != NULL ? &s->bytes : NULL, mean.bytes_per_s, MIB);
    *n_bands += put_mean(f, p, 1, s != NULL ? &s->objects : NULL, mean.objects_per_s, 1);
    return 1 + p->course.has_bytes;
}

/* The levels between change points. */
static int64_t put_levels(FILE *f, const struct plot_data *p)
{
    const struct statistics *s = p->statistics;
    plot_out_block(f, "levels", "from_s to_s level");
    if (s == NULL || s->shifts.n == 0)
        return 0;
    double unit = s->by_objects ? 1 : MIB;
    double from = plot_data_t_s(p, s->start_ns);
    for (size_t i = 0; i < s->shifts.n; i++) {
        double to = plot_data_t_s(p, s->start_ns + (int64_t)s->shifts.v[i].at * s->segment_ns);
        plot_out_row(f, "rrr", from, to, s->shifts.v[i].before / unit);
        from = to;
    }
    plot_out_row(f, "rrr", from, plot_data_t_s(p, s->start_ns + s->duration_ns),
                 s->shifts.v[s->shifts.n - 1].after / unit);
    return (int64_t)s->shifts.n + 1;
}

static int64_t put_marks(FILE *f, const struct plot_data *p)
{
    const struct segments *s = p->segments;
    plot_out_block(f, "marks", "kind t_s mb_per_sec objs_per_sec");
    if (!s->present)
        return 0;
    const struct segment_pick *picks[] = {&s->fastest, &s->median, &s->slowest};
    bool has_median = s->n >= ANALYSIS_MIN_MEDIAN;
    for (int64_t i = 0; i < 3; i++)
        if (i != 1 || has_median)
            plot_out_row(f, "irrr", i, plot_data_t_s(p, picks[i]->start_ns + s->duration_ns / 2),
                         picks[i]->bytes_per_s / MIB, picks[i]->objects_per_s);
    return 2 + has_median;
}

/* Between segments, where they are long. */
static int64_t put_fine(FILE *f, const struct plot_data *p)
{
    const struct plot_timeline *t = &p->course;

    plot_out_block(f, "fine", "t_s mb_per_sec objs_per_sec");
    if (t->n < 3 || t->rows[0].duration_ns * 2 > p->rows[0].duration_ns)
        return 0;
    for (size_t k = 0; k < t->n; k++) {
        const struct series_row *r = &t->rows[k];
        double seconds = (double)r->duration_ns / 1e9;

        plot_out_row(f, "rrr", row_middle_s(p, r), (double)r->bytes / MIB / seconds,
                     r->objects / seconds);
    }
    return (int64_t)t->n;
}

static bool has_rates(const struct plot_data *p)
{
    for (size_t i = 0; i < p->n_rows; i++)
        if (!isnan(p->rows[i].objects))
            return true;
    return false;
}

static bool write_throughput(FILE *f, const struct plot_data *p, const char *title)
{
    if (!put_series(f, p, p->course.has_bytes ? 2 : 1, rate_column))
        return false;
    int64_t n_errors = put_errors(f, p), n_bands, n_shades = charts_put_shades(f, p),
            n_means = put_means(f, p, &n_bands);
    int64_t n_levels = put_levels(f, p), n_marks = put_marks(f, p), n_fine = put_fine(f, p);
    plot_out_block(
        f, "chart",
        CHARTS_COLUMNS
        " has_bytes n_errors n_shades n_means n_bands n_levels n_marks n_fine fine_s segment_s");
    plot_out_row(f, "srrriiiiiiiirr", title, charts_zero_unix(p), charts_t_min(p), charts_t_max(p),
                 (int64_t)p->course.has_bytes, n_errors, n_shades, n_means, n_bands, n_levels,
                 n_marks, n_fine, p->course.n > 0 ? (double)p->course.rows[0].duration_ns / 1e9 : 0,
                 (double)p->rows[0].duration_ns / 1e9);
    return true;
}

const struct plot_kind plot_kind_throughput = {
    "throughput", "throughput over time",
    "One point per segment; the thin line is finer. Grey: outside the active range, not counted; "
    "amber: warm-up. The line with its band is the mean with its 95 % confidence interval, dashes "
    "the levels between change points, crosses failed requests.",
    .has_data = has_rates, .write = write_throughput};

/* ---- Errors ---- */

static bool has_errors(const struct plot_data *p)
{
    return p->course.n_messages > 0;
}

/* Steps of a column for each message, one on top of the other. */
static bool write_errors(FILE *f, const struct plot_data *p, const char *title)
{
    const struct plot_timeline *t = &p->course;
    int64_t most = 0;

    plot_out_block(f, "bars", "message from_s to_s lo hi");
    for (size_t k = 0; k < t->n; k++) {
        double from = plot_data_t_s(p, t->rows[k].start_ns);
        double to = from + (double)t->rows[k].duration_ns / 1e9;
        int64_t lo = 0;

        for (size_t i = 0; i < t->n_messages; i++) {
            int64_t hi = lo + t->messages[i].by_bin[k];
            if (hi > lo)
                plot_out_row(f, "irrii", (int64_t)i, from, to, lo, hi);
            lo = hi;
        }
        most = lo > most ? lo : most;
    }
    plot_out_block(f, "messages", "index n text");
    for (size_t i = 0; i < t->n_messages; i++)
        plot_out_row(f, "iis", (int64_t)i, t->messages[i].n,
                     t->messages[i].text != NULL ? t->messages[i].text : "others");
    plot_events_put(f, p);
    plot_out_block(f, "chart", CHARTS_COLUMNS " n_messages most segment_s");
    plot_out_row(f, "srrriir", title, charts_zero_unix(p), charts_t_min(p), charts_t_max(p),
                 (int64_t)t->n_messages, most, (double)t->rows[0].duration_ns / 1e9);
    return true;
}

const struct plot_kind plot_kind_errors = {"errors", "errors over time",
                                           "How many requests failed when, by message.",
                                           .has_data = has_errors, .write = write_errors};

/* ---- Hosts, clients ---- */

static bool has_host(const struct plot_data *p)
{
    return p->hosts.n > 0;
}

static bool has_hosts(const struct plot_data *p, const struct plot_data *all)
{
    (void)all;
    return p->hosts.n > 1;
}

static const char *party_name(const void *parties, size_t i)
{
    return ((const struct plot_parties *)parties)->v[i].name;
}

/* What all names share goes to the caller. */
static struct plot_names put_party_names(FILE *f, const struct plot_parties *x)
{
    struct plot_names names = plot_names_of(party_name, x, x->n);
    char rest[128];

    plot_out_block(f, "names", "index mean name");
    for (size_t h = 0; h < x->n; h++) {
        plot_names_rest(&names, x->v[h].name, rest, sizeof rest);
        plot_out_row(f, "irs", (int64_t)h, x->v[h].mean, intern_shown(rest));
    }
    return names;
}

/* Many hosts need room for the names of the slowest ones. */
static int hosts_height(const struct plot_data *p)
{
    return p->hosts.n > PLOT_DATA_MAX_BY_NAME ? 560 : 0;
}

/* Whether a bin lies within the run, or all of them do not. */
static bool is_whole_bin(const struct plot_data *p, size_t k)
{
    int64_t start_ns = p->hosts.bins.start_ns + (int64_t)k * p->hosts.bins.length_ns;
    return p->hosts.bins.n < 3 || (start_ns >= p->course.start_ns &&
                                   start_ns + p->hosts.bins.length_ns <= p->course.end_ns);
}

static bool put_rates(FILE *f, const struct plot_data *p, const struct plot_parties *of,
                      const char *title)
{
    double unit = p->course.has_bytes ? MIB : 1, most = 0;
    bool lines = of->n <= PLOT_DATA_MAX_LINES;

    plot_out_block(f, "rates", "t_s host rate");
    for (size_t h = 0; h < of->n; h++) {
        for (size_t k = 0; k < of->bins.n; k++) {
            double rate = plot_data_rate(p, &of->v[h], k) / unit;
            if (isnan(rate) || (lines && !is_whole_bin(p, k)))
                continue;
            most = rate > most ? rate : most;
            plot_out_row(f, "rir", charts_bin_middle_s(p, &of->bins, k), (int64_t)h, rate);
        }
    }
    struct plot_names names = put_party_names(f, of);
    int64_t n_shades = charts_put_shades(f, p);
    plot_out_block(f, "chart",
                   CHARTS_COLUMNS
                   " has_bytes n_hosts n_hosts_in_all lines most bin_s n_bins n_shades shared");
    plot_out_row(f, "srrriiiirriis", title, charts_zero_unix(p), charts_t_min(p), charts_t_max(p),
                 (int64_t)p->course.has_bytes, (int64_t)of->n, (int64_t)of->n_in_all,
                 (int64_t)lines, most, (double)of->bins.length_ns / 1e9, (int64_t)of->bins.n,
                 n_shades, names.shared);
    return true;
}

static bool write_hosts(FILE *f, const struct plot_data *p, const char *title)
{
    return put_rates(f, p, &p->hosts, title);
}

const struct plot_kind plot_kind_hosts = {
    "hosts",
    "throughput by host",
    "The rate of each host over time: one that lags behind, or stops, stands out. Of many those "
    "that a finding names come first, then those with the least throughput.",
    .is_detail = true,
    .of_parties = true,
    .has_data = has_host,
    .is_worth = has_hosts,
    .write = write_hosts,
    .height = hosts_height};

static bool has_client_rates(const struct plot_data *p)
{
    return p->clients.n > 1;
}

static bool write_client_rates(FILE *f, const struct plot_data *p, const char *title)
{
    return put_rates(f, p, &p->clients, title);
}

static const struct plot_kind client_rates = {"hosts",
                                              "throughput by client",
                                              "The rate of each client over time.",
                                              .of_parties = true,
                                              .has_data = has_client_rates,
                                              .write = write_client_rates};

static bool has_clients(const struct plot_data *p, const struct plot_data *all)
{
    (void)all;
    return p->clients.n > 1;
}

static bool write_clients(FILE *f, const struct plot_data *p, const char *title)
{
    double most = 0;
    plot_out_block(f, "activity", "t_s client in_flight");
    for (size_t c = 0; c < p->clients.n; c++) {
        for (size_t k = 0; k < p->clients.bins.n; k++) {
            double x = (double)p->clients.v[c].sum[k] / (double)p->clients.bins.length_ns;
            most = x > most ? x : most;
            plot_out_row(f, "rir", charts_bin_middle_s(p, &p->clients.bins, k), (int64_t)c, x);
        }
    }
    struct plot_names names = put_party_names(f, &p->clients);
    int64_t n_shades = charts_put_shades(f, p);
    plot_out_block(f, "chart",
                   CHARTS_COLUMNS " n_clients n_clients_in_all most bin_s n_bins n_shades shared");
    plot_out_row(f, "srrriirriis", title, charts_zero_unix(p), charts_t_min(p), charts_t_max(p),
                 (int64_t)p->clients.n, (int64_t)p->clients.n_in_all, most,
                 (double)p->clients.bins.length_ns / 1e9, (int64_t)p->clients.bins.n, n_shades,
                 names.shared);
    return true;
}

const struct plot_kind plot_kind_clients = {
    "clients",
    "activity of clients",
    "How many requests each client had running, over time: whether they all ran at once.",
    .of_requests = true,
    .else_kind = &client_rates,
    .is_detail = true,
    .of_parties = true,
    .is_worth = has_clients,
    .write = write_clients};

/* ---- Latency ---- */

bool charts_has_durations(const struct plot_data *p)
{
    return p->operation != NULL && p->course.n_requests > p->course.n_errors;
}

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
    plot_out_block(f, "series", "t_s duration_s p50_ms p90_ms p99_ms max_ms");
    for (size_t i = 0; i < p->course.n; i++) {
        const struct series_row *r = &p->course.rows[i];
        lo = r->p50_ns < lo ? r->p50_ns : lo;
        hi = r->max_ns > hi ? r->max_ns : hi;
        plot_out_row(f, "rrrrrr", plot_data_t_s(p, r->start_ns), (double)r->duration_ns / 1e9,
                     r->p50_ns / 1e6, r->p90_ns / 1e6, r->p99_ns / 1e6, r->max_ns / 1e6);
    }
    int64_t n_shades = charts_put_shades(f, p);
    plot_out_block(f, "chart", CHARTS_COLUMNS " n_shades lo_ms hi_ms segment_s");
    plot_out_row(f, "srrrirrr", title, charts_zero_unix(p), charts_t_min(p), charts_t_max(p),
                 n_shades, lo / 1e6, hi / 1e6, (double)p->course.rows[0].duration_ns / 1e9);
    return true;
}

const struct plot_kind plot_kind_latency = {
    "latency", "latency over time",
    "Quantiles of the durations of the successful requests that end in each step of time, on a "
    "logarithmic scale.",
    .has_data = has_latency, .write = write_latency};

static bool write_latency_heat(FILE *f, const struct plot_data *p, const char *title)
{
    struct csv_out_number t_s[PLOT_DATA_MAX_HEAT_BINS];
    size_t first = PLOT_DATA_N_LOG, last = 0;
    uint32_t most = 0;

    for (size_t k = 0; k < p->heat.bins.n; k++) {
        for (size_t b = 0; b < PLOT_DATA_N_LOG; b++) {
            uint32_t n = p->heat.count[k * PLOT_DATA_N_LOG + b];
            most = n > most ? n : most;
            if (n > 0) {
                first = b < first ? b : first;
                last = b > last ? b : last;
            }
        }
    }
    /* A margin, and at least two rows: of one gnuplot makes no picture. */
    first -= first > 0;
    last += last + 1 < PLOT_DATA_N_LOG;
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
    plot_out_block(f, "chart", CHARTS_COLUMNS " first last most bin_s n_bins");
    plot_out_row(f, "srrriirri", title, charts_zero_unix(p), charts_t_min(p), charts_t_max(p),
                 (int64_t)first, (int64_t)last, (double)most, (double)p->heat.bins.length_ns / 1e9,
                 (int64_t)p->heat.bins.n);
    return true;
}

const struct plot_kind plot_kind_latency_heat = {
    "latency-heat",
    "latency heat map",
    "How many requests ended when, after how long: the stronger the colour, the more. Bands are "
    "different kinds of requests; a stripe upwards is a stall.",
    .of_requests = true,
    .is_detail = true,
    .has_data = charts_has_durations,
    .write = write_latency_heat};

static void put_cdf(FILE *f, const char *name, const struct plot_sample *s)
{
    plot_out_block(f, name, "ms pct");
    if (s->n > 0)
        plot_cdf_rows(f, s->count, s->n, s->mark_ns[PLOT_DATA_N_MARKS - 1], CDF_STEPS);
}

static void put_cdf_marks(FILE *f, const struct plot_sample *s, int64_t which)
{
    char label[64];
    for (size_t i = 0; s->n > 0 && i < PLOT_DATA_N_MARKS; i++) {
        double pct = plot_data_mark_pct[i];
        if (pct == 100)
            snprintf(label, sizeof label, "max %.32s", units_duration(s->mark_ns[i]).s);
        else
            snprintf(label, sizeof label, "p%g %.32s", pct, units_duration(s->mark_ns[i]).s);
        plot_out_row(f, "irrs", which, (double)s->mark_ns[i] / 1e6, pct, label);
    }
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
    plot_out_block(f, "chart", CHARTS_COLUMNS " n n_ttfb");
    plot_out_row(f, "srrrii", title, charts_zero_unix(p), charts_t_min(p), charts_t_max(p),
                 (int64_t)p->durations.n, (int64_t)p->ttfb.n);
    return true;
}

const struct plot_kind plot_kind_cdf = {
    "cdf",
    "latency distribution",
    "The share of the requests that took at most so long; dots mark percentiles. Time to first "
    "byte beside the whole duration, where it was recorded.",
    .is_by_name = true,
    .has_data = has_sample,
    .write = write_cdf};

/* ---- Sizes ---- */

static bool has_several_sizes(const struct plot_data *p, const struct plot_data *all)
{
    (void)all;
    size_t n = p->sizes.n_empty > 0;
    for (size_t b = 0; b < PLOT_DATA_N_LOG; b++)
        n += p->sizes.count[b] > 0;
    return n > 1;
}

static bool write_sizes(FILE *f, const struct plot_data *p, const char *title)
{
    size_t first = PLOT_DATA_N_LOG, last = 0, joined = 1;
    int64_t n = 0;
    char label[64];

    for (size_t b = 0; b < PLOT_DATA_N_LOG; b++) {
        if (p->sizes.count[b] > 0) {
            first = b < first ? b : first;
            last = b > last ? b : last;
        }
    }
    while (first <= last && last / joined - first / joined + 1 > MAX_SIZE_BARS)
        joined *= 2;
    plot_out_block(f, "sizes", "index from_bytes to_bytes requests label");
    if (p->sizes.n_empty > 0)
        plot_out_row(f, "irris", n++, 0.0, 0.0, (int64_t)p->sizes.n_empty, "0");
    for (size_t b = first / joined * joined; first <= last && b <= last; b += joined) {
        uint64_t count = 0;
        for (size_t k = b; k < b + joined && k < PLOT_DATA_N_LOG; k++)
            count += p->sizes.count[k];
        double from = plot_data_log_lower(b), to = plot_data_log_lower(b + joined);
        snprintf(label, sizeof label, "%.40s", units_size(from).s);
        plot_out_row(f, "irris", n++, from, to, (int64_t)count, label);
    }
    plot_out_block(f, "chart", CHARTS_COLUMNS " n");
    plot_out_row(f, "srrri", title, charts_zero_unix(p), charts_t_min(p), charts_t_max(p), n);
    return true;
}

const struct plot_kind plot_kind_sizes = {"sizes",
                                          "object sizes",
                                          "How many successful requests had which size.",
                                          .of_requests = true,
                                          .has_data = charts_has_durations,
                                          .is_worth = has_several_sizes,
                                          .write = write_sizes};

/* ---- Groups of an aggregated capture ---- */

#define GROUP_S 10.0

/* Percentiles of too few requests are their slowest one, which says nothing of the share. */
static bool write_groups(FILE *f, const struct plot_data *p, const char *title)
{
    const struct request_groups *of = &p->operation->requests.groups;
    double end_s = plot_data_t_s(p, p->operation->end_ns);

    plot_events_put(f, p);
    plot_out_block(f, "groups", "t_s length_s n_requests p50_ms p90_ms p99_ms max_ms client");
    for (size_t i = 0; i < of->n; i++) {
        const struct aggfile_group *g = &of->v[i];
        double from_s = plot_data_t_s(p, g->start_ns);

        if (g->start_ns != AGGFILE_NO_TIME)
            plot_out_row(f, "rrirrrrs", from_s, fmin(GROUP_S, fmax(end_s - from_s, 0)),
                         g->n_requests, g->p50_ms, g->n_requests >= 10 ? g->p90_ms : NAN,
                         g->n_requests >= 100 ? g->p99_ms : NAN, g->max_ms, of->clients[g->client]);
    }
    plot_out_block(f, "chart", CHARTS_COLUMNS);
    plot_out_row(f, "srrr", title, charts_zero_unix(p), plot_data_t_s(p, p->operation->start_ns),
                 end_s);
    return true;
}

const struct plot_kind plot_kind_groups = {
    "groups", "durations of each 10 s",
    "What half, 90% and 99% of the requests of 10 seconds (and of one client) did not pass, and "
    "the slowest: of these 10 s alone, failed requests among them. None of it is a percentile of "
    "the run.",
    .has_data = has_groups, .write = write_groups};

/* ---- Requests in flight ---- */

static bool has_in_flight(const struct plot_data *p)
{
    return !isnan(p->rows[0].in_flight);
}

static bool varies_in_flight(const struct plot_data *p, const struct plot_data *all)
{
    (void)p;
    return !plot_timeline_is_steady(&all->course);
}

static double in_flight_column(const struct series_row *row, size_t i)
{
    (void)i;
    return row->in_flight;
}

static bool write_in_flight(FILE *f, const struct plot_data *p, const char *title)
{
    if (!put_series(f, p, 1, in_flight_column))
        return false;
    int64_t n_shades = charts_put_shades(f, p);
    double concurrency = p->operation != NULL ? (double)p->operation->concurrency : NAN;
    plot_out_block(f, "chart", CHARTS_COLUMNS " n_shades concurrency segment_s");
    plot_out_row(f, "srrrirr", title, charts_zero_unix(p), charts_t_min(p), charts_t_max(p),
                 n_shades, concurrency, (double)p->rows[0].duration_ns / 1e9);
    return true;
}

const struct plot_kind plot_kind_in_flight = {
    "in-flight",
    "requests in flight",
    "The mean number of requests running at a time; dashes: the number of threads that took part.",
    .is_detail = true,
    .has_data = has_in_flight,
    .is_worth = varies_in_flight,
    .write = write_in_flight};

/* ---- Autoterm ---- */

static bool has_replay(const struct plot_data *p)
{
    return p->replay != NULL;
}

/* The window that decided: its seven segments, and how far from the last one's speed they may be.
 */
static bool write_autoterm(FILE *f, const struct plot_data *p, const char *title)
{
    const struct autoterm_stop *stop = &p->replay->chosen.stop;
    const struct autoterm_window *w = &stop->window;
    double speed = p->course.has_bytes ? w->bytes_per_s / MIB : w->objects_per_s;
    double half = speed * p->replay->chosen.pct / 100;

    if (!put_series(f, p, p->course.has_bytes ? 2 : 1, rate_column))
        return false;
    int64_t n_shades = charts_put_shades(f, p);
    plot_out_block(f, "window", "from_s to_s speed lo hi at_s");
    if (stop->stopped)
        plot_out_row(f, "rrrrrr", plot_data_t_s(p, w->start_ns), plot_data_t_s(p, w->end_ns), speed,
                     speed - half, speed + half, charts_t_min(p) + (double)stop->at_s);
    plot_out_block(f, "chart", CHARTS_COLUMNS " has_bytes n_shades n_windows segment_s");
    plot_out_row(f, "srrriiir", title, charts_zero_unix(p), charts_t_min(p), charts_t_max(p),
                 (int64_t)p->course.has_bytes, n_shades, (int64_t)stop->stopped,
                 (double)p->rows[0].duration_ns / 1e9);
    return true;
}

const struct plot_kind plot_kind_autoterm = {
    "autoterm",
    "where autoterm would have stopped",
    "The red frame is the window that decided: its seven segments are within the given percentage "
    "of the last one's speed. The dashed line is when that was noticed.",
    .is_by_name = true,
    .has_data = has_replay,
    .write = write_autoterm};

/* ---- The list ---- */

const struct plot_kind *const plot_kinds[] = {
    &plot_kind_throughput,   &plot_kind_hosts,     &plot_kind_latency,
    &plot_kind_latency_heat, &plot_kind_spectrum,  &plot_kind_host_latency,
    &plot_kind_errors,       &plot_kind_cdf,       &plot_kind_latency_size,
    &plot_kind_sizes,        &plot_kind_in_flight, &plot_kind_clients,
    &plot_kind_autoterm,     &plot_kind_groups,    NULL,
};
