#include "analyze/aggregated/aggregate_internal.h"
#include "analyze/findings/course_seconds.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The input of a course: operations that overlap, or a single one. */
struct source {
    const struct aggregate *a;
    const struct aggregate_part *all; /* the entry of all these operations */
    const struct aggregate_part **ops;
    size_t n_ops;
};

static uint32_t to_count(double x)
{
    return x <= 0 ? 0 : x >= UINT32_MAX ? UINT32_MAX : (uint32_t)llround(x);
}

/* Fills the seconds, with objects in place of requests. Stops at a gap, which only a merge leaves.
 */
static bool fill_seconds(struct course *c, const struct source *s, struct err *e)
{
    const struct aggfile_entry *x = s->all->x;
    double per_request = x->n_requests > 0 ? (double)x->n_objects / (double)x->n_requests : 0;
    struct aggfile_second *v;
    size_t n = 1;

    if (!mem_new(&v, s->a->n_sum + x->n_seconds, e))
        return false;
    size_t n_all = s->a->is_merged
                       ? aggregate_common(s->a, c->start_ns + 2 * NS_PER_S, INT64_MAX, v)
                       : aggregate_own(s->n_ops == 1 ? s->ops[0] : s->all, v);
    while (n < n_all && v[n].label_s == v[n - 1].label_s + 1)
        n++;
    bool ok = n_all == 0 || course_seconds_grid(c, v[0].label_s, n, e);
    for (size_t i = 0; ok && i < n && n_all > 0; i++) {
        size_t bin = course_bin(c, v[i].label_s * NS_PER_S);
        double all = per_request > 0 ? v[i].objects_per_s / per_request : v[i].objects_per_s;

        c->failed[bin] += to_count((double)v[i].n_errors);
        c->ok[bin] += to_count(all - (double)v[i].n_errors);
    }
    if (ok && n_all > 0)
        c->full_until_ns = course_at_ns(c, c->n_bins, c->bin_ns);
    free(v);
    return ok;
}

/* Takes the middle of the groups' percentiles. */
static void fill_durations(struct course *c, size_t k, const struct aggregate_latency *l)
{
    bool is_single = l->kind == AGGREGATE_SINGLE;
    double p50_ms = is_single ? (l->p50.min_ms + l->p50.max_ms) / 2 : l->mean_ms;
    double p90_ms = is_single ? (l->p90.min_ms + l->p90.max_ms) / 2 : 2 * l->mean_ms;

    if (l->kind == AGGREGATE_NO_GROUPS || !(p50_ms >= 0 && p90_ms < 1e12))
        return;
    c->median_ns[k] = p50_ms * 1e6;
    c->p90_ns[k] = p90_ms * 1e6;
}

static bool fill_parties(struct course *c, struct course_parties *to, const struct aggfile_party *v,
                         size_t n, struct err *e)
{
    bool are_times_known = n > 0;

    if (!course_seconds_parties(c, to, n, false, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        to->name[i] = v[i].name;
        to->n_requests[i] = v[i].n_requests;
        to->first_ns[i] = v[i].start_ns;
        to->last_ns[i] = v[i].end_ns;
        are_times_known &= v[i].start_ns != AGGFILE_NO_TIME && v[i].end_ns != AGGFILE_NO_TIME;
    }
    if (!are_times_known) {
        free(to->first_ns);
        to->first_ns = NULL;
    }
    return true;
}

/* Fills the errors. The file has the number of failed requests, but only some of their messages, so
 * all become one message: of one kind, or of several kinds together. */
static bool fill_errors(struct course *c, const struct source *s, struct err *e)
{
    const struct aggfile_entry *x = s->all->x;
    char *const *messages = s->all->messages;
    size_t n_kinds = 1;

    if (x->n_errors == 0)
        return true;
    for (size_t i = 1; i < s->all->n_messages; i++)
        n_kinds += strcmp(messages[i], messages[0]) != 0;
    if (!mem_cleared(&c->messages, 1, e))
        return false;
    c->messages[c->n_messages++] = (struct course_message){
        .text = s->all->n_messages > 0 ? messages[0] : "messages are not in the file",
        .n = x->n_errors,
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
    for (size_t i = 0; i < c->hosts.n; i++)
        m->by_host[i] = x->hosts[i].n_errors;
    for (size_t i = 0; i < c->clients.n; i++)
        m->by_client[i] = x->clients[i].n_errors;
    for (size_t k = 0; k < c->n_ops; k++)
        m->by_op[k] = s->ops[k]->x->n_errors;
    return true;
}

static bool fill_course(struct course *c, const struct source *s, struct err *e)
{
    const struct aggfile_entry *all = s->all->x;

    if (!course_init(c, s->n_ops, e))
        return false;
    c->n = all->n_requests;
    c->n_failed = all->n_errors;
    c->n_threads = all->n_threads;
    for (size_t k = 0; k < s->n_ops; k++) {
        const struct aggfile_entry *x = s->ops[k]->x;
        c->ops[k] = (struct course_op){x->name, x->n_requests};
        c->start_ns = int64_min(x->start_ns, c->start_ns);
        c->end_ns = int64_max(x->end_ns, c->end_ns);
        c->hung_ns[k] = INT64_MAX;
        fill_durations(c, k, &s->ops[k]->latency);
    }
    c->last_start_ns = c->end_ns; /* as far as is known */
    return fill_seconds(c, s, e) && fill_parties(c, &c->hosts, all->hosts, all->n_hosts, e) &&
           fill_parties(c, &c->clients, all->clients, all->n_clients, e) && fill_errors(c, s, e);
}

bool aggregate_course(struct course *c, const void *aggregate, size_t first, size_t end,
                      struct err *e)
{
    const struct aggregate *a = aggregate;
    struct source s = {.a = a, .all = a->overlaps ? &a->total : a->in_order[first]};

    *c = (struct course){0};
    if (!mem_new(&s.ops, end - first, e))
        return false;
    for (size_t k = first; k < end; k++)
        if (!a->overlaps || a->in_order[k]->role != ROLE_PREPARATION)
            s.ops[s.n_ops++] = a->in_order[k];
    bool ok = fill_course(c, &s, e);
    free(s.ops);
    return ok;
}
