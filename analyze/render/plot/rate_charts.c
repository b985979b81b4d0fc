#include "analyze/render/plot/charts_internal.h"

#include "analyze/summary/estimate/confidence.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>

#define MAX_ROWS 2000 /* drawn rows of a series */
#define SERIES_COLUMNS                                                                             \
    "start_time t_s duration_s mb_per_sec objs_per_sec ops_ended_per_sec errors in_range p50_ms "  \
    "p90_ms p99_ms max_ms ttfb_p50_ms in_flight"

/* ---- Series ---- */

/* Whether a segment is drawn: not if it extends beyond the first start or the latest end. */
static bool is_drawn(const struct plot_data *p, const struct series_row *r)
{
    return !isnan(r->objects) && (p->n_rows <= 2 || r->in_range ||
                                  (r->start_ns >= p->course.start_ns &&
                                   r->start_ns + r->duration_ns <= p->course.end_ns));
}

/* Writes the block "series", thinned out so that the least and the greatest of each column stay. */
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

static double row_middle_s(const struct plot_data *p, const struct series_row *r)
{
    return plot_data_t_s(p, r->start_ns) + (double)r->duration_ns / 2e9;
}

/* ---- Throughput ---- */

/* Returns the number of rows. */
static int64_t put_errors(FILE *f, const struct plot_data *p)
{
    int64_t n = 0;

    plot_out_block(f, "errors", "t_s errors");
    for (size_t k = 0; k < p->course.n; k++)
        if (p->course.rows[k].errors > 0 && ++n)
            plot_out_row(f, "ri", row_middle_s(p, &p->course.rows[k]), p->course.rows[k].errors);
    return n;
}

static double rate_column(const struct series_row *row, size_t i)
{
    return i == 0 ? (double)row->bytes : row->objects;
}

static bool put_mean(FILE *f, const struct plot_data *p, int64_t panel,
                     const struct statistics_rate *r, double mean, double unit)
{
    struct span of = {true, p->shown->start_ns, p->shown->start_ns + p->shown->duration_ns};

    if (p->segments->which != NULL)
        of = p->course.range;
    double from = plot_data_t_s(p, of.start_ns), to = plot_data_t_s(p, of.end_ns);
    bool has_ci = r != NULL && r->present && r->mean.ok;

    plot_out_row(f, "irrrrr", panel, from, to, mean / unit, has_ci ? r->mean.lo / unit : NAN,
                 has_ci ? r->mean.hi / unit : NAN);
    return has_ci;
}

/* Returns the number of rows; *n_bands: of those with a confidence interval. */
static int64_t put_means(FILE *f, const struct plot_data *p, int64_t *n_bands)
{
    const struct statistics *s = p->statistics;
    struct segment_pick mean = {0, p->shown->bytes_per_s, p->shown->objects_per_s};

    *n_bands = 0;
    plot_out_block(f, "means", "panel from_s to_s mean lo hi");
    if (!p->shown->present)
        return 0;
    if (p->segments->which != NULL)
        mean = p->segments->mean;
    if (p->course.has_bytes)
        *n_bands += put_mean(f, p, 0, s != NULL ? &s->bytes : NULL, mean.bytes_per_s, MIB);
    *n_bands += put_mean(f, p, 1, s != NULL ? &s->objects : NULL, mean.objects_per_s, 1);
    return 1 + p->course.has_bytes;
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

/* Writes the finer series, if segments are at least twice as long as its bins. */
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
        if (p->rows[i].objects > 0)
            return true;
    return false;
}

static bool write_throughput(FILE *f, const struct plot_data *p, const char *title)
{
    if (!put_series(f, p, p->course.has_bytes ? 2 : 1, rate_column))
        return false;
    int64_t n_errors = put_errors(f, p), n_bands, n_shades = charts_put_shades(f, p),
            n_means = put_means(f, p, &n_bands);
    int64_t n_marks = put_marks(f, p), n_fine = put_fine(f, p);
    PLOT_OUT_CHART(
        f, p, title, "has_bytes n_errors n_shades n_means n_bands n_marks n_fine fine_s segment_s",
        "iiiiiiirr", (int64_t)p->course.has_bytes, n_errors, n_shades, n_means, n_bands, n_marks,
        n_fine, p->course.n > 0 ? (double)p->course.rows[0].duration_ns / 1e9 : 0,
        (double)p->rows[0].duration_ns / 1e9);
    return true;
}

const struct plot_kind plot_kind_throughput = {
    "throughput",
    "throughput over time",
    "One point per segment. Where they are drawn: the thin line is finer, grey is outside the "
    "active range and not counted, the line with its band is the mean with its 95 % confidence "
    "interval, crosses are failed requests.",
    .is_course = true,
    .has_data = has_rates,
    .write = write_throughput};

/* ---- Errors ---- */

static bool has_errors(const struct plot_data *p)
{
    return p->course.n_messages > 0;
}

/* Writes stacked bars, with a part for each message. */
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
    PLOT_OUT_CHART(f, p, title, "n_messages most segment_s", "iir", (int64_t)t->n_messages, most,
                   (double)t->rows[0].duration_ns / 1e9);
    return true;
}

const struct plot_kind plot_kind_errors = {"errors",
                                           "errors over time",
                                           "How many requests failed when, by message. Bars stand "
                                           "on each other: the first message is lowest.",
                                           .is_course = true,
                                           .has_data = has_errors,
                                           .write = write_errors};

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
    double concurrency = p->operation != NULL ? (double)p->operation->concurrency : 0; /* 0: none */
    PLOT_OUT_CHART(f, p, title, "n_shades concurrency segment_s", "irr", n_shades, concurrency,
                   (double)p->rows[0].duration_ns / 1e9);
    return true;
}

const struct plot_kind plot_kind_in_flight = {
    "in-flight",
    "requests in flight",
    "The mean number of requests running at a time; dashes: the number of threads that took part.",
    .is_course = true,
    .has_data = has_in_flight,
    .is_worth = varies_in_flight,
    .write = write_in_flight};

/* ---- Autoterm ---- */

static bool has_replay(const struct plot_data *p)
{
    return p->replay != NULL;
}

/* Writes the window that decided: its seven segments, and how far from the last one's speed they
 * may be. */
static bool write_autoterm(FILE *f, const struct plot_data *p, const char *title)
{
    const struct autoterm_stop *stop = &p->replay->stop;
    const struct autoterm_window *w = &stop->window;
    double speed = p->course.has_bytes ? w->bytes_per_s / MIB : w->objects_per_s;
    double half = speed * p->replay->pct / 100;

    if (!put_series(f, p, p->course.has_bytes ? 2 : 1, rate_column))
        return false;
    int64_t n_shades = charts_put_shades(f, p);
    plot_out_block(f, "window", "from_s to_s speed lo hi at_s");
    if (stop->stopped)
        plot_out_row(f, "rrrrrr", plot_data_t_s(p, w->start_ns), plot_data_t_s(p, w->end_ns), speed,
                     speed - half, speed + half, charts_t_min(p) + (double)stop->at_s);
    PLOT_OUT_CHART(f, p, title, "has_bytes n_shades n_windows segment_s", "iiir",
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
