/* Reads captures of any generation (docs/how-the-numbers-are-made.md, section 1): plain or zstd,
 * one or many frames.
 *
 * A capture is cut into units (usually one zstd frame each), which are decompressed and parsed in
 * parallel. A sink gets the rows of a unit in order, on the thread that parses it. Units are
 * committed in file order, one at a time. A unit may be thrown away before its commit and read
 * again: when it began inside a quoted field, or below another header than assumed. */
#ifndef S3_ANALYZE_READ_RECFILE_H
#define S3_ANALYZE_READ_RECFILE_H

#include "libcommon/err.h"
#include "libcommon/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECFILE_MAX_WINDOW_LOG 27
#define RECFILE_MAX_FIELDS     256
/* Generations of files without rows. */
#define RECFILE_SUMS           -1
#define RECFILE_AGGREGATE      -2

/* The columns of the rows below a header line. */
struct recfile_layout {
    char delimiter;
    int n_fields;
    int generation;           /* 0..4, known by which columns there are */
    int16_t field[N_COLUMNS]; /* field index of each column, -1: absent */
};

/* Receives the rows. All functions get ctx. A sink without unit_new has no units and no commits: it
 * gets rows in file order from one thread, with unit NULL, and they are final at once. */
struct recfile_sink {
    void *ctx;
    /* A new unit, on any thread. NULL: failed, *e filled. */
    void *(*unit_new)(void *ctx, struct err *e);
    /* Rows of a unit, in order; one thread at a time per unit. Slices are valid during the call. */
    bool (*unit_rows)(void *ctx, void *unit, const struct record *rows, size_t n, struct err *e);
    /* Takes the rows given so far in this unit: they are final. Called in file order, for one unit
     * at a time; may be called several times for a unit. `input` is the index of the header line
     * that these rows are below, from 0. */
    bool (*unit_commit)(void *ctx, void *unit, uint32_t input, struct err *e);
    /* Frees a unit; rows that were not committed are forgotten. */
    void (*unit_free)(void *ctx, void *unit);
    /* A header line: the next commits are of rows below it. Called in file order; the first time
     * before any commit. May be NULL. */
    bool (*header)(void *ctx, const struct recfile_layout *layout, struct err *e);
    /* A comment line (without newline), in file order. May be NULL. */
    bool (*comment)(void *ctx, struct slice line, struct err *e);
};

struct recfile_options {
    bool salvage;     /* count and skip damage instead of stopping at it */
    unsigned threads; /* units read at the same time; 0: one per core, up to a limit */
    /* Size of the text buffer between decompressing and parsing; 0 means 1 MiB. A smaller one saves
     * memory. */
    size_t chunk_bytes;
    bool alone;        /* no helper thread decompresses ahead: for many captures at a time */
    bool portable;     /* no SIMD (tests) */
    bool all_slow;     /* every row through libcsv (tests) */
    size_t unit_bytes; /* compressed bytes of a unit of small frames; 0: 512 KiB (tests) */
    /* Called now and then with the compressed bytes read and the file's size (0: not known). */
    void (*progress)(void *ctx, uint64_t n_read, uint64_t n_total);
    void *progress_ctx;
};

enum recfile_drop { /* why something was dropped (salvage) */
                    DROP_BAD_ROW,
                    DROP_DAMAGED_FRAME, /* the partial line at a damaged place */
                    DROP_CUT_FRAME,     /* the file ends inside a frame */
                    DROP_GARBAGE,       /* bytes between frames that belong to no frame */
                    N_DROPS
};
extern const char *const recfile_drop_names[N_DROPS];

/* What was found in one file. */
struct recfile_info {
    int generation;
    bool compressed;
    uint64_t n_file_bytes; /* as stored; 0 while a pipe is being read */
    uint64_t n_done_bytes; /* of the file, up to the last commit */
    uint64_t n_text_bytes;
    uint64_t n_frames, n_skippable_frames;
    uint64_t n_rows; /* given to the sink */
    uint64_t n_lines;
    uint32_t n_headers;
    bool has_intended;
    uint64_t n_dropped[N_DROPS];
    uint64_t n_unverified;         /* rows of frames whose checksum failed */
    char first_drop[N_DROPS][256]; /* "FILE:LINE: why" of the first of each kind */
};

/* Returns "g0" .. "g4"; for files without rows "sums" or "aggregated". */
const char *recfile_generation(const struct recfile_info *info);

/* Returns how much was dropped for a reason, "1 bad row", "2,431 bad rows". */
struct recfile_dropped {
    char s[96];
};
struct recfile_dropped recfile_dropped(const struct recfile_info *info, enum recfile_drop why);

/* Returns info->first_drop of one of the reasons; NULL: nothing was dropped. */
const char *recfile_first_drop(const struct recfile_info *info);

/* Returns the sum of info->n_dropped. */
uint64_t recfile_n_dropped(const struct recfile_info *info);

/* Reads the capture at `path` ("-": standard input) into the sink; returns when all units are
 * committed. False: *e says "FILE:LINE: what is wrong", at the first damage (unless salvage is set)
 * or because the file cannot be read. Rows before the damage are committed then, and *info is
 * filled up to there. */
bool recfile_read(const char *path, const struct recfile_options *options,
                  const struct recfile_sink *sink, struct recfile_info *info, struct err *e);

#endif
