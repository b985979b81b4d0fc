/* A capture as the output of a command: a recwrite onto an outfile, and the options for both. */
#ifndef S3_ANALYZE_CAPTURE_STREAM_CAPTURE_OUT_H
#define S3_ANALYZE_CAPTURE_STREAM_CAPTURE_OUT_H

#include "analyze/write/outfile.h"
#include "libcommon/cli.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdint.h>

struct capture_out_options {
    const char *path; /* "-": standard output */
    bool compress;
    int64_t level; /* 0: default */
    bool force;
};

/* Options --output, --force, --compress and --level. */
extern const struct cli_option capture_out_table[];

struct capture_out {
    const struct capture_out_options *options;
    struct outfile file;
    struct recwrite *writer; /* NULL until capture_out_start */
};

/* Checks the output path with outfile_check. False: *e says why it cannot be written. */
bool capture_out_check(const struct capture_out_options *options, struct err *e);

/* Opens the file. The caller has checked that it is none of the captures to read. False: *e says
 * why; a terminal is refused. */
bool capture_out_open(struct capture_out *c, const struct capture_out_options *options,
                      struct err *e);

/* Begins the capture, compressed if the options ask for it or the name ends in .zst. */
bool capture_out_start(struct capture_out *c, bool intended, unsigned threads, struct err *e);

/* If the capture is complete, writes what is left and renames the file to its final name; else
 * removes what was written and returns false. Closes *c in any case. False: *e says why. */
bool capture_out_finish(struct capture_out *c, bool complete, struct err *e);

#endif
