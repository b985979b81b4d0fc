#include "analyze/data/filter.h"

#include "libcommon/int64.h"
#include "libcommon/rfc3339.h"
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

bool filter_parse_time(const char *text, void *time, struct err *e)
{
    struct filter_time *t = time;
    char moment[64];
    bool is_of_day = strlen(text) > 2 && text[2] == ':';
    int n = snprintf(moment, sizeof moment, "%s%.40s", is_of_day ? "1970-01-01T" : "", text);

    /* As printed a moment has a blank for the T, and no zone: it is UTC. */
    *t = (struct filter_time){.given = true};
    if (rfc3339_parse(text, strlen(text), &t->ns))
        return true;
    if (n > 10 && moment[10] == ' ')
        moment[10] = 'T';
    moment[n++] = 'Z';
    if (rfc3339_parse(moment, (size_t)n, &t->ns)) {
        t->is_relative = t->is_of_day = is_of_day;
        return true;
    }
    t->is_relative = true;
    return units_parse_duration(text, false, &t->ns, &(struct err){0}) ||
           err_set(e, "expected a time such as 2026-11-21T05:41:32Z or 05:41:32 (UTC), or 90s or "
                      "1m30s into the run");
}

int64_t filter_time_at(const struct filter_time *t, int64_t run_start_ns)
{
    int64_t second_ns = run_start_ns - run_start_ns % NS_PER_S;
    int64_t since_ns = t->ns - second_ns % NS_PER_D;

    if (t->is_of_day)
        return int64_add_clamped(second_ns, since_ns + (since_ns < 0 ? NS_PER_D : 0));
    return t->is_relative ? int64_add_clamped(run_start_ns, t->ns) : t->ns;
}

struct units_text filter_time_text(const struct filter_time *t)
{
    return t->is_of_day     ? units_format("%.12s UTC", rfc3339_format(t->ns).s + 11)
           : t->is_relative ? units_format("%s into the run", units_duration(t->ns).s)
                            : units_format("%s", rfc3339_format(t->ns).s);
}
