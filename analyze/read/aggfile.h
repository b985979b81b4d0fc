/* Reads aggregated captures (NAME.json.zst). Since 2025, the recorder of other people's captures
 * writes them in place of a row per request: sums, throughput by second, and figures of 10-second
 * groups. This header has what the file says; sums/sums.h says what it means. */
#ifndef S3_ANALYZE_READ_AGGFILE_H
#define S3_ANALYZE_READ_AGGFILE_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGGFILE_NO_TIME INT64_MIN

/* One second of a series. The recorder's label is too early. */
struct aggfile_second {
    int64_t label_s; /* since 1970 */
    double bytes_per_s, objects_per_s;
    int64_t n_errors; /* failed requests that started in this second */
};

/* The amounts of a host or client in an entry, over the whole run. */
struct aggfile_party {
    char *name;
    int64_t n_requests, n_errors, n_bytes, n_objects;
    int64_t start_ns, end_ns; /* AGGFILE_NO_TIME: not given */
};

/* The requests of one size class in a group. */
struct aggfile_class {
    int64_t min_bytes, max_bytes; /* max excluded */
    int64_t n_requests;
    double mean_ms, fastest_bytes_per_s, slowest_bytes_per_s;
};

/* Requests of one client that ended within ten seconds. Durations include those of failed requests.
 */
struct aggfile_group {
    uint32_t client; /* index into the entry's group_clients */
    bool is_multi;   /* sizes differ: only `classes` is set, not the figures from object_bytes on */
    int64_t start_ns;
    int64_t n_requests;
    int64_t object_bytes; /* of one of its requests */
    double mean_ms, stddev_ms, min_ms, max_ms, p50_ms, p90_ms, p99_ms;
    bool has_ttfb;
    double ttfb_mean_ms, ttfb_min_ms, ttfb_max_ms, ttfb_p50_ms, ttfb_p90_ms, ttfb_p99_ms;
    struct aggfile_class *classes;
    size_t n_classes;
};

/* The file's figures of all requests, or of the requests of an operation, host, client or size. */
struct aggfile_entry {
    char *name; /* of the operation, host, client or size; "": all requests */
    int64_t n_requests, n_errors, n_bytes, n_objects;
    int64_t n_threads;
    int64_t start_ns, end_ns;
    char **first_errors;
    size_t n_first_errors;
    bool has_series;                /* if false, the window's figures are 0 */
    struct aggfile_second *seconds; /* by label */
    size_t n_seconds;
    double window_bytes, window_objects;
    int64_t n_window_errors;               /* requests that started in the window and failed */
    struct aggfile_party *hosts, *clients; /* by name */
    size_t n_hosts, n_clients;
    size_t n_client_names; /* length of the file's separate list of client names */
    char **group_clients;
    size_t n_group_clients;
    struct aggfile_group *groups; /* as in the file: by client, then by time */
    size_t n_groups, n_empty_groups;
};

struct aggfile_entries {
    struct aggfile_entry *v; /* by name */
    size_t n;
};

struct aggfile {
    const char *path; /* borrowed */
    char *command, *version;
    struct aggfile_entry total;
    struct aggfile_entries ops, hosts, clients; /* hosts and clients: without groups */
};

/* What a file holds, by its beginning, compressed or not: JSON that begins like a file of sums of
 * any version (sums/sums.h); other JSON; else AGGFILE_NONE. This holds also for pipes, whose bytes
 * can be read only once, and for files that cannot be opened or decompressed: the reader of
 * captures reports what is wrong with them. */
#define AGGFILE_SUMS "{\"schema\":\"s3analyze/sums/"
enum aggfile_kind { AGGFILE_NONE, AGGFILE_OF_SUMS, AGGFILE_FOREIGN };
enum aggfile_kind aggfile_kind(const char *path);

/* Reads a file that is plain or one zstd frame. Memory grows with the number of seconds, hosts,
 * clients and groups, not with the size of the text. False: *e says "FILE: path.to.key: what is
 * wrong". The caller calls aggfile_free in any case. */
bool aggfile_read(struct aggfile *a, const char *path, struct err *e);
void aggfile_free(struct aggfile *a);

#endif
