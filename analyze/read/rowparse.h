/* Rows of text to records: the fast path. Rows that it does not understand (quoted, foreign or bad
 * ones) go to libcsv (rowcsv.h). */
#ifndef S3_ANALYZE_READ_ROWPARSE_H
#define S3_ANALYZE_READ_ROWPARSE_H

#include "analyze/read/recfile.h"
#include "analyze/read/rowindex.h"
#include "libcommon/err.h"
#include "libcommon/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROWPARSE_BATCH    128
#define ROWPARSE_TOO_LONG "a row of more than 1 MiB"

/* Newlines in s[0..n). */
uint64_t rowparse_count_lines(const char *s, size_t n);

/* What parsing a piece of text gives, in the order of the text. Each returns false to stop. */
struct rowparse_events {
    void *ctx;
    bool (*rows)(void *ctx, const struct record *rows, size_t n);
    bool (*header)(void *ctx, const char *line, size_t n, uint64_t line_no);
    bool (*comment)(void *ctx, const char *line, size_t n);
    bool (*bad)(void *ctx, uint64_t line_no, const char *why);
};

/* The last "yyyy-mm-ddThh:mm:" and the ns it stands for: most times share it with the one before.
 */
struct rowparse_minute {
    char prefix[24];
    int64_t base_ns;
};

struct rowparse {
    const struct recfile_options *options;
    const struct rowparse_events *events;
    struct recfile_layout layout;
    bool has_layout;
    bool usual;       /* the layout is that of g4: there is faster code for it */
    uint64_t n_lines; /* newlines passed */
    struct rowindex index;
    struct rowcsv *csv;               /* for the rows that are not */
    struct rowparse_minute minute[2]; /* of starts, of ends */
    struct record batch[ROWPARSE_BATCH];
    size_t n_batch;
};

/* options and events must outlive the parser. */
bool rowparse_init(struct rowparse *p, const struct recfile_options *options,
                   const struct rowparse_events *events, struct err *e);
void rowparse_fini(struct rowparse *p);

/* What the columns of the rows to come are; NULL: a header line must come first. */
void rowparse_set_layout(struct rowparse *p, const struct recfile_layout *layout);

enum rowparse_end { ROWPARSE_ALL, ROWPARSE_STOPPED, ROWPARSE_NO_MEMORY };

/* Parses the whole rows of text[0..n); ROWINDEX_PADDING bytes behind it must be readable. *used is
 * where the first row begins that is not whole (n if none). With `last` there is no more text: what
 * remains is a row. Rows have been handed out when this returns. */
enum rowparse_end rowparse_text(struct rowparse *p, const char *text, size_t n, bool last,
                                size_t *used);

#endif
