/* Where profiles come from: files, folders, and archives as s3load and MinIO make them. */
#ifndef S3_ANALYZE_PROFILE_SOURCES_H
#define S3_ANALYZE_PROFILE_SOURCES_H

#include "analyze/profile/profile.h"

/* A profile that can be read. The entries of archives and folders are called
 * "profile-HOST:PORT-KIND.pprof", or "...-KIND-before.pprof" of the time before the load. */
struct profile_source {
    const char *path;
    const char *node; /* "HOST:PORT"; "": not told */
    const char *kind; /* "cpu", "mem", "block", ...; "": not told, a file that was named */
    uint64_t entry;   /* of an archive; UINT64_MAX: the file itself */
    bool before;
    int64_t total;    /* once it is read: of the default type of samples */
    double busy_cpus; /* of that, CPUs that were busy on average; 0: unknown */
};

struct profile_sources {
    struct profile_source *v; /* in the order of the paths; those of an archive by node */
    size_t n;
    struct intern texts;
};

/* Adds what a file, an archive or a folder holds. False: *e says why not. */
bool profile_sources_add(struct profile_sources *s, const char *path, struct err *e);
void profile_sources_free(struct profile_sources *s);

/* Keeps the profiles of one kind; NULL: "cpu", or the only kind there is. Of archives and folders
 * only those before the load, or those after. False: there is none, and *e lists the kinds. */
bool profile_sources_keep(struct profile_sources *s, const char *kind, bool before, struct err *e);

/* Reads all of them and adds them to p. False: *e names the one that is damaged. */
bool profile_sources_read(struct profile_sources *s, struct profile *p, bool is_base,
                          struct err *e);

/* Returns the node that stands out: whose total is furthest from the median of three or more, by a
 * quarter of it or more. NULL: none. *ratio: its total over that median. */
const struct profile_source *profile_sources_outlier(const struct profile_sources *s,
                                                     double *ratio);

#endif
