#include "libcommon/secret.h"
#include "libcommon/version.h"
#include "loadgen/run/bench_setup.h"

#include <stdlib.h>
#include <string.h>

/* What comes before orders, or says that there are no more. */
struct head {
    char version[64];
    char command[32]; /* "": go */
    uint64_t n_orders;
    int status;
};

static int start(const char *program, const struct cli_command *command, struct orders *d)
{
    struct bench *b = calloc(1, sizeof *b);

    if (b == NULL) {
        fprintf(stderr, "%s: out of memory\n", program);
        return EXIT_FAILED;
    }
    b->args = (struct cli_args){.program = program, .command = command};
    b->o = &d->options;
    b->kind = command->ctx;
    b->orders = d;
    b->team = (struct team){.rank = ranks_rank(),
                            .size = ranks_size(),
                            .timeout_ns = d->options.ranks.timeout_ns,
                            .fill = bench_figures,
                            .told = bench_told,
                            .ctx = b};
    /* Work that is no benchmark is done by rank 0, which the others know nothing of. */
    if (b->kind->run != NULL)
        b->team.size = 1;
    int status = b->kind->run != NULL ? b->kind->run(b) : bench_run(b);
    bench_tear_down(b);
    free(b);
    return status;
}

/* Tells the others what to do. */
static bool hand_out(const struct cli_command *command, const struct orders *d, struct err *e)
{
    struct head head = {.status = 0};
    size_t n = 0;

    if (ranks_size() == 1)
        return true;
    char *data = orders_pack(d, &n);
    if (data == NULL)
        return err_set(e, "out of memory");
    head.n_orders = n;
    snprintf(head.version, sizeof head.version, "%s", version_string);
    snprintf(head.command, sizeof head.command, "%s", command->name);
    bool ok = team_hand_out(&head, sizeof head) && team_hand_out(data, n);
    secret_free(data);
    return ok || err_set(e, "the other ranks cannot be told what to do");
}

int bench_main(const struct cli_args *args, void *options)
{
    const struct workload *kind = args->command->ctx;
    struct options *o = options;
    struct err e = {""};

    if (!options_complete(o, args, &e)) {
        int status = o->failed ? cli_failed(args, &e) : cli_wrong_usage(args, "%s", e.msg);
        options_free(o);
        return status;
    }
    const struct cli_command *const command[] = {args->command, NULL};
    char *command_line = options_redacted(command, args->argc, args->argv);
    struct orders d = {.options = *o};
    d.options.command_line = command_line;
    bool ok = command_line != NULL || err_set(&e, "out of memory");
    ok = ok && bench_choose_names(&d, args->command->name, &e) &&
         (kind->run != NULL || hand_out(args->command, &d, &e));
    int status = ok ? start(args->program, args->command, &d) : cli_failed(args, &e);
    free(command_line);
    options_free(&d.options);
    return status;
}

int bench_dismiss(int status)
{
    struct head head = {.status = status};

    team_hand_out(&head, sizeof head);
    return status;
}

static const struct cli_command *find(const struct cli_program *program, const char *name)
{
    for (const struct cli_command *const *c = program->commands; *c != NULL; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

/* Ranks that do not understand each other end all. */
_Noreturn static void fail(const struct cli_program *program, const char *why)
{
    fprintf(stderr, "%s: rank %d: %s\n", program->name, ranks_rank(), why);
    ranks_abort(EXIT_FAILED);
}

int bench_follow(const struct cli_program *program)
{
    struct head head;
    struct orders d;
    struct err e = {""};

    for (;;) {
        if (!team_hand_out(&head, sizeof head))
            fail(program, "rank 0 is lost");
        if (head.command[0] == '\0')
            return head.status;
        char *data = secret_alloc(head.n_orders);
        const struct cli_command *command = find(program, head.command);
        if (data == NULL)
            fail(program, "out of memory");
        if (command == NULL || strncmp(head.version, version_string, sizeof head.version - 1) != 0)
            fail(program, "this is another version of the program than that of rank 0");
        if (!team_hand_out(data, head.n_orders) || !orders_unpack(&d, data, head.n_orders, &e))
            fail(program, e.msg[0] != '\0' ? e.msg : "rank 0 is lost");
        secret_free(data);
        start(program->name, command, &d);
        options_free(&d.options);
    }
}
