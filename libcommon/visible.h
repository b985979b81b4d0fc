/* Text from captures, servers, file names and options may hold anything. What a terminal would
 * obey, or what makes a line look like another one, is shown as \xNN: control characters (C0, DEL
 * and C1), bytes that are no UTF-8, marks that turn the direction of text around (Unicode TR 36,
 * section 2.3) and the separators of lines and paragraphs. */
#ifndef S3_LIBCOMMON_VISIBLE_H
#define S3_LIBCOMMON_VISIBLE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* Length (1..4) of the character that `s` (NUL-terminated) starts with; 0: it must not be printed
 * as it is, or s is empty. */
size_t visible_length(const char *s);

/* Bytes of the character, or of the byte that is none, which `s` starts with; 0: s is empty. With
 * visible_length 0 each of them is to be shown as \xNN. */
size_t visible_step(const char *s);

/* A copy that is safe to print, and the characters in it (`width` may be NULL); to be freed. NULL:
 * out of memory. */
char *visible_copy(const char *s, size_t *width);

/* As snprintf; what does not fit is cut behind a whole character. */
void visible_format(char *to, size_t size, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Writes the text, and with visible_line a newline too. Longer lines than 4 KiB are cut. */
void visible_put(FILE *f, const char *s);
void visible_line(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void visible_vline(FILE *f, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

#endif
