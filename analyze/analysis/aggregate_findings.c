#include "analyze/analysis/aggregate.h"

#include "analyze/data/errnorm.h"
#include "analyze/findings/by_second.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>

#define NS_PER_S INT64_C(1000000000)

static bool seconds_init(struct by_second *s, size_t n, struct err *e)
{
    return mem_cleared(&s->ok, n, e) && mem_cleared(&s->failed, n, e);
}

/* The first message of the entry, in `out`; NULL: there is none. */
static const char *first_message(const struct aggfile_entry *x, char out[ERRNORM_MAX_BYTES + 1])
{
    if (x->n_first_errors == 0)
        return NULL;
    out[aggregate_message(x, 0, out)] = '\0';
    return out;
}

static uint32_t to_count(double x)
{
    return x <= 0 ? 0 : x >= UINT32_MAX ? UINT32_MAX : (uint32_t)llround(x);
}

/* A second's objects stand for its requests. */
static void add_second(struct by_second *s, double objects_per_s, double objects_per_request,
                       int64_t n_errors)
{
    double n = objects_per_request > 0 ? objects_per_s / objects_per_request : objects_per_s;
    s->failed[s->n] = to_count((double)n_errors);
    s->ok[s->n++] = to_count(n - (double)n_errors);
}

static bool find_in_part(struct findings *out, const struct aggregate_part *part, const char *op,
                         struct err *e)
{
    const struct aggfile_entry *x = part->x;
    char message[ERRNORM_MAX_BYTES + 1];
    struct by_second s = {.op = op,
                          .start_ns = x->n_seconds > 0 ? aggregate_second_ns(part, 0) : 0,
                          .n_requests = x->n_requests,
                          .n_errors = x->n_errors,
                          .first_error = first_message(x, message)};
    double per_request = x->n_requests > 0 ? (double)x->n_objects / (double)x->n_requests : 0;
    bool ok = seconds_init(&s, x->n_seconds, e);

    /* A gap, which only a merge leaves, is the end of what can be told. */
    for (size_t i = 0; ok && i < x->n_seconds; i++) {
        if (i > 0 && x->seconds[i].label_s != x->seconds[i - 1].label_s + 1)
            break;
        add_second(&s, x->seconds[i].objects_per_s, per_request, x->seconds[i].n_errors);
    }
    ok = ok && by_second_find(out, &s, e);
    free(s.ok);
    free(s.failed);
    return ok;
}

/* Of a merged file: the seconds that all clients have, after the preparation. */
static bool find_in_common(struct findings *out, const struct aggregate *a, int64_t from_ns,
                           struct err *e)
{
    const struct aggfile_entry *x = a->total.x;
    char message[ERRNORM_MAX_BYTES + 1];
    struct by_second s = {.n_requests = x->n_requests,
                          .n_errors = x->n_errors,
                          .first_error = first_message(x, message)};
    double per_request = x->n_requests > 0 ? (double)x->n_objects / (double)x->n_requests : 0;
    bool ok = seconds_init(&s, a->n_sum, e);
    int64_t last_s = 0;

    for (size_t i = 0; ok && i < a->n_sum; i++) {
        const struct aggregate_sum_second *second = &a->sum[i];
        if (second->n_clients != a->clients.n ||
            second->start_s * NS_PER_S < from_ns + 2 * NS_PER_S)
            continue;
        if (s.n > 0 && second->start_s != last_s + 1)
            break;
        if (s.n == 0)
            s.start_ns = second->start_s * NS_PER_S;
        last_s = second->start_s;
        add_second(&s, second->objects_per_s, per_request, second->n_errors);
    }
    ok = ok && by_second_find(out, &s, e);
    free(s.ok);
    free(s.failed);
    return ok;
}

static bool find_uneven(struct findings *out, const struct aggfile_entry *x, struct err *e)
{
    const char **names = NULL;
    int64_t *n = NULL;
    bool ok = mem_new(&names, x->n_hosts, e) && mem_new(&n, x->n_hosts, e);

    for (size_t i = 0; ok && i < x->n_hosts; i++) {
        names[i] = x->hosts[i].name;
        n[i] = x->hosts[i].n_requests;
    }
    ok = ok && by_second_find_uneven(out, names, n, x->n_hosts, e);
    free(names);
    free(n);
    return ok;
}

bool aggregate_find(struct findings *out, const struct aggregate *a, struct err *e)
{
    int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
    bool ok = true;

    for (size_t i = 0; i < a->ops.n; i++) {
        const struct aggregate_part *part = &a->ops.v[i];
        if (part->is_preparation)
            continue;
        start_ns = int64_min(part->x->start_ns, start_ns);
        end_ns = int64_max(part->x->end_ns, end_ns);
        if (!a->overlaps && !a->is_merged)
            ok = ok && find_in_part(out, part, part->x->name, e);
    }
    if (start_ns > end_ns)
        return true;
    if (a->is_merged)
        ok = ok && find_in_common(out, a, start_ns, e);
    else if (a->overlaps)
        ok = ok && find_in_part(out, &a->total, NULL, e);
    return ok && find_uneven(out, a->total.x, e) && findings_rank(out, end_ns - start_ns, e);
}
