/* Puts rows of text into order of start, in bounded memory: sorted batches are added, and rows come
 * out in order as far as the caller knows that no earlier one will be added. Beyond the bound, what
 * is held goes to a temporary file, as one sorted run at a time. */
#ifndef S3_ANALYZE_STREAM_REORDER_H
#define S3_ANALYZE_STREAM_REORDER_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row as rowformat_put makes it. Rows of one start are ordered by their text from behind the
 * thread, then by the thread. */
struct reorder_row {
    int64_t start_ns;
    const char *text;
    uint32_t n;
    uint32_t input; /* which capture it is from */
};

struct reorder_batch_row {
    int64_t start_ns;
    uint32_t at, n; /* in the batch's text */
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

/* Room for one more row of at most n bytes. NULL: out of memory. */
char *reorder_batch_room(struct reorder_batch *b, size_t n, struct err *e);

/* Takes the row that was written to that room, up to `end`. */
void reorder_batch_take(struct reorder_batch *b, int64_t start_ns, const char *end);

/* Puts the rows in order: a batch must be sorted when it is added. */
void reorder_batch_sort(struct reorder_batch *b);

/* The text from behind the thread: equal for rows that say the same. */
const char *reorder_text_behind_thread(const char *text, uint32_t n);

struct reorder;

/* give_back takes a batch whose rows are done with, or NULL: batches are freed. max_bytes: of rows
 * in memory. NULL: out of memory. */
struct reorder *reorder_new(size_t max_bytes, void (*give_back)(void *ctx, struct reorder_batch *b),
                            void *ctx, struct err *e);
void reorder_free(struct reorder *r);

/* Takes over the batch, which is not empty (on failure too). False: memory, or the disk is full. */
bool reorder_add(struct reorder *r, struct reorder_batch *b, struct err *e);

/* The next row, if it starts before bound_ns; or the next one of all, if `all`. It lives until the
 * next call. *found false: none. Returns false if the temporary file cannot be read. */
bool reorder_next(struct reorder *r, int64_t bound_ns, bool all, struct reorder_row *row,
                  bool *found, struct err *e);

/* Bytes that went to the temporary file so far. */
uint64_t reorder_n_spilled_bytes(const struct reorder *r);

#endif
