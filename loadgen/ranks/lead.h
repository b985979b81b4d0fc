/* Rank 0 reads the command line and tells the other ranks what to do. One rank tells nobody. */
#ifndef S3_LOADGEN_RANKS_LEAD_H
#define S3_LOADGEN_RANKS_LEAD_H

#include "libcommon/err.h"

#include <stddef.h>

struct lead {
    char version[64]; /* of rank 0's program */
    char command[32]; /* "": there are no more */
    size_t n_options;
    int status; /* to end with, then */
};

/* Hands the name of a command and its packed options to the others. */
bool lead_hand_out(const char *command, char *options, size_t n, struct err *e);

/* Tells the others to end with this exit code. Returns it. */
int lead_dismiss(int status);

/* Waits for a command of rank 0 and its packed options, which the caller frees with secret_free.
 * False: there are no more. */
bool lead_follow(struct lead *head, char **options);

/* Ends all ranks, as they cannot work together. */
_Noreturn void lead_fail(const char *why);

#endif
