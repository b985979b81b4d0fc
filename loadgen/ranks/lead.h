/* Rank 0 reads the command line, and tells the others what to do. With one rank nothing happens. */
#ifndef S3_LOADGEN_RANKS_LEAD_H
#define S3_LOADGEN_RANKS_LEAD_H

#include "libcommon/err.h"

#include <stddef.h>

struct lead {
    char version[64]; /* of rank 0's program */
    char command[32]; /* "": there are no more */
    size_t n_orders;
    int status; /* to end with, then */
};

/* Hands the name of a command and its orders to the others. */
bool lead_hand_out(const char *command, char *orders, size_t n, struct err *e);

/* Tells the others that there are no more, and with which exit code to end. Returns it. */
int lead_dismiss(int status);

/* Waits for what rank 0 hands out: *orders, which the caller frees (secret_free). False: there are
 * no more. */
bool lead_follow(struct lead *head, char **orders);

/* Ends all ranks, which do not understand each other. */
_Noreturn void lead_fail(const char *why);

#endif
