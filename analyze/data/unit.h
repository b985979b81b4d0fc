/* A unit holds the rows of a part of a capture on their way into a dataset. The thread that parses
 * the rows packs them, with ids that only this unit knows. dataset.c commits the unit. */
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

/* An operation, a host and a client, by the unit's ids. */
struct dataset_unit_group {
    uint32_t op, host, client;
};

/* The rows of one operation type. A row's thread is the number in the file, its place a group of
 * the unit. */
struct dataset_unit_part {
    struct table rows;
    struct op_span span;    /* of rows that pass the host and client filters, kept or not */
    struct table_rows next; /* on their way into `rows` */
};

/* Replaces `lengths` if one of the names is longer than its words. */
#define DATASET_UNIT_LONG (UINT32_C(1) << 31)

/* A slot of the hash table of groups, one cache line long. The words identify names that are short:
 * a host of up to 24 bytes by its first word and its last two, a client of up to 16 by its first
 * and its last, an operation of up to 8 by one word. A longer name has a hash in one of the words
 * and must be compared in full. */
struct dataset_unit_known {
    uint64_t host_words[3], client_words[2], op_word;
    uint32_t group, op_id; /* group UINT32_MAX: free */
    uint32_t lengths;      /* of host, client and op, 8 bits each, or DATASET_UNIT_LONG */
    bool in_span;          /* passes the host and client filters */
    bool keep;             /* passes all filters */
};

/* dataset_unit_clear drops the rows, but keeps the dictionaries and the ids found for them. */
struct dataset_unit {
    struct dataset_unit *next;
    const struct dataset_filter *filter;
    uint64_t key;                                      /* for all hashes */
    struct intern ops, hosts, clients, errors, groups; /* error 0 is "", success */
    struct dataset_unit_part *parts;                   /* by op */
    size_t n_parts;
    int64_t first_start_ns, last_end_ns; /* over all rows held; first > last: none */
    int64_t top_thread;                  /* -1: none */
    uint64_t n_rows, fingerprint;        /* as in struct dataset_section */
    uint64_t n_unsized;                  /* as in struct dataset */
    /* Hash table of groups, at most half full. Groups that come when it cannot grow any more are
     * looked up by name for each row. */
    struct dataset_unit_known *known;
    struct dataset_unit_known unknown; /* the group last looked up by name */
    unsigned known_log;                /* log2 of the number of slots */
    /* The dataset's id of each of the unit's ids; dataset.c fills them. */
    uint32_t *ops_global, *places_global; /* by op, by group */
    uint16_t *errors_global;
    size_t n_ops_global, n_places_global, n_errors_global;
};

/* Returns the hash of a file's name; 0: it has no name. A name whose hash would be 0 gets 1. */
static inline uint64_t dataset_unit_object(uint64_t key, struct slice file)
{
    uint64_t hash = file.n ? intern_hash_keyed(key, file.p, file.n) : 0;

    return hash || !file.n ? hash : 1;
}

/* Returns an empty unit, which the caller frees; *filter must outlive it. NULL: out of memory. */
struct dataset_unit *dataset_unit_new(const struct dataset_filter *filter, struct err *e);
void dataset_unit_free(struct dataset_unit *u);

/* Adds n rows. Some may wait in a block until dataset_unit_finish. False: out of memory, or too
 * many operation types; *e says so. */
bool dataset_unit_add(struct dataset_unit *u, const struct record *rows, size_t n, struct err *e);

/* Moves the rows that wait into the tables. False: out of memory. */
bool dataset_unit_finish(struct dataset_unit *u, struct err *e);

/* Drops the rows; see struct dataset_unit for what stays. */
void dataset_unit_clear(struct dataset_unit *u);

#endif
