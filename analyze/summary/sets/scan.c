/* The first step of an analysis: passes once over a table, then looks at the rows near its edges.
 * Counts and sums need every row. First and last times do not: the blocks show where rows may be
 * earlier, or later, than those found so far. */
#include "analyze/summary/sets/scan.h"

#include "analyze/data/table.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stdlib.h>

void scan_part_merge(struct scan_part *to, const struct scan_part *from)
{
    to->n += from->n;
    to->n_errors += from->n_errors;
    /* The sum may wrap around: scan_rows refuses the whole sum later. */
    to->n_bytes = (int64_t)((uint64_t)to->n_bytes + (uint64_t)from->n_bytes);
    to->n_objects = (int64_t)((uint64_t)to->n_objects + (uint64_t)from->n_objects);
    to->last_end_ns = int64_max(from->last_end_ns, to->last_end_ns);
    segment_starts_merge(&to->ok, &from->ok);
    segment_starts_merge(&to->failed, &from->failed);
}

/* ---- Every row ---- */

/* Copies the columns to local variables, which no store below can alias. Returns false if some
 * thread has a row that starts no later than the one before it. */
static bool scan_threads(struct scan *s, size_t b)
{
    const struct table t = *s->t;
    struct scan_thread *threads = s->threads;
    bool in_order = true;

    for (size_t i = b * BLOCKS_ROWS, end = blocks_end(&s->blocks, b); i < end; i++) {
        struct scan_thread *thread = &threads[table_thread(&t, i)];
        thread->n++;
        thread->busy_ns += (uint64_t)packed_get(&t.dur, i);
        in_order &= t.start[i] > thread->latest_start_ns;
        thread->latest_start_ns = t.start[i];
    }
    return in_order;
}

/* Sums over all successful requests so far. */
struct whole_sums {
    __int128 bytes, n_objects;
};

static void add_row_to_place(struct scan_part *p, const struct table *t, size_t i,
                             struct whole_sums *sums)
{
    p->n++;
    if (table_failed(t, i)) {
        p->n_errors++;
        return;
    }
    int64_t bytes = packed_get(&t->bytes, i), n_objects = packed_get(&t->objects, i);
    sums->bytes += bytes;
    sums->n_objects += n_objects;
    p->n_bytes = (int64_t)((uint64_t)p->n_bytes + (uint64_t)bytes);
    p->n_objects = (int64_t)((uint64_t)p->n_objects + (uint64_t)n_objects);
}

static void add_block_to_place(struct scan_part *p, const struct block_sum *x,
                               struct whole_sums *sums)
{
    p->n += x->n;
    sums->bytes += x->bytes;
    sums->n_objects += x->n_objects;
    p->n_bytes = (int64_t)((uint64_t)p->n_bytes + (uint64_t)x->bytes);
    p->n_objects = (int64_t)((uint64_t)p->n_objects + (uint64_t)x->n_objects);
}

static void scan_places(struct scan *s, size_t b, struct whole_sums *sums)
{
    const struct block *block = &s->blocks.v[b];
    const struct block_sum *x = blocks_sums(&s->blocks, b);

    if (s->blocks.n_sums == s->n_places && !block->failed && !block->wide) {
        for (size_t p = 0; p < s->n_places; p++)
            add_block_to_place(&s->parts[p], &x[p], sums);
        return;
    }
    const struct table t = *s->t;
    for (size_t i = b * BLOCKS_ROWS, end = blocks_end(&s->blocks, b); i < end; i++)
        add_row_to_place(&s->parts[table_place(&t, i)], &t, i, sums);
}

static void scan_sizes(struct scan *s, size_t b)
{
    const struct table t = *s->t;
    size_t from = b * BLOCKS_ROWS, end = blocks_end(&s->blocks, b);

    if (t.bytes.v == NULL && !s->blocks.v[b].failed) /* all rows have one size: one row is enough */
        end = from + 1;
    int64_t min_bytes = s->min_bytes, max_bytes = s->max_bytes;
    for (size_t i = from; i < end; i++) {
        if (table_failed(&t, i))
            continue;
        min_bytes = int64_min(min_bytes, packed_get(&t.bytes, i));
        max_bytes = int64_max(max_bytes, packed_get(&t.bytes, i));
    }
    s->min_bytes = min_bytes;
    s->max_bytes = max_bytes;
}

static bool check_sum(__int128 sum, const char *what, const struct dataset *d,
                      const struct table *t, struct err *e)
{
    return sum <= INT64_MAX || err_set(e, "%s: sum of %s exceeds 2^63-1", d->ops.v[t->op], what);
}

static bool scan_rows(struct scan *s, const struct dataset *d, struct err *e)
{
    struct whole_sums sums = {0};
    bool in_order = true;

    for (size_t i = 0; i < s->n_threads; i++)
        s->threads[i].latest_start_ns = INT64_MIN;
    for (size_t b = 0; b < s->blocks.n; b++) {
        blocks_look(&s->blocks, b);
        in_order &= scan_threads(s, b);
        scan_places(s, b, &sums);
        scan_sizes(s, b);
    }
    /* A thread runs one request at a time: if its starts grow, none of its rows are equal. */
    return (in_order || identical_count(s, e)) && identical_count_repeated(s, d, e) &&
           check_sum(sums.bytes, "bytes", d, s->t, e) &&
           check_sum(sums.n_objects, "n_objects", d, s->t, e);
}

/* ---- Edges ---- */

static void look_at_block(struct scan *s, const struct dataset *d, size_t b)
{
    const struct table *t = s->t;
    for (size_t i = b * BLOCKS_ROWS, end = blocks_end(&s->blocks, b); i < end; i++) {
        int64_t start_ns = t->start[i], end_ns = table_end(t, i);
        struct scan_part *p = &s->parts[table_place(t, i)];

        segment_starts_add(!table_failed(t, i) ? &p->ok : &p->failed, start_ns);
        p->last_end_ns = int64_max(end_ns, p->last_end_ns);
        struct scan_thread *thread = &s->threads[table_thread(t, i)];
        segment_thread_add(&s->ranges[table_thread(t, i)], start_ns, end_ns);
        thread->first_start_ns = int64_min(start_ns, thread->first_start_ns);
        thread->last_end_ns = int64_max(end_ns, thread->last_end_ns);
        if (start_ns <= t->start[s->earliest] && dataset_compare(d, t, i, t, s->earliest) < 0)
            s->earliest = i;
    }
}

/* Returns the latest start of interest among n requests: the second one, or the only one. */
static int64_t last_wanted(const struct segment_starts *starts, int64_t n)
{
    return n == 0 ? INT64_MIN : n == 1 ? starts->first_ns : starts->second_ns;
}

/* Rows that start after the returned time cannot change any first time. */
static int64_t first_times_limit(const struct scan *s)
{
    int64_t limit_ns = INT64_MIN;
    for (size_t i = 0; i < s->n_places; i++) {
        const struct scan_part *p = &s->parts[i];
        limit_ns = int64_max(limit_ns, last_wanted(&p->ok, p->n - p->n_errors));
        limit_ns = int64_max(limit_ns, last_wanted(&p->failed, p->n_errors));
    }
    for (size_t i = 0; i < s->n_threads; i++)
        if (s->threads[i].n > 0)
            limit_ns = int64_max(limit_ns, s->ranges[i].first_end_ns);
    return limit_ns;
}

/* Rows that end before the returned time cannot change any last time. */
static int64_t last_times_limit(const struct scan *s)
{
    int64_t limit_ns = INT64_MAX;
    for (size_t i = 0; i < s->n_places; i++) {
        const struct scan_part *p = &s->parts[i];
        if (p->n > p->n_errors)
            limit_ns = int64_min(limit_ns, p->ok.last_ns);
        if (p->n_errors > 0)
            limit_ns = int64_min(limit_ns, p->failed.last_ns);
    }
    for (size_t i = 0; i < s->n_threads; i++)
        if (s->threads[i].n > 0)
            limit_ns = int64_min(limit_ns, s->ranges[i].last_start_ns);
    return limit_ns;
}

/* Finds the first and last times of places and threads, from both ends of the table inwards.
 * Computing a limit costs a pass over all places and threads, so it is done only after at least as
 * many rows. */
static void find_edges(struct scan *s, const struct dataset *d)
{
    size_t n_keys = s->n_places + s->n_threads, n_rows = 0;
    int64_t limit_ns = INT64_MAX;

    s->earliest = 0;
    for (size_t b = 0; b < s->blocks.n; b++) {
        if (s->blocks.v[b].min_start_ns > limit_ns)
            continue;
        look_at_block(s, d, b);
        n_rows += BLOCKS_ROWS;
        if (n_rows >= n_keys) {
            n_rows = 0;
            limit_ns = first_times_limit(s);
        }
    }
    limit_ns = INT64_MIN;
    n_rows = n_keys;
    for (size_t b = s->blocks.n; b-- > 0;) {
        if (s->blocks.v[b].max_end_ns < limit_ns)
            continue;
        look_at_block(s, d, b);
        n_rows += BLOCKS_ROWS;
        if (n_rows >= n_keys) {
            n_rows = 0;
            limit_ns = last_times_limit(s);
        }
    }
    s->all = SCAN_PART_NONE;
    for (size_t i = 0; i < s->n_places; i++)
        if (s->parts[i].n > 0)
            scan_part_merge(&s->all, &s->parts[i]);
}

static void forget_edges(struct scan *s)
{
    for (size_t i = 0; i < s->n_places; i++) {
        struct scan_part *p = &s->parts[i];
        p->last_end_ns = INT64_MIN;
        p->ok = p->failed = SEGMENT_STARTS_NONE;
    }
    for (size_t i = 0; i < s->n_threads; i++) {
        s->ranges[i] = SEGMENT_THREAD_NONE;
        s->threads[i].first_start_ns = INT64_MAX;
        s->threads[i].last_end_ns = INT64_MIN;
    }
}

/* ---- From the outside ---- */

bool scan_init(struct scan *s, const struct dataset *d, struct table *t, struct err *e)
{
    size_t n_places = dataset_n_places(d, t), n_threads = dataset_n_threads(d, t);
    *s = (struct scan){
        .t = t,
        .n_places = n_places,
        .n_threads = n_threads,
        .all = SCAN_PART_NONE,
        .min_bytes = INT64_MAX,
        .max_bytes = INT64_MIN,
    };
    if (!mem_cleared(&s->parts, n_places, e) || !mem_new(&s->ranges, n_threads, e) ||
        !mem_cleared(&s->threads, n_threads, e) || !blocks_init(&s->blocks, t, n_places, e) ||
        !scan_rows(s, d, e))
        return false;
    forget_edges(s);
    find_edges(s, d);
    return true;
}

void scan_trim(struct scan *s)
{
    free(s->parts);
    s->parts = NULL;
}

void scan_fini(struct scan *s)
{
    scan_trim(s);
    free(s->ranges);
    free(s->threads);
    free(s->repeats);
    blocks_fini(&s->blocks);
    *s = (struct scan){0};
}

/* ---- Dropping rows ---- */

static bool keeps_row(const struct scan_keep *k, const struct table *t, size_t i)
{
    return t->start[i] >= k->from_ns && t->start[i] <= k->last_ns && table_end(t, i) <= k->end_ns;
}

static bool keeps_block(const struct scan_keep *k, const struct block *b)
{
    return b->min_start_ns >= k->from_ns && b->max_end_ns <= k->last_ns &&
           b->max_end_ns <= k->end_ns;
}

static bool keeps_all(const struct scan_keep *k, const struct scan_part *all)
{
    return scan_part_first_start_ns(all) >= k->from_ns &&
           int64_max(all->ok.last_ns, all->failed.last_ns) <= k->last_ns &&
           all->last_end_ns <= k->end_ns;
}

/* Removes a row from the counts and sums. */
static void forget_row(struct scan *s, size_t i, bool *was_extreme)
{
    const struct table *t = s->t;
    struct scan_part *p = &s->parts[table_place(t, i)];
    struct scan_thread *thread = &s->threads[table_thread(t, i)];

    thread->n--;
    thread->busy_ns -= (uint64_t)packed_get(&t->dur, i);
    p->n--;
    if (table_failed(t, i)) {
        p->n_errors--;
        return;
    }
    int64_t bytes = packed_get(&t->bytes, i);
    p->n_bytes -= bytes;
    p->n_objects -= packed_get(&t->objects, i);
    *was_extreme = *was_extreme || bytes == s->min_bytes || bytes == s->max_bytes;
}

static void find_sizes(struct scan *s)
{
    s->min_bytes = INT64_MAX;
    s->max_bytes = INT64_MIN;
    for (size_t b = 0; b < s->blocks.n; b++)
        scan_sizes(s, b);
}

bool scan_drop(struct scan *s, const struct dataset *d, struct table *t,
               const struct scan_keep *keep, struct err *e)
{
    if (t->n == 0 || keeps_all(keep, &s->all))
        return true;
    bool was_extreme = false, *has_changed;
    if (!mem_cleared(&has_changed, s->blocks.n, e))
        return false;
    for (size_t i = 0; i < t->n;) {
        size_t b = i / BLOCKS_ROWS;
        if (i % BLOCKS_ROWS == 0 && keeps_block(keep, &s->blocks.v[b])) {
            i = blocks_end(&s->blocks, b);
        } else if (keeps_row(keep, t, i)) {
            i++;
        } else {
            /* The last row moves here and is looked at next. */
            forget_row(s, i, &was_extreme);
            table_move_row(t, i, t->n - 1);
            t->n--;
            has_changed[b] = true;
        }
    }
    s->blocks.n = (t->n + BLOCKS_ROWS - 1) / BLOCKS_ROWS;
    if (s->blocks.n > 0)
        has_changed[s->blocks.n - 1] = true;
    for (size_t b = 0; b < s->blocks.n; b++)
        if (has_changed[b])
            blocks_look(&s->blocks, b);
    free(has_changed);
    /* With one size only, nothing changes. */
    if (was_extreme && s->min_bytes < s->max_bytes)
        find_sizes(s);
    forget_edges(s);
    find_edges(s, d);
    if (s->all.n == s->all.n_errors) {
        s->min_bytes = INT64_MAX;
        s->max_bytes = INT64_MIN;
    }
    return true;
}
