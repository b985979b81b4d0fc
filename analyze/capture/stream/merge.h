/* Merges several captures of one run into one. merge.c checks whether they belong together,
 * merge_notes.c makes notes about them, merge_write.c writes their rows in order of start. */
#ifndef S3_ANALYZE_CAPTURE_STREAM_MERGE_H
#define S3_ANALYZE_CAPTURE_STREAM_MERGE_H

#include "analyze/base/notes.h"
#include "analyze/base/progress.h"
#include "analyze/capture/stream/survey.h"
#include "analyze/data/rank_clock.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recwrite;

/* The most bytes of rows that wait in memory for earlier rows. */
#define MERGE_MAX_BYTES (64u << 20)

/* --shift K=D: adds D to all times of input K (from 1). */
struct merge_shift {
    size_t input;
    int64_t by_ns;
};

struct merge_options {
    const struct merge_shift *shifts;
    size_t n_shifts;
    bool force; /* also merge inputs that do not overlap in time or that share rows */
    bool salvage;
    unsigned threads; /* of the first pass; 0: one per core */
    size_t max_bytes; /* 0: MERGE_MAX_BYTES */
    struct progress *progress;
};

struct merge_input {
    const char *path; /* borrowed */
    const char *name; /* the path's last part */
    struct survey survey;
    uint64_t *thread_bases; /* added to thread numbers, by section of the survey */
    uint64_t thread_top;    /* 1 + its highest thread in the result */
    int64_t shift_ns;
    struct rank_clock clock;  /* of a rank: all times are moved to the clock of rank 0 */
    int64_t start_ns, end_ns; /* after both moves; only if it has rows */
    int64_t overlap_ns;       /* time in which at least one other input runs, too */
    /* The servers' clock is ahead of this input's by clock_ns +- clock_error_ns, as the recorder's
     * comment says. */
    bool has_clock;
    int64_t clock_ns, clock_error_ns;
    /* Rows that input duplicate_of has, too; counted while writing. */
    uint64_t n_duplicates;
    size_t duplicate_of;
};

struct merge {
    struct merge_input *inputs; /* in the order of the command line; threads are numbered so */
    size_t n_inputs;
    size_t *by_time; /* indices of inputs by start, whatever their order on the command line */
    bool has_intended;
    uint64_t n_rows;
    int64_t start_ns, end_ns;               /* of all inputs together; start > end: no rows */
    int64_t common_start_ns, common_end_ns; /* while all inputs run; start > end: never */
    struct notes notes;
};

/* Reads the inputs once. False: they cannot be merged, and *e says why: an input is unreadable, two
 * have the same rows, a thread number is past 2^32-1, or an input overlaps with no other (unless
 * forced). The caller calls merge_free, after a failure, too; `paths` must live until then. */
bool merge_plan(struct merge *m, const char *const *paths, size_t n_paths,
                const struct merge_options *options, struct err *e);
void merge_free(struct merge *m);

/* Adds notes on what users of the result should know, such as settings that differ and clocks that
 * disagree. False: out of memory. */
bool merge_add_notes(struct merge *m, struct err *e);

/* Reads the inputs again. Writes comments that describe them, then all rows. The writer must have
 * the column `intended` if m->has_intended. False: *e says why. */
bool merge_write(struct merge *m, const struct merge_options *options, struct recwrite *w,
                 struct err *e);

/* Returns what to add to the input's times near at_ns, a time of its own clock. */
static inline int64_t merge_moved_ns(const struct merge_input *in, int64_t at_ns)
{
    return in->shift_ns - rank_clock_ahead(&in->clock, at_ns);
}

static inline bool merge_has_rows(const struct merge_input *in)
{
    return in->survey.sum.n > 0;
}

#endif
