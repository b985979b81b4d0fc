/* Many runs in a table, and their changes. Write errors stay in `f` for whoever closes it. */
#ifndef S3_ANALYZE_REPORT_ARCHIVE_H
#define S3_ANALYZE_REPORT_ARCHIVE_H

#include "analyze/archive/columns.h"
#include "analyze/write/sheet.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* The lines that are shown of an archive. */
struct archive_table {
    const struct archive *archive;
    const struct columns_row *rows;
    size_t n;
};

/* One line for each row; files that could not be read follow. */
void archive_sheet_table(struct sheet *s, const struct archive_table *t);
void archive_sheet_unread(struct sheet *s, const struct archive *a);

/* False: out of memory. */
bool archive_table_text(const struct archive_table *t, bool colour, bool verbose, FILE *f,
                        struct err *e);
bool archive_table_md(const struct archive_table *t, FILE *f, struct err *e);

/* `safe` as in struct csv_out_style. */
void archive_table_csv(const struct archive_table *t, bool safe, FILE *f);

#endif
