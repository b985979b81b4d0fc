#include "analyze/write/sheet.h"
#include "libcommon/mem.h"

#include <ctype.h>

/* Writes the table at entry i. Returns the entry after it. A column that may wrap (align w) gets no
 * heading, since its texts often stand below their row. */
static size_t put_table(const struct sheet *s, size_t i, struct text *out, bool verbose)
{
    char align[SHEET_MAX_COLUMNS + 1] = "";
    struct text_table table;
    struct sheet_rows t;
    size_t n = 0;

    if (!sheet_rows_begin(&t, s, i, verbose))
        return t.end;
    for (size_t c = 0; c < t.n_columns; c++)
        if (t.used[c])
            align[n++] = tolower((unsigned char)t.align[c]) == 'r' ? 'r' : 'l';
    if (*s->v[i].text != '\0') {
        text_blank(out);
        text_line(out, TEXT_HEADING, "%s:", s->v[i].text);
    }
    text_table_init(&table, out, align);
    while (sheet_rows_next(&t)) {
        if (t.row->kind == SHEET_SPAN) {
            text_table_span(&table, t.row->style, "%s", t.row->text);
            continue;
        }
        text_table_row(&table, t.row->style);
        for (size_t c = 0; c < t.n_columns && t.cells[c] != NULL; c++)
            if (t.used[c])
                text_table_cell(
                    &table, "%s",
                    t.row->kind == SHEET_HEADINGS && t.align[c] == 'w' ? "" : t.cells[c]->text);
    }
    text_table_put(&table);
    return t.end;
}

bool sheet_write_text(const struct sheet *s, struct text *out, bool verbose, struct err *e)
{
    for (size_t i = 0; i < s->n;) {
        const struct sheet_entry *x = &s->v[i];
        if (x->kind == SHEET_TABLE) {
            i = put_table(s, i, out, verbose);
            continue;
        }
        i++;
        if (!sheet_is_shown(x, verbose))
            continue;
        if ((x->kind == SHEET_TITLE || x->kind == SHEET_GAP) && x > s->v)
            text_blank(out);
        if (x->kind == SHEET_TITLE && x > s->v)
            text_line(out, TEXT_FAINT, "----------------------------------------");
        if (x->kind == SHEET_TITLE || x->kind == SHEET_LINE || x->kind == SHEET_ITEM)
            text_line(out, x->style, "%s%s", x->kind == SHEET_ITEM ? " * " : "", x->text);
    }
    return s->failed || out->failed ? mem_none(e) : true;
}

bool sheet_end(struct sheet *s, const struct sheet_form *form, FILE *f, struct err *e)
{
    struct text out = {.f = f, .colour = form->colour};
    bool ok = form->markdown ? sheet_write_markdown(s, f, e)
                             : sheet_write_text(s, &out, form->verbose, e);

    sheet_free(s);
    return ok;
}
