/* Order of things: workers take units (ranges of frames) in file order and parse them in parallel.
 * A unit whose predecessors are all committed is the head: its rows are committed as they come. Any
 * other unit is read on the assumption that its first line is the rest of a row of the unit before
 * it; when its turn comes, that seam is put together and parsed. If the assumption was wrong (the
 * seam lies inside a quoted field, or another header came), the unit is read again as the head. */
#include "recfile.h"

#include "rowparse.h"
#include "xxh64.h"
#include "zsource.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_BYTES (512u << 10)
/* In front of a chunk there is room for a row that began in the one before it. */
#define CARRY_BYTES (RECFILE_MAX_ROW_BYTES + CHUNK_BYTES)
#define TEXT_BYTES  (CARRY_BYTES + CHUNK_BYTES)
/* Compressed bytes of a unit where frames are small, and from where on a unit is decompressed by a
 * thread of its own. */
#define UNIT_MIN_BYTES  (512u << 10)
#define SPLIT_MIN_BYTES (4u << 20)
#define SPLIT_CHUNKS    3
/* Rows that a unit may hold before it waits for its turn. */
#define MAX_HELD_ROWS 65536
/* Rows that the head unit holds between two commits: few enough to stay in the cache. */
#define HEAD_HELD_ROWS 4096
/* Comments that a unit may hold; of more, the last one replaces the one before. */
#define MAX_COMMENTS 64
#define MAX_THREADS  64

const char *const recfile_drop_names[N_DROPS] = {
    [DROP_BAD_ROW] = "bad rows",
    [DROP_DAMAGED_FRAME] = "damaged frames",
    [DROP_CUT_FRAME] = "frames cut off by the end of the file",
    [DROP_GARBAGE] = "stretches of bytes that are no frame",
};

/* A string that grows. */
struct text {
    char *s;
    size_t n, cap;
};

/* What is open where the text of a unit ends, for the next one. */
struct seam {
    struct text carry; /* the beginning of a row */
    bool dropped;      /* after damage: what comes next may be the rest of a row */
    bool skip_line;    /* inside a row that is too long */
    uint64_t n_lines;  /* newlines before `carry` */
};

struct unit {
    uint64_t index;
    uint64_t start, end; /* bytes of the file */
    bool is_last;
    bool head; /* its predecessors are committed, and so is the seam */
    bool done;    /* read as far as it goes; waits for its turn */
    bool misread; /* must be read again as the head */
    struct recfile_layout layout, end_layout;
    bool has_layout;
    struct text first_line; /* not of a head unit: the text up to and with the first newline */
    bool has_first_line;
    struct seam seam; /* at its end; lines are counted from behind first_line unless it is the head */
    void **sinks;     /* one for the rows below each header line */
    size_t n_sinks;
    size_t n_held; /* rows */
    struct text comments[MAX_COMMENTS];
    size_t n_comments;
    bool failed, error_has_line;
    uint64_t error_line;
    struct err error;
    /* As in struct recfile_info. */
    uint64_t n_rows, n_text_bytes, n_frames, n_skippable, n_unverified;
    uint32_t n_headers;
    bool has_intended;
    uint64_t n_dropped[N_DROPS];
    uint64_t drop_line[N_DROPS]; /* of the first of each kind */
    char drop_why[N_DROPS][200];
};

struct reader {
    const struct recfile_options *options;
    const struct recfile_sink *sink;
    struct recfile_info *info;
    struct zsource source;
    unsigned n_threads, max_ahead;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t next_start; /* of the next unit */
    uint64_t n_units;    /* handed out */
    uint64_t turn;       /* units before it are committed */
    bool no_more, stop, committing;
    struct unit **ahead;          /* the units from `turn` on, at index % max_ahead */
    struct recfile_layout layout; /* of the committed text */
    bool has_layout;
    struct err error;
    uint64_t n_read; /* compressed bytes */

    /* These belong to whoever has the turn. */
    struct seam seam;
    uint32_t input;
};

static bool text_add(struct text *t, const char *s, size_t n)
{
    if (t->n + n + ROWINDEX_PADDING > t->cap) {
        size_t cap = (t->n + n) * 2 + 256;
        char *grown = realloc(t->s, cap);
        if (!grown)
            return false;
        t->s = grown;
        t->cap = cap;
    }
    memcpy(t->s + t->n, s, n);
    t->n += n;
    memset(t->s + t->n, 0, ROWINDEX_PADDING);
    return true;
}

static void text_fini(struct text *t)
{
    free(t->s);
    memset(t, 0, sizeof *t);
}

/* -- chunks: decompressed by the worker, or by a thread beside it ------------------------------- */

struct chunk {
    char *mem; /* CARRY_BYTES, then the text, then padding */
    struct zresult result;
};

struct split {
    struct zreader *zreader;
    struct chunk chunk[SPLIT_CHUNKS];
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned n_filled, n_used; /* counters; chunk = counter % SPLIT_CHUNKS */
    bool stop;
};

/* One reading thread and what it needs. */
struct worker {
    struct reader *reader;
    struct unit *unit; /* at work on */
    struct rowparse parse;
    struct rowparse_events events;
    struct zreader *zreader;
    struct chunk chunk;
    struct split *split; /* NULL: decompress on this thread */
    bool chunk_held;     /* of split: the one at n_used */
    struct xxh64 checksum;
    uint64_t frame_first_row;
    bool misread;        /* the unit was begun on a wrong assumption: read it again as the head */
};

static bool chunk_init(struct chunk *c)
{
    c->mem = malloc(TEXT_BYTES + ROWINDEX_PADDING);
    return c->mem != NULL;
}

static char *chunk_text(struct chunk *c) { return c->mem + CARRY_BYTES; }

static void chunk_fill(struct chunk *c, struct zreader *z)
{
    zreader_read(z, chunk_text(c), CHUNK_BYTES, &c->result);
    memset(chunk_text(c) + c->result.n, 0, ROWINDEX_PADDING);
}

static bool chunk_is_last(const struct chunk *c)
{
    return c->result.event == ZEVENT_END || c->result.event == ZEVENT_FAILED;
}

static void *split_main(void *arg)
{
    struct split *s = arg;
    bool go_on = true;

    while (go_on) {
        pthread_mutex_lock(&s->lock);
        while (s->n_filled - s->n_used == SPLIT_CHUNKS && !s->stop)
            pthread_cond_wait(&s->changed, &s->lock);
        bool stop = s->stop;
        struct chunk *c = &s->chunk[s->n_filled % SPLIT_CHUNKS];
        pthread_mutex_unlock(&s->lock);
        if (stop)
            break;
        chunk_fill(c, s->zreader);
        go_on = !chunk_is_last(c);
        pthread_mutex_lock(&s->lock);
        s->n_filled++;
        pthread_cond_signal(&s->changed);
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

static void split_free(struct split *s)
{
    for (int i = 0; i < SPLIT_CHUNKS; i++)
        free(s->chunk[i].mem);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    free(s);
}

static void split_stop(struct split *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    split_free(s);
}

/* NULL: no memory or no thread; then the worker decompresses itself. */
static struct split *split_start(struct zreader *z)
{
    struct split *s = calloc(1, sizeof *s);
    bool ok = true;

    if (!s)
        return NULL;
    s->zreader = z;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    for (int i = 0; i < SPLIT_CHUNKS; i++)
        ok = chunk_init(&s->chunk[i]) && ok;
    if (ok && pthread_create(&s->thread, NULL, split_main, s) == 0)
        return s;
    split_free(s);
    return NULL;
}

/* The next chunk of the unit, with the n bytes at `carry` (of the chunk before, which is given
 * back) in front of its text. */
static struct chunk *next_chunk(struct worker *w, const char *carry, size_t n)
{
    struct split *s = w->split;
    struct chunk *c = &w->chunk;

    if (s)
        c = &s->chunk[(s->n_used + w->chunk_held) % SPLIT_CHUNKS];
    if (n)
        memmove(chunk_text(c) - n, carry, n);
    if (!s) {
        chunk_fill(c, w->zreader);
        return c;
    }
    pthread_mutex_lock(&s->lock);
    s->n_used += w->chunk_held;
    pthread_cond_signal(&s->changed);
    while (s->n_filled == s->n_used)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    w->chunk_held = true;
    return c;
}

/* -- failing and dropping ------------------------------------------------------------------------ */

/* The first failure of a unit counts. Always false. */
static bool fail_unit(struct unit *u, const char *why)
{
    u->failed = true;
    return err_set(&u->error, "%s", why);
}

static bool fail_unit_at(struct unit *u, uint64_t line, const char *why)
{
    if (!u->failed) {
        u->error_has_line = true;
        u->error_line = line;
    }
    return fail_unit(u, why);
}

static bool drop(struct worker *w, enum recfile_drop what, uint64_t line, const char *why)
{
    struct unit *u = w->unit;

    if (!w->reader->options->salvage)
        return fail_unit_at(u, line, why);
    if (u->n_dropped[what]++ == 0) {
        u->drop_line[what] = line;
        snprintf(u->drop_why[what], sizeof u->drop_why[what], "%s", why);
    }
    return true;
}

/* The unit cannot be read without knowing what stands before it. Always false. */
static bool give_up(struct worker *w)
{
    w->misread = true;
    return false;
}

/* -- what the parser of a unit tells ------------------------------------------------------------- */

static bool add_sink(struct reader *r, struct unit *u)
{
    void **grown = realloc(u->sinks, (u->n_sinks + 1) * sizeof *grown);

    if (!grown)
        return fail_unit(u, "out of memory");
    u->sinks = grown;
    u->sinks[u->n_sinks] = r->sink->unit_new(r->sink->ctx, &u->error);
    if (!u->sinks[u->n_sinks])
        return fail_unit(u, "out of memory");
    u->n_sinks++;
    return true;
}

static bool commit_sink(struct reader *r, struct unit *u, size_t i)
{
    return r->sink->unit_commit(r->sink->ctx, u->sinks[i], r->input, &u->error) ||
           fail_unit(u, "out of memory");
}

static bool take_turn(struct worker *w);

static bool on_rows(void *ctx, const struct record *rows, size_t n)
{
    struct worker *w = ctx;
    struct unit *u = w->unit;
    const struct recfile_sink *sink = w->reader->sink;

    if (!sink->unit_rows(sink->ctx, u->sinks[u->n_sinks - 1], rows, n, &u->error))
        return fail_unit(u, "out of memory");
    u->n_rows += n;
    u->n_held += n;
    if (u->n_held < MAX_HELD_ROWS && !(u->head && u->n_held >= HEAD_HELD_ROWS))
        return true;
    if (!u->head)
        return take_turn(w);
    u->n_held = 0;
    return commit_sink(w->reader, u, u->n_sinks - 1);
}

static void publish_layout(struct reader *r, const struct recfile_layout *layout)
{
    pthread_mutex_lock(&r->lock);
    r->layout = *layout;
    r->has_layout = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* A header line: the first one, or that of a capture which was put behind another with cat. */
static bool on_header(void *ctx, const char *line, size_t n, uint64_t line_no)
{
    struct worker *w = ctx;
    struct unit *u = w->unit;
    struct recfile_layout layout;
    struct err e = {0};

    if (line[0] == '{' || line[0] == '[')
        return fail_unit_at(u, line_no,
                            "this is JSON, an aggregated recording that holds no single requests: "
                            "record again with --full, or take the .csv.zst of the run");
    if (!rowparse_header(line, n, &layout, &e))
        return fail_unit_at(u, line_no, e.msg);
    bool is_first = !w->parse.has_layout;
    w->parse.layout = u->end_layout = layout;
    w->parse.has_layout = true;
    u->n_headers++;
    u->has_intended |= layout.field[COL_INTENDED] >= 0;
    if (!u->head)
        return add_sink(w->reader, u);
    if (!is_first) {
        if (!commit_sink(w->reader, u, u->n_sinks - 1))
            return false;
        w->reader->input++;
    }
    publish_layout(w->reader, &layout);
    return true;
}

static bool emit_comment(struct reader *r, struct unit *u, const char *line, size_t n)
{
    return r->sink->comment(r->sink->ctx, (struct slice){line, n}, &u->error) ||
           fail_unit(u, "out of memory");
}

static bool on_comment(void *ctx, const char *line, size_t n)
{
    struct worker *w = ctx;
    struct unit *u = w->unit;

    if (!w->reader->sink->comment)
        return true;
    if (u->head)
        return emit_comment(w->reader, u, line, n);
    struct text *t = &u->comments[u->n_comments < MAX_COMMENTS ? u->n_comments++ : MAX_COMMENTS - 1];
    t->n = 0;
    return text_add(t, line, n) || fail_unit(u, "out of memory");
}

static bool on_bad(void *ctx, uint64_t line_no, const char *why)
{
    return drop(ctx, DROP_BAD_ROW, line_no, why);
}

/* -- reading a unit ------------------------------------------------------------------------------- */

static bool stopped(struct reader *r)
{
    pthread_mutex_lock(&r->lock);
    bool stop = r->stop;
    pthread_mutex_unlock(&r->lock);
    return stop;
}

/* Whether the line behind damage is a whole row rather than the rest of one: it begins with idx and
 * has all its fields. (If it lost digits of its idx, that does no harm.) */
static bool is_whole_row(const struct rowparse *p, const char *line, size_t n)
{
    int delimiters = 0;

    for (size_t i = 0; i < n; i++)
        delimiters += line[i] == p->layout.delimiter;
    return p->has_layout && p->layout.field[COL_IDX] == 0 &&
           delimiters == p->layout.n_fields - 1 && line[0] >= '0' && line[0] <= '9';
}

/* Passes over the rest of a row whose beginning was lost or is too long. Returns what it passed. */
static size_t skip_rest_of_row(struct rowparse *p, struct seam *seam, const char *text, size_t n)
{
    const char *newline = memchr(text, '\n', n);
    size_t len = newline ? (size_t)(newline - text) : n;

    if (seam->dropped && (newline || n > RECFILE_MAX_ROW_BYTES)) {
        seam->dropped = false;
        if (is_whole_row(p, text, len))
            return 0;
        seam->skip_line = true;
    }
    if (!seam->skip_line)
        return 0;
    seam->skip_line = newline == NULL;
    p->n_lines += newline != NULL;
    return newline ? len + 1 : n;
}

/* Keeps the first line of a unit that is not the head. Returns false to stop. */
static bool first_line(struct worker *w, const char *text, size_t n, size_t *used)
{
    struct unit *u = w->unit;
    const char *newline = memchr(text, '\n', n);

    *used = newline ? (size_t)(newline - text) + 1 : n;
    u->has_first_line = newline != NULL;
    if (u->first_line.n + *used > RECFILE_MAX_ROW_BYTES)
        return give_up(w);
    return text_add(&u->first_line, text, *used) || fail_unit(u, "out of memory");
}

/* Parses text[0..n) of the unit; *rest is how much at its end is not a whole row yet. */
static bool feed(struct worker *w, const char *text, size_t n, bool last, size_t *rest)
{
    struct unit *u = w->unit;
    struct rowparse *p = &w->parse;
    size_t at = 0, used;

    *rest = 0;
    if (!u->head && !u->has_first_line && !first_line(w, text, n, &at))
        return false;
    while (at < n) {
        at += skip_rest_of_row(p, &u->seam, text + at, n - at);
        if (at == n)
            break;
        if (u->seam.dropped && !last) {
            *rest = n - at;
            break;
        }
        if (rowparse_text(p, text + at, n - at, last, &used) == ROWPARSE_STOPPED)
            return false;
        at += used;
        if (n - at <= RECFILE_MAX_ROW_BYTES) {
            *rest = n - at;
            break;
        }
        if (!on_bad(w, p->n_lines + 1, ROWPARSE_TOO_LONG))
            return false;
        u->seam.skip_line = true;
    }
    return true;
}

/* What the end of a chunk means. False: stop. */
static bool chunk_event(struct worker *w, const struct zresult *result, size_t *rest)
{
    struct unit *u = w->unit;
    uint64_t line = w->parse.n_lines + 1;
    enum recfile_drop what = DROP_DAMAGED_FRAME;

    switch (result->event) {
    case ZEVENT_MORE:
    case ZEVENT_END:
        return true;
    case ZEVENT_FAILED:
        return fail_unit(u, result->why);
    case ZEVENT_FRAME_END:
        if (result->has_checksum && (uint32_t)xxh64_value(&w->checksum) != result->checksum) {
            if (!w->reader->options->salvage)
                return fail_unit_at(u, line,
                                    "the zstd frame that ends here fails its checksum");
            u->n_unverified += u->n_rows - w->frame_first_row;
        }
        xxh64_init(&w->checksum);
        w->frame_first_row = u->n_rows;
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
        return give_up(w);
    if (!drop(w, what, line, result->why))
        return false;
    *rest = 0;
    u->seam.dropped = true;
    xxh64_init(&w->checksum);
    w->frame_first_row = u->n_rows;
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

/* Reads the worker's unit to its end; a head unit goes on from the reader's seam. False: stopped
 * (the unit has failed or is misread, or the reader stops). */
static bool run_unit(struct worker *w)
{
    struct reader *r = w->reader;
    struct unit *u = w->unit;
    struct rowparse *p = &w->parse;
    const char *carry = NULL;
    size_t n_carry = 0;
    uint64_t n_bytes = u->end - u->start, at = u->start;
    uint64_t split_from = r->n_threads == 1 ? UNIT_MIN_BYTES : SPLIT_MIN_BYTES;
    bool go_on = true, end = false;

    p->layout = u->end_layout = u->layout;
    p->has_layout = u->has_layout;
    p->n_lines = 0;
    p->n_batch = 0;
    if (u->head) {
        p->n_lines = r->seam.n_lines;
        u->seam.dropped = r->seam.dropped;
        u->seam.skip_line = r->seam.skip_line;
        carry = r->seam.carry.s;
        n_carry = r->seam.carry.n;
    }
    xxh64_init(&w->checksum);
    w->frame_first_row = 0;
    w->misread = w->chunk_held = false;
    zreader_range(w->zreader, &r->source, u->start, u->end);
    w->split = r->source.compressed && n_bytes >= split_from ? split_start(w->zreader) : NULL;
    while (go_on && !end) {
        struct chunk *c = next_chunk(w, carry, n_carry);
        const char *text = chunk_text(c) - n_carry;
        size_t n = n_carry + c->result.n;
        xxh64_add(&w->checksum, chunk_text(c), c->result.n);
        u->n_text_bytes += c->result.n;
        end = chunk_is_last(c);
        go_on = feed(w, text, n, u->is_last && c->result.event == ZEVENT_END, &n_carry);
        carry = text + n - n_carry;
        go_on = go_on && chunk_event(w, &c->result, &n_carry) && !stopped(r);
        report_progress(r, c->result.position - at);
        at = c->result.position;
    }
    u->seam.n_lines = p->n_lines;
    if (go_on && n_carry && !text_add(&u->seam.carry, carry, n_carry))
        go_on = fail_unit(u, "out of memory");
    split_stop(w->split);
    w->split = NULL;
    u->n_frames = zreader_n_frames(w->zreader);
    u->n_skippable = zreader_n_skippable(w->zreader);
    return go_on;
}

/* -- turns ----------------------------------------------------------------------------------------- */

static bool same_layout(const struct recfile_layout *a, const struct recfile_layout *b)
{
    return a->delimiter == b->delimiter && a->n_fields == b->n_fields &&
           memcmp(a->field, b->field, sizeof a->field) == 0;
}

static void add_counts(struct reader *r, const struct unit *u)
{
    struct recfile_info *info = r->info;

    info->n_rows += u->n_rows;
    info->n_text_bytes += u->n_text_bytes;
    info->n_frames += u->n_frames;
    info->n_skippable_frames += u->n_skippable;
    info->n_unverified += u->n_unverified;
    info->n_headers += u->n_headers;
    info->has_intended |= u->has_intended;
    for (int i = 0; i < N_DROPS; i++) {
        if (u->n_dropped[i] && info->n_dropped[i] == 0)
            snprintf(info->first_drop[i], sizeof info->first_drop[i], "%s:%llu: %s",
                     r->source.path, (unsigned long long)u->drop_line[i], u->drop_why[i]);
        info->n_dropped[i] += u->n_dropped[i];
    }
}

static void unit_fini(struct reader *r, struct unit *u)
{
    for (size_t i = 0; i < u->n_sinks; i++)
        r->sink->unit_free(r->sink->ctx, u->sinks[i]);
    free(u->sinks);
    for (size_t i = 0; i < MAX_COMMENTS; i++)
        text_fini(&u->comments[i]);
    text_fini(&u->first_line);
    text_fini(&u->seam.carry);
}

/* Begins a unit anew, as the head if all before it is committed. */
static bool unit_begin(struct reader *r, struct unit *u, bool head)
{
    struct unit fresh = {.index = u->index,
                         .start = u->start,
                         .end = u->end,
                         .is_last = u->is_last,
                         .head = head};

    unit_fini(r, u);
    pthread_mutex_lock(&r->lock);
    fresh.layout = r->layout;
    fresh.has_layout = r->has_layout;
    pthread_mutex_unlock(&r->lock);
    *u = fresh;
    return add_sink(r, u);
}

/* A header at the seam changes how the unit is read. */
static bool on_seam_header(void *ctx, const char *line, size_t n, uint64_t line_no)
{
    (void)line, (void)n, (void)line_no;
    return give_up(ctx);
}

/* Parses the row at the seam between the reader's carry and the unit's first line, and commits
 * it. False: failed, or the unit is misread. */
static bool join_seam(struct worker *w, struct unit *u)
{
    struct reader *r = w->reader;
    struct unit seam = {.head = true, .layout = r->layout, .has_layout = r->has_layout};
    struct worker v = *w; /* the unit's own parser may be in the middle of its text */
    struct text text = r->seam.carry;
    size_t used = 0;

    r->seam.carry = (struct text){0};
    seam.seam.dropped = r->seam.dropped;
    seam.seam.skip_line = r->seam.skip_line;
    v.unit = &seam;
    v.events.ctx = &v;
    v.events.header = on_seam_header;
    bool ok = text_add(&text, u->first_line.s ? u->first_line.s : "", u->first_line.n) &&
              rowparse_init(&v.parse, r->options, &v.events, text.n, &u->error);
    if (!ok) {
        text_fini(&text);
        return fail_unit(u, "out of memory");
    }
    v.parse.layout = r->layout;
    v.parse.has_layout = r->has_layout;
    v.parse.n_lines = r->seam.n_lines;
    bool last = u->is_last && !u->has_first_line;
    ok = add_sink(r, &seam);
    size_t at = ok ? skip_rest_of_row(&v.parse, &seam.seam, text.s, text.n) : 0;
    if (ok && !seam.seam.dropped)
        ok = rowparse_text(&v.parse, text.s + at, text.n - at, last, &used) == ROWPARSE_ALL;
    at += used;
    /* A row that is still open, or another layout: what was read behind it is wrong. */
    bool whole = at == text.n || !u->has_first_line;
    if (ok && whole && same_layout(&r->layout, &u->layout)) {
        ok = commit_sink(r, &seam, 0);
        add_counts(r, &seam);
        r->seam.n_lines = v.parse.n_lines;
        r->seam.dropped = seam.seam.dropped;
        r->seam.skip_line = seam.seam.skip_line;
        if (!u->has_first_line && at < text.n)
            ok = text_add(&r->seam.carry, text.s + at, text.n - at) && ok;
        text_fini(&text);
    } else if (!seam.failed) {
        /* Give the carry back for another reading. */
        text.n -= u->first_line.n;
        r->seam.carry = text;
        w->misread = true;
        ok = false;
    } else {
        text_fini(&text);
    }
    if (seam.failed) {
        u->failed = true;
        u->error = seam.error;
        u->error_line = seam.error_line;
        u->error_has_line = seam.error_has_line;
        u->head = true; /* its lines are absolute */
        ok = false;
    }
    rowparse_fini(&v.parse);
    unit_fini(r, &seam);
    return ok;
}

/* All before unit u is committed: commits what it holds and makes it the head. False: failed or
 * misread. */
static bool become_head(struct worker *w, struct unit *u)
{
    struct reader *r = w->reader;

    if (!join_seam(w, u))
        return false;
    uint64_t shift = r->seam.n_lines;
    for (size_t i = 0; i < u->n_comments; i++)
        if (!emit_comment(r, u, u->comments[i].s, u->comments[i].n))
            return false;
    for (size_t i = 0; i < u->n_sinks; i++) {
        r->input += i > 0;
        if (!commit_sink(r, u, i))
            return false;
    }
    if (u->n_sinks > 1)
        publish_layout(r, &u->end_layout);
    u->n_held = 0;
    u->seam.n_lines += shift;
    u->error_line += shift;
    for (int i = 0; i < N_DROPS; i++)
        u->drop_line[i] += shift;
    u->head = true;
    if (!u->has_first_line) { /* no newline in all of it */
        text_fini(&u->seam.carry);
        u->seam = r->seam;
        r->seam.carry = (struct text){0};
    }
    return true;
}

/* A unit that holds many rows waits until it is the head. */
static bool take_turn(struct worker *w)
{
    struct reader *r = w->reader;
    struct unit *u = w->unit;

    pthread_mutex_lock(&r->lock);
    while (r->turn != u->index && !r->stop)
        pthread_cond_wait(&r->changed, &r->lock);
    bool stop = r->stop;
    pthread_mutex_unlock(&r->lock);
    if (stop || !become_head(w, u))
        return false;
    w->parse.n_lines += r->seam.n_lines;
    return true;
}

/* Commits a unit that was read to its end and whose turn it is. */
static bool finish_unit(struct worker *w, struct unit *u)
{
    struct reader *r = w->reader;

    w->unit = u;
    w->misread = u->misread;
    if (!u->misread && !u->head && !become_head(w, u) && !w->misread && !u->failed)
        return false;
    if (w->misread) {
        if (unit_begin(r, u, true))
            run_unit(w);
    }
    if (u->head && u->n_sinks && !(u->failed && !u->error_has_line))
        commit_sink(r, u, u->n_sinks - 1);
    add_counts(r, u);
    text_fini(&r->seam.carry);
    r->seam = u->seam;
    u->seam.carry = (struct text){0};
    if (!u->failed)
        return true;
    if (u->error_has_line)
        err_set(&r->error, "%s:%llu: %s", r->source.path, (unsigned long long)u->error_line,
                u->error.msg);
    else
        err_set(&r->error, "%s: %s", r->source.path, u->error.msg);
    return false;
}

/* The worker's unit is read: commits it and all read ones behind it, if it has its turn. */
static void pass_turn(struct worker *w)
{
    struct reader *r = w->reader;

    pthread_mutex_lock(&r->lock);
    w->unit->misread = w->misread;
    w->unit->done = true;
    while (!r->committing && !r->stop) {
        struct unit **slot = &r->ahead[r->turn % r->max_ahead];
        struct unit *u = *slot;
        if (!u || !u->done)
            break;
        r->committing = true;
        pthread_mutex_unlock(&r->lock);
        bool ok = finish_unit(w, u);
        unit_fini(r, u);
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

/* The next unit of the file; NULL: none. */
static struct unit *take_unit(struct reader *r)
{
    struct unit *u = NULL;

    pthread_mutex_lock(&r->lock);
    /* Without a header line only the head can be read. */
    while (!r->stop && !r->no_more &&
           (r->n_units - r->turn >= r->max_ahead || (!r->has_layout && r->n_units > r->turn)))
        pthread_cond_wait(&r->changed, &r->lock);
    if (!r->stop && !r->no_more && !(u = calloc(1, sizeof *u))) {
        err_set(&r->error, "out of memory");
        r->stop = true;
    }
    if (u) {
        u->index = r->n_units++;
        u->start = r->next_start;
        u->end = r->n_threads == 1
                     ? UINT64_MAX
                     : zsource_range_end(&r->source, u->start, UNIT_MIN_BYTES);
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
    struct worker *w = arg;
    struct reader *r = w->reader;
    struct unit *u;

    while ((u = take_unit(r)) != NULL) {
        w->unit = u;
        w->misread = false;
        if (unit_begin(r, u, u->head))
            run_unit(w);
        pass_turn(w);
    }
    pthread_mutex_lock(&r->lock);
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static bool worker_init(struct worker *w, struct reader *r)
{
    memset(w, 0, sizeof *w);
    w->reader = r;
    w->events = (struct rowparse_events){.ctx = w,
                                         .rows = on_rows,
                                         .header = on_header,
                                         .comment = on_comment,
                                         .bad = on_bad};
    if (!rowparse_init(&w->parse, r->options, &w->events, TEXT_BYTES, &r->error))
        return false;
    w->zreader = zreader_new(&r->error);
    return w->zreader && (chunk_init(&w->chunk) || err_set(&r->error, "out of memory"));
}

static void worker_fini(struct worker *w)
{
    rowparse_fini(&w->parse);
    zreader_free(w->zreader);
    free(w->chunk.mem);
}

static unsigned choose_threads(const struct reader *r)
{
    long n = r->options->threads ? (long)r->options->threads : sysconf(_SC_NPROCESSORS_ONLN);

    if (!r->source.seekable || !r->source.compressed || r->source.size < 2 * UNIT_MIN_BYTES)
        return 1;
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

static void run_workers(struct reader *r)
{
    struct worker *w = calloc(r->n_threads, sizeof *w);
    pthread_t threads[MAX_THREADS];
    unsigned n_ready = 0, n_started = 0;

    if (!w) {
        err_set(&r->error, "out of memory");
        return;
    }
    while (n_ready < r->n_threads && worker_init(&w[n_ready], r))
        n_ready++;
    if (n_ready == r->n_threads) {
        /* Fewer threads than wanted are no failure: this one does the rest. */
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

bool recfile_read(const char *path, const struct recfile_options *options,
                  const struct recfile_sink *sink, struct recfile_info *info, struct err *e)
{
    struct reader r = {.options = options, .sink = sink, .info = info};
    bool ok = false;

    memset(info, 0, sizeof *info);
    if (zsource_open(&r.source, path, &r.error)) {
        r.n_threads = choose_threads(&r);
        r.max_ahead = r.n_threads + 2;
        r.ahead = calloc(r.max_ahead, sizeof(struct unit *));
        pthread_mutex_init(&r.lock, NULL);
        pthread_cond_init(&r.changed, NULL);
        if (r.ahead)
            run_workers(&r);
        else
            err_set(&r.error, "out of memory");
        pthread_mutex_destroy(&r.lock);
        pthread_cond_destroy(&r.changed);
        for (unsigned i = 0; r.ahead && i < r.max_ahead; i++)
            if (r.ahead[i]) {
                unit_fini(&r, r.ahead[i]);
                free(r.ahead[i]);
            }
        free(r.ahead);
        text_fini(&r.seam.carry);
        info->compressed = r.source.compressed;
        info->n_file_bytes = r.source.seekable ? r.source.size : r.n_read;
        info->n_lines = r.seam.n_lines;
        info->generation = r.layout.generation;
        if (!r.has_layout)
            err_set(&r.error, "%s:1: not a capture: no header line", r.source.path);
        ok = r.error.msg[0] == '\0';
    }
    zsource_close(&r.source);
    return ok || err_set(e, "%s", r.error.msg);
}
