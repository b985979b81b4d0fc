#include "analyze/plot/aggregate.h"
#include "analyze/report/aggregate.h"
#include "analyze/report/aggregate_sheet.h"
#include "analyze/report/figures.h"
#include "analyze/report/headline.h"

bool aggregate_text(const struct aggregate *a, const struct findings *found,
                    const struct report_text_options *options, FILE *f, struct err *e)
{
    struct text out = {.f = f, .colour = options->colour};
    int main = plot_aggregate_main(a);
    struct sheet s = {0};

    sheet_line(&s, TEXT_HEADING, "%s", headline_aggregate(a, main).s);
    headline_put_findings(&s, found, (main < 0 ? &a->total : &a->ops.v[main])->x->n_requests);
    aggregate_sheet_file(&s, a);
    aggregate_sheet_warnings(&s, a, NULL);
    aggregate_sheet_summary(&s, a, main, NULL);
    aggregate_sheet_common(&s, a);
    for (size_t k = 0; k < a->ops.n; k++) {
        if (a->ops.v[k].is_preparation && !options->verbose)
            continue;
        sheet_title(&s, "Operation: %s", a->ops.v[k].x->name);
        aggregate_sheet_operation(&s, a, k);
    }
    bool ok = sheet_write_text(&s, &out, options->verbose, e);
    sheet_free(&s);
    return ok;
}

void aggregate_sheet_info(struct sheet *s, const struct aggregate *a)
{
    aggregate_sheet_file(s, a);
    if (a->file.version != NULL)
        sheet_line(s, TEXT_PLAIN, "Version of the recorder: %s", a->file.version);
    aggregate_sheet_summary(s, a, plot_aggregate_main(a), NULL);
    for (size_t i = 0; i < a->ops.n; i++)
        sheet_item(s, TEXT_PLAIN, "%s: %s of throughput, %s of durations", a->ops.v[i].x->name,
                   figures_counted((int64_t)a->ops.v[i].x->n_seconds, "second").s,
                   figures_counted((int64_t)a->ops.v[i].latency.n_groups, "group").s);
    sheet_gap(s);
    aggregate_sheet_warnings(s, a, NULL);
    for (size_t i = 0; i < a->ops.n; i++)
        aggregate_sheet_warnings(s, a, a->ops.v[i].x->name);
    sheet_line(s, TEXT_FAINT,
               "Not in this file: single requests, percentiles of the run, threads, objects, "
               "durations by host");
}
