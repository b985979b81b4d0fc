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
#define N_TEXTS 5
struct stored {
    char tabs[2];
    unsigned char number[8]; /* big-endian */
    uint32_t n_text[N_TEXTS];
    int64_t start_ns, duration_ns, first_byte_ns, last_byte_ns, bytes;
};

bool gather_init(struct gather *g, const struct import_options *options, struct err *e)
{
    *g = (struct gather){.options = options};
    g->rows = reorder_new(options->max_bytes > 0 ? options->max_bytes : MAX_BYTES, NULL, NULL, e);
    return g->rows != NULL;
}

void gather_fini(struct gather *g)
{
    if (g->batch != NULL)
        reorder_batch_free(g->batch);
    if (g->rows != NULL)
        reorder_free(g->rows);
    *g = (struct gather){0};
}

bool gather_end(struct gather *g, struct err *e)
{
    struct reorder_batch *batch = g->batch;

    g->batch = NULL;
    if (batch == NULL)
        return true;
    reorder_batch_sort(batch);
    return reorder_add(g->rows, batch, e);
}

bool gather_add(struct gather *g, const struct gather_row *row, struct err *e)
{
    const struct slice texts[N_TEXTS] = {row->op, row->client, row->host, row->key, row->error};
    struct stored s = {.tabs = "\t\t",
                       .start_ns = row->start_ns,
                       .duration_ns = row->duration_ns,
                       .first_byte_ns = row->first_byte_ns,
                       .last_byte_ns = row->last_byte_ns,
                       .bytes = row->bytes};
    size_t n = sizeof s + RECORD_PADDING;

    if (row->start_ns > MAX_START_NS || row->duration_ns > MAX_DURATION_NS)
        return lines_bad(g->lines, e, "a time after 2116, or a request of more than 36 years");
    for (size_t i = 0; i < sizeof s.number; i++)
        s.number[i] = (unsigned char)(g->result.n_rows >> (8 * (sizeof s.number - 1 - i)));
    for (size_t i = 0; i < N_TEXTS; i++) {
        s.n_text[i] = (uint32_t)texts[i].n;
        n += texts[i].n;
    }
    if (g->batch == NULL && (g->batch = reorder_batch_new(0, e)) == NULL)
        return false;
    char *at = reorder_batch_room(g->batch, n, e);
    if (at == NULL)
        return false;
    at = mempcpy(at, &s, sizeof s);
    for (size_t i = 0; i < N_TEXTS; i++)
        if (texts[i].n > 0)
            at = mempcpy(at, texts[i].p, texts[i].n);
    memset(at, 0, RECORD_PADDING);
    reorder_batch_take(g->batch, row->start_ns, at + RECORD_PADDING);
    if (g->result.n_rows++ % PROGRESS_ROWS == 0 && g->options->progress != NULL)
        progress_update(g->options->progress, g->lines->n_read, g->lines->n_total);
    return g->batch->n_text < BATCH_BYTES || gather_end(g, e);
}

bool gather_lines(struct gather *g, struct lines *l,
                  bool (*read_row)(struct gather *g, const struct lines *l, struct err *e),
                  struct err *e)
{
    bool more = true, ok = true;

    while (ok && (ok = lines_next(l, &more, e)) && more)
        ok = read_row(g, l, e);
    return ok;
}

bool gather_next(struct gather *g, struct gather_row *row, bool *more, struct err *e)
{
    struct slice *const texts[N_TEXTS] = {&row->op, &row->client, &row->host, &row->key,
                                          &row->error};
    struct reorder_row waiting;
    struct stored s;

    if (!reorder_next(g->rows, INT64_MAX, true, &waiting, more, e))
        return false;
    if (!*more)
        return true;
    memcpy(&s, waiting.text, sizeof s);
    *row = (struct gather_row){.start_ns = s.start_ns,
                               .duration_ns = s.duration_ns,
                               .first_byte_ns = s.first_byte_ns,
                               .last_byte_ns = s.last_byte_ns,
                               .bytes = s.bytes};
    const char *text = waiting.text + sizeof s;
    for (size_t i = 0; i < N_TEXTS; i++) {
        *texts[i] = (struct slice){text, s.n_text[i]};
        text += s.n_text[i];
    }
    return true;
}
