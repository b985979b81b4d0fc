#include "analyze/findings/by_second.h"

#include "analyze/findings/find.h"
#include "analyze/stats/stats.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>

#define NS_PER_S      INT64_C(1000000000)
#define STALL_FRAC    .1   /* of the usual rate, as in a course of requests */
#define LEAST_MISSING 25.0 /* requests: fewer can fail to come by chance */
#define PROBLEM_SHARE .01  /* of failed requests */
#define BURST_FRAC    .9   /* of the run; errors that last longer are steady */
#define UNEVEN_RATIO  1.10
#define UNEVEN_Z      5.0

/* The median second of those that are no stall themselves: a run may stand still for most of its
 * time. */
static bool usual_rate(const struct by_second *s, double *usual, struct err *e)
{
    double *v, most = 0;
    size_t n = 0;

    if (!mem_new(&v, s->n, e))
        return false;
    for (size_t i = 0; i < s->n; i++)
        most = fmax(most, (double)s->ok[i] + (double)s->failed[i]);
    for (size_t i = 0; i < s->n; i++)
        if ((double)s->ok[i] + (double)s->failed[i] > STALL_FRAC * most)
            v[n++] = (double)s->ok[i] + (double)s->failed[i];
    *usual = n > 0 ? stats_sort_median(v, n) : 0;
    free(v);
    return true;
}

static bool say_stall(struct search *search, const struct by_second *s, size_t first, size_t end,
                      double usual, struct err *e)
{
    double n = 0;
    int64_t start_ns = s->start_ns + (int64_t)first * NS_PER_S,
            length_ns = (int64_t)(end - first) * NS_PER_S;

    for (size_t i = first; i < end; i++)
        n += (double)s->ok[i] + (double)s->failed[i];
    double frac = n / (usual * (double)(end - first));
    struct finding f =
        finding_of("stall", FINDING_PROBLEM, search_frac(search, length_ns) * (1 - frac));
    f.op = s->op;
    f.has_start = f.has_end = true;
    f.start_ns = start_ns;
    f.end_ns = start_ns + length_ns;
    f.ratio = frac;
    finding_figure(&f, "rate_frac", frac);
    /* What led to it and out of it says nothing of a level either. */
    search_mask(search, int64_max(start_ns - NS_PER_S, s->start_ns), f.end_ns, MASK_STALL);
    return findings_add(search->out, &f, e, "Stalled for %s from %s (%.0f %% of the usual rate)",
                        units_duration(length_ns).s, find_clock(start_ns).s, 100 * frac);
}

static bool find_second_stalls(struct search *search, const struct by_second *s, struct err *e)
{
    double usual = 0;
    if (!usual_rate(s, &usual, e))
        return false;
    for (size_t i = 0; i < s->n; i++) {
        size_t first = i;
        while (i < s->n && (double)s->ok[i] + (double)s->failed[i] <= STALL_FRAC * usual)
            i++;
        if ((double)(i - first) * usual >= LEAST_MISSING &&
            !say_stall(search, s, first, i, usual, e))
            return false;
    }
    return true;
}

static bool find_second_errors(struct search *search, const struct by_second *s, struct err *e)
{
    double n_seen = 0, n_within = 0;
    size_t first = s->n, last = 0;

    if (s->n_errors == 0)
        return true;
    for (size_t i = 0; i < s->n; i++) {
        if (s->failed[i] == 0)
            continue;
        first = first < i ? first : i;
        last = i;
        n_seen += s->failed[i];
    }
    for (size_t i = first; i <= last && i < s->n; i++)
        n_within += (double)s->ok[i] + (double)s->failed[i];
    double share = (double)s->n_errors / (double)s->n_requests;
    struct finding f =
        finding_of("errors", share >= PROBLEM_SHARE ? FINDING_PROBLEM : FINDING_NOTICE, share);
    f.op = s->op;
    finding_figure(&f, "n_errors", (double)s->n_errors);
    finding_figure(&f, "error_frac", share);
    const char *message = s->first_error != NULL ? s->first_error : "messages are not in the file";
    /* Those in the seconds that the series leaves out have no time, unless it is the end of a
     * burst. */
    bool is_placed = n_seen >= .95 * (double)s->n_errors || first == 0 || last + 1 == s->n;
    if (n_seen == 0 || !is_placed || (double)(last - first + 1) > BURST_FRAC * (double)s->n)
        return findings_add(search->out, &f, e,
                            "%s requests failed (%s of all) throughout the run: %.200s",
                            units_count(s->n_errors).s, units_pct(100 * share).s, message);
    f.has_start = true;
    f.start_ns = s->start_ns + (int64_t)first * NS_PER_S;
    f.end_ns = s->start_ns + (int64_t)(last + 1) * NS_PER_S;
    f.has_end = last + 2 < s->n;
    if (n_within > 0 && n_seen / n_within > .25)
        search_mask(search, f.start_ns, f.end_ns, MASK_ERRORS);
    return findings_add(search->out, &f, e, "%s of the requests failed from %s %s%s: %.200s",
                        units_pct(n_within > 0 ? 100 * n_seen / n_within : 100).s,
                        find_clock(f.start_ns).s, f.has_end ? "to " : "on",
                        f.has_end ? find_clock(f.end_ns).s : "", message);
}

bool by_second_find(struct findings *out, const struct by_second *s, struct err *e)
{
    /* A course with a bin a second and nothing else: what levels are found in. */
    const struct course course = {.start_ns = s->start_ns,
                                  .end_ns = s->start_ns + (int64_t)s->n * NS_PER_S,
                                  .last_start_ns = s->start_ns + (int64_t)s->n * NS_PER_S,
                                  .n = s->n_requests,
                                  .n_failed = s->n_errors,
                                  .bin_ns = NS_PER_S,
                                  .n_bins = s->n,
                                  .ok = s->ok,
                                  .failed = s->failed};
    if (s->n == 0)
        return true;
    struct search search = {.c = &course, .out = out};
    size_t n_before = out->n;
    bool ok = mem_cleared(&search.masked, s->n, e) && find_second_stalls(&search, s, e) &&
              find_second_errors(&search, s, e) && find_levels(&search, e);
    for (size_t i = n_before; i < out->n; i++)
        out->v[i].op = s->op;
    free(search.masked);
    return ok;
}

bool by_second_find_uneven(struct findings *out, const char *const *hosts,
                           const int64_t *n_requests, size_t n_hosts, struct err *e)
{
    size_t least = 0, most = 0;
    double sum = 0;

    for (size_t i = 0; i < n_hosts; i++) {
        sum += (double)n_requests[i];
        least = n_requests[i] < n_requests[least] ? i : least;
        most = n_requests[i] > n_requests[most] ? i : most;
    }
    double a = (double)n_requests[least], b = (double)n_requests[most];
    if (n_hosts < 2 || b < UNEVEN_RATIO * a || b - a < UNEVEN_Z * sqrt(a + b))
        return true;
    struct finding f =
        finding_of("uneven-hosts", b >= 1.5 * a ? FINDING_PROBLEM : FINDING_NOTICE, 0);
    f.ratio = a / b;
    finding_figure(&f, "least_frac", a / sum);
    finding_figure(&f, "most_frac", b / sum);
    return findings_add(
        out, &f, e,
        "The hosts are loaded unevenly: %.100s got %.1f %% of the requests, %.100s %.1f %%",
        hosts[most], 100 * b / sum, hosts[least], 100 * a / sum);
}
