/* Command lines from tables: one table per command gives parsing, --help, man page and completion.
 *
 * A program is a list of commands; a command has groups of options and a function to run. cli_main
 * parses the command line into the command's own options struct and runs it. */
#ifndef S3_LIBCOMMON_CLI_H
#define S3_LIBCOMMON_CLI_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What an option takes, and the type of the field at its offset. */
enum cli_type {
    CLI_NONE,            /* ends a table */
    CLI_FLAG,            /* bool: --flag, --flag=false */
    CLI_STRING,          /* const char * */
    CLI_STRINGS,         /* struct cli_list: one value each time, may be repeated */
    CLI_LIST,            /* struct cli_list: values with commas between, may be repeated */
    CLI_OPERANDS,        /* struct cli_list: the arguments up to the next option; may be repeated */
    CLI_DURATION,        /* int64_t, ns */
    CLI_SIGNED_DURATION, /* int64_t, ns */
    CLI_SIZE,            /* int64_t, bytes */
    CLI_INT,             /* int64_t */
    CLI_DOUBLE,          /* double */
    CLI_PCT,             /* double: "7.5" or "7.5%" is 7.5 */
    CLI_RATE,            /* double, per second */
    CLI_CHOICE,          /* int: index into `choices` */
    CLI_CUSTOM,          /* whatever `parse` writes */
};

/* How s3load treats an option. It records settings, as they may change what is measured. It shows
 * the values of secrets nowhere. Each of its options declares its use. */
enum cli_use { CLI_UNDECLARED, CLI_SETTING, CLI_OTHER, CLI_SECRET };

/* The values of an option. Starts empty; the parsed arguments own it. */
struct cli_list {
    const char **v;
    size_t n;
};

/* Write it as {"name", TYPE, offsetof(...), "ARG", .help = "...", .alias = ...}: since .help is
 * named, compilers do not warn about fields that are left out. */
struct cli_option {
    const char *name; /* without dashes: "analyze.dur" */
    enum cli_type type;
    size_t offset;    /* of the field, in the struct of the group */
    const char *arg;  /* name of the value in help: "DUR"; NULL for flags. The shell completes FILE,
                         DIR and CAPTURE as paths. */
    const char *help; /* one short phrase, lower case, no full stop; the default is added */
    const char *alias; /* another long name: "dur" */
    char letter;       /* 'o': -o */
    enum cli_use is;
    double min, max; /* for numbers: inclusive range, checked if max > min; INFINITY is no limit */
    const char *const *choices; /* CLI_CHOICE: names, NULL at the end */
    /* CLI_LIST: returns the i-th value that the shell completes, NULL at the end. May be NULL. */
    const char *(*offered)(size_t i);
    /* CLI_CUSTOM: parses `text` into the field; or fills *e with what was expected. */
    bool (*parse)(const char *text, void *field, struct err *e);
};

/* Options under one heading. A group can be shared: `base` is the offset of the group's struct in
 * the options struct of the command. Groups that are shown after each other under the same title
 * are shown as one. */
struct cli_group {
    const char *title;                /* heading: "Filters" */
    const char *topic;                /* NULL: shown by --help, else by --help TOPIC */
    const struct cli_option *options; /* ends with an empty entry */
    size_t base;
};

struct cli_example {
    const char *command; /* "s3analyze analyze run.csv.zst" */
    const char *what;    /* what it does, one phrase */
};

/* An exit code other than 0 (done), 1 (failed) and 2 (wrong usage), for the man page. */
struct cli_exit {
    const char *code; /* "3" */
    const char *what; /* one phrase */
};

/* A parsed command line. */
struct cli_args {
    const char *program;
    const struct cli_command *command;
    int argc;
    char **argv; /* of cli_main */
    const char **operands;
    size_t n_operands;
    const char *help_topic; /* not NULL: help was asked for ("": the first page) */
    bool no_memory;         /* parsing ran out of memory; the usage is not wrong */
    struct cli_memory *memory;
};

#define CLI_ANY_NUMBER SIZE_MAX

struct cli_command {
    const char *name;
    const char *summary;  /* one phrase, lower case, no full stop */
    const char *text;     /* paragraphs for the man page, an empty line between; may be NULL */
    const char *operands; /* as in the usage line: "CAPTURE..."; NULL: none */
    size_t min_operands, max_operands;
    const char *unknown;                /* what to write if an option is not known; may be NULL */
    const struct cli_group *groups;     /* ends with an empty entry; may be NULL */
    const struct cli_example *examples; /* ends with an empty entry; may be NULL */
    size_t options_size;
    const void *defaults;         /* initial options struct; NULL: zeros */
    void (*put_more)(FILE *out);  /* text that --help TOPIC begins with; may be NULL */
    const char *more_topic;       /* that topic, which a group has, too */
    const struct cli_exit *exits; /* ends with an empty entry; may be NULL */
    const void *ctx;              /* for `run`, which finds it as args->command->ctx */
    /* Does the work: gets its options struct, returns an exit code. */
    int (*run)(const struct cli_args *args, void *options);
};

struct cli_program {
    const char *name;
    const char *summary;
    const char *version;
    const char *text;                          /* paragraphs for the man page; may be NULL */
    const struct cli_command *const *commands; /* NULL at the end */
    const struct cli_exit *exits;              /* for all commands; like struct cli_command's */
    void (*write_libraries)(FILE *out);        /* names and versions, for --version */
    /* For hints when the first argument is a file, or a command of the other program. */
    const char *file_command; /* the command to suggest for a file; NULL: none */
    const char *other_program;
    const char *const *other_commands; /* NULL at the end */
};

/* The whole of main: finds the command, parses its options, runs it, and checks that standard
 * output could be written. Returns the exit code. Resets SIGCHLD, so that commands can wait for
 * children. */
int cli_main(const struct cli_program *program, int argc, char **argv);

/* Parses argv[1..argc-1] (not argv[0]) into *args and *options, which holds the defaults. Strings
 * point into argv or are owned by *args: call cli_args_free in any case. Stops at --help without
 * further checks. False: wrong usage (*e says why), or out of memory (args->no_memory). */
bool cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *args,
               void *options, struct err *e);
void cli_args_free(struct cli_args *args);

/* Parses the value of a flag, or of a variable in place of one: true, yes, on, 1, t, y or their
 * opposites; case does not matter. */
bool cli_parse_flag(const char *text, bool *value, struct err *e);

/* Returns the index of a word in `choices`, which end with NULL; -1: the word is not there. */
int cli_choice(const char *const *choices, const char *text);

/* Returns true if the command line has the option of this full name. */
bool cli_given(const struct cli_args *args, const char *name);

/* Returns the full name of the i-th option on the command line; NULL: there are no more. */
const char *cli_given_at(const struct cli_args *args, size_t i);

/* For run functions: print "PROGRAM: message" to standard error and return the exit code
 * (EXIT_USAGE after err_usage). The second points to --help. */
int cli_failed(const struct cli_args *args, const struct err *e);
int cli_wrong_usage(const struct cli_args *args, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
