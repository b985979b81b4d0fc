/* Sorts rows of text by start in bounded memory. The caller adds sorted batches and takes rows out
 * in order, up to a time before which it will add no more rows. When memory is full, all rows in it
 * go to a temporary file as one sorted run. */
#ifndef S3_ANALYZE_CAPTURE_STREAM_REORDER_H
#define S3_ANALYZE_CAPTURE_STREAM_REORDER_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row as rowformat_put makes it. Rows with the same start are ordered by their text after the
 * thread, then by the thread. */
struct reorder_row {
    int64_t start_ns;
    const char *text;
    uint32_t n;
    uint32_t input; /* the capture it comes from */
};

struct reorder_batch_row {
    int64_t start_ns;
    uint32_t at, n; /* offset and length in the batch's text */
};

/* Rows of one input, filled in any order. */
struct reorder_batch {
    struct reorder_batch *next; /* for lists of its owner */
    uint32_t input;
    struct reorder_batch_row *rows;
    size_t n_rows, cap_rows;
    char *text;
    size_t n_text, cap_text;
};

/* NULL: out of memory. */
struct reorder_batch *reorder_batch_new(uint32_t input, struct err *e);
void reorder_batch_free(struct reorder_batch *b);

/* Makes room for one more row of at most n bytes and returns it. NULL: out of memory. */
char *reorder_batch_room(struct reorder_batch *b, size_t n, struct err *e);

/* Adds the row that was written to that room; it ends at `end`. */
void reorder_batch_take(struct reorder_batch *b, int64_t start_ns, const char *end);

/* Sorts the rows; needed before reorder_add. */
void reorder_batch_sort(struct reorder_batch *b);

/* Returns the text after the thread: equal for copies of a row. */
const char *reorder_text_behind_thread(const char *text, uint32_t n);

struct reorder;

/* Keeps at most about max_bytes of rows in memory. Passes used batches to give_back, or frees them
 * if it is NULL. Returns NULL: out of memory. */
struct reorder *reorder_new(size_t max_bytes, void (*give_back)(void *ctx, struct reorder_batch *b),
                            void *ctx, struct err *e);
void reorder_free(struct reorder *r);

/* Adds a batch that is not empty and takes it over, after a failure, too. False: out of memory, or
 * the temporary file cannot be written. */
bool reorder_add(struct reorder *r, struct reorder_batch *b, struct err *e);

/* Takes out the next row if it starts before bound_ns, or in any case if `all`. *found says whether
 * there was one; it is valid until the next call. False: the temporary file cannot be read. */
bool reorder_next(struct reorder *r, int64_t bound_ns, bool all, struct reorder_row *row,
                  bool *found, struct err *e);

/* Bytes that went to the temporary file so far. */
uint64_t reorder_n_spilled_bytes(const struct reorder *r);

#endif
