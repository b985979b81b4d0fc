/* Option tables that several commands share (structs of analysis/load.h). */
#ifndef S3_ANALYZE_CMD_OPTIONS_H
#define S3_ANALYZE_CMD_OPTIONS_H

#include "analyze/tools/compare/run.h"
#include "libcommon/autoterm.h"
#include "libcommon/cli.h"

#include <stdint.h>

/* The autoterm settings for a replay. */
struct load_autoterm {
    int64_t dur_ns;
    double pct;
};
#define LOAD_AUTOTERM_DEFAULTS                                                                     \
    {                                                                                              \
        AUTOTERM_DEFAULT_DUR_NS, AUTOTERM_DEFAULT_PCT                                              \
    }

/* For load_input.say_dropped: says it on standard error. */
void options_say_dropped(const char *line);

/* Option tables for these structs, for a command's groups. --threads has a table of its own, since
 * not every command that reads can use it. */
extern const struct cli_option load_input_table[];
extern const struct cli_option load_threads_table[];
extern const struct cli_option load_together_table[]; /* several captures as one run */
extern const struct cli_option load_filter_table[];
extern const struct cli_option load_analysis_table[];
extern const struct cli_option load_autoterm_table[];

/* Returns the first of n files that holds this; NULL: none does. */
const char *options_first(const char *const *paths, size_t n, enum run_basis what);

/* For commands that need requests. False: *e names an operand that has none, and the commands that
 * read it. */
bool options_have_rows(const struct cli_args *args, struct err *e);

/* For the file `path`, which has no single requests: fails if an option is given that needs them,
 * or one of `more`, which NULL ends. `kind` says what the file is, such as "a file of sums". */
bool options_need_no_requests(const struct cli_args *args, const char *const *more,
                              const char *path, const char *kind, struct err *e);

#endif
