/* What `hey -o csv` writes (github.com/rakyll/hey, requester/print.go and report.go): seconds with
 * four decimals; `offset` is the start. Requests without an answer are not in it, and of a run only
 * the first million requests. */
#include "analyze/import/fields.h"
#include "analyze/import/readers.h"

#define HEADER                                                                                     \
    "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"
#define KEEPS    1000000 /* requests; hey says nothing of the others */
#define DECIMALS 9       /* of seconds in ns */

enum { TOTAL, DIALUP, DNS, WRITE, DELAY, READ, STATUS, OFFSET, N_FIELDS };

static bool read_row(struct import *m, const struct lines *l, struct err *e)
{
    const struct import_options *o = &m->options;
    struct slice fields[N_FIELDS];
    int64_t v[N_FIELDS];
    char error[FIELDS_ERROR_BYTES];

    if (l->n == 0) /* hey ends its file with an empty line */
        return true;
    if (fields_split(l->text, l->n, ',', fields, N_FIELDS) != N_FIELDS)
        return lines_bad(l, e, "expected 8 fields: is the file cut?");
    for (size_t i = 0; i < N_FIELDS; i++)
        if (!slice_decimal(fields[i], i == STATUS ? 0 : DECIMALS, &v[i]))
            return lines_bad(l, e, "field %zu is no %s", i + 1,
                             i == STATUS ? "status" : "number of seconds");
    /* The first byte came when the answer began to be read. */
    int64_t first_ns = v[TOTAL] > v[READ] ? v[TOTAL] - v[READ] : 0;
    bool uploads = strcmp(o->op, "PUT") == 0;
    const struct record row = {.start_ns = o->start_ns + v[OFFSET],
                               .end_ns = v[TOTAL],
                               .first_byte_ns = uploads ? RECORD_NO_TIME : first_ns,
                               .last_byte_ns = !uploads              ? RECORD_NO_TIME
                                               : first_ns > v[DELAY] ? first_ns - v[DELAY]
                                                                     : 0,
                               .op = slice_of(o->op),
                               .endpoint = slice_of(o->host),
                               .error = fields_error(error, v[STATUS], (struct slice){0})};
    return gather_add(m, &row, e);
}

bool hey_read(struct import *m, struct lines *l, struct err *e)
{
    bool more;

    if (!lines_next(l, &more, e))
        return false;
    if (!more || strcmp(l->text, HEADER) != 0)
        return lines_bad(l, e, "this is not what `hey -o csv` writes: the header is missing");
    if (!gather_lines(m, l, read_row, e))
        return false;
    if (m->result.n_rows >= KEEPS)
        m->result.is_cut = true;
    return true;
}
