#include "libcommon/cli.h"

#include "libcommon/cli_help.h"
#include "libcommon/mem.h"
#include "libcommon/suggest.h"
#include "libcommon/visible.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void hint(const char *program, const struct cli_command *command)
{
    fprintf(stderr, "Try '%s%s%s --help'.\n", program, command ? " " : "",
            command ? command->name : "");
}

int cli_failed(const struct cli_args *args, const struct err *e)
{
    visible_line(stderr, "%s: %s", args->program, e->msg);
    return e->is_usage ? EXIT_USAGE : EXIT_FAILED;
}

int cli_wrong_usage(const struct cli_args *args, const char *fmt, ...)
{
    va_list va;
    va_start(va, fmt);
    fprintf(stderr, "%s: ", args->program);
    visible_vline(stderr, fmt, va);
    va_end(va);
    hint(args->program, args->command);
    return EXIT_USAGE;
}

static const struct cli_command *find_command(const struct cli_program *program, const char *name)
{
    for (const struct cli_command *const *c = program->commands; *c; c++) {
        if (strcmp((*c)->name, name) == 0)
            return *c;
    }
    return NULL;
}

/* If the name is a file, or a command of the other program, prints a hint and returns true. */
static bool is_misplaced(const struct cli_program *program, const char *name)
{
    if (program->file_command && access(name, F_OK) == 0) {
        fprintf(stderr, "%s: '%s' is a file, not a command: did you mean '%s %s %s'?\n",
                program->name, name, program->name, program->file_command, name);
        return true;
    }
    for (const char *const *c = program->other_commands; c && *c; c++)
        if (strcmp(*c, name) == 0) {
            fprintf(stderr, "%s: '%s' is a command of %s: did you mean '%s %s'?\n", program->name,
                    name, program->other_program, program->other_program, name);
            return true;
        }
    return false;
}

static int unknown_command(const struct cli_program *program, const char *name)
{
    if (is_misplaced(program, name)) {
        hint(program->name, NULL);
        return EXIT_USAGE;
    }
    struct suggest s;
    suggest_init(&s, name, strlen(name));
    for (const struct cli_command *const *c = program->commands; *c; c++)
        suggest_offer(&s, (*c)->name);
    const char *what = name[0] == '-' && name[1] ? "option" : "command";
    const char *bare = name + strspn(name, "-");
    const char *foreign = suggest_for_foreign(bare, strcspn(bare, "="));
    const char *best = foreign ? foreign : s.best;
    const char *begin = foreign ? ": " : ": did you mean '";
    /* Do not print what follows '=': it may be a secret. */
    visible_line(stderr, "%s: unknown %s '%.*s'%s%s%s", program->name, what,
                 (int)strcspn(name, "="), name, best ? begin : "", best ? best : "",
                 best && !foreign ? "'?" : "");
    hint(program->name, NULL);
    return EXIT_USAGE;
}

static int run_command(const struct cli_program *program, const struct cli_command *command,
                       int argc, char **argv)
{
    struct err e = {0};
    struct cli_args args = {.program = program->name};
    int status = EXIT_FAILED;
    char *options;

    if (!mem_cleared(&options, command->options_size, &e))
        return cli_failed(&args, &e);
    if (command->defaults)
        memcpy(options, command->defaults, command->options_size);
    bool ok = cli_parse(command, argc - 1, argv + 1, &args, options, &e);
    args.program = program->name;
    args.argc = argc;
    args.argv = argv;
    if (!ok && args.no_memory) {
        status = cli_failed(&args, &e);
    } else if (!ok) {
        status = cli_wrong_usage(&args, "%s", e.msg);
    } else if (args.help_topic) {
        cli_help_command(stdout, program->name, command, args.help_topic);
        status = EXIT_DONE;
    } else {
        status = command->run(&args, options);
    }
    cli_args_free(&args);
    free(options);
    return status;
}

/* For the Makefile: names of man pages, one page, one completion script. Not in --help. */
static int dump(const struct cli_program *program, const char *what, const char *name)
{
    if (strcmp(what, "--dump-pages") == 0 && !name) {
        puts(program->name);
        for (const struct cli_command *const *c = program->commands; *c; c++)
            printf("%s-%s\n", program->name, (*c)->name);
        return EXIT_DONE;
    }
    if (strcmp(what, "--dump-man") == 0 && name) {
        size_t n = strlen(program->name);
        bool is_command = strncmp(name, program->name, n) == 0 && name[n] == '-';
        const struct cli_command *command = is_command ? find_command(program, name + n + 1) : NULL;

        if (command || strcmp(name, program->name) == 0) {
            cli_man_write(stdout, program, command);
            return EXIT_DONE;
        }
    }
    if (strcmp(what, "--dump-completion") == 0 && name &&
        cli_completion_write(stdout, name, program))
        return EXIT_DONE;
    return unknown_command(program, what);
}

static int dispatch(const struct cli_program *program, int argc, char **argv)
{
    if (argc < 2) {
        cli_help_program(stderr, program);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    const char *second = argc > 2 ? argv[2] : NULL;
    const struct cli_command *command = find_command(program, name);
    if (command)
        return run_command(program, command, argc, argv);
    bool is_help =
        strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0;
    if (is_help && second) {
        command = find_command(program, second);
        if (!command)
            return unknown_command(program, second);
        char *words[] = {argv[0], argv[2], "--help", argv[3]};
        return run_command(program, command, argc > 3 ? 4 : 3, words);
    }
    if (is_help) {
        cli_help_program(stdout, program);
        return EXIT_DONE;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        printf("%s %s\n", program->name, program->version);
        program->write_libraries(stdout);
        puts("License GPL-3.0-or-later. This is free software; there is no warranty.");
        return EXIT_DONE;
    }
    if (strncmp(name, "--dump-", 7) == 0)
        return dump(program, name, second);
    for (int i = 2; i < argc && name[0] == '-'; i++)
        if ((command = find_command(program, argv[i])))
            return cli_wrong_usage(&(struct cli_args){.program = program->name, .command = command},
                                   "options follow the command: %s %s %.*s ...", program->name,
                                   argv[i], (int)strcspn(name, "="), name);
    return unknown_command(program, name);
}

/* Occupies the numbers of standard streams that are closed, so that no output file gets one: it
 * would get the messages, too. Such a stream is opened in the wrong direction, so that using it
 * still fails with EBADF. */
static void occupy_closed_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

int cli_main(const struct cli_program *program, int argc, char **argv)
{
    occupy_closed_streams();
    /* If a parent left SIGCHLD ignored, we could not learn how a child of ours ended. */
    signal(SIGCHLD, SIG_DFL);
    int status = dispatch(program, argc, argv);
    /* A full disk or a closed pipe must not pass for success. */
    errno = 0;
    bool had_error = ferror(stdout) != 0, ok = fflush(stdout) == 0 && !had_error;
    /* stdio does not keep why an earlier write failed. Another one fails for the same reason. */
    if (!ok && errno == 0 && write(STDOUT_FILENO, "\n", 1) == 1)
        errno = EIO;
    int cause = errno;
    if (fclose(stdout) != 0 && ok) {
        ok = false;
        cause = errno;
    }
    /* A failed command has already reported that standard output was closed from the beginning. */
    bool said = status == EXIT_FAILED && cause == EBADF && !had_error;
    if (!ok && !said) {
        fprintf(stderr, "%s: cannot write standard output: %s\n", program->name,
                strerrordesc_np(cause));
        if (status == EXIT_DONE)
            status = EXIT_FAILED;
    }
    return status;
}
