#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool fuzz_all;

uint64_t fuzz_take(struct fuzz_input *in, size_t n_bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < n_bytes && in->n > 0; i++, in->n--)
        value |= (uint64_t)*in->p++ << (8 * i);
    return value;
}

static char *take_text(struct fuzz_input *in, size_t n, size_t *n_text)
{
    char *s = malloc(n + 1);

    assert(s != NULL);
    if (n > 0)
        memcpy(s, in->p, n);
    s[n] = '\0';
    in->p += n;
    in->n -= n;
    if (n_text != NULL)
        *n_text = n;
    return s;
}

char *fuzz_take_line(struct fuzz_input *in, size_t *n_text)
{
    const uint8_t *newline = in->n > 0 ? memchr(in->p, '\n', in->n) : NULL;
    char *s = take_text(in, newline != NULL ? (size_t)(newline - in->p) : in->n, n_text);

    if (newline != NULL)
        fuzz_take(in, 1);
    return s;
}

char *fuzz_take_rest(struct fuzz_input *in, size_t *n_text)
{
    return take_text(in, in->n, n_text);
}

struct fuzz_file fuzz_file(const void *data, size_t n)
{
    struct fuzz_file f = {.fd = memfd_create("fuzz", MFD_CLOEXEC)};

    assert(f.fd >= 0 && write(f.fd, data, n) == (ssize_t)n);
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.fd);
    return f;
}
