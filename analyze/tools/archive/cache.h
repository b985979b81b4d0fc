/* A cache of the results of captures, in the folder s3analyze of the user's cache folder
 * (XDG_CACHE_HOME, else HOME/.cache). A run is found by the path of its file, and by what shows
 * that the file was changed: device, inode, size and times. Nothing is read that another user may
 * have written, and no symbolic link is followed. The cache is never needed: an entry that cannot
 * be read, was written by another build of this program, or is damaged counts as missing, and what
 * cannot be written is not written. There are at most 32,768 entries of at most 8 KiB; a run takes
 * the place of another one whose path has the same hash. */
#ifndef S3_ANALYZE_TOOLS_ARCHIVE_CACHE_H
#define S3_ANALYZE_TOOLS_ARCHIVE_CACHE_H

#include "analyze/tools/compare/run.h"

#include <limits.h>

struct cache_key {
    char name[8]; /* of the entry; two files may have the same */
    char s[PATH_MAX + 512];
    bool is_settled; /* the file did not change lately: if it does now, its times will show that */
};

/* Opens the folder, for the caller to close. -1: there is no cache. */
int cache_open(void);

/* Makes the key of a run: its file as it is now, this program, and what runs are reduced to. False:
 * the file is no regular one, or cannot be found. */
bool cache_make_key(struct cache_key *key, const char *path, enum run_basis basis);

/* Fills a run, which is empty. False: the run is not in the cache; *r may be partly filled. */
bool cache_read(int folder, const struct cache_key *key, struct run_kept *r);

/* Stores a run, if it can. */
void cache_write(int folder, const struct cache_key *key, const struct run_kept *r);

#endif
