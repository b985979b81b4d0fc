/* The text of a range of a capture in pieces, decompressed on the calling thread or on one beside
 * it. In front of each piece is room for the end of the piece before it, so that a row that lies
 * across the two stands in one place. */
#ifndef S3_CHUNKS_H
#define S3_CHUNKS_H

#include "err.h"
#include "recfile.h"
#include "zsource.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text of a chunk where nothing else is wanted. */
#define CHUNKS_TEXT_BYTES (512u << 10)

struct chunk {
    char *mem;             /* room for a carry, then the text, then padding */
    struct zresult result; /* what came; result.n bytes of text */
};

struct chunks {
    size_t text_bytes, carry_bytes;
    struct zreader *zreader;
    struct chunk own;
    size_t own_bytes;           /* of text that there is room for */
    struct chunks_ahead *ahead; /* the thread beside; NULL: none */
    bool held;                  /* the chunk given last is one of ahead's */
};

/* text_bytes: of a chunk; 0: CHUNKS_TEXT_BYTES. */
bool chunks_init(struct chunks *c, size_t text_bytes, struct err *e);
void chunks_fini(struct chunks *c);

/* Begins to read [start, end) of s (careful: zsource.h). With `beside` a thread is started that
 * decompresses ahead (where none can be had, the caller's does it). Without, frames of which none
 * has more than text_bound bytes (0: not known) are held as a whole if that is not much.
 * chunks_end must follow. */
void chunks_begin(struct chunks *c, const struct zsource *s, uint64_t start, uint64_t end,
                  bool careful, bool beside, uint64_t text_bound);

/* The next chunk, with the n_carry <= RECFILE_MAX_ROW_BYTES + text_bytes bytes at `carry` in front
 * of its text; `carry` may lie in the chunk before, which is given back by this. *text is where the
 * carry begins; ROWINDEX_PADDING bytes are readable behind the text. */
const struct zresult *chunks_next(struct chunks *c, const char *carry, size_t n_carry,
                                  const char **text);

/* Stops reading; the last chunk is no longer valid. */
void chunks_end(struct chunks *c);

/* True if nothing follows a chunk with this result. */
bool chunks_is_last(const struct zresult *result);

#endif
