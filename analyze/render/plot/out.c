#include "analyze/render/plot/charts_internal.h"

#include "analyze/write/csv.h"
#include "libcommon/rfc3339.h"
#include "libcommon/utf8.h"
#include "libcommon/visible.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#define MAX_TEXT 120 /* characters */

void plot_out_block(FILE *f, const char *name, const char *columns)
{
    fprintf(f, "%s# %s\n", ftell(f) > 0 ? "\n\n" : "", name);
    for (; *columns != '\0'; columns++)
        fputc(*columns == ' ' ? '\t' : *columns, f);
    fputc('\n', f);
}

/* Whether a character is invisible (U+200B .. U+200F, U+2060 .. U+206F) or must not be printed. */
static bool is_invisible(const char *s, size_t n)
{
    uint32_t c = utf8_code(s, n);
    return visible_length(s) == 0 || (c >= 0x200B && c <= 0x200F) || (c >= 0x2060 && c <= 0x206F);
}

static void put_real(FILE *f, double x)
{
    if (isfinite(x))
        csv_out_real(f, x);
    else
        fputs("NaN", f);
}

static void put_text(FILE *f, const char *s, bool is_first)
{
    /* A line that begins with it would be a comment. */
    const char *quote = is_first && *s == '#' ? "\"" : "";
    size_t n_put = 0;

    fputs(*s == '\0' ? " " : quote, f);
    while (*s != '\0') {
        size_t n = utf8_length(s);
        if (n_put++ == MAX_TEXT) {
            fputs("\xE2\x80\xA6", f);
            break;
        }
        if (n == 0) {
            fputs("\xEF\xBF\xBD", f);
            n = 1;
        } else if (is_invisible(s, n)) {
            fputc(' ', f);
        } else if (*s == '"') {
            fputc('\'', f); /* gnuplot's quote */
        } else if (*s == '\\') {
            fputs("\\\\", f); /* what gnuplot reads as one */
        } else {
            fwrite(s, 1, n, f);
        }
        s += n;
    }
    fputs(quote, f);
}

void plot_out_row(FILE *f, const char *kinds, ...)
{
    va_list args;
    va_start(args, kinds);
    for (const char *k = kinds; *k != '\0'; k++) {
        if (k != kinds)
            fputc('\t', f);
        switch (*k) {
        case 'r':
            put_real(f, va_arg(args, double));
            break;
        case 'i':
            fprintf(f, "%" PRId64, va_arg(args, int64_t));
            break;
        case 'n':
            fputs(va_arg(args, const char *), f);
            break;
        case 't':
            fputs(rfc3339_format(va_arg(args, int64_t)).s, f);
            break;
        default:
            put_text(f, va_arg(args, const char *), k == kinds);
        }
    }
    va_end(args);
    fputc('\n', f);
}
