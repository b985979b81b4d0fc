/* Several captures of one run to one: what they are and whether they belong together (merge.c),
 * what is to be said about them (merge_notes.c), and their rows in order of start (merge_write.c).
 */
#ifndef S3_ANALYZE_STREAM_MERGE_H
#define S3_ANALYZE_STREAM_MERGE_H

#include "analyze/base/progress.h"
#include "analyze/data/rank_clock.h"
#include "analyze/stream/survey.h"
#include "libcommon/err.h"
#include "libcommon/recwrite.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of rows that wait in memory for earlier ones. */
#define MERGE_MAX_BYTES (64u << 20)

/* --shift K=D: all times of the K-th input (from 1) move by D. */
struct merge_shift {
    size_t input;
    int64_t by_ns;
};

struct merge_options {
    const struct merge_shift *shifts;
    size_t n_shifts;
    bool force; /* merge inputs that do not overlap, or have some rows in common, too */
    bool salvage;
    unsigned threads; /* of the first pass; 0: one per core */
    size_t max_bytes; /* 0: MERGE_MAX_BYTES */
    struct progress *progress;
};

struct merge_input {
    const char *path; /* borrowed */
    const char *name; /* the path's last part */
    struct survey survey;
    uint64_t *thread_bases; /* offset of the threads, by section of the survey */
    uint64_t thread_top;    /* 1 + its highest thread in the result */
    int64_t shift_ns;
    struct rank_clock clock; /* of a rank: all times are moved to the clock of rank 0, too */
    /* By what its times become; only if it has rows. */
    int64_t start_ns, end_ns;
    int64_t overlap_ns; /* time in which at least one other input runs too */
    /* Its servers' clock against its own, from the recorder's comment: ahead by clock_ns +- error.
     */
    bool has_clock;
    int64_t clock_ns, clock_error_ns;
    /* Rows that another input has too; found while writing. */
    uint64_t n_duplicates;
    size_t duplicate_of;
};

struct merge_note {
    const char *code; /* "no-common-time" */
    char *message;
};

struct merge {
    struct merge_input *inputs; /* in order of the command line, which numbers the threads */
    size_t n_inputs;
    size_t *by_time; /* indices of inputs in an order that does not depend on it */
    bool has_intended;
    uint64_t n_rows;
    int64_t start_ns, end_ns;               /* of all; start > end: no rows */
    int64_t common_start_ns, common_end_ns; /* in which all run; start > end: never */
    struct merge_note *notes;
    size_t n_notes;
};

/* Reads the inputs once. False if they cannot be merged: unreadable, the same rows twice, a thread
 * number past 2^32-1, or an input that overlaps with no other (unless forced). The caller calls
 * merge_free, on failure too; `paths` must live as long. */
bool merge_plan(struct merge *m, const char *const *paths, size_t n_paths,
                const struct merge_options *options, struct err *e);
void merge_free(struct merge *m);

/* Adds what a reader of the result should know: settings that differ, clocks that disagree. */
bool merge_add_notes(struct merge *m, struct err *e);
bool merge_add_note(struct merge *m, struct err *e, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads the inputs again and writes all rows, below comments that say what went in. The writer has
 * the column `intended` if m->has_intended. */
bool merge_write(struct merge *m, const struct merge_options *options, struct recwrite *w,
                 struct err *e);

/* What is added to times of the input about that one of its own. */
static inline int64_t merge_moved_ns(const struct merge_input *in, int64_t at_ns)
{
    return in->shift_ns - rank_clock_ahead(&in->clock, at_ns);
}

static inline bool merge_has_rows(const struct merge_input *in)
{
    return in->survey.sum.n > 0;
}

#endif
