#include "analyze/read/rowfields.h"

#include "libcommon/rfc3339.h"

#include <stdio.h>
#include <string.h>

/* ---- Header ---- */

static int column_of(const char *s, size_t n)
{
    if (n >= 2 && s[0] == '"' && s[n - 1] == '"') {
        s++;
        n -= 2;
    }
    for (int c = 0; c < N_COLUMNS; c++)
        if (strlen(record_column_names[c]) == n && memcmp(record_column_names[c], s, n) == 0)
            return c;
    return -1;
}

static int generation_of(const struct recfile_layout *l)
{
    if (l->field[COL_LAST_BYTE] >= 0 || l->field[COL_CAT] >= 0)
        return 4;
    if (l->field[COL_CLIENT_ID] >= 0 || l->field[COL_ENDPOINT] >= 0)
        return 3;
    if (l->field[COL_FIRST_BYTE] >= 0)
        return 2;
    return l->field[COL_N_OBJECTS] >= 0 ? 1 : 0;
}

bool rowfields_header(const char *line, size_t n, struct recfile_layout *layout, struct err *e)
{
    static const int required[] = {COL_THREAD, COL_OP, COL_BYTES, COL_START, COL_END};

    memset(layout, 0, sizeof *layout);
    memset(layout->field, 0xff, sizeof layout->field);
    if (n && line[n - 1] == '\r')
        n--;
    layout->delimiter = memchr(line, '\t', n) ? '\t' : ',';
    for (size_t at = 0;;) {
        const char *end = memchr(line + at, layout->delimiter, n - at);
        size_t len = end ? (size_t)(end - line) - at : n - at;
        int c = column_of(line + at, len);

        if (layout->n_fields == RECFILE_MAX_FIELDS)
            return err_set(e, "more than %d columns", RECFILE_MAX_FIELDS);
        if (c >= 0) {
            if (layout->field[c] >= 0)
                return err_set(e, "column \"%s\" stands twice in the header line",
                               record_column_names[c]);
            layout->field[c] = (int16_t)layout->n_fields;
        }
        layout->n_fields++;
        if (!end)
            break;
        at = (size_t)(end - line) + 1;
    }
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (layout->field[required[i]] < 0)
            return err_set(e, ROWFIELDS_NO_CAPTURE ": no column \"%s\" in the header line",
                           record_column_names[required[i]]);
    layout->generation = generation_of(layout);
    return true;
}

bool rowfields_is_header(const char *line, size_t n)
{
    struct recfile_layout layout;

    return rowfields_header(line, n, &layout, NULL);
}

/* ---- Fields ---- */

bool rowfields_uint(const char *s, size_t n, uint64_t max, uint64_t *out)
{
    uint64_t v = 0;

    if (n == 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned digit = (unsigned char)s[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v))
            return false;
    }
    *out = v;
    return v <= max;
}

/* The row being checked, and where to write what is wrong with it. */
struct row {
    const struct recfile_layout *layout;
    const struct slice *fields;
    char *why;
    size_t why_size;
};

/* The value of a missing column. */
static const char nothing[RECORD_PADDING];

static struct slice field_of(const struct row *row, int column)
{
    int field = row->layout->field[column];

    return field >= 0 ? row->fields[field] : (struct slice){nothing, 0};
}

/* Whether a time lies in [start_ns, limit_ns]. False: row->why says so; `limit` is "after ...", for
 * a time that is too late. */
static bool in_order(const struct row *row, int column, int64_t ns, int64_t start_ns,
                     int64_t limit_ns, const char *limit)
{
    if (rowfields_within(ns, start_ns, limit_ns))
        return true;
    snprintf(row->why, row->why_size, "%s is %s", record_column_names[column],
             ns < start_ns ? "before start" : limit);
    return false;
}

/* Writes row->why: the column is not `what`. Returns false. */
static bool bad_field(const struct row *row, int column, const char *what)
{
    struct slice f = field_of(row, column);
    int shown = f.n > 60 ? 60 : (int)f.n;

    snprintf(row->why, row->why_size, "%s \"%.*s%s\" is not %s", record_column_names[column], shown,
             f.p, f.n > 60 ? "..." : "", what);
    return false;
}

static bool get_time(const struct row *row, int column, int64_t *out)
{
    struct slice f = field_of(row, column);

    return rfc3339_parse(f.p, f.n, out) ||
           bad_field(row, column, "an RFC 3339 time of the years 1970 to 2262");
}

static bool get_optional_time(const struct row *row, int column, int64_t *out)
{
    *out = RECORD_NO_TIME;
    return field_of(row, column).n == 0 || get_time(row, column, out);
}

static bool get_uint(const struct row *row, int column, uint64_t max, uint64_t *out)
{
    struct slice f = field_of(row, column);
    char what[64];

    if (rowfields_uint(f.p, f.n, max, out))
        return true;
    snprintf(what, sizeof what, "an integer of 0 to %llu", (unsigned long long)max);
    return bad_field(row, column, what);
}

static bool get_optional_uint(const struct row *row, int column, uint64_t max, uint64_t *out)
{
    return field_of(row, column).n == 0 || get_uint(row, column, max, out);
}

/* Sets the end, and whether the row is of a log of operations (docs/other-tools.md). Such a log has
 * the columns of generation 3, but a hash of 64 bits as thread, or, once sorted, no end. */
static bool get_end(const struct row *row, uint64_t thread, struct record *r)
{
    uint64_t duration_ns;
    bool has_end = field_of(row, COL_END).n > 0;

    r->is_lane = row->layout->generation == 3 && (thread > UINT32_MAX || !has_end);
    if (has_end || !r->is_lane)
        return get_time(row, COL_END, &r->end_ns);
    return get_uint(row, COL_DURATION_NS, INT64_MAX, &duration_ns) &&
           (!__builtin_add_overflow(r->start_ns, (int64_t)duration_ns, &r->end_ns) ||
            bad_field(row, COL_DURATION_NS, "a time before the year 2262"));
}

/* Takes away what such a log does not mean: a first byte that was not measured is at the start or
 * end, and the bytes of a HEAD are those of the object. */
static void correct_oplog(struct record *r)
{
    if (r->first_byte_ns == r->start_ns || r->first_byte_ns == r->end_ns)
        r->first_byte_ns = RECORD_NO_TIME;
    if (slice_is(r->op, "HEAD"))
        r->bytes = 0;
}

bool rowfields_record(const struct recfile_layout *l, const struct slice *fields, struct record *r,
                      char *why, size_t size)
{
    const struct row row = {l, fields, why, size};
    uint64_t thread, bytes, n_objects = 1;

    r->cat = 0;
    if (!get_uint(&row, COL_THREAD, l->generation == 3 ? UINT64_MAX : UINT32_MAX, &thread) ||
        !get_optional_uint(&row, COL_N_OBJECTS, INT64_MAX, &n_objects) ||
        !get_uint(&row, COL_BYTES, INT64_MAX, &bytes) ||
        !get_optional_uint(&row, COL_CAT, UINT64_MAX, &r->cat) ||
        !get_time(&row, COL_START, &r->start_ns) ||
        !get_optional_time(&row, COL_FIRST_BYTE, &r->first_byte_ns) ||
        !get_optional_time(&row, COL_LAST_BYTE, &r->last_byte_ns) || !get_end(&row, thread, r) ||
        !get_optional_time(&row, COL_INTENDED, &r->intended_ns))
        return false;
    r->thread = (uint32_t)thread;
    r->bytes = (int64_t)bytes;
    r->n_objects = (int64_t)n_objects;
    r->op = field_of(&row, COL_OP);
    r->client = field_of(&row, COL_CLIENT_ID);
    r->endpoint = field_of(&row, COL_ENDPOINT);
    r->file = field_of(&row, COL_FILE);
    r->error = field_of(&row, COL_ERROR);
    if (r->is_lane)
        correct_oplog(r);
    if (r->op.n == 0) {
        snprintf(why, size, "op is empty");
        return false;
    }
    return in_order(&row, COL_END, r->end_ns, r->start_ns, INT64_MAX, "") &&
           in_order(&row, COL_FIRST_BYTE, r->first_byte_ns, r->start_ns, r->end_ns, "after end") &&
           in_order(&row, COL_LAST_BYTE, r->last_byte_ns, r->start_ns, r->end_ns, "after end") &&
           in_order(&row, COL_INTENDED, r->intended_ns, 0, r->start_ns, "after start");
}
