/* Rank 0 reads the command line, and tells the others what to do. With one rank nothing happens. */
#ifndef S3_LOADGEN_RANKS_LEAD_H
#define S3_LOADGEN_RANKS_LEAD_H

#include "libcommon/err.h"

#include <stddef.h>

/* Hands the name of a command and its orders to the others. */
bool lead_hand_out(const char *command, char *orders, size_t n, struct err *e);

/* Tells the others that there are no more, and with which exit code to end. Returns it. */
int lead_dismiss(int status);

/* The whole of what the others do: calls `obey` with the orders of rank 0, until it dismisses them.
 * `obey` frees them (secret_free); false: *e says why it cannot, and all ranks end. Returns the
 * exit code. */
int lead_follow(const char *program,
                bool (*obey)(const void *ctx, const char *command, char *orders, size_t n,
                             struct err *e),
                const void *ctx);

#endif
