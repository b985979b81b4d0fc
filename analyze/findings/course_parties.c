/* Courses of any source: set-up, parties, messages, and queries. */
#include "analyze/base/csort.h"
#include "analyze/findings/course.h"
#include "analyze/findings/like.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool course_init(struct course *c, size_t n_ops, struct err *e)
{
    *c = (struct course){.start_ns = INT64_MAX,
                         .full_from_ns = INT64_MIN,
                         .full_until_ns = INT64_MIN,
                         .end_ns = INT64_MIN,
                         .n_ops = n_ops,
                         .clients.clients = true,
                         .operations = {.operations = true, .n = n_ops}};
    return mem_cleared(&c->ops, n_ops, e) && mem_cleared(&c->median_ns, n_ops, e) &&
           mem_cleared(&c->p90_ns, n_ops, e) && mem_cleared(&c->hung_ns, n_ops, e) &&
           mem_cleared(&c->operations.name, n_ops, e) &&
           mem_cleared(&c->operations.n_requests, n_ops, e);
}

static void parties_fini(struct course_parties *p)
{
    for (size_t k = 0; p->busy_ns != NULL && k < p->n; k++)
        free(p->busy_ns[k]);
    free(p->busy_ns);
    free(p->name);
    free(p->of_place);
    free(p->n_requests);
    free(p->first_ns);
    free(p->last_ns);
}

void course_fini(struct course *c)
{
    for (size_t k = 0; k < c->n_messages; k++) {
        free(c->messages[k].by_bin);
        free(c->messages[k].by_host);
        free(c->messages[k].by_client);
        free(c->messages[k].by_op);
    }
    parties_fini(&c->hosts);
    parties_fini(&c->clients);
    parties_fini(&c->operations);
    like_requests_free(c->requests);
    void *const all[] = {c->messages,     c->ops,          c->ok,        c->failed,
                         c->ended,        c->busy_ns,      c->strata,    c->stratum_of_op,
                         c->cells,        c->late_n,       c->late_ns,   c->median_ns,
                         c->p90_ns,       c->tail,         c->hung_ns,   c->hung,
                         c->timed_out,    c->load.stratum, c->load.work, c->load.under_way,
                         c->load.threads, c->load.due};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    *c = (struct course){0};
}

bool course_parties_alloc(struct course_parties *p, size_t n, struct err *e)
{
    return mem_cleared(&p->name, n, e) && mem_cleared(&p->n_requests, n, e) &&
           mem_cleared(&p->first_ns, n, e) && mem_cleared(&p->last_ns, n, e);
}

static int compare_messages(const void *a, const void *b)
{
    const struct course_message *x = a, *y = b;
    return x->n != y->n ? (x->n > y->n ? -1 : 1) : strcmp(x->text, y->text);
}

bool course_choose_messages(struct course *c, struct err *e)
{
    struct course_message *all = c->messages;
    size_t last = 0, n = c->n_messages;

    qsort(all, n, sizeof *all, compare_messages);
    for (size_t k = 0; k < n; k++)
        all[k].n_kinds = 1;
    if (n > COURSE_MAX_MESSAGES) {
        /* The last entry also takes kinds that are at most 1 % of all errors. */
        while (last + 1 < COURSE_MAX_MESSAGES && all[last].n > c->n_failed / 100)
            last++;
        all[last].n_kinds = n - last;
        c->n_messages = last + 1;
    }
    for (size_t k = 0; k < c->n_messages; k++)
        if (!mem_cleared(&all[k].by_bin, c->n_bins, e) ||
            !mem_cleared(&all[k].by_host, c->hosts.n, e) ||
            !mem_cleared(&all[k].by_client, c->clients.n, e) ||
            !mem_cleared(&all[k].by_op, c->n_ops, e))
            return false;
    return true;
}

/* ---- Gaps between ends ---- */

void course_count_ended(const struct course *c, const struct course_parties *p, size_t k,
                        int64_t *done)
{
    size_t first = p->operations ? c->n_places + k : 0,
           end = p->operations ? first + 1 : c->n_places;
    size_t n = c->n_wide, stride = c->n_places + c->n_ops;

    memset(done, 0, n * sizeof *done);
    for (size_t i = first; i < end; i++) {
        const uint32_t *ended = c->ended + i;

        if (!p->operations && p->of_place[i] != k)
            continue;
        for (size_t j = 0; j < n; j++, ended += stride)
            done[j] += *ended;
    }
}

/* Fills in a gap from the seconds of its party. The gap begins within the last second with
 * requests, and ends within the next one with requests. A second with half the usual number of
 * requests counts as idle for half of it. */
static void find_gap(const struct course *c, const struct course_parties *p, const int64_t *done,
                     struct course_gap *gap)
{
    double usual = (double)p->n_requests[gap->party] * (double)c->bin_ns /
                   ((double)(c->end_ns - c->start_ns) + 1);
    size_t at = course_bin(c, gap->at_ns), from = at, to = at;

    gap->before_ns = INT64_MIN;
    gap->after_ns = INT64_MAX;
    if (p->busy_ns != NULL)
        gap->n_waiting = (size_t)llround((double)p->busy_ns[gap->party][at] / (double)c->bin_ns);
    while (from > 0 && done[from] == 0)
        from--;
    while (to + 1 < c->n_bins && done[to] == 0)
        to++;
    if (done[at] > 0 || done[from] == 0 || done[to] == 0)
        return;
    gap->before_ns = course_bin_start_ns(c, from) +
                     (int64_t)(fmin((double)done[from] / usual, 1) * (double)c->bin_ns);
    gap->after_ns = course_bin_start_ns(c, to + 1) -
                    (int64_t)(fmin((double)done[to] / usual, 1) * (double)c->bin_ns);
}

static bool find_gaps_by_seconds(const struct course *c, const struct course_parties *p,
                                 struct course_gap *gaps, size_t n, struct err *e)
{
    int64_t *done;
    if (!mem_cleared(&done, c->n_wide, e))
        return false;
    for (size_t q = 0; q < n; q++) {
        if (c->ended != NULL && (q == 0 || gaps[q].party != gaps[q - 1].party))
            course_count_ended(c, p, gaps[q].party, done);
        find_gap(c, p, done, &gaps[q]);
    }
    free(done);
    return true;
}

/* Returns the index in v of the first gap with an at_ns of ns or later; n: none. */
static size_t first_gap_from(const struct course_gap *gaps, const size_t *v, size_t n, int64_t ns)
{
    size_t first = 0;
    while (first < n) {
        size_t middle = first + (n - first) / 2;
        if (gaps[v[middle]].at_ns < ns)
            first = middle + 1;
        else
            n = middle;
    }
    return first;
}

/* Updates the gaps of a party, gaps[v[0..n-1]], by row i of table k, which is one of its own. */
static void look_at_row(const struct course *c, size_t k, size_t i, struct course_gap *gaps,
                        const size_t *v, size_t n)
{
    const struct table *t = c->tables[k];
    int64_t end_ns = table_end(t, i);
    size_t next = first_gap_from(gaps, v, n, end_ns);
    bool is_hung = packed_get(&t->dur, i) >= c->hung_ns[k];

    for (size_t q = next; q-- > 0 && gaps[v[q]].at_ns >= t->start[i];)
        gaps[v[q]].n_waiting += is_hung || end_ns - t->start[i] >= gaps[v[q]].least_ns;
    if (table_failed(t, i) && is_hung)
        return;
    if (next < n)
        gaps[v[next]].before_ns = int64_max(end_ns, gaps[v[next]].before_ns);
    if (next > 0)
        gaps[v[next - 1]].after_ns = int64_min(end_ns, gaps[v[next - 1]].after_ns);
}

bool course_find_gaps(const struct course *c, const struct course_parties *p,
                      struct course_gap *gaps, size_t n, struct err *e)
{
    if (n == 0)
        return true;
    if (!c->has_requests)
        return find_gaps_by_seconds(c, p, gaps, n, e);
    size_t *first = NULL, *of = NULL; /* the gaps of party k are of[first[k]], ... */
    bool ok = mem_cleared(&first, p->n + 2, e) && mem_new(&of, n, e);
    for (size_t q = 0; ok && q < n; q++) {
        gaps[q].before_ns = INT64_MIN;
        gaps[q].after_ns = INT64_MAX;
        csort_count(first, gaps[q].party);
    }
    if (ok)
        csort_sum(first, p->n);
    for (size_t q = 0; ok && q < n; q++)
        of[csort_place(first, gaps[q].party)] = q;
    for (size_t k = 0; ok && k < c->n_ops; k++) {
        const struct table *t = c->tables[k];
        for (size_t i = 0; i < t->n; i++) {
            size_t party = course_party_of(p, k, course_place(t, i));
            if (party != UINT32_MAX && first[party] < first[party + 1])
                look_at_row(c, k, i, gaps, of + first[party], first[party + 1] - first[party]);
        }
    }
    for (size_t k = 0; ok && k < p->n; k++) {
        /* Two at_ns between which no request ended lie in one gap. */
        for (size_t q = first[k] + 1; q < first[k + 1]; q++)
            if (gaps[of[q]].before_ns == INT64_MIN)
                gaps[of[q]].before_ns = gaps[of[q - 1]].before_ns;
        for (size_t q = first[k + 1]; q-- > first[k] + 1;)
            if (gaps[of[q - 1]].after_ns == INT64_MAX)
                gaps[of[q - 1]].after_ns = gaps[of[q]].after_ns;
    }
    free(first);
    free(of);
    return ok;
}
