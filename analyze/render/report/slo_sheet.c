#include "analyze/render/report/slo_sheet.h"

#include <math.h>

static void put_answer(struct sheet *s, const struct slo_answer *a)
{
    const struct slo_measure *m = &a->measure;
    bool from = isfinite(m->lo), to = isfinite(m->hi);

    SHEET_ROW(s, a->verdict == SLO_MET ? TEXT_PLAIN : TEXT_WARNING, slo_verdict_names[a->verdict],
              *a->op != '\0' ? a->op : "all", a->of->text,
              m->known ? slo_value_text(a->of, m->value).s : "-");
    sheet_cell(s, "%s%s%s", from ? slo_value_text(a->of, m->lo).s : "",
               from && to ? " to "
               : from     ? " or more"
               : to       ? "up to "
                          : "-",
               to ? slo_value_text(a->of, m->hi).s : "");
    SHEET_CELLS(s, slo_why(a).s);
}

void slo_sheet(struct sheet *s, const struct slo_report *r)
{
    size_t n[3] = {0};
    bool response = false;

    if (r == NULL)
        return;
    for (size_t i = 0; i < r->n; i++)
        n[r->v[i].verdict]++;
    enum slo_verdict all = slo_verdict(r);
    sheet_line(s, all == SLO_MET ? TEXT_HEADING : TEXT_WARNING,
               "Assertions: %s (%zu met, %zu missed, %zu undecided)", slo_verdict_names[all],
               n[SLO_MET], n[SLO_MISSED], n[SLO_UNDECIDED]);
    sheet_table(s, "lllrlw", "");
    SHEET_HEADINGS(s, "", "Operation", "Assertion", "Measured", "95 % interval", "");
    for (size_t i = 0; i < r->n; i++) {
        put_answer(s, &r->v[i]);
        response |= r->v[i].of_response;
    }
    if (response)
        sheet_span(s, TEXT_FAINT, "p50 and the like: response times, from the intended start.");
    sheet_gap(s);
}
