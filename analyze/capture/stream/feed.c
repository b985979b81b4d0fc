#include "analyze/capture/stream/feed.h"

#include "analyze/read/recfile.h"
#include "libcommon/mem.h"
#include "libcommon/rowformat.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* The most batches that wait for the caller, and that wait to be filled again. */
#define MAX_READY 2
#define MAX_FREE  2

struct feed {
    struct feed_options options;
    struct rowformat format;
    pthread_t thread;
    atomic_uint_least64_t n_read;

    /* Used only by the reading thread. */
    struct reorder_batch *batch; /* being filled */
    size_t n_headers, n_blocks;  /* header lines so far; blocks handed over */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct reorder_batch *ready, **ready_end; /* in order */
    unsigned n_ready;
    struct reorder_batch *free;
    unsigned n_free;
    bool stop, ended, failed;
    struct err error;
};

#define CHANGED_MEANWHILE "its rows are not those of the first pass: was it written to meanwhile?"

static bool changed_meanwhile(struct err *e)
{
    return err_set(e, CHANGED_MEANWHILE);
}

/* Returns an empty batch. NULL: out of memory. */
static struct reorder_batch *take_free(struct feed *f, struct err *e)
{
    pthread_mutex_lock(&f->lock);
    struct reorder_batch *b = f->free;
    if (b) {
        f->free = b->next;
        f->n_free--;
    }
    pthread_mutex_unlock(&f->lock);
    return b ? b : reorder_batch_new(f->options.input, e);
}

/* Sorts the batch and queues it for the caller. False: feed_stop was called. */
static bool hand_over(struct feed *f)
{
    struct reorder_batch *b = f->batch;

    f->batch = NULL;
    f->n_blocks++;
    reorder_batch_sort(b);
    b->next = NULL;
    pthread_mutex_lock(&f->lock);
    while (f->n_ready == MAX_READY && !f->stop)
        pthread_cond_wait(&f->changed, &f->lock);
    bool stop = f->stop;
    *f->ready_end = b;
    f->ready_end = &b->next;
    f->n_ready++;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    return !stop;
}

/* ---- Events of the reader ---- */

static bool shift_time(int64_t *ns, int64_t by)
{
    return *ns == RECORD_NO_TIME || (!__builtin_add_overflow(*ns, by, ns) && *ns >= 0);
}

static bool shift(struct record *r, int64_t by)
{
    return shift_time(&r->start_ns, by) && shift_time(&r->end_ns, by) &&
           shift_time(&r->first_byte_ns, by) && shift_time(&r->last_byte_ns, by) &&
           shift_time(&r->intended_ns, by);
}

static bool on_header(void *ctx, const struct recfile_layout *layout, struct err *e)
{
    struct feed *f = ctx;

    (void)layout;
    if (f->n_headers == f->options.survey->n_sections)
        return changed_meanwhile(e);
    f->n_headers++;
    return true;
}

static bool add_row(struct feed *f, const struct record *row, struct err *e)
{
    const struct feed_options *o = &f->options;
    const struct survey *s = o->survey;
    struct record r = *row;
    uint64_t thread = r.thread + o->thread_bases[f->n_headers - 1];

    if (f->n_blocks == s->n_blocks || thread > UINT32_MAX)
        return changed_meanwhile(e);
    int64_t by_ns = -rank_clock_ahead(o->clock, r.start_ns);
    if (__builtin_add_overflow(by_ns, o->shift_ns, &by_ns) || (by_ns && !shift(&r, by_ns)))
        return err_set(e, "--shift, or the clock of a rank, moves a time out of the years 1970 to "
                          "2262");
    r.thread = (uint32_t)thread;
    if (!f->batch && !(f->batch = take_free(f, e)))
        return false;
    char *p = reorder_batch_room(f->batch, rowformat_bound(&r), e);
    if (!p)
        return false;
    reorder_batch_take(f->batch, r.start_ns, rowformat_put(&f->format, p, &r));
    return f->batch->n_rows < s->blocks[f->n_blocks].n_rows || hand_over(f);
}

static bool unit_rows(void *ctx, void *unit, const struct record *rows, size_t n, struct err *e)
{
    (void)unit;
    for (size_t i = 0; i < n; i++)
        if (!add_row(ctx, &rows[i], e))
            return false;
    return true;
}

static void on_progress(void *ctx, uint64_t n_read, uint64_t n_total)
{
    (void)n_total;
    atomic_store(&((struct feed *)ctx)->n_read, n_read);
}

static void *feed_main(void *arg)
{
    struct feed *f = arg;
    const struct recfile_options how = {.salvage = f->options.salvage,
                                        .chunk_bytes = f->options.chunk_bytes,
                                        .alone = true,
                                        .progress = on_progress,
                                        .progress_ctx = f};
    const struct recfile_sink sink = {.ctx = f, .unit_rows = unit_rows, .header = on_header};
    struct recfile_info info;
    struct err e = {0};
    bool ok = recfile_read(f->options.path, &how, &sink, &info, &e);

    if (ok && f->n_blocks < f->options.survey->n_blocks)
        ok = err_set(&e, "%s: " CHANGED_MEANWHILE, f->options.path);
    pthread_mutex_lock(&f->lock);
    f->ended = true;
    f->failed = !ok;
    f->error = e;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

/* ---- For the caller ---- */

struct feed *feed_start(const struct feed_options *options, struct err *e)
{
    struct feed *f;

    if (!mem_cleared(&f, 1, e))
        return NULL;
    f->options = *options;
    f->ready_end = &f->ready;
    rowformat_init(&f->format, options->intended);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    int error = pthread_create(&f->thread, NULL, feed_main, f);
    if (error) {
        err_errno(e, error, "cannot start a thread to read %s", options->path);
        pthread_mutex_destroy(&f->lock);
        pthread_cond_destroy(&f->changed);
        free(f);
        return NULL;
    }
    return f;
}

static void free_list(struct reorder_batch *b)
{
    while (b) {
        struct reorder_batch *next = b->next;
        reorder_batch_free(b);
        b = next;
    }
}

void feed_stop(struct feed *f)
{
    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    f->stop = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    free_list(f->ready);
    free_list(f->free);
    reorder_batch_free(f->batch);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->changed);
    free(f);
}

bool feed_next(struct feed *f, struct reorder_batch **batch, struct err *e)
{
    pthread_mutex_lock(&f->lock);
    while (!f->ready && !f->ended)
        pthread_cond_wait(&f->changed, &f->lock);
    struct reorder_batch *b = f->ready;
    if (b) {
        f->ready = b->next;
        if (!f->ready)
            f->ready_end = &f->ready;
        f->n_ready--;
        pthread_cond_broadcast(&f->changed);
    }
    bool ok = b || !f->failed || err_pass(e, &f->error);
    pthread_mutex_unlock(&f->lock);
    *batch = b;
    return ok;
}

void feed_give_back(struct feed *f, struct reorder_batch *batch)
{
    batch->n_rows = batch->n_text = 0;
    pthread_mutex_lock(&f->lock);
    bool keep = f->n_free < MAX_FREE;
    if (keep) {
        batch->next = f->free;
        f->free = batch;
        f->n_free++;
    }
    pthread_mutex_unlock(&f->lock);
    if (!keep)
        reorder_batch_free(batch);
}

uint64_t feed_n_read(const struct feed *f)
{
    return atomic_load(&f->n_read);
}
