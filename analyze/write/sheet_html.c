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

/* Letters and digits; whatever is between them becomes one hyphen. */
static void put_id(FILE *f, const char *section, const char *caption)
{
    bool word = false;

    fprintf(f, "%s-", section);
    for (const char *s = caption; *s != '\0' && *s != ',' && *s != '.'; s++) {
        bool letter = (*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9');
        bool capital = *s >= 'A' && *s <= 'Z';

        if (letter || capital)
            fputc(capital ? *s - 'A' + 'a' : *s, f);
        else if (word)
            fputc('-', f);
        word = letter || capital;
    }
}

static void put_headings(const struct sheet *s, size_t i, size_t end, FILE *f, const char *section,
                         const bool *used)
{
    const char *caption = s->v[i].text, *align = sheet_more(&s->v[i]);
    size_t head = i + 1;

    while (head < end && s->v[head].kind != SHEET_HEADINGS)
        head++;
    fputs("<div class=\"scroll\" tabindex=\"0\"><table id=\"", f);
    put_id(f, section, caption);
    html_within(f, "\"><caption>", caption, " <a class=\"self\" href=\"#");
    put_id(f, section, caption);
    fputs("\" aria-label=\"Link to this table\">#</a></caption><thead><tr>", f);
    for (size_t c = 0; align[c] != '\0' && c < SHEET_MAX_COLUMNS; c++) {
        size_t cell = head + 1 + c;
        if (!used[c])
            continue;
        if (cell >= end || s->v[cell].kind != SHEET_CELL || *s->v[cell].text == '\0')
            fputs("<td></td>", f);
        else
            html_within(f,
                        tolower((unsigned char)align[c]) == 'r' ? "<th scope=\"col\">"
                                                                : "<th scope=\"col\" class=\"l\">",
                        s->v[cell].text, "</th>");
    }
    fputs("</tr></thead><tbody>\n", f);
}

/* A text on the left of a row is its heading. */
static void put_cell(FILE *f, const struct sheet_entry *x, size_t column, char align)
{
    bool heads = column == 0 && align != 'r';
    const char *tag = heads          ? "<th scope=\"row\" class=\"l\">"
                      : align == 'r' ? "<td>"
                      : align == 'w' ? "<td class=\"l wrap\">"
                                     : "<td class=\"l\">";

    if (x->has_more)
        fprintf(f, "%s%s%s", tag, sheet_more(x), heads ? "</th>" : "</td>");
    else
        html_within(f, tag, x->text, heads ? "</th>" : "</td>");
}

/* With empty cells in place of the last ones of n, from `column` on, that the row does not have. */
static void end_row(FILE *f, const bool *used, size_t column, size_t n)
{
    for (; column < n; column++)
        fputs(used[column] ? "<td></td>" : "", f);
    fputs("</tr>\n", f);
}

/* Returns the entry after the table. */
static size_t put_table(const struct sheet *s, size_t i, FILE *f, const char *section)
{
    bool used[SHEET_MAX_COLUMNS], in_row = false;
    const char *align = sheet_more(&s->v[i]);
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
            end_row(f, used, column, n);
        in_row = x->kind == SHEET_ROW && sheet_is_shown(x, true);
        column = 0;
        if (in_row) {
            fprintf(f, "<tr%s>", classes[x->style]);
        } else if (x->kind == SHEET_SPAN && sheet_is_shown(x, true)) {
            fprintf(f, "<tr><th colspan=\"%zu\"", n_used);
            html_within(f, " class=\"l\">", x->text, "</th></tr>\n");
        }
    }
    if (in_row)
        end_row(f, used, column, n);
    fputs("</tbody></table></div>\n", f);
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
