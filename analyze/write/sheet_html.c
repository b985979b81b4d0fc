#include "analyze/write/html.h"
#include "analyze/write/sheet.h"
#include "libcommon/mem.h"

#include <ctype.h>

/* The CSS class of page.css for each style. */
static const char *const classes[] = {[TEXT_PLAIN] = "",
                                      [TEXT_HEADING] = "",
                                      [TEXT_FAINT] = " class=\"faint\"",
                                      [TEXT_GOOD] = " class=\"good\"",
                                      [TEXT_WARNING] = " class=\"warned\"",
                                      [TEXT_ERROR] = " class=\"bad\""};

/* Verdicts are told by a sign, words and a colour, none of them alone. */
static const char *const verdicts[] = {[TEXT_GOOD] = "<p class=\"badge good\">\xe2\x9c\x93 ",
                                       [TEXT_WARNING] = "<p class=\"badge doubt\">\xe2\x9a\xa0 ",
                                       [TEXT_ERROR] = "<p class=\"badge bad\">\xe2\x9c\x97 "};

/* Writes a table's id. Each run of characters that are no letters or digits becomes a hyphen. */
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

static void put_caption(FILE *f, const char *section, const char *caption)
{
    fputs("<div class=\"scroll\" tabindex=\"0\"><table", f);
    if (*caption == '\0') {
        fputc('>', f);
        return;
    }
    fputs(" id=\"", f);
    put_id(f, section, caption);
    html_within(f, "\"><caption>", caption, " <a class=\"self\" href=\"#");
    put_id(f, section, caption);
    fputs("\" aria-label=\"Link to this table\">#</a></caption>", f);
}

/* Writes a cell; `scope` says what it is the heading of, "": of nothing. The class of a column of
 * details, which has a capital letter, is "more". */
static void put_cell(FILE *f, const struct sheet_entry *x, const char *scope, char align)
{
    int kind = tolower((unsigned char)align);
    bool heads = *scope != '\0' && x != NULL && *x->text != '\0', is_more = kind != align;
    const char *css = kind == 'w'   ? "l wrap"
                      : kind != 'r' ? (is_more ? "l more" : "l")
                                    : (is_more ? "more" : "");

    if (heads)
        fprintf(f, "<th scope=\"%s\"", scope);
    else
        fputs("<td", f);
    if (*css != '\0')
        fprintf(f, " class=\"%s\"", css);
    fputc('>', f);
    if (x != NULL)
        html_within(f, "", x->has_more ? "" : x->text, x->has_more ? sheet_more(x) : "");
    fputs(heads ? "</th>" : "</td>", f);
}

/* Writes the table at entry i. Returns the entry after it. */
static size_t put_table(const struct sheet *s, size_t i, FILE *f, const char *section)
{
    struct sheet_rows t;

    if (!sheet_rows_begin(&t, s, i, true))
        return t.end;
    put_caption(f, section, s->v[i].text);
    while (sheet_rows_next(&t)) {
        bool is_head = t.row->kind == SHEET_HEADINGS;

        if (t.row->kind == SHEET_SPAN) {
            bool heads = t.row->style == TEXT_HEADING;
            fprintf(
                f, heads ? "<tr><th scope=\"colgroup\" colspan=\"%zu\"" : "<tr><td colspan=\"%zu\"",
                t.n_used);
            html_within(f, " class=\"l\">", t.row->text, heads ? "</th></tr>\n" : "</td></tr>\n");
            continue;
        }
        fprintf(f, is_head ? "<thead><tr>" : "<tr%s>", classes[t.row->style]);
        for (size_t c = 0; c < t.n_columns; c++) {
            bool heads = c == 0 && tolower((unsigned char)t.align[c]) != 'r';

            if (t.used[c])
                put_cell(f, t.cells[c], is_head ? "col" : heads ? "row" : "", t.align[c]);
        }
        fputs(is_head ? "</tr></thead><tbody>\n" : "</tr>\n", f);
    }
    fputs("</tbody></table></div>\n", f);
    return t.end;
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
            i = put_table(s, i, f, section);
            continue;
        }
        i++;
        if (!shown)
            continue;
        if (x->kind == SHEET_TITLE)
            put_text(f, "h3", x);
        else if (x->kind == SHEET_VERDICT)
            html_within(f, verdicts[x->style], x->text, "</p>\n");
        else if (x->kind == SHEET_LINE)
            put_text(f, "p", x);
        else if (x->kind == SHEET_ITEM)
            put_text(f, "li", x);
        else if (x->kind == SHEET_FOLD)
            html_fold(f, NULL, x->text);
        else if (x->kind == SHEET_FOLD_END)
            html_fold_end(f);
    }
    fputs(in_list ? "</ul>\n" : "", f);
    return s->failed ? mem_none(e) : true;
}
