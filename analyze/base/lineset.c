#include "analyze/base/lineset.h"

#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

bool lineset_add(struct lineset *s, const char *line, struct err *e)
{
    size_t at = 0, end = s->n;
    while (at < end) {
        size_t middle = at + (end - at) / 2;
        if (strcmp(s->line[middle], line) < 0)
            at = middle + 1;
        else
            end = middle;
    }
    if (at == LINESET_MAX || (at < s->n && strcmp(s->line[at], line) == 0))
        return true;
    char *copy;
    if ((s->n < LINESET_MAX && !mem_more(&s->line, s->n, e)) || !mem_text(&copy, line, e))
        return false;
    if (s->n == LINESET_MAX)
        free(s->line[--s->n]);
    memmove(s->line + at + 1, s->line + at, (s->n++ - at) * sizeof *s->line);
    s->line[at] = copy;
    return true;
}

bool lineset_merge(struct lineset *to, const struct lineset *from, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < from->n; i++)
        ok = lineset_add(to, from->line[i], e);
    return ok;
}

void lineset_fini(struct lineset *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->line[i]);
    free(s->line);
    *s = (struct lineset){0};
}
