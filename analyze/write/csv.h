/* Fields of tables with delimiters. */
#ifndef S3_ANALYZE_WRITE_CSV_H
#define S3_ANALYZE_WRITE_CSV_H

#include <stdbool.h>
#include <stdio.h>

struct csv_out_number {
    char s[32];
};

/* A number with as few digits as read back to the same double. */
struct csv_out_number csv_out_number(double value);

/* Writes it. */
void csv_out_real(FILE *f, double value);

struct csv_out_style {
    char delimiter;
    /* An apostrophe before what a spreadsheet would take for a formula: fields that begin with one
     * of = + - @, a tab or a carriage return (OWASP, "CSV Injection"). */
    bool safe;
};

/* Writes a field, quoted as in RFC 4180 where it could be misread otherwise. What a terminal would
 * obey is escaped (visible.h) if f is one; files get it as it is. */
void csv_out_text(FILE *f, const char *s, struct csv_out_style style);

#endif
