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
#define STUCK_FRAC          .1
#define STUCK_PROBLEM       .2
#define STUCK_LEAST_NS      INT64_C(1000000000)
#define STUCK_CHANCE        .005 /* expected number of requests of that length */
#define STUCK_MOST_THREADS  5
#define JUMP_LEAST_NS       1e9
#define JUMP_LEAST_BINS     8
#define JUMP_LEAST_SECONDS  2 /* bins of a second */
#define JUMP_LEAST_REQUESTS 30
#define JUMP_TOLERANCE      .1
#define JUMP_TIMES          1.7
#define BACKLOG_TIMES       5 /* times the median duration */
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

/* Returns the share of a bin that is idle, from how many requests ended and usually end. */
static double missing(int64_t done, double usual)
{
    return fmax(1 - (double)done / usual, 0);
}

/* Returns the first bin of the longest stretch without a request, if it is about n bins long (with
 * the idle parts of the bins next to it) and enough requests ended before and after it; else
 * SIZE_MAX. */
static size_t find_hole(const int64_t *done, size_t n_bins, double n, double usual)
{
    int64_t all = 0, before = 0; /* requests: all, and those before the longest stretch */
    size_t begun = 0, longest = 0, at = 0;

    for (size_t j = 0; j < n_bins; j++) {
        all += done[j];
        if (done[j] > 0) {
            begun = j + 1;
        } else if (j + 1 - begun > longest) {
            longest = j + 1 - begun;
            at = begun;
            before = all;
        }
    }
    double length = (double)longest + (at > 0 ? missing(done[at - 1], usual) : 0) +
                    (at + longest < n_bins ? missing(done[at + longest], usual) : 0);
    bool goes_on = before >= JUMP_LEAST_REQUESTS && all - before >= JUMP_LEAST_REQUESTS;
    return goes_on && fabs(length - n) <= JUMP_TOLERANCE * n ? at : SIZE_MAX;
}

static double sum_of(const int64_t *done, size_t first, size_t end)
{
    double sum = 0;

    for (size_t j = first; j < end; j++)
        sum += (double)done[j];
    return sum;
}

/* Returns the first of n bins in which a client did nearly twice as much as in n bins before and
 * after them; SIZE_MAX: there are none. */
static size_t find_double(const int64_t *done, size_t n_bins, size_t n)
{
    double sum = 0, most = 0;
    size_t at = 0;

    if (2 * n_bins < 3 * n)
        return SIZE_MAX;
    for (size_t j = 0; j < n_bins; j++) {
        sum += (double)(done[j] - (j >= n ? done[j - n] : 0));
        if (j + 1 >= n && sum > most) {
            most = sum;
            at = j + 1 - n;
        }
    }
    size_t first = at > n ? at - n : 0, end = at + 2 * n < n_bins ? at + 2 * n : n_bins;
    double around = sum_of(done, first, end) - most;
    return around > 0 && most * (double)(end - first - n) >= JUMP_TIMES * around * (double)n
               ? at
               : SIZE_MAX;
}

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
    int64_t last_ns = c->clients.last_ns[k], by_ns = llabs(last_ns - usual_end_ns);
    bool ahead = last_ns > usual_end_ns;
    double n = (double)by_ns / (double)c->wide_ns,
           ran = (double)(last_ns - c->clients.first_ns[k]) + (ahead ? 0 : (double)by_ns),
           usual = (double)c->clients.n_requests[k] * (double)c->wide_ns / fmax(ran, 1);

    int least_bins = c->has_requests ? JUMP_LEAST_BINS : JUMP_LEAST_SECONDS;
    if ((double)by_ns < JUMP_LEAST_NS || n < least_bins || n * usual < JUMP_LEAST_REQUESTS ||
        2 * n > (double)c->n_wide)
        return true;
    course_count_ended(c, &c->clients, k, done);
    size_t first = (size_t)((c->clients.first_ns[k] - c->bins_ns) / c->wide_ns),
           n_bins = (size_t)((last_ns - c->bins_ns) / c->wide_ns) - first,
           at = ahead ? find_hole(done + first, n_bins, n, usual)
                      : find_double(done + first, n_bins, (size_t)n);
    return at == SIZE_MAX ||
           say_jump(s, k, ahead, by_ns, course_at_ns(c, first + at, c->wide_ns), e);
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

static bool is_stuck(const struct search *s, const struct course_hung *h)
{
    int64_t length_ns = h->end_ns - h->start_ns;
    return length_ns >= STUCK_LEAST_NS && search_frac(s, length_ns) >= STUCK_FRAC &&
           (double)length_ns >= 20 * s->c->median_ns[h->table] &&
           expected_so_long(&s->c->tail[h->table], length_ns) <= STUCK_CHANCE &&
           search_free_frac(s, course_bin(s->c, h->start_ns), course_bin(s->c, h->end_ns),
                            FINDING_MASK_STALL) >= .5;
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
    for (size_t i = 0; ok && i < c->n_hung; i++) {
        const struct course_hung *h = &c->hung[i];
        if (!is_stuck(s, h))
            continue;
        double share = search_frac(s, h->end_ns - h->start_ns);
        struct finding f =
            finding_of("stuck-thread", share >= STUCK_PROBLEM, share / (double)c->n_threads);
        f.scope = SCOPE_THREAD;
        f.thread = h->thread;
        f.op = c->ops[h->table].name;
        finding_set_times(&f, h->start_ns, h->end_ns);
        finding_figure(&f, "length_ns", (double)(h->end_ns - h->start_ns));
        finding_figure(&f, "median_ns", c->median_ns[h->table]);
        ok = findings_add(s->out, &f, e,
                          "Thread %u waited %s in one %s from %s while the others went on",
                          f.thread, units_duration(h->end_ns - h->start_ns).s, f.op,
                          find_clock(s->c, h->start_ns).s);
    }
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

/* Returns when the line through the lateness of the blocks [from, to) crosses zero. */
static int64_t line_start_ns(const struct course *c, const double *late, size_t from, size_t to)
{
    struct stats_line line = stats_fit_line(late + from, to - from);
    double at = (double)from + (line.slope > 0 ? .5 - line.base / line.slope : 0);

    return c->start_ns + (int64_t)(fmax(at, 0) * (double)c->block_ns);
}

/* Moves *start_ns back to when response times became twice as long as before, if that was sooner.
 * At first free threads take up the backlog, so that requests still begin in time. */
static void find_first_wait(const struct search *s, size_t to, int64_t *start_ns)
{
    struct responses r;
    double sorted[COURSE_MAX_BLOCKS];

    if (s->equal == NULL)
        return;
    search_responses(s, &r);
    memcpy(sorted, r.ns, to * sizeof *sorted);
    double least = 2 * stats_select(sorted, to, to / 10);
    *start_ns = int64_min(*start_ns, course_block_start_ns(s->c, first_above(r.ns, to, least)));
}

bool find_backlog(struct search *s, struct err *e)
{
    const struct course *c = s->c;
    size_t n = c->n_blocks, last = n;

    if (!c->open_loop || c->late_n == NULL || n < 8)
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
    size_t from = first_above(late, last, fmax(.05 * final, limit / BACKLOG_TIMES));
    bool ok = true;
    if (final > limit && final >= .6 * most && last - from >= 3) {
        int64_t start_ns = line_start_ns(c, late, from, last);
        find_first_wait(s, last, &start_ns);
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
