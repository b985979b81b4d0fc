#include "loadgen/ranks/lead.h"

#include "libcommon/secret.h"
#include "libcommon/version.h"
#include "loadgen/ranks/team.h"

bool lead_hand_out(const char *command, char *options, size_t n, struct err *e)
{
    struct lead head = {.n_options = n};

    snprintf(head.version, sizeof head.version, "%s", version_string);
    snprintf(head.command, sizeof head.command, "%s", command);
    return (team_hand_out(&head, sizeof head) && team_hand_out(options, n)) ||
           err_set(e, "the other ranks cannot be told what to do");
}

int lead_dismiss(int status)
{
    struct lead head = {.status = status};

    team_hand_out(&head, sizeof head);
    return status;
}

_Noreturn void lead_fail(const char *why)
{
    fprintf(stderr, "%s: rank %d: %s\n", ranks_program, ranks_rank(), why);
    ranks_abort(EXIT_FAILED);
}

bool lead_follow(struct lead *head, char **options)
{
    if (!team_hand_out(head, sizeof *head))
        lead_fail("rank 0 is lost");
    if (head->command[0] == '\0')
        return false;
    if (strncmp(head->version, version_string, sizeof head->version - 1) != 0)
        lead_fail("this is another version of the program than that of rank 0");
    *options = secret_alloc(head->n_options);
    if (*options == NULL)
        lead_fail("out of memory");
    if (!team_hand_out(*options, head->n_options))
        lead_fail("rank 0 is lost");
    return true;
}
