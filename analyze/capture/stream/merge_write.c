#include "analyze/capture/stream/feed.h"
#include "analyze/capture/stream/merge.h"
#include "analyze/capture/stream/reorder.h"
#include "analyze/data/recorded.h"
#include "analyze/write/json.h"
#include "libcommon/mem.h"
#include "libcommon/recwrite.h"
#include "libcommon/units.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
