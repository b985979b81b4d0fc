/* The option tables that commands which read captures share (structs of analysis/load.h). */
#ifndef S3_ANALYZE_CMD_OPTIONS_H
#define S3_ANALYZE_CMD_OPTIONS_H

#include "analyze/analysis/load.h"
#include "libcommon/autoterm.h"
#include "libcommon/cli.h"

#include <stdint.h>

/* The settings of autoterm that a run is replayed with. */
struct load_autoterm {
    int64_t dur_ns;
    double pct;
};
#define LOAD_AUTOTERM_DEFAULTS                                                                     \
    {                                                                                              \
        AUTOTERM_DEFAULT_DUR_NS, AUTOTERM_DEFAULT_PCT                                              \
    }

/* Option tables of the structs above, for a command's groups. --threads is apart, since not every
 * command that reads has a use for it. */
extern const struct cli_option load_input_table[];
extern const struct cli_option load_threads_table[];
extern const struct cli_option load_together_table[]; /* where several captures are one run */
extern const struct cli_option load_filter_table[];
extern const struct cli_option load_analysis_table[];
extern const struct cli_option load_autoterm_table[];

#endif
