/* Text for people: lines and aligned tables, with colour where wanted. Anything printed may come
 * from a capture, so what a terminal would obey is shown as \xNN (visible.h).
 *
 * Errors stick: out of memory sets `failed`. Write errors stay in the FILE. */
#ifndef S3_ANALYZE_WRITE_TEXT_H
#define S3_ANALYZE_WRITE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Columns that a line has at most where there is no terminal that is wider. */
#define TEXT_WIDTH 80

enum text_style { TEXT_PLAIN, TEXT_HEADING, TEXT_FAINT, TEXT_WARNING, TEXT_ERROR };

struct text {
    FILE *f;
    bool colour;
    bool failed;
    size_t width; /* 0: not asked for yet */
};

/* Columns of a line: those of the terminal, at least TEXT_WIDTH. */
size_t text_width(struct text *t);

/* True if text on `f` should have colours: a terminal that can, and NO_COLOR is not set. */
bool text_wants_colour(FILE *f);

/* Prints one line; the newline is added. What is wider than text_width is broken at blanks. */
void text_line(struct text *t, enum text_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* An empty line. */
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
/* A row that is one text, whatever the columns. */
void text_table_span(struct text_table *t, enum text_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints the rows and frees the table. Where they are wider than text_width, texts of a last column
 * that is aligned to the left are broken, and columns that do not fit follow below the others. */
void text_table_put(struct text_table *t);

#endif
