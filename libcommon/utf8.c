#include "libcommon/utf8.h"

#include <stdlib.h>
#include <string.h>

size_t utf8_length(const char *s)
{
    const unsigned char *u = (const unsigned char *)s;
    /* The second byte's range depends on the first (RFC 3629, section 4). */
    unsigned lo = 0x80, hi = 0xBF;
    size_t n;
    if (u[0] == 0)
        return 0;
    if (u[0] < 0x80)
        return 1;
    if (u[0] >= 0xC2 && u[0] <= 0xDF) {
        n = 2;
    } else if (u[0] >= 0xE0 && u[0] <= 0xEF) {
        n = 3;
        lo = u[0] == 0xE0 ? 0xA0 : lo;
        hi = u[0] == 0xED ? 0x9F : hi;
    } else if (u[0] >= 0xF0 && u[0] <= 0xF4) {
        n = 4;
        lo = u[0] == 0xF0 ? 0x90 : lo;
        hi = u[0] == 0xF4 ? 0x8F : hi;
    } else {
        return 0;
    }
    if (u[1] < lo || u[1] > hi)
        return 0;
    for (size_t i = 2; i < n; i++)
        if (!utf8_goes_on(s[i]))
            return 0;
    return n;
}

uint32_t utf8_code(const char *s, size_t n)
{
    static const unsigned char first_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = (unsigned char)s[0] & first_bits[n];

    for (size_t i = 1; i < n; i++)
        code = code << 6 | ((unsigned char)s[i] & 0x3F);
    return code;
}

size_t utf8_put(char *out, uint32_t code)
{
    static const unsigned char first_bits[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = n - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(first_bits[n] | code);
    return n;
}

char *utf8_repaired(const char *s)
{
    /* Each bad byte grows to the three of U+FFFD. */
    char *text = malloc(3 * strlen(s) + 1);
    char *to = text;

    while (text != NULL && *s != '\0') {
        size_t n = utf8_is_nul(s) ? 2 : utf8_length(s);
        to = mempcpy(to, n > 0 ? s : "\xEF\xBF\xBD", n > 0 ? n : 3);
        s += n > 0 ? n : 1;
    }
    if (text != NULL)
        *to = '\0';
    return text;
}
