/* The options of commands that write a report: in what form, and where to. */
#ifndef S3_OUTPUT_H
#define S3_OUTPUT_H

#include "cli.h"

#include <stdbool.h>
#include <stdio.h>

struct output_options {
    const char *path; /* "-": standard output */
    bool json, no_color;
};

/* Option tables of the struct above: --json and --no-color; --output. */
extern const struct cli_option output_form_table[];
extern const struct cli_option output_file_table[];

/* Whether a text that goes to `f` is to be coloured. */
bool output_wants_colour(const struct output_options *o, FILE *f);

#endif
