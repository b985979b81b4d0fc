/* Fields of tables with delimiters. */
#ifndef S3_CSV_OUT_H
#define S3_CSV_OUT_H

#include <stdio.h>

struct csv_out_number {
    char s[32];
};

/* A number with as few digits as read back to the same double. */
struct csv_out_number csv_out_number(double value);

/* Writes it. */
void csv_out_real(FILE *f, double value);

/* Writes a field, quoted as in RFC 4180 where it could be misread otherwise. */
void csv_out_text(FILE *f, const char *s, char delimiter);

#endif
