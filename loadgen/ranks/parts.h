/* Each rank records a capture of its own, its part. Rank 0 gathers and merges the parts. */
#ifndef S3_LOADGEN_RANKS_PARTS_H
#define S3_LOADGEN_RANKS_PARTS_H

#include "loadgen/ranks/team.h"

#define PARTS_SUFFIX ".csv.zst"

/* Writes the name of a rank's part to `name`: NAME.rank-N.csv.zst beside the capture NAME.csv.zst.
 */
void parts_name(const char *path, int rank, char *name, size_t size);

/* Returns the words `head`, then the names of the n parts, and NULL. The first part is named after
 * the capture `path`, the others after `others`. The caller frees the array; the words of `head`
 * are borrowed. NULL: out of memory. */
char **parts_command(char *const *head, const char *path, const char *others, int n);

/* Makes the capture from the parts, and leaves the parts. The capture appears complete or not at
 * all. All ranks call it. */
bool parts_gather(struct team *t, const char *path, struct err *e);

#endif
