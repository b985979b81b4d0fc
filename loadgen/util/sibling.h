/* Runs s3analyze from the folder of this program. */
#ifndef S3_LOADGEN_UTIL_SIBLING_H
#define S3_LOADGEN_UTIL_SIBLING_H

#include "libcommon/err.h"

/* Whether s3analyze is there. If not, *e says that `what` needs it. */
bool sibling_is_there(const char *what, struct err *e);

/* Runs a command of s3analyze. `words` ends with NULL. The environment is reduced: it has locale,
 * terminal, PATH and the like, but no credentials. Standard output goes to the file descriptor
 * `to`, or SIBLING_NOWHERE. While the command runs, `tick` is called repeatedly; it returns in how
 * many ms (less than 1,000) to call it next. Returns the exit status of the command; -1: there is
 * no such program, or a signal ended it. */
#define SIBLING_NOWHERE (-1)
int sibling_run(char *const *words, int to, int (*tick)(void *ctx), void *ctx);

#endif
