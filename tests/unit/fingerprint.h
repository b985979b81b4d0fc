/* A hash of all rows of a capture, to see whether two ways of reading or writing agree. */
#ifndef S3_FINGERPRINT_H
#define S3_FINGERPRINT_H

#include "analyze/read/recfile.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdint.h>

struct fingerprint {
    bool ok; /* the capture could be read */
    uint64_t hash, n_rows;
    uint64_t comments;       /* hash of the comments */
    bool refuse_single_rows; /* the sink fails to commit them */
    struct err err;
    struct recfile_info info;
};

/* Adds a row of the given input (a number that counts header lines). */
void fingerprint_add(struct fingerprint *f, const struct record *r, uint32_t input);

/* Reads a capture. *f starts as zeros, except for refuse_single_rows. */
void fingerprint_fill(struct fingerprint *f, const char *path, struct recfile_options options);
struct fingerprint fingerprint_read(const char *path, struct recfile_options options);

#endif
