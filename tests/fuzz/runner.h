/* Commands of s3analyze in a fuzz target: their files are in a folder that is removed at the end,
 * there is no gnuplot, and what they say on standard error is kept. */
#ifndef S3_FUZZ_RUNNER_H
#define S3_FUZZ_RUNNER_H

#include "libcommon/cli.h"
#include "libcommon/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Makes the folder; false: it is there already. */
bool runner_init(void);

/* The path of a file in the folder. */
struct runner_path {
    char s[40];
};
struct runner_path runner_path(const char *name);

void runner_write(const char *path, const void *data, size_t n);

/* Runs a command with words as its arguments, NULL at the end. A command that failed, or was used
 * wrongly, must have said why in one line (and a hint) after the program's name. */
enum exit_code runner_run(const struct cli_command *command, const char *const *words);

/* The number of bytes that the last command wrote to standard error. */
size_t runner_n_said(void);

/* Checks that the file exists or not, and removes it. */
void runner_check_written(const char *path, bool expected);

/* The JSON document in a file, to be freed. */
json_t *runner_read_json(const char *path);

/* Checks that the file has no RUNNER_MARKUP, which begins no element of our pages. */
#define RUNNER_MARKUP "<zq"
void runner_check_no_markup(const char *path);

#endif
