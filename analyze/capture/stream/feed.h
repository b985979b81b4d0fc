/* Reads a capture on a thread of its own. Hands out its rows as sorted batches of formatted text,
 * one batch for each block of the capture's survey. */
#ifndef S3_ANALYZE_CAPTURE_STREAM_FEED_H
#define S3_ANALYZE_CAPTURE_STREAM_FEED_H

#include "analyze/capture/stream/reorder.h"
#include "analyze/capture/stream/survey.h"
#include "analyze/data/rank_clock.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct feed_options {
    const char *path;
    const struct survey *survey;    /* of that file, with blocks */
    const uint64_t *thread_bases;   /* added to thread numbers, by section of the survey */
    int64_t shift_ns;               /* added to all times */
    const struct rank_clock *clock; /* its offset at a row's start is taken from the row's times */
    uint32_t input;                 /* number to put into the batches */
    bool intended;                  /* format rows with the column `intended` */
    bool salvage;
    size_t chunk_bytes; /* of text decompressed at a time */
};

struct feed;

/* Starts reading. What the options point to must live until feed_stop. NULL: *e says why not. */
struct feed *feed_start(const struct feed_options *options, struct err *e);

/* Stops reading at once and frees f, which may be NULL. */
void feed_stop(struct feed *f);

/* Waits for the next batch, which the caller owns. *batch NULL: there are no more. False: *e says
 * what is wrong with the capture. */
bool feed_next(struct feed *f, struct reorder_batch **batch, struct err *e);

/* Takes a batch back, to be filled again. */
void feed_give_back(struct feed *f, struct reorder_batch *batch);

/* Bytes of the file read so far. */
uint64_t feed_n_read(const struct feed *f);

#endif
