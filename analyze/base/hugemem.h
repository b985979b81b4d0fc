/* Large pieces of memory that will be filled to their end. */
#ifndef S3_ANALYZE_BASE_HUGEMEM_H
#define S3_ANALYZE_BASE_HUGEMEM_H

#include <stddef.h>

/* Like malloc, but blocks of 4 MiB and more get huge pages if the system has any: a page fault per
 * 4 KiB costs more than filling the page. The caller frees the block with free. NULL: out of
 * memory. */
void *hugemem_alloc(size_t bytes);

#endif
