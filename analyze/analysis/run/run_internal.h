/* The state of an analysis of rows: while it runs, analysis.c and drop.c work on it, as tasks on
 * threads; afterwards series.c does. */
#ifndef S3_ANALYZE_ANALYSIS_RUN_INTERNAL_H
#define S3_ANALYZE_ANALYSIS_RUN_INTERNAL_H

#include "analyze/base/tasks.h"
#include "analyze/data/group.h"
#include "analyze/data/slices.h"
#include "analyze/summary/requests/requests.h"
#include "analyze/summary/sets/set.h"

/* The state of one operation type, which becomes a struct operation. */
struct plan_entry {
    struct plan *plan;
    struct table *table;
    const char *name;
    struct scan scan;
    struct scan_keep keep;
    struct operation *op;
    struct set set;
    struct requests_work requests;
};

struct plan {
    struct dataset *d;
    struct analysis *a;
    struct plan_entry *entries; /* in the order of the operations, once this is known */
    size_t n;
    const struct scan **scans; /* by entry, as are the tables */
    const struct table **tables;
    bool prefiltered, errors;
    enum range_kind kind; /* of operations, hosts and the total; not RANGE_AUTO */
    struct set total;
    int64_t run_ns; /* duration of the benchmark: first start to last end */
    struct task *tasks;
    size_t n_tasks;
};

#define PLAN_TASKS_PER_ENTRY 6
#define PLAN_OTHER_TASKS     2

/* The cost of a task, in roughly ns per row on one core. The longest tasks must begin first, or
 * they would run alone at the end. */
enum plan_weight {
    WEIGHT_ERRORS = 1,
    WEIGHT_SCAN = 1,
    WEIGHT_SET = 1,
    WEIGHT_SEGMENTS = 2,
    WEIGHT_TIMES = 6, /* of hosts and clients */
    WEIGHT_COURSE = 6,
    WEIGHT_STATISTICS = 7,
    WEIGHT_ACCESS = 15, /* for many objects */
    WEIGHT_SIZES = 25,
};

/* Fills the entries from the dataset's tables, and makes room for the results in *a. Returns false
 * if out of memory. The caller calls plan_fini in any case. */
bool plan_init(struct plan *p, struct analysis *a, struct dataset *d, struct err *e);
void plan_fini(struct plan *p);

/* Adds a task; the costliest start first. Between two calls of plan_run_tasks there is room for
 * PLAN_TASKS_PER_ENTRY tasks per entry and PLAN_OTHER_TASKS more. */
void plan_add_task(struct plan *p, bool (*run)(void *, struct err *), void *arg, size_t n_rows,
                   enum plan_weight weight);

/* Runs all tasks added since the last call. Returns false if one failed. */
bool plan_run_tasks(struct plan *p, struct err *e);

/* Scans all tables and finds when the run began. */
bool plan_scan(struct plan *p, struct err *e);

/* ---- Dropping ---- */

/* Drops the requests that skip, from and to leave out. Call it after plan_scan. */
bool drop_early_and_late(struct plan *p, struct err *e);

/* Drops the requests outside of the time that all threads, or all clients, share
 * (docs/how-the-numbers-are-made.md, section 2). Runs the waiting tasks before it drops rows. */
bool drop_outside(struct plan *p, struct err *e);

/* True if the active range covers under half of the set. */
bool drop_is_short(const struct set *s);
/* A task: adds the single range's figures to an entry whose own set is short. */
bool drop_fill_single(void *entry, struct err *e);

/* ---- Series ---- */

/* The input of the series of one operation, or of the total; kept in the analysis. */
struct analysis_source {
    const struct table **tables;
    size_t n_tables;
    struct group_keys hosts;
    struct slice_grid grid; /* n = 0: no segments */
    bool has_range;
    int64_t segment_ns; /* > 0 even without a range */
    int64_t first_start_ns, last_end_ns;
    struct group_rows *rows; /* by table; NULL until a host's series is asked for */
};

void analysis_source_fini(struct analysis_source *s);

#endif
