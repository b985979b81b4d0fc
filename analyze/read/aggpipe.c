#include "analyze/read/aggpipe.h"

#include "analyze/base/tempfile.h"
#include "libcommon/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* zstd decodes a block only when it has all of it; the first block is no longer than this. */
#define HEAD_BYTES (256 << 10)
#define ZSTD_MAGIC 0x28

/* Returns the first byte of standard input, a pipe, without consuming it. -1: there is none. */
static int peek_at_pipe(void)
{
    unsigned char first = 0;
    int copy[2];

    if (pipe2(copy, O_CLOEXEC) != 0)
        return -1;
    bool has =
        TEMP_FAILURE_RETRY(tee(STDIN_FILENO, copy[1], 1, 0)) == 1 && read(copy[0], &first, 1) == 1;
    close(copy[0]);
    close(copy[1]);
    return has ? first : -1;
}

static bool read_more(char *buf, size_t n, size_t *got, struct err *e)
{
    ssize_t just = TEMP_FAILURE_RETRY(read(STDIN_FILENO, buf, n));

    *got = just > 0 ? (size_t)just : 0;
    return just >= 0 || err_errno(e, errno, "cannot read standard input");
}

static bool become_stdin(int fd, struct err *e)
{
    return dup2(fd, STDIN_FILENO) >= 0 || err_errno(e, errno, "cannot read standard input");
}

/* The bytes that were taken from the pipe. */
struct head {
    char *text; /* HEAD_BYTES */
    size_t n;
};

/* Copies *h and the rest of standard input to a temporary file, which becomes standard input. */
static bool spool(const struct head *h, struct err *e)
{
    uint64_t size;
    int fd = tempfile_of_pipe(STDIN_FILENO, "<stdin>", h->text, h->n, &size, e);
    bool ok = fd >= 0 && become_stdin(fd, e);

    if (fd >= 0)
        close(fd);
    return ok;
}

/* ---- Captures: stay a pipe ---- */

struct feeder {
    struct head head;
    int from, to;
};

/* Writes the head, then the rest of the old pipe, to the new pipe. The reader sees the end of the
 * file when either of them ends. */
static void *feed(void *feeder)
{
    struct feeder *f = feeder;
    sigset_t set;
    ssize_t n = 0;

    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (size_t at = 0; at < f->head.n && n >= 0; at += (size_t)n)
        n = TEMP_FAILURE_RETRY(write(f->to, f->head.text + at, f->head.n - at));
    if (n >= 0)
        do
            n = TEMP_FAILURE_RETRY(splice(f->from, NULL, f->to, NULL, 1 << 20, SPLICE_F_MOVE));
        while (n > 0);
    close(f->from);
    close(f->to);
    free(f->head.text);
    free(f);
    return NULL;
}

/* Makes standard input a new pipe with the same bytes, head included. If it succeeds, h->text is
 * taken over. */
static bool push_back(struct head *h, struct err *e)
{
    struct feeder *f = NULL;
    pthread_t thread;
    int ends[2] = {-1, -1};
    bool ok = mem_new(&f, 1, e) &&
              (pipe2(ends, O_CLOEXEC) == 0 || err_errno(e, errno, "cannot read standard input"));

    if (ok) {
        *f = (struct feeder){*h, fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), ends[1]};
        ok = f->from >= 0 ? become_stdin(ends[0], e)
                          : err_errno(e, errno, "cannot read standard input");
        close(ends[0]);
        ok = ok && (pthread_create(&thread, NULL, feed, f) == 0 ||
                    err_set(e, "cannot read standard input: no thread can be had"));
        if (ok) {
            h->text = NULL;
            pthread_detach(thread);
            return true;
        }
        close(ends[1]);
        if (f->from >= 0)
            close(f->from);
    }
    free(f);
    return ok;
}

/* Reads until the first decompressed byte is known. *is_json: it begins a JSON object. */
static bool read_head(struct head *h, bool *is_json, struct err *e)
{
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    char first = '\0';
    ZSTD_outBuffer out = {&first, 1, 0};
    size_t got = 1, status = 1;
    bool ok = (zstd != NULL || mem_none(e)) && mem_new(&h->text, HEAD_BYTES, e);
    for (size_t at = 0; ok && got > 0 && out.pos == 0 && status != 0 && h->n < HEAD_BYTES;) {
        ok = read_more(h->text + h->n, HEAD_BYTES - h->n, &got, e);
        h->n += got;
        ZSTD_inBuffer in = {h->text, h->n, at};
        do
            status = ZSTD_decompressStream(zstd, &out, &in);
        while (!ZSTD_isError(status) && status != 0 && out.pos == 0 && in.pos < in.size);
        at = in.pos;
        if (ZSTD_isError(status))
            status = 0;
    }
    *is_json = first == '{';
    ZSTD_freeDCtx(zstd);
    return ok;
}

bool aggpipe_spool(const char *const *paths, size_t n, struct err *e)
{
    struct stat st;
    struct head h = {0};
    bool reads_stdin = false, is_json = false;

    for (size_t i = 0; i < n; i++)
        reads_stdin |= strcmp(paths[i], "-") == 0;
    if (!reads_stdin || fstat(STDIN_FILENO, &st) != 0 || !S_ISFIFO(st.st_mode))
        return true;
    int first = peek_at_pipe();
    if (first != ZSTD_MAGIC)
        return first != '{' || spool(&h, e);
    bool ok = read_head(&h, &is_json, e) && (is_json ? spool(&h, e) : push_back(&h, e));
    free(h.text);
    return ok;
}
