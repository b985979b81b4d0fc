/* Clients that come late or leave early, clocks that jump, threads stuck in one request, an open
 * loop that falls behind. */
#include "analyze/findings/find.h"
#include "analyze/stats/stats.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ABSENT_FRAC         .05 /* of the run */
#define STUCK_FRAC          .1  /* a thread; a problem from twice as much on */
#define STUCK_CHANCE        .01 /* expected number of requests of that length */
#define STUCK_MOST_THREADS  10
#define JUMP_LEAST_REQUESTS 100 /* in the time of the jump, and before and after it */
#define JUMP_TOLERANCE      .1
#define BACKLOG_TIMES       10 /* times the median duration */
#define BACKLOG_LEAST_NS    5e7

/* ---- Clients ---- */

/* Returns how long client k began after the first one (late), or ended before the last start of
 * all; 0 if it ended after that. */
static int64_t missed_ns(const struct course *c, size_t k, bool late)
{
    return late ? c->clients.first_ns[k] - c->start_ns
                : int64_max(c->last_start_ns - c->clients.last_ns[k], 0);
}

static bool say_absent(struct search *s, size_t k, bool late, struct err *e)
{
    const struct course *c = s->c;
    int64_t first_ns = c->clients.first_ns[k], last_ns = c->clients.last_ns[k];
    int64_t length_ns = missed_ns(c, k, late);
    double share = search_frac(s, length_ns);
    struct finding f =
        finding_of("absent-client", FINDING_PROBLEM, share / (double)s->c->clients.n);

    search_set_party(&f, &c->clients, k);
    finding_set_times(&f, late ? c->start_ns : last_ns, late ? first_ns : c->last_start_ns);
    finding_figure(&f, "absent_frac", share);
    finding_figure(&f, "n_requests", (double)s->c->clients.n_requests[k]);
    if (late)
        return findings_add(s->out, &f, e,
                            "Client %s began %s (%.0f %% of the run) after the first",
                            intern_shown(f.party), units_duration(length_ns).s, 100 * share);
    return findings_add(s->out, &f, e, "Client %s stopped %s (%.0f %% of the run) before the end",
                        intern_shown(f.party), units_duration(length_ns).s, 100 * share);
}

/* Reports most clients as one notice: if each ran in a part of the time only, that is by design. */
static bool say_by_design(struct search *s, size_t n, struct err *e)
{
    struct finding f = finding_of("absent-client", FINDING_NOTICE, 0);
    finding_figure(&f, "n_clients", (double)n);
    return findings_add(s->out, &f, e, "%s of %s clients each ran in a part of the time only",
                        units_count((int64_t)n).s, units_count((int64_t)s->c->clients.n).s);
}

static int compare_ns(const void *a, const void *b)
{
    return int64_order(*(const int64_t *)a, *(const int64_t *)b);
}

/* Sets *least_ns to the least missed time that counts as absence: the client missed much more than
 * the one that missed the next less. Clients that are started one by one begin soon after each
 * other. INT64_MAX: none is absent. False: out of memory. */
static bool find_least_absence(const struct search *s, bool late, int64_t *least_ns, struct err *e)
{
    size_t n = s->c->clients.n;
    int64_t *missed;

    *least_ns = INT64_MAX;
    if (!mem_new(&missed, n, e))
        return false;
    for (size_t k = 0; k < n; k++)
        missed[k] = missed_ns(s->c, k, late);
    qsort(missed, n, sizeof *missed, compare_ns);
    for (size_t k = n; k-- > 1;)
        if (search_frac(s, missed[k] - missed[k - 1]) > ABSENT_FRAC)
            *least_ns = missed[k];
    free(missed);
    return true;
}

bool find_absent(struct search *s, struct err *e)
{
    const struct course *c = s->c;
    const struct course_parties *clients = &c->clients;
    int64_t late_ns, early_ns;
    size_t n = 0;

    if (clients->n < 2 || clients->first_ns == NULL)
        return true;
    if (c->d != NULL && dataset_is_imported(c->d)) /* the users of a server come and go */
        return true;
    if (!find_least_absence(s, true, &late_ns, e) || !find_least_absence(s, false, &early_ns, e))
        return false;
    for (size_t k = 0; k < clients->n; k++)
        n += missed_ns(c, k, true) >= late_ns || missed_ns(c, k, false) >= early_ns;
    if (2 * n > clients->n && n > 1)
        return say_by_design(s, n, e);
    bool ok = true;
    for (size_t k = 0; ok && k < clients->n; k++)
        ok = (missed_ns(c, k, true) < late_ns || say_absent(s, k, true, e)) &&
             (missed_ns(c, k, false) < early_ns || say_absent(s, k, false, e));
    return ok;
}

/* ---- Clocks ---- */

static bool say_jump(struct search *s, size_t k, bool ahead, int64_t by_ns, int64_t at_ns,
                     struct err *e)
{
    struct finding f = finding_of("clock-jump", FINDING_PROBLEM, search_frac(s, by_ns));

    search_set_party(&f, &s->c->clients, k);
    f.has_start = true;
    f.start_ns = at_ns;
    finding_figure(&f, "by_ns", ahead ? (double)by_ns : -(double)by_ns);
    return findings_add(s->out, &f, e,
                        "The clock of client %s jumped %s by about %s at %s: its requests after "
                        "that have wrong times",
                        intern_shown(f.party), ahead ? "ahead" : "back", units_duration(by_ns).s,
                        find_clock(s->c, at_ns).s);
}

/* Finds out whether the clock of client k was set while it ran. If it was set ahead, the client
 * ends that much later than the others, and its requests have a gap of that length. If it was set
 * back, it ends earlier, and its requests come twice as often for that time. */
static bool find_jump(struct search *s, size_t k, int64_t usual_end_ns, int64_t *done,
                      struct err *e)
{
    const struct course *c = s->c;
    const struct course_parties *p = &c->clients;
    int64_t by_ns = p->last_ns[k] - usual_end_ns;
    double ran_ns = fmax((double)(usual_end_ns - p->first_ns[k]), 1),
           n = fabs((double)by_ns) / (double)c->wide_ns,
           usual = (double)p->n_requests[k] * (double)c->wide_ns / ran_ns,
           sign = by_ns > 0 ? 1 : -1;
    size_t first = (size_t)((p->first_ns[k] - c->bins_ns) / c->wide_ns),
           end = (size_t)((p->last_ns[k] - c->bins_ns) / c->wide_ns);
    struct top_stretch top = {0};
    int64_t before = 0, within = 0;

    if (llabs(by_ns) < FINDING_PROBLEM_NS || n * usual < JUMP_LEAST_REQUESTS ||
        2 * n > (double)c->n_wide)
        return true;
    course_count_ended(c, p, k, done);
    for (size_t j = first; j < end; j++)
        top_stretch_add(&top, j, sign * (usual - (double)done[j]) - usual / 2);
    for (size_t j = first; j <= top.last; j++)
        *(j < top.first ? &before : &within) += done[j];
    if (fabs((double)(top.last + 1 - top.first) - n) > JUMP_TOLERANCE * n + 1 ||
        2 * top.most < n * usual / 2 || before < JUMP_LEAST_REQUESTS ||
        p->n_requests[k] - before - within < JUMP_LEAST_REQUESTS)
        return true;
    return say_jump(s, k, by_ns > 0, llabs(by_ns), course_at_ns(c, top.first, c->wide_ns), e);
}

bool find_clock_jumps(struct search *s, struct err *e)
{
    const struct course *c = s->c;
    size_t n = c->clients.n;
    int64_t *ends = NULL, *done = NULL;

    if (n < 2 || c->ended == NULL)
        return true;
    bool ok = mem_new(&ends, n, e) && mem_new(&done, c->n_wide, e);
    if (ok) {
        memcpy(ends, c->clients.last_ns, n * sizeof *ends);
        qsort(ends, n, sizeof *ends, compare_ns);
    }
    for (size_t k = 0; ok && k < n; k++) {
        bool late = c->clients.last_ns[k] > ends[(n - 1) / 2];
        ok = find_jump(s, k, ends[late ? (n - 1) / 2 : n / 2], done, e);
    }
    free(ends);
    free(done);
    return ok;
}

/* ---- Threads ---- */

/* Returns how many requests of at least length_ns the tail of an operation predicts. */
static double expected_so_long(const struct course_tail *tail, int64_t length_ns)
{
    return tail->n * pow((double)length_ns / tail->from_ns, -tail->exponent);
}

/* Requests of one thread that hung, one after another. */
struct wait {
    size_t n;
    int64_t start_ns, end_ns;
    bool at_one_host;
};

static struct wait wait_of(const struct course *c, const struct course_hung *h)
{
    struct wait w = {1, h->start_ns, h->end_ns, true};

    for (const struct course_hung *x = h; x->next != 0; w.n++) {
        x = &c->hung[x->next];
        w.end_ns = x->end_ns;
        w.at_one_host &= c->hosts.of_place[x->place] == c->hosts.of_place[h->place];
    }
    return w;
}

/* Of several in a row each is unlikely, all together even more so: what they cost decides. */
static bool is_stuck(const struct search *s, const struct course_hung *h)
{
    const struct wait w = wait_of(s->c, h);
    double share = search_frac(s, w.end_ns - w.start_ns);
    bool is_long = share >= STUCK_FRAC &&
                   expected_so_long(&s->c->tail[h->table], h->end_ns - h->start_ns) <= STUCK_CHANCE;

    return !h->follows && w.end_ns - w.start_ns >= FINDING_PROBLEM_NS &&
           (w.n == 1 ? is_long : share >= FINDING_WORTH_FRAC * (double)s->c->n_threads) &&
           search_free_frac(s, course_bin(s->c, w.start_ns), course_bin(s->c, w.end_ns),
                            FINDING_MASK_STALL) *
                   2 >=
               1;
}

static bool say_stuck(struct search *s, const struct course_hung *h, struct err *e)
{
    const struct course *c = s->c;
    const struct wait w = wait_of(c, h);
    double share = search_frac(s, w.end_ns - w.start_ns);
    struct finding f =
        finding_of("stuck-thread", share >= 2 * STUCK_FRAC, share / (double)c->n_threads);
    const char *op = c->ops[h->table].name;
    uint32_t host = c->hosts.of_place[h->place];
    struct phrase in = w.n == 1 ? phrase_format("one %s", op)
                                : phrase_format("%zu requests in a row (%s)", w.n, op);

    if (c->hosts.n > 1 && w.at_one_host && host != UINT32_MAX)
        phrase_append(&in, " at %s", intern_shown(c->hosts.name[host]));
    f.scope = SCOPE_THREAD;
    f.thread = h->thread;
    f.op = op;
    finding_set_times(&f, w.start_ns, w.end_ns);
    finding_figure(&f, "length_ns", (double)(w.end_ns - w.start_ns));
    finding_figure(&f, "median_ns", c->median_ns[h->table]);
    finding_figure(&f, "n_requests", (double)w.n);
    return findings_add(s->out, &f, e, "Thread %u waited %s in %s from %s while the others went on",
                        f.thread, units_duration(w.end_ns - w.start_ns).s, in.s,
                        find_clock(c, w.start_ns).s);
}

bool find_stuck(struct search *s, struct err *e)
{
    const struct course *c = s->c;
    size_t n = 0;
    bool ok = true;

    for (size_t i = 0; i < c->n_hung; i++)
        n += is_stuck(s, &c->hung[i]);
    /* If many requests are that long, it is no fault of single threads. */
    if (n > STUCK_MOST_THREADS && (double)n > .1 * (double)c->n_threads)
        return true;
    for (size_t i = 0; ok && i < c->n_hung; i++)
        ok = !is_stuck(s, &c->hung[i]) || say_stuck(s, &c->hung[i], e);
    return ok;
}

/* ---- Open loops ---- */

/* Returns the first block from which on all values before `to` are more than `least`. */
static size_t first_above(const double *v, size_t to, double least)
{
    size_t from = to - 1;
    while (from > 0 && v[from - 1] > least)
        from--;
    return from;
}

/* Moves *start_ns back to when response times, which are durations at equal load and the wait since
 * requests were due, became twice as long as before, if that was sooner. At first free threads take
 * up the backlog, so that requests still begin in time. */
static void find_first_wait(const struct search *s, const double *late, size_t to,
                            int64_t *start_ns)
{
    double ns[COURSE_MAX_BLOCKS], sorted[COURSE_MAX_BLOCKS];

    if (s->equal == NULL)
        return;
    for (size_t b = 0; b < to; b++)
        ns[b] = exp(s->equal->mean + s->equal->ln[b]) + late[b];
    memcpy(sorted, ns, to * sizeof *sorted);
    double least = 2 * stats_select(sorted, to, to / 10);
    *start_ns = int64_min(*start_ns, course_block_start_ns(s->c, first_above(ns, to, least)));
}

bool find_backlog(struct search *s, struct err *e)
{
    const struct course *c = s->c;
    size_t n = c->n_blocks, last = n;

    if (!c->open_loop || c->late_n == NULL || n < 10)
        return true;
    double *late;
    if (!mem_new(&late, n, e))
        return false;
    for (size_t b = 0; b < n; b++)
        late[b] = c->late_n[b] > 0 ? c->late_ns[b] / (double)c->late_n[b] : b > 0 ? late[b - 1] : 0;
    while (last > 1 && c->late_n[last - 1] == 0)
        last--;
    double final = late[last - 1], most = 0,
           limit = fmax(BACKLOG_TIMES * search_longest_ns(s, c->median_ns, 0), BACKLOG_LEAST_NS);
    for (size_t b = 0; b < last; b++)
        most = fmax(most, late[b]);
    size_t from = first_above(late, last, fmax(.1 * final, limit / BACKLOG_TIMES));
    bool ok = true;
    if (final > limit && 2 * final >= most) {
        int64_t start_ns = course_block_start_ns(c, from);
        find_first_wait(s, late, last, &start_ns);
        double lost = search_frac(s, (int64_t) final);
        struct finding f = finding_of("backlog", FINDING_PROBLEM, lost);

        f.has_start = true;
        f.start_ns = start_ns;
        finding_figure(&f, "late_at_end_ns", final);
        ok = findings_add(s->out, &f, e,
                          "From %s on requests fell behind their due times, in the end by %s: the "
                          "rate asked for is more than the system can do",
                          find_clock(s->c, start_ns).s, units_duration((int64_t) final).s);
    }
    free(late);
    return ok;
}
