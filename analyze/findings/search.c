#include "analyze/findings/find.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LEAST_BATCHES 5 /* least number of batches for a variance */

bool search_init(struct search *s, const struct course *c, struct findings *out, struct err *e)
{
    *s = (struct search){.c = c, .out = out};
    return mem_cleared(&s->masked, c->n_bins + 1, e) && load_fit(s, e);
}

void search_fini(struct search *s)
{
    free(s->masked);
    if (s->equal != NULL) {
        free(s->equal->of_kind);
        free(s->equal->by_op);
    }
    free(s->equal);
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

struct samples search_samples(const struct search *s, struct strata of)
{
    double n = 0, squares = 0;

    for (size_t k = of.first; k < of.end; k++) {
        n += s->c->strata[k].n;
        squares += s->c->strata[k].n * s->c->strata[k].sd * s->c->strata[k].sd;
    }
    return (struct samples){n, n > 0 ? sqrt(squares / n) : 0};
}

double search_long_run_variance(const double *v, size_t n)
{
    double most = 0;
    for (size_t b = 1; n / b >= LEAST_BATCHES; b *= 2) {
        double sum = 0, squares = 0, n_batches = (double)(n / b);
        for (size_t i = 0; i + b <= n; i += b) {
            double mean = 0;
            for (size_t j = i; j < i + b; j++)
                mean += v[j] / (double)b;
            sum += mean;
            squares += mean * mean;
        }
        most = fmax(most, (squares - sum * sum / n_batches) / (n_batches - 1) * (double)b);
    }
    return most;
}

void search_set_party(struct finding *f, const struct course_parties *p, size_t k)
{
    f->scope = p->clients ? SCOPE_CLIENT : SCOPE_HOST;
    f->party = p->name[k];
}

struct change_text find_change(double ratio)
{
    struct change_text t;

    if (ratio >= 2)
        snprintf(t.s, sizeof t.s, "rose to %.1f times", ratio);
    else if (fabs(ratio - 1) < .005)
        snprintf(t.s, sizeof t.s, "stayed the same");
    else
        snprintf(t.s, sizeof t.s, "%s by %.0f %%", ratio < 1 ? "fell" : "rose",
                 100 * fabs(ratio - 1));
    return t;
}
