/* Reads the text of a range of a capture in chunks, decompressed by the caller's thread or by a
 * helper thread. The incomplete row at the end of a chunk is copied in front of the next one, so
 * that every row is contiguous in memory. */
#ifndef S3_ANALYZE_READ_CHUNKS_H
#define S3_ANALYZE_READ_CHUNKS_H

#include "analyze/read/zreader.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The default size of a chunk's text. */
#define CHUNKS_TEXT_BYTES (1u << 20)

struct chunks {
    size_t text_bytes;
    struct zreader *zreader;
    struct zresult own;         /* the last chunk, if there is no helper thread */
    struct chunks_ahead *ahead; /* the helper thread; NULL: none */
    bool held;                  /* the last chunk belongs to `ahead` */
};

/* text_bytes is the size of a chunk's text; 0: CHUNKS_TEXT_BYTES. False: out of memory. */
bool chunks_init(struct chunks *c, size_t text_bytes, struct err *e);
void chunks_fini(struct chunks *c);

/* Begins to read bytes [start, end) of s; see zreader.h for `careful`. `beside` starts a helper
 * thread that decompresses ahead; if it cannot be started, the caller's thread decompresses. False:
 * out of memory. After success, call chunks_end. */
bool chunks_begin(struct chunks *c, const struct zsource *s, uint64_t start, uint64_t end,
                  bool careful, bool beside);

/* Returns the next chunk. Copies the n_carry <= RECORD_MAX_ROW_BYTES + text_bytes bytes at `carry`
 * in front of its text and sets *text to their beginning. `carry` may lie in the previous chunk,
 * which is no longer valid afterwards. ROWINDEX_PADDING bytes after the text are readable. */
const struct zresult *chunks_next(struct chunks *c, const char *carry, size_t n_carry,
                                  const char **text);

/* Stops reading. The last chunk is valid until the next range begins. */
void chunks_end(struct chunks *c);

/* Whether a chunk with this result is the last one. */
bool chunks_is_last(const struct zresult *result);

#endif
