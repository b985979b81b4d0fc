/* The analysis of a dataset on its way; shared by analysis.c and analysis_drop.c. */
#ifndef S3_ANALYSIS_PLAN_H
#define S3_ANALYSIS_PLAN_H

#include "analysis_internal.h"
#include "tasks.h"

/* Requests that start in [from_ns, last_ns] and end at end_ns or before. */
struct plan_keep {
    int64_t from_ns, last_ns, end_ns;
};

#define PLAN_KEEP_ALL ((struct plan_keep){INT64_MIN, INT64_MAX, INT64_MAX})

/* One operation type on its way to a struct operation. */
struct plan_entry {
    struct plan *plan;
    struct table *table;
    const char *name;
    struct scan scan;
    struct plan_keep keep;
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
    struct run_scan run_scan;
    struct task *tasks;
    size_t n_tasks;
};

/* ---- analysis.c ---- */

/* Adds a piece of work; the dearest begin first. There is room for 7 per entry and 2 more. */
void plan_add_task(struct plan *p, bool (*run)(void *, struct err *), void *arg, size_t n_rows,
                   unsigned weight);
/* Does all pieces added since the last call. */
bool plan_run_tasks(struct plan *p, struct err *e);

#define PLAN_TASKS_PER_ENTRY 7
#define PLAN_OTHER_TASKS     2

/* ---- analysis_drop.c ---- */

/* Scans all tables. */
bool plan_scan(struct plan *p, struct err *e);
/* Drops what skip, from and to leave out. After plan_scan; scans again what changed, as the next
 * one does. */
bool plan_drop_early_and_late(struct plan *p, struct err *e);
/* Drops what lies outside the time that all threads, or all clients, have in common (section 7). */
bool plan_drop_outside(struct plan *p, struct err *e);

/* Whether the set's active range keeps under half of it. */
bool plan_is_short(const struct set *s);
/* The figures of an entry's single range beside, for an entry whose own set is short. */
bool plan_fill_single(void *entry, struct err *e);

#endif
