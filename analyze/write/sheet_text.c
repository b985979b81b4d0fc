#include "analyze/write/sheet.h"

#include "libcommon/mem.h"
#include "libcommon/utf8.h"
#include "libcommon/visible.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The width of a line, in columns, unless the terminal is wider. */
#define LINE_WIDTH 80

/* Where text goes. Anything printed may come from a capture, so control characters are shown as
 * \xNN (visible.h). */
struct out {
    FILE *f;
    bool colour, failed;
    size_t width; /* of a line */
};

bool sheet_wants_colour(FILE *f)
{
    const char *no_color = getenv("NO_COLOR"); /* set to anything but "": https://no-color.org */
    const char *term = getenv("TERM");
    return (!no_color || !*no_color) && (!term || strcmp(term, "dumb") != 0) && isatty(fileno(f));
}

/* Returns the columns of a line. */
static size_t line_width(FILE *f)
{
    struct winsize size;
    bool is_wider =
        isatty(fileno(f)) && ioctl(fileno(f), TIOCGWINSZ, &size) == 0 && size.ws_col > LINE_WIDTH;

    return is_wider ? size.ws_col : LINE_WIDTH;
}

static void begin_style(const struct out *o, enum text_style style)
{
    static const char *const codes[] = {
        [TEXT_HEADING] = "\033[1m",  [TEXT_FAINT] = "\033[2m",    [TEXT_GOOD] = "\033[1;32m",
        [TEXT_WARNING] = "\033[33m", [TEXT_ERROR] = "\033[1;31m",
    };
    if (o->colour && style != TEXT_PLAIN)
        fputs(codes[style], o->f);
}

static void end_style(const struct out *o, enum text_style style)
{
    if (o->colour && style != TEXT_PLAIN)
        fputs("\033[0m", o->f);
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
static void put_wrapped(struct out *o, const char *s, size_t at, size_t indent)
{
    size_t limit = o->width;
    FILE *f = o->f;
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

/* Prints a text between two others as a line; wraps it at blanks. */
static void put_line(struct out *o, enum text_style style, const char *before, const char *text,
                     const char *after)
{
    char *raw, *s = NULL;

    if (mem_format(&raw, NULL, "%s%s%s", before, text, after)) {
        s = visible_copy(raw, NULL);
        free(raw);
    }
    if (s == NULL) {
        o->failed = true;
        return;
    }
    begin_style(o, style);
    put_wrapped(o, s, 0, hanging_indent(s));
    end_style(o, style);
    fputc('\n', o->f);
    free(s);
}

/* ---- Tables ---- */

/* The layout of one part of a table: its n_keys first columns, which are keys_width wide, and the
 * columns [first, last) beside them. Columns without any text are not counted. */
struct layout {
    size_t n, column[SHEET_MAX_COLUMNS]; /* of the sheet */
    size_t widths[SHEET_MAX_COLUMNS];
    size_t gap; /* blanks between columns */
    size_t n_keys, keys_width;
    size_t first, last; /* the columns of this part */
    size_t prose;       /* the column that wraps; n: none */
    size_t prose_at;    /* where that column begins; 0: on a line of its own */
};

/* A column that wraps stays beside the others only if it has this much room. */
#define MIN_PROSE    24
/* Otherwise it begins on a line of its own, indented by this. */
#define BELOW_INDENT 5
/* Room for the other columns beside a long first column. */
#define MIN_BESIDE   40

/* Returns a cell of the row, made safe to print, which the caller frees. A column that may wrap
 * (align w) gets no heading, since its texts often stand below their row. NULL: empty. */
static char *cell_text(struct out *o, const struct sheet_rows *t, size_t column, size_t *width)
{
    const struct sheet_entry *x = t->cells[column];

    *width = 0;
    if (x == NULL || (t->row->kind == SHEET_HEADINGS && t->align[column] == 'w'))
        return NULL;
    char *s = visible_copy(x->text, width);
    o->failed |= s == NULL;
    return s;
}

static bool is_right(const struct sheet_rows *t, size_t column)
{
    return tolower((unsigned char)t->align[column]) == 'r';
}

static bool is_key(const struct sheet_rows *t, size_t column)
{
    return tolower((unsigned char)t->align[column]) == 'k';
}

/* Prints the cells of a row. Holds blanks back until something follows them, so that no line ends
 * with a blank. */
static void put_cells(struct out *o, const struct sheet_rows *t, const struct layout *l)
{
    size_t blanks = 0;

    for (size_t c = 0; c < l->n; c++) {
        size_t width;

        if ((c >= l->n_keys && (c < l->first || c >= l->last)) || l->widths[c] == 0)
            continue;
        char *s = cell_text(o, t, l->column[c], &width);
        blanks += c > 0 ? l->gap : 0;
        size_t pad = l->widths[c] - width, before = is_right(t, l->column[c]) ? pad : 0;
        if (c == l->prose && width > 0 && l->prose_at == 0) {
            fprintf(o->f, "\n%*s", BELOW_INDENT, "");
            put_wrapped(o, s, BELOW_INDENT, BELOW_INDENT);
        } else {
            blanks += before;
            if (width > 0) {
                fprintf(o->f, "%*s", (int)blanks, "");
                if (c == l->prose)
                    put_wrapped(o, s, l->prose_at, l->prose_at);
                else
                    fputs(s, o->f);
                blanks = 0;
            }
            blanks += pad - before;
        }
        free(s);
    }
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
static size_t part_end(const struct layout *l, size_t first, size_t limit)
{
    size_t c = first;
    for (size_t width = l->keys_width; c < l->n; c++) {
        width += l->widths[c] > 0 && c != l->prose ? l->widths[c] + l->gap : 0;
        if (c > first && width > limit)
            break;
    }
    return c;
}

static size_t count_parts(const struct layout *l, size_t limit)
{
    size_t n_parts = 0;
    for (size_t c = l->n_keys; c < l->n; n_parts++)
        c = part_end(l, c, limit);
    return n_parts;
}

/* Finds the columns that have text, and how wide they are. */
static struct layout measure(struct out *o, struct sheet_rows t)
{
    struct layout l = {.gap = 2};

    for (size_t c = 0; c < t.n_columns; c++)
        if (t.used[c])
            l.column[l.n++] = c;
    while (sheet_rows_next(&t))
        for (size_t c = 0; c < l.n; c++) {
            size_t width;

            free(cell_text(o, &t, l.column[c], &width));
            l.widths[c] = width > l.widths[c] ? width : l.widths[c];
        }
    while (l.n > 1 && l.widths[l.n - 1] == 0)
        l.n--;
    l.prose = l.n;
    for (l.n_keys = 1; l.n_keys < l.n && is_key(&t, l.column[l.n_keys]);)
        l.n_keys++;
    l.keys_width = width_up_to(l.widths, l.n_keys, l.gap);
    return l;
}

/* If the table is too wide, first wraps the last column, then narrows the gaps between columns,
 * then splits the table into parts of about the same width. Returns the width of a part. */
static size_t fit(struct layout *l, size_t line, bool may_wrap)
{
    size_t n = l->n, limit = line;

    if (n > 1 && may_wrap && width_up_to(l->widths, n, 2) > line) {
        size_t fixed = width_up_to(l->widths, n - 1, 2);
        l->prose = n - 1;
        l->prose_at = fixed + 2 + MIN_PROSE <= line ? fixed + 2 : 0;
    }
    if (limit < l->keys_width + MIN_BESIDE)
        limit = l->keys_width + MIN_BESIDE;
    l->gap = count_parts(l, limit) > 1 ? 1 : 2;
    size_t n_parts = count_parts(l, limit);
    if (n_parts > 1) {
        l->gap = 2;
        n_parts = count_parts(l, limit);
        while (limit > 1 && count_parts(l, limit - 1) == n_parts)
            limit--;
    }
    return limit;
}

/* Writes the table at entry i. Each part repeats the first column. Returns the entry after it. */
static size_t put_table(struct out *o, const struct sheet *s, size_t i, bool verbose)
{
    struct sheet_rows t;

    if (!sheet_rows_begin(&t, s, i, verbose))
        return t.end;
    if (*s->v[i].text != '\0') {
        fputc('\n', o->f);
        put_line(o, TEXT_HEADING, "", s->v[i].text, ":");
    }
    struct layout l = measure(o, t);
    size_t end = l.column[l.n - 1];
    size_t limit = fit(&l, o->width, !is_right(&t, end) && !is_key(&t, end));
    l.last = l.n_keys;
    do {
        l.first = l.last;
        l.last = part_end(&l, l.first, limit);
        for (struct sheet_rows rows = t; sheet_rows_next(&rows);)
            if (rows.row->kind == SHEET_SPAN) {
                put_line(o, rows.row->style, "", rows.row->text, "");
            } else {
                begin_style(o, rows.row->style);
                put_cells(o, &rows, &l);
                end_style(o, rows.row->style);
                fputc('\n', o->f);
            }
    } while (l.last < l.n);
    return t.end;
}

bool sheet_write_text(const struct sheet *s, const struct sheet_form *form, FILE *f, struct err *e)
{
    struct out o = {.f = f, .colour = form->colour, .width = line_width(f)};

    for (size_t i = 0; i < s->n;) {
        const struct sheet_entry *x = &s->v[i];
        if (x->kind == SHEET_TABLE) {
            i = put_table(&o, s, i, form->verbose);
            continue;
        }
        i++;
        if (!sheet_is_shown(x, form->verbose))
            continue;
        if ((x->kind == SHEET_TITLE || x->kind == SHEET_GAP) && x > s->v)
            fputc('\n', f);
        if (x->kind == SHEET_TITLE && x > s->v)
            put_line(&o, TEXT_FAINT, "", "----------------------------------------", "");
        if (x->kind == SHEET_TITLE || x->kind == SHEET_LINE || x->kind == SHEET_ITEM ||
            x->kind == SHEET_VERDICT)
            put_line(&o, x->style, x->kind == SHEET_ITEM ? " * " : "", x->text, "");
    }
    return s->failed || o.failed ? mem_none(e) : true;
}

bool sheet_end(struct sheet *s, const struct sheet_form *form, FILE *f, struct err *e)
{
    bool ok = form->markdown ? sheet_write_markdown(s, f, e) : sheet_write_text(s, form, f, e);

    sheet_free(s);
    return ok;
}
