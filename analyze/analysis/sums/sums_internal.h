#ifndef S3_ANALYZE_ANALYSIS_SUMS_SUMS_INTERNAL_H
#define S3_ANALYZE_ANALYSIS_SUMS_SUMS_INTERNAL_H

#include "analyze/analysis/sums/sums.h"
#include "analyze/findings/course.h"
#include "analyze/read/aggbytes.h"
#include "libcommon/segment.h"

/* The beginning of a file of sums, by which it is recognised. */
#define SUMS_BEGINNING AGGBYTES_SUMS "1\""

/* The names of the columns of struct sums_second in the file. */
extern const char *const sums_columns[SUMS_N_COLUMNS + 1];

static inline int64_t *sums_cell(struct sums_second *s, size_t column)
{
    int64_t *const cells[SUMS_N_COLUMNS] = {&s->n_started, &s->n_ended,         &s->n_failed,
                                            &s->n_bytes,   &s->n_micro_objects, &s->busy_ns,
                                            &s->ended_ns,  &s->late_ns};
    return cells[column];
}

/* The input of an analysis of sums; kept for the series. */
struct sums_source {
    const struct sums *sums;
    const struct sums_op **ops;    /* in the order of the analysis */
    struct slice_grid *grids;      /* one per operation, then the total's; n = 0: no segments */
    struct sums_groups all, hosts; /* of all operations; all: one group, or none without sums */
    struct notes notes;
    bool by_clients; /* only the time in which all clients ran counts: `together` */
    struct segment_range together;
};

/* Adds up the seconds of a group's parts in [start, end), both whole seconds. */
struct sums_second sums_seconds_of(const struct sums_group *g, int64_t start_ns, int64_t end_ns);

/* Sets *e: a sum exceeds 63 bits. Always returns false. */
bool sums_overflow(struct err *e);

/* Checks the limits of a file of sums. False: *e says which of them is exceeded. */
bool sums_check_limits(const struct sums *s, struct err *e);

/* Adds all figures of `from` to `to`. */
bool sums_part_add(struct sums_part *to, const struct sums_part *from, struct err *e);

void sums_part_free(struct sums_part *p);
void sums_parts_free(struct sums_parts *parts);
void sums_op_free(struct sums_op *op);

struct times sums_times(const struct sums_values *v);

/* Returns the durations and times to first byte of a part. */
struct durations sums_durations(const struct sums_part *p);

static inline double sums_objects(const struct sums_second *s)
{
    return (double)s->n_micro_objects / SUMS_MICRO;
}

struct slice_amounts sums_amounts(const struct sums_second *s);

/* Fills to->statistics from a part's histograms and from n seconds. False: *e says why. */
bool sums_statistics(struct operation *to, const struct sums_part *p,
                     const struct series_row *seconds, size_t n, struct err *e);

/* Fills the request statistics of an operation. Returns false if out of memory. */
bool sums_requests(struct requests *r, const struct sums_op *op, struct err *e);

/* Fills the course of n operations. Returns false if out of memory. The caller calls course_fini in
 * any case. */
bool sums_course(struct course *c, const struct sums *s, const struct sums_op *const *ops, size_t n,
                 struct err *e);

/* Fills hosts or clients of the c->n_ops operations from `ops` on. Returns false if out of memory.
 */
bool sums_course_parties(struct course *c, struct course_parties *to, const struct sums_op *ops,
                         bool are_seconds_known, struct err *e);

/* Returns the index of a host or client that is there. */
size_t sums_course_party(const struct course_parties *p, const char *name);

/* Sort, and join entries that compare equal. */
int sums_compare_parts(const void *a, const void *b);
int sums_compare_ops(const void *a, const void *b);
bool sums_parts_join(struct sums_parts *parts, struct err *e);
bool sums_errors_join(struct sums_op *op, struct err *e);
bool sums_ops_join(struct sums *s, struct err *e);

#endif
