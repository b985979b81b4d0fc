/* Makes any text safe to print: text from captures, servers, file names and options may hold
 * anything. These are shown as \xNN: control characters (C0, DEL and C1), bytes that are not UTF-8,
 * marks that change the direction of text (Unicode TR 36, section 2.3), line and paragraph
 * separators, and what is no character in XML. */
#ifndef S3_LIBCOMMON_VISIBLE_H
#define S3_LIBCOMMON_VISIBLE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* Returns the length (1..4) of the character that `s` (NUL-terminated) starts with; 0: it must not
 * be printed as it is, or s is empty. */
size_t visible_length(const char *s);

/* Returns the length of the character at `s`; 1 for an invalid byte; 0: s is empty. If
 * visible_length is 0, show each of these bytes as \xNN. */
size_t visible_step(const char *s);

/* Returns a copy that is safe to print, which the caller frees. *width is its number of characters
 * (`width` may be NULL). NULL: out of memory. */
char *visible_copy(const char *s, size_t *width);

/* Formats like vsnprintf, made safe to print. Cuts only after a whole character. */
void visible_format(char *to, size_t size, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Writes a line, made safe to print and cut after 4 KiB. */
void visible_line(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void visible_vline(FILE *f, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

#endif
