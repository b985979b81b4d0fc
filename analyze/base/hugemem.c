#include "analyze/base/hugemem.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

void *hugemem_alloc(size_t bytes)
{
    size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;

    if (bytes < 2 * HUGE_PAGE || whole < bytes)
        return malloc(bytes);
    void *p = aligned_alloc(HUGE_PAGE, whole);
    if (p)
        madvise(p, whole, MADV_HUGEPAGE);
    return p;
}
