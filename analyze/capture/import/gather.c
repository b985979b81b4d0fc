#include "analyze/capture/import/import_internal.h"

#include "analyze/capture/stream/reorder.h"
#include "libcommon/mem.h"

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
    uint64_t number; /* big-endian */
    struct slice id;
    struct record row; /* its texts are those behind it */
};

#define N_TEXTS 6
static struct slice *text_of(struct stored *s, size_t i)
{
    struct slice *const texts[N_TEXTS] = {&s->row.op,   &s->row.client, &s->row.endpoint,
                                          &s->row.file, &s->row.error,  &s->id};
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
static bool store(struct import *m, const struct record *row, struct slice id, struct err *e)
{
    struct stored s = {.tabs = "\t\t", .number = htobe64(m->result->n_rows), .id = id, .row = *row};
    size_t n = sizeof s + RECORD_PADDING;

    for (size_t i = 0; i < N_TEXTS; i++)
        n += text_of(&s, i)->n;
    if (m->batch == NULL && (m->batch = reorder_batch_new(0, e)) == NULL)
        return false;
    char *at = reorder_batch_room(m->batch, n, e);
    if (at == NULL)
        return false;
    at = mempcpy(at, &s, sizeof s);
    for (size_t i = 0; i < N_TEXTS; i++)
        if (text_of(&s, i)->n > 0)
            at = mempcpy(at, text_of(&s, i)->p, text_of(&s, i)->n);
    memset(at, 0, RECORD_PADDING);
    reorder_batch_take(m->batch, row->start_ns, at + RECORD_PADDING);
    return m->batch->n_text < BATCH_BYTES || gather_end(m, e);
}

bool gather_add(struct import *m, const struct record *told, int64_t status, struct slice why,
                struct slice id, struct err *e)
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
    if (!store(m, &row, id, e))
        return false;
    if (m->result->n_rows++ % PROGRESS_ROWS == 0 && m->options->progress != NULL)
        progress_update(m->options->progress, m->lines.n_read, m->lines.n_total);
    return true;
}

bool gather_leave_out(struct import *m, enum import_left why)
{
    m->result->n_left_out_as[why]++;
    return true;
}

/* Whether a request with these texts and an id was among those that start at the same time. Only
 * these are remembered. */
static bool is_twice(struct import *m, const struct stored *s, struct slice texts, bool *twice,
                     struct err *e)
{
    *twice = false;
    if (s->id.n == 0)
        return true;
    if (s->row.start_ns != m->start_ns)
        intern_fini(&m->same_start);
    m->start_ns = s->row.start_ns;
    size_t n = m->same_start.n;
    uint32_t known = intern_add(&m->same_start, texts);
    *twice = known < n;
    return known != INTERN_NONE || mem_none(e);
}

bool gather_next(struct import *m, struct record *row, bool *more, struct err *e)
{
    struct reorder_row waiting;
    struct stored s;
    bool twice = true;

    while (twice) {
        if (!reorder_next(m->rows, INT64_MAX, true, &waiting, more, e))
            return false;
        if (!*more)
            return true;
        memcpy(&s, waiting.text, sizeof s);
        const char *texts = waiting.text + sizeof s, *text = texts;
        for (size_t i = 0; i < N_TEXTS; i++) {
            text_of(&s, i)->p = text;
            text += text_of(&s, i)->n;
        }
        if (!is_twice(m, &s, (struct slice){texts, (size_t)(text - texts)}, &twice, e))
            return false;
        if (twice) {
            gather_leave_out(m, IMPORT_TWICE);
            m->result->n_rows--;
        }
    }
    *row = s.row;
    return true;
}
