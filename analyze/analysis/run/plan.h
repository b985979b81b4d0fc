/* The state of an analysis while it runs: analysis.c and drop.c work on it, as tasks on threads. */
#ifndef S3_ANALYZE_ANALYSIS_RUN_PLAN_H
#define S3_ANALYZE_ANALYSIS_RUN_PLAN_H

#include "analyze/base/tasks.h"
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

#define PLAN_TASKS_PER_ENTRY 7
#define PLAN_OTHER_TASKS     2

/* The cost of a task, in roughly ns per row on one core. The longest tasks must begin first, or
 * they would run alone at the end. */
enum plan_weight {
    WEIGHT_ERRORS = 1,
    WEIGHT_SCAN = 1,
    WEIGHT_SET = 1,
    WEIGHT_SEGMENTS = 2,
    WEIGHT_DURATIONS = 3, /* durations or times to first byte */
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

#endif
