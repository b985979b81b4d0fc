/* Each rank records a capture of its own, a part. Rank 0 gathers the parts and makes one of them.
 */
#ifndef S3_LOADGEN_RANKS_PARTS_H
#define S3_LOADGEN_RANKS_PARTS_H

#include "loadgen/ranks/team.h"

#define PARTS_SUFFIX ".csv.zst"

/* The part of a rank lies where the capture is to be, and is named NAME.rank-N.csv.zst for
 * NAME.csv.zst. */
void parts_name(const char *path, int rank, char *name, size_t size);

/* The words `head` and the names of all n parts of the capture `path`, then NULL; those behind the
 * first are named as parts of `others`. To be freed; the words of `head` are borrowed. NULL: out of
 * memory. */
char **parts_command(char *const *head, const char *path, const char *others, int n);

/* Makes the capture: it appears whole or not at all, and the parts stay. All ranks call it. */
bool parts_gather(struct team *t, const char *path, struct err *e);

#endif
