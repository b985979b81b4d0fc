/* Reads a capture on a thread of its own and hands its rows out as sorted batches of formatted
 * text, one for each block of its survey. */
#ifndef S3_ANALYZE_STREAM_FEED_H
#define S3_ANALYZE_STREAM_FEED_H

#include "analyze/data/rank_clock.h"
#include "analyze/stream/reorder.h"
#include "analyze/stream/survey.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct feed_options {
    const char *path;
    const struct survey *survey;    /* of that file, with blocks */
    const uint64_t *thread_bases;   /* offset of the threads, by section of the survey */
    int64_t shift_ns;               /* added to all times */
    const struct rank_clock *clock; /* by which each row is moved as a whole, by its start */
    uint32_t input;                 /* number that its batches carry */
    bool intended;                  /* format rows with that column */
    bool salvage;
    size_t chunk_bytes; /* of text decompressed at a time */
};

struct feed;

/* Starts reading. What the options point to must live until feed_stop. NULL: *e is filled. */
struct feed *feed_start(const struct feed_options *options, struct err *e);

/* Ends reading, wherever it is, and frees all. NULL is allowed. */
void feed_stop(struct feed *f);

/* The next batch; the caller owns it. *batch NULL: all were handed out. False: *e says what is
 * wrong with the capture. */
bool feed_next(struct feed *f, struct reorder_batch **batch, struct err *e);

/* Takes a batch back, to be filled again. */
void feed_give_back(struct feed *f, struct reorder_batch *batch);

/* Bytes of the file read so far. */
uint64_t feed_n_read(const struct feed *f);

#endif
