#include "analyze/read/chunks.h"

#include "analyze/read/rowindex.h"
#include "libcommon/mem.h"
#include "libcommon/record.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CHUNKS_AHEAD 3
/* In a file of tiny frames, two threads that wake each other for every piece do little else. So up
 * to BATCH_CHUNKS pieces shorter than SMALL_BYTES are handed over together. */
#define SMALL_BYTES  4096
#define BATCH_CHUNKS 32

/* Small pieces; only the last one may be larger. */
struct chunks_batch {
    struct zresult result[BATCH_CHUNKS];
    unsigned n;
};

/* A thread that decompresses ahead. */
struct chunks_ahead {
    struct zreader *zreader;
    struct chunks_batch batch[CHUNKS_AHEAD];
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned n_filled, n_used; /* batches so far; batch i is at i % CHUNKS_AHEAD */
    unsigned at;               /* index of the next piece in batch n_used */
    bool stop;
};

bool chunks_is_last(const struct zresult *result)
{
    return result->event == ZEVENT_END || result->event == ZEVENT_FAILED;
}

/* The longest carry. */
static size_t carry_bytes(const struct chunks *c)
{
    return RECORD_MAX_ROW_BYTES + c->text_bytes;
}

bool chunks_init(struct chunks *c, size_t text_bytes, struct err *e)
{
    memset(c, 0, sizeof *c);
    c->text_bytes = text_bytes ? text_bytes : CHUNKS_TEXT_BYTES;
    c->zreader = zreader_new(c->text_bytes, carry_bytes(c), e);
    return c->zreader != NULL;
}

void chunks_fini(struct chunks *c)
{
    zreader_free(c->zreader);
    memset(c, 0, sizeof *c);
}

/* Fills a batch. False: it holds the last piece. */
static bool fill(struct chunks_batch *b, struct zreader *zreader)
{
    const struct zresult *last;

    b->n = 0;
    do {
        zreader_read(zreader, &b->result[b->n]);
        last = &b->result[b->n++];
    } while (last->n < SMALL_BYTES && b->n < BATCH_CHUNKS && !chunks_is_last(last));
    return !chunks_is_last(last);
}

static void *ahead_main(void *arg)
{
    struct chunks_ahead *a = arg;
    bool go_on = true;

    while (go_on) {
        pthread_mutex_lock(&a->lock);
        while (a->n_filled - a->n_used == CHUNKS_AHEAD && !a->stop)
            pthread_cond_wait(&a->changed, &a->lock);
        bool stop = a->stop;
        struct chunks_batch *batch = &a->batch[a->n_filled % CHUNKS_AHEAD];
        pthread_mutex_unlock(&a->lock);
        if (stop)
            break;
        go_on = fill(batch, a->zreader);
        pthread_mutex_lock(&a->lock);
        a->n_filled++;
        pthread_cond_signal(&a->changed);
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

static void ahead_free(struct chunks_ahead *a)
{
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->changed);
    free(a);
}

/* Starts a helper thread. NULL: out of memory, or no thread. */
static struct chunks_ahead *ahead_start(struct zreader *zreader)
{
    struct chunks_ahead *a;

    if (!mem_cleared(&a, 1, NULL))
        return NULL;
    a->zreader = zreader;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    if (pthread_create(&a->thread, NULL, ahead_main, a) == 0)
        return a;
    ahead_free(a);
    return NULL;
}

bool chunks_begin(struct chunks *c, const struct zsource *s, uint64_t start, uint64_t end,
                  bool careful, bool beside)
{
    /* The chunk that is being parsed, those ahead of it, and one carry. */
    size_t one = c->text_bytes + ROWINDEX_PADDING,
           small = BATCH_CHUNKS * (SMALL_BYTES + ROWINDEX_PADDING);
    size_t keep = carry_bytes(c) + (beside ? CHUNKS_AHEAD * (one + small) : one);

    c->held = false;
    c->ahead = NULL;
    if (!zreader_range(c->zreader, s, start, end, keep, careful))
        return false;
    if (beside)
        c->ahead = ahead_start(c->zreader);
    return true;
}

/* Waits for the helper thread's next piece and returns it. *used_up: the piece is the first of its
 * batch, and the batch before it can be given back when the caller has copied the carry. */
static const struct zresult *take_ahead(struct chunks *c, bool *used_up)
{
    struct chunks_ahead *a = c->ahead;

    *used_up = c->held && a->at == a->batch[a->n_used % CHUNKS_AHEAD].n;
    unsigned batch = a->n_used + *used_up;
    if (*used_up || !c->held) {
        a->at = 0;
        pthread_mutex_lock(&a->lock);
        while (a->n_filled == batch)
            pthread_cond_wait(&a->changed, &a->lock);
        pthread_mutex_unlock(&a->lock);
    }
    return &a->batch[batch % CHUNKS_AHEAD].result[a->at++];
}

static void give_back(struct chunks *c)
{
    struct chunks_ahead *a = c->ahead;

    pthread_mutex_lock(&a->lock);
    a->n_used++;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

const struct zresult *chunks_next(struct chunks *c, const char *carry, size_t n_carry,
                                  const char **text)
{
    const struct zresult *next = &c->own;
    bool used_up = false;

    if (c->ahead)
        next = take_ahead(c, &used_up);
    else
        zreader_read(c->zreader, &c->own);
    if (n_carry && next->text - n_carry != carry)
        memmove(next->text - n_carry, carry, n_carry);
    *text = next->text - n_carry;
    if (used_up)
        give_back(c);
    c->held = c->ahead != NULL;
    return next;
}

void chunks_end(struct chunks *c)
{
    struct chunks_ahead *a = c->ahead;

    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    ahead_free(a);
    c->ahead = NULL;
}
