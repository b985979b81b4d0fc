/* Where profiles come from: files, folders, and archives as s3load and MinIO make them. */
#ifndef S3_ANALYZE_TOOLS_PROFILE_SOURCES_H
#define S3_ANALYZE_TOOLS_PROFILE_SOURCES_H

#include "analyze/tools/profile/profile.h"

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

/* Adds the profiles of a file, an archive or a folder. False: *e says why not. */
bool profile_sources_add(struct profile_sources *s, const char *path, struct err *e);
void profile_sources_free(struct profile_sources *s);

/* Keeps the profiles of one kind; NULL: "cpu", or the only kind there is. From archives and folders
 * it keeps only those taken before the load, or only those taken during it. False: there is none,
 * and *e lists the kinds. */
bool profile_sources_keep(struct profile_sources *s, const char *kind, bool before, struct err *e);

/* Reads all sources and adds them to p. False: *e names the one that is damaged. */
bool profile_sources_read(struct profile_sources *s, struct profile *p, bool is_base,
                          struct err *e);

/* Returns the outlier among three or more nodes: the one whose total is furthest from their median,
 * by at least a quarter of it. NULL: none. *ratio: its total over the median. */
const struct profile_source *profile_sources_outlier(const struct profile_sources *s,
                                                     double *ratio);

#endif
