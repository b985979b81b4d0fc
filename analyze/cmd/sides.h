/* The two sides of a comparison: the options that name their captures, and the runs that were read.
 */
#ifndef S3_ANALYZE_CMD_SIDES_H
#define S3_ANALYZE_CMD_SIDES_H

#include "analyze/render/plot/compare.h"
#include "analyze/tools/archive/archive.h"
#include "analyze/tools/compare/compare.h"
#include "libcommon/cli.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

struct sides_options {
    struct cli_list before, after;        /* captures, and folders of captures */
    const char *before_name, *after_name; /* NULL: "before", "after" */
    struct cli_list cells;                /* KEY=VALUE: compare only these */
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
    struct archive_paths found[2]; /* what folders hold, before and after */
    struct sides_runs before, after;
    struct notes notes; /* files of folders that were left out */
};

/* Replaces folders in the lists of *o by their captures; *s owns the names. The caller calls
 * sides_free in any case. */
bool sides_find(struct sides *s, struct sides_options *o, struct err *e);

/* Reads the captures of both sides and, unless `traces` is NULL, what charts need. Runs without
 * a cell that is asked for are left out. So is a file of a folder that cannot be read; it is noted.
 */
bool sides_load(struct sides *s, const struct sides_options *o, const struct run_options *how,
                struct plot_traces *traces, struct err *e);
void sides_free(struct sides *s);

/* Calls compare_run on the two sides under their names; *c borrows runs and names. */
bool sides_compare(struct compare *c, const struct sides *s, const struct sides_options *o,
                   const struct compare_options *how, struct err *e);

#endif
