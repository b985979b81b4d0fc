#include "analyze/render/report/archive.h"

#include "analyze/write/csv.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

void archive_sheet_unread(struct sheet *s, const struct archive *a)
{
    if (a->n_unread > 0)
        sheet_line(s, TEXT_WARNING,
                   "%s could not be read:", units_counted((int64_t)a->n_unread, "file").s);
    for (size_t i = 0; i < a->n_unread; i++)
        sheet_item(s, TEXT_WARNING, "%s", a->unread[i].why);
}

static bool has_operations(const struct archive *a)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->runs[i].kept.n_ops > 0)
            return true;
    return false;
}

void archive_sheet_table(struct sheet *s, const void *table)
{
    const struct columns_table *t = table;
    char align[SHEET_MAX_COLUMNS + 1] = "";
    bool of_response = false;

    for (size_t i = 0; i < n_columns; i++) {
        bool is_left = columns[i].form == COLUMNS_TEXT || columns[i].form == COLUMNS_TIME;
        align[i] = columns[i].is_detail ? (is_left ? 'L' : 'R') : (is_left ? 'l' : 'r');
    }
    sheet_table(s, align, "");
    sheet_headings(s);
    for (size_t i = 0; i < n_columns; i++)
        sheet_cell(s, "%s", columns_title(&columns[i]));
    for (size_t k = 0; k < t->n; k++) {
        of_response |= t->rows[k].op->of_response;
        sheet_row(s, t->rows[k].run->kept.has_problem ? TEXT_WARNING : TEXT_PLAIN);
        for (size_t i = 0; i < n_columns; i++) {
            struct columns_value v = columns_get(&t->rows[k], &columns[i]);

            sheet_cell(s, "%s", columns_show(&columns[i], &v).s);
        }
    }
    if (t->n == 0)
        sheet_line(s, TEXT_PLAIN, "No operation of %s %s.",
                   units_counted((int64_t)t->archive->n, "run").s,
                   has_operations(t->archive) ? "meets --where" : "has a request left to analyse");
    if (of_response)
        sheet_line(s, TEXT_FAINT,
                   "Percentiles of runs at a fixed rate: response times, from the intended start");
    archive_sheet_unread(s, t->archive);
}

static void put_value(FILE *f, const struct column *c, const struct columns_value *v,
                      struct csv_out_style style)
{
    if (c->form == COLUMNS_TEXT) {
        csv_out_text(f, v->text != NULL ? v->text : "", style);
    } else if (c->form == COLUMNS_TIME) {
        fputs(rfc3339_format(v->time_ns).s, f);
    } else {
        csv_out_real(f, v->number.value);
    }
    if (c->form != COLUMNS_FIGURE)
        return;
    fputc(style.delimiter, f);
    csv_out_real(f, v->number.lo);
    fputc(style.delimiter, f);
    csv_out_real(f, v->number.hi);
}

bool archive_table_csv(const void *table, FILE *f, struct err *e)
{
    const struct columns_table *t = table;
    const struct csv_out_style style = {',', t->csv_safe};

    (void)e;
    for (size_t i = 0; i < n_columns; i++) {
        const char *name = columns_name(&columns[i]);

        fprintf(f, i > 0 ? ",%s" : "%s", name);
        if (columns[i].form == COLUMNS_FIGURE)
            fprintf(f, ",%s_lo,%s_hi", name, name);
    }
    fputc('\n', f);
    for (size_t k = 0; k < t->n; k++) {
        for (size_t i = 0; i < n_columns; i++) {
            struct columns_value v = columns_get(&t->rows[k], &columns[i]);

            if (i > 0)
                fputc(',', f);
            put_value(f, &columns[i], &v, style);
        }
        fputc('\n', f);
    }
    return true;
}
