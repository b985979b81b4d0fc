/* Pieces of an HTML page. All text is escaped; write errors stay in the FILE. */
#ifndef S3_ANALYZE_WRITE_HTML_H
#define S3_ANALYZE_WRITE_HTML_H

#include <stddef.h>
#include <stdio.h>

/* Text, with every character that means something to HTML or XML escaped, what is no UTF-8 or
 * invisible replaced. */
void html_text(FILE *f, const char *s);
void html_textf(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* <TAG>text</TAG> */
void html_element(FILE *f, const char *tag, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* JSON within a page, as a script element's text: without the blanks between its parts, and with
 * what would end the element, or a line of a script, escaped. It stays JSON of the same value. */
void html_json(FILE *f, const char *json, size_t n);

/* A table that scrolls where it is too wide: its caption and column names, as many as `align` has
 * letters, l or r; then rows of cells. Its id is that of the section it is in, then its caption's
 * words up to a comma or full stop, as in "op0-requests-by-size". A section has one table of a
 * caption. */
void html_table(FILE *f, const char *section, const char *caption, const char *const *columns,
                const char *align);
void html_row(FILE *f);
void html_row_end(FILE *f);
void html_cell(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Cells of texts as they stand, up to a NULL; and a row of a heading and such. */
void html_cells(FILE *f, const char *const *texts);
#define HTML_CELLS(f, ...) html_cells(f, (const char *const[]){__VA_ARGS__, NULL})
#define HTML_ROW(f, name, ...)                                                                     \
    (html_row(f), html_name(f, name), HTML_CELLS(f, __VA_ARGS__), html_row_end(f))
/* Cells of text, aligned to the left, in one line or in several; `html_name` is the row's heading.
 */
void html_cell_text(FILE *f, const char *s);
void html_cell_wrapped(FILE *f, const char *s);
void html_name(FILE *f, const char *s);
void html_table_end(FILE *f);

/* What lies between is folded away below `title`. Links to what is in it open it. */
void html_fold(FILE *f, const char *title);
void html_fold_end(FILE *f);

#endif
