/* Reads what `ab -g` writes (Apache HTTP Server, support/ab.c): a line for each request, sorted by
 * `ttime`; whole ms, and starts in whole seconds. */
#include "analyze/capture/import/import_internal.h"
#include "libcommon/int64.h"
#include "libcommon/units.h"

enum { DATE, SECOND, CONNECT, PROCESSING, TOTAL, WAIT, N_FIELDS };

bool ab_read(struct import *m, struct err *e)
{
    const struct import_options *o = m->options;
    struct lines *l = &m->lines;
    struct slice fields[N_FIELDS];
    int64_t v[N_FIELDS];

    if (!lines_split(l, '\t', fields, N_FIELDS))
        return lines_bad(l, e, "expected 6 fields: is the file cut?");
    for (size_t i = SECOND; i < N_FIELDS; i++)
        if (!slice_decimal(fields[i], 0, &v[i]) || v[i] > INT64_C(1) << 33)
            return lines_bad(l, e, "field %zu is no number of %s", i + 1,
                             i == SECOND ? "seconds since 1970" : "ms");
    if (v[SECOND] > INT64_C(1) << 32)
        return lines_bad(l, e, "a start after 2106");
    int64_t first_ms = v[CONNECT] + v[WAIT];
    bool uploads = strcmp(o->op, "PUT") == 0;
    const struct record row = {
        .start_ns = v[SECOND] * NS_PER_S,
        .end_ns = v[TOTAL] * NS_PER_MS,
        .first_byte_ns = uploads ? RECORD_NO_TIME : int64_min(first_ms, v[TOTAL]) * NS_PER_MS,
        .last_byte_ns = uploads ? int64_max(v[TOTAL] - v[WAIT], 0) * NS_PER_MS : RECORD_NO_TIME,
        .op = slice_of(o->op),
        .endpoint = slice_of(o->host)};
    return gather_add(m, &row, 0, slice_of(""), slice_of(""), e);
}
