#include "analyze/report/html_internal.h"

#include "analyze/write/html.h"
#include "libcommon/rfc3339.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct units_text html_cells_clock(int64_t ns)
{
    struct units_text t;
    snprintf(t.s, sizeof t.s, "%.12s", rfc3339_format(ns).s + 11);
    return t;
}

struct units_text html_cells_moment(int64_t ns)
{
    struct units_text t;
    struct rfc3339_text whole = rfc3339_format(ns);

    snprintf(t.s, sizeof t.s, "%.10s %.12s", whole.s, whole.s + 11);
    return t;
}

const char *html_cells_party(const char *name)
{
    return *name != '\0' ? name : "(unnamed)";
}

const char *html_cells_file(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

void html_badge(FILE *f, enum html_badge badge, const char *fmt, ...)
{
    static const char *const css[] = {"good", "poor", "none"};
    static const char *const sign[] = {"\xe2\x9c\x93", "\xe2\x9a\xa0", "\xe2\x9c\x97"};
    char text[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fprintf(f, "<p class=\"badge %s\">%s ", css[badge], sign[badge]);
    html_text(f, text);
    fputs("</p>\n", f);
}
