/* Pieces of an HTML page. All text is escaped; write errors stay in the FILE. */
#ifndef S3_ANALYZE_WRITE_HTML_H
#define S3_ANALYZE_WRITE_HTML_H

#include "libcommon/err.h"

#include <stdio.h>

/* Text, with every character that means something to HTML or XML escaped, what is no UTF-8 or
 * invisible replaced. */
void html_text(FILE *f, const char *s);
void html_textf(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Text between pieces of markup, which stand as they are. */
void html_within(FILE *f, const char *before, const char *text, const char *after);

/* <TAG>text</TAG> */
void html_element(FILE *f, const char *tag, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A FILE for JSON that goes to `to` as the text of a script element: without the blanks between its
 * parts, and with what would end the element, or a line of a script, escaped. It stays JSON of the
 * same value. fclose ends it; write errors stay in `to`. NULL: *e says that there is no memory. */
FILE *html_json_open(FILE *to, struct err *e);

/* What lies between is folded away below `title`. Links to what is in it open it. `id` NULL: none.
 */
void html_fold(FILE *f, const char *id, const char *title);
void html_fold_end(FILE *f);

#endif
