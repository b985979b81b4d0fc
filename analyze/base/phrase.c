#include "analyze/base/phrase.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct phrase phrase_format(const char *fmt, ...)
{
    struct phrase x;
    va_list args;

    va_start(args, fmt);
    vsnprintf(x.s, sizeof x.s, fmt, args);
    va_end(args);
    return x;
}

void phrase_append(struct phrase *to, const char *fmt, ...)
{
    size_t n = strlen(to->s);
    va_list args;

    va_start(args, fmt);
    vsnprintf(to->s + n, sizeof to->s - n, fmt, args);
    va_end(args);
}
