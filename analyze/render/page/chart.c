#include "analyze/render/page/chart.h"

#include "analyze/base/phrase.h"
#include "analyze/render/report/figures.h"
#include "analyze/write/html.h"
#include "libcommon/int64.h"
#include "libcommon/units.h"
#include "libcommon/utf8.h"

#include <math.h>
#include <string.h>

#define TICK_PX         16   /* between ticks, at least */
#define KEY_PX          16   /* height of a row of a key below a title, on narrow screens */
#define LOG_FROM        20.0 /* least ratio of greatest to least latency for a log axis */
#define LETTER_PX       7.0  /* of a legend, on average */
#define CAPITAL_PX      8.4
#define LEAST_KEY_PX    56
#define KEY_LINE_PX     20 /* of a legend's line, and between it and the next legend */
#define KEY_GAP_PX      12
#define TITLE_LETTER_PX 7.8
#define MS_NS           1e6

double chart_x(const struct chart *c, int64_t ns)
{
    double part = (double)(ns - c->start_ns) / (double)(c->end_ns - c->start_ns);

    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return c->left + part * (c->right - c->left);
}

static double y_of(const struct chart_panel *p, double value)
{
    double part = p->is_log ? log(value / p->least) / log(p->most / p->least)
                            : (value - p->least) / (p->most - p->least);

    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return p->top + p->height * (1 - part);
}

/* ---- Scales ---- */

static double value_of(const struct chart_series *s, size_t i)
{
    return s->message != NULL ? (double)s->message->by_bin[i]
                              : plot_timeline_value(s->t, s->what, i);
}

static const struct plot_band *band_of(const struct chart_series *s)
{
    return s->has_band && s->t->band[s->what].least != NULL ? &s->t->band[s->what] : NULL;
}

double chart_most(const struct plot_timeline *t, enum plot_course what)
{
    double most = 0;

    for (size_t i = 0; i < t->n; i++)
        most = fmax(most, plot_timeline_value(t, what, i));
    return most;
}

/* Returns where a value begins: a bar begins at the top of those of the series before it. */
static double foot_of(const struct chart_panel *p, size_t k, size_t i)
{
    double sum = 0;

    for (size_t j = 0; p->v[k].message != NULL && j < k; j++)
        sum += value_of(&p->v[j], i);
    return sum;
}

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
    return most_ns < 1e3 ? "ns" : most_ns < 1e6 ? "us" : most_ns < 1e9 ? "ms" : "s";
}

bool chart_fit(struct chart_panel *p)
{
    double least = INFINITY, most = 0;

    for (size_t k = 0; k < p->n; k++)
        for (size_t i = 0; i < p->v[k].t->n; i++) {
            const struct plot_band *band = band_of(&p->v[k]);
            double value = foot_of(p, k, i) + value_of(&p->v[k], i);

            least = fmin(least, band != NULL ? fmin(value, band->least[i]) : value);
            most = fmax(most, band != NULL ? fmax(value, band->most[i]) : value);
        }
    p->scale = 1;
    if (p->values == CHART_BYTES_PER_S)
        p->unit = byte_unit(most, &p->scale);
    else if (p->values == CHART_TIMES)
        p->unit = time_unit(most, &p->scale);
    p->is_log = p->values == CHART_TIMES && least > 0 && most / least > LOG_FROM;
    p->most = most / p->scale * (p->is_log ? 1.15 : p->values == CHART_COUNTS ? 1 : 1.05);
    p->least = p->is_log ? least / p->scale / 1.15 : 0;
    return most > 0;
}

/* ---- Axes ---- */

/* Returns the least 1, 2 or 5 times a power of ten that is at least that. */
static double round_step(double least)
{
    double power = pow(10, floor(log10(least))), digit = least / power;

    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static void tick(const struct chart *c, const struct chart_panel *p, double value, const char *text)
{
    double y = y_of(p, value);

    fprintf(c->f, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", c->left, y, c->right);
    fprintf(c->f, "<text class=\"end\" x=\"%.1f\" y=\"%.1f\">%s</text>", c->left - 6, y + 4, text);
}

static double even_step(const struct chart_panel *p)
{
    double least = p->most * TICK_PX / p->height, step = round_step(least);

    if (step > p->most) { /* no tick but 0 would be left */
        double power = pow(10, floor(log10(p->most)));
        step = power * floor(p->most / power);
    }
    if (p->values == CHART_COUNTS)
        return step > 1 ? step : 1;
    return step / 2 >= least ? step / 2 : step; /* 2.5 is allowed, too */
}

/* Draws ticks at equal steps. All have the same letter and number of digits. */
static void put_even_ticks(const struct chart *c, const struct chart_panel *p)
{
    double step = even_step(p);
    double unit = p->most >= 1e7 ? 1e6 : p->most >= 1e4 ? 1e3 : 1;
    const char *letter = unit > 1e3 ? "M" : unit > 1 ? "k" : "";
    char text[64];

    int digits = 0;
    for (double x = step / unit; digits < 9 && fabs(x - round(x)) > 1e-6 * x; x *= 10)
        digits++;
    for (int i = 0; i * step <= p->most * 1.0001; i++) {
        snprintf(text, sizeof text, "%.*f%s", digits, i * step / unit, i > 0 ? letter : "");
        tick(c, p, i * step, text);
    }
}

static void put_ticks(const struct chart *c, const struct chart_panel *p)
{
    if (!p->is_log) {
        put_even_ticks(c, p);
        return;
    }
    /* Labels 1, 2 and 5 of each power of ten, or fewer where there is no room. */
    double room = p->height / log10(p->most / p->least), power = pow(10, floor(log10(p->least)));
    for (; power <= p->most; power *= 10) {
        const double digits[] = {1, room >= 47 ? 2 : 3, 5};
        size_t n = room >= 47 ? 3 : room >= 30 ? 2 : 1;

        for (size_t i = 0; i < n; i++) {
            double value = power * digits[i];
            if (value >= p->least * 0.999 && value <= p->most * 1.001)
                tick(c, p, value, units_real_duration(value * p->scale).s);
        }
    }
}

/* ---- Keys ---- */

static double letter_px(char c)
{
    return utf8_goes_on(c) ? 0 : c >= 'A' && c <= 'Z' ? CAPITAL_PX : LETTER_PX;
}

static double words_px(const char *text)
{
    double px = 0;

    while (*text != '\0')
        px += letter_px(*text++);
    return px;
}

/* Writes a text of a legend; returns its width. If that is more than `room` pixels, the end is cut
 * off or, of a name, the middle: names that begin alike differ in their ends. */
static double put_words(const struct chart *c, double x, double y, const char *text, double room,
                        bool is_name)
{
    size_t n = strlen(text), tail = n;
    double all = words_px(text), used = all, most = (room - LETTER_PX) / (is_name ? 2 : 1), end = 0;

    if (all > room) {
        for (n = 0, used = 0; used + letter_px(text[n]) <= most; n++)
            used += letter_px(text[n]);
        for (; is_name && end + letter_px(text[tail - 1]) <= most; tail--)
            end += letter_px(text[tail - 1]);
        while (utf8_goes_on(text[tail]))
            tail++;
        used += LETTER_PX + end;
    }
    fprintf(c->f, "<text x=\"%.1f\" y=\"%.1f\">", x, y);
    html_textf(c->f, "%.*s%s%s", (int)n, text, all > room ? "\xe2\x80\xa6" : "", text + tail);
    fputs("</text>", c->f);
    return used;
}

/* Returns the title with its unit. */
static struct phrase title_of(const struct chart_panel *p)
{
    const char *unit = p->is_log ? "" : p->unit;

    return phrase_format("%s%s%s%s", p->title, p->is_log ? " (log)" : "", *unit != '\0' ? ", " : "",
                         unit);
}

static double after_title(const struct chart *c, const struct chart_panel *p)
{
    return c->left + (double)strlen(title_of(p).s) * TITLE_LETTER_PX + 14;
}

/* Returns the number of rows of a legend below the title; 0: it is beside the title. In a narrow
 * chart each message has a row, and so has a legend that is too long for the title's row. */
static size_t n_key_rows(const struct chart *c, const struct chart_panel *p)
{
    double end = after_title(c, p);

    if (!c->narrow || p->n == 0 || p->v[0].name == NULL)
        return 0;
    for (size_t k = 0; k < p->n; k++)
        end += KEY_LINE_PX + words_px(p->v[k].name);
    return p->v[0].message != NULL ? p->n : end + KEY_GAP_PX * (double)(p->n - 1) > c->right;
}

/* Writes the legend of a line at x; returns where the next one begins. */
static double put_line_key(const struct chart *c, const struct chart_panel *p, size_t k, double x)
{
    const struct chart_series *s = &p->v[k];
    double y = p->top - 6, text_x = x + KEY_LINE_PX;
    double room = c->right - text_x - LEAST_KEY_PX * (double)(p->n - 1 - k);

    fprintf(c->f, "<path class=\"%s\" d=\"M%.1f %.1fh16\"/>", s->css, x, y - 4);
    return text_x + put_words(c, text_x, y, s->name, room, true) + KEY_GAP_PX;
}

/* Writes the legend of bars: beside the title from x on, or below it. */
static void put_bar_keys(const struct chart *c, const struct chart_panel *p, double x)
{
    double room = c->narrow ? c->right - c->left : (c->right - x) / (double)p->n - 14;
    char text[512];

    for (size_t k = 0; k < p->n; k++) {
        const struct plot_timeline_message *m = p->v[k].message;
        double y = p->top - 6 - (c->narrow ? KEY_PX * (double)(p->n - 1 - k) : 0);

        snprintf(text, sizeof text, "%s \xc3\x97 %.400s", units_count(m->n).s, p->v[k].name);
        x = c->narrow ? c->left : x;
        fprintf(c->f, "<path class=\"%s\" d=\"M%.1f %.1fh10v10h-10z\"/>", p->v[k].css, x, y - 9);
        x += put_words(c, x + 14, y, text, room - 14, false) + 28;
    }
}

/* ---- Series ---- */

/* Writes the attributes with which a script finds the series in the page's data. */
static void put_column(const struct chart *c, const struct chart_series *s)
{
    if (s->column != NULL)
        fprintf(c->f, " data-series=\"%d\" data-column=\"%s\"", s->series, s->column);
}

/* Draws steps, one per bin, with gaps where there is no value. */
static void put_steps(const struct chart *c, const struct chart_panel *p,
                      const struct chart_series *s)
{
    bool pen_down = false;

    fprintf(c->f, "<path class=\"%s\"", s->css);
    put_column(c, s);
    fputs(" d=\"", c->f);
    for (size_t i = 0; i < s->t->n; i++) {
        const struct series_row *r = &s->t->rows[i];
        double value = value_of(s, i) / p->scale;

        if (isnan(value)) {
            pen_down = false;
            continue;
        }
        if (pen_down)
            fprintf(c->f, "V%.1f", y_of(p, value));
        else
            fprintf(c->f, "M%.1f %.1f", chart_x(c, r->start_ns), y_of(p, value));
        fprintf(c->f, "H%.1f", chart_x(c, r->start_ns + r->duration_ns));
        pen_down = true;
    }
    fputs("\"/>", c->f);
}

/* Draws from the least to the greatest of each bin, at least a pixel. */
static void put_band(const struct chart *c, const struct chart_panel *p,
                     const struct chart_series *s)
{
    const struct plot_band *band = band_of(s);

    if (band == NULL)
        return;
    fprintf(c->f, "<path class=\"band %.2s\" d=\"", s->css);
    for (size_t i = 0; i < s->t->n; i++) {
        const struct series_row *r = &s->t->rows[i];

        if (!isnan(band->least[i]))
            fprintf(c->f, "M%.1f %.1fH%.1fV%.1fH%.1fz", chart_x(c, r->start_ns),
                    y_of(p, band->most[i] / p->scale), chart_x(c, r->start_ns + r->duration_ns),
                    y_of(p, band->least[i] / p->scale) + 1, chart_x(c, r->start_ns));
    }
    fputs("\"/>", c->f);
}

static void put_bars(const struct chart *c, const struct chart_panel *p, size_t k)
{
    const struct plot_timeline *t = p->v[k].t;

    fprintf(c->f, "<path class=\"%s\"", p->v[k].css);
    put_column(c, &p->v[k]);
    fputs(" d=\"", c->f);
    for (size_t i = 0; i < t->n; i++) {
        double n = value_of(&p->v[k], i), foot = foot_of(p, k, i);
        double left = chart_x(c, t->rows[i].start_ns);
        double right = chart_x(c, t->rows[i].start_ns + t->rows[i].duration_ns);

        if (n > 0)
            fprintf(c->f, "M%.1f %.1fH%.1fV%.1fH%.1fz", left, y_of(p, foot),
                    right - left > 1 ? right : left + 1, y_of(p, foot + n), left);
    }
    fputs("\"/>", c->f);
}

/* ---- Panels ---- */

double chart_height(const struct chart *c, const struct chart_panel *v, size_t n)
{
    double height = 0;

    for (size_t i = 0; i < n; i++)
        height +=
            CHART_TITLE_PX + KEY_PX * (double)n_key_rows(c, &v[i]) + v[i].height + CHART_GAP_PX;
    return height;
}

/* Writes the title; returns where a legend begins. */
static double put_title(const struct chart *c, const struct chart_panel *p)
{
    size_t n_rows = n_key_rows(c, p);

    fprintf(c->f, "<text class=\"title\" x=\"%.1f\" y=\"%.1f\">%s</text>", c->left,
            p->top - 6 - KEY_PX * (double)n_rows, title_of(p).s);
    return n_rows > 0 ? c->left : after_title(c, p);
}

/* Begins the group of a panel, with the attributes that a script needs to draw its axis. */
static void begin_panel(const struct chart *c, const struct chart_panel *p)
{
    double unit = p->values == CHART_TIMES ? p->scale / MS_NS : p->scale;

    fprintf(c->f, "<g class=\"panel\" data-axis=\"%.1f %.1f %.6g %.6g %d %g %d\">", p->top,
            p->height, p->least, p->most, p->is_log, unit, p->values == CHART_COUNTS);
}

void chart_put(struct chart *c, struct chart_panel *p)
{
    bool has_bars = p->n > 0 && p->v[0].message != NULL;

    p->top = c->y + CHART_TITLE_PX + KEY_PX * (double)n_key_rows(c, p);
    c->y = p->top + p->height + CHART_GAP_PX;
    begin_panel(c, p);
    double x = put_title(c, p);
    if (has_bars)
        put_bar_keys(c, p, x);
    for (size_t k = 0; !has_bars && k < p->n; k++)
        if (p->v[k].name != NULL)
            x = put_line_key(c, p, k, x);
    fputs("<g class=\"ticks\">", c->f);
    put_ticks(c, p);
    fputs("</g><g class=\"time\">", c->f);
    for (size_t k = 0; !has_bars && k < p->n; k++)
        put_band(c, p, &p->v[k]);
    for (size_t k = p->n; k-- > 0;) /* the first one is on top */
        if (has_bars)
            put_bars(c, p, k);
        else
            put_steps(c, p, &p->v[k]);
    fputs("</g></g>", c->f);
}

void chart_shade(const struct chart *c, int64_t from_ns, int64_t to_ns, double top, double bottom,
                 const char *css)
{
    double left = chart_x(c, from_ns), right = chart_x(c, to_ns);

    if (right > left)
        fprintf(c->f, "<path class=\"%s\" d=\"M%.1f %.1fH%.1fV%.1fH%.1fz\"/>", css, left, top,
                right, bottom, left);
}

void chart_spark(FILE *f, const struct plot_timeline *t)
{
    const struct chart c = {
        .f = f, .start_ns = t->start_ns, .end_ns = t->end_ns, .left = 1, .right = 119};
    const struct chart_series course = {.t = t, .what = PLOT_THROUGHPUT, .css = "s1"};
    const double most = chart_most(t, PLOT_THROUGHPUT);
    const struct chart_panel p = {.top = 2, .height = 22, .scale = 1, .most = most > 0 ? most : 1};

    if (t->n == 0)
        return;
    fputs("<svg class=\"spark\" aria-hidden=\"true\" viewBox=\"0 0 120 26\">", f);
    put_steps(&c, &p, &course);
    fputs("</svg>", f);
}

/* ---- The axis of time ---- */

/* Returns the shortest step of a clock that is at least that long. */
static int64_t clock_step_ns(int64_t least_ns)
{
    static const int64_t s[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                                600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
    for (size_t i = 0; least_ns > NS_PER_S / 2 && i < sizeof s / sizeof *s; i++)
        if (s[i] * NS_PER_S >= least_ns)
            return s[i] * NS_PER_S;
    if (least_ns > NS_PER_D)
        return (least_ns / (NS_PER_D) + 1) * NS_PER_D;
    return plot_timeline_round_ns(least_ns);
}

/* Whether the axis goes over midnight, so that times need a date. */
static bool has_dates(const struct chart *c)
{
    return c->start_ns / NS_PER_D != (c->end_ns - 1) / NS_PER_D;
}

static void put_clock(const struct chart *c, double bottom)
{
    int64_t span_ns = c->end_ns - c->start_ns;
    bool dated = has_dates(c);
    int64_t step_ns =
        clock_step_ns((int64_t)((double)span_ns / (c->right - c->left) * (dated ? 124 : 88)));
    int n_letters = step_ns < NS_PER_S ? 12 : step_ns < 60 * NS_PER_S ? 8 : 5;

    if (step_ns < NS_PER_S / 1000)
        return; /* no clock is read that finely; the text below names the beginning */
    for (int64_t k = c->start_ns / step_ns + 1; k <= INT64_MAX / step_ns && k * step_ns < c->end_ns;
         k++) {
        int64_t ns = k * step_ns;
        double x = chart_x(c, ns), half = (n_letters + 6 * dated) * 3.4;

        fprintf(c->f, "<path class=\"grid\" d=\"M%.1f %.1fv4\"/>", x, bottom);
        if (x - half < 2 || x + half > c->width - 2)
            continue;
        fprintf(c->f, "<text class=\"mid\" x=\"%.1f\" y=\"%.1f\">%.*s%.*s</text>", x, bottom + 16,
                dated ? 6 : 0, figures_moment(ns).s + 5, n_letters, figures_clock(ns).s);
    }
}

void chart_put_axis(struct chart *c, const struct chart_panel *v, size_t n)
{
    double bottom = c->y;
    int64_t least_ns = INT64_MAX, most_ns = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < v[i].n; k++) {
            least_ns = int64_min(least_ns, v[i].v[k].t->rows[0].duration_ns);
            most_ns = int64_max(most_ns, v[i].v[k].t->rows[0].duration_ns);
        }

    fprintf(c->f, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>", c->left, bottom, c->right);
    fputs("<g class=\"clock\">", c->f);
    put_clock(c, bottom);
    fputs("</g>", c->f);
    fprintf(c->f, "<text class=\"mid bins\" x=\"%.1f\" y=\"%.1f\">time of day, UTC",
            (c->left + c->right) / 2, bottom + 31);
    if (!c->narrow)
        fprintf(c->f, "; the axis begins at %s", figures_time(has_dates(c), c->start_ns).s);
    if (most_ns > 0)
        fprintf(c->f, "; bins of %s", units_duration(least_ns).s);
    if (most_ns > least_ns)
        fprintf(c->f, " to %s", units_duration(most_ns).s);
    fputs("</text>", c->f);
    c->y += CHART_AXIS_PX;
}
