#include "analyze/page/pages.h"

#include "analyze/json/documents.h"
#include "analyze/page/page.h"
#include "analyze/page/html_internal.h"
#include "analyze/report/plan_sheet.h"
#include "analyze/write/html.h"
#include "libcommon/units.h"

#include <math.h>

/* A chart of the runs, both axes logarithmic: level to the right, a figure upwards. */
#define WIDTH  720
#define HEIGHT 320
#define LEFT   80
#define BOTTOM 40

struct axis {
    double from, to; /* logs */
};

static void widen(struct axis *x, double value)
{
    if (!(value > 0) || !isfinite(value))
        return;
    x->from = fmin(x->from, log(value));
    x->to = fmax(x->to, log(value));
}

/* Makes room for a mark at the ends, and for two numbers on the axis. */
static void stretch(struct axis *x)
{
    double more = fmax(log(1.1), (log(5) - (x->to - x->from)) / 2);

    x->from -= more;
    x->to += more;
}

static double share(const struct axis *x, double value)
{
    return (log(value) - x->from) / (x->to - x->from);
}

static double right_of(const struct axis *x, double level)
{
    return LEFT + share(x, level) * (WIDTH - LEFT - 20);
}

static double up_of(const struct axis *y, double value)
{
    return HEIGHT - BOTTOM - share(y, value) * (HEIGHT - BOTTOM - 20);
}

static void put_label(FILE *f, double x, double y, const char *anchor, const char *text)
{
    fprintf(f, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\" fill=\"currentColor\">", x, y,
            anchor);
    html_textf(f, "%s", text);
    fputs("</text>\n", f);
}

/* What a chart shows of a run: a ring, and a disc unless that is NaN. */
struct marks {
    double ring, disc;
};

static struct marks marks_of(const struct plan_run *r, bool throughput)
{
    if (r->why_not != NULL)
        return (struct marks){NAN, NAN};
    return throughput ? (struct marks){r->point.per_s, NAN} : (struct marks){r->p50_ns, r->p99_ns};
}

static void put_mark(FILE *f, double x, const struct axis *y, double value, const char *colour,
                     bool filled)
{
    if (value > 0 && isfinite(value))
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\" stroke=\"%s\"/>\n", x,
                up_of(y, value), filled ? colour : "none", colour);
}

static void put_marks(FILE *f, const struct plan *p, bool throughput, const struct axis *x,
                      const struct axis *y)
{
    static const char *const colours[] = {
        [SLO_MET] = "#27c", [SLO_MISSED] = "#d33", [SLO_UNDECIDED] = "#c80"};

    for (size_t i = 0; i < p->n; i++) {
        const struct plan_run *r = &p->runs[i];
        const struct marks m = marks_of(r, throughput);
        const char *colour = colours[p->asked.kind == PLAN_CAPACITY ? r->verdict : SLO_MET];
        double at = right_of(x, r->point.level);

        put_mark(f, at, y, m.ring, colour, false);
        put_mark(f, at, y, m.disc, colour, true);
    }
}

/* The least of 1, 2, 5, 10, ... times a power of 10 that is at least v. */
static double tick_from(double v)
{
    double unit = pow(10, floor(log10(v)));

    return v <= unit ? unit : v <= 2 * unit ? 2 * unit : v <= 5 * unit ? 5 * unit : 10 * unit;
}

static void put_axes(FILE *f, const struct axis *x, const struct axis *y, bool throughput)
{
    for (double v = tick_from(exp(x->from)); v <= exp(x->to); v = tick_from(1.01 * v))
        put_label(f, right_of(x, v), HEIGHT - BOTTOM + 16, "middle", units_rate(v).s);
    for (double v = tick_from(exp(y->from)); v <= exp(y->to); v = tick_from(1.01 * v)) {
        put_label(f, LEFT - 12, up_of(y, v) + 4, "end",
                  throughput ? units_rate(v).s : units_duration(llround(v)).s);
        fprintf(f,
                "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"currentColor\" "
                "stroke-opacity=\".2\"/>\n",
                LEFT - 6, WIDTH - 14, up_of(y, v), up_of(y, v));
    }
}

static void put_chart(FILE *f, const struct plan *p, bool throughput)
{
    struct axis x = {INFINITY, -INFINITY}, y = x;

    for (size_t i = 0; i < p->n; i++) {
        const struct marks m = marks_of(&p->runs[i], throughput);

        widen(&y, m.ring);
        widen(&y, m.disc);
        if (m.ring > 0)
            widen(&x, p->runs[i].point.level);
    }
    if (!(x.from <= x.to))
        return;
    stretch(&x);
    stretch(&y);
    fprintf(f, "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\" font-size=\"12\">\n", WIDTH,
            HEIGHT);
    put_axes(f, &x, &y, throughput);
    put_marks(f, p, throughput, &x, &y);
    fputs("</svg>\n", f);
    html_element(f, "figcaption", "%s against requests%s%s",
                 throughput ? "Requests/s reached" : "Response time: rings are p50, discs p99,",
                 p->by_rate || p->asked.kind == PLAN_CAPACITY ? "/s" : " in flight",
                 p->asked.kind == PLAN_CAPACITY ? "; blue: met, orange: undecided, red: missed."
                                                : ".");
    fputs("</figure>\n", f);
}

static bool write_data(const void *ctx, FILE *f, struct err *e)
{
    return plan_json(ctx, f, e);
}

bool plan_html(const struct plan *p, FILE *f, struct err *e)
{
    struct html_charts none = {0};
    struct sheet s = {0};
    const struct plan_sentence answer = plan_sentence(p);
    char title[64];

    snprintf(title, sizeof title, "s3load repeat %s", plan_kind_names[p->asked.kind]);
    if (!html_page_begin(f, &none, title, answer.s, e))
        return false;
    html_page_header(f, title, "Repeated: ", p->asked.command);
    html_within(f, "<section id=\"first\">\n<p class=\"headline\">", answer.s,
                "</p>\n</section>\n");
    if (p->asked.kind == PLAN_SWEEP)
        put_chart(f, p, true);
    if (p->asked.kind != PLAN_AB)
        put_chart(f, p, false);
    plan_sheet_tables(&s, p);
    bool ok = html_page_sheet(&s, f, "runs", e) && html_data(f, "plan", write_data, p, NULL, e);
    html_page_end(f);
    return ok;
}
