#include "analyze/cmd/runs.h"

#include "analyze/report/text_cells.h"
#include "analyze/write/text.h"
#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <string.h>

static void put_operation(struct text_table *t, const struct operation *op)
{
    const struct throughput *x = &op->throughput;
    const struct times *d = &op->requests.all.dur;

    TEXT_ITEM(t, TEXT_PLAIN, "%s", op->op);
    text_table_cell(t, "%.19s", op->n_requests > 0 ? rfc3339_format(op->start_ns).s : "");
    TEXT_CELLS(t, units_count(op->n_requests).s, units_count(op->n_errors).s,
               x->present && x->n_bytes > 0 ? units_byte_rate(x->bytes_per_s).s : "-",
               x->present ? units_rate(x->objects_per_s).s : "-");
    if (d->present) {
        TEXT_CELLS(t, units_duration(d->p50_ns).s, units_duration(d->p99_ns).s);
    }
}

bool report_runs(const char *const *paths, size_t n_paths, const struct load_filter *filter,
                 const struct load_analysis *analysis, const struct load_input *input, bool colour,
                 FILE *f, struct err *e)
{
    struct text out = {.f = f, .colour = colour};
    struct text_table t;
    bool ok = true;

    text_table_init(&t, &out, "llrrrrrr");
    TEXT_ROW(&t, TEXT_FAINT, "", "From, UTC", "Requests", "Errors", "Average", "obj/s", "50%",
             "99%");
    for (size_t i = 0; i < n_paths && ok; i++) {
        struct dataset d = {0};
        struct analysis a = {0};

        ok = load_dataset(&d, &paths[i], 1, filter, input, e) &&
             load_run_analysis(&a, &d, filter, analysis, input, false, e);
        if (ok)
            text_table_span(&t, TEXT_HEADING, "%s", figures_file(paths[i]));
        for (size_t k = 0; ok && k < a.n_operations; k++)
            put_operation(&t, &a.operations[k]);
        analysis_free(&a);
        dataset_free(&d);
    }
    text_table_put(&t);
    return ok && (!out.failed || mem_none(e));
}
