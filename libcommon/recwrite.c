/* Frames go through a ring buffer of slots: the caller fills a slot, and threads take full slots in
 * order, compress them and write them in order. Without threads there is one slot, and the caller
 * does all the work. */
#include "libcommon/recwrite.h"

#include "libcommon/mem.h"
#include "libcommon/rowformat.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define MAX_WINDOW_LOG 21 /* 2 MiB */

/* A frame: its text, and what zstd makes of it. */
struct slot {
    char *text;
    size_t n;
    char *packed;
};

struct packer {
    struct recwrite *w;
    ZSTD_CCtx *zstd;
    pthread_t thread;
};

struct recwrite {
    struct recwrite_options options;
    struct rowformat format;
    uint64_t n_rows;
    size_t packed_cap;
    struct slot *slots;
    unsigned n_slots;
    struct packer packers[RECWRITE_MAX_THREADS];
    unsigned n_packers, n_threads; /* without threads there is one packer */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t n_filled, n_taken, n_written; /* frames; frame i is in slot i % n_slots */
    bool stop, failed;
    struct err error;
};

/* ---- Frames ---- */

static bool fail(struct recwrite *w, struct err *e)
{
    pthread_mutex_lock(&w->lock);
    w->failed = true;
    err_set(e, "%s", w->error.msg);
    pthread_mutex_unlock(&w->lock);
    return false;
}

/* Removes the first n bytes of a frame that could not be written whole, so that a full disk leaves
 * a good recording. If that fails, the recording has a torn end, which readers can handle. */
static bool take_back(const struct recwrite *w, size_t n, int cause, struct err *e)
{
    off_t end = w->options.sync ? lseek(w->options.fd, 0, SEEK_CUR) : -1;

    if (end >= (off_t)n && ftruncate(w->options.fd, end - (off_t)n) != 0)
        return err_errno(e, cause, "cannot write %s, whose last frame is torn", w->options.name);
    return err_errno(e, cause, "cannot write %s", w->options.name);
}

static bool write_all(const struct recwrite *w, const char *p, size_t n, struct err *e)
{
    const struct recwrite_options *o = &w->options;
    const char *start = p;

    while (n) {
        ssize_t done = TEMP_FAILURE_RETRY(write(o->fd, p, n));
        if (done <= 0)
            return take_back(w, (size_t)(p - start), done < 0 ? errno : EIO, e);
        p += done;
        n -= (size_t)done;
    }
    /* Pipes and some devices have nothing to sync. */
    if (o->sync && fdatasync(o->fd) != 0 && errno != EINVAL && errno != EROFS)
        return err_errno(e, errno, "cannot write %s", o->name);
    return true;
}

/* Compresses the slot's text if the options say so. Points *p to the *n bytes to write. */
static bool pack(const struct recwrite *w, ZSTD_CCtx *zstd, struct slot *s, const char **p,
                 size_t *n, struct err *e)
{
    *p = s->text;
    *n = s->n;
    if (!w->options.compress)
        return true;
    *p = s->packed;
    *n = ZSTD_compress2(zstd, s->packed, w->packed_cap, s->text, s->n);
    if (ZSTD_isError(*n))
        return err_set(e, "cannot compress %s: %s", w->options.name, ZSTD_getErrorName(*n));
    return true;
}

static void *pack_main(void *arg)
{
    struct packer *packer = arg;
    struct recwrite *w = packer->w;
    struct err e = {0};
    const char *p;
    size_t n;

    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (w->n_taken == w->n_filled && !w->stop)
            pthread_cond_wait(&w->changed, &w->lock);
        if (w->n_taken == w->n_filled)
            break;
        uint64_t frame = w->n_taken++;
        struct slot *s = &w->slots[frame % w->n_slots];
        pthread_mutex_unlock(&w->lock);
        bool ok = pack(w, packer->zstd, s, &p, &n, &e);
        pthread_mutex_lock(&w->lock);
        while (w->n_written != frame)
            pthread_cond_wait(&w->changed, &w->lock);
        ok = ok && !w->failed;
        pthread_mutex_unlock(&w->lock);
        ok = ok && write_all(w, p, n, &e);
        pthread_mutex_lock(&w->lock);
        if (!ok && !w->failed) {
            w->failed = true;
            w->error = e;
        }
        w->n_written++;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static struct slot *current(struct recwrite *w)
{
    return &w->slots[w->n_filled % w->n_slots];
}

bool recwrite_end_frame(struct recwrite *w, struct err *e)
{
    struct slot *s = current(w);
    const char *p;
    size_t n;

    if (w->n_threads == 0) {
        if (!w->failed && s->n &&
            (!pack(w, w->packers[0].zstd, s, &p, &n, &w->error) || !write_all(w, p, n, &w->error)))
            w->failed = true;
        s->n = 0;
        return !w->failed || fail(w, e);
    }
    pthread_mutex_lock(&w->lock);
    if (s->n) {
        w->n_filled++;
        pthread_cond_broadcast(&w->changed);
        while (w->n_filled - w->n_written >= w->n_slots)
            pthread_cond_wait(&w->changed, &w->lock);
        current(w)->n = 0;
    }
    bool ok = !w->failed;
    pthread_mutex_unlock(&w->lock);
    return ok || fail(w, e);
}

/* Returns room for n <= RECWRITE_FRAME_BYTES more bytes of text. NULL on failure: *e says why. */
static inline char *room(struct recwrite *w, size_t n, struct err *e)
{
    struct slot *s = current(w);

    if (s->n + n > RECWRITE_FRAME_BYTES) {
        if (!recwrite_end_frame(w, e))
            return NULL;
        s = current(w);
    }
    return s->text + s->n;
}

/* ---- Lines ---- */

static bool too_long(struct recwrite *w, const char *what, struct err *e)
{
    pthread_mutex_lock(&w->lock);
    err_set(&w->error, "cannot write %s: %s of more than 1 MiB", w->options.name, what);
    pthread_mutex_unlock(&w->lock);
    return fail(w, e);
}

/* Makes room for a row and writes its idx; at most n bytes may follow the idx. Returns where they
 * go; NULL on failure: *e says why. */
static inline char *begin_row(struct recwrite *w, size_t n, struct err *e)
{
    char *p = NULL;

    if (w->n_threads == 0 && w->failed)
        fail(w, e);
    else if (n > RECWRITE_FRAME_BYTES - ROWFORMAT_NUMBER_BYTES)
        too_long(w, "a row", e);
    else
        p = room(w, n + ROWFORMAT_NUMBER_BYTES, e);
    return p ? rowformat_put_number(p, w->n_rows) : NULL;
}

static inline bool end_row(struct recwrite *w, const char *end, struct err *e)
{
    struct slot *s = current(w);
    size_t n = (size_t)(end - s->text);

    if (n - s->n > RECORD_MAX_ROW_BYTES)
        return too_long(w, "a row", e);
    s->n = n;
    w->n_rows++;
    return true;
}

bool recwrite_text(struct recwrite *w, const char *row, size_t n, struct err *e)
{
    char *p = begin_row(w, n, e);

    if (!p)
        return false;
    memcpy(p, row, n);
    return end_row(w, p + n, e);
}

bool recwrite_row(struct recwrite *w, const struct record *r, struct err *e)
{
    char *p = begin_row(w, rowformat_bound(r), e);

    return p && end_row(w, rowformat_put(&w->format, p, r), e);
}

static bool put_line(struct recwrite *w, const char *prefix, const char *text, size_t n,
                     struct err *e)
{
    size_t n_prefix = strlen(prefix);

    if (w->n_threads == 0 && w->failed)
        return fail(w, e);
    if (n_prefix + n + 1 > RECORD_MAX_ROW_BYTES)
        return too_long(w, "a comment", e);
    char *p = room(w, n_prefix + n + 1, e);
    if (!p)
        return false;
    memcpy(p, prefix, n_prefix);
    memcpy(p + n_prefix, text, n);
    p[n_prefix + n] = '\n';
    current(w)->n += n_prefix + n + 1;
    return true;
}

bool recwrite_comment(struct recwrite *w, const char *text, size_t n, struct err *e)
{
    return put_line(w, "# ", text, n, e);
}

bool recwrite_header(struct recwrite *w, bool intended, struct err *e)
{
    const char *line = rowformat_header(intended);

    w->format.intended = intended;
    return put_line(w, "", line, strlen(line) - 1, e);
}

/* ---- Opening and closing ---- */

static ZSTD_CCtx *new_zstd(int level)
{
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    int window_log = level <= 2 ? 0 : MAX_WINDOW_LOG; /* at low levels zstd's own is smaller */

    if (zstd && (ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level)) ||
                 ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, window_log)) ||
                 ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1)))) {
        ZSTD_freeCCtx(zstd);
        return NULL;
    }
    return zstd;
}

/* Allocates slots and compressors for n_threads. */
static bool allocate(struct recwrite *w, unsigned n_threads, struct err *e)
{
    const struct recwrite_options *o = &w->options;

    w->n_slots = n_threads ? n_threads + 1 : 1;
    w->packed_cap = ZSTD_compressBound(RECWRITE_FRAME_BYTES);
    if (!mem_cleared(&w->slots, w->n_slots, e))
        return false;
    for (unsigned i = 0; i < w->n_slots; i++)
        if (!mem_new(&w->slots[i].text, RECWRITE_FRAME_BYTES, e) ||
            (o->compress && !mem_new(&w->slots[i].packed, w->packed_cap, e)))
            return false;
    w->n_packers = n_threads ? n_threads : 1;
    for (unsigned i = 0; i < w->n_packers; i++) {
        w->packers[i].w = w;
        if (o->compress && !(w->packers[i].zstd = new_zstd(o->level)))
            return mem_none(e);
    }
    return true;
}

struct recwrite *recwrite_open(const struct recwrite_options *options, struct err *e)
{
    struct recwrite *w;
    unsigned n_threads =
        options->threads < RECWRITE_MAX_THREADS ? options->threads : RECWRITE_MAX_THREADS;

    if (!mem_cleared(&w, 1, e))
        return NULL;
    w->options = *options;
    if (!w->options.level)
        w->options.level = RECWRITE_DEFAULT_LEVEL;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    rowformat_init(&w->format, options->intended);
    if (!allocate(w, n_threads, e)) {
        recwrite_discard(w);
        return NULL;
    }
    /* Fewer threads than wanted are no failure. */
    while (w->n_threads < n_threads && pthread_create(&w->packers[w->n_threads].thread, NULL,
                                                      pack_main, &w->packers[w->n_threads]) == 0)
        w->n_threads++;
    if (!recwrite_header(w, options->intended, e)) {
        recwrite_discard(w);
        return NULL;
    }
    return w;
}

static void stop_threads(struct recwrite *w)
{
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    for (unsigned i = 0; i < w->n_threads; i++)
        pthread_join(w->packers[i].thread, NULL);
    w->n_threads = 0;
}

void recwrite_discard(struct recwrite *w)
{
    if (!w)
        return;
    stop_threads(w);
    for (unsigned i = 0; i < w->n_packers; i++)
        ZSTD_freeCCtx(w->packers[i].zstd);
    for (unsigned i = 0; w->slots && i < w->n_slots; i++) {
        free(w->slots[i].text);
        free(w->slots[i].packed);
    }
    free(w->slots);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
    free(w);
}

bool recwrite_close(struct recwrite *w, struct err *e)
{
    struct err ignored = {0}; /* w keeps it */

    recwrite_end_frame(w, &ignored);
    stop_threads(w);
    bool ok = !w->failed || err_set(e, "%s", w->error.msg);
    recwrite_discard(w);
    return ok;
}
