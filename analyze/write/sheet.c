#include "analyze/write/sheet.h"

#include "libcommon/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES (64 << 10)

struct sheet_block {
    struct sheet_block *next;
    char text[];
};

void sheet_free(struct sheet *s)
{
    for (struct sheet_block *b = s->blocks, *next; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
    free(s->v);
    *s = (struct sheet){0};
}

/* Makes room for a text of n bytes. */
static bool make_room(struct sheet *s, size_t n)
{
    size_t n_text = n < BLOCK_BYTES ? BLOCK_BYTES : n;
    struct sheet_block *b = n <= s->n_room ? NULL : malloc(sizeof *b + n_text);

    if (n <= s->n_room)
        return true;
    if (b == NULL)
        return false;
    b->next = s->blocks;
    s->blocks = b;
    s->room = b->text;
    s->n_room = n_text;
    return true;
}

/* Formats a text into the sheet's memory. NULL: the sheet has failed. */
static const char *__attribute__((format(printf, 2, 0)))
keep(struct sheet *s, const char *fmt, va_list args)
{
    va_list again;

    va_copy(again, args);
    int n = vsnprintf(s->room, s->n_room, fmt, args);
    s->failed |= n < 0 || !make_room(s, (size_t)n + 1);
    if (!s->failed)
        vsnprintf(s->room, s->n_room, fmt, again);
    va_end(again);
    if (s->failed)
        return NULL;
    const char *text = s->room;
    s->room += n + 1;
    s->n_room -= (size_t)n + 1;
    return text;
}

/* Adds an entry without a text. False: nothing was added. */
static bool add_bare(struct sheet *s, enum sheet_kind kind, enum text_style style)
{
    if (s->brief && s->when == SHEET_DETAIL)
        return false;
    s->failed = s->failed || !mem_fit(&s->v, &s->cap, s->n + 1, NULL);
    if (!s->failed)
        s->v[s->n++] = (struct sheet_entry){.kind = kind, .when = s->when, .style = style};
    return !s->failed;
}

#define ADD(kind, style)                                                                           \
    do {                                                                                           \
        va_list args;                                                                              \
        va_start(args, fmt);                                                                       \
        if (add_bare(s, kind, style))                                                              \
            s->v[s->n - 1].text = keep(s, fmt, args);                                              \
        va_end(args);                                                                              \
    } while (0)

void sheet_title(struct sheet *s, const char *fmt, ...)
{
    ADD(SHEET_TITLE, TEXT_HEADING);
}

void sheet_line(struct sheet *s, enum text_style style, const char *fmt, ...)
{
    ADD(SHEET_LINE, style);
}

void sheet_item(struct sheet *s, enum text_style style, const char *fmt, ...)
{
    ADD(SHEET_ITEM, style);
}

enum text_style sheet_verdict_style(enum exit_code code)
{
    return code == EXIT_DONE ? TEXT_GOOD : code == EXIT_FAILED ? TEXT_ERROR : TEXT_WARNING;
}

void sheet_verdict(struct sheet *s, enum exit_code code, const char *fmt, ...)
{
    ADD(SHEET_VERDICT, sheet_verdict_style(code));
}

void sheet_cell(struct sheet *s, const char *fmt, ...)
{
    ADD(SHEET_CELL, TEXT_PLAIN);
}

void sheet_span(struct sheet *s, enum text_style style, const char *fmt, ...)
{
    ADD(SHEET_SPAN, style);
}

void sheet_fold(struct sheet *s, const char *fmt, ...)
{
    ADD(SHEET_FOLD, TEXT_PLAIN);
}

void sheet_headings(struct sheet *s)
{
    add_bare(s, SHEET_HEADINGS, TEXT_FAINT);
}

void sheet_row(struct sheet *s, enum text_style style)
{
    add_bare(s, SHEET_ROW, style);
}

void sheet_cells(struct sheet *s, const char *const *texts)
{
    for (; *texts != NULL; texts++)
        sheet_cell(s, "%s", *texts);
}

/* Gives the last entry both texts. */
static void __attribute__((format(printf, 2, 3))) keep_both(struct sheet *s, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    s->v[s->n - 1].text = keep(s, fmt, args);
    s->v[s->n - 1].has_more = true;
    va_end(args);
}

void sheet_headline(struct sheet *s, const char *bold, const char *rest)
{
    if (add_bare(s, SHEET_LINE, TEXT_WARNING))
        keep_both(s, "%s%c%s", bold, '\0', rest);
}

void sheet_table(struct sheet *s, const char *align, const char *title)
{
    if (add_bare(s, SHEET_TABLE, TEXT_HEADING))
        keep_both(s, "%s%c%s", title, '\0', align);
}

void sheet_markup(struct sheet *s, sheet_put *put, const void *ctx, size_t k)
{
    char *markup = NULL;
    size_t n;
    FILE *f = s->failed ? NULL : open_memstream(&markup, &n);

    s->failed = f == NULL;
    if (s->failed)
        return;
    put(f, ctx, k);
    s->failed = ferror(f) != 0;
    s->failed |= fclose(f) != 0 || markup == NULL;
    if (!s->failed)
        keep_both(s, "%s%c%s", s->v[s->n - 1].text, '\0', markup);
    free(markup);
}

void sheet_gap(struct sheet *s)
{
    const struct sheet_entry *last = s->n > 0 ? &s->v[s->n - 1] : NULL;

    if (last == NULL || last->kind != SHEET_GAP || last->when != s->when)
        add_bare(s, SHEET_GAP, TEXT_PLAIN);
}

void sheet_fold_end(struct sheet *s)
{
    add_bare(s, SHEET_FOLD_END, TEXT_PLAIN);
}

/* ---- Rows ---- */

static bool is_of_table(enum sheet_kind kind)
{
    return kind == SHEET_HEADINGS || kind == SHEET_ROW || kind == SHEET_SPAN || kind == SHEET_CELL;
}

bool sheet_rows_next(struct sheet_rows *t)
{
    const struct sheet_entry *v = t->s->v;

    while (t->next < t->end) {
        t->row = &v[t->next++];
        memset(t->cells, 0, sizeof t->cells);
        for (size_t c = 0; t->next < t->end && v[t->next].kind == SHEET_CELL; c++, t->next++)
            if (c < t->n_columns)
                t->cells[c] = &v[t->next];
        if (sheet_is_shown(t->row, t->verbose))
            return true;
    }
    return false;
}

bool sheet_rows_begin(struct sheet_rows *t, const struct sheet *s, size_t i, bool verbose)
{
    *t = (struct sheet_rows){
        .s = s, .align = sheet_more(&s->v[i]), .verbose = verbose, .next = i + 1, .end = i + 1};
    t->n_columns = strnlen(t->align, SHEET_MAX_COLUMNS);
    while (t->end < s->n && is_of_table(s->v[t->end].kind))
        t->end++;
    while (sheet_rows_next(t))
        for (size_t c = 0; t->row->kind == SHEET_ROW && c < t->n_columns; c++)
            t->used[c] |= t->cells[c] != NULL &&
                          (*t->cells[c]->text != '\0' || t->cells[c]->has_more) &&
                          (verbose || !isupper((unsigned char)t->align[c]));
    for (size_t c = 0; c < t->n_columns; c++)
        t->n_used += t->used[c];
    t->next = i + 1;
    return t->n_used > 0 && sheet_is_shown(&s->v[i], verbose);
}
