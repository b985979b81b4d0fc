/* Memory for keys and structures with keys. It is left out of core dumps and wiped when it is
 * freed. Each allocation takes whole pages, so make few of them. */
#ifndef S3_LIBCOMMON_SECRET_H
#define S3_LIBCOMMON_SECRET_H

#include "libcommon/err.h"

#include <stddef.h>

/* Allocates n zeroed bytes, aligned as by malloc. NULL: out of memory. */
void *secret_alloc(size_t n);

/* Like realloc, and wipes the old memory. */
void *secret_resize(void *p, size_t n);

/* Copies n bytes, and adds a NUL; NULL: out of memory. */
char *secret_copy(const char *s, size_t n);

/* Reads a file of up to n_max bytes and adds two NULs. NULL: *e says why, and errno is the cause,
 * or 0 if no system call failed. */
char *secret_read_file(const char *path, size_t n_max, struct err *e);

/* Wipes and frees memory; NULL is allowed. */
void secret_free(void *p);

#endif
