#include "analyze/analysis/run/run_internal.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stdlib.h>

bool plan_init(struct plan *p, struct analysis *a, struct dataset *d, struct err *e)
{
    *p = (struct plan){.d = d, .a = a, .n = d->n_tables};
    if (!mem_cleared(&p->entries, p->n, e) || !mem_new(&p->scans, p->n, e) ||
        !mem_new(&p->tables, p->n, e) ||
        !mem_new(&p->tasks, p->n * PLAN_TASKS_PER_ENTRY + PLAN_OTHER_TASKS, e) ||
        !mem_cleared(&a->operations, p->n, e) || !mem_cleared(&a->sources, p->n + 1, e))
        return false;
    for (size_t k = 0; k < p->n; k++)
        p->entries[k] = (struct plan_entry){
            .plan = p, .table = &d->tables[k], .name = d->ops.v[d->tables[k].op]};
    return true;
}

void plan_fini(struct plan *p)
{
    for (size_t k = 0; p->entries != NULL && k < p->n; k++) {
        scan_fini(&p->entries[k].scan);
        set_fini(&p->entries[k].set);
    }
    set_fini(&p->total);
    free(p->entries);
    free(p->scans);
    free(p->tables);
    free(p->tasks);
}

void plan_add_task(struct plan *p, bool (*run)(void *, struct err *), void *arg, size_t n_rows,
                   enum plan_weight weight)
{
    p->tasks[p->n_tasks++] = (struct task){run, arg, (uint64_t)n_rows * weight};
}

bool plan_run_tasks(struct plan *p, struct err *e)
{
    size_t n = p->n_tasks;
    p->n_tasks = 0;
    return tasks_run(p->tasks, n, p->a->options.threads, e);
}

static bool scan_entry(void *entry, struct err *e)
{
    struct plan_entry *x = entry;
    return scan_init(&x->scan, x->plan->d, x->table, e);
}

bool plan_scan(struct plan *p, struct err *e)
{
    for (size_t k = 0; k < p->n; k++)
        plan_add_task(p, scan_entry, &p->entries[k], p->entries[k].table->n, WEIGHT_SCAN);
    if (!plan_run_tasks(p, e))
        return false;
    p->a->run_start_ns = INT64_MAX;
    for (size_t k = 0; k < p->n; k++)
        p->a->run_start_ns =
            int64_min(p->a->run_start_ns, scan_part_first_start_ns(&p->entries[k].scan.all));
    return true;
}
