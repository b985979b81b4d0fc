/* Runs s3analyze, from the folder that this program is in. */
#ifndef S3_LOADGEN_UTIL_SIBLING_H
#define S3_LOADGEN_UTIL_SIBLING_H

#include <stdbool.h>

/* Runs the command of these words, of which the last is NULL, with a scrubbed environment (locale,
 * terminal, PATH and the like; no credentials). `silent`: what it writes to standard output is not
 * shown. `tick` is called until it has ended, and returns after how many ms (less than 1,000) it is
 * to be called again. False: there is no such program, or it failed. */
bool sibling_run(char *const *words, bool silent, int (*tick)(void *ctx), void *ctx);

#endif
