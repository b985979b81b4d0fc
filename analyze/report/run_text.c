#include "analyze/report/run.h"

#include "analyze/report/headline.h"
#include "analyze/report/run_sheet.h"
#include "analyze/report/slo_sheet.h"

bool report_text(const struct analysis *a, const struct sheet_form *form, FILE *f, struct err *e)
{
    int64_t n_main = a->n_rows;
    struct sheet s = {.brief = !form->verbose && !form->markdown};

    if (!a->mixed && a->n_operations > 0)
        n_main = a->operations[a->n_operations - 1].n_requests;
    slo_sheet(&s, a->slo);
    sheet_line(&s, TEXT_HEADING, "%s", headline(a).s);
    headline_put_findings(&s, &a->findings, n_main);
    run_sheet_inputs(&s, a);
    if (a->n_operations > 1)
        run_sheet_summary(&s, a, NULL);
    run_sheet_together(&s, &a->together);
    for (size_t i = 0; i < a->n_operations; i++) {
        sheet_title(&s, "Operation: %s", a->operations[i].op);
        run_sheet_operation(&s, a, &a->operations[i]);
    }
    if (a->total.present) {
        sheet_title(&s, "Cluster Total: all operations together");
        run_sheet_total(&s, a);
    }
    return sheet_end(&s, form, f, e);
}
