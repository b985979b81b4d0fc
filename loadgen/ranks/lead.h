/* Rank 0 reads the command line and sends commands to the other ranks. A single rank sends
 * nothing. */
#ifndef S3_LOADGEN_RANKS_LEAD_H
#define S3_LOADGEN_RANKS_LEAD_H

#include "libcommon/err.h"

#include <stddef.h>

struct lead {
    char version[64]; /* version of rank 0's program */
    char command[32]; /* "": no more commands */
    size_t n_options;
    int status; /* exit status, after the last command */
};

/* Sends the name of a command and its packed options to the other ranks. */
bool lead_hand_out(const char *command, char *options, size_t n, struct err *e);

/* Makes the other ranks end with this exit status, and returns it. */
int lead_dismiss(int status);

/* Waits for a command from rank 0 and its packed options, which the caller frees with secret_free.
 * Returns false if there are no more commands. */
bool lead_follow(struct lead *head, char **options);

/* Ends all ranks, because they cannot work together; prints why. */
_Noreturn void lead_fail(const char *why);

#endif
