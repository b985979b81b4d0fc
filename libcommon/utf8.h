/* Checks and repairs UTF-8: text from captures may hold any bytes. */
#ifndef S3_LIBCOMMON_UTF8_H
#define S3_LIBCOMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Represents a NUL within a text that ends with a NUL. It is no valid sequence. */
#define UTF8_NUL "\xC0\x80"

static inline bool utf8_is_nul(const char *s)
{
    return s[0] == UTF8_NUL[0] && s[1] == UTF8_NUL[1];
}

/* Whether the byte is a continuation byte: not the first one of a character. */
static inline bool utf8_goes_on(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Returns the length (1..4) of the valid UTF-8 sequence that `s` (NUL-terminated) starts with; 0:
 * there is none. Overlong forms, surrogates and values above U+10FFFF are not valid (RFC 3629). */
size_t utf8_length(const char *s);

/* Returns the code point of the valid sequence of n bytes (1..4) that `s` starts with. */
uint32_t utf8_code(const char *s, size_t n);

/* Writes the sequence of a code point up to U+10FFFF, and returns its length. */
size_t utf8_put(char *out, uint32_t code);

/* Returns a copy with U+FFFD in place of each invalid byte; UTF8_NUL stays. The caller frees it.
 * NULL: out of memory. */
char *utf8_repaired(const char *s);

#endif
