/* Shared by commands that read many runs, one after another in time. */
#ifndef S3_ANALYZE_CMD_ARCHIVE_H
#define S3_ANALYZE_CMD_ARCHIVE_H

#include "analyze/analysis/run/load.h"
#include "analyze/cmd/options.h"
#include "analyze/cmd/output.h"
#include "analyze/tools/archive/archive.h"
#include "analyze/write/sheet.h"
#include "libcommon/cli.h"
#include "libcommon/err.h"

#include <stdbool.h>

struct archive_given {
    struct load_filter filter;
    struct load_analysis analysis;
    struct load_input input;
    struct output_options output;
    bool no_cache;
};

/* Options of the struct above; the rest comes from the shared tables. */
extern const struct cli_option archive_cache_table[];

/* The groups of these options and of the shared tables: `common` is the struct above. */
#define ARCHIVE_GROUPS(given)                                                                      \
    {"Output", NULL, output_form_table, offsetof(given, common.output)},                           \
        {"Output", NULL, output_file_table, offsetof(given, common.output)},                       \
        {"Output", NULL, output_page_table, offsetof(given, common.output)},                       \
        {"Which requests", "filters", load_filter_table, offsetof(given, common.filter)},          \
        {"Analysis", "filters", load_analysis_table, offsetof(given, common.analysis)},            \
        {"Reading", NULL, archive_cache_table, offsetof(given, common)},                           \
        {"Reading", "filters", load_input_table, offsetof(given, common.input)},                   \
        {"Reading", "filters", load_threads_table, offsetof(given, common.input)}, {0},

#define ARCHIVE_DEFAULTS                                                                           \
    {                                                                                              \
        .input = {.say_dropped = options_say_dropped}, .output = {.path = "-" }                    \
    }

/* What runs are reduced to, so that their figures are of one kind. */
enum archive_as {
    ARCHIVE_AS_THEY_ARE,
    ARCHIVE_AS_SUMS,  /* if some are sums */
    ARCHIVE_AS_LEAST, /* the least that one of them has, as cmp does it */
};

/* Checks that the outputs can be written, then finds and reads the runs that the operands name.
 * Call archive_free in any case. */
bool archive_read(struct archive *a, const struct archive_given *o, const struct cli_args *args,
                  enum archive_as as, struct err *e);

/* Writes the report, and the page if one is wanted. The writers get `ctx`. */
struct archive_writers {
    void (*sheet)(struct sheet *s, const void *ctx);
    bool (*data)(const void *ctx, FILE *f, struct err *e); /* in place of the sheet; NULL: none */
    output_page_writer *page;
};
bool archive_write(const struct archive_given *o, const struct cli_args *args,
                   const struct archive_writers *write, const void *ctx, struct err *e);

#endif
