#include "analyze/import/import_internal.h"

#include "analyze/stream/reorder.h"

#include <endian.h>
#include <inttypes.h>

#define BATCH_BYTES   ((size_t)1 << 20)
#define PROGRESS_ROWS 16384

/* Sums of a start and two durations fit into 63 bits. */
#define MAX_START_NS    (INT64_C(1) << 62)
#define MAX_DURATION_NS (INT64_C(1) << 60)

/* A row that waits to be sorted, followed by the bytes of its texts and RECORD_PADDING. Rows with
 * the same start are sorted by the bytes from the second tab on (reorder.h), so by their number. */
struct stored {
    char tabs[8];
    uint64_t number;   /* big-endian */
    struct record row; /* its texts are those behind it */
};

#define N_TEXTS 5
static struct slice *text_of(struct record *row, size_t i)
{
    struct slice *const texts[N_TEXTS] = {&row->op, &row->client, &row->endpoint, &row->file,
                                          &row->error};
    return texts[i];
}

bool gather_end(struct import *m, struct err *e)
{
    struct reorder_batch *batch = m->batch;

    m->batch = NULL;
    if (batch == NULL)
        return true;
    reorder_batch_sort(batch);
    return reorder_add(m->rows, batch, e);
}

/* Adds a row to the batch. */
static bool store(struct import *m, const struct record *row, struct err *e)
{
    struct stored s = {.tabs = "\t\t", .number = htobe64(m->result->n_rows), .row = *row};
    size_t n = sizeof s + RECORD_PADDING;

    for (size_t i = 0; i < N_TEXTS; i++)
        n += text_of(&s.row, i)->n;
    if (m->batch == NULL && (m->batch = reorder_batch_new(0, e)) == NULL)
        return false;
    char *at = reorder_batch_room(m->batch, n, e);
    if (at == NULL)
        return false;
    at = mempcpy(at, &s, sizeof s);
    for (size_t i = 0; i < N_TEXTS; i++)
        if (text_of(&s.row, i)->n > 0)
            at = mempcpy(at, text_of(&s.row, i)->p, text_of(&s.row, i)->n);
    memset(at, 0, RECORD_PADDING);
    reorder_batch_take(m->batch, row->start_ns, at + RECORD_PADDING);
    return m->batch->n_text < BATCH_BYTES || gather_end(m, e);
}

bool gather_add(struct import *m, const struct record *told, int64_t status, struct slice why,
                struct err *e)
{
    struct record row = *told;
    char error[128];

    if (row.start_ns > MAX_START_NS || row.end_ns > MAX_DURATION_NS)
        return lines_bad(&m->lines, e, "a time after 2116, or a request of more than 36 years");
    if (row.op.n == 0)
        return lines_bad(&m->lines, e, "a request without an operation");
    if (status >= 400) {
        int n = snprintf(error, sizeof error, "HTTP %" PRId64 "%s%.*s", status,
                         why.n > 0 ? " " : "", (int)(why.n < 80 ? why.n : 80), why.p);
        row.error = (struct slice){error, (size_t)n};
        row.bytes = 0;
    }
    if (!store(m, &row, e))
        return false;
    if (m->result->n_rows++ % PROGRESS_ROWS == 0 && m->options->progress != NULL)
        progress_update(m->options->progress, m->lines.n_read, m->lines.n_total);
    return true;
}

bool gather_lines(struct import *m, bool (*read_row)(struct import *m, struct err *e),
                  struct err *e)
{
    bool more = true, ok = true;

    while (ok && (ok = lines_next(&m->lines, &more, e)) && more)
        ok = read_row(m, e);
    return ok;
}

bool gather_next(struct import *m, struct record *row, bool *more, struct err *e)
{
    struct reorder_row waiting;
    struct stored s;

    if (!reorder_next(m->rows, INT64_MAX, true, &waiting, more, e))
        return false;
    if (!*more)
        return true;
    memcpy(&s, waiting.text, sizeof s);
    *row = s.row;
    const char *text = waiting.text + sizeof s;
    for (size_t i = 0; i < N_TEXTS; i++) {
        text_of(row, i)->p = text;
        text += text_of(row, i)->n;
    }
    return true;
}

struct slice gather_name(const char *const (*names)[2], size_t n, struct slice name,
                         struct slice other)
{
    for (size_t i = 0; i < n; i++)
        if (slice_is(name, names[i][0]))
            return slice_of(names[i][1]);
    return other;
}
