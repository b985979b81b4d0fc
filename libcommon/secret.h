/* Memory for keys and what holds them: core dumps leave it out, and it is wiped when it is freed.
 * Each allocation takes pages of its own: for few of them. */
#ifndef S3_LIBCOMMON_SECRET_H
#define S3_LIBCOMMON_SECRET_H

#include <stddef.h>

/* n zeros, aligned as by malloc; NULL: out of memory. */
void *secret_alloc(size_t n);

/* Copies n bytes, and adds a NUL; NULL: out of memory. */
char *secret_copy(const char *s, size_t n);

/* Wipes it; NULL is allowed. */
void secret_free(void *p);

#endif
