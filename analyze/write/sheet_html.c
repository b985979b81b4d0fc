#include "analyze/write/html.h"
#include "analyze/write/sheet.h"
#include "libcommon/mem.h"

#include <ctype.h>
#include <string.h>

/* The classes of page.css by style. */
static const char *const classes[] = {[TEXT_PLAIN] = "",
                                      [TEXT_HEADING] = " class=\"good\"",
                                      [TEXT_FAINT] = " class=\"faint\"",
                                      [TEXT_WARNING] = " class=\"warned\"",
                                      [TEXT_ERROR] = " class=\"bad\""};

static void put_headings(const struct sheet *s, size_t i, size_t end, FILE *f, const char *section,
                         const bool *used)
{
    const char *names[SHEET_MAX_COLUMNS], *caption = s->v[i].text, *align = s->v[i].align;
    char letters[SHEET_MAX_COLUMNS + 1];
    size_t n = 0, head = i + 1;

    while (head < end && s->v[head].kind != SHEET_HEADINGS)
        head++;
    for (size_t c = 0; align[c] != '\0' && c < SHEET_MAX_COLUMNS; c++) {
        size_t cell = head + 1 + c;
        if (!used[c])
            continue;
        names[n] = cell < end && s->v[cell].kind == SHEET_CELL ? s->v[cell].text : "";
        letters[n++] = tolower((unsigned char)align[c]) == 'r' ? 'r' : 'l';
    }
    letters[n] = '\0';
    html_table(f, section, caption, names, letters);
}

static void put_cell(FILE *f, const struct sheet_entry *x, size_t column, char align)
{
    if (x->html != NULL)
        fprintf(f,
                column == 0    ? "<th scope=\"row\" class=\"l\">%s</th>"
                : align == 'r' ? "<td>%s</td>"
                               : "<td class=\"l\">%s</td>",
                x->html);
    else if (column == 0)
        html_name(f, x->text);
    else if (align == 'r')
        html_cell(f, "%s", x->text);
    else if (align == 'w')
        html_cell_wrapped(f, x->text);
    else
        html_cell_text(f, x->text);
}

/* Returns the entry after the table. */
static size_t put_table(const struct sheet *s, size_t i, FILE *f, const char *section)
{
    bool used[SHEET_MAX_COLUMNS], in_row = false;
    const char *align = s->v[i].align;
    size_t n = strlen(align), column = 0, end = sheet_table_end(s, i), n_used = 0;

    sheet_used_columns(s, i, true, used);
    for (size_t c = 0; c < n; c++)
        n_used += used[c];
    if (n_used == 0)
        return end;
    put_headings(s, i, end, f, section, used);
    for (i++; i < end; i++) {
        const struct sheet_entry *x = &s->v[i];
        if (x->kind == SHEET_CELL) {
            if (in_row && column < n && used[column])
                put_cell(f, x, column, (char)tolower((unsigned char)align[column]));
            column++;
            continue;
        }
        if (in_row)
            html_row_end(f);
        in_row = x->kind == SHEET_ROW && sheet_is_shown(x, true);
        column = 0;
        if (in_row) {
            fprintf(f, "<tr%s>", classes[x->style]);
        } else if (x->kind == SHEET_SPAN && sheet_is_shown(x, true)) {
            fprintf(f, "<tr><th colspan=\"%zu\" class=\"l\">", n_used);
            html_text(f, x->text);
            fputs("</th></tr>\n", f);
        }
    }
    if (in_row)
        html_row_end(f);
    html_table_end(f);
    return end;
}

static void put_text(FILE *f, const char *tag, const struct sheet_entry *x)
{
    fprintf(f, "<%s%s>", tag, x->kind == SHEET_TITLE ? "" : classes[x->style]);
    html_text(f, x->text);
    fprintf(f, "</%s>\n", tag);
}

bool sheet_write_html(const struct sheet *s, FILE *f, const char *section, struct err *e)
{
    bool in_list = false;

    for (size_t i = 0; i < s->n;) {
        const struct sheet_entry *x = &s->v[i];
        bool shown = sheet_is_shown(x, true);

        if (in_list != (shown && x->kind == SHEET_ITEM))
            fputs(in_list ? "</ul>\n" : "<ul>\n", f);
        in_list = shown && x->kind == SHEET_ITEM;
        if (x->kind == SHEET_TABLE) {
            i = shown ? put_table(s, i, f, section) : sheet_table_end(s, i);
            continue;
        }
        i++;
        if (!shown)
            continue;
        if (x->kind == SHEET_TITLE)
            put_text(f, "h3", x);
        else if (x->kind == SHEET_LINE)
            put_text(f, "p", x);
        else if (x->kind == SHEET_ITEM)
            put_text(f, "li", x);
        else if (x->kind == SHEET_FOLD)
            html_fold(f, x->text);
        else if (x->kind == SHEET_FOLD_END)
            html_fold_end(f);
    }
    fputs(in_list ? "</ul>\n" : "", f);
    return s->failed ? mem_none(e) : true;
}
