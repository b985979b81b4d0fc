/* Finds out what a capture holds, in one pass and in memory that hardly grows with its rows. `info`
 * shows it; `cat` and `merge` need it before they write. */
#ifndef S3_ANALYZE_CAPTURE_STREAM_SURVEY_H
#define S3_ANALYZE_CAPTURE_STREAM_SURVEY_H

#include "analyze/base/keptlines.h"
#include "analyze/read/recfile.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SURVEY_KEPT_COMMENTS 64   /* at the beginning, and as many at the end */
#define SURVEY_KEPT_MACHINE  4320 /* the same for comments about machines: 12 h of them */
#define SURVEY_MACHINE_BYTES 4096 /* the longest comment about a machine */
#define SURVEY_BLOCK_ROWS    512
#define SURVEY_BLOCK_BYTES   (256u << 10)

/* Sums over the requests of an operation, a host, a client or a group. */
struct survey_sum {
    uint64_t n, n_errors;
    __int128 n_bytes;                    /* of successful requests */
    int64_t first_start_ns, last_end_ns; /* first > last: none */
};

#define SURVEY_SUM_NONE ((struct survey_sum){.first_start_ns = INT64_MAX, .last_end_ns = INT64_MIN})

struct survey_part {
    char *name;
    struct survey_sum sum;
};

struct survey_parts {
    struct survey_part *v;
    size_t n;
};

struct survey_group {
    uint32_t op, host, client; /* indices into the parts */
    struct survey_sum sum;
};

/* The rows below one header line. */
struct survey_section {
    uint64_t n_rows;
    uint32_t top_thread; /* the highest number; 0 without rows */
};

/* A block of successive rows: at most SURVEY_BLOCK_ROWS, and about SURVEY_BLOCK_BYTES at most. */
struct survey_block {
    uint32_t n_rows;
    int64_t first_start_ns;
};

struct survey {
    struct recfile_info info;
    struct survey_sum sum;                   /* of all requests */
    struct survey_parts ops, hosts, clients; /* sorted by name */
    struct survey_group *groups;             /* in no particular order */
    size_t n_groups;
    struct survey_section *sections;
    size_t n_sections;
    uint64_t n_threads;
    struct keptlines comments; /* lines with their '#' */
    struct keptlines machine;  /* comments of s3load about its machine during a run; each line
                                  begins with the number of comments before it and a blank */
    /* Only with_blocks: the blocks in file order, and a hash of all rows without their idx, thread,
     * cat and intended. The hash does not depend on the order of rows. */
    struct survey_block *blocks;
    size_t n_blocks;
    uint64_t rows_hash;
};

/* Reads the capture at `path`. False: *e says why. The caller calls survey_free in any case. */
bool survey_read(struct survey *s, const char *path, const struct recfile_options *options,
                 bool with_blocks, struct err *e);
void survey_free(struct survey *s);

/* Returns the part called `name`; NULL: there is none. */
const struct survey_part *survey_find(const struct survey_parts *parts, const char *name);

/* Goes through all kept comments, in the order of the file. Starts as zeros. */
struct survey_at {
    size_t i, k;
};

/* Returns the next comment, with its '#'; NULL: there is no more. */
const char *survey_next_comment(const struct survey *s, struct survey_at *at);

/* Returns how many captures were merged into this one, by its comments; 0: it was not merged. */
size_t survey_n_merged(const struct survey *s);

/* Returns the JSON text of s3load's first comment ("# s3load/1 {...}"), or with `closing` of its
 * last. NULL: there is none, or the capture was merged. */
const char *survey_s3load_json(const struct survey *s, bool closing);

/* Returns the comment with the recorder's command line, without "# "; NULL: none. */
const char *survey_command_line(const struct survey *s);

#endif
