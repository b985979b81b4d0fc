#include "analyze/report/html_internal.h"

#include "libcommon/rfc3339.h"

#include <stdio.h>

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
