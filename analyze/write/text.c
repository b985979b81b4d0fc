#include "analyze/write/text.h"

#include "libcommon/mem.h"
#include "libcommon/utf8.h"
#include "libcommon/visible.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct text_cell {
    char *s; /* cleaned; NULL: empty */
    size_t width;
    bool spans; /* the only cell of its row; does not widen a column */
};

bool text_wants_colour(FILE *f)
{
    const char *no_color = getenv("NO_COLOR"); /* set to anything but "": https://no-color.org */
    const char *term = getenv("TERM");
    return (!no_color || !*no_color) && (!term || strcmp(term, "dumb") != 0) && isatty(fileno(f));
}

/* Returns the columns of a line. */
static size_t line_width(struct text *t)
{
    struct winsize size;
    if (t->width == 0) {
        t->width = TEXT_WIDTH;
        if (isatty(fileno(t->f)) && ioctl(fileno(t->f), TIOCGWINSZ, &size) == 0 &&
            size.ws_col > TEXT_WIDTH)
            t->width = size.ws_col;
    }
    return t->width;
}

static char *format_clean(const char *fmt, va_list args, size_t *width)
{
    char *raw;
    if (!mem_vformat(&raw, NULL, fmt, args))
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

/* Returns the number of characters in the first n bytes of a cleaned text. */
static size_t width_of(const char *s, size_t n)
{
    size_t width = 0;
    for (size_t i = 0; i < n; i++)
        width += !utf8_goes_on(s[i]);
    return width;
}

/* A number and the sign of percent behind it are one word. */
static size_t word_length(const char *s)
{
    size_t n = strcspn(s, " ");
    return strncmp(s + n, " %", 2) == 0 ? n + 1 + strcspn(s + n + 1, " ") : n;
}

/* Prints a text from column `at` on and wraps it at blanks; further lines begin at column `indent`.
 * A word longer than a line stays whole, so that paths and servers' messages can be copied. */
static void put_wrapped(struct text *t, const char *s, size_t at, size_t indent)
{
    size_t limit = line_width(t);
    FILE *f = t->f;
    size_t blanks = strspn(s, " ");
    bool fresh = true; /* nothing but the indentation is on the line */
    while (s[blanks] != '\0') {
        size_t n = word_length(s + blanks), width = width_of(s + blanks, n);

        if (!fresh && at + blanks + width > limit) {
            fprintf(f, "\n%*s", (int)indent, "");
            at = indent;
            blanks = strspn(s, " ");
            s += blanks;
            blanks = 0;
        }
        fprintf(f, "%*s%.*s", (int)blanks, "", (int)n, s + blanks);
        at += blanks + width;
        s += blanks + n;
        blanks = strspn(s, " ");
        fresh = false;
    }
}

/* Returns the column where a wrapped line continues: two columns further in, after an item's mark.
 */
static size_t hanging_indent(const char *s)
{
    return strspn(s, " ") + 2;
}

void text_line(struct text *t, enum text_style style, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *s = format_clean(fmt, args, NULL);
    va_end(args);
    if (!s) {
        t->failed = true;
        return;
    }
    begin_style(t, style);
    put_wrapped(t, s, 0, hanging_indent(s));
    end_style(t, style);
    fputc('\n', t->f);
    free(s);
}

void text_blank(struct text *t)
{
    fputc('\n', t->f);
}

void text_table_init(struct text_table *t, struct text *out, const char *align)
{
    *t = (struct text_table){.out = out, .align = align};
}

static void add_cell(struct text_table *t, struct text_cell cell)
{
    if (!mem_fit(&t->cells, &t->cap, t->n_cells + 1, NULL)) {
        t->out->failed = true;
        free(cell.s);
        return;
    }
    t->cells[t->n_cells++] = cell;
}

/* Fills the current row with empty cells. */
static void end_row(struct text_table *t)
{
    while (!t->out->failed && t->n_cells < t->n_rows * strlen(t->align))
        add_cell(t, (struct text_cell){0});
}

void text_table_row(struct text_table *t, enum text_style style)
{
    end_row(t);
    if (mem_fit(&t->styles, &t->cap_rows, t->n_rows + 1, NULL))
        t->styles[t->n_rows++] = style;
    else
        t->out->failed = true;
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

/* The layout of one part of a table: the first column, and the columns [first, last) beside it. */
struct layout {
    const size_t *widths;
    size_t gap;         /* blanks between columns */
    size_t first, last; /* the columns of this part */
    size_t prose;       /* the column that wraps; n_columns: none */
    size_t prose_at;    /* where that column begins; 0: on a line of its own */
};

/* A column that wraps stays beside the others only if it has this much room. */
#define MIN_PROSE    24
/* Otherwise it begins on a line of its own, indented by this. */
#define BELOW_INDENT 5
/* Room for the other columns beside a long first column. */
#define MIN_BESIDE   40

/* Prints a row. Holds blanks back until something follows them, so that no line ends with a blank.
 */
static void put_row(const struct text_table *t, size_t row, const struct layout *l)
{
    size_t n_columns = strlen(t->align);
    const struct text_cell *cells = t->cells + row * n_columns;
    size_t blanks = 0;

    begin_style(t->out, t->styles[row]);
    if (cells[0].spans) {
        put_wrapped(t->out, cells[0].s, 0, hanging_indent(cells[0].s));
    } else {
        for (size_t c = 0; c < n_columns; c++) {
            if ((c > 0 && (c < l->first || c >= l->last)) || l->widths[c] == 0)
                continue;
            if (c > 0)
                blanks += l->gap;
            if (c == l->prose && cells[c].width > 0 && l->prose_at == 0) {
                fprintf(t->out->f, "\n%*s", BELOW_INDENT, "");
                put_wrapped(t->out, cells[c].s, BELOW_INDENT, BELOW_INDENT);
                continue;
            }
            size_t pad = l->widths[c] - cells[c].width;
            if (t->align[c] == 'r') {
                blanks += pad;
                pad = 0;
            }
            if (cells[c].width > 0) {
                fprintf(t->out->f, "%*s", (int)blanks, "");
                if (c == l->prose)
                    put_wrapped(t->out, cells[c].s, l->prose_at, l->prose_at);
                else
                    fputs(cells[c].s, t->out->f);
                blanks = 0;
            }
            blanks += pad;
        }
    }
    end_style(t->out, t->styles[row]);
    fputc('\n', t->out->f);
}

static size_t width_up_to(const size_t *widths, size_t n, size_t gap)
{
    size_t width = 0;
    for (size_t c = 0; c < n; c++)
        width += widths[c] > 0 ? widths[c] + (c > 0 ? gap : 0) : 0;
    return width;
}

/* Returns the end of the part that begins with column `first`: as many columns as fit into `limit`,
 * at least one. */
static size_t part_end(const struct layout *l, size_t n, size_t first, size_t limit)
{
    size_t c = first;
    for (size_t width = l->widths[0]; c < n; c++) {
        width += l->widths[c] > 0 && c != l->prose ? l->widths[c] + l->gap : 0;
        if (c > first && width > limit)
            break;
    }
    return c;
}

static size_t count_parts(const struct layout *l, size_t n, size_t limit)
{
    size_t n_parts = 0;
    for (size_t c = 1; c < n; n_parts++)
        c = part_end(l, n, c, limit);
    return n_parts;
}

/* Prints all rows. If the table is too wide, first wraps the last column, then narrows the gaps
 * between columns, then splits the table into parts of about the same width. Each part repeats the
 * first column. */
static void put_rows(const struct text_table *t, const size_t *widths)
{
    size_t n = strlen(t->align), line = line_width(t->out), limit = line;
    struct layout l = {.widths = widths, .gap = 2, .prose = n};

    while (n > 1 && widths[n - 1] == 0)
        n--;
    if (n > 1 && t->align[n - 1] == 'l' && width_up_to(widths, n, 2) > line) {
        size_t fixed = width_up_to(widths, n - 1, 2);
        l.prose = n - 1;
        l.prose_at = fixed + 2 + MIN_PROSE <= line ? fixed + 2 : 0;
    }
    if (limit < widths[0] + MIN_BESIDE)
        limit = widths[0] + MIN_BESIDE;
    if (count_parts(&l, n, limit) > 1) {
        l.gap = 1;
        size_t n_parts = count_parts(&l, n, limit);
        if (n_parts > 1) {
            l.gap = 2;
            n_parts = count_parts(&l, n, limit);
            while (limit > 1 && count_parts(&l, n, limit - 1) == n_parts)
                limit--;
        }
    }
    size_t first = 1;
    do {
        l.first = first;
        l.last = part_end(&l, n, first, limit);
        for (size_t row = 0; row < t->n_rows; row++)
            put_row(t, row, &l);
        first = l.last;
    } while (first < n);
}

void text_table_put(struct text_table *t)
{
    size_t n_columns = strlen(t->align);
    size_t *widths;

    end_row(t);
    if (!mem_cleared(&widths, n_columns, NULL))
        t->out->failed = true;
    if (!t->out->failed) {
        for (size_t i = 0; i < t->n_cells; i++) {
            size_t *width = &widths[i % n_columns];
            if (!t->cells[i].spans && t->cells[i].width > *width)
                *width = t->cells[i].width;
        }
        put_rows(t, widths);
    }
    for (size_t i = 0; i < t->n_cells; i++)
        free(t->cells[i].s);
    free(t->cells);
    free(t->styles);
    free(widths);
    *t = (struct text_table){.out = t->out, .align = t->align};
}
