/* Lists of files that a command line names. */
#ifndef S3_ANALYZE_BASE_PATHS_H
#define S3_ANALYZE_BASE_PATHS_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Checks that no two paths are equal or name the same existing file. "-" is standard input, which
 * counts as a file only if it is a regular one. False: *e names two that do, or memory ran out. */
bool paths_differ(const char *const *paths, size_t n, struct err *e);

/* Returns the length of a name without the suffix of a capture. */
size_t paths_stem(const char *name);

/* Moves each pointer within its path to the file's name, or to as many folders before it as it
 * takes to tell the paths apart without their suffixes. */
void paths_shorten(const char **paths, size_t n);

#endif
