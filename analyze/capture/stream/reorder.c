/* Keeps a heap of sorted runs, ordered by their next row. A run is a batch in memory or a part of
 * the temporary file. */
#include "analyze/capture/stream/reorder.h"

#include "analyze/base/tempfile.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES     (32u << 10)
#define WRITE_BYTES    (1u << 20)
#define PREFETCH_BYTES 512

/* The header of each row in the temporary file. */
struct spilled {
    int64_t start_ns;
    uint32_t n, input;
};

struct run {
    struct reorder_row row;      /* the next one */
    struct reorder_batch *batch; /* NULL: in the file */
    size_t next;                 /* index of the batch's row after `row` */
    uint64_t at, end;            /* the part of the file that is not in the buffer yet */
    char *buffer;
    size_t n_buffer, cap_buffer, used;
};

struct heap {
    struct run **v;
    size_t n, cap;
};

struct reorder {
    size_t max_bytes, n_bytes; /* of batches in the heap */
    void (*give_back)(void *ctx, struct reorder_batch *b);
    void *ctx;
    struct heap heap;
    bool taken; /* the first row of the heap was handed out */
    int fd;     /* the temporary file; -1: none yet */
    uint64_t n_file;
};

/* ---- Order ---- */

const char *reorder_text_behind_thread(const char *text, uint32_t n)
{
    const char *tab = memchr(text + 1, '\t', n - 1);

    return tab ? tab : text;
}

static __attribute__((noinline)) int compare_texts(const char *a, uint32_t n_a, const char *b,
                                                   uint32_t n_b)
{
    const char *p = reorder_text_behind_thread(a, n_a), *q = reorder_text_behind_thread(b, n_b);
    size_t n = (size_t)(a + n_a - p), m = (size_t)(b + n_b - q);
    int c = memcmp(p, q, n < m ? n : m);

    if (c == 0 && n == m) {
        n = (size_t)(p - a);
        m = (size_t)(q - b);
        if (n == m) /* numbers with the same number of digits */
            return memcmp(a, b, n);
    }
    return c ? c : n < m ? -1 : n > m;
}

static inline int compare(const struct reorder_row *a, const struct reorder_row *b)
{
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return compare_texts(a->text, a->n, b->text, b->n);
}

/* ---- Batches ---- */

struct reorder_batch *reorder_batch_new(uint32_t input, struct err *e)
{
    struct reorder_batch *b;

    if (mem_cleared(&b, 1, e))
        b->input = input;
    return b;
}

void reorder_batch_free(struct reorder_batch *b)
{
    if (!b)
        return;
    free(b->rows);
    free(b->text);
    free(b);
}

char *reorder_batch_room(struct reorder_batch *b, size_t n, struct err *e)
{
    if (!mem_fit(&b->rows, &b->cap_rows, b->n_rows + 1, e))
        return NULL;
    if (b->n_text + n > b->cap_text) {
        size_t cap = (b->n_text + n) + (b->n_text + n) / 2 + (32u << 10);
        if (!mem_room(&b->text, cap, e))
            return NULL;
        b->cap_text = cap;
    }
    return b->text + b->n_text;
}

void reorder_batch_take(struct reorder_batch *b, int64_t start_ns, const char *end)
{
    size_t n_text = (size_t)(end - b->text);

    b->rows[b->n_rows++] =
        (struct reorder_batch_row){start_ns, (uint32_t)b->n_text, (uint32_t)(n_text - b->n_text)};
    b->n_text = n_text;
}

static int compare_in_batch(const void *a, const void *b, void *text)
{
    const struct reorder_batch_row *p = a, *q = b;

    if (p->start_ns != q->start_ns)
        return p->start_ns < q->start_ns ? -1 : 1;
    return compare_texts((char *)text + p->at, p->n, (char *)text + q->at, q->n);
}

void reorder_batch_sort(struct reorder_batch *b)
{
    for (size_t i = 1; i < b->n_rows; i++)
        if (compare_in_batch(&b->rows[i - 1], &b->rows[i], b->text) > 0) {
            qsort_r(b->rows, b->n_rows, sizeof *b->rows, compare_in_batch, b->text);
            return;
        }
}

static size_t batch_bytes(const struct reorder_batch *b)
{
    return sizeof *b + b->cap_rows * sizeof *b->rows + b->cap_text;
}

/* ---- Heap ---- */

static inline void sift_down(struct heap *h, size_t i)
{
    struct run *run = h->v[i];

    for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && compare(&h->v[child + 1]->row, &h->v[child]->row) < 0)
            child++;
        if (compare(&run->row, &h->v[child]->row) <= 0)
            break;
        h->v[i] = h->v[child];
    }
    h->v[i] = run;
}

static bool push(struct heap *h, struct run *run, struct err *e)
{
    if (!mem_fit(&h->v, &h->cap, h->n + 1, e))
        return false;
    size_t i = h->n++;
    for (; i > 0 && compare(&run->row, &h->v[(i - 1) / 2]->row) < 0; i = (i - 1) / 2)
        h->v[i] = h->v[(i - 1) / 2];
    h->v[i] = run;
    return true;
}

static void pop(struct heap *h)
{
    h->v[0] = h->v[--h->n];
    if (h->n)
        sift_down(h, 0);
}

/* ---- The temporary file ---- */

static bool append(struct reorder *r, const void *p, size_t n, struct err *e)
{
    if (!tempfile_write(r->fd, p, n, r->n_file, e))
        return false;
    r->n_file += n;
    return true;
}

/* Makes sure that the run's buffer has n bytes from `used` on. */
static bool fill(const struct reorder *r, struct run *run, size_t n, struct err *e)
{
    size_t left = run->n_buffer - run->used;

    if (left >= n)
        return true;
    memmove(run->buffer, run->buffer + run->used, left);
    run->used = 0;
    run->n_buffer = left;
    if (!mem_fit(&run->buffer, &run->cap_buffer, n, e))
        return false;
    while (run->n_buffer < n) {
        size_t want = run->cap_buffer - run->n_buffer;
        want = want > run->end - run->at ? (size_t)(run->end - run->at) : want;
        size_t got = tempfile_read(r->fd, run->buffer + run->n_buffer, want, run->at, e);
        if (got == 0)
            return false;
        run->n_buffer += got;
        run->at += got;
    }
    return true;
}

/* ---- Runs ---- */

static void run_free(struct reorder *r, struct run *run)
{
    if (run->batch) {
        r->n_bytes -= batch_bytes(run->batch);
        if (r->give_back)
            r->give_back(r->ctx, run->batch);
        else
            reorder_batch_free(run->batch);
    }
    free(run->buffer);
    free(run);
}

/* Prefetches a row. Rows of other runs usually come first, which leaves time for it. */
static inline void prefetch(const char *text, uint32_t n)
{
    for (uint32_t i = 0; i < n && i < PREFETCH_BYTES; i += 64)
        __builtin_prefetch(text + i);
}

/* Goes to the run's next row. *found false: there are no more. */
static inline bool run_next(const struct reorder *r, struct run *run, bool *found, struct err *e)
{
    struct reorder_batch *b = run->batch;
    struct spilled head;

    if (b) {
        *found = run->next < b->n_rows;
        if (*found) {
            const struct reorder_batch_row *row = &b->rows[run->next++];
            run->row = (struct reorder_row){row->start_ns, b->text + row->at, row->n, b->input};
            prefetch(run->row.text, row->n);
        }
        return true;
    }
    *found = run->used < run->n_buffer || run->at < run->end;
    if (!*found)
        return true;
    if (!fill(r, run, sizeof head, e))
        return false;
    memcpy(&head, run->buffer + run->used, sizeof head);
    if (!fill(r, run, sizeof head + head.n, e))
        return false;
    run->row = (struct reorder_row){head.start_ns, run->buffer + run->used + sizeof head, head.n,
                                    head.input};
    run->used += sizeof head + head.n;
    return true;
}

/* Goes to the next row of the heap's first run; drops the run at its end. */
static bool advance(struct reorder *r, struct heap *h, struct err *e)
{
    struct run *run = h->v[0];
    bool found;

    if (!run_next(r, run, &found, e))
        return false;
    if (found) {
        sift_down(h, 0);
    } else {
        pop(h);
        run_free(r, run);
    }
    return true;
}

/* Goes past the row that reorder_next handed out, if any. */
static bool settle(struct reorder *r, struct err *e)
{
    bool taken = r->taken;

    r->taken = false;
    return !taken || advance(r, &r->heap, e);
}

/* ---- Spilling ---- */

static void heap_fini(struct reorder *r, struct heap *h)
{
    for (size_t i = 0; i < h->n; i++)
        run_free(r, h->v[i]);
    free(h->v);
    *h = (struct heap){0};
}

/* Writes all rows of the heap in order. */
static bool write_rows(struct reorder *r, struct heap *h, struct err *e)
{
    char *buffer;
    size_t n = 0;
    bool ok = mem_new(&buffer, WRITE_BYTES, e);

    while (ok && h->n) {
        const struct reorder_row *row = &h->v[0]->row;
        const struct spilled head = {row->start_ns, row->n, row->input};

        if (n + sizeof head + row->n > WRITE_BYTES) {
            ok = append(r, buffer, n, e);
            n = 0;
        }
        if (ok && sizeof head + row->n > WRITE_BYTES) {
            ok = append(r, (const char *)&head, sizeof head, e) && append(r, row->text, row->n, e);
        } else if (ok) {
            memcpy(buffer + n, &head, sizeof head);
            memcpy(buffer + n + sizeof head, row->text, row->n);
            n += sizeof head + row->n;
        }
        ok = ok && advance(r, h, e);
    }
    ok = ok && append(r, buffer, n, e);
    free(buffer);
    return ok;
}

/* Adds the part of the file from `begin` on as a run. */
static bool add_file_run(struct reorder *r, uint64_t begin, struct err *e)
{
    struct run *run;
    bool found;

    if (!mem_cleared(&run, 1, e))
        return false;
    run->at = begin;
    run->end = r->n_file;
    run->cap_buffer = READ_BYTES;
    if (mem_new(&run->buffer, READ_BYTES, e) && run_next(r, run, &found, e) &&
        push(&r->heap, run, e))
        return true;
    run_free(r, run);
    return false;
}

/* Moves all rows in memory to the temporary file. */
static bool spill(struct reorder *r, struct err *e)
{
    struct heap in_memory = {0}, all = r->heap;
    bool ok = r->fd >= 0 || (r->fd = tempfile_open(e)) >= 0;
    uint64_t begin = r->n_file;

    r->heap = (struct heap){0};
    for (size_t i = 0; i < all.n; i++)
        if (!push(all.v[i]->batch ? &in_memory : &r->heap, all.v[i], e)) {
            run_free(r, all.v[i]);
            ok = false;
        }
    free(all.v);
    ok = ok && write_rows(r, &in_memory, e) && add_file_run(r, begin, e);
    heap_fini(r, &in_memory);
    return ok;
}

/* ---- The whole ---- */

struct reorder *reorder_new(size_t max_bytes, void (*give_back)(void *ctx, struct reorder_batch *b),
                            void *ctx, struct err *e)
{
    struct reorder *r;

    if (!mem_cleared(&r, 1, e))
        return NULL;
    r->max_bytes = max_bytes;
    r->give_back = give_back;
    r->ctx = ctx;
    r->fd = -1;
    return r;
}

void reorder_free(struct reorder *r)
{
    if (!r)
        return;
    heap_fini(r, &r->heap);
    if (r->fd >= 0)
        close(r->fd);
    free(r);
}

bool reorder_add(struct reorder *r, struct reorder_batch *b, struct err *e)
{
    struct run *run;
    bool found;

    if (!mem_cleared(&run, 1, e)) {
        reorder_batch_free(b);
        return false;
    }
    run->batch = b;
    r->n_bytes += batch_bytes(b);
    if (!settle(r, e) || !run_next(r, run, &found, e) || !push(&r->heap, run, e)) {
        run_free(r, run);
        return false;
    }
    return r->n_bytes <= r->max_bytes || spill(r, e);
}

bool reorder_next(struct reorder *r, int64_t bound_ns, bool all, struct reorder_row *row,
                  bool *found, struct err *e)
{
    if (!settle(r, e))
        return false;
    *found = r->heap.n && (all || r->heap.v[0]->row.start_ns < bound_ns);
    if (*found) {
        *row = r->heap.v[0]->row;
        r->taken = true;
    }
    return true;
}

uint64_t reorder_n_spilled_bytes(const struct reorder *r)
{
    return r->n_file;
}
