#include "analyze/write/outfile.h"

#include "libcommon/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool outfile_is_stdout(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(path, names[i]) == 0)
            return true;
    return false;
}

static int stat_input(const char *path, struct stat *st)
{
    return strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, st) : stat(path, st);
}

static bool is_same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool outfile_is_same(const char *path, const char *other)
{
    struct stat a, b;
    if (strcmp(path, other) == 0)
        return true;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && is_same_inode(&a, &b);
}

bool outfile_spares(const char *path, const char *const *inputs, size_t n, struct err *e)
{
    struct stat out, in;
    if (path == NULL)
        return true;
    /* A command whose input and output the shell opened on the same file may never end, or the
     * shell has truncated the file already. Terminals, pipes and /dev/null are allowed as both. */
    bool exists = outfile_is_stdout(path) ? fstat(STDOUT_FILENO, &out) == 0 && S_ISREG(out.st_mode)
                                          : stat(path, &out) == 0;
    for (size_t i = 0; exists && i < n; i++) {
        bool is_named = !outfile_is_stdout(path) && strcmp(path, inputs[i]) != 0;
        if (stat_input(inputs[i], &in) == 0 && is_same_inode(&out, &in))
            return err_set(e, "%s%s%s%s is to be read: it would be overwritten",
                           is_named ? path : "", is_named ? ", which is " : "",
                           strcmp(inputs[i], "-") == 0 ? "standard input" : inputs[i],
                           is_named ? "," : "");
    }
    return true;
}

/* ---- What may be replaced ---- */

static bool begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

bool outfile_is_ours(const char *path, enum outfile_replaces kind)
{
    char head[1024];
    FILE *f = fopen(path, "re");
    size_t n = f != NULL ? fread(head, 1, sizeof head - 1, f) : 0;

    if (f != NULL)
        fclose(f);
    head[n] = '\0';
    const char *line = strchr(head, '\n');
    switch (kind) {
    case OUTFILE_NOTHING:
        return false;
    case OUTFILE_JSON:
        return begins(head, "{\n \"schema\": \"s3analyze/");
    case OUTFILE_HTML:
        return strstr(head, "<meta name=\"generator\" content=\"s3analyze ") != NULL;
    case OUTFILE_SERIES:
        return begins(head, "index\top\thost\t") || begins(head, "index,op,host,") ||
               begins(head, "{\"index\":") || begins(head, "[{\"index\":");
    case OUTFILE_CHART:
        /* The file begins with a line "# BLOCK" and a line of column names. A capture's first
         * comment is longer than a name. */
        return begins(head, "# ") && line != NULL &&
               strspn(head + 2, "abcdefghijklmnopqrstuvwxyz_") == (size_t)(line - head - 2) &&
               memchr(line + 1, '\t', strcspn(line + 1, "\n")) != NULL;
    case OUTFILE_ANYTHING:
        break;
    }
    return true;
}

static bool may_replace(const char *path, enum outfile_replaces replaces, struct err *e)
{
    static const char *const kinds[] = {[OUTFILE_JSON] = "JSON report",
                                        [OUTFILE_HTML] = "page",
                                        [OUTFILE_SERIES] = "time series",
                                        [OUTFILE_CHART] = "data of a chart"};
    if (outfile_is_ours(path, replaces))
        return true;
    if (replaces == OUTFILE_NOTHING)
        return err_set(e, "%s is there already (--force overwrites it)", path);
    return err_set(e, "%s is there already, and is no %s of ours (--force overwrites it)", path,
                   kinds[replaces]);
}

/* The folder that a file is in; the caller frees it. NULL: out of memory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + (slash == path));
}

bool outfile_check(const char *path, enum outfile_replaces replaces, struct err *e)
{
    struct stat st;
    if (path == NULL || outfile_is_stdout(path))
        return true;
    bool exists = stat(path, &st) == 0;
    if (!exists && lstat(path, &st) == 0)
        return err_set(e, "cannot write %s: it is a symbolic link to a file that is not there",
                       path);
    if (exists && S_ISDIR(st.st_mode))
        return err_errno(e, EISDIR, "cannot write %s", path);
    if (exists && !S_ISREG(st.st_mode))
        return access(path, W_OK) == 0 || err_errno(e, errno, "cannot write %s", path);
    if (exists && !may_replace(path, replaces, e))
        return false;
    /* The file is written under another name first, so its folder must be writable: the real one,
     * behind symbolic links. */
    char *target = exists ? realpath(path, NULL) : strdup(path);
    char *folder = target != NULL ? folder_of(target) : NULL;
    bool ok = folder != NULL && access(folder, W_OK | X_OK) == 0;
    if (!ok)
        err_errno(e, folder != NULL ? errno : ENOMEM, "cannot write %s", path);
    free(target);
    free(folder);
    return ok;
}

/* ---- Writing ---- */

static void forget(struct outfile *o)
{
    unfinished_drop(&o->unfinished);
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
        if (!mem_format(&o->aside, e, "%s.%ld-%d.part", o->target, (long)getpid(), i))
            return -1;
        unfinished_lock();
        int fd = open(o->aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            unfinished_add(&o->unfinished, o->aside, 0);
        unfinished_unlock();
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

/* Returns a file descriptor to write to. -1: *e says why not. */
static int open_fd(struct outfile *o, enum outfile_replaces replaces, struct err *e)
{
    struct stat st;
    bool exists = stat(o->path, &st) == 0;

    if (exists && !S_ISREG(st.st_mode)) {
        int fd = open(o->path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
            err_errno(e, errno, "cannot write %s", o->path);
        return fd;
    }
    if (exists && !may_replace(o->path, replaces, e))
        return -1;
    o->is_new = !exists;
    o->target = exists ? realpath(o->path, NULL) : strdup(o->path);
    if (!o->target) {
        err_errno(e, errno, "cannot write %s", o->path);
        return -1;
    }
    int fd = open_aside(o, e);
    if (fd >= 0 && exists) {
        /* May fail if the old file has another owner; that does no harm. */
        fchmod(fd, st.st_mode & 07777);
    }
    return fd;
}

bool outfile_open(struct outfile *o, const char *path, enum outfile_replaces replaces,
                  struct err *e)
{
    *o = (struct outfile){0};
    bool is_stdout = outfile_is_stdout(path);
    if (!mem_text(&o->path, is_stdout ? "standard output" : path, e))
        return false;
    if (is_stdout) {
        o->f = stdout;
        return true;
    }
    int fd = open_fd(o, replaces, e);
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

/* Gives the file its final name. False: errno says why. */
static bool put_in_place(const struct outfile *o)
{
    if (o->is_new) {
        /* Does not overwrite a file that somebody made meanwhile. */
        if (renameat2(AT_FDCWD, o->aside, AT_FDCWD, o->target, RENAME_NOREPLACE) == 0)
            return true;
        if (errno != EINVAL && errno != ENOSYS)
            return false;
        /* Some file systems lack RENAME_NOREPLACE. */
    }
    return rename(o->aside, o->target) == 0;
}

/* Returns the errno of an earlier failed write, which stdio does not keep: another write fails for
 * the same reason. A file aside is discarded later. A pipe or a device gets one byte at most. */
static int earlier_cause(const struct outfile *o)
{
    static const char more[1 << 16];
    size_t size = o->aside != NULL ? sizeof more : 1;
    ssize_t n = 0;

    do
        n = TEMP_FAILURE_RETRY(write(fileno(o->f), more, size));
    while (n > 0 && n < (ssize_t)size);
    return n < 0 ? errno : EIO;
}

bool outfile_close(struct outfile *o, struct err *e)
{
    if (o->f == stdout) {
        forget(o);
        return true;
    }
    errno = 0;
    bool ok = fflush(o->f) == 0 && !ferror(o->f);
    int cause = errno || ok ? errno : earlier_cause(o);
    if (fclose(o->f) != 0 && ok) {
        ok = false;
        cause = errno;
    }
    o->f = NULL;
    if (ok && o->target && !put_in_place(o)) {
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
