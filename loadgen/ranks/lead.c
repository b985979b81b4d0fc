#include "loadgen/ranks/lead.h"

#include "libcommon/mem.h"
#include "libcommon/secret.h"
#include "libcommon/version.h"
#include "loadgen/ranks/team.h"

/* What comes before orders, or says that there are no more. */
struct head {
    char version[64];
    char command[32]; /* "": go */
    uint64_t n_orders;
    int status;
};

bool lead_hand_out(const char *command, char *orders, size_t n, struct err *e)
{
    struct head head = {.n_orders = n};

    snprintf(head.version, sizeof head.version, "%s", version_string);
    snprintf(head.command, sizeof head.command, "%s", command);
    return (team_hand_out(&head, sizeof head) && team_hand_out(orders, n)) ||
           err_set(e, "the other ranks cannot be told what to do");
}

int lead_dismiss(int status)
{
    struct head head = {.status = status};

    team_hand_out(&head, sizeof head);
    return status;
}

/* Ranks that do not understand each other end all. */
_Noreturn static void fail(const char *program, const char *why)
{
    fprintf(stderr, "%s: rank %d: %s\n", program, ranks_rank(), why);
    ranks_abort(EXIT_FAILED);
}

int lead_follow(const char *program,
                bool (*obey)(const void *ctx, const char *command, char *orders, size_t n,
                             struct err *e),
                const void *ctx)
{
    struct head head;
    struct err e = {""};

    for (;;) {
        if (!team_hand_out(&head, sizeof head))
            fail(program, "rank 0 is lost");
        if (head.command[0] == '\0')
            return head.status;
        if (strncmp(head.version, version_string, sizeof head.version - 1) != 0)
            fail(program, "this is another version of the program than that of rank 0");
        char *orders = secret_alloc(head.n_orders);
        if (orders == NULL)
            fail(program, "out of memory");
        if (!team_hand_out(orders, head.n_orders))
            fail(program, "rank 0 is lost");
        if (!obey(ctx, head.command, orders, head.n_orders, &e))
            fail(program, e.msg);
    }
}
