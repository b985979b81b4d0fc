#include "chunks.h"

#include "hugemem.h"
#include "rowindex.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CHUNKS_AHEAD     3
/* Frames of up to so many bytes of text are held as a whole. */
#define HOLD_FRAME_BYTES (8u << 20)

/* A thread that decompresses into a ring of chunks. */
struct chunks_ahead {
    const struct chunks *chunks;
    struct chunk chunk[CHUNKS_AHEAD];
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned n_filled, n_used; /* counters; a chunk is at counter % CHUNKS_AHEAD */
    bool stop;
};

static bool chunk_init(struct chunk *k, const struct chunks *c, size_t text_bytes)
{
    k->mem = hugemem_alloc(c->carry_bytes + text_bytes + ROWINDEX_PADDING);
    return k->mem != NULL;
}

static char *chunk_text(const struct chunk *k, const struct chunks *c)
{
    return k->mem + c->carry_bytes;
}

static void chunk_fill(struct chunk *k, const struct chunks *c)
{
    char *text = chunk_text(k, c), *begin = text + zreader_n_held(c->zreader);

    zreader_read(c->zreader, text, c->text_bytes, &k->result);
    memset(begin + k->result.n, 0, ROWINDEX_PADDING);
}

bool chunks_is_last(const struct zresult *result)
{
    return result->event == ZEVENT_END || result->event == ZEVENT_FAILED;
}

bool chunks_init(struct chunks *c, size_t text_bytes, struct err *e)
{
    memset(c, 0, sizeof *c);
    c->text_bytes = text_bytes ? text_bytes : CHUNKS_TEXT_BYTES;
    c->carry_bytes = RECFILE_MAX_ROW_BYTES + c->text_bytes;
    c->zreader = zreader_new(e);
    c->own_bytes = c->text_bytes;
    return c->zreader && (chunk_init(&c->own, c, c->own_bytes) || err_set(e, "out of memory"));
}

void chunks_fini(struct chunks *c)
{
    zreader_free(c->zreader);
    free(c->own.mem);
    memset(c, 0, sizeof *c);
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
        struct chunk *c = &a->chunk[a->n_filled % CHUNKS_AHEAD];
        pthread_mutex_unlock(&a->lock);
        if (stop)
            break;
        chunk_fill(c, a->chunks);
        go_on = !chunks_is_last(&c->result);
        pthread_mutex_lock(&a->lock);
        a->n_filled++;
        pthread_cond_signal(&a->changed);
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

static void ahead_free(struct chunks_ahead *a)
{
    for (int i = 0; i < CHUNKS_AHEAD; i++)
        free(a->chunk[i].mem);
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->changed);
    free(a);
}

/* NULL: no memory or no thread. */
static struct chunks_ahead *ahead_start(const struct chunks *c)
{
    struct chunks_ahead *a = calloc(1, sizeof *a);
    bool ok = true;

    if (!a)
        return NULL;
    a->chunks = c;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    for (int i = 0; i < CHUNKS_AHEAD; i++)
        ok = chunk_init(&a->chunk[i], c, c->text_bytes) && ok;
    if (ok && pthread_create(&a->thread, NULL, ahead_main, a) == 0)
        return a;
    ahead_free(a);
    return NULL;
}

/* Makes room for a whole frame, which saves copying it. No harm if there is none. */
static void hold_frames(struct chunks *c, uint64_t text_bound)
{
    struct chunk larger;

    if (text_bound == 0 || text_bound > HOLD_FRAME_BYTES)
        return;
    if (text_bound > c->own_bytes) {
        if (!chunk_init(&larger, c, text_bound))
            return;
        free(c->own.mem);
        c->own = larger;
        c->own_bytes = text_bound;
    }
    zreader_hold_frames(c->zreader, c->own_bytes);
}

void chunks_begin(struct chunks *c, const struct zsource *s, uint64_t start, uint64_t end,
                  bool careful, bool beside, uint64_t text_bound)
{
    zreader_range(c->zreader, s, start, end, careful);
    c->held = false;
    c->ahead = beside ? ahead_start(c) : NULL;
    if (!c->ahead)
        hold_frames(c, text_bound);
}

const struct zresult *chunks_next(struct chunks *c, const char *carry, size_t n_carry,
                                  const char **text)
{
    struct chunks_ahead *a = c->ahead;
    struct chunk *next = a ? &a->chunk[(a->n_used + c->held) % CHUNKS_AHEAD] : &c->own;
    char *begin = chunk_text(next, c) + (a ? 0 : zreader_n_held(c->zreader));

    /* Before the chunk that holds the carry is given back. The thread beside does not touch what
     * lies in front of a text. Within a frame that is held, the carry is where it should be. */
    if (n_carry && begin - n_carry != carry)
        memmove(begin - n_carry, carry, n_carry);
    *text = begin - n_carry;
    if (!a) {
        chunk_fill(next, c);
        return &next->result;
    }
    pthread_mutex_lock(&a->lock);
    a->n_used += c->held;
    pthread_cond_signal(&a->changed);
    while (a->n_filled == a->n_used)
        pthread_cond_wait(&a->changed, &a->lock);
    pthread_mutex_unlock(&a->lock);
    c->held = true;
    return &next->result;
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
