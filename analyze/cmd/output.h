/* The options of commands that write a report: its form and its place. */
#ifndef S3_ANALYZE_CMD_OUTPUT_H
#define S3_ANALYZE_CMD_OUTPUT_H

#include "analyze/analysis/run/load.h"
#include "analyze/write/outfile.h"
#include "analyze/write/sheet.h"
#include "libcommon/cli.h"

#include <stdbool.h>
#include <stdio.h>

struct output_options {
    const char *path;   /* "-": standard output */
    const char *html;   /* file for the page; NULL: none */
    const char *series; /* file for the time series; NULL: none */
    bool json, markdown, csv, csv_safe, no_color, verbose, force;
};

/* Option tables for the struct above: --json and --no-color; --output and --force; --markdown, -v
 * and --html; --csv and --csv-safe. */
extern const struct cli_option output_form_table[];
extern const struct cli_option output_file_table[];
extern const struct cli_option output_page_table[];
extern const struct cli_option output_csv_table[];

/* The page beside a report: the options that chose its requests. */
struct output_page {
    const struct output_options *output;
    const struct load_filter *filter;
    const struct load_analysis *analysis;
    const struct cli_args *args;
};

/* Calls `write` to write the page, unless there is none. `write` gets how requests were chosen and
 * cut (load_words) and the command line. False: *e says why. */
typedef bool output_page_writer(const void *ctx, const char *words, const char *command, FILE *f,
                                struct err *e);
bool output_page(const struct output_page *o, output_page_writer *write, const void *ctx,
                 struct err *e);

/* Return which files the report and the time series may overwrite: any file with --force, else one
 * of their own kind. A text report overwrites nothing, since it looks like any other text. */
enum outfile_replaces output_replaces(const struct output_options *o);
enum outfile_replaces output_replaces_series(const struct output_options *o);

/* Checks that one form is chosen for the report, and that no two outputs go to the same place. */
bool output_check(const struct output_options *o, struct err *e);

/* Checks that the ending of the report's name (NULL: none) is that of its form: a text report in
 * FILE.html is a mistake. *e names the option that is meant. */
bool output_fits(const struct output_options *o, const struct cli_args *args, struct err *e);

/* Checks that all outputs can be written, before there is work to do. */
bool output_can_write(const struct output_options *o, struct err *e);

/* Checks that none of the outputs is one of the n inputs, as outfile_spares does. */
bool output_spares(const struct output_options *o, const char *const *inputs, size_t n,
                   struct err *e);

/* Checks the outputs against the files that values of --slo name (@FILE), too. */
bool output_spares_slo(const struct output_options *o, const struct cli_list *slo, struct err *e);

/* Parses the name of a page or a time series (CLI_CUSTOM, of a const char *). Refuses names of
 * captures, which the user meant as an operand, and of formats that we do not write. */
bool output_parse_path(const char *text, void *field, struct err *e);

/* Writes a blank, and a text as one word of a shell. */
void output_word(FILE *f, const char *text);

/* Returns "operations GET, PUT; without the first 3s of each operation": the options that choose
 * requests and cut time; "" if all are as by default. The caller frees it. NULL: out of memory. */
char *load_words(const struct load_filter *filter, const struct load_analysis *analysis);

/* Returns the form of a text that is written to `f`. */
struct sheet_form output_form(const struct output_options *o, FILE *f);

#endif
