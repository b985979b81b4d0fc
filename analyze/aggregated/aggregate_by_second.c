/* Figures of an operation by whole seconds, as comparisons take them: the run without its first two
 * and last two seconds, with failed requests. */
#include "analyze/aggregated/aggregate_internal.h"
#include "analyze/estimate/by_second.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>

static const char *const with_failed = "its bytes and objects include failed requests";

size_t aggregate_common(const struct aggregate *a, int64_t from_ns, int64_t to_ns,
                        struct aggfile_second *out)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n_sum; i++) {
        const struct aggregate_sum_second *x = &a->sum[i];
        int64_t start_ns = x->start_s * NS_PER_S;

        if (x->n_clients == a->clients.n && start_ns >= from_ns && start_ns <= to_ns)
            out[n++] =
                (struct aggfile_second){x->start_s, x->bytes_per_s, x->objects_per_s, x->n_errors};
    }
    return n;
}

size_t aggregate_own(const struct aggregate_part *part, struct aggfile_second *out)
{
    for (size_t i = 0; i < part->x->n_seconds; i++) {
        out[i] = part->x->seconds[i];
        out[i].label_s = aggregate_second_ns(part, i) / NS_PER_S;
    }
    return part->x->n_seconds;
}

static double mean_of(const double *v, size_t n)
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return (double)(sum / (long double)n);
}

/* Takes the objects of each second for its requests, if each request has one object. */
static void fill_seconds(struct by_second *to, const struct aggfile_second *v,
                         const struct aggfile_entry *x)
{
    to->lacks_requests = x->n_objects != x->n_requests;
    for (size_t i = 0; i < to->n; i++) {
        to->bytes[i] = v[i].bytes_per_s;
        to->objects[i] = v[i].objects_per_s;
        to->errors[i] = v[i].n_errors;
        to->requests[i] = llround(fmin(v[i].objects_per_s, 1e15));
        if (to->requests[i] < v[i].n_errors)
            to->requests[i] = v[i].n_errors;
    }
}

static struct segment_pick pick_of(const struct aggfile_second *x)
{
    return (struct segment_pick){x->label_s * NS_PER_S, x->bytes_per_s, x->objects_per_s};
}

static bool fill_rates(struct operation *op, const struct aggfile_second *v,
                       const struct by_second *s, struct err *e)
{
    struct aggregate_window w = {.by_bytes = op->n_bytes > 0};

    if (!aggregate_pick(&w, v, s->n, e))
        return false;
    op->throughput = (struct throughput){.present = true,
                                         .known = {.absent = THROUGHPUT_PARTS | THROUGHPUT_ENDED},
                                         .start_ns = op->range.start_ns,
                                         .duration_ns = op->range.end_ns - op->range.start_ns,
                                         .n_bytes = op->n_bytes,
                                         .bytes_per_s = mean_of(s->bytes, s->n),
                                         .objects_per_s = mean_of(s->objects, s->n)};
    op->segments = (struct segments){.present = true,
                                     .duration_ns = NS_PER_S,
                                     .n = (int64_t)s->n,
                                     .by_objects = !w.by_bytes,
                                     .fastest = pick_of(&v[w.fastest]),
                                     .median = pick_of(&v[w.median]),
                                     .slowest = pick_of(&v[w.slowest])};
    return true;
}

bool aggregate_by_second(struct operation *op, const struct aggregate *a,
                         const struct aggregate_part *part, struct err *e)
{
    const struct aggfile_entry *x = part->x;
    bool is_sum = a->is_merged && !a->overlaps && a->n_sum > 0;
    struct by_second s = {0};
    struct aggfile_second *v;

    if (!mem_new(&v, is_sum ? a->n_sum : x->n_seconds, e))
        return false;
    /* The series of a merged file lacks some of these seconds, and has others in which not all
     * clients ran. */
    size_t n = is_sum ? aggregate_common(a, (x->start_ns / NS_PER_S + 2) * NS_PER_S,
                                         x->end_ns - 2 * NS_PER_S, v)
                      : aggregate_own(part, v);
    bool ok = by_second_init(&s, n, e);
    if (ok)
        fill_seconds(&s, v, x);
    int64_t start_ns = n > 0 ? v[0].label_s * NS_PER_S : 0;
    op->range = (struct span){n > 0, start_ns, start_ns + (int64_t)n * NS_PER_S};
    op->segments = (struct segments){0};
    op->throughput = (struct throughput){.known.why = x->n_errors > 0 ? with_failed : NULL};
    ok = ok && (n == 0 || x->n_errors > 0 || fill_rates(op, v, &s, e));
    op->judged = op->throughput;
    ok = ok && by_second_statistics(op, &s, e);
    by_second_fini(&s);
    free(v);
    return ok;
}
