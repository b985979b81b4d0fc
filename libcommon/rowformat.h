/* Formats records as rows of text (docs/how-the-numbers-are-made.md, section 1): the opposite of
 * rowparse.h. */
#ifndef S3_LIBCOMMON_ROWFORMAT_H
#define S3_LIBCOMMON_ROWFORMAT_H

#include "libcommon/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most bytes of a number. */
#define ROWFORMAT_NUMBER_BYTES 20

/* Formats rows one after another. */
struct rowformat {
    bool intended;  /* write the column `intended` */
    int64_t second; /* the second of the last time written, since the epoch */
    char date[20];  /* text of that second: "2026-11-21T05:41:32." */
};

void rowformat_init(struct rowformat *f, bool intended);

/* Returns the header line, with its newline. */
const char *rowformat_header(bool intended);

/* Writes a number in decimal and returns its end. */
char *rowformat_put_number(char *out, uint64_t value);

/* Returns the most bytes that rowformat_put writes for a record. */
size_t rowformat_bound(const struct record *r);

/* Writes the row without its idx, newline included ("\t3\tGET\t...\n"), and returns its end. Times
 * must be 0 or later, or RECORD_NO_TIME. */
char *rowformat_put(struct rowformat *f, char *out, const struct record *r);

#endif
