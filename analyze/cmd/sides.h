/* The two sides of a comparison: the options that name their captures, and the runs that were read.
 */
#ifndef S3_ANALYZE_CMD_SIDES_H
#define S3_ANALYZE_CMD_SIDES_H

#include "analyze/render/plot/compare.h"
#include "analyze/tools/compare/compare.h"
#include "analyze/tools/compare/run.h"
#include "libcommon/cli.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

struct sides_options {
    struct cli_list before, after;        /* captures */
    const char *before_name, *after_name; /* NULL: "before", "after" */
};

/* Option table for the struct above. */
extern const struct cli_option sides_table[];

/* True if --before or --after is given. */
bool sides_given(const struct sides_options *o);

/* If one is given, checks that both are and that there are no operands, which the message calls
 * `operands`. */
bool sides_check(const struct sides_options *o, const struct cli_args *args, const char *operands,
                 struct err *e);

/* Copies JSON from a pipe to a temporary file (aggpipe_spool). Sets *basis to what the captures
 * of both sides allow to compare. */
bool sides_spool(const struct sides_options *o, enum run_basis *basis, struct err *e);

/* Returns what n captures allow to compare together with `others`. */
enum run_basis sides_basis(enum run_basis others, const char *const *paths, size_t n);

/* Some runs. Starts zeroed. */
struct sides_runs {
    struct run *v;
    size_t n;
};

/* Adds the runs of n captures. The caller calls sides_runs_free in any case. */
bool sides_runs_add(struct sides_runs *r, const char *const *paths, size_t n,
                    const struct run_options *how, struct err *e);
void sides_runs_free(struct sides_runs *r);

/* The runs of both sides. Starts zeroed. */
struct sides {
    struct sides_runs before, after;
};

/* Reads the captures of both sides and, unless `traces` is NULL, what charts need. The caller calls
 * sides_free in any case. */
bool sides_load(struct sides *s, const struct sides_options *o, const struct run_options *how,
                struct plot_traces *traces, struct err *e);
void sides_free(struct sides *s);

/* Checks that runs which count as repetitions of each other have the same settings
 * (archive_differ): those of each side, and those of the history. False: wrong usage; the message
 * names the setting and gives the `command` for runs that are alike. */
bool sides_check_alike(const struct sides *s, const struct sides_runs *history, const char *command,
                       struct err *e);

/* Calls compare_run on the two sides under their names; *c borrows runs and names. */
bool sides_compare(struct compare *c, const struct sides *s, const struct sides_options *o,
                   const struct compare_options *how, struct err *e);

#endif
