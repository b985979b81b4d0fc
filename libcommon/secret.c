#include "libcommon/secret.h"

#include "libcommon/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The length of the mapping is stored before the memory that the caller gets. */
#define HEAD_BYTES alignof(max_align_t)

void *secret_alloc(size_t n)
{
    if (n > SIZE_MAX - HEAD_BYTES)
        return NULL;
    size_t n_all = n + HEAD_BYTES;
    char *p = mmap(NULL, n_all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    /* If the kernel refuses this, core dumps contain the keys; the run goes on. */
    madvise(p, n_all, MADV_DONTDUMP);
    memcpy(p, &n_all, sizeof n_all);
    return p + HEAD_BYTES;
}

void *secret_resize(void *p, size_t n)
{
    size_t n_all = HEAD_BYTES;
    void *to = secret_alloc(n);

    if (p == NULL || to == NULL)
        return to;
    memcpy(&n_all, (char *)p - HEAD_BYTES, sizeof n_all);
    memcpy(to, p, n < n_all - HEAD_BYTES ? n : n_all - HEAD_BYTES);
    secret_free(p);
    return to;
}

char *secret_copy(const char *s, size_t n)
{
    char *copy = n < SIZE_MAX ? secret_alloc(n + 1) : NULL;

    if (copy != NULL)
        memcpy(copy, s, n);
    return copy;
}

char *secret_read_file(const char *path, size_t n_max, struct err *e)
{
    size_t n = 0;
    ssize_t got = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd >= 0 ? secret_alloc(n_max + 2) : NULL;

    while (text != NULL && n <= n_max &&
           (got = TEMP_FAILURE_RETRY(read(fd, text + n, n_max + 1 - n))) > 0)
        n += (size_t)got;
    int failed = text == NULL || got < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    bool ok = failed == 0        ? true
              : failed == ENOMEM ? mem_none(e)
                                 : err_errno(e, failed, "cannot read '%s'", path);
    ok = ok && (n <= n_max || err_set(e, "'%s' has more than %zu bytes", path, n_max)) &&
         (strlen(text) == n || err_set(e, "'%s' is no text: it holds a NUL", path));
    if (!ok) {
        secret_free(text);
        text = NULL;
    }
    errno = failed;
    return text;
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
