#include "analyze/write/sheet.h"

#include "libcommon/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void sheet_free(struct sheet *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->v[i].text);
        free(s->v[i].html);
    }
    free(s->v);
    *s = (struct sheet){0};
}

static void push(struct sheet *s, const struct sheet_entry *x)
{
    bool kept = !s->brief || x->when != SHEET_DETAIL;

    s->failed = s->failed || (kept && !mem_fit(&s->v, &s->cap, s->n + 1, NULL));
    if (s->failed || !kept)
        free(x->text);
    else
        s->v[s->n++] = *x;
}

static void __attribute__((format(printf, 4, 0)))
add(struct sheet *s, enum sheet_kind kind, enum text_style style, const char *fmt, va_list args)
{
    struct sheet_entry x = {.kind = kind, .when = s->when, .style = style};

    s->failed = s->failed || !mem_vformat(&x.text, NULL, fmt, args);
    push(s, &x);
}

/* An entry without a text. */
static void add_bare(struct sheet *s, enum sheet_kind kind, enum text_style style)
{
    push(s, &(struct sheet_entry){.kind = kind, .when = s->when, .style = style});
}

#define ADD(kind, style)                                                                           \
    do {                                                                                           \
        va_list args;                                                                              \
        va_start(args, fmt);                                                                       \
        add(s, kind, style, fmt, args);                                                            \
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

void sheet_table(struct sheet *s, const char *align, const char *title)
{
    size_t n = s->n;

    sheet_line(s, TEXT_HEADING, "%s", title);
    if (s->n == n)
        return;
    s->v[n].kind = SHEET_TABLE;
    s->v[n].align = align;
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

void sheet_markup(struct sheet *s, sheet_put *put, const void *ctx, size_t k)
{
    size_t n;
    FILE *f = s->failed ? NULL : open_memstream(&s->v[s->n - 1].html, &n);

    s->failed = f == NULL;
    if (s->failed)
        return;
    put(f, ctx, k);
    s->failed = ferror(f) != 0;
    s->failed |= fclose(f) != 0;
}

void sheet_gap(struct sheet *s)
{
    add_bare(s, SHEET_GAP, TEXT_PLAIN);
}

void sheet_fold_end(struct sheet *s)
{
    add_bare(s, SHEET_FOLD_END, TEXT_PLAIN);
}

size_t sheet_table_end(const struct sheet *s, size_t i)
{
    for (i++; i < s->n; i++)
        switch (s->v[i].kind) {
        case SHEET_HEADINGS:
        case SHEET_ROW:
        case SHEET_SPAN:
        case SHEET_CELL:
            break;
        default:
            return i;
        }
    return i;
}

void sheet_used_columns(const struct sheet *s, size_t i, bool verbose, bool used[SHEET_MAX_COLUMNS])
{
    const char *align = s->v[i].align;
    size_t n = strlen(align), end = sheet_table_end(s, i), column = n;

    memset(used, 0, SHEET_MAX_COLUMNS * sizeof *used);
    for (i++; i < end; i++) {
        const struct sheet_entry *x = &s->v[i];
        if (x->kind != SHEET_CELL)
            column = x->kind == SHEET_ROW && sheet_is_shown(x, verbose) ? 0 : n;
        else if (column < n && column < SHEET_MAX_COLUMNS) {
            used[column] |= (*x->text != '\0' || x->html != NULL) &&
                            (verbose || !isupper((unsigned char)align[column]));
            column++;
        }
    }
}
