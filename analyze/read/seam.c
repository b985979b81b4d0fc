#include "analyze/read/recfile_internal.h"
#include "analyze/read/rowfields.h"

#include <string.h>

/* Whether the line after damage begins a row, or is only the rest of one. It begins a row if it is
 * a header line, or begins with a number for idx and either has all fields or opens a quoted error.
 * (Lost digits of its idx do no harm.) */
static bool begins_row(const struct rowparse *p, const char *line, size_t n)
{
    const struct recfile_layout *l = &p->layout;
    int delimiters = 0;
    bool quoted_error = false;

    if (rowfields_is_header(line, n))
        return true;
    if (!p->has_layout || l->field[COL_IDX] != 0 || n == 0 || line[0] < '0' || line[0] > '9')
        return false;
    for (size_t i = 0; i < n; i++) {
        delimiters += line[i] == l->delimiter;
        quoted_error |= line[i] == l->delimiter && delimiters == l->field[COL_ERROR] && i + 1 < n &&
                        line[i + 1] == '"';
    }
    return delimiters == l->n_fields - 1 || quoted_error;
}

size_t seam_skip_rest_of_row(struct rowparse *p, struct seam *seam, const char *text, size_t n)
{
    const char *newline = memchr(text, '\n', n);
    size_t len = newline ? (size_t)(newline - text) : n;

    if (seam->dropped && (newline || n > RECORD_MAX_ROW_BYTES)) {
        seam->dropped = false;
        if (begins_row(p, text, len))
            return 0;
        seam->skip_line = true;
    }
    if (!seam->skip_line)
        return 0;
    seam->skip_line = newline == NULL;
    p->n_lines += newline != NULL;
    return newline ? len + 1 : n;
}

/* ---- The row at the seam ---- */

/* A unit of its own for the results of parsing the row at the seam. */
struct joint {
    struct reader *reader;
    struct recunit unit;
};

/* Stops at a row that needs a lane: only the head may take one. */
static bool on_rows(void *ctx, struct record *rows, size_t n)
{
    struct joint *j = ctx;
    const struct recfile_sink *sink = j->reader->sink;

    if (rows[n - 1].is_lane)
        return false;
    j->unit.n_rows += n;
    return sink->unit_rows(sink->ctx, j->unit.sinks[0], rows, n, &j->unit.error) ||
           recstate_fail(&j->unit, "out of memory");
}

/* Stops: below another header, the unit after the seam must be read again. */
static bool on_header(void *ctx, const char *line, size_t n, uint64_t line_no)
{
    (void)ctx, (void)line, (void)n, (void)line_no;
    return false;
}

/* Keeps the comment until it is clear that the unit need not be read again. */
static bool on_comment(void *ctx, const char *line, size_t n)
{
    struct recunit *u = &((struct joint *)ctx)->unit;

    return u->n_comments < UNIT_MAX_COMMENTS && rowtext_add(&u->comments[u->n_comments++], line, n);
}

static bool on_bad(void *ctx, uint64_t line_no, const char *why)
{
    struct joint *j = ctx;

    return recstate_drop(j->reader, &j->unit, DROP_BAD_ROW, line_no, why);
}

static bool emit_comments(struct reader *r, struct recunit *u)
{
    for (size_t i = 0; i < u->n_comments; i++)
        if (!recstate_emit_comment(r, u, u->comments[i].s, u->comments[i].n))
            return false;
    return true;
}

static bool same_layout(const struct recfile_layout *a, const struct recfile_layout *b)
{
    return a->delimiter == b->delimiter && a->n_fields == b->n_fields &&
           memcmp(a->field, b->field, sizeof a->field) == 0;
}

/* Parses and commits the row at the seam: the reader's carry and the unit's first line. Uses a
 * parser of its own, since the unit's parser may be in the middle of its text. False: failed, or
 * the unit is misread: the row, or what the unit read after it, is wrong. */
static bool join(struct reader *r, struct recunit *u)
{
    struct joint j = {
        .reader = r,
        .unit = {.head = true,
                 .position = u->start,
                 .layout = r->layout,
                 .has_layout = r->has_layout,
                 .seam = {.dropped = r->seam.dropped, .skip_line = r->seam.skip_line}}};
    const struct rowparse_events events = {&j, on_rows, on_header, on_comment, on_bad};
    struct rowparse parse;
    struct rowtext text = r->seam.carry;
    bool last = u->is_last && !u->has_first_line;
    size_t at, used = 0;
    bool joined = false;

    r->seam.carry = (struct rowtext){0};
    if (!rowtext_add(&text, u->first_line.s ? u->first_line.s : "", u->first_line.n) ||
        !rowparse_init(&parse, r->options, &events, &u->error)) {
        rowtext_fini(&text);
        return recstate_fail(u, "out of memory");
    }
    rowparse_set_layout(&parse, r->has_layout ? &r->layout : NULL);
    parse.n_lines = r->seam.n_lines;
    at = seam_skip_rest_of_row(&parse, &j.unit.seam, text.s, text.n);
    bool ok = recstate_add_sink(r, &j.unit);
    if (ok && !j.unit.seam.dropped)
        ok = rowparse_text(&parse, text.s + at, text.n - at, last, &used) == ROWPARSE_ALL;
    at += used;
    /* If the row is still open, or the layout has changed, what the unit read after it is wrong. */
    bool whole = at == text.n || !u->has_first_line;
    if (ok && whole && same_layout(&r->layout, &u->layout)) {
        joined = (emit_comments(r, &j.unit) && recstate_commit_sink(r, &j.unit, 0)) ||
                 recstate_fail(u, j.unit.error.msg);
        recstate_add_counts(r, &j.unit);
        u->n_seam_rows = j.unit.n_rows;
        r->seam.n_lines = parse.n_lines;
        r->seam.dropped = j.unit.seam.dropped;
        r->seam.skip_line = j.unit.seam.skip_line;
        if (!u->has_first_line && at < text.n &&
            !rowtext_add(&r->seam.carry, text.s + at, text.n - at))
            joined = recstate_fail(u, "out of memory");
    } else {
        /* Puts the carry back: reading the unit again finds out what is wrong with the row. */
        text.n -= u->first_line.n;
        r->seam.carry = text;
        text = (struct rowtext){0};
        u->misread = true;
    }
    rowtext_fini(&text);
    rowparse_fini(&parse);
    recstate_fini(r, &j.unit);
    return joined;
}

/* ---- Turns ---- */

bool seam_become_head(struct reader *r, struct recunit *u)
{
    if (!join(r, u))
        return false;
    uint64_t shift = r->seam.n_lines;
    if (!emit_comments(r, u))
        return false;
    for (size_t i = 0; i < u->n_sinks; i++) {
        r->input += i > 0;
        if ((i > 0 && !recstate_publish_layout(r, u, &u->layouts[i])) ||
            !recstate_commit_sink(r, u, i))
            return false;
    }
    u->n_held = 0;
    u->seam.n_lines += shift;
    u->error_line += shift;
    for (int i = 0; i < N_DROPS; i++)
        u->drop_line[i] += shift;
    u->head = true;
    if (!u->has_first_line) { /* the unit has no newline */
        rowtext_fini(&u->seam.carry);
        u->seam = r->seam;
        r->seam.carry = (struct rowtext){0};
    }
    return true;
}

bool seam_take_turn(struct recworker *w)
{
    struct reader *r = w->reader;
    struct recunit *u = w->unit;

    pthread_mutex_lock(&r->lock);
    while (r->turn != u->index && !r->stop)
        pthread_cond_wait(&r->changed, &r->lock);
    bool stop = r->stop;
    pthread_mutex_unlock(&r->lock);
    if (stop || !seam_become_head(r, u))
        return false;
    w->parse.n_lines += r->seam.n_lines;
    return true;
}
