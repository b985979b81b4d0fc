/* The fast path: parses rows of text to records. Rows that it does not understand (with quotes,
 * unusual or bad) go to the slow path (rowcsv.h). */
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
#define ROWPARSE_TOO_LONG "a row or comment of more than 1 MiB"

/* Returns the number of newlines in s[0..n). */
uint64_t rowparse_count_lines(const char *s, size_t n);

/* Called while text is parsed, in the order of the text. Each returns false to stop. A row without
 * a thread (is_lane) comes last. */
struct rowparse_events {
    void *ctx;
    bool (*rows)(void *ctx, struct record *rows, size_t n);
    bool (*header)(void *ctx, const char *line, size_t n, uint64_t line_no);
    bool (*comment)(void *ctx, const char *line, size_t n);
    bool (*bad)(void *ctx, uint64_t line_no, const char *why);
};

/* The last "yyyy-mm-ddThh:mm:" and its ns since the epoch. Most times have the same minute as the
 * time before. */
struct rowparse_minute {
    char prefix[24];
    int64_t base_ns;
};

struct rowparse {
    const struct recfile_options *options;
    const struct rowparse_events *events;
    struct recfile_layout layout;
    bool has_layout;
    bool usual;       /* the layout is that of generation 4, which has faster code */
    uint64_t n_lines; /* newlines passed */
    struct rowindex index;
    struct rowcsv *csv;               /* the slow path */
    struct rowparse_minute minute[2]; /* of starts, of ends */
    struct record batch[ROWPARSE_BATCH];
    size_t n_batch;
};

/* options and events must outlive the parser. */
bool rowparse_init(struct rowparse *p, const struct recfile_options *options,
                   const struct rowparse_events *events, struct err *e);
void rowparse_fini(struct rowparse *p);

/* Sets the columns of the next rows. NULL: a header line must come first. */
void rowparse_set_layout(struct rowparse *p, const struct recfile_layout *layout);

enum rowparse_end { ROWPARSE_ALL, ROWPARSE_STOPPED, ROWPARSE_NO_MEMORY };

/* Parses the complete rows of text[0..n); ROWINDEX_PADDING bytes after it must be readable. Sets
 * *used to the start of the incomplete row at the end (n: there is none). `last`: no more text
 * follows, so what remains is a row, too. All rows have been handed out when this returns. */
enum rowparse_end rowparse_text(struct rowparse *p, const char *text, size_t n, bool last,
                                size_t *used);

#endif
