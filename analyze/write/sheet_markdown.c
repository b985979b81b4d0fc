#include "analyze/write/sheet.h"
#include "libcommon/mem.h"
#include "libcommon/visible.h"

#include <ctype.h>
#include <string.h>

/* Text that may hold anything. */
static void put_text(FILE *f, const char *s)
{
    for (size_t step; (step = visible_step(s)) > 0; s += step) {
        if (visible_length(s) == 0)
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

/* The row below the headings, which says how columns are aligned. */
static void put_rule(FILE *f, const char *align, const bool *used)
{
    fputs("\n|", f);
    for (size_t c = 0; align[c] != '\0' && c < SHEET_MAX_COLUMNS; c++)
        if (used[c])
            fputs(tolower((unsigned char)align[c]) == 'r' ? "---:|" : "---|", f);
}

/* Returns the entry after the table. A row that spans others is their first cell. */
static size_t put_table(const struct sheet *s, size_t i, FILE *f)
{
    bool used[SHEET_MAX_COLUMNS], in_row = false;
    const char *align = sheet_more(&s->v[i]);
    size_t column = 0, end = sheet_table_end(s, i);
    enum sheet_kind row = SHEET_TABLE;

    sheet_used_columns(s, i, true, used);
    fputc('\n', f);
    if (*s->v[i].text != '\0') {
        fputs("**", f);
        put_text(f, s->v[i].text);
        fputs("**\n\n", f);
    }
    for (i++; i <= end; i++) {
        const struct sheet_entry *x = i < end ? &s->v[i] : NULL;
        if (x != NULL && x->kind == SHEET_CELL) {
            if (in_row && column < SHEET_MAX_COLUMNS && used[column]) {
                fputc(' ', f);
                put_text(f, x->text);
                fputs(" |", f);
            }
            column++;
            continue;
        }
        if (in_row && row == SHEET_HEADINGS)
            put_rule(f, align, used);
        fputs(in_row ? "\n" : "", f);
        if (x == NULL)
            break;
        row = x->kind;
        in_row = sheet_is_shown(x, true);
        column = 0;
        fputs(in_row ? "|" : "", f);
        if (in_row && row == SHEET_SPAN) {
            fputs(" **", f);
            put_text(f, x->text);
            fputs("** |", f);
        }
    }
    fputc('\n', f);
    return end;
}

bool sheet_write_markdown(const struct sheet *s, FILE *f, struct err *e)
{
    for (size_t i = 0; i < s->n;) {
        const struct sheet_entry *x = &s->v[i];
        bool shown = sheet_is_shown(x, true), strong = x->style == TEXT_WARNING;

        if (x->kind == SHEET_TABLE) {
            i = shown ? put_table(s, i, f) : sheet_table_end(s, i);
            continue;
        }
        i++;
        if (!shown || x->text == NULL)
            continue;
        fputs(x->kind == SHEET_TITLE ? "\n### " : x->kind == SHEET_ITEM ? "- " : "", f);
        fputs(strong ? "**" : "", f);
        put_text(f, x->text);
        fputs(strong ? "**" : "", f);
        fputs(x->kind == SHEET_ITEM ? "\n" : "\n\n", f);
    }
    return s->failed ? mem_none(e) : true;
}
