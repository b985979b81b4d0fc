/* Totals of a run that another recorder made (docs/aggregated-captures.md), read into struct sums.
 * A second of theirs has only n_bytes, n_micro_objects, n_failed and n_started. All requests count,
 * failed ones too, and the failed in the second in which they started. n_started is 1 where the
 * file has the second, else 0. */
#ifndef S3_ANALYZE_ANALYSIS_SUMS_FOREIGN_INTERNAL_H
#define S3_ANALYZE_ANALYSIS_SUMS_FOREIGN_INTERNAL_H

#include "analyze/analysis/sums/sums.h"
#include "analyze/findings/course.h"
#include "analyze/read/aggfile.h"

/* What an entry of the file says beyond its sums. */
struct foreign_part {
    const struct aggfile_entry *x;
    bool ok_bytes_known, ok_objects_known; /* amounts of successful requests */
    int64_t ok_bytes, ok_objects;
    int shift_s; /* the file's labels of seconds are this much too early */
    bool shift_is_sure;
    bool misses_early; /* the series lacks requests that started before it did */
    int64_t early_s;   /* if so: those that started before this second since 1970 */
    bool is_complete;  /* no second was lost in a merge; else: */
    double lost_bytes, lost_objects;
};

struct foreign {
    struct aggfile file;
    bool is_merged;     /* made from several clients' files */
    size_t n_clients;   /* at least 1 */
    struct sums_op all; /* all operations together; its hosts and clients have seconds */
    /* Merged files: the clients' own series added up; n_started counts the clients that have the
     * second. The merge drops seconds that the first client lacks. */
    struct sums_part together;
    size_t n_missing; /* between seconds of a part; they take memory, but no text */
};

/* Some seconds that a file has, in order of time; they need not follow each other. */
struct foreign_seconds {
    size_t n;
    int64_t *at_s; /* since 1970 */
    struct sums_second *v;
};

/* Lists the seconds of p that `clients` clients have and that start in [from_ns, to_ns]. False: out
 * of memory. The caller calls foreign_seconds_fini in any case. */
bool foreign_seconds(struct foreign_seconds *x, const struct sums_part *p, int64_t clients,
                     int64_t from_ns, int64_t to_ns, struct err *e);
void foreign_seconds_fini(struct foreign_seconds *x);

void foreign_free(struct foreign *f);

/* Fills figures of requests from the groups of an entry. Returns false if out of memory. */
bool foreign_requests(struct requests *q, const struct aggfile_entry *x, struct err *e);

/* As sums_foreign_percentile, of an entry. */
bool foreign_percentile(struct sums_bounds *to, const struct aggfile_entry *x, uint32_t ppm,
                        struct err *e);

/* Returns the throughput over the whole time of `op`: of a host or client all requests, which are
 * those of g; of op itself (NULL) the successful ones, as far as the file has their amounts. */
struct throughput foreign_throughput(const struct sums_op *op, const struct sums_group *g);

/* Fills range and segments from the seconds of op, all its requests included. Returns false if out
 * of memory. */
bool foreign_segments(struct span *range, struct segments *to, const struct sums_op *op,
                      struct err *e);

/* Replaces range, throughput and segments of an operation by those of its whole seconds, and fills
 * its statistics. The throughput is absent where failed requests may be among its bytes and
 * objects. Returns false if out of memory. */
bool foreign_by_second(struct operation *to, const struct foreign *f, const struct sums_op *op,
                       bool is_mixed, struct err *e);

/* Returns means over the seconds that all clients of a merged file have. `present` is false for
 * other files. */
struct together foreign_together(const struct foreign *f);

/* Returns the grid of a part's series: its whole time by seconds, or longer steps. NULL: empty. */
struct slice_grid foreign_grid(const struct sums_part *p);

/* Fills the series of part p. If the file knows no second of a row, its objects are NAN and its
 * bytes mean nothing. `op`: take percentiles of its groups; NULL: none. is_main: p is what the
 * report is about. *n is 0 if p is NULL. The caller frees *rows. False: out of memory. */
bool foreign_series(const struct foreign *f, const struct sums_part *p, const struct sums_op *op,
                    bool is_main, const struct slice_grid *grid, struct series_row **rows,
                    size_t *n, struct err *e);

/* Says what the recorder gets wrong. Returns false if out of memory. */
bool foreign_notes(struct notes *to, const struct foreign *f, const struct analysis *a,
                   const struct sums_op *const *ops, struct err *e);

/* Fills the course of n operations that overlap, or of a single one. Returns false if out of
 * memory. */
bool foreign_course(struct course *c, const struct sums *s, const struct sums_op *const *ops,
                    size_t n, struct err *e);

#endif
