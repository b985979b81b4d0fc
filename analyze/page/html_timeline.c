#include "analyze/page/html_timeline.h"

#include "analyze/report/figures.h"
#include "analyze/page/html_internal.h"
#include "analyze/page/html_panels.h"
#include "analyze/write/html.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <math.h>

#define SECOND_NS   INT64_C(1000000000)
#define MARK_ROW_PX 20 /* of numbers above the panels */
#define AXIS_PX     36

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
    return (int64_t)html_panels_round_step((double)(least_ns > step_ns ? least_ns : step_ns));
}

static void put_clock(const struct html_drawing *d, double bottom)
{
    const struct plot_timeline *t = d->of->all;
    int64_t span_ns = t->end_ns - t->start_ns;
    int64_t step_ns = clock_step_ns((int64_t)((double)span_ns / (d->right - d->left) * 88));
    int n_letters = step_ns < SECOND_NS ? 12 : step_ns < 60 * SECOND_NS ? 8 : 5;
    int from = span_ns > 86400 * SECOND_NS ? 5 : 11;

    n_letters += from == 5 ? 6 : 0;
    if (step_ns < SECOND_NS / 1000)
        return; /* no clock is read that finely; the axis below says when it begins */
    for (int64_t ns = (t->start_ns / step_ns + 1) * step_ns; ns < t->end_ns; ns += step_ns) {
        double x = html_panels_x(d, ns), half = n_letters * 3.4;
        fprintf(d->f, "<path class=\"grid\" d=\"M%.1f %.1fv4\"/>", x, bottom);
        if (x - half < 2 || x + half > d->width - 2)
            continue;
        fprintf(d->f, "<text class=\"mid\" x=\"%.1f\" y=\"%.1f\">%.*s</text>", x, bottom + 16,
                n_letters, rfc3339_format(ns).s + from);
    }
}

static void put_axis(struct html_drawing *d)
{
    double bottom = d->y;

    fprintf(d->f, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>", d->left, bottom, d->right);
    put_clock(d, bottom);
    fprintf(d->f,
            "<text class=\"mid\" x=\"%.1f\" y=\"%.1f\">time of day, UTC%s%.12s; bins of %s</text>",
            (d->left + d->right) / 2, bottom + 31, d->narrow ? "" : "; the axis begins at ",
            d->narrow ? "" : figures_clock(d->of->all->start_ns).s,
            units_duration(d->of->all->rows[0].duration_ns).s);
    d->y += AXIS_PX;
}

/* ---- Marks ---- */

static void shade(const struct html_drawing *d, int64_t from_ns, int64_t to_ns, double top,
                  double bottom, const char *css)
{
    double left = html_panels_x(d, from_ns), right = html_panels_x(d, to_ns);

    if (right > left)
        fprintf(d->f, "<path class=\"%s\" d=\"M%.1f %.1fH%.1fV%.1fH%.1fz\"/>", css, left, top,
                right, bottom, left);
}

static void put_range(const struct html_drawing *d, double top, double bottom)
{
    const struct span *range = &d->of->all->range;

    if (range->present) {
        shade(d, d->of->all->start_ns, range->start_ns, top, bottom, "outside");
        shade(d, range->end_ns, d->of->all->end_ns, top, bottom, "outside");
    }
    if (d->of->all->warm_end_ns > d->of->all->warm_ns)
        shade(d, d->of->all->warm_ns, d->of->all->warm_end_ns, top, bottom, "warm");
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
static int place_marks(const struct html_drawing *d, int row[HTML_TIMELINE_MARKS])
{
    const struct findings *found = d->of->findings;
    double at[HTML_TIMELINE_MARKS];
    int n = 0, n_rows = 0;

    for (size_t i = 0; i < found->n && n < HTML_TIMELINE_MARKS; i++) {
        if (!html_timeline_marks(d->of->all, found, i))
            continue;
        at[n] = html_panels_x(d, found->v[i].start_ns);
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

/* A line down from the number of a finding, and the span that it has. */
static void put_line(const struct html_drawing *d, const struct finding *x, double y, double top,
                     double bottom)
{
    bool is_problem = x->severity == FINDING_PROBLEM;

    if (x->has_end)
        shade(d, x->start_ns, x->end_ns, top, bottom, is_problem ? "event" : "noticed");
    fprintf(d->f, "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/>",
            is_problem ? "mark problem" : "mark", html_panels_x(d, x->start_ns), y, bottom);
}

static void put_number(const struct html_drawing *d, const struct finding *x, size_t number,
                       double y)
{
    bool is_problem = x->severity == FINDING_PROBLEM;
    double at = html_panels_x(d, x->start_ns);

    fprintf(d->f,
            "<a href=\"#finding%zu\" id=\"%smark%zu\" aria-label=\"%s %zu\"><circle "
            "class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"9\"/><text class=\"number\" x=\"%.1f\" "
            "y=\"%.1f\">%zu</text></a>",
            number, d->prefix, number, is_problem ? "Problem" : "Notice", number,
            is_problem ? "dot problem" : "dot", at, y, at, y + 4, number);
}

/* Numbers above the panels, one for each finding that has a time, and lines down from them, which
 * pass below the numbers of others. */
static void put_marks(const struct html_drawing *d, double top, double bottom)
{
    const struct findings *found = d->of->findings;
    int row[HTML_TIMELINE_MARKS];

    place_marks(d, row);
    for (int numbers = 0; numbers <= 1; numbers++) {
        int n = 0;
        for (size_t i = 0; i < found->n; i++) {
            if (!html_timeline_marks(d->of->all, found, i))
                continue;
            double y = top - 10 - row[n++] * MARK_ROW_PX;
            if (numbers)
                put_number(d, &found->v[i], i + 1, y);
            else
                put_line(d, &found->v[i], y, top, bottom);
        }
    }
}

/* ---- The figure ---- */

static double marks_height(const struct html_drawing *d)
{
    int row[HTML_TIMELINE_MARKS];

    return place_marks(d, row) * MARK_ROW_PX;
}

static void draw(struct html_drawing drawing, const char *css)
{
    struct html_drawing *d = &drawing;
    double height = marks_height(d) + html_panels_height(d) + AXIS_PX,
           bottom = height - AXIS_PX - HTML_PANELS_GAP_PX;
    double top = marks_height(d);

    fprintf(d->f,
            "<svg class=\"timeline %s\" role=\"group\" aria-label=\"Timeline\" viewBox=\"0 0 %.0f "
            "%.0f\" data-left=\"%.1f\" data-right=\"%.1f\" data-top=\"%.1f\" "
            "data-bottom=\"%.1f\">",
            css, d->width, height, d->left, d->right, top, bottom);
    put_range(d, top + HTML_PANELS_TITLE_PX, bottom);
    d->y = top;
    put_marks(d, top, bottom);
    html_panels_put(d);
    d->y -= HTML_PANELS_GAP_PX;
    put_axis(d);
    fputs("</svg>", d->f);
}

/* What the drawing leaves out, and what its marks are. */
static void put_caption(FILE *f, const struct html_timeline *of)
{
    const struct plot_timeline *t = of->all;

    fputs("<figcaption>", f);
    html_textf(f, "What happened when: %s", t->op);
    fputs("<small>", f);
    html_panels_left_out(f, of);
    html_textf(f, "%s", of->note);
    if (t->range.present && (t->range.start_ns > t->start_ns || t->range.end_ns < t->end_ns))
        html_textf(f, "Grey: outside of the time that counts. ");
    if (t->warm_end_ns > t->warm_ns)
        html_textf(f, "Yellow: warm-up. ");
    for (size_t i = 0; i < of->findings->n; i++) {
        if (html_timeline_marks(t, of->findings, i)) {
            html_textf(f, "Numbers: findings. ");
            break;
        }
    }
    fputs("</small></figcaption>", f);
}

void html_timeline(FILE *f, const struct html_timeline *of)
{
    const struct html_drawing wide = {
        .f = f, .of = of, .prefix = "", .width = 860, .left = 56, .right = 846};
    const struct html_drawing narrow = {
        .f = f, .of = of, .prefix = "n", .narrow = true, .width = 360, .left = 52, .right = 350};

    if (of->all->n == 0)
        return;
    fputs("<figure id=\"timeline\" data-series=\"0\">", f);
    put_caption(f, of);
    draw(wide, "wide");
    draw(narrow, "narrow");
    fputs("</figure>\n", f);
}
