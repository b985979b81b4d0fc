/* Makes the course of a run from its sums. Findings are searched for in the course. */
#include "analyze/analysis/sums/foreign_internal.h"
#include "analyze/analysis/sums/sums_internal.h"
#include "analyze/findings/course.h"
#include "analyze/stats/stats.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT_WORK     .9        /* of the usual number of requests in flight */
#define FEW_AT_WORK .25       /* the same, where threads end one by one */
#define MAX_ENDED   (1 << 22) /* counts by second, of all hosts, clients and operations */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t sums_course_party(const struct course_parties *p, const char *name)
{
    const char **at = bsearch(&name, p->name, p->n, sizeof *p->name, compare_names);
    return at != NULL ? (size_t)(at - p->name) : SIZE_MAX;
}

/* Returns the bin of second i of a part. */
static size_t bin_of(const struct course *c, const struct sums_part *part, size_t i)
{
    return course_bin(c, (part->first_s + (int64_t)i) * NS_PER_S);
}

static uint32_t to_count(int64_t n)
{
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* ---- All of it, by operation ---- */

static void begin(struct course *c, const struct sums_op *const *ops, int64_t *first_s,
                  int64_t *end_s)
{
    *first_s = INT64_MAX;
    *end_s = INT64_MIN;
    for (size_t k = 0; k < c->n_ops; k++) {
        const struct sums_part *p = &ops[k]->all;
        c->ops[k] = (struct course_op){ops[k]->op, p->n_requests};
        c->n += p->n_requests;
        c->n_failed += p->n_errors;
        c->start_ns = int64_min(p->start_ns, c->start_ns);
        c->end_ns = int64_max(p->end_ns, c->end_ns);
        *first_s = int64_min(p->first_s, *first_s);
        *end_s = int64_max(p->first_s + (int64_t)p->n_seconds, *end_s);
    }
}

static void add_busy(const struct course *c, int64_t *busy_ns, const struct sums_part *p)
{
    for (size_t i = 0; i < p->n_seconds; i++)
        busy_ns[bin_of(c, p, i)] += p->seconds[i].busy_ns;
}

/* Returns the sum of the durations of a part's failed requests. */
static __int128 failed_ns(const struct sums_part *p)
{
    __int128 sum = -p->duration.moments.sum;
    for (size_t i = 0; i < p->n_seconds; i++)
        sum += p->seconds[i].busy_ns;
    return sum;
}

/* Whether the failed requests of operation k took as long as hanging ones (hung_ns), on average. */
static bool do_errors_time_out(const struct course *c, size_t k, const struct sums_part *p)
{
    return p->n_errors > 0 && failed_ns(p) / p->n_errors >= c->hung_ns[k];
}

static bool fill_operations(struct course *c, const struct sums_op *const *ops, struct err *e)
{
    if (!course_seconds_parties(c, &c->operations, c->n_ops, true, e) ||
        !mem_cleared(&c->busy_ns, c->n_bins, e))
        return false;
    for (size_t k = 0; k < c->n_ops; k++) {
        const struct sums_part *p = &ops[k]->all;
        int64_t n = p->duration.moments.n;

        c->operations.name[k] = ops[k]->op;
        c->operations.n_requests[k] = p->n_requests;
        if (c->operations.busy_ns != NULL)
            add_busy(c, c->operations.busy_ns[k], p);
        if (n > 0) {
            c->median_ns[k] = (double)sums_value_at(&p->duration, n / 2);
            c->p90_ns[k] = (double)sums_value_at(&p->duration, n / 10 * 9 + n % 10 * 9 / 10);
        }
        c->hung_ns[k] = (int64_t)fmin(COURSE_HUNG_TIMES * c->p90_ns[k], 0x1p62);
        for (size_t i = 0; i < p->n_seconds; i++) {
            const struct sums_second *s = &p->seconds[i];
            c->ok[bin_of(c, p, i)] += to_count(s->n_ended);
            c->failed[bin_of(c, p, i)] += to_count(s->n_failed);
            c->busy_ns[bin_of(c, p, i)] += s->busy_ns;
            if (s->n_started > 0)
                c->full_until_ns =
                    int64_max(course_bin_start_ns(c, bin_of(c, p, i)), c->full_until_ns);
        }
    }
    c->last_start_ns = int64_min(c->full_until_ns + c->bin_ns, c->end_ns);
    return true;
}

static double mean_busy(const struct course *c, size_t from, size_t n)
{
    double sum = 0;
    for (size_t j = from; j < from + n; j++)
        sum += (double)c->busy_ns[j];
    return sum / (double)n;
}

/* If the number of requests in flight falls to almost none at the end, moves full_until_ns to where
 * the fall begins: threads ended one after the other, each after its share of requests. */
static bool leave_out_fading(struct course *c, struct err *e)
{
    double *busy;
    if (c->open_loop || c->n_bins < 2)
        return true;
    if (!mem_new(&busy, c->n_bins, e))
        return false;
    size_t end = c->n_bins - 1, from = end; /* the last second may be a part of one */
    for (size_t j = 0; j < end; j++)
        busy[j] = (double)c->busy_ns[j];
    double usual = stats_select(busy, end, end * 9 / 10); /* 90th percentile: in most seconds few
                                                             threads may be at work */
    free(busy);
    while (from > 0 && (double)c->busy_ns[from - 1] < AT_WORK * usual)
        from--;
    size_t third = (end - from) / 3;
    if (third > 0 && (double)c->busy_ns[end - 1] <= FEW_AT_WORK * usual &&
        2 * mean_busy(c, end - third, third) <= mean_busy(c, from, third))
        c->full_until_ns = int64_min(course_bin_start_ns(c, from), c->full_until_ns);
    return true;
}

/* ---- Hosts and clients ---- */

bool sums_course_parties(struct course *c, struct course_parties *to, const struct sums_op *ops,
                         bool are_seconds_known, struct err *e)
{
    struct sums_groups g;
    bool ok = sums_groups_init(&g, ops, c->n_ops, to->clients ? SUMS_BY_CLIENT : SUMS_BY_HOST, e) &&
              course_seconds_parties(c, to, g.n, are_seconds_known, e);
    bool are_times_known = are_seconds_known || g.n > 0;

    for (size_t i = 0; ok && i < g.n; i++) {
        to->name[i] = g.v[i].name;
        to->first_ns[i] = INT64_MAX;
        to->last_ns[i] = INT64_MIN;
        for (size_t k = 0; k < g.v[i].n; k++) {
            const struct sums_part *p = g.v[i].part[k];

            to->n_requests[i] += p->n_requests;
            to->first_ns[i] = int64_min(p->start_ns, to->first_ns[i]);
            to->last_ns[i] = int64_max(p->end_ns, to->last_ns[i]);
            are_times_known &= p->start_ns <= p->end_ns;
            if (to->busy_ns != NULL)
                add_busy(c, to->busy_ns[i], p);
        }
    }
    if (ok && !are_times_known) {
        free(to->first_ns);
        to->first_ns = NULL;
    }
    sums_groups_fini(&g);
    return ok;
}

/* ---- Durations ---- */

/* Nobody knows which client sent requests to which host, so each host is a place of its own, and
 * each client is another. */
static bool make_places(struct course *c, struct err *e)
{
    size_t n = c->n_places = c->hosts.n + c->clients.n;
    size_t per_block = (c->n_bins + COURSE_MAX_BLOCKS - 1) / COURSE_MAX_BLOCKS;

    c->block_ns = (int64_t)per_block * c->bin_ns;
    c->n_blocks = (c->n_bins + per_block - 1) / per_block;
    if (!mem_new(&c->hosts.of_place, n, e) || !mem_new(&c->clients.of_place, n, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        c->hosts.of_place[i] = i < c->hosts.n ? (uint32_t)i : UINT32_MAX;
        c->clients.of_place[i] = i < c->hosts.n ? UINT32_MAX : (uint32_t)(i - c->hosts.n);
    }
    bool has_ended = c->operations.busy_ns != NULL && c->hosts.busy_ns != NULL &&
                     c->clients.busy_ns != NULL && n + c->n_ops <= MAX_ENDED / c->n_bins;
    return (!has_ended || mem_cleared(&c->ended, c->n_bins * (n + c->n_ops), e)) &&
           (c->n_ops * n > COURSE_MAX_CELLS / c->n_blocks ||
            mem_cleared(&c->cells, c->n_ops * n * c->n_blocks, e));
}

/* Counts the requests of an operation that ended at one place. */
static void add_ended(struct course *c, size_t k, size_t place, const struct sums_part *p)
{
    bool time_out = do_errors_time_out(c, k, p);

    for (size_t i = 0; i < p->n_seconds; i++) {
        const struct sums_second *s = &p->seconds[i];
        size_t bin = bin_of(c, p, i);
        uint32_t n = to_count(s->n_ended + (time_out ? 0 : s->n_failed));

        if (c->ended != NULL)
            course_ended(c, bin)[place] += n;
        if (place >= c->hosts.n)
            continue;
        if (c->ended != NULL)
            course_ended(c, bin)[c->n_places + k] += n;
        c->timed_out[bin] += time_out ? to_count(s->n_failed) : 0;
    }
}

/* Whether the requests of a part are like all of the operation in size and number of objects: a
 * host or a client with larger ones is not compared with the others. */
static bool is_like(const struct sums_part *p, const struct sums_part *all)
{
    double n = (double)(p->n_requests - p->n_errors),
           n_all = (double)(all->n_requests - all->n_errors);
    double bytes = (double)p->n_bytes * n_all / ((double)all->n_bytes * n),
           objects = (double)p->n_objects * n_all / ((double)all->n_objects * n);

    return n > 0 && !(fabs(log(bytes)) > log(COURSE_EQUAL_SIZES)) &&
           !(fabs(log(objects)) > log(COURSE_EQUAL_SIZES));
}

/* Adds the requests that ended in each second, with the logarithm of the second's mean duration. */
static void add_durations(struct course *c, size_t k, size_t place, const struct sums_part *p,
                          const struct sums_part *all)
{
    for (size_t i = 0; i < p->n_seconds && is_like(p, all); i++) {
        const struct sums_second *s = &p->seconds[i];
        struct course_cell *cell =
            course_cell(c, k, place, bin_of(c, p, i) / (size_t)(c->block_ns / c->bin_ns));

        if (s->n_ended == 0)
            continue;
        double n = (double)s->n_ended;
        cell->n += n;
        cell->log += n * log(fmax((double)s->ended_ns / n, 1));
    }
}

static void fill_places(struct course *c, const struct sums_op *const *ops)
{
    for (size_t k = 0; k < c->n_ops; k++) {
        const struct sums_parts *hosts = &ops[k]->hosts, *clients = &ops[k]->clients;

        for (size_t i = 0; i < hosts->n + clients->n; i++) {
            const struct sums_part *p = i < hosts->n ? &hosts->v[i] : &clients->v[i - hosts->n];
            size_t place = i < hosts->n ? sums_course_party(&c->hosts, p->name)
                                        : c->hosts.n + sums_course_party(&c->clients, p->name);

            add_ended(c, k, place, p);
            if (c->cells != NULL)
                add_durations(c, k, place, p, &ops[k]->all);
        }
    }
}

/* What is due is what begins, unless the loop falls behind, which lateness shows. Files of sums
 * without lateness tell by response times that something began late, and not when. */
static bool is_due_known(const struct course *c, const struct sums_op *const *ops)
{
    int64_t late_ns = 0;
    bool was_late = false;

    for (size_t k = 0; k < c->n_ops; k++) {
        const struct sums_part *p = &ops[k]->all;

        was_late = was_late || ops[k]->response.moments.sum > p->duration.moments.sum;
        for (size_t i = 0; i < p->n_seconds; i++)
            late_ns |= p->seconds[i].late_ns;
    }
    return c->open_loop && (late_ns > 0 || !was_late);
}

static bool fill_load(struct course *c, const struct sums_op *const *ops, struct err *e)
{
    bool has_due = is_due_known(c, ops);

    if (!course_load_init(c, c->n_ops, e) ||
        (has_due &&
         (!mem_cleared(&c->load.due, c->n_blocks, e) || !mem_cleared(&c->late_n, c->n_blocks, e) ||
          !mem_cleared(&c->late_ns, c->n_blocks, e))))
        return false;
    for (size_t j = 0; j < c->n_bins; j++)
        c->load.under_way[j / (size_t)(c->block_ns / c->bin_ns)] +=
            (double)c->busy_ns[j] / (double)c->block_ns;
    c->n_strata = c->stratum_of_op[c->n_ops] = c->n_ops;
    for (size_t k = 0; k < c->n_ops; k++) {
        const struct sums_part *p = &ops[k]->all;
        const struct moments *m = &p->duration.moments;

        /* A mean of n durations varies by their coefficient of variation / sqrt(n), and so does its
         * logarithm. */
        c->strata[k] = (struct course_stratum){
            .op = k,
            .n = (double)m->n,
            .sd = m->n > 1 ? moments_stddev(m) / fmax(moments_mean(m), 1) : 0};
        c->load.stratum[k] = c->stratum_of_op[k] = k;
        for (size_t i = 0; i < p->n_seconds; i++) {
            const struct sums_second *s = &p->seconds[i];
            size_t b = bin_of(c, p, i) / (size_t)(c->block_ns / c->bin_ns);
            struct course_work *w = course_work(c, k, b);
            double n = (double)s->n_ended;

            w->n += n;
            w->n_ended += n;
            w->ns += (double)s->ended_ns;
            w->log += n > 0 ? n * log(fmax((double)s->ended_ns / n, 1)) : 0;
            w->bytes += (double)s->n_bytes;
            w->objects += (double)s->n_micro_objects / 1e6;
            if (has_due) {
                c->load.due[b] += (double)s->n_started;
                c->late_n[b] += s->n_started;
                c->late_ns[b] += (double)s->late_ns;
            }
        }
    }
    return true;
}

/* ---- Errors ---- */

static bool fill_messages(struct course *c, const struct sums_op *const *ops, struct err *e)
{
    size_t n = 0;
    for (size_t k = 0; k < c->n_ops; k++)
        n += ops[k]->n_errors;
    const char **texts;
    if (!mem_new(&texts, n, e))
        return false;
    n = 0;
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < ops[k]->n_errors; i++)
            texts[n++] = ops[k]->errors[i].message;
    qsort(texts, n, sizeof *texts, compare_names);
    bool ok = mem_cleared(&c->messages, n, e);
    for (size_t i = 0; ok && i < n; i++)
        if (i == 0 || strcmp(texts[i], texts[i - 1]) != 0) {
            c->messages[c->n_messages] = (struct course_message){
                .text = texts[i], .id = i, .first_ns = INT64_MAX, .last_ns = INT64_MIN};
            c->n_messages++;
        }
    free(texts);
    return ok;
}

static size_t message_of(const struct course *c, const char *text)
{
    size_t k = 0;
    while (k + 1 < c->n_messages && strcmp(c->messages[k].text, text) != 0)
        k++;
    return k;
}

static void count_messages(struct course *c, const struct sums_op *const *ops)
{
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < ops[k]->n_errors; i++) {
            const struct sums_error *x = &ops[k]->errors[i];
            struct course_message *m = &c->messages[message_of(c, x->message)];

            m->n += x->n;
            m->first_ns = int64_min(x->first_ns, m->first_ns);
            m->last_ns = int64_max(x->last_ns, m->last_ns);
        }
}

/* Adds the errors of an operation at one of its hosts. */
static bool add_errors(struct course *c, size_t k, const struct sums_op *op,
                       const struct sums_part *host, struct err *e)
{
    struct course_share *shares = NULL;
    uint32_t *failed = NULL;
    size_t n_kinds = 0;
    bool ok = mem_cleared(&shares, c->n_messages, e) && mem_cleared(&failed, c->n_bins, e);

    for (size_t i = 0; ok && i < host->n_seconds; i++)
        failed[bin_of(c, host, i)] += to_count(host->seconds[i].n_failed);
    for (size_t i = 0; ok && i < op->n_errors; i++) {
        const struct sums_error *x = &op->errors[i];
        size_t m = message_of(c, x->message);
        struct course_share *share = &shares[m];

        if (strcmp(x->host, host->name) != 0)
            continue;
        share->first_ns = share->n > 0 ? int64_min(x->first_ns, share->first_ns) : x->first_ns;
        share->last_ns = share->n > 0 ? int64_max(x->last_ns, share->last_ns) : x->last_ns;
        n_kinds += share->n == 0;
        share->n += x->n;
        c->messages[m].by_op[k] += x->n;
        c->messages[m].by_host[sums_course_party(&c->hosts, host->name)] += x->n;
        c->messages[m].took_ns += failed_ns(host) * x->n / int64_max(host->n_errors, 1);
        if (c->clients.n == 1)
            c->messages[m].by_client[0] += x->n;
    }
    ok = ok && (n_kinds == 0 || course_seconds_errors(c, failed, shares, e));
    free(shares);
    free(failed);
    return ok;
}

/* Fills the errors of each client. They are known only if all errors have one message. */
static void fill_errors_of_clients(struct course *c, const struct sums_op *const *ops)
{
    for (size_t k = 0; c->clients.n > 1 && c->n_messages == 1 && k < c->n_ops; k++)
        for (size_t i = 0; i < ops[k]->clients.n; i++) {
            const struct sums_part *p = &ops[k]->clients.v[i];
            c->messages[0].by_client[sums_course_party(&c->clients, p->name)] += p->n_errors;
        }
}

static bool fill_errors(struct course *c, const struct sums_op *const *ops, struct err *e)
{
    if (!fill_messages(c, ops, e))
        return false;
    count_messages(c, ops);
    if (!course_choose_messages(c, e))
        return false;
    for (size_t i = 0; i < c->n_messages; i++)
        c->messages[i].n = 0;
    count_messages(c, ops); /* count again: rare messages are merged by now */
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < ops[k]->hosts.n; i++)
            if (!add_errors(c, k, ops[k], &ops[k]->hosts.v[i], e))
                return false;
    fill_errors_of_clients(c, ops);
    return true;
}

bool sums_course(struct course *c, const struct sums *s, const struct sums_op *const *ops, size_t n,
                 struct err *e)
{
    const struct sums_op *all = n == 1 ? ops[0] : s->ops;
    int64_t first_s, end_s;

    if (!course_init(c, n, e))
        return false;
    begin(c, ops, &first_s, &end_s);
    if (s->foreign != NULL)
        return foreign_course(c, s, ops, n, e);
    if (c->n == 0 || end_s <= first_s)
        return true;
    c->n_threads = n == 1 ? ops[0]->n_threads : s->n_threads;
    c->open_loop = s->has_intended;
    if (!course_seconds_grid(c, first_s, (size_t)(end_s - first_s), e) ||
        !fill_operations(c, ops, e) || !leave_out_fading(c, e) ||
        !sums_course_parties(c, &c->hosts, all, true, e) ||
        !sums_course_parties(c, &c->clients, all, true, e) || !make_places(c, e))
        return false;
    fill_places(c, ops);
    return fill_load(c, ops, e) && fill_errors(c, ops, e);
}
