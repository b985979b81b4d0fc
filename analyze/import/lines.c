#include "analyze/import/lines.h"

#include "libcommon/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool lines_open(struct lines *l, const char *path, struct err *e)
{
    struct stat st;

    *l = (struct lines){.path = path};
    l->f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (l->f == NULL)
        return err_errno(e, errno, "%s", path);
    if (fstat(fileno(l->f), &st) == 0 && S_ISDIR(st.st_mode))
        return err_errno(e, EISDIR, "%s", path);
    l->n_total = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    return mem_new(&l->text, LINES_MAX_BYTES + 1, e);
}

void lines_close(struct lines *l)
{
    if (l->f != NULL && l->f != stdin)
        fclose(l->f);
    free(l->text);
    *l = (struct lines){0};
}

bool lines_next(struct lines *l, bool *more, struct err *e)
{
    int c;

    l->n = 0;
    l->number++;
    while ((c = getc_unlocked(l->f)) != EOF && c != '\n') {
        if (l->n == LINES_MAX_BYTES)
            return lines_bad(l, e, "a line of more than 1 MiB");
        if (c == '\0')
            return lines_bad(l, e, "a NUL: this is no text");
        l->text[l->n++] = (char)c;
    }
    if (c == EOF && ferror(l->f))
        return err_errno(e, errno, "%s", l->path);
    *more = c != EOF || l->n > 0;
    l->n_read += l->n + (c != EOF);
    l->n -= l->n > 0 && l->text[l->n - 1] == '\r';
    l->text[l->n] = '\0';
    return true;
}

size_t lines_split(const struct lines *l, char delimiter, struct slice *fields, size_t max)
{
    const char *text = l->text, *end = l->text + l->n;

    for (size_t n = 0; n < max; n++) {
        const char *next = memchr(text, delimiter, (size_t)(end - text));
        fields[n] = (struct slice){text, (size_t)((next != NULL ? next : end) - text)};
        if (next == NULL)
            return n + 1;
        text = next + 1;
    }
    return max + 1;
}

bool lines_bad(const struct lines *l, struct err *e, const char *fmt, ...)
{
    struct err why = {0};
    va_list args;

    va_start(args, fmt);
    vsnprintf(why.msg, sizeof why.msg, fmt, args);
    va_end(args);
    return err_set(e, "%s:%" PRIu64 ": %s", l->path, l->number, why.msg);
}
