#include "analyze/report/html_timeline.h"

#include "analyze/analysis/confidence.h"
#include "analyze/report/html_internal.h"
#include "analyze/write/html.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SECOND_NS     INT64_C(1000000000)
#define TITLE_PX      18
#define MARK_ROW_PX   20 /* of numbers above the panels */
#define AXIS_PX       36
#define THROUGHPUT_PX 64
#define LATENCY_PX    54
#define SMALL_PX      32
#define GAP_PX        6
#define LOG_FROM      20.0 /* a ratio of greatest to least latency that asks for a log axis */
#define STEADY_FRAC   0.05 /* a number in flight that differs by less says nothing */
#define LEGEND_LETTER 6.6  /* pixels, on average */

struct drawing {
    FILE *f;
    const struct analysis *a;
    int index;
    const struct plot_timeline *t;
    const char *prefix; /* of ids: each drawing has its own */
    bool narrow;
    double width, left, right; /* the panels lie between left and right */
    double y;                  /* where the next panel begins */
};

/* One panel: what its lines show, by bin; NAN: nothing. */
struct panel {
    double top, height;
    double scale; /* data is divided by it */
    double least, most;
    bool is_log;
};

static double x_of(const struct drawing *d, int64_t ns)
{
    double part = (double)(ns - d->t->start_ns) / (double)(d->t->end_ns - d->t->start_ns);

    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return d->left + part * (d->right - d->left);
}

static double y_of(const struct panel *p, double value)
{
    double part = p->is_log ? log(value / p->least) / log(p->most / p->least)
                            : (value - p->least) / (p->most - p->least);

    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return p->top + p->height * (1 - part);
}

/* ---- What is drawn, by bin ---- */

enum course { THROUGHPUT, P50, P99, IN_FLIGHT };

static double value_of(const struct plot_timeline *t, enum course what, size_t i)
{
    const struct series_row *r = &t->rows[i];

    switch (what) {
    case THROUGHPUT:
        return (t->has_bytes ? (double)r->bytes : r->objects) / ((double)r->duration_ns / 1e9);
    case P50:
        return r->p50_ms * 1e6;
    case P99:
        return r->p99_ms * 1e6;
    case IN_FLIGHT:
        return r->in_flight;
    }
    return NAN;
}

static double most_of(const struct plot_timeline *t, enum course what)
{
    double most = 0;

    for (size_t i = 0; i < t->n; i++)
        if (value_of(t, what, i) > most)
            most = value_of(t, what, i);
    return most;
}

static double least_of(const struct plot_timeline *t, enum course what)
{
    double least = INFINITY;

    for (size_t i = 0; i < t->n; i++)
        if (value_of(t, what, i) < least)
            least = value_of(t, what, i);
    return least;
}

/* ---- Axes ---- */

static double round_step(double least)
{
    double power = pow(10, floor(log10(least))), digit = least / power;

    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static void tick(const struct drawing *d, const struct panel *p, double value)
{
    const char *letter = value >= 1e7 ? "M" : value >= 1e4 ? "k" : "";
    double shown = value >= 1e7 ? value / 1e6 : value >= 1e4 ? value / 1e3 : value;
    double y = y_of(p, value);

    fprintf(d->f, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", d->left, y, d->right);
    fprintf(d->f, "<text class=\"end\" x=\"%.1f\" y=\"%.1f\">%.10g%s</text>", d->left - 6, y + 4,
            shown, letter);
}

static void put_ticks(const struct drawing *d, const struct panel *p)
{
    if (!p->is_log) {
        double step = round_step(p->most / (p->height < 50 ? 2 : p->height < 60 ? 3 : 4));
        step = step > p->most ? round_step(p->most / 2.51) : step;
        for (int i = 0; i * step <= p->most * 1.0001; i++) {
            tick(d, p, i * step);
        }
        return;
    }
    /* As many of 1, 2 and 5 as there is room for. */
    double room = p->height / log10(p->most / p->least), power = pow(10, floor(log10(p->least)));
    for (; power <= p->most; power *= 10) {
        const double digits[] = {1, room >= 40 ? 2 : 3, 5};
        size_t n = room >= 40 ? 3 : room >= 26 ? 2 : 1;
        for (size_t i = 0; i < n; i++) {
            double value = power * digits[i];
            if (value < p->least * 0.999 || value > p->most * 1.001)
                continue;
            tick(d, p, value);
        }
    }
}

/* Text of a legend, cut to `room` pixels; its width. */
static double put_words(const struct drawing *d, double x, double y, const char *text, double room)
{
    size_t most = room > 0 ? (size_t)(room / LEGEND_LETTER) : 0, n = strlen(text);
    bool cut = n > most;

    n = cut ? (most > 1 ? most - 1 : 0) : n;
    while (cut && n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    fprintf(d->f, "<text x=\"%.1f\" y=\"%.1f\">", x, y);
    html_textf(d->f, "%.*s%s", (int)n, text, cut ? "\xe2\x80\xa6" : "");
    fputs("</text>", d->f);
    return (double)(n + cut) * LEGEND_LETTER;
}

/* Opens a panel with its title and returns where its legend may go on. */
static double begin_panel(struct drawing *d, struct panel *p, double height, const char *title,
                          const char *unit)
{
    char text[64];

    p->top = d->y + TITLE_PX;
    p->height = height;
    d->y = p->top + height + GAP_PX;
    snprintf(text, sizeof text, "%s%s%s", title, *unit != '\0' ? ", " : "", unit);
    fprintf(d->f, "<text class=\"title\" x=\"%.1f\" y=\"%.1f\">%s</text>", d->left, p->top - 6,
            text);
    return d->left + (double)strlen(text) * 7.3 + 14;
}

/* ---- Lines ---- */

/* Steps, one a bin, broken where there is no value. */
static void put_steps(const struct drawing *d, const struct panel *p, enum course what,
                      const char *css)
{
    const struct plot_timeline *t = d->t;
    bool pen_down = false;

    fprintf(d->f, "<path class=\"%s\" d=\"", css);
    for (size_t i = 0; i < t->n; i++) {
        double value = value_of(t, what, i) / p->scale;
        if (isnan(value)) {
            pen_down = false;
            continue;
        }
        if (pen_down)
            fprintf(d->f, "V%.1f", y_of(p, value));
        else
            fprintf(d->f, "M%.1f %.1f", x_of(d, t->rows[i].start_ns), y_of(p, value));
        fprintf(d->f, "H%.1f", x_of(d, t->rows[i].start_ns + t->rows[i].duration_ns));
        pen_down = true;
    }
    fputs("\"/>", d->f);
}

static double put_key(const struct drawing *d, double x, double y, const char *css,
                      const char *text, double room)
{
    fprintf(d->f, "<path class=\"%s\" d=\"M%.1f %.1fh16\"/>", css, x, y - 4);
    return x + 20 + put_words(d, x + 20, y, text, room - 20) + 12;
}

/* ---- The panels ---- */

static const char *byte_unit(double most, double *scale)
{
    static const char *const units[] = {"B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"};
    size_t k = 0;

    for (*scale = 1; most / *scale >= 1024 && k + 1 < sizeof units / sizeof *units; k++)
        *scale *= 1024;
    return units[k];
}

static const char *time_unit(double most_ns, double *scale)
{
    *scale = most_ns < 1e3 ? 1 : most_ns < 1e6 ? 1e3 : most_ns < 1e9 ? 1e6 : 1e9;
    return most_ns < 1e3 ? "ns" : most_ns < 1e6 ? "\xc2\xb5s" : most_ns < 1e9 ? "ms" : "s";
}

static void throughput_panel(struct drawing *d)
{
    struct panel p = {.scale = 1};
    double most = most_of(d->t, THROUGHPUT);
    const char *unit = d->t->has_bytes ? byte_unit(most, &p.scale) : "objects/s";

    if (most <= 0)
        return;
    p.most = most / p.scale * 1.05;
    begin_panel(d, &p, THROUGHPUT_PX, "Throughput", unit);
    put_ticks(d, &p);
    put_steps(d, &p, THROUGHPUT, "s1");
}

static void latency_panel(struct drawing *d)
{
    struct panel p = {.scale = 1};
    double most = most_of(d->t, P99), least = least_of(d->t, P50);

    if (most <= 0)
        return;
    const char *unit = time_unit(most, &p.scale);
    p.is_log = least > 0 && most / least > LOG_FROM;
    p.most = most / p.scale * (p.is_log ? 1.15 : 1.05);
    p.least = p.is_log ? least / p.scale / 1.15 : 0;
    double x = begin_panel(d, &p, LATENCY_PX, p.is_log ? "Latency (log)" : "Latency", unit);
    put_ticks(d, &p);
    x = put_key(d, x, p.top - 6, "s2 dashed", "p99", 60);
    put_key(d, x, p.top - 6, "s1", "median", 80);
    put_steps(d, &p, P99, "s2 dashed");
    put_steps(d, &p, P50, "s1");
}

/* Bars of failed requests, the most frequent message at the bottom. */
static void errors_panel(struct drawing *d)
{
    static const char *const css[] = {"b1", "b2", "b3"};
    const struct plot_timeline *t = d->t;
    struct panel p = {.scale = 1};
    int64_t most = 0;
    char text[512];

    for (size_t i = 0; i < t->n; i++) {
        int64_t n = 0;
        for (size_t k = 0; k < t->n_messages; k++)
            n += t->messages[k].by_bin[i];
        most = n > most ? n : most;
    }
    if (most == 0)
        return;
    p.most = (double)most;
    /* Keys, each in a row of its own where the screen is narrow. */
    d->y += d->narrow ? (double)t->n_messages * 16 : 0;
    double x = begin_panel(d, &p, SMALL_PX, "Failed requests", "");
    double room = (d->right - x) / (double)t->n_messages - 14;
    for (size_t k = 0; k < t->n_messages; k++) {
        const struct plot_timeline_message *m = &t->messages[k];
        double y = d->narrow ? p.top - 6 - 16 * (double)(t->n_messages - k) : p.top - 6;
        snprintf(text, sizeof text, "%s \xc3\x97 %.400s", units_count(m->n).s,
                 m->text != NULL     ? m->text
                 : t->n_messages > 1 ? "other messages"
                                     : "failed requests");
        fprintf(d->f, "<path class=\"%s\" d=\"M%.1f %.1fh10v10h-10z\"/>", css[k],
                d->narrow ? d->left : x, y - 9);
        double used = put_words(d, (d->narrow ? d->left : x) + 14, y, text,
                                d->narrow ? d->right - d->left - 14 : room - 14);
        x += used + 28;
    }
    put_ticks(d, &p);
    for (size_t k = t->n_messages; k-- > 0;) {
        fprintf(d->f, "<path class=\"%s\" d=\"", css[k]);
        for (size_t i = 0; i < t->n; i++) {
            int64_t below = 0, n = t->messages[k].by_bin[i];
            for (size_t j = 0; j < k; j++)
                below += t->messages[j].by_bin[i];
            double left = x_of(d, t->rows[i].start_ns);
            double right = x_of(d, t->rows[i].start_ns + t->rows[i].duration_ns);
            if (n > 0)
                fprintf(d->f, "M%.1f %.1fH%.1fV%.1fH%.1fz", left, y_of(&p, (double)below),
                        right - left > 1 ? right : left + 1, y_of(&p, (double)(below + n)), left);
        }
        fputs("\"/>", d->f);
    }
}

bool html_timeline_in_flight_is_steady(const struct plot_timeline *t)
{
    double least = INFINITY, most = 0;

    /* While threads start and stop there are fewer, which the active range says already. */
    for (size_t i = 0; i < t->n; i++) {
        bool at_end = t->n > 2 && (i == 0 || i == t->n - 1);
        if (!t->rows[i].in_range || at_end)
            continue;
        least = t->rows[i].in_flight < least ? t->rows[i].in_flight : least;
        most = t->rows[i].in_flight > most ? t->rows[i].in_flight : most;
    }
    return most == 0 || most - least <= STEADY_FRAC * most;
}

static void in_flight_panel(struct drawing *d)
{
    struct panel p = {.scale = 1, .most = most_of(d->t, IN_FLIGHT) * 1.05};

    if (p.most <= 0 || html_timeline_in_flight_is_steady(d->t))
        return;
    begin_panel(d, &p, SMALL_PX, "Requests in flight", "");
    put_ticks(d, &p);
    put_steps(d, &p, IN_FLIGHT, "s3");
}

/* ---- Time ---- */

/* Steps of a clock. */
static int64_t clock_step_ns(int64_t least_ns)
{
    static const int64_t s[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                                600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
    int64_t step_ns = 1000;

    for (size_t i = 0; least_ns > SECOND_NS / 2 && i < sizeof s / sizeof *s; i++)
        if (s[i] * SECOND_NS >= least_ns)
            return s[i] * SECOND_NS;
    if (least_ns > 86400 * SECOND_NS)
        return (least_ns / (86400 * SECOND_NS) + 1) * 86400 * SECOND_NS;
    return (int64_t)round_step((double)(least_ns > step_ns ? least_ns : step_ns));
}

static void put_clock(const struct drawing *d, double bottom)
{
    const struct plot_timeline *t = d->t;
    int64_t span_ns = t->end_ns - t->start_ns;
    int64_t step_ns = clock_step_ns((int64_t)((double)span_ns / (d->right - d->left) * 88));
    int n_letters = step_ns < SECOND_NS ? 12 : step_ns < 60 * SECOND_NS ? 8 : 5;
    int from = span_ns > 86400 * SECOND_NS ? 5 : 11;

    n_letters += from == 5 ? 6 : 0;
    if (step_ns < SECOND_NS / 1000)
        return; /* no clock is read that finely; the axis below says when it begins */
    for (int64_t ns = (t->start_ns / step_ns + 1) * step_ns; ns < t->end_ns; ns += step_ns) {
        double x = x_of(d, ns), half = n_letters * 3.4;
        fprintf(d->f, "<path class=\"grid\" d=\"M%.1f %.1fv4\"/>", x, bottom);
        if (x - half < 2 || x + half > d->width - 2)
            continue;
        fprintf(d->f, "<text class=\"mid\" x=\"%.1f\" y=\"%.1f\">%.*s</text>", x, bottom + 16,
                n_letters, rfc3339_format(ns).s + from);
    }
}

static void put_axis(struct drawing *d)
{
    double bottom = d->y;

    fprintf(d->f, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>", d->left, bottom, d->right);
    put_clock(d, bottom);
    fprintf(d->f,
            "<text class=\"mid\" x=\"%.1f\" y=\"%.1f\">time of day, UTC%s%.12s; bins of %s</text>",
            (d->left + d->right) / 2, bottom + 31, d->narrow ? "" : "; the axis begins at ",
            d->narrow ? "" : html_cells_clock(d->t->start_ns).s,
            units_duration(d->t->rows[0].duration_ns).s);
    d->y += AXIS_PX;
}

/* ---- Marks ---- */

static void shade(const struct drawing *d, int64_t from_ns, int64_t to_ns, double top,
                  double bottom, const char *css)
{
    double left = x_of(d, from_ns), right = x_of(d, to_ns);

    if (right > left)
        fprintf(d->f, "<path class=\"%s\" d=\"M%.1f %.1fH%.1fV%.1fH%.1fz\"/>", css, left, top,
                right, bottom, left);
}

static void put_range(const struct drawing *d, double top, double bottom)
{
    const struct operation *op = d->index >= 0 ? &d->a->operations[d->index] : NULL;
    const struct span *range = op != NULL ? &op->range : &d->a->total.range;
    const struct statistics *s = op != NULL ? op->statistics : NULL;

    if (range->present) {
        shade(d, d->t->start_ns, range->start_ns, top, bottom, "outside");
        shade(d, range->end_ns, d->t->end_ns, top, bottom, "outside");
    }
    if (s != NULL && s->warmup.steady && s->warmup.n_cut > 0)
        shade(d, s->start_ns, statistics_steady_from_ns(s), top, bottom, "warm");
}

static bool is_within(const struct plot_timeline *t, const struct finding *x)
{
    return t->n > 0 && x->has_start && x->start_ns <= t->end_ns &&
           (!x->has_end || x->end_ns >= t->start_ns);
}

bool html_timeline_marks(const struct plot_timeline *t, const struct findings *found, size_t i)
{
    size_t n_before = 0;

    for (size_t k = 0; k < i; k++)
        n_before += is_within(t, &found->v[k]);
    return is_within(t, &found->v[i]) && n_before < HTML_TIMELINE_MARKS;
}

/* The row of each number above the panels, so that none lies over another; how many rows. */
static int place_marks(const struct drawing *d, int row[HTML_TIMELINE_MARKS])
{
    const struct findings *found = &d->a->findings;
    double at[HTML_TIMELINE_MARKS];
    int n = 0, n_rows = 0;

    for (size_t i = 0; i < found->n && n < HTML_TIMELINE_MARKS; i++) {
        if (!html_timeline_marks(d->t, found, i))
            continue;
        at[n] = x_of(d, found->v[i].start_ns);
        row[n] = 0;
        for (int k = 0; k < n; k++) {
            if (row[k] == row[n] && fabs(at[k] - at[n]) < MARK_ROW_PX) {
                row[n]++;
                k = -1;
            }
        }
        n_rows = row[n] + 1 > n_rows ? row[n] + 1 : n_rows;
        n++;
    }
    return n_rows;
}

/* Numbers above the panels, one for each finding that has a time, and lines down from them. */
static void put_marks(const struct drawing *d, double top, double bottom)
{
    const struct findings *found = &d->a->findings;
    int row[HTML_TIMELINE_MARKS], n = 0;

    place_marks(d, row);
    for (size_t i = 0; i < found->n; i++) {
        const struct finding *x = &found->v[i];
        if (!html_timeline_marks(d->t, found, i))
            continue;
        double at = x_of(d, x->start_ns), y = top - 10 - row[n++] * MARK_ROW_PX;
        bool is_problem = x->severity == FINDING_PROBLEM;
        if (x->has_end)
            shade(d, x->start_ns, x->end_ns, top, bottom, is_problem ? "event" : "noticed");
        fprintf(d->f, "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/>",
                is_problem ? "mark problem" : "mark", at, y, bottom);
        fprintf(d->f,
                "<a href=\"#finding%zu\" id=\"%smark%zu\" aria-label=\"%s %zu\"><circle "
                "class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"9\"/><text class=\"number\" x=\"%.1f\" "
                "y=\"%.1f\">%zu</text></a>",
                i + 1, d->prefix, i + 1, is_problem ? "Problem" : "Notice", i + 1,
                is_problem ? "dot problem" : "dot", at, y, at, y + 4, i + 1);
    }
}

/* ---- The figure ---- */

static double marks_height(const struct drawing *d)
{
    int row[HTML_TIMELINE_MARKS];

    return place_marks(d, row) * MARK_ROW_PX;
}

static double height_of(const struct drawing *d)
{
    const struct plot_timeline *t = d->t;
    double h = marks_height(d) + AXIS_PX;

    h += most_of(t, THROUGHPUT) > 0 ? TITLE_PX + THROUGHPUT_PX + GAP_PX : 0;
    h += most_of(t, P99) > 0 ? TITLE_PX + LATENCY_PX + GAP_PX : 0;
    if (t->n_messages > 0)
        h += TITLE_PX + SMALL_PX + GAP_PX + (d->narrow ? 16 * (double)t->n_messages : 0);
    h += most_of(t, IN_FLIGHT) > 0 && !html_timeline_in_flight_is_steady(t)
             ? TITLE_PX + SMALL_PX + GAP_PX
             : 0;
    return h;
}

static void draw(struct drawing *d, const char *css)
{
    double height = height_of(d), bottom = height - AXIS_PX - GAP_PX;
    double top = marks_height(d);

    fprintf(d->f,
            "<svg class=\"timeline %s\" role=\"group\" aria-label=\"Timeline\" viewBox=\"0 0 %.0f "
            "%.0f\" data-left=\"%.1f\" data-right=\"%.1f\" data-top=\"%.1f\" "
            "data-bottom=\"%.1f\">",
            css, d->width, height, d->left, d->right, top, bottom);
    put_range(d, top + TITLE_PX, bottom);
    d->y = top;
    put_marks(d, top, bottom);
    throughput_panel(d);
    latency_panel(d);
    errors_panel(d);
    in_flight_panel(d);
    d->y -= GAP_PX;
    put_axis(d);
    fputs("</svg>", d->f);
}

/* What the drawing leaves out, and what its marks are. */
static void put_caption(FILE *f, const struct analysis *a, const struct plot_timeline *t,
                        const char *op)
{
    double most = most_of(t, IN_FLIGHT);

    fputs("<figcaption>", f);
    html_textf(f, "What happened when: %s", op);
    fputs("<small>", f);
    if (html_timeline_in_flight_is_steady(t) && most > 0)
        html_textf(f, "Requests in flight: about %.0f throughout. ", most);
    if (most_of(t, THROUGHPUT) <= 0)
        html_textf(f, "Nothing was transferred. ");
    if (t->n_errors == 0)
        html_textf(f, "No request failed. ");
    fputs("Grey: outside of the time that counts; yellow: warm-up; numbers: findings.", f);
    (void)a;
    fputs("</small></figcaption>", f);
}

void html_timeline(FILE *f, const struct analysis *a, int index, const struct plot_timeline *t)
{
    struct drawing wide = {.f = f,
                           .a = a,
                           .index = index,
                           .t = t,
                           .prefix = "",
                           .width = 860,
                           .left = 56,
                           .right = 846};
    struct drawing narrow = {.f = f,
                             .a = a,
                             .index = index,
                             .t = t,
                             .prefix = "n",
                             .narrow = true,
                             .width = 360,
                             .left = 44,
                             .right = 350};

    if (t->n == 0)
        return;
    fputs("<figure id=\"timeline\" data-series=\"0\">", f);
    put_caption(f, a, t, index < 0 ? "all operations together" : a->operations[index].op);
    draw(&wide, "wide");
    draw(&narrow, "narrow");
    fputs("</figure>\n", f);
}

void html_timeline_spark(FILE *f, const struct plot_timeline *t)
{
    struct drawing d = {.f = f, .t = t, .width = 120, .left = 1, .right = 119};
    struct panel p = {.top = 2, .height = 22, .scale = 1};

    if (t->n == 0)
        return;
    p.most = most_of(t, THROUGHPUT);
    p.most = p.most > 0 ? p.most : 1;
    fputs("<svg class=\"spark\" aria-hidden=\"true\" viewBox=\"0 0 120 26\">", f);
    put_steps(&d, &p, THROUGHPUT, "s1");
    fputs("</svg>", f);
}
