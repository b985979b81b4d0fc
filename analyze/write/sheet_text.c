#include "analyze/write/sheet.h"
#include "libcommon/mem.h"

#include <ctype.h>
#include <string.h>

/* The text's own letters of those columns that are used. */
static void fill_align(char to[SHEET_MAX_COLUMNS + 1], const char *align, const bool *used)
{
    size_t n = 0;

    for (size_t c = 0; align[c] != '\0' && c < SHEET_MAX_COLUMNS; c++)
        if (used[c])
            to[n++] = tolower((unsigned char)align[c]) == 'r' ? 'r' : 'l';
    to[n] = '\0';
}

/* Texts that may be broken often stand below their row, and have no heading. */
static bool is_prose(char letter)
{
    return tolower((unsigned char)letter) == 'w';
}

/* Returns the entry after the table. */
static size_t put_table(const struct sheet *s, size_t i, struct text *out, bool verbose)
{
    bool used[SHEET_MAX_COLUMNS], shown = false, in_head = false;
    const char *letters = sheet_more(&s->v[i]);
    char align[SHEET_MAX_COLUMNS + 1];
    struct text_table t;
    size_t column = 0;

    sheet_used_columns(s, i, verbose, used);
    fill_align(align, letters, used);
    size_t end = sheet_table_end(s, i);
    if (*align == '\0')
        return end;
    if (*s->v[i].text != '\0') {
        text_blank(out);
        text_line(out, TEXT_HEADING, "%s:", s->v[i].text);
    }
    text_table_init(&t, out, align);
    for (i++; i < end; i++) {
        const struct sheet_entry *x = &s->v[i];
        if (x->kind == SHEET_CELL) {
            if (shown && column < SHEET_MAX_COLUMNS && used[column])
                text_table_cell(&t, "%s", in_head && is_prose(letters[column]) ? "" : x->text);
            column++;
            continue;
        }
        column = 0;
        in_head = x->kind == SHEET_HEADINGS;
        shown = sheet_is_shown(x, verbose);
        if (shown && x->kind == SHEET_SPAN)
            text_table_span(&t, x->style, "%s", x->text);
        else if (shown)
            text_table_row(&t, x->style);
    }
    text_table_put(&t);
    return end;
}

bool sheet_write_text(const struct sheet *s, struct text *out, bool verbose, struct err *e)
{
    for (size_t i = 0; i < s->n;) {
        const struct sheet_entry *x = &s->v[i];
        if (x->kind == SHEET_TABLE && sheet_is_shown(x, verbose)) {
            i = put_table(s, i, out, verbose);
            continue;
        }
        i = x->kind == SHEET_TABLE ? sheet_table_end(s, i) : i + 1;
        if (!sheet_is_shown(x, verbose))
            continue;
        if ((x->kind == SHEET_TITLE || x->kind == SHEET_GAP) && x > s->v)
            text_blank(out);
        if (x->kind == SHEET_TITLE)
            text_line(out, TEXT_FAINT, "----------------------------------------");
        if (x->kind == SHEET_TITLE || x->kind == SHEET_LINE || x->kind == SHEET_ITEM)
            text_line(out, x->style, "%s%s", x->kind == SHEET_ITEM ? " * " : "", x->text);
    }
    return s->failed || out->failed ? mem_none(e) : true;
}
