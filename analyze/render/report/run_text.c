#include "analyze/render/report/run.h"

#include "analyze/render/report/headline.h"
#include "analyze/render/report/run_sheet.h"
#include "analyze/render/report/slo_sheet.h"

/* Writes the operations of the benchmark, or those beside it. */
static void put_operations(struct sheet *s, const struct analysis *a, bool is_beside)
{
    for (size_t i = 0; i < a->n_operations; i++) {
        const struct operation *op = &a->operations[i];
        const char *beside = run_sheet_beside(op->role);

        if ((beside != NULL) != is_beside)
            continue;
        sheet_title(s, "%s: %s", beside != NULL ? beside : "Operation", op->op);
        run_sheet_operation(s, a, op);
    }
}

bool report_text(const struct analysis *a, const struct sheet_form *form, FILE *f, struct err *e)
{
    int64_t n_beside = 0;
    struct sheet s = {.brief = !form->verbose && !form->markdown};

    for (size_t k = 0; k < a->n_operations; k++)
        n_beside += !role_is_benchmark(a->operations[k].role) ? a->operations[k].n_requests : 0;
    slo_sheet(&s, a->slo);
    sheet_line(&s, TEXT_HEADING, "%s", headline(a).s);
    headline_put_findings(&s, a, a->n_rows - n_beside);
    run_sheet_inputs(&s, a);
    if (a->n_operations > 1)
        run_sheet_summary(&s, a, NULL);
    run_sheet_together(&s, &a->together);
    put_operations(&s, a, false);
    if (a->total.present) {
        sheet_title(&s, "Cluster Total: all operations together");
        run_sheet_total(&s, a);
    }
    put_operations(&s, a, true);
    return sheet_end(&s, form, f, e);
}
