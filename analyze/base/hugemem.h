/* Large pieces of memory that will be filled to their end. */
#ifndef S3_ANALYZE_BASE_HUGEMEM_H
#define S3_ANALYZE_BASE_HUGEMEM_H

#include <stddef.h>

/* As malloc; from a few MiB on in huge pages, as far as the system has them: a fault for each page
 * of 4 KiB costs more than filling it. free and realloc take what this returns. */
void *hugemem_alloc(size_t bytes);

#endif
