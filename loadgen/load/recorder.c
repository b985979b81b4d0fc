#include "loadgen/load/recorder.h"

#include "libcommon/hist.h"
#include "libcommon/mem.h"
#include "libcommon/quantile.h"
#include "libcommon/recwrite.h"
#include "loadgen/util/util.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#define BATCH_BYTES (64u * 1024)

/* Rows stay in a loop's batch for at most this time. */
#define BATCH_NS (100 * NS_PER_MS)

/* Batches per loop; all loops share them. If none is free, a loop waits for the writer. */
#define BATCHES_PER_LOOP 128

/* A frame is closed at most this long after its first row. With the time in a batch and the sync, a
 * row is on disk within 500 ms. */
#define FRAME_NS INT64_C(300000000)

#define WRITER_NICE 5

/* The fields of a row that the writer needs, besides its text. */
struct row {
    int64_t start_ns, end_ns, bytes, n_objects;
    uint32_t thread;
    uint32_t n_text; /* length of the text that follows, which is padded to a multiple of 8 */
    bool ok, bench;
};

/* Returns the size of a row in a batch, with padding. */
static size_t row_bytes(const struct row *row)
{
    return (sizeof *row + row->n_text + 7) / 8 * 8;
}

struct recorder_batch {
    STAILQ_ENTRY(recorder_batch) next;
    unsigned loop;
    int64_t until_ns, first_start_ns;
    size_t n;
    _Alignas(8) char bytes[BATCH_BYTES];
};

/* The requests of a loop that autoterm has not received yet, in order of end. */
struct pending {
    struct pending_request {
        struct attribution_request request;
        uint32_t thread;
    } * v;
    size_t first, n, cap;
    int64_t until_ns, first_start_ns;
};

struct recorder {
    struct recorder_options options;
    struct recwrite *out; /* NULL: there is no capture */
    pthread_t thread;
    bool started;

    pthread_mutex_t lock;
    pthread_cond_t filled;  /* a batch is in the queue, or none will follow */
    pthread_cond_t emptied; /* a batch is free, or the queue is empty */
    STAILQ_HEAD(, recorder_batch) queue, free;
    char *comment; /* to be written; NULL: none */
    bool closing, busy;
    struct recorder_state state;
    struct err error; /* set by the writer, which may read it without the lock */

    /* Since the last tick: counts, and the successful requests' durations by hist_index. */
    struct recorder_counts tick;
    int64_t longest_ns;
    uint64_t durations[HIST_N_COUNTERS];

    /* Only the writer uses these. */
    int64_t frame_since_ns; /* CLOCK_NEVER: the frame is empty */
    struct autoterm *autoterm;
    struct pending *pending;      /* by loop */
    pthread_mutex_t pending_lock; /* protects autoterm and pending */

    struct recorder_batch *batches;
};

/* ---- Called by the loops ---- */

static struct recorder_batch *take_free(struct recorder *r)
{
    pthread_mutex_lock(&r->lock);
    if (STAILQ_EMPTY(&r->free)) {
        int64_t from_ns = clock_now_ns();
        while (STAILQ_EMPTY(&r->free))
            pthread_cond_wait(&r->emptied, &r->lock);
        r->state.n_waits++;
        r->state.waits_ns += clock_now_ns() - from_ns;
    }
    struct recorder_batch *b = STAILQ_FIRST(&r->free);
    STAILQ_REMOVE_HEAD(&r->free, next);
    pthread_mutex_unlock(&r->lock);
    b->n = 0;
    return b;
}

static void hand_over(struct recorder *r, struct recorder_batch *b)
{
    pthread_mutex_lock(&r->lock);
    bool was_empty = STAILQ_EMPTY(&r->queue);
    STAILQ_INSERT_TAIL(&r->queue, b, next);
    if (was_empty)
        pthread_cond_signal(&r->filled);
    pthread_mutex_unlock(&r->lock);
}

void recorder_port_init(struct recorder_port *p, struct recorder *r, unsigned loop)
{
    *p = (struct recorder_port){.recorder = r, .loop = loop, .first_start_ns = CLOCK_NEVER};
    rowformat_init(&p->format, r->options.intended);
}

void recorder_flush(struct recorder_port *p, int64_t until_ns)
{
    p->flushed_ns = until_ns;
    if (p->batch == NULL && !p->recorder->options.autoterm)
        return;
    if (p->batch == NULL)
        p->batch = take_free(p->recorder);
    p->batch->loop = p->loop;
    p->batch->until_ns = until_ns + p->recorder->options.offset_ns;
    p->batch->first_start_ns = p->first_start_ns;
    hand_over(p->recorder, p->batch);
    p->batch = NULL;
}

int64_t recorder_due_ns(const struct recorder_port *p)
{
    if (p->recorder->options.autoterm)
        return p->flushed_ns + BATCH_NS;
    return p->batch == NULL ? CLOCK_NEVER : p->since_ns + BATCH_NS;
}

void recorder_add(struct recorder_port *p, const struct record *row, bool bench)
{
    size_t bound = sizeof(struct row) + rowformat_bound(row) + 8;
    int64_t end_ns = row->end_ns - p->recorder->options.offset_ns;

    if (p->batch != NULL && BATCH_BYTES - p->batch->n < bound)
        recorder_flush(p, end_ns);
    if (p->batch == NULL) {
        p->batch = take_free(p->recorder);
        p->since_ns = end_ns;
    }
    struct recorder_batch *b = p->batch;
    struct row *head = (struct row *)(b->bytes + b->n);
    char *text = (char *)(head + 1);
    *head = (struct row){
        .start_ns = row->start_ns,
        .end_ns = row->end_ns,
        .bytes = row->bytes,
        .n_objects = row->n_objects,
        .thread = row->thread,
        .ok = row->error.n == 0,
        .bench = bench,
    };
    head->n_text = (uint32_t)(rowformat_put(&p->format, text, row) - text);
    b->n += row_bytes(head);
}

bool recorder_comment(struct recorder *r, char *comment)
{
    pthread_mutex_lock(&r->lock);
    bool taken = r->comment == NULL;

    if (taken) {
        r->comment = comment;
        pthread_cond_signal(&r->filled);
    }
    pthread_mutex_unlock(&r->lock);
    return taken;
}

/* ---- Autoterm ---- */

static bool keep(struct pending *q, const struct row *row, struct err *e)
{
    if (q->first + q->n == q->cap && q->first > q->n) {
        memcpy(q->v, q->v + q->first, q->n * sizeof *q->v);
        q->first = 0;
    }
    if (!mem_fit(&q->v, &q->cap, q->first + q->n + 1, e))
        return false;
    q->v[q->first + q->n++] = (struct pending_request){
        .request = {row->start_ns, row->end_ns, row->bytes, row->n_objects, row->ok},
        .thread = row->thread,
    };
    return true;
}

/* Passes the requests that ended by instant_ns to autoterm, in order of end. */
static bool add_until(struct recorder *r, int64_t instant_ns, struct err *e)
{
    for (;;) {
        struct pending *first = NULL;
        for (unsigned i = 0; i < r->options.n_loops; i++) {
            struct pending *q = &r->pending[i];
            if (q->n > 0 && (first == NULL ||
                             q->v[q->first].request.end_ns < first->v[first->first].request.end_ns))
                first = q;
        }
        if (first == NULL || first->v[first->first].request.end_ns > instant_ns)
            return true;
        const struct pending_request *p = &first->v[first->first];
        if (!autoterm_add(r->autoterm, p->thread, &p->request, e))
            return false;
        first->first++;
        first->n--;
    }
}

void recorder_reported(struct recorder *r, int64_t *first_start_ns, int64_t *until_ns)
{
    *first_start_ns = *until_ns = CLOCK_NEVER;
    pthread_mutex_lock(&r->pending_lock);
    for (unsigned i = 0; i < r->options.n_loops; i++) {
        const struct pending *q = &r->pending[i];
        *until_ns = int64_min(*until_ns, q->until_ns);
        *first_start_ns = int64_min(*first_start_ns, q->first_start_ns);
    }
    pthread_mutex_unlock(&r->pending_lock);
}

bool recorder_range_at(struct recorder *r, int64_t instant_ns, struct segment_range *range,
                       struct err *e)
{
    pthread_mutex_lock(&r->pending_lock);
    bool ok = add_until(r, instant_ns, e);
    *range = autoterm_range(r->autoterm);
    pthread_mutex_unlock(&r->pending_lock);
    return ok;
}

void recorder_amounts(struct recorder *r, const struct autoterm_cut *cut,
                      struct autoterm_amount amount[AUTOTERM_N_ENDS])
{
    pthread_mutex_lock(&r->pending_lock);
    autoterm_amounts(r->autoterm, cut, amount);
    pthread_mutex_unlock(&r->pending_lock);
}

/* ---- The writer ---- */

static void fail(struct recorder *r, const struct err *e)
{
    pthread_mutex_lock(&r->lock);
    err_set(&r->error, "%s: the run ends, and its last requests are not recorded", e->msg);
    pthread_mutex_unlock(&r->lock);
    eventfd_write(r->options.event, 1);
}

static void count(struct recorder_counts *c, const struct row *row)
{
    c->n_requests++;
    c->n_errors += !row->ok;
    if (row->ok) {
        c->n_objects += (uint64_t)row->n_objects;
        c->n_bytes += (uint64_t)row->bytes;
    }
}

/* Whether there is a capture that did not fail. If so, a frame begins, unless one is open. */
static bool is_writing(struct recorder *r)
{
    bool writes = r->out != NULL && r->error.msg[0] == '\0';

    if (writes && r->frame_since_ns == CLOCK_NEVER)
        r->frame_since_ns = clock_now_ns();
    return writes;
}

/* Returns the row that follows `row` in a batch, or the first row if `row` is NULL. NULL: there is
 * no such row. */
static const struct row *next_row(const struct recorder_batch *b, const struct row *row)
{
    const char *at = row != NULL ? (const char *)row + row_bytes(row) : b->bytes;

    return at < b->bytes + b->n ? (const struct row *)at : NULL;
}

/* Keeps the batch's requests of the benchmark for autoterm. */
static bool keep_batch(struct recorder *r, const struct recorder_batch *b, struct err *e)
{
    struct pending *q = &r->pending[b->loop];
    bool ok = true;

    pthread_mutex_lock(&r->pending_lock);
    for (const struct row *row = NULL; ok && (row = next_row(b, row)) != NULL;)
        ok = !row->bench || keep(q, row, e);
    if (ok) {
        q->until_ns = b->until_ns;
        q->first_start_ns = b->first_start_ns;
    }
    pthread_mutex_unlock(&r->pending_lock);
    return ok;
}

/* Writes and counts the rows of a batch. Writes without the lock: a write may take as long as the
 * disk does. */
static void take_batch(struct recorder *r, const struct recorder_batch *b)
{
    struct err e = {0};
    bool ok = true;

    for (const struct row *row = NULL; ok && (row = next_row(b, row)) != NULL;)
        ok = !is_writing(r) || recwrite_text(r->out, (const char *)(row + 1), row->n_text, &e);
    if (!ok || (r->autoterm != NULL && !keep_batch(r, b, &e))) {
        fail(r, &e);
        return;
    }
    pthread_mutex_lock(&r->lock);
    for (const struct row *row = NULL; (row = next_row(b, row)) != NULL;) {
        count(&r->state.counts, row);
        count(&r->tick, row);
        if (row->ok) {
            int64_t ns = row->end_ns - row->start_ns;
            r->longest_ns = int64_max(r->longest_ns, ns);
            r->durations[hist_index(int64_min(ns, HIST_MAX_VALUE))]++;
        }
    }
    pthread_mutex_unlock(&r->lock);
}

static void write_comment(struct recorder *r, char *comment)
{
    struct err e = {0};

    if (is_writing(r) && !recwrite_comment(r->out, comment, strlen(comment), &e))
        fail(r, &e);
    free(comment);
}

/* Closes the frame if it is due, or if `now` is set. Returns when the open frame is due;
 * CLOCK_NEVER: no frame is open. */
static int64_t end_frame(struct recorder *r, bool now)
{
    struct err e = {0};

    if (r->frame_since_ns == CLOCK_NEVER || r->error.msg[0] != '\0')
        return CLOCK_NEVER;
    int64_t due_ns = r->frame_since_ns + FRAME_NS;
    if (!now && clock_now_ns() < due_ns)
        return due_ns;
    if (!recwrite_end_frame(r->out, &e))
        fail(r, &e);
    r->frame_since_ns = CLOCK_NEVER;
    return CLOCK_NEVER;
}

static void *writer(void *user)
{
    struct recorder *r = user;
    int64_t due_ns = CLOCK_NEVER;

    /* Requests have priority if CPUs are scarce. On Linux this lowers the priority of the calling
     * thread only. A failure does no harm. */
    if (nice(WRITER_NICE) == -1)
        errno = 0;
    pthread_mutex_lock(&r->lock);
    while (!STAILQ_EMPTY(&r->queue) || r->comment != NULL || !r->closing) {
        struct recorder_batch *b = STAILQ_FIRST(&r->queue);
        char *comment = r->comment;

        r->comment = NULL;
        if (b == NULL && comment == NULL) {
            r->busy = false;
            r->state.cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
            pthread_cond_broadcast(&r->emptied);
            if (clock_now_ns() < due_ns)
                clock_cond_wait(&r->filled, &r->lock, due_ns);
        } else if (b != NULL) {
            STAILQ_REMOVE_HEAD(&r->queue, next);
        }
        r->busy = true;
        pthread_mutex_unlock(&r->lock);
        if (b != NULL)
            take_batch(r, b);
        if (comment != NULL)
            write_comment(r, comment);
        due_ns = end_frame(r, false);
        pthread_mutex_lock(&r->lock);
        if (b != NULL) {
            STAILQ_INSERT_HEAD(&r->free, b, next);
            pthread_cond_signal(&r->emptied);
        }
    }
    r->busy = false;
    r->state.cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
    pthread_cond_broadcast(&r->emptied);
    pthread_mutex_unlock(&r->lock);
    end_frame(r, true);
    return NULL;
}

/* ---- Start and end ---- */

static bool init_autoterm(struct recorder *r, struct err *e)
{
    const struct recorder_options *o = &r->options;

    if (!o->autoterm)
        return true;
    r->autoterm = autoterm_new(e);
    if (!mem_cleared(&r->pending, o->n_loops, e))
        return false;
    for (unsigned i = 0; i < o->n_loops; i++) {
        r->pending[i].until_ns = INT64_MIN;
        r->pending[i].first_start_ns = CLOCK_NEVER;
    }
    return r->autoterm != NULL;
}

static bool init_batches(struct recorder *r, struct err *e)
{
    size_t n = (size_t)r->options.n_loops * BATCHES_PER_LOOP;

    if (!mem_cleared(&r->batches, n, e))
        return false;
    for (size_t i = 0; i < n; i++)
        STAILQ_INSERT_HEAD(&r->free, &r->batches[i], next);
    return true;
}

struct recorder *recorder_open(const struct recorder_options *options, const char *comment,
                               struct err *e)
{
    struct recorder *r = NULL;

    if (!mem_cleared(&r, 1, e))
        return NULL;
    r->options = *options;
    STAILQ_INIT(&r->queue);
    STAILQ_INIT(&r->free);
    r->frame_since_ns = CLOCK_NEVER;
    pthread_mutex_init(&r->lock, NULL);
    pthread_mutex_init(&r->pending_lock, NULL);
    pthread_cond_init(&r->filled, NULL);
    pthread_cond_init(&r->emptied, NULL);

    const struct recwrite_options out = {
        .fd = options->fd,
        .name = options->name,
        .compress = true,
        .level = 1,
        .intended = options->intended,
        .sync = true,
    };
    bool ok = init_batches(r, e) && init_autoterm(r, e);
    if (ok && options->fd >= 0)
        ok = (r->out = recwrite_open(&out, e)) != NULL &&
             recwrite_comment(r->out, comment, strlen(comment), e) && recwrite_end_frame(r->out, e);
    int failed = ok ? pthread_create(&r->thread, NULL, writer, r) : 0;
    r->started = ok && failed == 0;
    if (r->started)
        return r;
    err_errno(e, failed, "cannot start a thread");
    recorder_free(r);
    return NULL;
}

static void stop_writer(struct recorder *r)
{
    if (!r->started)
        return;
    pthread_mutex_lock(&r->lock);
    r->closing = true;
    pthread_cond_signal(&r->filled);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    r->started = false;
}

void recorder_drain(struct recorder *r)
{
    pthread_mutex_lock(&r->lock);
    while (!STAILQ_EMPTY(&r->queue) || r->busy)
        pthread_cond_wait(&r->emptied, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

bool recorder_close(struct recorder *r, const char *comment, struct err *e)
{
    stop_writer(r);
    if (recorder_failed(r, e))
        return false;
    if (r->out == NULL)
        return true;
    bool ok = recwrite_comment(r->out, comment, strlen(comment), e);
    ok = recwrite_close(r->out, e) && ok;
    r->out = NULL;
    return ok;
}

void recorder_free(struct recorder *r)
{
    if (r == NULL)
        return;
    stop_writer(r);
    recwrite_discard(r->out);
    for (unsigned i = 0; r->pending != NULL && i < r->options.n_loops; i++)
        free(r->pending[i].v);
    free(r->pending);
    autoterm_free(r->autoterm);
    free(r->batches);
    free(r->comment);
    pthread_cond_destroy(&r->filled);
    pthread_cond_destroy(&r->emptied);
    pthread_mutex_destroy(&r->lock);
    pthread_mutex_destroy(&r->pending_lock);
    free(r);
}

/* ---- Questions ---- */

bool recorder_failed(struct recorder *r, struct err *e)
{
    pthread_mutex_lock(&r->lock);
    bool failed = r->error.msg[0] != '\0';
    if (failed)
        err_set(e, "%s", r->error.msg);
    pthread_mutex_unlock(&r->lock);
    return failed;
}

struct recorder_state recorder_look(struct recorder *r)
{
    pthread_mutex_lock(&r->lock);
    struct recorder_state state = r->state;
    pthread_mutex_unlock(&r->lock);
    return state;
}

/* Returns a quantile of the durations since the last tick, to within a bucket; 0: there is none. */
static int64_t tick_quantile(const struct recorder *r, unsigned permille)
{
    uint64_t n = r->tick.n_requests - r->tick.n_errors;
    uint64_t below = 0;

    if (n == 0)
        return 0;
    for (size_t i = 0; i + 1 < HIST_N_COUNTERS; i++) {
        below += r->durations[i];
        if (below > quantile_index(n, permille))
            return int64_min(hist_upper(i), r->longest_ns);
    }
    return r->longest_ns;
}

void recorder_take_tick(struct recorder *r, struct recorder_tick *tick)
{
    pthread_mutex_lock(&r->lock);
    tick->counts = r->tick;
    tick->p50_ns = tick_quantile(r, 500);
    tick->p99_ns = tick_quantile(r, 990);
    r->tick = (struct recorder_counts){0};
    r->longest_ns = 0;
    memset(r->durations, 0, sizeof r->durations);
    pthread_mutex_unlock(&r->lock);
}
