/* Applies a load_filter to rows as they are read, without a dataset. */
#ifndef S3_ANALYZE_STREAM_ROWFILTER_H
#define S3_ANALYZE_STREAM_ROWFILTER_H

#include "analyze/analysis/load.h"
#include "analyze/base/intern.h"
#include "libcommon/err.h"
#include "libcommon/record.h"

#include <stdbool.h>
#include <stdint.h>

/* The names of hosts or clients seen so far, and which of them the filter means. */
struct rowfilter_names {
    const char *kind;   /* "host" */
    const char *wanted; /* exact name, else glob; NULL: all */
    struct intern seen;
    bool *is_meant;  /* by id in `seen` */
    bool has_exact;  /* `wanted` itself was seen, so it is no glob and means no other name */
    bool has_others; /* another name was seen that `wanted` matches as a glob */
};

struct rowfilter {
    const struct cli_list *ops;
    struct intern seen_ops;
    const struct filter_sizes *sizes;
    bool has_rows, has_size; /* there was a row; there was a row of a wanted name and size */
    struct rowfilter_names hosts, clients;
    int64_t from_ns, to_ns; /* starts in [from, to) */
    /* The offset of this capture's thread numbers, and 1 + the highest number so far. Where the
     * rows of another capture begin, set the first to the second: that capture gets threads of its
     * own, as in `analyze`. */
    uint64_t thread_base, thread_top;
};

/* Relative times count from run_start_ns. `filter` must outlive *f. */
void rowfilter_init(struct rowfilter *f, const struct load_filter *filter, int64_t run_start_ns);
void rowfilter_fini(struct rowfilter *f);

/* Gives a row its thread number in the result. False: it is more than a capture can have. */
static inline bool rowfilter_thread(struct rowfilter *f, struct record *r, struct err *e)
{
    uint64_t thread = f->thread_base + r->thread;

    if (thread > UINT32_MAX)
        return err_set(e, "thread numbers past 4294967295 where captures are put together");
    if (thread >= f->thread_top)
        f->thread_top = thread + 1;
    r->thread = (uint32_t)thread;
    return true;
}

/* Sets *keep for a row. False: *e says why it cannot. */
bool rowfilter_row(struct rowfilter *f, const struct record *r, bool *keep, struct err *e);

/* Call this after the last row. False: no row had one of the operations, the host or the client of
 * the filter; *e lists the known ones. */
bool rowfilter_check(const struct rowfilter *f, struct err *e);

#endif
