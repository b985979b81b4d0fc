#include "analyze/render/report/compare.h"

#include "analyze/render/report/compare_sheet.h"
#include "analyze/tools/compare/words.h"

/* Appends the whole comparison, in the order of text and Markdown. */
static void put_all(struct sheet *s, const struct compare *c)
{
    sheet_line(s, compare_n_faulty(c) > 0 ? TEXT_WARNING : TEXT_HEADING, "%s",
               compare_words_answer(c).s);
    compare_sheet_gate(s, c);
    sheet_gap(s);
    compare_sheet_table(s, c);
    sheet_gap(s);
    if (compare_n_faulty(c) > 0)
        sheet_line(s, TEXT_WARNING, "%s:", compare_words_faulty(c).s);
    compare_sheet_faults(s, c);
    compare_sheet_limits(s, c);
    compare_sheet_notices(s, c);
    compare_sheet_notes(s, c);
    compare_sheet_runs(s, c);
    for (size_t k = 0; k < c->n_ops; k++)
        compare_sheet_op(s, c, k);
    compare_sheet_means(s, c);
}

bool compare_text(const struct compare *c, const struct sheet_form *form, FILE *f, struct err *e)
{
    struct sheet s = {0};

    put_all(&s, c);
    return sheet_end(&s, form, f, e);
}
