/* Recordings of other programs to captures: reads their requests, sorts them by start and gives
 * them threads. What a format does not tell stands in the capture's comments, which every command
 * respects (docs/other-tools.md). */
#ifndef S3_ANALYZE_IMPORT_IMPORT_H
#define S3_ANALYZE_IMPORT_IMPORT_H

#include "analyze/base/progress.h"
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
    struct progress *progress; /* may be NULL */
    size_t max_bytes;          /* of rows in memory; 0: 64 MiB */
};

/* What was read, and what of it is known. */
struct import_result {
    uint64_t n_rows;
    uint64_t n_left_out; /* lines that are no request of S3, or have no duration */
    uint64_t n_threads;  /* set by import_write */
    bool is_cut;         /* the program may have kept only a part of the requests */
};

struct import;

/* Reads n_paths recordings as one ("-": standard input). NULL: *e says why, for damaged input with
 * file and line; also where there is no request. */
struct import *import_read(const char *const *paths, size_t n_paths,
                           const struct import_options *options, struct err *e);
void import_free(struct import *m);

/* Writes comments and rows. *result lives as long as `m`. */
bool import_write(struct import *m, struct recwrite *w, struct err *e);
const struct import_result *import_result(const struct import *m);

/* What a format does not tell, for people: "no failed requests, sizes, hosts or clients". */
const char *import_absent(enum import_format format);

#endif
