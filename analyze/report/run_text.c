#include "analyze/report/run.h"

#include "analyze/report/headline.h"
#include "analyze/report/run_sheet.h"
#include "libcommon/units.h"

#include <math.h>

static void summary_row(struct sheet *s, enum text_style style, const char *name,
                        int64_t n_requests, int64_t n_errors, const struct throughput *x,
                        double largest)
{
    SHEET_ROW(s, style, name, units_count(n_requests).s, units_count(n_errors).s,
              x->present && x->n_bytes > 0 ? figures_rate_like(x->bytes_per_s, largest).s : "-",
              x->present ? units_rate(x->objects_per_s).s : "-");
}

/* One line for each operation, and one for the cluster. */
static void put_summary(struct sheet *s, const struct analysis *a)
{
    int64_t n_requests = 0, n_errors = 0;
    double largest = a->total.throughput.bytes_per_s;

    for (size_t i = 0; i < a->n_operations; i++)
        largest = fmax(largest, a->operations[i].throughput.bytes_per_s);
    sheet_table(s, "lrrrrrr", a->mixed ? "Mixed operations" : "Operations");
    SHEET_HEADINGS(s, "", "Requests", "Errors", "Average", "obj/s", "50%", "99%");
    for (size_t i = 0; i < a->n_operations; i++) {
        const struct operation *op = &a->operations[i];
        const struct times *d = &op->requests.all.dur;

        n_requests += op->n_requests;
        n_errors += op->n_errors;
        summary_row(s, TEXT_PLAIN, op->op, op->n_requests, op->n_errors, &op->throughput, largest);
        if (d->present)
            SHEET_CELLS(s, units_duration(d->p50_ns).s, units_duration(d->p99_ns).s);
    }
    if (a->total.present)
        summary_row(s, TEXT_HEADING, "Cluster Total", n_requests, n_errors, &a->total.throughput,
                    largest);
}

bool report_text(const struct analysis *a, const struct report_text_options *options, FILE *f,
                 struct err *e)
{
    struct text out = {.f = f, .colour = options->colour};
    int64_t n_main = a->n_rows;
    struct sheet s = {0};

    if (!a->mixed && a->n_operations > 0)
        n_main = a->operations[a->n_operations - 1].n_requests;
    sheet_line(&s, TEXT_HEADING, "%s", headline(a).s);
    headline_put_findings(&s, &a->findings, n_main);
    run_sheet_inputs(&s, a);
    if (a->n_operations > 1)
        put_summary(&s, a);
    for (size_t i = 0; i < a->n_operations; i++) {
        sheet_title(&s, "Operation: %s", a->operations[i].op);
        run_sheet_operation(&s, a, &a->operations[i]);
    }
    if (a->total.present) {
        sheet_title(&s, "Cluster Total: all operations together");
        run_sheet_total(&s, a);
    }
    bool ok = sheet_write_text(&s, &out, options->verbose, e);
    sheet_free(&s);
    return ok;
}
