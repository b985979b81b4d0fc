#include "text.h"

#include "visible.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct text_cell {
    char *s; /* cleaned; NULL: empty */
    size_t width;
    bool spans; /* counts for no column */
};

bool text_wants_colour(FILE *f)
{
    const char *no_color = getenv("NO_COLOR"); /* set to anything but "": https://no-color.org */
    const char *term = getenv("TERM");
    return (!no_color || !*no_color) && (!term || strcmp(term, "dumb") != 0) && isatty(fileno(f));
}

static char *format_clean(const char *fmt, va_list args, size_t *width)
{
    char *raw = NULL;
    if (vasprintf(&raw, fmt, args) < 0)
        return NULL;
    char *s = visible_copy(raw, width);
    free(raw);
    return s;
}

static void begin_style(const struct text *t, enum text_style style)
{
    static const char *const codes[] = {
        [TEXT_HEADING] = "\033[1m",
        [TEXT_FAINT] = "\033[2m",
        [TEXT_WARNING] = "\033[33m",
        [TEXT_ERROR] = "\033[31m",
    };
    if (t->colour && style != TEXT_PLAIN)
        fputs(codes[style], t->f);
}

static void end_style(const struct text *t, enum text_style style)
{
    if (t->colour && style != TEXT_PLAIN)
        fputs("\033[0m", t->f);
}

void text_line(struct text *t, enum text_style style, const char *fmt, ...)
{
    va_list args;
    size_t width;
    va_start(args, fmt);
    char *s = format_clean(fmt, args, &width);
    va_end(args);
    if (!s) {
        t->failed = true;
        return;
    }
    begin_style(t, style);
    fputs(s, t->f);
    end_style(t, style);
    fputc('\n', t->f);
    free(s);
}

void text_table_init(struct text_table *t, struct text *out, const char *align)
{
    *t = (struct text_table){.out = out, .align = align};
}

static void add_cell(struct text_table *t, struct text_cell cell)
{
    if (t->n_cells == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 64;
        struct text_cell *cells = reallocarray(t->cells, cap, sizeof(*cells));
        if (!cells) {
            t->out->failed = true;
            free(cell.s);
            return;
        }
        t->cells = cells;
        t->cap = cap;
    }
    t->cells[t->n_cells++] = cell;
}

/* Fills the open row up. */
static void end_row(struct text_table *t)
{
    while (!t->out->failed && t->n_cells < t->n_rows * strlen(t->align))
        add_cell(t, (struct text_cell){0});
}

void text_table_row(struct text_table *t, enum text_style style)
{
    end_row(t);
    if (t->n_rows == t->cap_rows) {
        size_t cap = t->cap_rows ? 2 * t->cap_rows : 16;
        enum text_style *styles = reallocarray(t->styles, cap, sizeof(*styles));
        if (!styles) {
            t->out->failed = true;
            return;
        }
        t->styles = styles;
        t->cap_rows = cap;
    }
    t->styles[t->n_rows++] = style;
}

static void format_cell(struct text_table *t, bool spans, const char *fmt, va_list args)
{
    struct text_cell cell = {.spans = spans};
    if (t->out->failed)
        return;
    cell.s = format_clean(fmt, args, &cell.width);
    if (!cell.s)
        t->out->failed = true;
    else
        add_cell(t, cell);
}

void text_table_cell(struct text_table *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    format_cell(t, false, fmt, args);
    va_end(args);
}

void text_table_span(struct text_table *t, enum text_style style, const char *fmt, ...)
{
    va_list args;
    text_table_row(t, style);
    va_start(args, fmt);
    format_cell(t, true, fmt, args);
    va_end(args);
}

/* Prints a row; blanks wait until something follows them, so that no line ends with one. */
static void put_row(const struct text_table *t, size_t row, const size_t *widths)
{
    size_t n_columns = strlen(t->align);
    const struct text_cell *cells = t->cells + row * n_columns;
    size_t blanks = 0;
    begin_style(t->out, t->styles[row]);
    for (size_t c = 0; c < n_columns; c++) {
        size_t pad = cells[c].spans ? 0 : widths[c] - cells[c].width;
        if (widths[c] == 0 && !cells[c].spans)
            continue;
        if (c > 0)
            blanks += 2;
        if (t->align[c] == 'r' && !cells[c].spans) {
            blanks += pad;
            pad = 0;
        }
        if (cells[c].width > 0) {
            fprintf(t->out->f, "%*s%s", (int)blanks, "", cells[c].s);
            blanks = 0;
        }
        blanks += pad;
    }
    end_style(t->out, t->styles[row]);
    fputc('\n', t->out->f);
}

void text_table_put(struct text_table *t)
{
    size_t n_columns = strlen(t->align);
    size_t *widths = calloc(n_columns, sizeof(*widths));
    end_row(t);
    if (!widths)
        t->out->failed = true;
    if (!t->out->failed) {
        for (size_t i = 0; i < t->n_cells; i++) {
            size_t *width = &widths[i % n_columns];
            if (!t->cells[i].spans && t->cells[i].width > *width)
                *width = t->cells[i].width;
        }
        for (size_t row = 0; row < t->n_rows; row++)
            put_row(t, row, widths);
    }
    for (size_t i = 0; i < t->n_cells; i++)
        free(t->cells[i].s);
    free(t->cells);
    free(t->styles);
    free(widths);
    *t = (struct text_table){.out = t->out, .align = t->align};
}
