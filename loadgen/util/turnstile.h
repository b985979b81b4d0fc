/* A lock of the machine for one load at a time, so that two loads do not measure each other. It is
 * advisory: flock on a file that everyone may open. */
#ifndef S3_LOADGEN_UTIL_TURNSTILE_H
#define S3_LOADGEN_UTIL_TURNSTILE_H

#include <stdbool.h>

struct turnstile {
    int fd;     /* file descriptor; 0: not opened, -1: cannot be opened */
    bool holds; /* we have the lock, or it does not matter */
};

/* Tries to take the lock for the run of that id. Returns whether this process or another one of the
 * same run has it. If the file cannot be used, there is no lock, and the result is true. The
 * variable S3LOAD_LOCK names another file than /tmp/s3load.lock; if it is empty, there is no
 * file. */
bool turnstile_pass(struct turnstile *t, const char *run_id);

/* Releases the lock. A struct of zeros has none. */
void turnstile_leave(struct turnstile *t);

#endif
