#include "analyze/base/tasks.h"

#include "libcommon/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct job {
    struct task task;
    size_t place; /* in the caller's order */
    bool ok;
    struct err e;
};

struct queue {
    struct job *jobs;
    size_t n;
    atomic_size_t next;
};

static int compare_costs(const void *a, const void *b)
{
    const struct job *x = a, *y = b;
    if (x->task.cost != y->task.cost)
        return x->task.cost > y->task.cost ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static void *work(void *arg)
{
    struct queue *q = arg;
    size_t i;

    while ((i = atomic_fetch_add(&q->next, 1)) < q->n)
        q->jobs[i].ok = q->jobs[i].task.run(q->jobs[i].task.arg, &q->jobs[i].e);
    return NULL;
}

unsigned tasks_n_threads(unsigned n_threads)
{
    long n_cores = n_threads > 0 ? (long)n_threads : sysconf(_SC_NPROCESSORS_ONLN);

    return n_cores > 0 ? (unsigned)n_cores : 1;
}

bool tasks_run(struct task *tasks, size_t n, unsigned n_threads, struct err *e)
{
    struct queue q = {.n = n};
    if (!mem_cleared(&q.jobs, n, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        q.jobs[i].task = tasks[i];
        q.jobs[i].place = i;
    }
    qsort(q.jobs, n, sizeof *q.jobs, compare_costs);

    n_threads = tasks_n_threads(n_threads);
    pthread_t others[TASKS_MAX_THREADS];
    size_t n_others = 0;
    /* Makes do with fewer threads if pthread_create fails. */
    while (n_others + 1 < n_threads && n_others + 1 < n && n_others + 1 < TASKS_MAX_THREADS &&
           pthread_create(&others[n_others], NULL, work, &q) == 0)
        n_others++;
    work(&q);
    for (size_t i = 0; i < n_others; i++)
        pthread_join(others[i], NULL);

    const struct job *failed = NULL;
    for (size_t i = 0; i < n; i++)
        if (!q.jobs[i].ok && (failed == NULL || q.jobs[i].place < failed->place))
            failed = &q.jobs[i];
    if (failed != NULL)
        err_pass(e, &failed->e);
    bool ok = failed == NULL;
    free(q.jobs);
    return ok;
}
