/* Each rank records a capture of its own, a part. Rank 0 gathers the parts and merges them. */
#ifndef S3_LOADGEN_RANKS_PARTS_H
#define S3_LOADGEN_RANKS_PARTS_H

#include "loadgen/ranks/team.h"

#define PARTS_SUFFIX ".csv.zst"

/* Names the part of a rank: it lies beside the capture NAME.csv.zst as NAME.rank-N.csv.zst. */
void parts_name(const char *path, int rank, char *name, size_t size);

/* Returns the words `head`, the names of all n parts of the capture `path`, and NULL. All but the
 * first are named as parts of `others`. The caller frees the array; the words of `head` are
 * borrowed. NULL: out of memory. */
char **parts_command(char *const *head, const char *path, const char *others, int n);

/* Makes the capture: it appears whole or not at all, and the parts stay. All ranks call it. */
bool parts_gather(struct team *t, const char *path, struct err *e);

#endif
