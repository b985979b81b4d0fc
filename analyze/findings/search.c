#include "analyze/findings/find.h"
#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool search_init(struct search *s, const struct course *c, struct findings *out, struct err *e)
{
    *s = (struct search){.c = c, .out = out};
    return mem_cleared(&s->masked, c->n_bins + 1, e);
}

void search_fini(struct search *s)
{
    free(s->masked);
}

void search_mask(struct search *s, int64_t start_ns, int64_t end_ns, const char *kind)
{
    uint8_t how = finding_kind(kind)->masks;

    for (size_t j = course_bin(s->c, start_ns), end = course_bin(s->c, end_ns); j <= end; j++)
        s->masked[j] |= how;
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

struct finding search_slowness(const struct course_parties *p, size_t k, bool is_problem,
                               double lost_frac)
{
    struct finding f = finding_of(p->clients ? "slow-client" : "slow-host", is_problem, lost_frac);
    f.scope = p->clients ? SCOPE_CLIENT : SCOPE_HOST;
    f.party = p->name[k];
    return f;
}

struct others_text search_others(const struct course_parties *p)
{
    struct others_text t;
    snprintf(t.s, sizeof t.s, "%s%s%s%s", p->n > 2 ? units_count((int64_t)p->n - 1).s : "",
             p->n > 2 ? " " : "", p->clients ? "client" : "host", p->n > 2 ? "s" : "");
    return t;
}

struct clock_text find_clock(int64_t ns)
{
    struct clock_text t;
    snprintf(t.s, sizeof t.s, "%.10s", strchr(rfc3339_format(ns).s, 'T') + 1);
    return t;
}
