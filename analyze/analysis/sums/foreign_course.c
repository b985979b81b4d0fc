/* Makes the course of a run from the totals of another recorder. */
#include "analyze/analysis/sums/foreign_internal.h"
#include "analyze/analysis/sums/sums_internal.h"
#include "analyze/findings/course.h"
#include "analyze/summary/model/model.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t to_count(double x)
{
    return x <= 0 ? 0 : x >= UINT32_MAX ? UINT32_MAX : (uint32_t)llround(x);
}

/* Fills the seconds, with objects in place of requests. Stops at a gap, which only a merge leaves.
 */
static bool fill_seconds(struct course *c, const struct foreign *f, const struct sums_part *all,
                         struct err *e)
{
    double per_request = all->n_requests > 0 ? (double)all->n_objects / (double)all->n_requests : 0;
    struct foreign_seconds x;
    size_t n = 1;
    bool ok = f->is_merged ? foreign_seconds(&x, &f->together, (int64_t)f->all.clients.n,
                                             c->start_ns + 2 * NS_PER_S, INT64_MAX, e)
                           : foreign_seconds(&x, all, 1, INT64_MIN, INT64_MAX, e);

    while (n < x.n && x.at_s[n] == x.at_s[n - 1] + 1)
        n++;
    ok = ok && (x.n == 0 || course_seconds_grid(c, x.at_s[0], n, e));
    for (size_t i = 0; ok && i < n && x.n > 0; i++) {
        size_t bin = course_bin(c, x.at_s[i] * NS_PER_S);
        double n_all = sums_objects(&x.v[i]) / (per_request > 0 ? per_request : 1);

        c->failed[bin] += to_count((double)x.v[i].n_failed);
        c->ok[bin] += to_count(n_all - (double)x.v[i].n_failed);
    }
    if (ok && x.n > 0)
        c->full_until_ns = course_at_ns(c, c->n_bins, c->bin_ns);
    foreign_seconds_fini(&x);
    return ok;
}

/* Takes the middle of the groups' percentiles. */
static bool fill_durations(struct course *c, size_t k, const struct sums_op *op, struct err *e)
{
    struct requests q;
    bool ok = foreign_requests(&q, op, e);

    if (q.present && q.single_size) {
        c->median_ns[k] = (q.groups.p50.least_ns + q.groups.p50.most_ns) / 2;
        c->p90_ns[k] = (q.groups.p90.least_ns + q.groups.p90.most_ns) / 2;
    } else if (q.present) {
        c->median_ns[k] = q.all.dur.mean_ns;
        c->p90_ns[k] = 2 * q.all.dur.mean_ns;
    }
    free(q.sizes);
    return ok;
}

/* Fills the errors. The file has the number of failed requests, but only some of their messages, so
 * all become one message: of one kind, or of several kinds together. */
static bool fill_errors(struct course *c, const struct sums_op *all,
                        const struct sums_op *const *ops, struct err *e)
{
    size_t n_kinds = 1;

    if (all->all.n_errors == 0)
        return true;
    for (size_t i = 1; i < all->n_errors; i++)
        n_kinds += strcmp(all->errors[i].message, all->errors[0].message) != 0;
    if (!mem_cleared(&c->messages, 1, e))
        return false;
    c->messages[c->n_messages++] = (struct course_message){
        .text = all->n_errors > 0 ? all->errors[0].message : "messages are not in the file",
        .n = all->all.n_errors,
        .last_ns = INT64_MIN};
    struct course_message *m = c->messages;
    if (!course_choose_messages(c, e))
        return false;
    m->n_kinds = n_kinds;
    int64_t n_seen = 0;
    for (size_t j = 0; j < c->n_bins; j++) {
        m->by_bin[j] = c->failed[j];
        n_seen += c->failed[j];
        if (c->failed[j] == 0)
            continue;
        m->first_ns = m->last_ns == INT64_MIN ? course_bin_start_ns(c, j) : m->first_ns;
        m->last_ns = course_bin_start_ns(c, j + 1);
    }
    if (n_seen < m->n && (n_seen == 0 || c->failed[0] > 0))
        m->first_ns = c->start_ns;
    if (n_seen < m->n && (n_seen == 0 || c->failed[c->n_bins - 1] > 0))
        m->last_ns = c->end_ns;
    for (size_t k = 0; k < c->n_ops; k++) {
        const struct sums_parts *hosts = &ops[k]->hosts, *clients = &ops[k]->clients;

        m->by_op[k] = ops[k]->all.n_errors;
        for (size_t i = 0; i < hosts->n; i++)
            m->by_host[sums_course_party(&c->hosts, hosts->v[i].name)] += hosts->v[i].n_errors;
        for (size_t i = 0; i < clients->n; i++)
            m->by_client[sums_course_party(&c->clients, clients->v[i].name)] +=
                clients->v[i].n_errors;
    }
    return true;
}

bool foreign_course(struct course *c, const struct sums *s, const struct sums_op *const *ops,
                    size_t n, struct err *e)
{
    const struct foreign *f = s->foreign;
    const struct sums_op *all = n == 1 ? ops[0] : &f->all;

    c->n = all->all.n_requests;
    c->n_failed = all->all.n_errors;
    c->n_threads = all->n_threads;
    for (size_t k = 0; k < n; k++) {
        c->hung_ns[k] = INT64_MAX;
        if (!fill_durations(c, k, ops[k], e))
            return false;
    }
    c->last_start_ns = c->end_ns; /* as far as is known */
    return fill_seconds(c, f, &all->all, e) &&
           sums_course_parties(c, &c->hosts, n == 1 ? ops[0] : s->ops, false, e) &&
           sums_course_parties(c, &c->clients, n == 1 ? ops[0] : s->ops, false, e) &&
           fill_errors(c, all, ops, e);
}
