/* Which rows to keep, while they stream by: what load_filter says, without a dataset. */
#ifndef S3_ANALYZE_STREAM_ROWFILTER_H
#define S3_ANALYZE_STREAM_ROWFILTER_H

#include "analyze/analysis/load.h"
#include "analyze/base/intern.h"
#include "libcommon/err.h"
#include "libcommon/record.h"

#include <stdbool.h>
#include <stdint.h>

/* The names of one kind, and which of them are meant. */
struct rowfilter_names {
    const char *kind;   /* "host" */
    const char *wanted; /* exact name, else glob; NULL: all */
    struct intern seen;
    bool *is_meant; /* by id in `seen` */
    bool has_exact; /* the wanted name itself was seen: others are not meant */
    bool has_others;
};

struct rowfilter {
    const struct cli_list *ops;
    struct intern seen_ops;
    const struct filter_sizes *sizes;
    bool has_rows, has_size; /* some row; some of a wanted name and size */
    struct rowfilter_names hosts, clients;
    int64_t from_ns, to_ns; /* starts in [from, to) */
};

/* run_start_ns: what relative times count from. `filter` must outlive *f. */
void rowfilter_init(struct rowfilter *f, const struct load_filter *filter, int64_t run_start_ns);
void rowfilter_fini(struct rowfilter *f);

/* Sets *keep for a row. False: *e is filled. */
bool rowfilter_row(struct rowfilter *f, const struct record *r, bool *keep, struct err *e);

/* At the end: false, with the known ones listed, if an operation, host or client that was asked for
 * was in no row. */
bool rowfilter_check(const struct rowfilter *f, struct err *e);

#endif
