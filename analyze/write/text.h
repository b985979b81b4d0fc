/* Writes text for people: lines and aligned tables, in colour if wanted. Anything printed may come
 * from a capture, so control characters are shown as \xNN (visible.h).
 *
 * Errors stick: out of memory sets `failed`. Write errors stay in the FILE. */
#ifndef S3_ANALYZE_WRITE_TEXT_H
#define S3_ANALYZE_WRITE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The width of a line, in columns, unless the terminal is wider. */
#define TEXT_WIDTH 80

enum text_style { TEXT_PLAIN, TEXT_HEADING, TEXT_FAINT, TEXT_WARNING, TEXT_ERROR };

struct text {
    FILE *f;
    bool colour;
    bool failed;
    size_t width; /* 0: not known yet; those of the terminal, at least TEXT_WIDTH */
};

/* Whether text on `f` should be coloured: f is a terminal with colours, and NO_COLOR is not set. */
bool text_wants_colour(FILE *f);

/* Prints one line and a newline. Wraps lines wider than t->width at blanks. */
void text_line(struct text *t, enum text_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints an empty line. */
void text_blank(struct text *t);

/* Rows of cells, aligned when printed. Columns without any text take no room. */
struct text_table {
    struct text *out;
    const char *align; /* one letter a column: l or r */
    struct text_cell *cells;
    size_t n_cells, cap;
    enum text_style *styles; /* by row */
    size_t n_rows, cap_rows;
};

/* `align` must live as long as the table. */
void text_table_init(struct text_table *t, struct text *out, const char *align);

/* Starts a row; its cells follow. Missing cells are empty. */
void text_table_row(struct text_table *t, enum text_style style);
void text_table_cell(struct text_table *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds a row that is one text and ignores the columns. */
void text_table_span(struct text_table *t, enum text_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints the rows and frees the table. If rows are wider than the line, wraps a left-aligned last
 * column; columns that still do not fit follow in a second part below. */
void text_table_put(struct text_table *t);

#endif
