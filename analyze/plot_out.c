#include "plot_out.h"

#include "csv_out.h"
#include "rfc3339.h"
#include "utf8.h"

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

/* Characters that change the direction of text, or that no one sees. */
static bool is_invisible(const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;
    if (n == 2)
        return u[0] == 0xC2 && u[1] < 0xA0;
    return n == 3 && u[0] == 0xE2 &&
           ((u[1] == 0x80 && (u[2] >= 0xA8 && u[2] <= 0xAE)) ||
            (u[1] == 0x80 && u[2] >= 0x8B && u[2] <= 0x8F) ||
            (u[1] == 0x81 && u[2] >= 0xA0 && u[2] <= 0xAF));
}

static void put_real(FILE *f, double x)
{
    if (isfinite(x))
        csv_out_real(f, x);
    else
        fputs("NaN", f);
}

static void put_text(FILE *f, const char *s)
{
    size_t n_put = 0;
    if (*s == '\0')
        fputc(' ', f);
    while (*s != '\0') {
        size_t n = utf8_length(s);
        if (n_put++ == MAX_TEXT) {
            fputs("\xE2\x80\xA6", f);
            return;
        }
        if (n == 0) {
            fputs("\xEF\xBF\xBD", f);
            n = 1;
        } else if (is_invisible(s, n) || (unsigned char)*s < ' ' || *s == 0x7F) {
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
            put_text(f, va_arg(args, const char *));
            break;
        }
    }
    va_end(args);
    fputc('\n', f);
}
