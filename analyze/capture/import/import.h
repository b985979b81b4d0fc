/* Converts recordings of other programs to captures: reads their requests, sorts them by start and
 * assigns threads. The capture's comments say what a format lacks; every command respects them
 * (docs/other-tools.md). */
#ifndef S3_ANALYZE_CAPTURE_IMPORT_IMPORT_H
#define S3_ANALYZE_CAPTURE_IMPORT_IMPORT_H

#include "analyze/base/progress.h"
#include "analyze/read/recfile.h"
#include "libcommon/err.h"
#include "libcommon/recwrite.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Index into import_format_names, which ends with NULL. */
enum import_format { IMPORT_HEY, IMPORT_AB, IMPORT_MC_TRACE, IMPORT_S3_LOG };
extern const char *const import_format_names[];

struct import_options {
    enum import_format format;
    const char *op, *host;     /* hey and ab do not record them */
    int64_t start_ns;          /* when the run of hey began; 0: not known */
    bool salvage;              /* skip and count lines that cannot be read */
    struct progress *progress; /* may be NULL */
    size_t max_bytes;          /* of rows in memory; 0: 64 MiB */
};

/* Why a line of a recording is not in the capture. */
enum import_left {
    IMPORT_NO_REQUEST,
    IMPORT_NO_TIME,
    IMPORT_NO_STATUS,
    IMPORT_TWICE,
    N_IMPORT_LEFT
};
extern const char *const import_left_names[N_IMPORT_LEFT]; /* "that are ..." */

/* What was read, and what is known about it. */
struct import_result {
    uint64_t n_rows;
    uint64_t n_left_out_as[N_IMPORT_LEFT]; /* by reason */
    uint64_t n_threads;
    struct recfile_info skipped; /* what salvage skipped */
    bool is_cut;                 /* the program may have kept only a part of the requests */
    char ended_by[256];          /* the error that ended the recording; "": none */
    const char *absent;          /* what the format lacks, for people: "sizes, keys, hosts" */
};

/* Reads n_paths recordings as one ("-": standard input), and writes comments and rows to a capture
 * that was just opened. Rows are written once all are read. False: *e says why, with file and line
 * for damaged input; no request at all is an error, too. */
bool import_recordings(const char *const *paths, size_t n_paths, const struct import_options *o,
                       struct recwrite *w, struct import_result *result, struct err *e);

#endif
