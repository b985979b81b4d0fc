/* Writes fields of CSV and TSV files. */
#ifndef S3_ANALYZE_WRITE_CSV_H
#define S3_ANALYZE_WRITE_CSV_H

#include <stdbool.h>
#include <stdio.h>

struct csv_out_number {
    char s[32];
};

/* Formats a double with the fewest digits, at least 15, that read back to the same value. */
struct csv_out_number csv_out_number(double value);

/* Writes a double in this form; nothing if it is not finite. */
void csv_out_real(FILE *f, double value);

struct csv_out_style {
    char delimiter;
    /* Put an apostrophe before fields that a spreadsheet would take for a formula: those that begin
     * with = + - @, a tab or a carriage return (OWASP, "CSV Injection"). */
    bool safe;
};

/* Writes a field, quoted as in RFC 4180 if it needs to be. If f is a terminal, control characters
 * are escaped (visible.h); files get them as they are. */
void csv_out_text(FILE *f, const char *s, struct csv_out_style style);

#endif
