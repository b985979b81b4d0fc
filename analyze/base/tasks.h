/* Runs independent tasks on several threads. Each task writes only its own results, so the number
 * of threads changes the time but not the results. */
#ifndef S3_ANALYZE_BASE_TASKS_H
#define S3_ANALYZE_BASE_TASKS_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A running task may hold some 20 bytes per row, so only a few may run at a time. */
#define TASKS_MAX_THREADS 4

struct task {
    bool (*run)(void *arg, struct err *e);
    void *arg;
    uint64_t cost; /* in any unit; tasks with a high cost begin first */
};

/* Returns n_threads if it is not 0, else the number of CPUs that are online, at least 1. */
unsigned tasks_n_threads(unsigned n_threads);

/* Runs all n tasks on up to n_threads threads (0: one per CPU), never more than TASKS_MAX_THREADS;
 * the calling thread is one of them. False: out of memory, or tasks failed; then *e is the error of
 * the first failed task in the caller's order. */
bool tasks_run(struct task *tasks, size_t n, unsigned n_threads, struct err *e);

#endif
