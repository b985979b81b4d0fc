#include "loadgen/run/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define USUAL_FILE "/tmp/s3load.lock"
#define ID_MAX     64

/* Opens the file, which all users share. First without O_CREAT, which fails on a file of another
 * user in /tmp (fs.protected_regular). */
static int open_file(void)
{
    const char *named = getenv("S3LOAD_LOCK");
    const char *path = named != NULL ? named : USUAL_FILE;
    const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
    int fd = *path != '\0' ? open(path, flags) : -1;

    if (fd >= 0 || *path == '\0' || errno != ENOENT)
        return fd;
    fd = open(path, flags | O_CREAT | O_EXCL, 0666);
    if (fd < 0)
        return errno == EEXIST ? open(path, flags) : -1;
    fchmod(fd, 0666);
    return fd;
}

/* Writes who has the lock. If this fails, other ranks of the run take us for another load, and only
 * warn. */
static bool write_holder(int fd, const char *run_id)
{
    return ftruncate(fd, 0) == 0 && pwrite(fd, run_id, strlen(run_id), 0) > 0;
}

bool turnstile_pass(struct turnstile *t, const char *run_id)
{
    char holder[ID_MAX] = "";

    if (t->holds)
        return true;
    if (t->fd == 0)
        t->fd = open_file();
    if (t->fd >= 0 && flock(t->fd, LOCK_EX | LOCK_NB) == 0) {
        t->holds = true;
        write_holder(t->fd, run_id);
    } else if (t->fd < 0 || errno != EWOULDBLOCK) {
        t->holds = true;
    } else if (pread(t->fd, holder, sizeof holder - 1, 0) > 0) {
        t->holds = strcmp(holder, run_id) == 0;
    }
    return t->holds;
}

void turnstile_leave(struct turnstile *t)
{
    if (t->fd > 0)
        close(t->fd);
    *t = (struct turnstile){0};
}
