#include "analyze/base/phrase.h"
#include "analyze/render/page/chart.h"
#include "analyze/render/page/html_internal.h"
#include "analyze/render/report/headline.h"
#include "analyze/write/html.h"
#include "libcommon/units.h"

#include <math.h>

#define MAX_MARKS     9  /* findings that are marked; others are only in the list */
#define MARK_ROW_PX   20 /* of numbers above the panels */
#define THROUGHPUT_PX 64
#define LATENCY_PX    60
#define SMALL_PX      32
#define MAX_PANELS    6

/* One drawing of a timeline. */
struct drawing {
    struct chart chart;
    const struct html_course *of;
    const struct plot_timeline *t;
    int series; /* of the page's data; 0: of what the page is about, with marks and parties */
    const char *css, *prefix; /* class of the drawing; prefix of its ids */
};

/* ---- What is drawn ---- */

/* Returns a line or bars of the page's series number `series`. */
static struct chart_series series_of(const struct plot_timeline *t, int series,
                                     enum plot_course what, const char *css, const char *name)
{
    return (struct chart_series){.t = t,
                                 .what = what,
                                 .css = css,
                                 .name = name,
                                 .column = html_data_column(what),
                                 .series = series};
}

/* Returns a panel with a line for each of the chosen operations. */
static struct chart_panel latency_of_ops(const struct html_course *c, const char *title,
                                         enum plot_course what)
{
    static const char *const css[HTML_COURSE_CHOSEN] = {"s1", "s2 dashed", "s3 dotted",
                                                        "s4 dashdot"};
    struct chart_panel p = {.title = title, .values = CHART_TIMES, .height = LATENCY_PX};
    size_t k[HTML_COURSE_CHOSEN];

    p.n = html_course_choose(c, k);
    for (size_t i = 0; i < p.n; i++)
        p.v[i] = series_of(&c->ops[k[i]], html_course_series(c, k[i]), what, css[i],
                           what == PLOT_P50 ? c->ops[k[i]].op : NULL);
    return p;
}

/* Returns the panel of failed requests, with the most frequent message at the bottom. */
static struct chart_panel failed_requests(const struct plot_timeline *t, int series)
{
    static const char *const css[PLOT_TIMELINE_MESSAGES] = {"b1", "b2", "b3"};
    struct chart_panel p = {.title = "Failed requests",
                            .unit = "",
                            .values = CHART_COUNTS,
                            .height = SMALL_PX,
                            .n = t->n_messages};

    for (size_t k = 0; k < p.n; k++) {
        const struct plot_timeline_message *m = &t->messages[k];
        p.v[k] = series_of(t, series, PLOT_FAILED, css[k],
                           m->text != NULL ? m->text
                           : p.n > 1       ? "other messages"
                                           : "failed requests");
        p.v[k].message = m;
        /* The page's data has the number of failed requests, but not by message. */
        p.v[k].column = p.n > 1 ? NULL : p.v[k].column;
    }
    return p;
}

/* Returns the panel of who a finding names, against the others. */
static struct chart_panel party_panel(const struct html_course *c)
{
    static const char *const titles[][2] = {
        [SCOPE_SYSTEM] = {"Requests by size", "Median by size"},
        [SCOPE_HOST] = {"Requests by host", "Median by host"},
        [SCOPE_CLIENT] = {"Requests by client", "Median by client"},
        [SCOPE_THREAD] = {"Requests by thread", "Median by thread"}};
    bool slow = c->party.band[PLOT_P50].least != NULL;
    struct chart_panel p = {.unit = "/s",
                            .values = slow ? CHART_TIMES : CHART_NUMBERS,
                            .height = LATENCY_PX,
                            .v = {{.t = &c->party,
                                   .what = slow ? PLOT_P50 : PLOT_THROUGHPUT,
                                   .css = "s2",
                                   .has_band = true}},
                            .n = 1};

    if (c->named == NULL)
        return p;
    p.title = titles[c->named->scope][slow];
    p.v[0].name = c->named->scope == SCOPE_THREAD   ? "the thread of the finding"
                  : c->named->scope == SCOPE_SYSTEM ? "the sizes of the finding"
                                                    : intern_shown(c->named->party);
    return p;
}

/* Fills in the panels that have something to show; returns how many. Each operation has latency
 * lines of its own: durations of different operations are not one distribution. */
static size_t choose_panels(const struct drawing *d, struct chart_panel v[MAX_PANELS])
{
    const struct html_course *c = d->of;
    const struct plot_timeline *t = d->t;
    int series = d->series;
    size_t n = 0;

    v[n] = (struct chart_panel){.title = "Throughput",
                                .unit = "objects/s",
                                .values = t->has_bytes ? CHART_BYTES_PER_S : CHART_NUMBERS,
                                .height = THROUGHPUT_PX,
                                .v = {series_of(t, series, PLOT_THROUGHPUT, "s1", NULL)},
                                .n = 1};
    v[n].v[0].has_band = true;
    n += chart_fit(&v[n]);
    v[n] = party_panel(c);
    n += series == 0 && c->party.n > 0 && chart_fit(&v[n]);
    if (chart_most(t, PLOT_P99) > 0) {
        v[n] = (struct chart_panel){
            .title = t->is_open ? "Response time" : "Latency",
            .values = CHART_TIMES,
            .height = LATENCY_PX,
            .v = {series_of(t, series, PLOT_P99, "s3 dashed", "p99"),
                  series_of(t, series, PLOT_P50, "s1", "median"),
                  series_of(t, series, PLOT_SERVICE_P99, "s2 thin dashed", "p99 service"),
                  series_of(t, series, PLOT_SERVICE_P50, "s2 thin", "median service")},
            .n = t->is_open ? 4 : 2};
        v[n].v[0].has_band = true;
        n += chart_fit(&v[n]);
    } else {
        v[n] = latency_of_ops(c, t->is_open ? "Median response time" : "Median latency", PLOT_P50);
        n += chart_fit(&v[n]);
        v[n] = latency_of_ops(c, t->is_open ? "p99 response time" : "p99 latency", PLOT_P99);
        n += chart_fit(&v[n]);
    }
    v[n] = failed_requests(t, series);
    n += chart_fit(&v[n]);
    v[n] = (struct chart_panel){.title = "Requests in flight",
                                .unit = "",
                                .height = SMALL_PX,
                                .v = {series_of(t, series, PLOT_IN_FLIGHT, "s3", NULL)},
                                .n = 1};
    n += chart_fit(&v[n]) && !plot_timeline_is_steady(t);
    return n;
}

/* ---- Marks ---- */

static void put_range(const struct drawing *d, double top, double bottom)
{
    const struct span *range = &d->t->range;

    if (range->present) {
        chart_shade(&d->chart, d->t->start_ns, range->start_ns, top, bottom, "outside");
        chart_shade(&d->chart, range->end_ns, d->t->end_ns, top, bottom, "outside");
    }
}

static bool is_within(const struct plot_timeline *t, const struct finding *x)
{
    return t->n > 0 && x->has_start && x->start_ns <= t->end_ns &&
           (!x->has_end || x->end_ns >= t->start_ns);
}

bool html_timeline_marks(const struct html_course *c, size_t i)
{
    const struct finding *v = c->a->findings.v;
    size_t n_before = 0;

    for (size_t k = 0; k < i; k++)
        n_before += is_within(&c->all, &v[k]);
    return is_within(&c->all, &v[i]) && n_before < MAX_MARKS;
}

/* The mark of a finding: a number above the panels, and a line down from it. */
struct mark {
    const struct finding *of;
    size_t number;
    double x;
    int row; /* above the panels */
};

/* Fills in the marks, of the page's own timeline alone. Sets *n_rows to the number of rows in which
 * no number covers another. */
static size_t place_marks(const struct drawing *d, struct mark v[MAX_MARKS], int *n_rows)
{
    const struct findings *found = &d->of->a->findings;
    size_t n = 0;

    *n_rows = 0;
    for (size_t i = 0; d->series == 0 && i < found->n; i++) {
        if (!html_timeline_marks(d->of, i))
            continue;
        v[n] = (struct mark){&found->v[i], i + 1, chart_x(&d->chart, found->v[i].start_ns), 0};
        for (size_t k = 0; k < n; k++)
            if (v[k].row == v[n].row && fabs(v[k].x - v[n].x) < MARK_ROW_PX) {
                v[n].row++;
                k = SIZE_MAX; /* begin anew */
            }
        *n_rows = v[n].row + 1 > *n_rows ? v[n].row + 1 : *n_rows;
        n++;
    }
    return n;
}

static const char *problem_css(const struct mark *m)
{
    return m->of->severity == FINDING_PROBLEM ? " problem" : "";
}

static double number_y(double top, const struct mark *m)
{
    return top - 10 - m->row * MARK_ROW_PX;
}

/* Shades the spans of findings, and draws the lines down from the numbers. They are drawn first, so
 * that they pass below the numbers. */
static void put_lines(const struct drawing *d, const struct mark *v, size_t n, double top,
                      double bottom)
{
    for (int problems = 0; problems < 2; problems++) /* problems cover notices */
        for (size_t i = 0; i < n; i++)
            if (v[i].of->has_end && (v[i].of->severity == FINDING_PROBLEM) == (problems == 1))
                chart_shade(&d->chart, v[i].of->start_ns, v[i].of->end_ns, top, bottom,
                            problems ? "event" : "noticed");
    for (size_t i = 0; i < n; i++)
        fprintf(d->chart.f, "<path class=\"mark%s\" d=\"M%.1f %.1fV%.1f\"/>", problem_css(&v[i]),
                v[i].x, number_y(top, &v[i]), bottom);
}

/* Draws numbers above the panels, one for each finding that has a time. */
static void put_numbers(const struct drawing *d, const struct mark *v, size_t n, double top)
{
    for (size_t i = 0; i < n; i++) {
        double y = number_y(top, &v[i]);

        fprintf(
            d->chart.f,
            "<a href=\"#finding%zu\" id=\"%smark%zu\" aria-label=\"%s %zu\"><circle "
            "class=\"dot%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"9\"/><text class=\"number\" x=\"%.1f\" "
            "y=\"%.1f\">%zu</text></a>",
            v[i].number, d->prefix, v[i].number, headline_severity(v[i].of), v[i].number,
            problem_css(&v[i]), v[i].x, y, v[i].x, y + 4, v[i].number);
    }
}

/* ---- The figure ---- */

static void draw(struct drawing *d)
{
    struct chart *c = &d->chart;
    struct mark marks[MAX_MARKS];
    struct chart_panel panels[MAX_PANELS];
    int n_rows;
    size_t n = choose_panels(d, panels), n_marks = place_marks(d, marks, &n_rows);
    double top = n_rows * MARK_ROW_PX;
    double height = top + chart_height(c, panels, n) + CHART_AXIS_PX;
    double bottom = height - CHART_AXIS_PX - CHART_GAP_PX;

    fprintf(c->f,
            "<svg class=\"timeline %s\" role=\"group\" aria-label=\"Timeline\" viewBox=\"0 0 %.0f "
            "%.0f\" data-left=\"%.1f\" data-right=\"%.1f\" data-top=\"%.1f\" "
            "data-bottom=\"%.1f\">",
            d->css, c->width, height, c->left, c->right, top, bottom);
    fputs("<g class=\"time\">", c->f);
    put_range(d, top + CHART_TITLE_PX, bottom);
    put_lines(d, marks, n_marks, top, bottom);
    fputs("</g>", c->f);
    put_numbers(d, marks, n_marks, top);
    c->y = top;
    for (size_t i = 0; i < n; i++)
        chart_put(c, &panels[i]);
    c->y = bottom;
    chart_put_axis(c, panels, n);
    fputs("</svg>", c->f);
}

/* Writes what the drawing leaves out, and what its marks mean. */
static void put_caption(FILE *f, const struct drawing *d)
{
    const struct html_course *c = d->of;
    const struct plot_timeline *t = d->t;
    double most = chart_most(t, PLOT_IN_FLIGHT);
    size_t chosen[HTML_COURSE_CHOSEN];

    fputs("<figcaption>", f);
    html_textf(f, d->series == 0 ? "What happened when: %s" : "%s over time", t->op);
    fputs("<small>", f);
    if (plot_timeline_is_steady(t) && most > 0)
        html_textf(f, "Requests in flight: about %.0f throughout. ", most);
    if (chart_most(t, PLOT_THROUGHPUT) <= 0)
        html_textf(f, "Nothing was transferred. ");
    if (t->n_errors == 0)
        html_textf(f, "No request failed. ");
    else if (t->n_messages > 1)
        html_textf(f, "Failed requests: bars stand on each other, the first message lowest. ");
    if (chart_most(t, PLOT_P99) <= 0 && c->a->n_operations > HTML_COURSE_CHOSEN &&
        html_course_choose(c, chosen) == HTML_COURSE_CHOSEN)
        html_textf(f, "Latency: of the %d operations with the most requests. ", HTML_COURSE_CHOSEN);
    if (c->a->series_note != NULL)
        html_textf(f, "%s ", c->a->series_note);
    if (t->band[PLOT_THROUGHPUT].least != NULL)
        html_textf(f, "Bands: from the least to the greatest of bins of %s. ",
                   units_duration(c->fine[0].rows[0].duration_ns).s);
    if (d->series == 0 && c->party.n > 0)
        html_textf(f, "Grey band: from the least to the greatest of the others. ");
    fputs("</small>", f);
    const char *op = t == &c->all && c->main < 0 ? "" : t->op;
    struct phrase charts = phrase_format(
        "%s%s%s%s", chart_most(t, PLOT_THROUGHPUT) > 0 ? ",throughput" : "",
        chart_most(t, PLOT_P99) > 0 || (*op == '\0' && html_course_choose(c, chosen) > 0)
            ? ",latency"
            : "",
        t->n_messages > 0 ? ",errors" : "", plot_timeline_is_steady(t) ? "" : ",in-flight");
    if (charts.s[0] != '\0')
        html_page_command(f, c->charts, charts.s + 1, op);
    fputs("</figcaption>", f);
}

void html_timeline(FILE *f, const struct html_course *c, int index)
{
    bool is_main = index == c->main;
    const struct plot_timeline *t = is_main ? &c->all : &c->ops[index];
    char prefix[24];
    struct drawing wide = {{f, t->start_ns, t->end_ns, .width = 860, .left = 56, .right = 846},
                           c,
                           t,
                           is_main ? 0 : html_course_series(c, (size_t)index),
                           "wide",
                           ""};
    struct drawing narrow = wide;

    narrow.chart = (struct chart){f,          t->start_ns, t->end_ns, .narrow = true, .width = 360,
                                  .left = 52, .right = 350};
    narrow.css = "narrow";
    narrow.prefix = "n";
    snprintf(prefix, sizeof prefix, is_main ? "timeline" : "op%d-timeline", index);
    if (t->n == 0)
        return;
    fprintf(f, "<figure id=\"%s\" data-series=\"%d\">", prefix, wide.series);
    put_caption(f, &wide);
    draw(&wide);
    draw(&narrow);
    fputs("</figure>\n", f);
}
