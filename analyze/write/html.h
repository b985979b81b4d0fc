/* Pieces of an HTML page. All text is escaped; write errors stay in the FILE. */
#ifndef S3_ANALYZE_WRITE_HTML_H
#define S3_ANALYZE_WRITE_HTML_H

#include "libcommon/err.h"

#include <stdio.h>

/* Returns the sign that stands for "+-" or "->" before a number, which is all that terminals show;
 * NULL: there is none at s. */
const char *html_sign(const char *s);

/* Writes text. Escapes characters that are special in HTML or XML; replaces invisible characters
 * and bytes that are not UTF-8. */
void html_text(FILE *f, const char *s);
void html_textf(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Writes `before` and `after` as they are, and `text` escaped between them. */
void html_within(FILE *f, const char *before, const char *text, const char *after);

/* <TAG>text</TAG> */
void html_element(FILE *f, const char *tag, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Opens a FILE that takes JSON and writes it to `to` as the content of a script element. It drops
 * blanks between the parts and escapes what would end the element; the value stays the same.
 * fclose ends it; write errors stay in `to`. NULL: out of memory. */
FILE *html_json_open(FILE *to, struct err *e);

/* Begin and end a part that readers unfold by its `title`; links to something in it unfold it, too.
 * `id` NULL: no id. */
void html_fold(FILE *f, const char *id, const char *title);
void html_fold_end(FILE *f);

#endif
