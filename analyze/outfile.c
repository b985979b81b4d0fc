#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool outfile_is_stdout(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(path, names[i]) == 0)
            return true;
    return false;
}

bool outfile_is_same(const char *path, const char *other)
{
    struct stat a, b;
    if (strcmp(path, other) == 0)
        return true;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

bool outfile_all_differ(const char *const *paths, size_t n, struct err *e)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (outfile_is_same(paths[k], paths[i]))
                return err_set(e, "%s and %s are the same file", paths[k], paths[i]);
    return true;
}

bool outfile_spares(const char *path, const char *const *captures, size_t n, struct err *e)
{
    if (path == NULL || outfile_is_stdout(path))
        return true;
    for (size_t i = 0; i < n; i++)
        if (outfile_is_same(path, captures[i]))
            return err_set(e, "%s is a capture to read: it would be overwritten", captures[i]);
    return true;
}

static void forget(struct outfile *o)
{
    free(o->path);
    free(o->target);
    free(o->aside);
    *o = (struct outfile){0};
}

/* Creates a new file next to the target. open() rather than mkstemp(), which would ignore the
 * umask. */
static int open_aside(struct outfile *o, struct err *e)
{
    for (int i = 0; i < 100; i++) {
        free(o->aside);
        if (asprintf(&o->aside, "%s.%ld-%d.part", o->target, (long)getpid(), i) < 0) {
            o->aside = NULL;
            err_set(e, "out of memory");
            return -1;
        }
        int fd = open(o->aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            return fd;
        if (errno != EEXIST)
            break;
    }
    err_errno(e, errno, "cannot write %s", o->path);
    free(o->aside);
    o->aside = NULL;
    return -1;
}

/* A file descriptor to write to, -1 if there is none. */
static int open_fd(struct outfile *o, struct err *e)
{
    struct stat st;
    bool exists = stat(o->path, &st) == 0;
    if (exists && !S_ISREG(st.st_mode)) {
        int fd = open(o->path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
            err_errno(e, errno, "cannot write %s", o->path);
        return fd;
    }
    o->target = exists ? realpath(o->path, NULL) : strdup(o->path);
    if (!o->target) {
        err_errno(e, errno, "cannot write %s", o->path);
        return -1;
    }
    int fd = open_aside(o, e);
    if (fd >= 0 && exists) {
        /* As good as it gets: the old file's owner may be another. */
        fchmod(fd, st.st_mode & 07777);
    }
    return fd;
}

bool outfile_open(struct outfile *o, const char *path, struct err *e)
{
    *o = (struct outfile){0};
    bool is_stdout = outfile_is_stdout(path);
    o->path = strdup(is_stdout ? "standard output" : path);
    if (!o->path)
        return err_set(e, "out of memory");
    if (is_stdout) {
        o->f = stdout;
        return true;
    }
    int fd = open_fd(o, e);
    if (fd >= 0) {
        o->f = fdopen(fd, "w");
        if (!o->f) {
            err_errno(e, errno, "cannot write %s", path);
            close(fd);
        }
    }
    if (!o->f) {
        outfile_discard(o);
        return false;
    }
    return true;
}

bool outfile_close(struct outfile *o, struct err *e)
{
    if (o->f == stdout) {
        forget(o);
        return true;
    }
    errno = 0;
    bool ok = fflush(o->f) == 0 && !ferror(o->f);
    int cause = errno ? errno : EIO; /* an error of an earlier write left no errno */
    if (fclose(o->f) != 0 && ok) {
        ok = false;
        cause = errno;
    }
    o->f = NULL;
    if (ok && o->target && rename(o->aside, o->target) != 0) {
        ok = false;
        cause = errno;
    }
    if (!ok) {
        err_errno(e, cause, "cannot write %s", o->path);
        outfile_discard(o);
        return false;
    }
    forget(o);
    return true;
}

void outfile_discard(struct outfile *o)
{
    if (o->f && o->f != stdout)
        fclose(o->f);
    if (o->aside)
        unlink(o->aside);
    forget(o);
}

bool outfile_finish(struct outfile *o, bool complete, struct err *e)
{
    if (complete)
        return outfile_close(o, e);
    outfile_discard(o);
    return false;
}
