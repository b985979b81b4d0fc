#include "loadgen/s3/uri.h"

#include <stdint.h>

static bool unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

static size_t encode(char *dst, size_t size, const char *src, size_t n, bool keep_slash)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)src[i];
        bool plain = unreserved(c) || (keep_slash && c == '/');
        size_t need = plain ? 1 : 3;

        if (size - len <= need)
            return SIZE_MAX;
        if (plain) {
            dst[len++] = (char)c;
        } else {
            dst[len++] = '%';
            dst[len++] = digits[c >> 4];
            dst[len++] = digits[c & 15];
        }
    }
    if (len >= size)
        return SIZE_MAX;
    dst[len] = '\0';
    return len;
}

size_t uri_encode_path(char *dst, size_t size, const char *src, size_t n)
{
    return encode(dst, size, src, n, true);
}

size_t uri_encode_query(char *dst, size_t size, const char *src, size_t n)
{
    return encode(dst, size, src, n, false);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool uri_decode(char *s, size_t *n, bool plus_is_space)
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
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        s[len++] = c;
    }
    *n = len;
    return true;
}
