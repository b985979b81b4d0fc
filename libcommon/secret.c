#include "libcommon/secret.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* Before what was asked for: the length of the mapping. */
#define HEAD_BYTES alignof(max_align_t)

void *secret_alloc(size_t n)
{
    if (n > SIZE_MAX - HEAD_BYTES)
        return NULL;
    size_t n_all = n + HEAD_BYTES;
    char *p = mmap(NULL, n_all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    /* A kernel that cannot leave it out keeps the keys in its dumps, and the run can go on. */
    madvise(p, n_all, MADV_DONTDUMP);
    memcpy(p, &n_all, sizeof n_all);
    return p + HEAD_BYTES;
}

char *secret_copy(const char *s, size_t n)
{
    char *copy = n < SIZE_MAX ? secret_alloc(n + 1) : NULL;

    if (copy != NULL)
        memcpy(copy, s, n);
    return copy;
}

void secret_free(void *p)
{
    size_t n_all;

    if (p == NULL)
        return;
    char *start = (char *)p - HEAD_BYTES;
    memcpy(&n_all, start, sizeof n_all);
    /* Pages that are unmapped are zeroed before anyone else gets them. */
    munmap(start, n_all);
}
