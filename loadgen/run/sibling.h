/* Runs s3analyze, from the folder that this program is in. */
#ifndef S3_LOADGEN_RUN_SIBLING_H
#define S3_LOADGEN_RUN_SIBLING_H

#include <stdbool.h>
#include <stddef.h>

/* Runs `s3analyze analyze CAPTURE`, with a scrubbed environment (locale, terminal, PATH and the
 * like; no credentials). `tick` is called until it has ended, and returns after how many ms
 * (less than 1,000) it is to be called again. False: there is no such
 * program, or it failed. */
bool sibling_analyze(const char *capture, int (*tick)(void *ctx), void *ctx);

/* Runs `s3analyze aggregate` of the capture to a new file in the same way. */
bool sibling_aggregate(const char *output, const char *capture, int (*tick)(void *ctx), void *ctx);

/* Runs `s3analyze merge` of n captures to a new one in the same way, and shows none of its report.
 */
bool sibling_merge(const char *output, char *const *captures, size_t n, int (*tick)(void *ctx),
                   void *ctx);

#endif
