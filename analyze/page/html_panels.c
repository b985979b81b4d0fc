#include "analyze/page/html_panels.h"

#include "analyze/write/html.h"
#include "libcommon/units.h"
#include "libcommon/utf8.h"

#include <math.h>
#include <string.h>

#define THROUGHPUT_PX 64
#define LATENCY_PX    60
#define SMALL_PX      32
#define TICK_PX       16   /* between ticks, at least */
#define KEY_PX        16   /* of a row of a key below a title, where the screen is narrow */
#define LOG_FROM      20.0 /* a ratio of greatest to least latency that asks for a log axis */
#define LETTER_PX     7.0  /* of a legend, on average */
#define CAPITAL_PX    8.4
#define LEAST_KEY_PX  56
#define MAX_OPS       4 /* whose latency is drawn each for itself */

/* One panel: what its lines show, by bin; NAN: nothing. */
struct panel {
    double top, height;
    double scale; /* data is divided by it */
    double least, most;
    bool is_log, counts; /* counts: of whole things */
};

double html_panels_x(const struct html_drawing *d, int64_t ns)
{
    double part =
        (double)(ns - d->of->all->start_ns) / (double)(d->of->all->end_ns - d->of->all->start_ns);

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
        return plot_timeline_rate(t, i);
    case P50:
        return r->p50_ns;
    case P99:
        return r->p99_ns;
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

double html_panels_round_step(double least)
{
    double power = pow(10, floor(log10(least))), digit = least / power;

    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static void tick(const struct html_drawing *d, const struct panel *p, double value,
                 const char *text)
{
    double y = y_of(p, value);

    fprintf(d->f, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", d->left, y, d->right);
    fprintf(d->f, "<text class=\"end\" x=\"%.1f\" y=\"%.1f\">%s</text>", d->left - 6, y + 4, text);
}

static double even_step(const struct panel *p)
{
    double least = p->most * TICK_PX / p->height, step = html_panels_round_step(least);

    if (p->counts)
        return step > 1 ? step : 1;
    return step / 2 >= least ? step / 2 : step; /* 2.5, too */
}

/* All ticks of an axis have the letter and the digits that one of them needs. */
static void put_even_ticks(const struct html_drawing *d, const struct panel *p)
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
        tick(d, p, i * step, text);
    }
}

static void put_ticks(const struct html_drawing *d, const struct panel *p)
{
    if (!p->is_log) {
        put_even_ticks(d, p);
        return;
    }
    /* As many of 1, 2 and 5 as there is room for. */
    double room = p->height / log10(p->most / p->least), power = pow(10, floor(log10(p->least)));
    for (; power <= p->most; power *= 10) {
        const double digits[] = {1, room >= 47 ? 2 : 3, 5};
        size_t n = room >= 47 ? 3 : room >= 30 ? 2 : 1;

        for (size_t i = 0; i < n; i++) {
            double value = power * digits[i];
            if (value >= p->least * 0.999 && value <= p->most * 1.001)
                tick(d, p, value, units_duration((int64_t)llround(value * p->scale)).s);
        }
    }
}

static double letter_px(char c)
{
    return utf8_goes_on(c) ? 0 : c >= 'A' && c <= 'Z' ? CAPITAL_PX : LETTER_PX;
}

/* Text of a legend, cut to `room` pixels; its width. */
static double put_words(const struct html_drawing *d, double x, double y, const char *text,
                        double room)
{
    double used = 0, all = 0;
    size_t n = 0;

    for (const char *c = text; *c != '\0'; c++)
        all += letter_px(*c);
    while (text[n] != '\0' && (all <= room || used + letter_px(text[n]) + LETTER_PX <= room))
        used += letter_px(text[n++]);
    fprintf(d->f, "<text x=\"%.1f\" y=\"%.1f\">", x, y);
    html_textf(d->f, "%.*s%s", (int)n, text, text[n] != '\0' ? "\xe2\x80\xa6" : "");
    fputs("</text>", d->f);
    return text[n] != '\0' ? used + LETTER_PX : used;
}

/* Opens a panel with its title and rows of a key below it; returns where a key may go on beside the
 * title. */
static double begin_panel(struct html_drawing *d, struct panel *p, double height, size_t n_key_rows,
                          const char *title, const char *unit)
{
    char text[64];

    p->top = d->y + HTML_PANELS_TITLE_PX + KEY_PX * (double)n_key_rows;
    p->height = height;
    d->y = p->top + height + HTML_PANELS_GAP_PX;
    snprintf(text, sizeof text, "%s%s%s", title, *unit != '\0' ? ", " : "", unit);
    fprintf(d->f, "<text class=\"title\" x=\"%.1f\" y=\"%.1f\">%s</text>", d->left,
            p->top - 6 - KEY_PX * (double)n_key_rows, text);
    return d->left + (double)strlen(text) * 7.3 + 14;
}

/* ---- Lines ---- */

/* Steps, one a bin, broken where there is no value. */
static void put_steps(const struct html_drawing *d, const struct panel *p,
                      const struct plot_timeline *t, enum course what, const char *css)
{
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
            fprintf(d->f, "M%.1f %.1f", html_panels_x(d, t->rows[i].start_ns), y_of(p, value));
        fprintf(d->f, "H%.1f", html_panels_x(d, t->rows[i].start_ns + t->rows[i].duration_ns));
        pen_down = true;
    }
    fputs("\"/>", d->f);
}

static double put_key(const struct html_drawing *d, double x, double y, const char *css,
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
    return most_ns < 1e3 ? "ns" : most_ns < 1e6 ? "us" : most_ns < 1e9 ? "ms" : "s";
}

static void throughput_panel(struct html_drawing *d)
{
    struct panel p = {.scale = 1};
    double most = most_of(d->of->all, THROUGHPUT);
    const char *unit = d->of->all->has_bytes ? byte_unit(most, &p.scale) : "objects/s";

    if (most <= 0)
        return;
    p.most = most / p.scale * 1.05;
    begin_panel(d, &p, THROUGHPUT_PX, 0, "Throughput", unit);
    put_ticks(d, &p);
    put_steps(d, &p, d->of->all, THROUGHPUT, "s1");
}

/* A line of a panel, and its entry in the key. */
struct line {
    const struct plot_timeline *t;
    enum course what;
    const char *css, *name;
};

/* A key of several operations is too long to stand beside a title. */
static size_t key_rows(const struct html_drawing *d, const struct line *lines, size_t n)
{
    return d->narrow && n > 2 && lines[0].name != NULL;
}

static void latency_panel(struct html_drawing *d, const char *title, const struct line *lines,
                          size_t n)
{
    struct panel p = {.scale = 1};
    double most = 0, least = INFINITY;
    char text[64];

    for (size_t i = 0; i < n; i++) {
        most = fmax(most, most_of(lines[i].t, lines[i].what));
        least = fmin(least, least_of(lines[i].t, lines[i].what));
    }
    if (most <= 0)
        return;
    const char *unit = time_unit(most, &p.scale);
    p.is_log = least > 0 && most / least > LOG_FROM;
    p.most = most / p.scale * (p.is_log ? 1.15 : 1.05);
    p.least = p.is_log ? least / p.scale / 1.15 : 0;
    snprintf(text, sizeof text, "%s%s", title, p.is_log ? " (log)" : "");
    size_t n_key_rows = key_rows(d, lines, n);
    double x = begin_panel(d, &p, LATENCY_PX, n_key_rows, text, p.is_log ? "" : unit);
    x = n_key_rows > 0 ? d->left : x;
    put_ticks(d, &p);
    for (size_t i = 0; i < n; i++) {
        double room = d->right - x - LEAST_KEY_PX * (double)(n - 1 - i);
        if (lines[i].name != NULL)
            x = put_key(d, x, p.top - 6, lines[i].css, lines[i].name, room);
        put_steps(d, &p, lines[i].t, lines[i].what, lines[i].css);
    }
}

/* The operations with the most requests, in their order; how many. */
static size_t choose_ops(const struct html_timeline *of, size_t chosen[MAX_OPS])
{
    size_t n = 0;

    for (size_t i = 0; i < of->n_ops; i++) {
        size_t n_larger = 0;
        for (size_t k = 0; k < of->n_ops; k++)
            n_larger += of->ops[k].n_requests > of->ops[i].n_requests ||
                        (of->ops[k].n_requests == of->ops[i].n_requests && k < i);
        if (n_larger < MAX_OPS && most_of(&of->ops[i], P99) > 0)
            chosen[n++] = i;
    }
    return n;
}

/* Durations of different operations are no one distribution: each has lines of its own. */
static void latency_panels(struct html_drawing *d)
{
    static const char *const css[MAX_OPS] = {"s1", "s2 dashed", "s3", "s1 dashed"};
    const struct line own[] = {{d->of->all, P99, "s2 dashed", "p99"},
                               {d->of->all, P50, "s1", "median"}};
    struct line medians[MAX_OPS], p99s[MAX_OPS];
    size_t chosen[MAX_OPS], n = choose_ops(d->of, chosen);

    if (most_of(d->of->all, P99) > 0) {
        latency_panel(d, "Latency", own, 2);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct plot_timeline *t = &d->of->ops[chosen[i]];
        medians[i] = (struct line){t, P50, css[i], t->op};
        p99s[i] = (struct line){t, P99, css[i], NULL};
    }
    latency_panel(d, "Median latency", medians, n);
    latency_panel(d, "p99 latency", p99s, n);
}

static double latency_height(const struct html_drawing *d)
{
    size_t chosen[MAX_OPS], n = choose_ops(d->of, chosen);
    int n_panels = most_of(d->of->all, P99) > 0 ? 1 : n > 0 ? 2 : 0;

    return n_panels * (HTML_PANELS_TITLE_PX + LATENCY_PX + HTML_PANELS_GAP_PX) +
           (n_panels > 1 && d->narrow && n > 2 ? KEY_PX : 0);
}

/* Bars of failed requests, the most frequent message at the bottom. */
static void errors_panel(struct html_drawing *d)
{
    static const char *const css[] = {"b1", "b2", "b3"};
    const struct plot_timeline *t = d->of->all;
    struct panel p = {.scale = 1, .counts = true};
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
    double x = begin_panel(d, &p, SMALL_PX, d->narrow ? t->n_messages : 0, "Failed requests", "");
    double room = (d->right - x) / (double)t->n_messages - 14;
    for (size_t k = 0; k < t->n_messages; k++) {
        const struct plot_timeline_message *m = &t->messages[k];
        double y = d->narrow ? p.top - 6 - KEY_PX * (double)(t->n_messages - 1 - k) : p.top - 6;

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
            double left = html_panels_x(d, t->rows[i].start_ns);
            double right = html_panels_x(d, t->rows[i].start_ns + t->rows[i].duration_ns);
            if (n > 0)
                fprintf(d->f, "M%.1f %.1fH%.1fV%.1fH%.1fz", left, y_of(&p, (double)below),
                        right - left > 1 ? right : left + 1, y_of(&p, (double)(below + n)), left);
        }
        fputs("\"/>", d->f);
    }
}

static void in_flight_panel(struct html_drawing *d)
{
    struct panel p = {.scale = 1, .most = most_of(d->of->all, IN_FLIGHT) * 1.05};

    if (p.most <= 0 || plot_timeline_is_steady(d->of->all))
        return;
    begin_panel(d, &p, SMALL_PX, 0, "Requests in flight", "");
    put_ticks(d, &p);
    put_steps(d, &p, d->of->all, IN_FLIGHT, "s3");
}

/* ---- All of them ---- */

double html_panels_height(const struct html_drawing *d)
{
    const struct plot_timeline *t = d->of->all;
    double h = latency_height(d);

    h += most_of(t, THROUGHPUT) > 0 ? HTML_PANELS_TITLE_PX + THROUGHPUT_PX + HTML_PANELS_GAP_PX : 0;
    if (t->n_messages > 0)
        h += HTML_PANELS_TITLE_PX + SMALL_PX + HTML_PANELS_GAP_PX +
             (d->narrow ? KEY_PX * (double)t->n_messages : 0);
    h += most_of(t, IN_FLIGHT) > 0 && !plot_timeline_is_steady(t)
             ? HTML_PANELS_TITLE_PX + SMALL_PX + HTML_PANELS_GAP_PX
             : 0;
    return h;
}

void html_panels_put(struct html_drawing *d)
{
    throughput_panel(d);
    latency_panels(d);
    errors_panel(d);
    in_flight_panel(d);
}

void html_panels_left_out(FILE *f, const struct html_timeline *of)
{
    const struct plot_timeline *t = of->all;
    double most = most_of(t, IN_FLIGHT);
    size_t chosen[MAX_OPS];

    if (plot_timeline_is_steady(t) && most > 0)
        html_textf(f, "Requests in flight: about %.0f throughout. ", most);
    if (most_of(t, THROUGHPUT) <= 0)
        html_textf(f, "Nothing was transferred. ");
    if (t->n_errors == 0)
        html_textf(f, "No request failed. ");
    if (most_of(t, P99) <= 0 && choose_ops(of, chosen) == MAX_OPS && of->n_ops > MAX_OPS)
        html_textf(f, "Latency: of the %d operations with the most requests. ", MAX_OPS);
}

void html_timeline_spark(FILE *f, const struct plot_timeline *t)
{
    const struct html_timeline of = {.all = t};
    struct html_drawing d = {.f = f, .of = &of, .width = 120, .left = 1, .right = 119};
    struct panel p = {.top = 2, .height = 22, .scale = 1};

    if (t->n == 0)
        return;
    p.most = most_of(t, THROUGHPUT);
    p.most = p.most > 0 ? p.most : 1;
    fputs("<svg class=\"spark\" aria-hidden=\"true\" viewBox=\"0 0 120 26\">", f);
    put_steps(&d, &p, t, THROUGHPUT, "s1");
    fputs("</svg>", f);
}
