#include "analyze/capture/import/lines.h"

#include "libcommon/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Looks at the first byte. None of the formats begins with one of these. */
static bool skip_mark(struct lines *l, struct err *e)
{
    int c = getc(l->f);

    if (c == 0xff || c == 0xfe)
        return err_set(e, "%s: text in UTF-16: convert it first (iconv -f UTF-16 -t UTF-8)",
                       l->path);
    if (c == 0x1f || c == 0x28)
        return err_set(e, "%s: compressed: unpack it first (%s %s | s3analyze import ... -)",
                       l->path, c == 0x1f ? "gzip -dc" : "zstd -dc", l->path);
    if (c == 0xef)
        return (getc(l->f) == 0xbb && getc(l->f) == 0xbf) ||
               err_set(e, "%s: this is no text in UTF-8", l->path);
    if (c != EOF)
        ungetc(c, l->f);
    return true;
}

bool lines_open(struct lines *l, const char *path, char first, struct err *e)
{
    struct stat st;

    *l = (struct lines){.path = path, .first = first};
    l->f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (l->f == NULL)
        return err_errno(e, errno, "%s", path);
    if (fstat(fileno(l->f), &st) == 0 && S_ISDIR(st.st_mode))
        return err_errno(e, EISDIR, "%s", path);
    l->n_total = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    return skip_mark(l, e) && mem_new(&l->text, LINES_MAX_BYTES + 1, e);
}

void lines_close(struct lines *l)
{
    if (l->f != NULL && l->f != stdin)
        fclose(l->f);
    free(l->text);
    *l = (struct lines){0};
}

/* Whether the piece goes on after the end of a line. */
static bool goes_on(const struct lines *l)
{
    int c = l->first != '\0' ? getc_unlocked(l->f) : EOF;

    if (c != EOF)
        ungetc(c, l->f);
    return c != EOF && c != l->first;
}

bool lines_next(struct lines *l, bool *more, struct err *e)
{
    const char *why = NULL;
    int c;

    l->n = 0;
    l->number = l->n_lines + 1;
    while ((c = getc_unlocked(l->f)) != EOF) {
        l->n_read++;
        l->n_lines += c == '\n';
        if (c == '\n' && !goes_on(l))
            break;
        if (c == '\0')
            why = "a NUL: this is no text";
        else if (l->n == LINES_MAX_BYTES)
            why = l->first != '\0' ? "a call of more than 1 MiB" : "a line of more than 1 MiB";
        else
            l->text[l->n++] = (char)c;
    }
    if (c == EOF && ferror(l->f))
        return err_errno(e, errno, "%s", l->path);
    *more = c != EOF || l->n > 0 || why != NULL;
    if (why != NULL)
        return lines_bad(l, e, "%s", why);
    l->n -= l->n > 0 && l->text[l->n - 1] == '\r';
    l->text[l->n] = '\0';
    return true;
}

bool lines_split(const struct lines *l, char delimiter, struct slice *fields, size_t n)
{
    struct slice rest = {l->text, l->n};
    size_t n_found = 0;

    while (n_found < n && rest.p != NULL)
        fields[n_found++] = slice_take(&rest, delimiter);
    return n_found == n && rest.p == NULL;
}

bool lines_bad(struct lines *l, struct err *e, const char *fmt, ...)
{
    struct err why = {0};
    va_list args;

    l->bad = l->number;
    va_start(args, fmt);
    vsnprintf(why.msg, sizeof why.msg, fmt, args);
    va_end(args);
    return err_set(e, "%s:%" PRIu64 ": %s", l->path, l->number, why.msg);
}
