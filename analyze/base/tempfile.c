#include "analyze/base/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *folder(void)
{
    const char *dir = getenv("TMPDIR");

    return dir && *dir ? dir : "/var/tmp";
}

int tempfile_open(struct err *e)
{
    const char *dir = folder();
    char path[4096];
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd < 0 && (size_t)snprintf(path, sizeof path, "%s/s3analyze.XXXXXX", dir) < sizeof path) {
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0)
            unlink(path);
    }
    if (fd < 0)
        err_errno(e, errno, "cannot make a temporary file in %s (TMPDIR)", dir);
    return fd;
}

bool tempfile_write(int fd, const void *p, size_t n, uint64_t at, struct err *e)
{
    const char *s = p;

    while (n) {
        ssize_t done = TEMP_FAILURE_RETRY(pwrite(fd, s, n, (off_t)at));
        if (done <= 0)
            return err_errno(e, done < 0 ? errno : EIO,
                             "cannot write a temporary file in %s (TMPDIR)", folder());
        s += done;
        n -= (size_t)done;
        at += (uint64_t)done;
    }
    return true;
}

int tempfile_of_pipe(int from, const char *name, const void *head, size_t n_head, uint64_t *size,
                     struct err *e)
{
    char buf[64 << 10];
    ssize_t got = 1;
    int fd = tempfile_open(e);
    bool ok = fd >= 0 && tempfile_write(fd, head, n_head, 0, e);

    for (*size = n_head; ok && got > 0; *size += (uint64_t)got) {
        got = TEMP_FAILURE_RETRY(read(from, buf, sizeof buf));
        ok = got >= 0 ? tempfile_write(fd, buf, (size_t)got, *size, e)
                      : err_errno(e, errno, "%s: cannot read", name);
    }
    if (ok)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

size_t tempfile_read(int fd, void *p, size_t n, uint64_t at, struct err *e)
{
    ssize_t got = TEMP_FAILURE_RETRY(pread(fd, p, n, (off_t)at));

    if (got > 0)
        return (size_t)got;
    err_errno(e, got < 0 ? errno : EIO, "cannot read a temporary file in %s (TMPDIR)", folder());
    return 0;
}
