#include "analyze/capture/stream/merge.h"
#include "analyze/capture/stream/reorder.h"
#include "analyze/capture/stream/survey.h"
#include "analyze/data/rank_clock.h"
#include "analyze/data/recorded.h"
#include "analyze/read/recfile.h"
#include "analyze/write/json.h"
#include "libcommon/mem.h"
#include "libcommon/recwrite.h"
#include "libcommon/rowformat.h"
#include "libcommon/units.h"

#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading an input ----
 *
 * An input is read on a thread of its own, which hands out its rows as sorted batches of formatted
 * text, one batch for each block of the input's survey. */

struct feed_options {
    const char *path;
    const struct survey *survey;    /* of that file, with blocks */
    const uint64_t *thread_bases;   /* added to thread numbers, by section of the survey */
    int64_t shift_ns;               /* added to all times */
    const struct rank_clock *clock; /* its offset at a row's start is taken from the row's times */
    uint32_t input;                 /* number to put into the batches */
    bool intended;                  /* format rows with the column `intended` */
    bool salvage;
    size_t chunk_bytes; /* of text decompressed at a time */
};

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

/* Starts reading. What the options point to must live until feed_stop. NULL: *e says why not. */
static struct feed *feed_start(const struct feed_options *options, struct err *e)
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

/* Stops reading at once and frees f, which may be NULL. */
static void feed_stop(struct feed *f)
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

/* Waits for the next batch, which the caller owns. *batch NULL: there are no more. False: *e says
 * what is wrong with the capture. */
static bool feed_next(struct feed *f, struct reorder_batch **batch, struct err *e)
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

/* Takes a batch back, to be filled again. */
static void feed_give_back(struct feed *f, struct reorder_batch *batch)
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

/* Bytes of the file read so far. */
static uint64_t feed_n_read(const struct feed *f)
{
    return atomic_load(&f->n_read);
}

/* Bytes of an input that are decompressed at a time. With larger chunks, its window returns less
 * often to a cache that other inputs have filled; but an input takes four times that in memory. */
#define CHUNK_BYTES      (2u << 20)
#define MANY_INPUTS      17
#define MANY_CHUNK_BYTES (256u << 10)

/* An input that shares at least this percentage of its rows with another is a copy. */
#define MAX_DUPLICATES_PCT 1

/* The state of merge_write. */
struct writing {
    struct merge *m;
    struct feed **feeds;
    size_t *next_block; /* by input: blocks taken so far */
    struct reorder *reorder;
    struct recwrite *w;
    /* The row written last, for finding duplicates. */
    char *last;
    size_t cap_last;
    uint32_t n_last;
    int64_t last_start_ns;
    uint32_t last_input;
};

/* ---- Comments ---- */

/* {"name": ..., "generation": "g3", ...}; NULL: out of memory. */
static json_t *provenance(const struct merge_input *in)
{
    const struct survey *s = &in->survey;
    char hash[17];

    snprintf(hash, sizeof hash, "%016" PRIx64, s->rows_hash);
    json_t *o = json_pack(
        "{s:o,s:s,s:I,s:I,s:I,s:I,s:s}", "name", json_out_text(in->name), "generation",
        recfile_generation(&s->info), "n_rows", (json_int_t)s->sum.n, "n_dropped",
        (json_int_t)recfile_n_dropped(&s->info), "thread_base", (json_int_t)in->thread_bases[0],
        "shift_ns", (json_int_t)in->shift_ns, "rows_hash", hash);
    bool ok = o != NULL;
    if (ok && in->clock.n_ranks > 0)
        ok = json_object_set_new(o, "clock_ahead_ns", json_integer(in->clock.ahead_ns)) == 0 &&
             json_object_set_new(o, "clock_error_ns", json_integer(in->clock.error_ns)) == 0;
    if (ok && merge_has_rows(in))
        ok = json_object_set_new(o, "first_start", json_out_time(in->start_ns)) == 0 &&
             json_object_set_new(o, "last_end", json_out_time(in->end_ns)) == 0;
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}

/* Writes a comment that describes the input, then the input's own comments. */
static bool put_comments(struct recwrite *w, const struct merge_input *in, struct err *e)
{
    static const char schema[] = "s3analyze/merge/1 ";
    const size_t n_schema = sizeof schema - 1;
    const struct survey *s = &in->survey;
    json_t *o = provenance(in);

    /* Writes to our own buffer: jansson's loses bytes if it cannot grow. */
    size_t n = json_dumpb(o, NULL, 0, JSON_COMPACT);
    char *line;
    bool ok = mem_new(&line, n_schema + n, e) &&
              ((n > 0 && json_dumpb(o, mempcpy(line, schema, n_schema), n, JSON_COMPACT) == n) ||
               mem_none(e)) &&
              recwrite_comment(w, line, n_schema + n, e);

    free(line);
    json_decref(o);
    char *damage = NULL;
    ok = ok && recorded_damage_line(&damage, &s->info, e) &&
         (damage == NULL || recwrite_comment(w, damage, strlen(damage), e));
    free(damage);
    struct survey_at at = {0};
    for (const char *text; ok && (text = survey_next_comment(s, &at)) != NULL;) {
        text++;
        text += *text == ' ';
        ok = recwrite_comment(w, text, strlen(text), e);
    }
    return ok;
}

/* ---- Rows ---- */

/* Returns the earliest start among the rows that remain after `taken` blocks of the input. */
static int64_t earliest(const struct merge_input *in, size_t taken)
{
    int64_t ns = in->survey.blocks[taken].first_start_ns;

    return ns + merge_moved_ns(in, ns);
}

/* Sets each block's first start to the earliest one of this block and all after it. */
static void prepare_blocks(struct survey *s)
{
    for (size_t i = s->n_blocks; i-- > 1;)
        if (s->blocks[i].first_start_ns < s->blocks[i - 1].first_start_ns)
            s->blocks[i - 1].first_start_ns = s->blocks[i].first_start_ns;
}

/* Returns the input whose remaining rows may begin earliest; n_inputs: no rows remain. */
static size_t earliest_input(const struct writing *g, int64_t *start_ns)
{
    const struct merge *m = g->m;
    size_t found = m->n_inputs;

    *start_ns = INT64_MAX;
    for (size_t i = 0; i < m->n_inputs; i++) {
        if (g->next_block[i] == m->inputs[i].survey.n_blocks)
            continue;
        int64_t ns = earliest(&m->inputs[i], g->next_block[i]);
        if (found == m->n_inputs || ns < *start_ns) {
            found = i;
            *start_ns = ns;
        }
    }
    return found;
}

static bool says_the_same(const struct writing *g, const struct reorder_row *row)
{
    const char *p = reorder_text_behind_thread(row->text, row->n);
    const char *q = reorder_text_behind_thread(g->last, g->n_last);
    size_t n = (size_t)(row->text + row->n - p);

    return n == (size_t)(g->last + g->n_last - q) && memcmp(p, q, n) == 0;
}

/* Counts equal rows of different inputs; they come one after the other. */
static bool watch_duplicates(struct writing *g, const struct reorder_row *row, struct err *e)
{
    if (row->start_ns == g->last_start_ns && row->input != g->last_input &&
        g->last_input != UINT32_MAX && says_the_same(g, row)) {
        struct merge_input *a = &g->m->inputs[g->last_input], *b = &g->m->inputs[row->input];
        a->n_duplicates++;
        a->duplicate_of = row->input;
        b->n_duplicates++;
        b->duplicate_of = g->last_input;
    }
    if (!mem_fit(&g->last, &g->cap_last, row->n, e))
        return false;
    memcpy(g->last, row->text, row->n);
    g->n_last = row->n;
    g->last_start_ns = row->start_ns;
    g->last_input = row->input;
    return true;
}

/* Writes the rows that start before bound_ns, or all. */
static bool write_ready(struct writing *g, int64_t bound_ns, bool all, struct err *e)
{
    struct reorder_row row;
    bool found, ok = true;

    while ((ok = ok && reorder_next(g->reorder, bound_ns, all, &row, &found, e)) && found)
        ok = watch_duplicates(g, &row, e) && recwrite_text(g->w, row.text, row.n, e);
    return ok;
}

static bool take_batch(struct writing *g, size_t input, struct err *e)
{
    struct reorder_batch *batch;

    if (!feed_next(g->feeds[input], &batch, e))
        return false;
    if (!batch)
        return err_set(e, "%s: ended before its time", g->m->inputs[input].path);
    g->next_block[input]++;
    return reorder_add(g->reorder, batch, e);
}

static void report_progress(const struct writing *g, struct progress *progress)
{
    uint64_t n_read = 0, n_total = 0;

    for (size_t i = 0; i < g->m->n_inputs; i++) {
        n_read += feed_n_read(g->feeds[i]);
        n_total += g->m->inputs[i].survey.info.n_file_bytes;
    }
    progress_update(progress, n_read, n_total);
}

static bool write_rows(struct writing *g, struct progress *progress, struct err *e)
{
    for (unsigned n = 0;; n++) {
        int64_t bound_ns;
        size_t input = earliest_input(g, &bound_ns);
        bool all = input == g->m->n_inputs;

        if (!write_ready(g, bound_ns, all, e))
            return false;
        if (all)
            return true;
        if (!take_batch(g, input, e))
            return false;
        if (progress && n % 64 == 0)
            report_progress(g, progress);
    }
}

/* Refuses an input whose rows another one has, too, unless forced. */
static bool judge_duplicates(struct merge *m, bool force, struct err *e)
{
    for (size_t i = 0; i < m->n_inputs; i++) {
        const struct merge_input *in = &m->inputs[i];
        const struct merge_input *other = &m->inputs[in->duplicate_of];

        if (!in->n_duplicates)
            continue;
        if (!force && in->n_duplicates >= in->survey.sum.n * MAX_DUPLICATES_PCT / 100)
            return err_set(e, "%s of the %s of %s are in %s too (--force merges them)",
                           units_count((int64_t)in->n_duplicates).s,
                           units_counted((int64_t)in->survey.sum.n, "request").s, in->path,
                           other->path);
        if (!notes_add(&m->notes, e, "duplicates", NULL, "%s of the %s of %s are in %s too",
                       units_count((int64_t)in->n_duplicates).s,
                       units_counted((int64_t)in->survey.sum.n, "request").s, in->name,
                       other->name))
            return false;
    }
    return true;
}

/* ---- The whole ---- */

static void give_back(void *ctx, struct reorder_batch *batch)
{
    feed_give_back(((struct writing *)ctx)->feeds[batch->input], batch);
}

static bool start(struct writing *g, const struct merge_options *o, struct err *e)
{
    struct merge *m = g->m;
    size_t chunk_bytes = m->n_inputs < MANY_INPUTS ? CHUNK_BYTES : MANY_CHUNK_BYTES;

    if (!mem_cleared(&g->feeds, m->n_inputs, e) || !mem_cleared(&g->next_block, m->n_inputs, e))
        return false;
    g->reorder = reorder_new(o->max_bytes ? o->max_bytes : MERGE_MAX_BYTES, give_back, g, e);
    if (!g->reorder)
        return false;
    for (size_t i = 0; i < m->n_inputs; i++) {
        struct merge_input *in = &m->inputs[i];
        const struct feed_options how = {.path = in->path,
                                         .survey = &in->survey,
                                         .thread_bases = in->thread_bases,
                                         .shift_ns = in->shift_ns,
                                         .clock = &in->clock,
                                         .input = (uint32_t)i,
                                         .intended = m->has_intended,
                                         .salvage = o->salvage,
                                         .chunk_bytes = chunk_bytes};

        g->feeds[i] = feed_start(&how, e);
        if (!g->feeds[i])
            return false;
    }
    return true;
}

bool merge_write(struct merge *m, const struct merge_options *options, struct recwrite *w,
                 struct err *e)
{
    struct writing g = {.m = m, .w = w, .last_input = UINT32_MAX};
    bool ok = true;

    for (size_t i = 0; i < m->n_inputs && ok; i++) {
        prepare_blocks(&m->inputs[i].survey);
        ok = put_comments(w, &m->inputs[m->by_time[i]], e);
    }
    ok = ok && start(&g, options, e) && write_rows(&g, options->progress, e) &&
         judge_duplicates(m, options->force, e);
    reorder_free(g.reorder);
    for (size_t i = 0; g.feeds && i < m->n_inputs; i++)
        feed_stop(g.feeds[i]);
    free(g.feeds);
    free(g.next_block);
    free(g.last);
    return ok;
}
