#include "analyze/write/html.h"
#include "analyze/write/sheet.h"
#include "libcommon/mem.h"
#include "libcommon/visible.h"

#include <ctype.h>
#include <string.h>

/* Writes any text, escaped for Markdown. */
static void put_text(FILE *f, const char *s)
{
    for (size_t step; (step = visible_step(s)) > 0; s += step) {
        const char *sign = html_sign(s);

        step += sign != NULL;
        if (sign != NULL)
            fputs(sign, f);
        else if (visible_length(s) == 0)
            for (size_t i = 0; i < step; i++)
                fprintf(f, "\\\\x%02x", (unsigned char)s[i]);
        else if (*s == '<')
            fputs("&lt;", f);
        else if (*s == '&')
            fputs("&amp;", f);
        else if (strchr("|\\`*_[]~", *s) != NULL)
            fprintf(f, "\\%c", *s);
        else
            fwrite(s, 1, step, f);
    }
}

/* Writes the table at entry i. Returns the entry after it. A row that is one text becomes the first
 * cell. */
static size_t put_table(const struct sheet *s, size_t i, FILE *f)
{
    struct sheet_rows t;

    if (!sheet_rows_begin(&t, s, i, true))
        return t.end;
    if (i == 0 || s->v[i - 1].kind != SHEET_LINE) /* a line ends with an empty one */
        fputc('\n', f);
    if (*s->v[i].text != '\0') {
        fputs("**", f);
        put_text(f, s->v[i].text);
        fputs("**\n\n", f);
    }
    while (sheet_rows_next(&t)) {
        fputc('|', f);
        if (t.row->kind == SHEET_SPAN) {
            fputs(" **", f);
            put_text(f, t.row->text);
            fputs("** |", f);
        }
        for (size_t c = 0; c < t.n_columns; c++)
            if (t.used[c] && t.cells[c] != NULL) {
                fputc(' ', f);
                put_text(f, t.cells[c]->text);
                fputs(" |", f);
            }
        fputs(t.row->kind == SHEET_HEADINGS ? "\n|" : "", f);
        for (size_t c = 0; t.row->kind == SHEET_HEADINGS && c < t.n_columns; c++)
            if (t.used[c])
                fputs(tolower((unsigned char)t.align[c]) == 'r' ? "---:|" : "---|", f);
        fputc('\n', f);
    }
    fputc('\n', f);
    return t.end;
}

bool sheet_write_markdown(const struct sheet *s, FILE *f, struct err *e)
{
    for (size_t i = 0; i < s->n;) {
        const struct sheet_entry *x = &s->v[i];
        bool shown = sheet_is_shown(x, !s->brief),
             strong = x->style >= TEXT_WARNING || x->kind == SHEET_VERDICT;

        if (x->kind == SHEET_TABLE) {
            i = put_table(s, i, f);
            continue;
        }
        i++;
        if (x->kind == SHEET_FOLD_END && shown)
            fputs("</details>\n", f);
        if (!shown || x->text == NULL)
            continue;
        if (x->kind == SHEET_FOLD) {
            fputs("<details><summary>", f);
            put_text(f, x->text);
            fputs("</summary>\n\n", f);
            continue;
        }
        fputs(x->kind == SHEET_TITLE ? "\n### " : x->kind == SHEET_ITEM ? "- " : "", f);
        fputs(strong ? "**" : "", f);
        put_text(f, x->text);
        fputs(strong ? "**" : "", f);
        if (sheet_more(x) != NULL && *sheet_more(x) != '\0') {
            fputc(' ', f);
            put_text(f, sheet_more(x));
        }
        fputs(x->kind == SHEET_ITEM ? "\n" : "\n\n", f);
    }
    return s->failed ? mem_none(e) : true;
}
