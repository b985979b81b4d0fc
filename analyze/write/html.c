#include "analyze/write/html.h"

#include "libcommon/mem.h"
#include "libcommon/visible.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

/* Longer texts are cut, with an ellipsis, where they are formatted. */
#define MAX_FORMATTED_BYTES 4096

#define REPLACEMENT "\xEF\xBF\xBD"

/* Returns what to write for the character at s; NULL: the character itself. */
static const char *stand_in(const char *s)
{
    switch (*s) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\t':
        return " ";
    default:
        return visible_length(s) == 0 && *s != '\n' ? REPLACEMENT : NULL;
    }
}

const char *html_sign(const char *s)
{
    const char *sign = strncmp(s, "+-", 2) == 0 ? "\xC2\xB1" : "\xE2\x86\x92";

    if (strncmp(s, "+-", 2) != 0 && strncmp(s, "->", 2) != 0)
        return NULL;
    return s[2] == ':' || (*s == '+' && isdigit((unsigned char)s[2])) ||
                   (s[2] == ' ' && (s[3] == '-' || s[3] == '?' || isdigit((unsigned char)s[3])))
               ? sign
               : NULL;
}

void html_text(FILE *f, const char *s)
{
    for (size_t n; (n = visible_step(s)) > 0; s += n) {
        const char *other = stand_in(s), *sign = html_sign(s);

        n += sign != NULL;
        if (sign != NULL)
            fputs(sign, f);
        else if (other != NULL)
            fputs(other, f);
        else
            fwrite(s, 1, n, f);
    }
}

void html_within(FILE *f, const char *begin, const char *s, const char *end)
{
    fputs(begin, f);
    html_text(f, s);
    fputs(end, f);
}

static void put_escaped(FILE *f, const char *fmt, va_list args)
{
    char text[MAX_FORMATTED_BYTES];
    int n = vsnprintf(text, sizeof text, fmt, args);

    html_text(f, text);
    if (n >= (int)sizeof text)
        html_text(f, "\xE2\x80\xA6");
}

void html_textf(FILE *f, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put_escaped(f, fmt, args);
    va_end(args);
}

void html_element(FILE *f, const char *tag, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(f, "<%s>", tag);
    put_escaped(f, fmt, args);
    fprintf(f, "</%s>\n", tag);
    va_end(args);
}

/* ---- JSON within a page ---- */

struct embedded {
    FILE *to;
    bool in_string, escaped; /* state before the next byte; escaped: after a backslash */
};

static void embed(struct embedded *j, unsigned char c)
{
    if (c == '<' || c == '>' || c == '&')
        fprintf(j->to, "\\u%04x", c);
    else if (j->in_string || (c != ' ' && c != '\n'))
        fputc(c, j->to);
    j->in_string ^= c == '"' && !j->escaped;
    j->escaped = c == '\\' && !j->escaped;
}

static ssize_t on_write(void *cookie, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        embed(cookie, (unsigned char)bytes[i]);
    return (ssize_t)n;
}

static int on_close(void *cookie)
{
    free(cookie);
    return 0;
}

FILE *html_json_open(FILE *to, struct err *e)
{
    const cookie_io_functions_t functions = {.write = on_write, .close = on_close};
    struct embedded *j;

    if (!mem_cleared(&j, 1, e))
        return NULL;
    j->to = to;
    FILE *f = fopencookie(j, "w", functions);
    if (f == NULL) {
        free(j);
        mem_none(e);
    }
    return f;
}

void html_fold(FILE *f, const char *id, const char *title)
{
    fprintf(f, id != NULL ? "<details id=\"%s\">" : "<details>", id);
    html_within(f, "<summary>", title, "</summary>\n");
}

void html_fold_end(FILE *f)
{
    fputs("</details>\n", f);
}
