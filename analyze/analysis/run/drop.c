#include "analyze/analysis/run/run_internal.h"

#include "libcommon/int64.h"
#include "libcommon/units.h"

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

/* Drops the rows that each entry's `keep` does not name, and adds their number to *n_dropped. */
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
        {l->by_size, "that failed without a byte: --size cannot tell their size"},
        {l->by_times, "cut off by --from, --to or --skip"},
        {l->by_warm_up, "in the warm-up"},
        {l->by_range, l->range}};

    return parts[i];
}

/* Drops what skip, from and to leave out. */
bool drop_early_and_late(struct plan *p, struct err *e)
{
    const struct analysis_options *o = &p->a->options;
    if (o->skip_ns <= 0 && !o->from.given && !o->to.given)
        return true;
    int64_t run_start_ns = p->a->run_start_ns;
    struct scan_keep window = SCAN_KEEP_ALL;
    if (o->from.given)
        window.from_ns = filter_time_at(&o->from, run_start_ns);
    if (o->to.given)
        window.last_ns = int64_add_clamped(filter_time_at(&o->to, run_start_ns), -1);
    if (p->n > 0 && o->from.given && o->to.given && window.last_ns < window.from_ns)
        return err_set(e, ANALYSIS_TIMES_CROSSED);
    for (size_t k = 0; k < p->n; k++) {
        struct scan_keep *keep = &p->entries[k].keep;
        *keep = window;
        int64_t skip_to_ns;
        if (o->skip_ns <= 0)
            continue;
        if (__builtin_add_overflow(scan_part_first_start_ns(&p->entries[k].scan.all), o->skip_ns,
                                   &skip_to_ns))
            keep->last_ns = INT64_MIN; /* keep none: no request starts that late */
        else if (skip_to_ns > keep->from_ns)
            keep->from_ns = skip_to_ns;
    }
    if (!drop_all(p, &p->a->left_out.by_times, e))
        return false;
    return p->n == 0 || count_rows(p) > 0 ||
           err_set(e, "%s: no requests: %s all %s off", p->d->inputs[0].path,
                   o->from.given || o->to.given ? "--from and --to cut" : "--skip cuts",
                   units_count(p->a->left_out.by_times).s);
}

/* Drops the requests outside of a range; `range` is its name, in words. */
static bool drop_outside_range(struct plan *p, const struct segment_range *r, const char *range,
                               struct err *e)
{
    p->a->left_out.range = range;
    for (size_t k = 0; k < p->n; k++) {
        struct plan_entry *x = &p->entries[k];
        x->keep = (struct scan_keep){r->start_ns, INT64_MAX, r->end_ns};
        x->op->n_apart = p->errors ? x->scan.all.n : 0;
        x->op->n_failed_apart = x->scan.all.n_errors;
    }
    bool ok = drop_all(p, &p->a->left_out.by_range, e);
    for (size_t k = 0; ok && k < p->n; k++) {
        struct plan_entry *x = &p->entries[k];
        x->op->n_apart -= p->errors ? x->scan.all.n : 0;
        x->op->n_failed_apart -= x->scan.all.n_errors;
    }
    return ok;
}

/* ---- Where the all-threads range keeps little ---- */

static int64_t whole_ns(const struct set *s)
{
    return s->all.last_end_ns - scan_part_first_start_ns(&s->all);
}

/* True if the range covers under half of the set's duration. */
bool drop_is_short(const struct set *s)
{
    return !segment_range_usable(&s->range) ||
           s->range.end_ns - s->range.start_ns < whole_ns(s) / 2;
}

/* Returns how late a thread's first end is against early_ns, or how early its last start is against
 * late_ns, whichever is more. */
static int64_t missed_ns(const struct slow_thread *x, int64_t early_ns, int64_t late_ns)
{
    return int64_max(x->first_end_ns - early_ns, late_ns - x->last_start_ns);
}

/* Adds a thread to the list of the worst: worst first, equal ones by number. */
static void add_slow_thread(struct operation *op, const struct slow_thread *x, int64_t early_ns,
                            int64_t late_ns)
{
    size_t k = op->n_slow_threads < ANALYSIS_MAX_SLOW_THREADS ? op->n_slow_threads
                                                              : ANALYSIS_MAX_SLOW_THREADS;
    int64_t missed = missed_ns(x, early_ns, late_ns);

    op->n_slow_threads++;
    for (; k > 0; k--) {
        const struct slow_thread *y = &op->slow_threads[k - 1];
        int64_t other = missed_ns(y, early_ns, late_ns);

        if (other > missed || (other == missed && y->thread < x->thread))
            break;
        if (k < ANALYSIS_MAX_SLOW_THREADS)
            op->slow_threads[k] = *y;
    }
    if (k < ANALYSIS_MAX_SLOW_THREADS)
        op->slow_threads[k] = *x;
}

/* Finds the threads that cut the range short: those that ended their first request after the first
 * quarter of the set, or began their last one before the last quarter. Without them the range would
 * cover at least half of the set. */
static void find_slow_threads(struct operation *op, const struct set *s)
{
    int64_t early_ns = scan_part_first_start_ns(&s->all) + whole_ns(s) / 4;
    int64_t late_ns = s->all.last_end_ns - whole_ns(s) / 4;

    for (size_t i = 0; i < s->n_threads; i++) {
        const struct segment_thread *t = &s->threads[i];
        size_t index = s->n_scans == 1 ? table_thread_index(s->scans[0]->t, i) : i;
        const struct slow_thread x = {s->d->threads[index], t->first_end_ns, t->last_start_ns};

        if (segment_thread_used(t) && (t->first_end_ns > early_ns || t->last_start_ns < late_ns))
            add_slow_thread(op, &x, early_ns, late_ns);
    }
}

/* Adds the single range's figures to x, because `all` (x's own set, or the whole of a mixed run) is
 * short. */
static bool fill_single(struct plan_entry *x, const struct set *all, struct err *e)
{
    struct set s;
    const struct scan *scan = &x->scan;
    bool ok = set_init(&s, all->d, &scan, 1, RANGE_SINGLE, false, e) &&
              set_totals(&s, x->plan->a->options.segment_ns, false, e) && set_segments(&s, e);

    if (ok) {
        find_slow_threads(x->op, all);
        x->op->range_is_short = true;
        x->op->whole_run_ns = whole_ns(all);
        x->op->single_throughput = s.total;
        x->op->single_segments = s.segments;
    }
    set_fini(&s);
    return ok;
}

bool drop_fill_single(void *entry, struct err *e)
{
    struct plan_entry *x = entry;
    return fill_single(x, &x->set, e);
}

/* The set of all operations together. */
struct whole {
    struct plan *plan;
    struct set set;
    bool all_threads;
};

static bool init_whole(void *whole, struct err *e)
{
    struct whole *w = whole;
    return set_init(&w->set, w->plan->d, w->plan->scans, w->plan->n,
                    w->all_threads ? RANGE_ALL : RANGE_SINGLE, false, e);
}

bool drop_outside(struct plan *p, struct err *e)
{
    enum range_kind wanted = p->a->options.range;
    /* Clients of a server's recording come and go. */
    bool by_clients =
        p->errors && !dataset_is_imported(p->d) && (wanted == RANGE_AUTO || wanted == RANGE_SINGLE);
    bool by_range = p->a->mixed && !p->errors && wanted != RANGE_FULL;

    if (!by_clients && !by_range)
        return true;
    struct whole whole = {
        .plan = p,
        .all_threads =
            wanted == RANGE_ALL || (wanted == RANGE_AUTO && !p->prefiltered && !p->d->has_intended),
    };
    struct set *s = &whole.set;
    plan_add_task(p, init_whole, &whole, p->d->n_rows, WEIGHT_SET);
    bool ok = plan_run_tasks(p, e);
    if (ok && by_clients) {
        struct segment_range common;
        if (s->clients.keys.n > 1)
            ok = set_common_client_range(s, &common, e) &&
                 drop_outside_range(p, &common, LEFT_OUT_NOT_ALL_CLIENTS, e);
    } else if (ok) {
        if (wanted == RANGE_AUTO && whole.all_threads && drop_is_short(s))
            for (size_t k = 0; ok && k < p->n; k++)
                if (p->entries[k].table->n > 0)
                    ok = fill_single(&p->entries[k], s, e);
        ok = ok && drop_outside_range(p, &s->range,
                                      whole.all_threads
                                          ? "at the beginning and end, when not all threads ran"
                                          : "at the first start or the last end",
                                      e);
    }
    set_fini(s);
    return ok;
}
