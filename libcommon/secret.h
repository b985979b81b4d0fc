/* Memory for keys and what holds them: core dumps leave it out, and it is wiped when it is freed.
 * Each allocation takes pages of its own: for few of them. */
#ifndef S3_LIBCOMMON_SECRET_H
#define S3_LIBCOMMON_SECRET_H

#include "libcommon/err.h"

#include <stddef.h>

/* n zeros, aligned as by malloc; NULL: out of memory. */
void *secret_alloc(size_t n);

/* As realloc; what is left behind is wiped. */
void *secret_resize(void *p, size_t n);

/* Copies n bytes, and adds a NUL; NULL: out of memory. */
char *secret_copy(const char *s, size_t n);

/* Reads the text of a file of up to n_max bytes, and adds two NULs. NULL: *e says why, and errno is
 * that of the system, or 0. */
char *secret_read_file(const char *path, size_t n_max, struct err *e);

/* Wipes it; NULL is allowed. */
void secret_free(void *p);

#endif
