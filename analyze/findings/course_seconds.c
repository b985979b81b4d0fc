#include "analyze/findings/course.h"

#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>

#define MAX_OF_PARTIES (10 * COURSE_MAX_CELLS) /* bins of all parties together */
#define N_FITS         10

bool course_seconds_grid(struct course *c, int64_t first_s, size_t n, struct err *e)
{
    size_t per_bin = n / COURSE_MAX_BINS + 1;

    c->bins_ns = first_s * NS_PER_S;
    c->bin_ns = (int64_t)per_bin * NS_PER_S;
    c->n_bins = (n + per_bin - 1) / per_bin;
    c->shortest_ns = 2 * c->bin_ns;
    c->wide_ns = c->bin_ns;
    c->n_wide = c->n_bins;
    return mem_cleared(&c->ok, c->n_bins, e) && mem_cleared(&c->failed, c->n_bins, e) &&
           mem_cleared(&c->timed_out, c->n_bins, e);
}

bool course_seconds_parties(const struct course *c, struct course_parties *p, size_t n,
                            bool are_seconds_known, struct err *e)
{
    bool has_seconds = are_seconds_known && n <= MAX_OF_PARTIES / (c->n_bins + 1);

    free(p->name);
    free(p->n_requests);
    p->name = NULL;
    p->n_requests = NULL;
    if (!course_parties_alloc(p, n, e) || (has_seconds && !mem_cleared(&p->busy_ns, n, e)))
        return false;
    p->n = n;
    for (size_t k = 0; has_seconds && k < n; k++)
        if (!mem_cleared(&p->busy_ns[k], c->n_bins, e))
            return false;
    return true;
}

static bool covers(const struct course *c, const struct course_share *x, size_t bin)
{
    return x->n > 0 && course_bin(c, x->first_ns) <= bin && bin <= course_bin(c, x->last_ns);
}

/* Returns the share of a bin's errors that message m has if messages keep their rates. */
static double part_of(const struct course *c, const struct course_share *shares, size_t m,
                      size_t bin)
{
    double all = 0;
    for (size_t i = 0; i < c->n_messages; i++)
        all += covers(c, &shares[i], bin) ? shares[i].rate : 0;
    return covers(c, &shares[m], bin) && all > 0 ? shares[m].rate / all : 0;
}

/* Fits the rates, until each message has its number (iterative proportional fitting). */
static void fit(const struct course *c, const uint32_t *failed, struct course_share *shares)
{
    for (size_t i = 0; i < c->n_messages; i++)
        shares[i].rate = (double)shares[i].n;
    for (int tries = 0; tries < N_FITS; tries++)
        for (size_t i = 0; i < c->n_messages; i++) {
            double n = 0;
            for (size_t j = course_bin(c, shares[i].first_ns),
                        last = course_bin(c, shares[i].last_ns);
                 shares[i].n > 0 && j <= last; j++)
                n += failed[j] > 0 ? failed[j] * part_of(c, shares, i, j) : 0;
            shares[i].rate *= n > 0 ? (double)shares[i].n / n : 1;
        }
}

bool course_seconds_errors(struct course *c, const uint32_t *failed, struct course_share *shares,
                           struct err *e)
{
    double *rest;
    if (!mem_cleared(&rest, c->n_messages, e))
        return false;
    fit(c, failed, shares);
    for (size_t j = 0; j < c->n_bins; j++)
        for (size_t i = 0; failed[j] > 0 && i < c->n_messages; i++) {
            /* Carry the rounding error on to the next bin, so that the sum stays right. */
            rest[i] += failed[j] * part_of(c, shares, i, j);
            double whole = fmin(fmax(round(rest[i]), 0), failed[j]);
            c->messages[i].by_bin[j] += (uint32_t)whole;
            rest[i] -= whole;
        }
    free(rest);
    return true;
}
