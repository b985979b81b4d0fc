/* All requests of one or more captures, stored in columns. A request takes at most 46 bytes, and
 * less if a column holds small numbers or a single value.
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
    uint32_t *v;   /* NULL: every value is `same` */
    uint32_t same; /* never a wide value */
    int64_t *wide; /* values that do not fit into v */
    size_t n_wide, cap_wide;
};

#define PACKED_NONE      UINT32_MAX  /* no value (TTFB) */
#define PACKED_WIDE_BASE 0xF0000000u /* from here on v means wide[v - PACKED_WIDE_BASE] */

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

/* Column of ids, in 16 bits each if they fit. */
struct ids {
    uint16_t *v;    /* NULL: the ids are in `wide` */
    uint32_t *wide; /* both NULL: every id is `same` */
    uint32_t same;
};

static inline uint32_t ids_get(const struct ids *c, size_t i)
{
    return c->v != NULL ? c->v[i] : c->wide != NULL ? c->wide[i] : c->same;
}

/* Maps a table's own ids, 0 .. n - 1, to the dataset's ids. Both ascend. */
struct own_ids {
    uint32_t *index; /* by own id; NULL: the table uses the ids of the dataset, and n is 0 */
    size_t n;
};

/* Where a request went and who sent it: a pair of host and client. */
struct place {
    uint32_t host;   /* index into dataset.hosts */
    uint32_t client; /* index into dataset.clients */
};

/* The requests of one operation type, in no particular order. A table with fewer rows than the
 * dataset has threads gives its threads ids of its own, so that arrays by thread stay short; the
 * same holds for places. */
struct table {
    uint32_t op; /* index into dataset.ops */
    size_t n;
    size_t n_ready, cap;   /* rows with memory present; rows with reserved address space */
    size_t n_advised;      /* rows at the front for which huge pages were requested */
    size_t n_earlier;      /* rows from the inputs before the current one */
    int64_t *start;        /* ns since the epoch */
    struct packed dur;     /* end - start, ns, >= 0 */
    struct packed bytes;   /* payload */
    struct packed ttfb;    /* ns, or PACKED_NONE */
    struct packed objects; /* n_objects */
    struct packed late;    /* start - intended, ns, or PACKED_NONE */
    uint64_t *object;      /* hash of the key, different in each process; 0: no key */
    struct ids thread;     /* index into dataset.threads, or own_threads.index */
    struct ids place;      /* index into dataset.places, or own_places.index */
    struct own_ids own_threads, own_places;
    uint16_t *error;        /* 0: success, else index into dataset.errors; NULL: all succeeded */
    struct slowest slowest; /* of all rows read, even if some were dropped since */
};

static inline uint32_t table_thread(const struct table *t, size_t i)
{
    return ids_get(&t->thread, i);
}

static inline uint32_t table_place(const struct table *t, size_t i)
{
    return ids_get(&t->place, i);
}

/* Returns the index into dataset.threads of the thread that table t calls `id`. */
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

/* Whether row i succeeded and lies entirely in [start_ns, end_ns]. */
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

/* Time range of an operation type, over the rows that pass the host and client filters, even if the
 * op filter drops them. Spans that overlap mean a mixed load. */
struct op_span {
    int64_t start_ns, end_ns; /* earliest start, latest end */
    uint64_t n;
};

/* Sums up the rows below one header line of a file. Equal sums mean that one is a copy: two runs
 * never agree to the nanosecond. The order of the rows does not matter. */
struct dataset_section {
    uint32_t number;      /* of the header line in the file, from 0 */
    uint32_t thread_base; /* was added to its thread numbers */
    uint64_t n_rows;
    uint64_t fingerprint; /* sum of a hash of each row, different in each process */
    int64_t first_start_ns, last_end_ns;
};

/* One file that was read. It may hold several captures, each below its own header line;
 * info.n_headers counts them. */
struct dataset_input {
    char *path;
    struct recfile_info info;
    uint64_t n_rows;                     /* after filters */
    int64_t first_start_ns, last_end_ns; /* of all rows, before filters; first > last: no rows */
    uint32_t thread_base;                /* was added to the thread numbers of its first section */
    struct dataset_section *sections;    /* only those with rows, counted before filters */
    size_t n_sections;
    struct keptlines comments;
    struct recorded recorded; /* what s3load says in all comments */
    struct lineset said;      /* the JSON of these comments of s3load */
};

#define DATASET_MAX_OPS      1000
#define DATASET_MAX_ERRORS   65535 /* normalised messages; further ones become "other" */
#define DATASET_OTHER_ERRORS "(other errors)"

struct dataset {
    struct table *tables; /* one per operation type with rows */
    size_t n_tables;
    struct names ops, hosts, clients, errors; /* errors.v[0] is "" (success) */
    struct op_span *op_spans;                 /* by op id */
    struct place *places;
    size_t n_places;
    uint32_t *threads; /* by thread index: the thread number, thread_base included */
    size_t n_threads;
    struct dataset_input *inputs;
    size_t n_inputs;
    uint64_t n_rows;    /* after filters */
    uint64_t n_unsized; /* requests that failed without a byte, dropped by --size */
    bool has_intended;
    bool host_filtered; /* filtered by host or size: other requests of the same threads may be
                           missing */
    bool op_filtered;
};

/* Reads n_paths captures into one dataset. Each further input, and each further header line within
 * a file, has its thread numbers raised by 1 + the highest thread before. False: *e says why; for a
 * host, client or op that no row has, it lists the known ones. The caller calls dataset_free, after
 * a failure too. */
bool dataset_load(struct dataset *d, const char *const *paths, size_t n_paths,
                  const struct dataset_filter *filter, const struct recfile_options *options,
                  struct err *e);
void dataset_free(struct dataset *d);

/* Return the resolution of starts, or of durations, in ns: the coarsest of all imported inputs; 0:
 * exact. */
int64_t dataset_start_resolution_ns(const struct dataset *d);
int64_t dataset_duration_resolution_ns(const struct dataset *d);

/* Whether some input is an import: its threads are guessed. */
bool dataset_is_imported(const struct dataset *d);

/* Keeps only the rows i of t for which keep(ctx, t, i) is true. Rows from the end fill the holes,
 * so the order changes. */
void table_retain(struct table *t, bool (*keep)(void *ctx, const struct table *t, size_t i),
                  void *ctx);

/* Return how many ids of threads, and of places, table t uses. */
static inline size_t dataset_n_threads(const struct dataset *d, const struct table *t)
{
    return t->own_threads.index != NULL ? t->own_threads.n : d->n_threads;
}

static inline size_t dataset_n_places(const struct dataset *d, const struct table *t)
{
    return t->own_places.index != NULL ? t->own_places.n : d->n_places;
}

/* Returns the place that table t calls `id`. */
static inline const struct place *dataset_place(const struct dataset *d, const struct table *t,
                                                size_t id)
{
    return &d->places[t->own_places.index != NULL ? t->own_places.index[id] : id];
}

/* Returns the table of an operation type. NULL: it has no rows. */
struct table *dataset_table(const struct dataset *d, const char *op);

/* Sorts the spans by start, then end. Returns whether any two overlap by at least a tenth of the
 * shorter one. */
bool dataset_any_overlap(struct op_span *spans, size_t n);

/* Compares two requests by start, thread number, end, op name, host name, bytes, number of objects
 * and TTFB. Returns <0, 0 or >0. */
int dataset_compare(const struct dataset *d, const struct table *a, size_t i, const struct table *b,
                    size_t j);

#endif
