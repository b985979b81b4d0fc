/* The options of commands that write a report: in what form, and where to. */
#ifndef S3_ANALYZE_CMD_OUTPUT_H
#define S3_ANALYZE_CMD_OUTPUT_H

#include "analyze/write/outfile.h"
#include "libcommon/cli.h"

#include <stdbool.h>
#include <stdio.h>

struct output_options {
    const char *path; /* "-": standard output */
    bool json, no_color, force;
};

/* Option tables of the struct above: --json and --no-color; --output and --force. */
extern const struct cli_option output_form_table[];
extern const struct cli_option output_file_table[];

/* What the report, the page and the time series may replace: with --force anything, else what they
 * are made again for. Text has nothing that tells it from other text. */
enum outfile_replaces output_replaces(const struct output_options *o);
enum outfile_replaces output_replaces_page(const struct output_options *o);
enum outfile_replaces output_replaces_series(const struct output_options *o);

/* Parses the name of a page or a time series (CLI_CUSTOM, of a const char *): not that of a
 * capture, which an option without its value takes, nor of what we do not write. */
bool output_parse_path(const char *text, void *field, struct err *e);

/* Whether a text that goes to `f` is to be coloured. */
bool output_wants_colour(const struct output_options *o, FILE *f);

/* The command line as a page names it: files without their folders, addresses without who they are
 * for, in quotes where a shell needs them. To be freed; NULL: out of memory. */
char *output_command(const struct cli_args *args);

#endif
