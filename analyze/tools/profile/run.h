/* The profiles of a run, with the requests of its capture. They come from files, folders, and
 * archives as s3load and MinIO make them. */
#ifndef S3_ANALYZE_TOOLS_PROFILE_RUN_H
#define S3_ANALYZE_TOOLS_PROFILE_RUN_H

#include "analyze/data/dataset.h"
#include "analyze/tools/profile/show.h"

/* A profile that can be read. The entries of archives and folders are called
 * "profile-HOST:PORT-KIND.pprof", or "...-KIND-before.pprof" if they were taken before the load. */
struct profile_source {
    const char *path;
    const char *name; /* of the entry of an archive or folder; "": a file that was named */
    const char *node; /* "HOST:PORT"; "": unknown */
    const char *kind; /* "cpu", "mem", "block", ...; "": unknown, a file that was named */
    uint64_t entry;   /* index in an archive; UINT64_MAX: the file itself */
    bool before;
    int64_t total;    /* after reading: total of the default type of samples */
    double busy_cpus; /* mean number of busy CPUs by that total; 0: unknown */
};

struct profile_sources {
    struct profile_source *v; /* in the order of the paths; within an archive by node */
    size_t n;
    struct intern texts;
};

/* Which profiles are read. */
struct profile_wanted {
    const char *const *paths; /* files, archives and folders, which add up */
    size_t n_paths;
    const char *const *base; /* a base to subtract; none: see is_diff */
    size_t n_base;
    const char *kind; /* NULL: "cpu", or the only kind there is */
    bool is_diff;     /* without a base: subtract the profiles taken before the load */
};

struct profile_run {
    struct profile p;
    struct profile_sources sources, base;
    struct cost_load loads[2]; /* of the profiles; of the base */
};

/* Reads the profiles. False: *e says why not. The caller frees in any case. */
bool profile_run_read(struct profile_run *r, const struct profile_wanted *wanted, struct err *e);
void profile_run_free(struct profile_run *r);

/* Counts the requests of the dataset that ended in the time of the profiles, or of the base. */
void profile_run_count(struct profile_run *r, const struct dataset *d, bool base);

/* Returns the name of the file beside `path` that has ending `to` in place of `from`, such as
 * NAME.profiles.zip beside NAME.csv.zst. NULL: there is no such file, or no memory. The caller
 * frees it. */
char *profile_beside(const char *path, const char *from, const char *to);

/* Adds a table of the nodes, and names the node that stands out. */
void profile_run_nodes(struct sheet *s, const struct profile_run *r);

/* Adds a sentence about the node that stands out, if there is one. */
void profile_run_odd(struct sheet *s, const struct profile_run *r);

#endif
