#include "csv_out.h"

#include <stdlib.h>
#include <string.h>

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
    fputs(csv_out_number(value).s, f);
}

void csv_out_text(FILE *f, const char *s, char delimiter)
{
    const char special[] = {delimiter, '"', '\r', '\n', '\0'};
    if (strpbrk(s, special) == NULL && *s != ' ') {
        fputs(s, f);
        return;
    }
    fputc('"', f);
    for (; *s != '\0'; s++) {
        if (*s == '"')
            fputc('"', f);
        fputc(*s, f);
    }
    fputc('"', f);
}
