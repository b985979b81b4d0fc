#include "loadgen/s3/s3.h"

#include <string.h>

static bool unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void uri_encode(struct strbuf *b, const char *s, size_t n, bool is_path)
{
    static const char digits[] = "0123456789ABCDEF";

    for (size_t i = 0; i < n; i++) {
        size_t from = i;
        while (i < n && (unreserved((unsigned char)s[i]) || (is_path && s[i] == '/')))
            i++;
        strbuf_put(b, s + from, i - from);
        if (i < n) {
            unsigned char c = (unsigned char)s[i];
            strbuf_put(b, (const char[]){'%', digits[c >> 4], digits[c & 15]}, 3);
        }
    }
}

static int hex_value(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *p = memchr(digits, c, sizeof digits - 1);

    return p != NULL ? (int)(p - digits) & 15 : -1;
}

bool uri_decode(char *s, size_t *n)
{
    size_t len = 0;

    for (size_t i = 0; i < *n; i++) {
        char c = s[i];

        if (c == '%') {
            int hi = *n - i > 2 ? hex_value(s[i + 1]) : -1;
            int lo = *n - i > 2 ? hex_value(s[i + 2]) : -1;

            if (hi < 0 || lo < 0)
                return false;
            c = (char)(hi << 4 | lo);
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        s[len++] = c;
    }
    *n = len;
    return true;
}
