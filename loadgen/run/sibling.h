/* Runs s3analyze, from the folder that this program is in. */
#ifndef S3_LOADGEN_RUN_SIBLING_H
#define S3_LOADGEN_RUN_SIBLING_H

#include <stdbool.h>

/* Runs `s3analyze analyze CAPTURE` with a scrubbed environment (locale, terminal, PATH and the
 * like; no credentials). False: there is no such program, or it failed. */
bool sibling_analyze(const char *capture);

#endif
