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

static double share(const struct axis *x, double value)
{
    return x->to > x->from ? (log(value) - x->from) / (x->to - x->from) : .5;
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

/* Marks of p50 are rings, those of p99 discs; a run that missed is red, one that does not count is
 * not there. */
static void put_marks(FILE *f, const struct plan *p, const struct axis *x, const struct axis *y)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct plan_run *r = &p->runs[i];
        bool missed = p->asked.kind == PLAN_CAPACITY && r->verdict == SLO_MISSED;
        const char *colour = missed ? "#d33" : "#27c";

        if (r->why_not != NULL || !(r->p50_ns > 0) || !(r->p99_ns > 0))
            continue;
        double at = right_of(x, r->point.level);
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"none\" stroke=\"%s\"/>\n", at,
                up_of(y, r->p50_ns), colour);
        fprintf(
            f,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>run %u</title></circle>\n",
            at, up_of(y, r->p99_ns), colour, r->number);
    }
}

static void put_chart(FILE *f, const struct plan *p)
{
    struct axis x = {INFINITY, -INFINITY}, y = x;

    for (size_t i = 0; i < p->n; i++) {
        const struct plan_run *r = &p->runs[i];
        if (r->why_not != NULL)
            continue;
        widen(&x, r->point.level);
        widen(&y, r->p50_ns);
        widen(&y, r->p99_ns);
    }
    if (!(x.from <= x.to) || !(y.from <= y.to))
        return;
    fprintf(f, "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\" font-size=\"12\">\n", WIDTH,
            HEIGHT);
    for (int i = 0; i <= 4; i++) {
        double level = exp(x.from + i * (x.to - x.from) / 4);
        double ns = exp(y.from + i * (y.to - y.from) / 4);

        put_label(f, right_of(&x, level), HEIGHT - BOTTOM + 16, "middle", units_rate(level).s);
        put_label(f, LEFT - 12, up_of(&y, ns) + 4, "end", units_duration(llround(ns)).s);
        fprintf(f,
                "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"currentColor\" "
                "stroke-opacity=\".2\"/>\n",
                LEFT - 6, WIDTH - 14, up_of(&y, ns), up_of(&y, ns));
    }
    put_marks(f, p, &x, &y);
    fputs("</svg>\n", f);
    html_element(f, "figcaption", "%s: rings are p50, discs p99, both axes logarithmic%s",
                 p->by_rate || p->asked.kind == PLAN_CAPACITY
                     ? "Response time against requests/s"
                     : "Duration against requests in flight",
                 p->asked.kind == PLAN_CAPACITY ? "; red: missed." : ".");
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

    if (!html_page_begin(f, &none, plan_kind_names[p->asked.kind], answer.s, e))
        return false;
    html_element(f, "h1", "%s", plan_kind_names[p->asked.kind]);
    fputs("<main>\n", f);
    plan_sheet(&s, p);
    put_chart(f, p);
    bool ok = html_page_sheet(&s, f, "runs", e) && html_data(f, "plan", write_data, p, NULL, e);
    html_page_end(f);
    return ok;
}
