#include "libcommon/err.h"

#include "libcommon/visible.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool err_set(struct err *e, const char *fmt, ...)
{
    if (e && !e->msg[0]) {
        va_list args;
        va_start(args, fmt);
        visible_format(e->msg, sizeof e->msg, fmt, args);
        va_end(args);
    }
    return false;
}

bool err_usage(struct err *e, const char *fmt, ...)
{
    if (e && !e->msg[0]) {
        va_list args;
        va_start(args, fmt);
        visible_format(e->msg, sizeof e->msg, fmt, args);
        va_end(args);
        e->is_usage = true;
    }
    return false;
}

bool err_errno(struct err *e, int errnum, const char *fmt, ...)
{
    if (e && !e->msg[0]) {
        va_list args;
        va_start(args, fmt);
        visible_format(e->msg, sizeof e->msg, fmt, args);
        va_end(args);
        const char *what = strerrordesc_np(errnum);
        size_t n = strlen(e->msg);
        snprintf(e->msg + n, sizeof e->msg - n, ": %s", what ? what : "unknown error");
    }
    return false;
}

bool err_pass(struct err *e, const struct err *from)
{
    if (e && !e->msg[0])
        *e = *from;
    return false;
}

void err_clear(struct err *e)
{
    *e = (struct err){0};
}
