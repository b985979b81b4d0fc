/* All requests of one or more captures as columns of numbers: at most 46 bytes a request, less
 * where a column has small numbers, or one value throughout.
 *
 * One table per operation type. Durations, sizes, TTFBs and object counts are packed: 32 bits where
 * the value fits, else an index into a list of wide values. Strings are interned (operations,
 * hosts, clients, error messages) or hashed (object keys). */
#ifndef S3_ANALYZE_DATA_DATASET_H
#define S3_ANALYZE_DATA_DATASET_H

#include "analyze/base/keptlines.h"
#include "analyze/data/filter.h"
#include "analyze/data/recorded.h"
#include "analyze/data/slowest.h"
#include "analyze/read/recfile.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Packed column of int64 values. */
struct packed {
    uint32_t *v;   /* NULL: they are all `same` */
    uint32_t same; /* never a wide value */
    int64_t *wide; /* values that do not fit */
    size_t n_wide, cap_wide;
};

#define PACKED_NONE      UINT32_MAX  /* no value (TTFB) */
#define PACKED_WIDE_BASE 0xF0000000u /* v >= this: wide[v - PACKED_WIDE_BASE] */

static inline uint32_t packed_raw(const struct packed *c, size_t i)
{
    return c->v != NULL ? c->v[i] : c->same;
}

static inline bool packed_has(const struct packed *c, size_t i)
{
    return packed_raw(c, i) != PACKED_NONE;
}

/* Whether no row has a value. */
static inline bool packed_has_none(const struct packed *c)
{
    return c->v == NULL && c->same == PACKED_NONE;
}

/* Value i; call only if packed_has. */
static inline int64_t packed_get(const struct packed *c, size_t i)
{
    uint32_t v = packed_raw(c, i);
    return __builtin_expect(v < PACKED_WIDE_BASE, 1) ? (int64_t)v : c->wide[v - PACKED_WIDE_BASE];
}

/* Column of indexes into a list that is mostly short. */
struct ids {
    uint16_t *v;    /* NULL: see wide */
    uint32_t *wide; /* NULL too: they are all `same` */
    uint32_t same;
};

static inline uint32_t ids_get(const struct ids *c, size_t i)
{
    return c->v != NULL ? c->v[i] : c->wide != NULL ? c->wide[i] : c->same;
}

/* What ids mean that are a table's own: 0 .. n - 1, in the order of the dataset's. */
struct own_ids {
    uint32_t *index; /* into the dataset's list; NULL: the ids are the dataset's, n is 0 */
    size_t n;
};

/* Where a request went and who sent it: a pair of host and client. */
struct place {
    uint32_t host;   /* index into dataset.hosts */
    uint32_t client; /* index into dataset.clients */
};

/* The requests of one operation type, in no order. Arrays by thread or place would be longer than
 * a table that has fewer rows than the dataset has of these: such a table has ids of its own. */
struct table {
    uint32_t op; /* index into dataset.ops */
    size_t n;
    size_t n_ready, cap;   /* rows whose memory is present; rows that there is address space for */
    size_t n_advised;      /* rows that were expected when huge pages were asked for */
    size_t n_earlier;      /* rows of the inputs before the one that is being read */
    int64_t *start;        /* ns since the epoch */
    struct packed dur;     /* end - start, ns, >= 0 */
    struct packed bytes;   /* payload */
    struct packed ttfb;    /* ns, or PACKED_NONE */
    struct packed objects; /* n_objects */
    struct packed late;    /* start - intended, ns, or PACKED_NONE */
    uint64_t *object;      /* hash of `file`, of this process alone; 0: no key */
    struct ids thread;     /* index into dataset.threads, or own_threads.index */
    struct ids place;      /* index into dataset.places, or own_places.index */
    struct own_ids own_threads, own_places;
    struct table_first {
        int64_t start_ns, end_ns;
        uint64_t thread; /* its number */
        uint64_t object;
    } first; /* the earliest row, by the name of its file too: of all rows, or as first_settle says
              */
    uint16_t *error;        /* 0: success, else index into dataset.errors; NULL: all succeeded */
    struct slowest slowest; /* of all rows that were read */
};

static inline uint32_t table_thread(const struct table *t, size_t i)
{
    return ids_get(&t->thread, i);
}

static inline uint32_t table_place(const struct table *t, size_t i)
{
    return ids_get(&t->place, i);
}

/* Index into dataset.threads of the thread that is `id` in a table. */
static inline size_t table_thread_index(const struct table *t, size_t id)
{
    return t->own_threads.index != NULL ? t->own_threads.index[id] : id;
}

static inline uint16_t table_error(const struct table *t, size_t i)
{
    return t->error != NULL ? t->error[i] : 0;
}

static inline bool table_failed(const struct table *t, size_t i)
{
    return table_error(t, i) != 0;
}

static inline int64_t table_end(const struct table *t, size_t i)
{
    return t->start[i] + packed_get(&t->dur, i);
}

/* Whether a row succeeded, and lies in the range [start_ns, end_ns] as a whole. */
static inline bool table_done_within(const struct table *t, size_t i, int64_t start_ns,
                                     int64_t end_ns)
{
    return !table_failed(t, i) && t->start[i] >= start_ns && table_end(t, i) <= end_ns;
}

/* Interned strings, NUL-terminated; ids in order of first appearance. */
struct names {
    char **v;
    size_t n;
};

/* Time range of an operation type before the op and client filters (for "mixed or not"). */
struct op_span {
    int64_t start_ns, end_ns; /* earliest start, latest end */
    uint64_t n;
};

/* The rows below one header line of a file, in a form that tells copies: nobody records twice to
 * the nanosecond. The order of rows changes nothing. */
struct dataset_section {
    uint32_t number;      /* of the header line in the file, from 0 */
    uint32_t thread_base; /* its threads have numbers from here on */
    uint64_t n_rows;
    uint64_t fingerprint; /* a sum over all rows, of this process alone */
    int64_t first_start_ns, last_end_ns;
};

/* One capture that went in (a file with several header lines is several inputs in `n_headers`). */
struct dataset_input {
    char *path;
    struct recfile_info info;
    uint64_t n_rows;                     /* after filters */
    int64_t first_start_ns, last_end_ns; /* over all its rows; first > last: no row */
    uint32_t thread_base;
    struct dataset_section *sections; /* those with rows; rows that filters leave out count too */
    size_t n_sections;
    struct keptlines comments;
    struct recorded recorded; /* of all its comments */
    struct lineset said;      /* by s3load in them */
};

#define DATASET_MAX_OPS      1000
#define DATASET_MAX_ERRORS   65535 /* distinct normalised messages; further ones are "other" */
#define DATASET_OTHER_ERRORS "(other errors)"

struct dataset {
    struct table *tables; /* one per operation type with rows */
    size_t n_tables;
    struct names ops, hosts, clients, errors; /* errors.v[0] is "" (success) */
    struct op_span *op_spans;                 /* by op id; after the host and client filters only */
    struct place *places;
    size_t n_places;
    uint32_t *threads; /* thread number (with the input's offset) of each thread index */
    size_t n_threads;
    struct dataset_input *inputs;
    size_t n_inputs;
    uint64_t n_rows;    /* kept */
    uint64_t n_unsized; /* left out by a filter of sizes: they failed without a byte */
    bool has_intended;
    bool host_filtered; /* by host or size: what threads did meanwhile may be missing */
    bool op_filtered;
    bool salvage; /* damage was passed over */
};

/* Reads `n_paths` captures as if merged: thread numbers of each further input (and of each further
 * header line within a file) are offset by 1 + the highest thread before. Unknown host, client or
 * op: false, with the known ones listed. The caller owns *d and calls dataset_free, on failure too.
 */
bool dataset_load(struct dataset *d, const char *const *paths, size_t n_paths,
                  const struct dataset_filter *filter, const struct recfile_options *options,
                  struct err *e);
void dataset_free(struct dataset *d);

/* Keeps only rows of `t` for which keep(ctx, t, i) is true. The last rows fill the holes. */
void table_retain(struct table *t, bool (*keep)(void *ctx, const struct table *t, size_t i),
                  void *ctx);

/* How many ids of threads and of places a table has. */
static inline size_t dataset_n_threads(const struct dataset *d, const struct table *t)
{
    return t->own_threads.index != NULL ? t->own_threads.n : d->n_threads;
}

static inline size_t dataset_n_places(const struct dataset *d, const struct table *t)
{
    return t->own_places.index != NULL ? t->own_places.n : d->n_places;
}

/* The place that is `id` in a table. */
static inline const struct place *dataset_place(const struct dataset *d, const struct table *t,
                                                size_t id)
{
    return &d->places[t->own_places.index != NULL ? t->own_places.index[id] : id];
}

/* Whether any two spans overlap by at least a tenth of the shorter one. Sorts them. */
bool dataset_any_overlap(struct op_span *spans, size_t n);

/* Compares two requests by start, thread number, end, op name, host name, bytes and number of
 * objects: <0, 0, >0. Keys, which come before bytes, are not at hand:
 * of those of one table only that of the earliest row is known, which goes before others. */
int dataset_compare(const struct dataset *d, const struct table *a, size_t i, const struct table *b,
                    size_t j);

#endif
