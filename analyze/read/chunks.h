/* The text of a range of a capture in pieces, decompressed on the calling thread or on one beside
 * it. The end of a piece stands in front of the next one, so that a row that lies across the two
 * stands in one place. */
#ifndef S3_ANALYZE_READ_CHUNKS_H
#define S3_ANALYZE_READ_CHUNKS_H

#include "analyze/read/recfile.h"
#include "analyze/read/zreader.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text of a chunk where nothing else is wanted. */
#define CHUNKS_TEXT_BYTES (1u << 20)

struct chunks {
    size_t text_bytes;
    struct zreader *zreader;
    struct zresult own;         /* what was read without a thread beside */
    struct chunks_ahead *ahead; /* the thread beside; NULL: none */
    bool held;                  /* the chunk given last is one of ahead's */
};

/* text_bytes: of a chunk; 0: CHUNKS_TEXT_BYTES. */
bool chunks_init(struct chunks *c, size_t text_bytes, struct err *e);
void chunks_fini(struct chunks *c);

/* Begins to read [start, end) of s (careful: zreader.h). With `beside` a thread is started that
 * decompresses ahead (where none can be had, the caller's does it). False: out of memory; else
 * chunks_end must follow. */
bool chunks_begin(struct chunks *c, const struct zsource *s, uint64_t start, uint64_t end,
                  bool careful, bool beside);

/* The next chunk, with the n_carry <= RECORD_MAX_ROW_BYTES + text_bytes bytes at `carry` in front
 * of its text; `carry` may lie in the chunk before, which is given back by this. *text is where the
 * carry begins; ROWINDEX_PADDING bytes are readable behind the text. */
const struct zresult *chunks_next(struct chunks *c, const char *carry, size_t n_carry,
                                  const char **text);

/* Stops reading. The last chunk is valid until the next range begins. */
void chunks_end(struct chunks *c);

/* True if nothing follows a chunk with this result. */
bool chunks_is_last(const struct zresult *result);

#endif
