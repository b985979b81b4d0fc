/* The analysis of a dataset on its way; shared by analysis.c and analysis_drop.c. */
#ifndef S3_ANALYZE_ANALYSIS_PLAN_H
#define S3_ANALYZE_ANALYSIS_PLAN_H

#include "analyze/analysis/analysis_internal.h"
#include "analyze/base/tasks.h"

/* One operation type on its way to a struct operation. */
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
    struct plan_entry *entries; /* in the order of the operations, once that is known */
    size_t n;
    const struct scan **scans; /* theirs */
    bool prefiltered, errors;
    enum range_kind kind; /* of types, hosts and the total; not RANGE_AUTO */
    struct set total;
    int64_t run_ns; /* of the benchmark: first start to last end */
    struct task *tasks;
    size_t n_tasks;
};

/* ---- analysis.c ---- */

/* Adds a piece of work; the dearest begin first. There is room for 7 per entry and 1 more. */
void plan_add_task(struct plan *p, bool (*run)(void *, struct err *), void *arg, size_t n_rows,
                   unsigned weight);
/* Does all pieces added since the last call. */
bool plan_run_tasks(struct plan *p, struct err *e);

#define PLAN_TASKS_PER_ENTRY 7
#define PLAN_OTHER_TASKS     1

/* ---- analysis_drop.c ---- */

/* Scans all tables. */
bool plan_scan(struct plan *p, struct err *e);
/* Drops what skip, from and to leave out. After plan_scan. */
bool plan_drop_early_and_late(struct plan *p, struct err *e);
/* Drops what lies outside the time that all threads, or all clients, have in common (section 7). */
bool plan_drop_outside(struct plan *p, struct err *e);

/* Whether the set's active range keeps under half of it. */
bool plan_is_short(const struct set *s);
/* The figures of an entry's single range beside, for an entry whose own set is short. */
bool plan_fill_single(void *entry, struct err *e);

#endif
