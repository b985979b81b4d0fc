#include "analyze/render/plot/charts_internal.h"

#include <math.h>
#include <string.h>

#define MAX_EVENTS 8 /* more hide the data; the array of plots/style.gp has one place more */

enum event_kind { EVENT_NONE = -1, EVENT_SPAN, EVENT_WARM_UP, EVENT_MOMENT };

/* Sets the time of a finding, as far as the requests of the chart ran; false: it has none there. */
static bool span_of(const struct plot_data *p, const struct finding *f, int64_t *start_ns,
                    int64_t *end_ns)
{
    bool is_of_op = f->op == NULL || p->index < 0 || strcmp(f->op, p->op) == 0;
    *start_ns = f->has_start && f->start_ns > p->course.start_ns ? f->start_ns : p->course.start_ns;
    *end_ns = f->has_end && f->end_ns < p->course.end_ns ? f->end_ns : p->course.end_ns;
    return is_of_op && (f->has_start || f->has_end) && *start_ns < *end_ns;
}

static void put_finding(FILE *f, const struct plot_data *p, const struct finding *x, size_t number,
                        int64_t start_ns, int64_t end_ns)
{
    char text[96];
    const struct finding_kind *of = x->kind;
    enum event_kind kind = of->is_beginning ? EVENT_WARM_UP
                           : x->has_start && x->has_end && x->period_ns == 0 &&
                                   end_ns - start_ns < (p->course.end_ns - p->course.start_ns) / 2
                               ? EVENT_SPAN
                               : EVENT_MOMENT;
    bool is_step = of->is_step && !of->is_beginning;

    if (is_step && isfinite(x->ratio))
        snprintf(text, sizeof text, "%zu: %s %s %%", number, of->name,
                 units_change(100 * (x->ratio - 1)).s);
    else
        snprintf(text, sizeof text, "%zu: %s", number, of->name);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '-' && c[1] >= 'a')
            *c = ' ';
    int64_t at_ns = x->has_start || kind == EVENT_WARM_UP ? start_ns : end_ns;
    char says[160];
    snprintf(says, sizeof says, "%zu: %s", number, x->sentence);
    plot_out_row(f, "irrss", (int64_t)kind, plot_data_t_s(p, at_ns), plot_data_t_s(p, end_ns), text,
                 p->lists_findings ? says : "-");
}

static int64_t first_error_ns(const struct plot_data *p)
{
    int64_t first_ns = INT64_MAX;
    for (size_t k = 0; k < p->a->n_operations; k++) {
        const struct operation *op = &p->a->operations[k];
        for (size_t i = 0; i < op->n_error_groups && (p->index < 0 || p->index == (int)k); i++)
            if (known_all(&op->errors[i].known, ERROR_TIMES))
                first_ns = int64_min(first_ns, op->errors[i].first_ns);
    }
    return first_ns;
}

void plot_events_put(FILE *f, const struct plot_data *p)
{
    int64_t first_ns = first_error_ns(p), start_ns, end_ns;
    size_t n = 0;

    plot_out_block(f, "events", "kind from_s to_s text sentence");
    plot_out_row(f, "irrss", (int64_t)EVENT_NONE, 0.0, 0.0, "", "-");
    for (size_t i = 0; i < p->a->findings.n && n < MAX_EVENTS; i++) {
        const struct finding *x = &p->a->findings.v[i];
        if (!span_of(p, x, &start_ns, &end_ns))
            continue;
        put_finding(f, p, x, i + 1, start_ns, end_ns);
        n++;
        if (x->kind->table == FINDING_IN_ERRORS)
            first_ns = INT64_MAX;
    }
    if (first_ns != INT64_MAX)
        plot_out_row(f, "irrss", (int64_t)EVENT_MOMENT, plot_data_t_s(p, first_ns),
                     plot_data_t_s(p, first_ns), "first error", "-");
}
