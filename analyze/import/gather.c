#include "analyze/import/gather.h"

#include <string.h>

#define MAX_BYTES     ((size_t)64 << 20) /* of rows in memory */
#define BATCH_BYTES   ((size_t)1 << 20)
#define PROGRESS_ROWS 16384

/* Sums of a start and two durations fit into 63 bits. */
#define MAX_START_NS    (INT64_C(1) << 62)
#define MAX_DURATION_NS (INT64_C(1) << 60)

/* A row as it waits to be sorted; behind it follow the bytes of its texts, and RECORD_PADDING. Rows
 * of one start are sorted by the bytes behind `tabs`, so by their number. */
struct stored {
    char tabs[2];
    unsigned char number[8]; /* big-endian */
    struct record row;       /* its texts are those behind it */
};

#define N_TEXTS 5
static struct slice *text_of(struct record *row, size_t i)
{
    struct slice *const texts[N_TEXTS] = {&row->op, &row->client, &row->endpoint, &row->file,
                                          &row->error};
    return texts[i];
}

bool gather_init(struct import *m, struct err *e)
{
    size_t max_bytes = m->options.max_bytes > 0 ? m->options.max_bytes : MAX_BYTES;

    m->rows = reorder_new(max_bytes, NULL, NULL, e);
    return m->rows != NULL;
}

void gather_fini(struct import *m)
{
    if (m->batch != NULL)
        reorder_batch_free(m->batch);
    if (m->rows != NULL)
        reorder_free(m->rows);
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

bool gather_add(struct import *m, const struct record *row, struct err *e)
{
    struct stored s = {.tabs = "\t\t", .row = *row};
    size_t n = sizeof s + RECORD_PADDING;

    if (row->start_ns > MAX_START_NS || row->end_ns > MAX_DURATION_NS)
        return lines_bad(m->lines, e, "a time after 2116, or a request of more than 36 years");
    for (size_t i = 0; i < sizeof s.number; i++)
        s.number[i] = (unsigned char)(m->result.n_rows >> (8 * (sizeof s.number - 1 - i)));
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
    if (m->result.n_rows++ % PROGRESS_ROWS == 0 && m->options.progress != NULL)
        progress_update(m->options.progress, m->lines->n_read, m->lines->n_total);
    return m->batch->n_text < BATCH_BYTES || gather_end(m, e);
}

bool gather_lines(struct import *m, struct lines *l,
                  bool (*read_row)(struct import *m, const struct lines *l, struct err *e),
                  struct err *e)
{
    bool more = true, ok = true;

    while (ok && (ok = lines_next(l, &more, e)) && more)
        ok = read_row(m, l, e);
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
