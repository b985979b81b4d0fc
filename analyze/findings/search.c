#include "analyze/findings/find.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>

/* In this order: stalls and bursts of errors mask the bins in which levels and durations say
 * nothing. */
static detector *const detectors[] = {find_stalls, find_errors,  find_clock_jumps, find_absent,
                                      find_stuck,  find_backlog, find_slow,        find_levels};

bool findings_find(struct findings *out, const struct course *c, enum role role, struct err *e)
{
    struct search s = {.c = c, .out = out, .role = role};

    if (c->n == 0 || c->n_bins == 0)
        return true;
    bool ok = mem_cleared(&s.masked, c->n_bins + 1, e) && load_fit(&s, e);
    for (size_t i = 0; ok && i < sizeof detectors / sizeof *detectors; i++)
        ok = (!role_is_benchmark(role) && detectors[i] != find_errors) || detectors[i](&s, e);
    free(s.masked);
    if (s.equal != NULL) {
        free(s.equal->of_kind);
        free(s.equal->by_op);
    }
    free(s.equal);
    return ok;
}

void search_mask(struct search *s, int64_t start_ns, int64_t end_ns, uint8_t masks)
{
    for (size_t j = course_bin(s->c, start_ns), end = course_bin(s->c, end_ns); j <= end; j++)
        s->masked[j] |= masks;
}

double search_free_frac(const struct search *s, size_t first, size_t last, uint8_t masks)
{
    size_t n = 0;
    for (size_t j = first; j < last; j++)
        n += (s->masked[j] & masks) == 0;
    return last > first ? (double)n / (double)(last - first) : 0;
}

double search_mean(const double *v, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += v[i];
    return to > from ? sum / (double)(to - from) : 0;
}

double search_frac(const struct search *s, int64_t length_ns)
{
    return (double)length_ns / ((double)(s->c->end_ns - s->c->start_ns) + 1);
}

double search_longest_ns(const struct search *s, const double *of_op, double share)
{
    double longest = 0;
    for (size_t k = 0; k < s->c->n_ops; k++)
        if ((double)s->c->ops[k].n >= share * (double)s->c->n)
            longest = fmax(longest, of_op[k]);
    return longest;
}

double search_free_frac_of_block(const struct search *s, size_t block)
{
    size_t per_block = (size_t)(s->c->block_ns / s->c->bin_ns), first = block * per_block;
    size_t last = first + per_block < s->c->n_bins ? first + per_block : s->c->n_bins;

    return search_free_frac(s, first, last, UINT8_MAX);
}

void search_set_party(struct finding *f, const struct course_parties *p, size_t k)
{
    f->scope = p->clients ? SCOPE_CLIENT : SCOPE_HOST;
    f->party = p->name[k];
}

struct phrase find_change(double ratio)
{
    if (ratio >= 2)
        return phrase_format("rose to %.1f times", ratio);
    if (fabs(ratio - 1) < .005)
        return phrase_format("stayed the same");
    return phrase_format("%s by %.0f %%", ratio < 1 ? "fell" : "rose", 100 * fabs(ratio - 1));
}

struct phrase find_sizes(struct finding *f, int64_t min_bytes, int64_t max_bytes)
{
    bool is_one = max_bytes == min_bytes, is_below = (max_bytes & (max_bytes + 1)) == 0;

    finding_figure(f, "min_bytes", (double)min_bytes);
    finding_figure(f, "max_bytes", (double)max_bytes);
    return phrase_format("%s%s%s", units_size((double)min_bytes).s, is_one ? "" : " to ",
                         is_one ? "" : units_size((double)max_bytes + is_below).s);
}
