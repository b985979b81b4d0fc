#include "csv_out.h"

#include <stdlib.h>
#include <string.h>

void csv_out_real(FILE *f, double value)
{
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fputs(text, f);
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
