/* A lock that a load holds on its machine, so that two loads do not measure each other. It is
 * advisory: flock on a file that everyone may open. */
#ifndef S3_LOADGEN_UTIL_TURNSTILE_H
#define S3_LOADGEN_UTIL_TURNSTILE_H

#include <stdbool.h>

struct turnstile {
    int fd;     /* of the file; 0: not opened, -1: it cannot be had */
    bool holds; /* we have the lock, or it does not matter */
};

/* Tries to take the lock for the run of that id, and returns whether it has it, or another process
 * of the same run. A file that cannot be used locks nothing, and counts as taken. The variable
 * S3LOAD_LOCK names another file than /tmp/s3load.lock; empty, it names none. */
bool turnstile_pass(struct turnstile *t, const char *run_id);

/* Gives the lock back. A struct of zeros has none. */
void turnstile_leave(struct turnstile *t);

#endif
