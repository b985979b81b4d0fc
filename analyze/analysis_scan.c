/* The one pass over a table that all else starts from. */
#include "analysis_internal.h"

#include <stdlib.h>

void scan_part_merge(struct scan_part *to, const struct scan_part *from)
{
    to->n += from->n;
    to->n_errors += from->n_errors;
    /* May wrap around where the sum over all requests is refused later. */
    to->n_bytes = (int64_t)((uint64_t)to->n_bytes + (uint64_t)from->n_bytes);
    to->n_objects = (int64_t)((uint64_t)to->n_objects + (uint64_t)from->n_objects);
    to->last_end_ns = from->last_end_ns > to->last_end_ns ? from->last_end_ns : to->last_end_ns;
    segment_starts_merge(&to->ok, &from->ok);
    segment_starts_merge(&to->failed, &from->failed);
}

static bool check_sum(bool over, const char *what, const struct dataset *d, const struct table *t,
                      struct err *e)
{
    return !over || err_set(e, "%s: sum of %s exceeds 2^63-1", d->ops.v[t->op], what);
}

static bool scan_rows(struct scan *s, const struct dataset *d, struct err *e)
{
    const struct table *t = s->t;
    int64_t earliest_ns = INT64_MAX, sum_bytes = 0, sum_objects = 0;
    bool bytes_over = false, objects_over = false;

    for (size_t b = 0; b < s->n_blocks; b++) {
        struct scan_block block = {INT64_MAX, INT64_MIN};
        for (size_t i = b * SCAN_BLOCK, end = scan_block_end(s, b); i < end; i++) {
            int64_t start_ns = t->start[i], end_ns = table_end(t, i);
            struct scan_part *p = &s->parts[t->place[i]];
            block.min_start_ns = start_ns < block.min_start_ns ? start_ns : block.min_start_ns;
            block.max_end_ns = end_ns > block.max_end_ns ? end_ns : block.max_end_ns;
            if (start_ns <= earliest_ns && (i == 0 || start_ns < earliest_ns ||
                                            dataset_compare(d, t, i, t, s->earliest) < 0)) {
                earliest_ns = start_ns;
                s->earliest = i;
            }
            segment_thread_add(&s->threads[t->thread[i]], start_ns, end_ns);
            p->n++;
            p->last_end_ns = end_ns > p->last_end_ns ? end_ns : p->last_end_ns;
            if (t->error[i] != 0) {
                p->n_errors++;
                segment_starts_add(&p->failed, start_ns);
                continue;
            }
            int64_t bytes = packed_get(&t->bytes, i), n_objects = packed_get(&t->objects, i);
            s->min_bytes = bytes < s->min_bytes ? bytes : s->min_bytes;
            s->max_bytes = bytes > s->max_bytes ? bytes : s->max_bytes;
            bytes_over |= __builtin_add_overflow(sum_bytes, bytes, &sum_bytes);
            objects_over |= __builtin_add_overflow(sum_objects, n_objects, &sum_objects);
            p->n_bytes = (int64_t)((uint64_t)p->n_bytes + (uint64_t)bytes);
            p->n_objects = (int64_t)((uint64_t)p->n_objects + (uint64_t)n_objects);
            segment_starts_add(&p->ok, start_ns);
        }
        s->blocks[b] = block;
    }
    return check_sum(bytes_over, "bytes", d, t, e) && check_sum(objects_over, "n_objects", d, t, e);
}

bool scan_init(struct scan *s, const struct dataset *d, const struct table *t, struct err *e)
{
    size_t n_blocks = (t->n + SCAN_BLOCK - 1) / SCAN_BLOCK;
    *s = (struct scan){
        .t = t,
        .parts = malloc((d->n_places + 1) * sizeof *s->parts),
        .threads = malloc((d->n_threads + 1) * sizeof *s->threads),
        .blocks = malloc((n_blocks + 1) * sizeof *s->blocks),
        .n_blocks = n_blocks,
        .all = SCAN_PART_NONE,
        .min_bytes = INT64_MAX,
        .max_bytes = INT64_MIN,
    };
    if (s->parts == NULL || s->threads == NULL || s->blocks == NULL)
        return err_set(e, "out of memory");
    for (size_t i = 0; i < d->n_places; i++)
        s->parts[i] = SCAN_PART_NONE;
    for (size_t i = 0; i < d->n_threads; i++)
        s->threads[i] = SEGMENT_THREAD_NONE;
    if (!scan_rows(s, d, e))
        return false;
    for (size_t i = 0; i < d->n_places; i++)
        if (s->parts[i].n > 0)
            scan_part_merge(&s->all, &s->parts[i]);
    return true;
}

void scan_fini(struct scan *s)
{
    free(s->parts);
    free(s->threads);
    free(s->blocks);
    *s = (struct scan){0};
}
