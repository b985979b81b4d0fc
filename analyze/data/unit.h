/* Rows of a part of a capture on their way into a dataset: packed by the thread that parses them,
 * under ids of the unit's own. dataset.c commits them. */
#ifndef S3_ANALYZE_DATA_UNIT_H
#define S3_ANALYZE_DATA_UNIT_H

#include "analyze/base/intern.h"
#include "analyze/data/dataset.h"
#include "analyze/data/table.h"
#include "libcommon/err.h"
#include "libcommon/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Operation, host and client. */
struct dataset_unit_group {
    uint32_t op, host, client;
};

/* The earliest row of one operation type, by start, thread, end, host and file: tables know the
 * files' hashes alone. */
struct dataset_first {
    struct dataset_first_row {
        int64_t start_ns, end_ns;
        uint64_t thread, object;
        struct slice host, file;
    } row;
    char *file; /* owned: what row.file points to; NULL: no row yet */
    size_t cap_file;
};

/* Takes the row, whose thread number is offset by thread_base, if it is earlier. The host's name
 * must stay. False: out of memory. */
bool dataset_first_add(struct dataset_first *first, const struct dataset_first_row *row,
                       uint64_t thread_base);

/* Rows of one operation type. Threads are the numbers in the file, places the unit's groups. */
struct dataset_unit_part {
    struct table rows;
    struct op_span span;    /* of all that pass the host and client filters, not only of `rows` */
    struct table_rows next; /* on their way into `rows` */
    struct dataset_first first;
};

/* Among lengths: a name is longer than its words. */
#define DATASET_UNIT_LONG (UINT32_C(1) << 31)

/* A group as rows name it, in one cache line. A host of up to 24 bytes is known by its first
 * word and its last two, a client of up to 16 by its first and its last, an operation of up to 8 by
 * one; longer names have a hash in place of one word, and have to be compared. */
struct dataset_unit_known {
    uint64_t host_words[3], client_words[2], op_word;
    uint32_t group, op_id; /* group UINT32_MAX: free */
    uint32_t lengths;      /* of the three, 8 bits each, or DATASET_UNIT_LONG */
    bool in_span;          /* passes the host and client filters */
    bool keep;             /* passes all */
};

/* Dictionaries and what is known of their entries stay when the rows are committed. */
struct dataset_unit {
    struct dataset_unit *next;
    const struct dataset_filter *filter;
    uint64_t key;                                      /* of the hashes */
    struct intern ops, hosts, clients, errors, groups; /* error 0 is "", success */
    struct dataset_unit_part *parts;                   /* by op */
    size_t n_parts;
    int64_t first_start_ns, last_end_ns; /* over all rows held; first > last: none */
    int64_t top_thread;                  /* -1: none */
    uint64_t n_rows, fingerprint;        /* as in struct dataset_section */
    uint64_t n_unsized;                  /* as in struct dataset */
    /* The groups by a hash of their names, at most half of the slots taken; those that come
     * when there are no more slots to be had are looked up by name each time. */
    struct dataset_unit_known *known, unknown; /* the last one without a slot */
    unsigned known_log;
    /* What the ids are in the dataset; filled by whoever commits. */
    uint32_t *ops_global, *places_global; /* by op, by group */
    uint16_t *errors_global;
    size_t n_ops_global, n_places_global, n_errors_global;
};

/* The hash of a file's name. 0 means "no key", so a key whose hash is 0 gets another one. */
static inline uint64_t dataset_unit_object(uint64_t key, struct slice file)
{
    uint64_t hash = file.n ? intern_hash_keyed(key, file.p, file.n) : 0;

    return hash || !file.n ? hash : 1;
}

/* NULL: out of memory. */
struct dataset_unit *dataset_unit_new(const struct dataset_filter *filter, struct err *e);
void dataset_unit_free(struct dataset_unit *u);

bool dataset_unit_add(struct dataset_unit *u, const struct record *rows, size_t n, struct err *e);

/* All that was added is in the tables. False: out of memory. */
bool dataset_unit_finish(struct dataset_unit *u, struct err *e);

/* Forgets the rows. */
void dataset_unit_clear(struct dataset_unit *u);

#endif
