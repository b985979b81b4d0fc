#include "analyze/write/html.h"

#include "libcommon/visible.h"

#include <stdarg.h>
#include <stdbool.h>

/* Longer texts are cut, with an ellipsis, where they are formatted. */
#define MAX_FORMATTED_BYTES 4096

#define REPLACEMENT "\xEF\xBF\xBD"

/* What stands for the character that s begins with; NULL: itself. */
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

void html_text(FILE *f, const char *s)
{
    for (size_t n; (n = visible_step(s)) > 0; s += n) {
        const char *other = stand_in(s);

        if (other != NULL)
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

void html_json(FILE *f, const char *json, size_t n)
{
    bool in_string = false;

    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)json[i];
        bool separator = c == 0xe2 && i + 2 < n && (unsigned char)json[i + 1] == 0x80 &&
                         ((unsigned char)json[i + 2] & 0xfe) == 0xa8;

        if (separator) {
            fprintf(f, "\\u20%02x", (unsigned char)json[i + 2] - 0x80);
            i += 2;
        } else if (c == '<' || c == '>' || c == '&') {
            fprintf(f, "\\u%04x", c);
        } else if (in_string && c == '\\' && i + 1 < n) {
            fputc(c, f);
            fputc(json[++i], f);
        } else if (in_string || (c != ' ' && c != '\n')) {
            fputc(c, f);
        }
        in_string ^= c == '"';
    }
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
