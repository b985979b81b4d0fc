/* Totals of a run that another recorder made (docs/aggregated-captures.md), read into struct sums.
 * A second of theirs has only n_bytes, n_micro_objects, n_failed and n_started. All requests count,
 * failed ones too, and the failed in the second in which they started. n_started is 1 where the
 * file has the second, else 0. */
#ifndef S3_ANALYZE_ANALYSIS_SUMS_FOREIGN_INTERNAL_H
#define S3_ANALYZE_ANALYSIS_SUMS_FOREIGN_INTERNAL_H

#include "analyze/analysis/sums/sums.h"
#include "analyze/findings/course.h"

/* One second of a series. The recorder's label is too early. */
struct foreign_second {
    int64_t label_s; /* since 1970 */
    double bytes_per_s, objects_per_s;
    int64_t n_errors; /* failed requests that started in this second */
};

/* How the times of a series are off. */
struct foreign_labels {
    int shift_s; /* the file's labels of seconds are this much too early */
    bool shift_is_sure;
    bool misses_early; /* the series lacks requests that started before it did */
    int64_t early_s;   /* if so: those that started before this second since 1970 */
};

/* What an entry of the file says beyond its sums. */
struct foreign_part {
    struct foreign_second *seconds; /* by label */
    size_t n_seconds;
    bool has_window;                     /* the file has a series, and its own sums of it: */
    double window_bytes, window_objects; /* 0: no series */
    int64_t n_window_errors;             /* requests that started in the window and failed */
    size_t n_client_names;               /* length of the file's separate list of client names */
    char **group_clients;
    size_t n_group_clients;
    struct request_group *groups; /* as in the file: by client, then by time */
    size_t n_groups, n_empty_groups;
    /* What follows from it. */
    bool ok_bytes_known, ok_objects_known; /* amounts of successful requests */
    int64_t ok_bytes, ok_objects;
    struct foreign_labels labels;
    bool is_complete; /* no second was lost in a merge; else: */
    double lost_bytes, lost_objects;
};

struct foreign {
    const char *path; /* borrowed */
    char *command, *version;
    struct sums_op *hosts,
        *clients; /* entries, by name; the sums of those with series move to `all` */
    size_t n_hosts, n_clients;
    bool is_merged;     /* made from several clients' files */
    size_t n_ran;       /* clients that ran, at least 1 */
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
void foreign_part_free(struct foreign_part *p);

/* Reads a file, plain or one zstd frame, into s->ops and *s->foreign. Memory grows with the number
 * of seconds, hosts, clients and groups, not with the size of the text. False: *e says "FILE:
 * path.to.key: what is wrong". */
bool foreign_read(struct sums *s, const char *path, struct err *e);

/* Fills figures of requests from the groups of an operation. Returns false if out of memory. */
bool foreign_requests(struct requests *q, const struct sums_op *op, struct err *e);

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

/* Says what the recorder gets wrong. Returns false if out of memory. */
bool foreign_notes(struct notes *to, const struct foreign *f, const struct analysis *a,
                   const struct sums_op *const *ops, struct err *e);

/* Fills the course of n operations that overlap, or of a single one. Returns false if out of
 * memory. */
bool foreign_course(struct course *c, const struct sums *s, const struct sums_op *const *ops,
                    size_t n, struct err *e);

#endif
