/* A cache of the results of captures, in a file ".s3analyze-cache" beside them. Runs are found by
 * the content of their files, so that a capture that was changed, moved or renamed is never taken
 * for another. The cache is never needed: one that cannot be read, was written by another version
 * of this program, or is damaged counts as empty, and one that cannot be written is not written. */
#ifndef S3_ANALYZE_ARCHIVE_CACHE_H
#define S3_ANALYZE_ARCHIVE_CACHE_H

#include "analyze/archive/archive.h"

struct archive_cache {
    char *path; /* NULL: there is no cache */
    json_t *runs, *used;
    bool is_changed;
};

/* Makes the key of a run, from the content of its file and what it is reduced to. False: the file
 * is no regular one, or cannot be read. */
struct archive_cache_key {
    char s[64];
};
bool archive_cache_key(struct archive_cache_key *key, const char *path, enum run_basis basis);

/* Reads the cache beside a capture. archive_cache_close may be called in any case. */
void archive_cache_open(struct archive_cache *c, const char *capture);
/* Fills a run, which is empty except for its path. False: the run is not in the cache; *r may be
 * partly filled. */
bool archive_cache_get(struct archive_cache *c, const struct archive_cache_key *key,
                       struct archive_run *r);
void archive_cache_put(struct archive_cache *c, const struct archive_cache_key *key,
                       const struct archive_run *r);
/* Writes the cache if there are new runs, as a whole or not at all. */
void archive_cache_close(struct archive_cache *c);

#endif
