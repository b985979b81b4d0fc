#include "analyze/data/filter.h"

#include "libcommon/suggest.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool filter_parse_sizes(const char *text, void *sizes, struct err *e)
{
    struct filter_sizes s = {.given = true, .most = INT64_MAX};
    const char *dots = strstr(text, "..");
    struct err ignored = {0};
    char first[40];

    if (dots == NULL && units_parse_size(text, &s.least, &ignored)) {
        s.most = s.least;
    } else {
        if (dots == NULL || strcmp(text, "..") == 0 || (size_t)(dots - text) >= sizeof first)
            return err_set(e, "expected a size such as 1MiB, or a range such as 1MiB..4MiB");
        snprintf(first, sizeof first, "%.*s", (int)(dots - text), text);
        if ((*first != '\0' && !units_parse_size(first, &s.least, e)) ||
            (dots[2] != '\0' && !units_parse_size(dots + 2, &s.most, e)))
            return false;
        if (s.least > s.most)
            return err_set(e, "the range begins above its end");
    }
    *(struct filter_sizes *)sizes = s;
    return true;
}

struct units_text filter_sizes_text(const struct filter_sizes *sizes)
{
    struct units_text t = units_size((double)sizes->least);

    if (sizes->most == INT64_MAX)
        snprintf(t.s, sizeof t.s, "%.20s and more", units_size((double)sizes->least).s);
    else if (sizes->most > sizes->least)
        snprintf(t.s, sizeof t.s, "%.20s to %.20s", units_size((double)sizes->least).s,
                 units_size((double)sizes->most).s);
    return t;
}

bool filter_name_matches(const char *pattern, const char *name)
{
    const char *bare = strstr(name, "://");

    if (pattern == NULL || strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0)
        return true;
    return bare != NULL && strstr(pattern, "://") == NULL &&
           (strcmp(pattern, bare + 3) == 0 || fnmatch(pattern, bare + 3, 0) == 0);
}

bool filter_op_matches(const char *const *ops, size_t n, const char *op)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(ops[i], op) == 0)
            return true;
    return n == 0;
}

static const char *name_at(const struct filter_names *names, size_t i)
{
    return *(const char *const *)((const char *)names->first + i * names->step);
}

bool filter_ops_known(struct filter_names names, const char *const *ops, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t k = 0; k < names.n; k++)
            found |= filter_op_matches(&ops[i], 1, name_at(&names, k));
        if (!found)
            return filter_list_known(names, "operation", ops[i], e);
    }
    return true;
}

bool filter_list_known(struct filter_names names, const char *kind, const char *wanted,
                       struct err *e)
{
    char list[512] = "";

    for (size_t i = 0; i < names.n; i++)
        suggest_list(list, sizeof list,
                     *name_at(&names, i) != '\0' ? name_at(&names, i) : "(empty)");
    return err_usage(e, "no %s \"%s\" in the capture; it has: %s%s", kind, wanted, list,
                     strlen(list) + 1 == sizeof list ? "..." : "");
}
