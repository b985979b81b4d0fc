#include "analyze/read/recfile_internal.h"
#include "analyze/read/rowfields.h"
#include "libcommon/mem.h"

#include <string.h>

/* Units of at least this many compressed bytes are decompressed by a helper thread. */
#define BESIDE_MIN_BYTES       (4u << 20)
/* The same limit if the whole file is one unit. */
#define BESIDE_MIN_BYTES_ALONE (512u << 10)
/* Rows that a unit may hold before it waits for its turn. */
#define MAX_HELD_ROWS          65536
/* More requests at a time than clients have; the time to put one in order grows with them. */
#define MAX_LANES              16384
#define LANES_COMMENT                                                                              \
    "# s3analyze/import/1 {\"event\":\"import\",\"from\":\"an op-log\",\"start_ns\":0,"            \
    "\"duration_ns\":0,\"absent\":\"threads, and requests that its logger "                        \
    "dropped\",\"cut\":false}"
/* Rows that the head holds between two commits: few enough to stay in the cache. */
#define HEAD_HELD_ROWS 4096

/* Marks a unit that cannot be read without knowing the text before it. Returns false. */
static bool give_up(struct recunit *u)
{
    u->misread = true;
    return false;
}

/* ---- Requests without threads ---- */

/* Gives a request the lane that has been free for the shortest time when it starts, or a new one.
 * That makes the fewest lanes if requests come in order of their ends, or of their starts. */
static bool take_lane(struct reader *r, struct recunit *u, struct record *row)
{
    size_t low = 0, high = r->n_lanes;

    if (r->n_lanes == 0 && !recstate_emit_comment(r, u, LANES_COMMENT, sizeof LANES_COMMENT - 1))
        return false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->lanes[middle].free_ns <= row->start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    row->thread = low > 0 ? r->lanes[low - 1].number : (uint32_t)r->n_lanes;
    size_t at = low > 0 ? low - 1 : 0;
    if (low == 0) {
        if (r->n_lanes == MAX_LANES)
            return recstate_fail(u, "more than 16384 requests at a time");
        if (!mem_fit(&r->lanes, &r->lanes_cap, r->n_lanes + 1, NULL))
            return recstate_fail(u, "out of memory");
        memmove(r->lanes + 1, r->lanes, r->n_lanes++ * sizeof *r->lanes);
    }
    for (; at + 1 < r->n_lanes && r->lanes[at + 1].free_ns < row->end_ns; at++)
        r->lanes[at] = r->lanes[at + 1];
    r->lanes[at] = (struct lane){row->end_ns, row->thread};
    return true;
}

/* ---- Events of a unit's parser ---- */

static bool on_rows(void *ctx, struct record *rows, size_t n)
{
    struct recworker *w = ctx;
    struct recunit *u = w->unit;
    const struct recfile_sink *sink = w->reader->sink;

    if (rows[n - 1].is_lane && !u->head)
        return give_up(u);
    if (rows[n - 1].is_lane && !take_lane(w->reader, u, &rows[n - 1]))
        return false;
    if (!sink->unit_rows(sink->ctx, u->sinks[u->n_sinks - 1], rows, n, &u->error))
        return recstate_fail(u, "out of memory");
    u->n_rows += n;
    u->n_held += n;
    if (u->n_held < MAX_HELD_ROWS && !(u->head && u->n_held >= HEAD_HELD_ROWS))
        return true;
    if (!u->head)
        return seam_take_turn(w);
    u->n_held = 0;
    return recstate_commit_sink(w->reader, u, u->n_sinks - 1);
}

/* Handles a header line: the first one, or one of a capture that cat appended. */
static bool on_header(void *ctx, const char *line, size_t n, uint64_t line_no)
{
    struct recworker *w = ctx;
    struct recunit *u = w->unit;
    struct recfile_layout layout;
    struct err e = {0};

    if (line[0] == '[' || strncmp(line, "\xEF\xBB\xBF{", n < 4 ? n : 4) == 0)
        return recstate_fail_at(u, line_no,
                                "this is JSON, but neither a capture nor an aggregated one, which "
                                "begins with { at its first byte");
    if (line[0] == '{')
        return recstate_fail_at(
            u, line_no,
            "this is JSON, not a capture: analyze, info, plot and cmp read aggregated captures");
    if (!rowfields_header(line, n, &layout, &e))
        return recstate_fail_at(u, line_no, e.msg);
    bool is_first = !w->parse.has_layout;
    u->end_layout = layout;
    rowparse_set_layout(&w->parse, &layout);
    u->n_headers++;
    u->has_intended |= layout.field[COL_INTENDED] >= 0;
    if (!u->head)
        return recstate_add_sink(w->reader, u);
    if (!is_first) {
        if (!recstate_commit_sink(w->reader, u, u->n_sinks - 1))
            return false;
        w->reader->input++;
    }
    return recstate_publish_layout(w->reader, u, &layout);
}

static bool on_comment(void *ctx, const char *line, size_t n)
{
    struct recworker *w = ctx;
    struct recunit *u = w->unit;

    if (w->reader->sink->comment == NULL)
        return true;
    if (!u->head && u->n_comments == UNIT_MAX_COMMENTS && !seam_take_turn(w))
        return false;
    if (u->head)
        return recstate_emit_comment(w->reader, u, line, n);
    return rowtext_add(&u->comments[u->n_comments++], line, n) || recstate_fail(u, "out of memory");
}

static bool on_bad(void *ctx, uint64_t line_no, const char *why)
{
    struct recworker *w = ctx;

    return recstate_drop(w->reader, w->unit, DROP_BAD_ROW, line_no, why);
}

const struct rowparse_events recunit_events = {
    .rows = on_rows,
    .header = on_header,
    .comment = on_comment,
    .bad = on_bad,
};

/* ---- Reading a unit ---- */

static bool stopped(struct reader *r)
{
    pthread_mutex_lock(&r->lock);
    bool stop = r->stop;
    pthread_mutex_unlock(&r->lock);
    return stop;
}

/* Keeps the first line of a unit that is not the head. Returns false to stop. */
static bool first_line(struct recworker *w, const char *text, size_t n, size_t *used)
{
    struct recunit *u = w->unit;
    const char *newline = memchr(text, '\n', n);

    *used = newline ? (size_t)(newline - text) + 1 : n;
    u->has_first_line = newline != NULL;
    if (u->first_line.n + *used > RECORD_MAX_ROW_BYTES)
        return give_up(u);
    return rowtext_add(&u->first_line, text, *used) || recstate_fail(u, "out of memory");
}

/* Parses text[0..n) of the unit. Sets *rest to the length of the incomplete row at its end. False:
 * stop. */
static bool feed(struct recworker *w, const char *text, size_t n, bool last, size_t *rest)
{
    struct recunit *u = w->unit;
    struct rowparse *p = &w->parse;
    size_t at = 0, used;

    *rest = 0;
    if (!u->head && !u->has_first_line && !first_line(w, text, n, &at))
        return false;
    while (at < n) {
        at += seam_skip_rest_of_row(p, &u->seam, text + at, n - at);
        if (at == n)
            break;
        if (u->seam.dropped && !last) {
            *rest = n - at;
            break;
        }
        enum rowparse_end end = rowparse_text(p, text + at, n - at, last, &used);
        if (end != ROWPARSE_ALL)
            return end == ROWPARSE_STOPPED ? false : recstate_fail(u, "out of memory");
        at += used;
        if (n - at <= RECORD_MAX_ROW_BYTES) {
            *rest = n - at;
            break;
        }
        if (!on_bad(w, p->n_lines + 1, ROWPARSE_TOO_LONG))
            return false;
        u->seam.skip_line = true;
    }
    return true;
}

static void begin_frame(struct recworker *w)
{
    struct recunit *u = w->unit;

    XXH64_reset(w->checksum, 0);
    w->frame_first_row = u->n_rows;
    w->in_first_line = !u->head && !u->has_first_line;
}

/* Drops the incomplete row before damage. */
static void lose_rest(struct recworker *w, const char *rest, size_t *n_rest)
{
    w->parse.n_lines += rowparse_count_lines(rest, *n_rest);
    *n_rest = 0;
    w->unit->seam.dropped = true;
}

/* Returns the unit's size in the file; a huge number for a pipe. */
static uint64_t unit_bytes(const struct reader *r, const struct recunit *u)
{
    uint64_t end = r->source.seekable && u->end > r->source.size ? r->source.size : u->end;

    return end - u->start;
}

/* Handles the event at the end of a chunk. rest[0..*n_rest) is the incomplete row there. False:
 * stop.
 */
static bool chunk_event(struct recworker *w, const struct zresult *result, const char *rest,
                        size_t *n_rest)
{
    struct recunit *u = w->unit;
    uint64_t line = w->parse.n_lines + 1;
    enum recfile_drop what = DROP_DAMAGED_FRAME;

    switch (result->event) {
    case ZEVENT_MORE:
    case ZEVENT_END:
        return true;
    case ZEVENT_FAILED:
        return recstate_fail(u, result->why);
    case ZEVENT_FRAME_END:
        if (result->has_checksum && (uint32_t)XXH64_digest(w->checksum) != result->checksum) {
            if (!w->reader->options->salvage)
                return recstate_fail_damaged(u, line,
                                             "the zstd frame that ends here fails its checksum");
            if (!u->head && !u->has_first_line)
                return give_up(u);
            u->n_unverified += u->n_rows - w->frame_first_row;
            u->seam_unverified |= w->in_first_line;
            /* An incomplete row of such a frame must not spoil the first row of the next one. */
            if (*n_rest) {
                recstate_drop(w->reader, u, DROP_BAD_ROW, line,
                              "runs on from a zstd frame that fails its checksum");
                lose_rest(w, rest, n_rest);
            }
        }
        begin_frame(w);
        return true;
    case ZEVENT_CUT:
        what = DROP_CUT_FRAME;
        break;
    case ZEVENT_GARBAGE:
        what = DROP_GARBAGE;
        break;
    case ZEVENT_DAMAGE:
        break;
    }
    if (!u->head && !u->has_first_line)
        return give_up(u);
    if (!recstate_drop(w->reader, u, what, line, result->why))
        return false;
    lose_rest(w, rest, n_rest);
    begin_frame(w);
    return true;
}

static void report_progress(struct reader *r, uint64_t n)
{
    if (!r->options->progress)
        return;
    pthread_mutex_lock(&r->lock);
    r->n_read += n;
    r->options->progress(r->options->progress_ctx, r->n_read, r->source.size);
    pthread_mutex_unlock(&r->lock);
}

bool recunit_run(struct recworker *w)
{
    struct reader *r = w->reader;
    struct recunit *u = w->unit;
    struct rowparse *p = &w->parse;
    const char *carry = NULL;
    size_t n_carry = 0;
    uint64_t at = u->start;
    uint64_t beside_from = r->n_threads == 1 ? BESIDE_MIN_BYTES_ALONE : BESIDE_MIN_BYTES;
    bool go_on = true, end = false;

    u->end_layout = u->layout;
    rowparse_set_layout(p, u->has_layout ? &u->layout : NULL);
    p->n_lines = 0;
    p->n_batch = 0;
    if (u->head) {
        p->n_lines = r->seam.n_lines;
        u->seam.dropped = r->seam.dropped;
        u->seam.skip_line = r->seam.skip_line;
        carry = r->seam.carry.s;
        n_carry = r->seam.carry.n;
    }
    begin_frame(w);
    bool beside = r->source.compressed && !r->options->alone && unit_bytes(r, u) >= beside_from;
    if (!chunks_begin(&w->chunks, &r->source, u->start, u->end, r->options->salvage, beside))
        return recstate_fail(u, "out of memory");
    while (go_on && !end) {
        const char *text;
        const struct zresult *result = chunks_next(&w->chunks, carry, n_carry, &text);
        size_t n = n_carry + result->n;

        XXH64_update(w->checksum, text + n_carry, result->n);
        u->n_text_bytes += result->n;
        u->position = result->position;
        end = chunks_is_last(result);
        go_on = feed(w, text, n, u->is_last && result->event == ZEVENT_END, &n_carry);
        carry = text + n - n_carry;
        go_on = go_on && chunk_event(w, result, carry, &n_carry) && !stopped(r);
        report_progress(r, result->position - at);
        at = result->position;
    }
    u->seam.n_lines = p->n_lines;
    if (go_on && n_carry && !rowtext_add(&u->seam.carry, carry, n_carry))
        go_on = recstate_fail(u, "out of memory");
    chunks_end(&w->chunks);
    u->n_frames = zreader_counts(w->chunks.zreader).n_frames;
    u->n_skippable = zreader_counts(w->chunks.zreader).n_skippable;
    return go_on;
}
