/* How it works: workers take units (ranges of frames) in file order and parse them in parallel. The
 * head is the unit before which everything is committed; its rows are committed as they come. Any
 * other unit is read on the assumption that its first line is the rest of a row of the unit before.
 * When its turn comes, that row is joined and parsed. If the assumption was wrong (the unit began
 * inside a quoted field, or below another header), the unit is read again as the head. */
#include "analyze/read/recfile_internal.h"
#include "analyze/read/rowfields.h"

#include "analyze/base/tasks.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small frames are joined to units of at least this many compressed bytes. */
#define UNIT_MIN_BYTES (512u << 10)
/* Files shorter than this are read in chunks of this size, which takes less memory. */
#ifndef RECFILE_SMALL_BYTES
#define RECFILE_SMALL_BYTES (64u << 10)
#endif
#define MAX_THREADS   64
/* The default number of reader threads. More do not help: commits are serial, and each thread holds
 * about 8 MiB. */
#define USUAL_THREADS 8

const char *const recfile_drop_names[N_DROPS] = {
    [DROP_BAD_ROW] = "bad rows",
    [DROP_DAMAGED_FRAME] = "damaged frames",
    [DROP_CUT_FRAME] = "frames cut off by the end of the file",
    [DROP_GARBAGE] = "stretches of bytes that are no frame",
};

struct recfile_dropped recfile_dropped(const struct recfile_info *info, enum recfile_drop why)
{
    static const char *const one[N_DROPS] = {
        [DROP_BAD_ROW] = "bad row",
        [DROP_DAMAGED_FRAME] = "damaged frame",
        [DROP_CUT_FRAME] = "frame cut off by the end of the file",
        [DROP_GARBAGE] = "stretch of bytes that is no frame",
    };
    uint64_t n = info->n_dropped[why];
    struct recfile_dropped t;

    snprintf(t.s, sizeof t.s, "%s %s", units_count((int64_t)n).s,
             n == 1 ? one[why] : recfile_drop_names[why]);
    return t;
}

const char *recfile_generation(const struct recfile_info *info)
{
    static const char *const names[] = {"aggregated", "sums", "g0", "g1", "g2", "g3", "g4"};

    return names[info->generation - RECFILE_AGGREGATE];
}

const char *recfile_first_drop(const struct recfile_info *info)
{
    for (int i = 0; i < N_DROPS; i++)
        if (info->n_dropped[i] > 0)
            return info->first_drop[i];
    return NULL;
}

uint64_t recfile_n_dropped(const struct recfile_info *info)
{
    uint64_t n = 0;

    for (int i = 0; i < N_DROPS; i++)
        n += info->n_dropped[i];
    return n;
}

/* Resets a unit to its beginning. `head`: all before it is committed. */
static bool unit_begin(struct reader *r, struct recunit *u, bool head)
{
    struct recunit fresh = {
        .index = u->index, .start = u->start, .end = u->end, .is_last = u->is_last, .head = head};

    recstate_fini(r, u);
    pthread_mutex_lock(&r->lock);
    fresh.layout = r->layout;
    fresh.has_layout = r->has_layout;
    pthread_mutex_unlock(&r->lock);
    *u = fresh;
    return recstate_add_sink(r, u);
}

/* Commits a unit that is done and whose turn it is. */
static bool finish_unit(struct recworker *w, struct recunit *u)
{
    struct reader *r = w->reader;

    w->unit = u;
    if (!u->misread && !u->head)
        seam_become_head(r, u);
    if (u->misread && unit_begin(r, u, true))
        recunit_run(w);
    if (u->head && u->n_sinks && !(u->failed && !u->error_has_line))
        recstate_commit_sink(r, u, u->n_sinks - 1);
    if (u->seam_unverified)
        u->n_unverified += u->n_seam_rows;
    recstate_add_counts(r, u);
    rowtext_fini(&r->seam.carry);
    r->seam = u->seam;
    u->seam.carry = (struct rowtext){0};
    if (!u->failed)
        return true;
    if (u->error_has_line)
        err_set(&r->error, "%s:%llu: %s", r->source.path, (unsigned long long)u->error_line,
                u->error.msg);
    else
        err_set(&r->error, "%s: %s", r->source.path, u->error.msg);
    return false;
}

/* Marks the worker's unit as done. Commits the unit whose turn it is and those after it, as far as
 * they are done, unless another thread is committing. */
static void pass_turn(struct recworker *w)
{
    struct reader *r = w->reader;

    pthread_mutex_lock(&r->lock);
    w->unit->done = true;
    while (!r->committing && !r->stop) {
        struct recunit **slot = &r->ahead[r->turn % r->max_ahead];
        struct recunit *u = *slot;

        if (!u || !u->done)
            break;
        r->committing = true;
        pthread_mutex_unlock(&r->lock);
        bool ok = finish_unit(w, u);
        recstate_fini(r, u);
        free(u);
        pthread_mutex_lock(&r->lock);
        *slot = NULL;
        r->turn++;
        r->committing = false;
        r->stop |= !ok;
        pthread_cond_broadcast(&r->changed);
    }
    pthread_mutex_unlock(&r->lock);
}

static uint64_t unit_bytes(const struct reader *r)
{
    return r->options->unit_bytes > 0 ? r->options->unit_bytes : UNIT_MIN_BYTES;
}

/* Returns the next unit of the file; NULL: none. */
static struct recunit *take_unit(struct reader *r)
{
    struct recunit *u = NULL;

    pthread_mutex_lock(&r->lock);
    /* Without a header line only the head can be read. */
    while (!r->stop && !r->no_more &&
           (r->n_units - r->turn >= r->max_ahead || (!r->has_layout && r->n_units > r->turn)))
        pthread_cond_wait(&r->changed, &r->lock);
    if (!r->stop && !r->no_more)
        r->stop = !mem_cleared(&u, 1, &r->error);
    if (u) {
        u->index = r->n_units++;
        u->start = r->next_start;
        u->end = r->n_threads == 1
                     ? UINT64_MAX
                     : zsource_range_end(&r->source, &r->near, u->start, unit_bytes(r));
        u->is_last = r->no_more = r->n_threads == 1 || u->end >= r->source.size;
        u->head = u->index == r->turn;
        r->next_start = u->end;
        r->ahead[u->index % r->max_ahead] = u;
    }
    pthread_mutex_unlock(&r->lock);
    return u;
}

static void *worker_main(void *arg)
{
    struct recworker *w = arg;
    struct reader *r = w->reader;
    struct recunit *u;

    while ((u = take_unit(r)) != NULL) {
        w->unit = u;
        if (unit_begin(r, u, u->head))
            recunit_run(w);
        pass_turn(w);
    }
    pthread_mutex_lock(&r->lock);
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static bool worker_init(struct recworker *w, struct reader *r)
{
    memset(w, 0, sizeof *w);
    w->reader = r;
    w->events = recunit_events;
    w->events.ctx = w;
    w->checksum = XXH64_createState();
    if (w->checksum == NULL)
        return mem_none(&r->error);
    size_t chunk_bytes = r->options->chunk_bytes;
    if (r->source.seekable && r->source.size < RECFILE_SMALL_BYTES &&
        (chunk_bytes == 0 || chunk_bytes > RECFILE_SMALL_BYTES))
        chunk_bytes = RECFILE_SMALL_BYTES;
    return rowparse_init(&w->parse, r->options, &w->events, &r->error) &&
           chunks_init(&w->chunks, chunk_bytes, &r->error);
}

static void worker_fini(struct recworker *w)
{
    rowparse_fini(&w->parse);
    chunks_fini(&w->chunks);
    XXH64_freeState(w->checksum);
}

static unsigned choose_threads(const struct reader *r)
{
    unsigned n = tasks_n_threads(r->options->threads);
    unsigned most = r->options->threads > 0 ? MAX_THREADS : USUAL_THREADS;

    if (r->sink->unit_new == NULL || !r->source.seekable || !r->source.compressed ||
        r->source.size < 2 * unit_bytes(r))
        return 1;
    return n < most ? n : most;
}

static void run_workers(struct reader *r)
{
    struct recworker *w;
    pthread_t threads[MAX_THREADS];
    unsigned n_ready = 0, n_started = 0;

    if (!mem_cleared(&w, r->n_threads, &r->error))
        return;
    while (n_ready < r->n_threads && worker_init(&w[n_ready], r))
        n_ready++;
    if (n_ready == r->n_threads) {
        /* Makes do with fewer threads if some cannot be started. */
        while (n_started + 1 < n_ready &&
               pthread_create(&threads[n_started], NULL, worker_main, &w[n_started + 1]) == 0)
            n_started++;
        worker_main(&w[0]);
        for (unsigned i = 0; i < n_started; i++)
            pthread_join(threads[i], NULL);
        n_ready--;
    }
    for (unsigned i = 0; i <= n_ready; i++)
        worker_fini(&w[i]);
    free(w);
}

static bool open_source(struct reader *r, const char *path)
{
    struct zsource *s = &r->source;

    if (!zsource_open(s, path, &r->error))
        return false;
    /* The end of a damaged frame can be found only in a source that can seek. */
    bool spool = r->options->salvage && s->compressed && !s->seekable;
    return !spool || zsource_spool(s, &r->error);
}

/* Sets the error of a file without a header line, unless another one is set already. */
static void say_no_header(struct reader *r)
{
    const char *path = r->source.path, *first = recfile_first_drop(r->info);
    size_t n = strlen(path);

    if (first != NULL)
        err_set(&r->error, "%s; " RECSTATE_NOTHING_READ ", nor any header line behind it", first);
    else
        err_set(&r->error, "%s:1: " ROWFIELDS_NO_CAPTURE ": no header line", path);
    if (!r->source.compressed && n > 4 && strcmp(path + n - 4, ".zst") == 0) {
        size_t used = strlen(r->error.msg);
        snprintf(r->error.msg + used, sizeof r->error.msg - used,
                 "; nor is it zstd, though its name ends in .zst");
    }
}

bool recfile_read(const char *path, const struct recfile_options *options,
                  const struct recfile_sink *sink, struct recfile_info *info, struct err *e)
{
    struct reader r = {.options = options, .sink = sink, .info = info};
    bool ok = false;

    memset(info, 0, sizeof *info);
    if (open_source(&r, path)) {
        r.n_threads = choose_threads(&r);
        r.max_ahead = r.n_threads + 2;
        info->n_file_bytes = r.source.seekable ? r.source.size : 0;
        pthread_mutex_init(&r.lock, NULL);
        pthread_cond_init(&r.changed, NULL);
        if (mem_cleared(&r.ahead, r.max_ahead, &r.error))
            run_workers(&r);
        pthread_mutex_destroy(&r.lock);
        pthread_cond_destroy(&r.changed);
        for (unsigned i = 0; r.ahead && i < r.max_ahead; i++)
            if (r.ahead[i]) {
                recstate_fini(&r, r.ahead[i]);
                free(r.ahead[i]);
            }
        free(r.ahead);
        rowtext_fini(&r.seam.carry);
        free(r.lanes);
        info->compressed = r.source.compressed;
        info->n_file_bytes = r.source.seekable ? r.source.size : r.n_read;
        info->n_lines = r.seam.n_lines;
        info->generation = r.layout.generation;
        if (!r.has_layout)
            say_no_header(&r);
        ok = r.error.msg[0] == '\0';
    }
    zsource_close(&r.source);
    return ok || err_set(e, "%s", r.error.msg);
}
