/* Reads what `hey -o csv` writes (github.com/rakyll/hey, requester/print.go and report.go): seconds
 * with four decimals; `offset` is the start. It has no requests without an answer, and only the
 * first million requests of a run. */
#include "analyze/capture/import/import_internal.h"
#include "libcommon/int64.h"

#define DECIMALS 9 /* of seconds in ns */

enum { TOTAL, DIALUP, DNS, WRITE, DELAY, READ, STATUS, OFFSET, N_FIELDS };

bool hey_read(struct import *m, struct err *e)
{
    const struct import_options *o = m->options;
    struct lines *l = &m->lines;
    struct slice fields[N_FIELDS];
    int64_t v[N_FIELDS];

    if (l->n == 0) /* hey ends its file with an empty line */
        return true;
    if (!lines_split(l, ',', fields, N_FIELDS))
        return lines_bad(l, e, "expected 8 fields: is the file cut?");
    for (size_t i = 0; i < N_FIELDS; i++)
        if (!slice_decimal(fields[i], i == STATUS ? 0 : DECIMALS, &v[i]))
            return lines_bad(l, e, "field %zu is no %s", i + 1,
                             i == STATUS ? "status" : "number of seconds");
    /* The first byte came when the answer began to be read. */
    int64_t first_ns = int64_max(v[TOTAL] - v[READ], 0);
    int64_t sent_ns = int64_max(first_ns - v[DELAY], 0);
    bool uploads = strcmp(o->op, "PUT") == 0;
    const struct record row = {.start_ns = o->start_ns + v[OFFSET],
                               .end_ns = v[TOTAL],
                               .first_byte_ns = uploads ? RECORD_NO_TIME : first_ns,
                               .last_byte_ns = uploads ? sent_ns : RECORD_NO_TIME,
                               .op = slice_of(o->op),
                               .endpoint = slice_of(o->host)};
    return gather_add(m, &row, v[STATUS], slice_of(""), slice_of(""), e);
}
