/* Runs independent pieces of work on several threads. Each writes results of its own, so that the
 * number of threads changes nothing but the time. */
#ifndef S3_ANALYZE_BASE_TASKS_H
#define S3_ANALYZE_BASE_TASKS_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of work may hold some 20 bytes a row while it runs: never many of them at a time. */
#define TASKS_MAX_THREADS 4

struct task {
    bool (*run)(void *arg, struct err *e);
    void *arg;
    uint64_t cost; /* the dearest begin first */
};

/* CPUs that are online, at least 1; or n_threads, where a user asks for so many (0: does not). */
unsigned tasks_n_threads(unsigned n_threads);

/* Runs all n tasks on up to n_threads threads, this one included; 0: one per core; never on more
 * than TASKS_MAX_THREADS. False: one failed; *e is that of the failed
 * one that stands first in the caller's order. */
bool tasks_run(struct task *tasks, size_t n, unsigned n_threads, struct err *e);

#endif
