/* Reads server access logs of Amazon S3 ("Amazon S3 server access log format", S3 User Guide): a
 * line for each request, fields separated by blanks, "-" for none. Starts are in whole seconds,
 * times in whole ms. */
#include "analyze/import/import_internal.h"
#include "libcommon/int64.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <stdio.h>

/* Fields that we use, in their order; further ones may follow. */
enum {
    BUCKET = 1,
    TIME,
    CLIENT,
    OPERATION = 6,
    KEY,
    STATUS = 9,
    ERROR,
    SENT,
    SIZE,
    TOTAL,
    TURN_AROUND,
    HOST = 22,
    N_LEAST = TURN_AROUND + 1,
    N_FIELDS = HOST + 1
};

/* Returns the end of the field at `p`: after its bracket or quotation mark, if it has these. A
 * quoted field may contain quotation marks as the client sent them: only one before a blank ends
 * it. NULL: it does not end. */
static const char *end_of(const char *p, const char *end)
{
    char closing = *p == '[' ? ']' : *p == '"' ? '"' : '\0';

    if (closing == '\0') {
        const char *blank = memchr(p, ' ', (size_t)(end - p));
        return blank != NULL ? blank : end;
    }
    for (p++; p < end; p++)
        if (*p == closing && (p + 1 == end || p[1] == ' '))
            return p + 1;
    return NULL;
}

/* Returns how many of the first `max` fields there are; 0: one does not end. */
static size_t split(const struct lines *l, struct slice *fields, size_t max)
{
    const char *p = l->text, *end = l->text + l->n;
    size_t n = 0;

    while (p < end && n < max) {
        const char *next = end_of(p, end);
        if (next == NULL)
            return 0;
        fields[n++] = (struct slice){p, (size_t)(next - p)};
        p = next < end ? next + 1 : end;
    }
    return n;
}

/* "[06/Feb/2019:00:00:38 +0000]" */
static bool parse_time(struct slice s, int64_t *ns)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char month[4], text[40];

    if (s.n != 28 || s.p[0] != '[' || s.p[3] != '/' || s.p[7] != '/' || s.p[12] != ':')
        return false;
    memcpy(month, s.p + 4, 3);
    month[3] = '\0';
    const char *found = strstr(months, month);
    if (found == NULL || (found - months) % 3 != 0)
        return false;
    int n = snprintf(text, sizeof text, "%.4s-%02d-%.2sT%.8s%.3s:%.2s", s.p + 8,
                     (int)(found - months) / 3 + 1, s.p + 1, s.p + 13, s.p + 22, s.p + 25);
    return n > 0 && rfc3339_parse(text, (size_t)n, ns);
}

static struct slice known(struct slice s)
{
    return slice_is(s, "-") ? (struct slice){"", 0} : s;
}

static struct slice op_of(struct slice operation)
{
    static const char *const ops[][2] = {{"REST.GET.OBJECT", "GET"},
                                         {"REST.PUT.OBJECT", "PUT"},
                                         {"REST.HEAD.OBJECT", "STAT"},
                                         {"REST.DELETE.OBJECT", "DELETE"},
                                         {"REST.POST.MULTI_OBJECT_DELETE", "DELETE"},
                                         {"REST.GET.BUCKET", "LIST"}};
    bool is_rest = slice_begins(operation, "REST.");
    struct slice other = is_rest ? slice_from(operation, strlen("REST.")) : operation;

    return gather_name(ops, sizeof ops / sizeof *ops, operation, other);
}

static bool read_number(const struct lines *l, const struct slice *fields, size_t i, int64_t *v,
                        struct err *e)
{
    *v = 0;
    return known(fields[i]).n == 0 || slice_decimal(fields[i], 0, v) ||
           lines_bad(l, e, "field %zu is no number", i + 1);
}

static bool read_row(struct import *m, struct err *e)
{
    const struct lines *l = &m->lines;
    struct slice f[N_FIELDS];
    int64_t start_ns, status, sent, size, total_ms, turn_ms;
    size_t n = split(l, f, N_FIELDS);

    if (l->n == 0)
        return true;
    if (n < N_LEAST)
        return lines_bad(l, e, "expected a line of a server access log: at least %d fields",
                         N_LEAST);
    if (!parse_time(f[TIME], &start_ns))
        return lines_bad(l, e, "field %d is no time such as [06/Feb/2019:00:00:38 +0000]",
                         TIME + 1);
    if (!read_number(l, f, STATUS, &status, e) || !read_number(l, f, SENT, &sent, e) ||
        !read_number(l, f, SIZE, &size, e) || !read_number(l, f, TOTAL, &total_ms, e) ||
        !read_number(l, f, TURN_AROUND, &turn_ms, e))
        return false;
    /* Actions of the service itself, and single objects of a multi-object deletion, have no
     * time. */
    if (known(f[TOTAL]).n == 0 || known(f[STATUS]).n == 0) {
        m->result->n_left_out++;
        return true;
    }
    if (total_ms > INT64_C(1) << 33)
        return lines_bad(l, e, "field %d: a request of more than 99 days", TOTAL + 1);
    struct record row = {.start_ns = start_ns,
                         .end_ns = total_ms * NS_PER_MS,
                         .first_byte_ns = RECORD_NO_TIME,
                         .last_byte_ns = RECORD_NO_TIME,
                         .op = op_of(f[OPERATION]),
                         .client = known(f[CLIENT]),
                         .endpoint = known(n > HOST ? f[HOST] : f[BUCKET]),
                         .file = known(f[KEY])};
    bool uploads = slice_begins(row.op, "PUT");
    if (uploads || slice_is(row.op, "GET"))
        row.bytes = uploads ? size : sent;
    /* From the last byte of the request to the first one of the answer. */
    turn_ms = int64_min(turn_ms, total_ms);
    if (known(f[TURN_AROUND]).n > 0 && uploads)
        row.last_byte_ns = (total_ms - turn_ms) * NS_PER_MS;
    else if (known(f[TURN_AROUND]).n > 0)
        row.first_byte_ns = turn_ms * NS_PER_MS;
    return gather_add(m, &row, status, known(f[ERROR]), e);
}

bool s3_log_read(struct import *m, struct err *e)
{
    return gather_lines(m, read_row, e);
}
