#include "analyze/read/rowcsv.h"

#include "analyze/read/rowfields.h"
#include "libcommon/mem.h"

#include <csv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cache of the lines that lie within a quoted field. The search for the closing quote has the
 * same result from each of these lines, so it is done once for many rows that open a quote, not
 * once for each up to the end of the text. */
struct within {
    size_t from, to; /* offsets of the first and last line that begin in the open field */
    bool closed;     /* the line at `to` closes the field */
    bool misfits;    /* the row that ends there is not valid */
};

static const struct within nowhere = {.from = SIZE_MAX};

struct rowcsv {
    struct csv_parser parser;
    char *bytes; /* of all fields of the row */
    size_t n_bytes, cap;
    size_t begin[RECFILE_MAX_FIELDS + 1]; /* of each field in `bytes` */
    int n_fields;                         /* may be more than fit: then the row is bad */
    bool ended, no_memory;
    const char *text; /* as given to rowcsv_begin */
    struct within within;
};

static int is_newline(unsigned char c)
{
    return c == '\n';
}
static int is_nothing(unsigned char c)
{
    (void)c;
    return 0;
}

struct rowcsv *rowcsv_new(struct err *e)
{
    struct rowcsv *s;

    if (!mem_cleared(&s, 1, e))
        return NULL;
    /* Cannot fail: it fails only if the parser is NULL. */
    csv_init(&s->parser, 0);
    csv_set_space_func(&s->parser, is_nothing);
    csv_set_term_func(&s->parser, is_newline);
    s->within = nowhere;
    return s;
}

void rowcsv_free(struct rowcsv *s)
{
    if (!s)
        return;
    csv_free(&s->parser);
    free(s->bytes);
    free(s);
}

static void add_field(struct rowcsv *s, const char *p, size_t n)
{
    if (s->n_fields >= RECFILE_MAX_FIELDS) {
        s->n_fields++;
        return;
    }
    if (!mem_fit(&s->bytes, &s->cap, s->n_bytes + n + RECORD_PADDING, NULL)) {
        s->no_memory = true;
        return;
    }
    if (n)
        memcpy(s->bytes + s->n_bytes, p, n);
    s->n_bytes += n;
    s->begin[++s->n_fields] = s->n_bytes;
}

static void on_field(void *p, size_t n, void *state)
{
    add_field(state, p, n);
}

static void on_row(int c, void *state)
{
    (void)c;
    ((struct rowcsv *)state)->ended = true;
}

static void feed(struct rowcsv *s, const char *p, size_t n)
{
    if (n && csv_parse(&s->parser, p, n, on_field, on_row, s) != n)
        s->no_memory = true; /* without CSV_STRICT nothing else stops it */
}

static void reset(struct rowcsv *s, char delimiter)
{
    /* Drops the row that was open. */
    csv_fini(&s->parser, NULL, NULL, NULL);
    csv_set_delim(&s->parser, (unsigned char)delimiter);
    s->n_bytes = 0;
    s->n_fields = 0;
    s->begin[0] = 0;
    s->ended = s->no_memory = false;
}

/* Whether libcsv is in a quoted field at the end of a line; `open` says so for its start. In a
 * quoted field, a CR before the newline belongs to the field, else to the line end. */
static bool is_open(bool open, const char *line, size_t n, char delimiter)
{
    bool at_start = !open;

    for (size_t i = 0; i < n; i++) {
        if (!open) {
            open = at_start && line[i] == '"';
            at_start = line[i] == delimiter;
        } else if (line[i] == '"') {
            at_start = i + 1 < n && line[i + 1] == delimiter;
            open = i + 1 < n && !at_start;
            i++; /* a doubled quote means one quote; libcsv keeps any other character */
        }
    }
    return open;
}

/* Feeds a line of n bytes and its newline to libcsv. `open`: it begins in a quoted field. */
static void feed_line(struct rowcsv *s, bool open, const char *line, size_t n, char delimiter)
{
    if (n && line[n - 1] == '\r' && !is_open(open, line, n - 1, delimiter))
        n--;
    feed(s, line, n);
    feed(s, "\n", 1);
}

void rowcsv_begin(struct rowcsv *s, const char *text)
{
    s->text = text;
    s->within = nowhere;
}

/* Whether libcsv sees the end of a quoted field in a line that begins within the field. */
static bool closes(const char *line, size_t n, char delimiter)
{
    const char *quote;

    for (size_t at = 0; at < n && (quote = memchr(line + at, '"', n - at)) != NULL; at++) {
        at = (size_t)(quote - line) + 1;
        if (at == n || line[at] == delimiter || (at + 1 == n && line[at] == '\r'))
            return true;
    }
    return false;
}

/* Whether the quoted field that is open at `line` is closed within the next n bytes. */
static bool find_close(struct rowcsv *s, const char *line, size_t n, char delimiter)
{
    struct within *w = &s->within;
    size_t at = (size_t)(line - s->text), end = at + n;

    if (at < w->from || at > w->to)
        *w = (struct within){.from = at, .to = at};
    while (!w->closed && w->to < end) {
        line = s->text + w->to;
        const char *newline = memchr(line, '\n', end - w->to);
        size_t len = newline ? (size_t)(newline - line) : end - w->to;
        w->closed = closes(line, len, delimiter);
        if (!w->closed)
            w->to += len + (newline != NULL);
    }
    return w->closed;
}

/* Feeds lines until the row ends; only the column `error` may span lines. Sets *used to the bytes
 * that were fed. */
static enum rowcsv_end feed_row(struct rowcsv *s, const struct recfile_layout *l, const char *text,
                                size_t n, size_t *used)
{
    size_t at = 0;

    while (!s->ended) {
        const char *newline = at < n ? memchr(text + at, '\n', n - at) : NULL;
        if (at == n || (at > 0 && !find_close(s, text + at, n - at, l->delimiter)))
            return ROWCSV_MORE;
        if (at > 0 && s->within.misfits)
            return ROWCSV_BAD;
        size_t len = newline ? (size_t)(newline - text) - at : n - at;
        feed_line(s, at > 0, text + at, len, l->delimiter);
        at += newline ? len + 1 : len;
        if (!s->ended && s->n_fields != l->field[COL_ERROR]) {
            s->within.misfits |= s->within.closed && at > len + 1;
            return ROWCSV_BAD;
        }
    }
    *used = at;
    return ROWCSV_OK;
}

/* Returns the length of the first line, newline included. */
static size_t first_line(const char *text, size_t n)
{
    const char *newline = memchr(text, '\n', n);

    return newline ? (size_t)(newline - text) + 1 : n;
}

/* Feeds the first line, but takes the quotes in `file` literally. False: there is no such field, or
 * it does not begin with a quote. */
static bool feed_literal_file(struct rowcsv *s, const struct recfile_layout *l, const char *text,
                              size_t n, size_t *used)
{
    size_t line = first_line(text, n), at = 0;
    size_t len = line && text[line - 1] == '\n' ? line - 1 : line;
    int column = l->field[COL_FILE];

    if (column < 0)
        return false;
    while (s->n_fields < column && at < len)
        feed(s, text + at++, 1);
    if (s->n_fields != column || at >= len || text[at] != '"')
        return false;
    const char *end = memchr(text + at, l->delimiter, len - at);
    *used = line;
    if (end) {
        add_field(s, text + at, (size_t)(end - text) - at);
        size_t rest = (size_t)(end - text) + 1, row;
        if (feed_row(s, l, text + rest, n - rest, &row) != ROWCSV_OK)
            return false;
        *used = rest + row;
    } else {
        add_field(s, text + at, len - at - (text[len - 1] == '\r'));
    }
    return true;
}

/* Takes a quote at the beginning of `file` literally if that makes the first line a whole row and
 * quoting does not: an error of several lines is rarer. */
enum rowcsv_end rowcsv_parse(struct rowcsv *s, const struct recfile_layout *l, const char *text,
                             size_t n, struct record *out, size_t *used, char *why, size_t why_size)
{
    struct slice fields[RECFILE_MAX_FIELDS];

    reset(s, l->delimiter);
    enum rowcsv_end what = feed_row(s, l, text, n, used);
    bool fits = what == ROWCSV_OK && s->n_fields == l->n_fields;
    size_t literal, line = first_line(text, n);
    if (what == ROWCSV_OK && !fits && *used > line)
        s->within.misfits = true;
    if (!fits || *used > line) {
        int found = s->n_fields;
        reset(s, l->delimiter);
        if (feed_literal_file(s, l, text, n, &literal) && s->n_fields == l->n_fields &&
            (!fits || literal == line)) {
            *used = literal;
        } else if (fits) {
            reset(s, l->delimiter);
            feed_row(s, l, text, n, used);
        } else if (what == ROWCSV_MORE) {
            return ROWCSV_MORE;
        } else {
            if (what == ROWCSV_BAD)
                snprintf(why, why_size, "a quoted field is not closed on its line");
            else
                snprintf(why, why_size, "%d field%s where the header has %d", found,
                         found == 1 ? "" : "s", l->n_fields);
            return ROWCSV_BAD;
        }
    }
    if (s->no_memory) {
        snprintf(why, why_size, "out of memory");
        return ROWCSV_BAD;
    }
    for (int i = 0; i < l->n_fields; i++)
        fields[i] = (struct slice){s->bytes + s->begin[i], s->begin[i + 1] - s->begin[i]};
    return rowfields_record(l, fields, out, why, why_size) ? ROWCSV_OK : ROWCSV_BAD;
}
