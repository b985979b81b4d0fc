/* What is dropped before anything is analysed (section 7), and what stands beside where that leaves
 * little. */
#include "analysis_plan.h"

#include <stdlib.h>

/* ---- Scans ---- */

static bool scan_entry(void *entry, struct err *e)
{
    struct plan_entry *x = entry;
    return scan_init(&x->scan, x->plan->d, x->table, e);
}

bool plan_scan(struct plan *p, struct err *e)
{
    for (size_t k = 0; k < p->n; k++)
        plan_add_task(p, scan_entry, &p->entries[k], p->entries[k].table->n, 1);
    if (!plan_run_tasks(p, e))
        return false;
    p->a->run_start_ns = INT64_MAX;
    for (size_t k = 0; k < p->n; k++) {
        int64_t start_ns = scan_part_first_start_ns(&p->entries[k].scan.all);
        if (start_ns < p->a->run_start_ns)
            p->a->run_start_ns = start_ns;
    }
    return true;
}

/* ---- Dropping rows ---- */

static bool drop_rows(void *entry, struct err *e)
{
    struct plan_entry *x = entry;
    return scan_drop(&x->scan, x->plan->d, x->table, &x->keep, e);
}

static int64_t count_rows(const struct plan *p)
{
    int64_t n = 0;
    for (size_t k = 0; k < p->n; k++)
        n += (int64_t)p->entries[k].table->n;
    return n;
}

/* Adds to *n_dropped what it drops. */
static bool drop_all(struct plan *p, int64_t *n_dropped, struct err *e)
{
    *n_dropped += count_rows(p);
    for (size_t k = 0; k < p->n; k++)
        plan_add_task(p, drop_rows, &p->entries[k], p->entries[k].table->n, 1);
    if (!plan_run_tasks(p, e))
        return false;
    *n_dropped -= count_rows(p);
    return true;
}

struct left_out_part analysis_left_out(const struct analysis *a, size_t i)
{
    const struct left_out *l = &a->left_out;
    const struct left_out_part parts[ANALYSIS_LEFT_OUT_PARTS] = {
        {l->by_times, "cut off by --from, --to or --skip"},
        {l->by_warm_up, "in the warm-up"},
        {l->by_range, l->range}};
    return parts[i];
}

static int64_t add_clamped(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? INT64_MAX : INT64_MIN) : sum;
}

/* skip, from and to. */
bool plan_drop_early_and_late(struct plan *p, struct err *e)
{
    const struct analysis_options *o = &p->a->options;
    if (o->skip_ns <= 0 && !o->has_from && !o->has_to)
        return true;
    int64_t run_start_ns = p->a->run_start_ns;
    struct scan_keep window = SCAN_KEEP_ALL;
    if (o->has_from)
        window.from_ns = o->from_is_relative ? add_clamped(run_start_ns, o->from_ns) : o->from_ns;
    if (o->has_to)
        window.last_ns = add_clamped(o->to_ns, (o->to_is_relative ? run_start_ns : 0) - 1);
    for (size_t k = 0; k < p->n; k++) {
        struct scan_keep *keep = &p->entries[k].keep;
        *keep = window;
        int64_t skip_to_ns;
        if (o->skip_ns <= 0)
            continue;
        if (__builtin_add_overflow(scan_part_first_start_ns(&p->entries[k].scan.all), o->skip_ns,
                                   &skip_to_ns))
            keep->last_ns = INT64_MIN; /* no request starts that late */
        else if (skip_to_ns > keep->from_ns)
            keep->from_ns = skip_to_ns;
    }
    return drop_all(p, &p->a->left_out.by_times, e);
}

/* `range`: what it is, in words. */
static bool drop_outside(struct plan *p, const struct segment_range *r, const char *range,
                         struct err *e)
{
    p->a->left_out.range = range;
    for (size_t k = 0; k < p->n; k++)
        p->entries[k].keep = (struct scan_keep){r->start_ns, INT64_MAX, r->end_ns};
    return drop_all(p, &p->a->left_out.by_range, e);
}

/* ---- Where the all-threads range keeps little ---- */

static int64_t whole_ns(const struct set *s)
{
    return s->all.last_end_ns - scan_part_first_start_ns(&s->all);
}

/* Under half of the set's whole duration. */
bool plan_is_short(const struct set *s)
{
    return !segment_range_usable(&s->range) ||
           s->range.end_ns - s->range.start_ns < whole_ns(s) / 2;
}

static int compare_slow_threads(const void *a, const void *b)
{
    const struct slow_thread *x = a, *y = b;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

/* The threads at fault: if none ended its first request later than a quarter into the set, or began
 * its last earlier than a quarter before the end, the range would have at least half of it. */
static bool find_slow_threads(struct operation *op, const struct set *s, struct err *e)
{
    int64_t early_ns = scan_part_first_start_ns(&s->all) + whole_ns(s) / 4;
    int64_t late_ns = s->all.last_end_ns - whole_ns(s) / 4;
    op->slow_threads = malloc((s->d->n_threads + 1) * sizeof *op->slow_threads);
    if (op->slow_threads == NULL)
        return err_set(e, "out of memory");
    for (size_t i = 0; i < s->d->n_threads; i++) {
        const struct segment_thread *t = &s->threads[i];
        if (segment_thread_used(t) && (t->first_end_ns > early_ns || t->last_start_ns < late_ns))
            op->slow_threads[op->n_slow_threads++] =
                (struct slow_thread){s->d->threads[i], t->first_end_ns, t->last_start_ns};
    }
    qsort(op->slow_threads, op->n_slow_threads, sizeof *op->slow_threads, compare_slow_threads);
    return true;
}

/* The single range's figures of x beside, where `all` (x's own set or the whole of a mixed run) is
 * short. */
static bool fill_single(struct plan_entry *x, const struct set *all, struct err *e)
{
    struct set s;
    const struct scan *scan = &x->scan;
    bool ok = set_init(&s, all->d, &scan, 1, RANGE_SINGLE, false, e) &&
              set_totals(&s, x->plan->a->options.segment_ns, false, e) && set_segments(&s, e) &&
              find_slow_threads(x->op, all, e);
    if (ok) {
        x->op->range_is_short = true;
        x->op->whole_run_ns = whole_ns(all);
        x->op->single_throughput = s.total;
        x->op->single_segments = s.segments;
    }
    set_fini(&s);
    return ok;
}

bool plan_fill_single(void *entry, struct err *e)
{
    struct plan_entry *x = entry;
    return fill_single(x, &x->set, e);
}

/* The drop of section 7, before anything is analysed. */
bool plan_drop_outside(struct plan *p, struct err *e)
{
    enum range_kind wanted = p->a->options.range;
    bool by_clients = p->errors && (wanted == RANGE_AUTO || wanted == RANGE_SINGLE);
    bool by_range = p->a->mixed && !p->errors && wanted != RANGE_FULL;
    if (!by_clients && !by_range)
        return true;
    bool all_threads =
        wanted == RANGE_ALL || (wanted == RANGE_AUTO && !p->prefiltered && !p->d->has_intended);
    struct set whole;
    bool ok =
        set_init(&whole, p->d, p->scans, p->n, all_threads ? RANGE_ALL : RANGE_SINGLE, false, e);
    if (ok && by_clients) {
        struct segment_range common;
        if (whole.clients.keys.n > 1)
            ok = set_common_client_range(&whole, &common, e) &&
                 drop_outside(p, &common, "outside of the time in which all clients ran", e);
    } else if (ok) {
        if (wanted == RANGE_AUTO && all_threads && plan_is_short(&whole))
            for (size_t k = 0; ok && k < p->n; k++)
                if (p->entries[k].table->n > 0)
                    ok = fill_single(&p->entries[k], &whole, e);
        ok = ok && drop_outside(p, &whole.range,
                                all_threads ? "outside of the time in which all threads ran"
                                            : "at the first start or the last end",
                                e);
    }
    set_fini(&whole);
    return ok;
}
