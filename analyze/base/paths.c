#include "analyze/base/paths.h"

#include "analyze/base/intern.h"
#include "libcommon/mem.h"

#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

bool paths_differ(const char *const *paths, size_t n, struct err *e)
{
    struct intern seen = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++) {
        char inode[64];
        struct stat st;
        bool is_file = strcmp(paths[i], "-") == 0
                           ? fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode)
                           : stat(paths[i], &st) == 0;

        if (is_file)
            snprintf(inode, sizeof inode, "%ju %ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
        uint32_t id = intern_add(&seen, slice_of(is_file ? inode : paths[i]));
        if (id == INTERN_NONE)
            ok = mem_none(e);
        else if (id < i)
            ok = err_set(e, "%s and %s are the same file", paths[id], paths[i]);
    }
    intern_fini(&seen);
    return ok;
}

size_t paths_stem(const char *name)
{
    static const char *const ends[] = {".zst", ".csv", ".json"};
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n_end = strlen(ends[i]);
        n -= n > n_end && memcmp(name + n - n_end, ends[i], n_end) == 0 ? n_end : 0;
    }
    return n;
}

/* Returns the end of a path from its last `n` parts on. */
static const char *last_parts(const char *path, size_t n)
{
    const char *p = path + strlen(path);

    for (; n > 0 && p > path; n--)
        for (p--; p > path && p[-1] != '/';)
            p--;
    return p;
}

/* Counts stems of ends that differ. 0: out of memory. */
static size_t n_different(const char *const *paths, size_t n, size_t n_parts)
{
    struct intern stems = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++) {
        const char *end = last_parts(paths[i], n_parts);
        ok = intern_add(&stems, (struct slice){end, paths_stem(end)}) != INTERN_NONE;
    }
    n = ok ? stems.n : 0;
    intern_fini(&stems);
    return n;
}

void paths_shorten(const char **paths, size_t n)
{
    size_t n_parts = 1, most = n_different(paths, n, SIZE_MAX);

    while (n_parts < PATH_MAX && n_different(paths, n, n_parts) < most)
        n_parts++;
    for (size_t i = 0; i < n; i++)
        paths[i] = last_parts(paths[i], n_parts);
}
