/* The two sides of a comparison: the options that name their captures, and the runs read. */
#ifndef S3_ANALYZE_CMD_SIDES_H
#define S3_ANALYZE_CMD_SIDES_H

#include "analyze/compare/compare.h"
#include "analyze/compare/run.h"
#include "analyze/plot/compare.h"
#include "libcommon/cli.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

struct sides_options {
    struct cli_list before, after;        /* captures */
    const char *before_name, *after_name; /* NULL: "before", "after" */
};

/* Option table of the struct above. */
extern const struct cli_option sides_table[];

/* Whether --before or --after is given. */
bool sides_given(const struct sides_options *o);

/* If one is given, both must be, and no operands, which the message calls `operands`. */
bool sides_check(const struct sides_options *o, const struct cli_args *args, const char *operands,
                 struct err *e);

/* Makes files of pipes that hold no rows. *basis: what the captures of both sides have in common.
 */
bool sides_spool(const struct sides_options *o, enum run_basis *basis, struct err *e);

/* What n captures have in common with others. */
enum run_basis sides_basis(enum run_basis others, const char *const *paths, size_t n);

/* Starts zeroed. */
struct sides_runs {
    struct run *v;
    size_t n;
};

/* Adds the runs of n captures, and to `traces` (NULL: not wanted) what charts of those by second
 * need. The caller calls sides_runs_free in any case. */
bool sides_runs_add(struct sides_runs *r, const char *const *paths, size_t n,
                    const struct run_options *how, struct plot_traces *traces, struct err *e);
void sides_runs_free(struct sides_runs *r);

/* Starts zeroed. */
struct sides {
    struct sides_runs before, after;
};

/* Reads the captures of both sides; traces (NULL: none wanted) get what charts need. The caller
 * calls sides_free in any case. */
bool sides_load(struct sides *s, const struct sides_options *o, const struct run_options *how,
                struct plot_traces *traces, struct err *e);
void sides_free(struct sides *s);

/* compare_run on the two sides under their names; *c borrows runs and names. */
bool sides_compare(struct compare *c, const struct sides *s, const struct sides_options *o,
                   const struct compare_options *how, struct err *e);

#endif
