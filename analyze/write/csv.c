#include "analyze/write/csv.h"

#include "libcommon/visible.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct csv_out_number csv_out_number(double value)
{
    struct csv_out_number text;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text.s, sizeof text.s, "%.*g", digits, value);
        if (strtod(text.s, NULL) == value)
            break;
    }
    return text;
}

void csv_out_real(FILE *f, double value)
{
    if (isfinite(value))
        fputs(csv_out_number(value).s, f);
}

static void put_field(FILE *f, const char *s, struct csv_out_style style)
{
    const char special[] = {style.delimiter, '"', '\r', '\n', '\0'};
    bool is_formula = style.safe && *s != '\0' && strchr("=+-@\t\r", *s) != NULL;

    if (strpbrk(s, special) == NULL && *s != ' ') {
        fputs(is_formula ? "'" : "", f);
        fputs(s, f);
        return;
    }
    fputs(is_formula ? "\"'" : "\"", f);
    for (; *s != '\0'; s++) {
        if (*s == '"')
            fputc('"', f);
        fputc(*s, f);
    }
    fputc('"', f);
}

void csv_out_text(FILE *f, const char *s, struct csv_out_style style)
{
    char *shown = isatty(fileno(f)) ? visible_copy(s, NULL) : NULL;
    put_field(f, shown != NULL ? shown : s, style);
    free(shown);
}
