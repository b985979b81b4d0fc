/* Statistics of sums: quantiles of their histograms, and rates by their seconds. */
#include "analyze/analysis/sums/sums_internal.h"
#include "analyze/summary/estimate/by_second.h"
#include "analyze/summary/estimate/confidence.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

static bool fill_latency(struct statistics_latency *to, const struct sums_values *v, struct err *e)
{
    to->times = sums_times(v);
    if (!to->times.present)
        return true;
    for (size_t i = 0; i < STATISTICS_N_QUANTILES; i++)
        to->q[i].ci = (struct stats_ci){.why = SUMS_NO_ORDER,
                                        .value = (double)sums_quantile(v, statistics_permille[i])};
    to->first_bucket = v->bucket[0];
    to->n_buckets = v->bucket[v->n_buckets - 1] - v->bucket[0] + 1;
    if (!mem_cleared(&to->count, to->n_buckets, e))
        return false;
    for (size_t i = 0; i < v->n_buckets; i++)
        to->count[v->bucket[i] - v->bucket[0]] = (uint64_t)v->count[i];
    return true;
}

/* Fills the seconds of [range], those outside of the part with zeros. */
static void fill_seconds(struct by_second *to, const struct sums_part *p, const struct span *range)
{
    int64_t first = range->start_ns / NS_PER_S - p->first_s;

    for (size_t i = 0; i < to->n; i++) {
        int64_t k = first + (int64_t)i;
        if (k < 0 || k >= (int64_t)p->n_seconds)
            continue;
        const struct sums_second *s = &p->seconds[k];
        to->bytes[i] = (double)s->n_bytes;
        to->objects[i] = sums_objects(s);
        to->errors[i] = s->n_failed;
        to->requests[i] = s->n_ended + s->n_failed;
    }
}

bool sums_by_second(struct operation *to, const struct sums_part *p, bool lacks_requests,
                    struct err *e)
{
    const struct span *range = &to->range;
    size_t n = range->present ? (size_t)((range->end_ns - range->start_ns) / NS_PER_S) : 0;
    struct by_second s;
    bool ok = by_second_init(&s, n, e);

    s.lacks_requests = lacks_requests;
    if (ok)
        fill_seconds(&s, p, range);
    ok = ok && by_second_statistics(to, &s, e) &&
         fill_latency(&to->statistics->duration, &p->duration, e) &&
         fill_latency(&to->statistics->ttfb, &p->ttfb, e);
    by_second_fini(&s);
    return ok;
}
