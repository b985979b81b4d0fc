#include "analyze/findings/finding.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct finding finding_of(const char *kind, bool is_problem, double lost_frac)
{
    return (struct finding){
        .kind = finding_kind(kind), .severity = is_problem, .lost_frac = lost_frac, .ratio = NAN};
}

void finding_set_times(struct finding *f, int64_t start_ns, int64_t end_ns)
{
    f->has_start = f->has_end = true;
    f->start_ns = start_ns;
    f->end_ns = end_ns;
}

struct phrase finding_clock(int64_t start_ns, int64_t end_ns, int64_t ns)
{
    const struct rfc3339_text start = rfc3339_format(start_ns), end = rfc3339_format(end_ns),
                              at = rfc3339_format(ns);
    const size_t date = strlen("2026-05-01T"), time = strlen("12:00:00.0");

    if (memcmp(start.s, end.s, date) == 0)
        return phrase_format("%.*s", (int)time, at.s + date);
    return phrase_format("%.*s %.*s", (int)date - 1, at.s, (int)time, at.s + date);
}

void finding_figure(struct finding *f, const char *name, double value)
{
    if (f->n_figures < FINDING_MAX_FIGURES)
        f->figures[f->n_figures++] = (struct finding_figure){name, value};
}

double finding_value(const struct finding *f, const char *name)
{
    for (size_t i = 0; i < f->n_figures; i++)
        if (strcmp(f->figures[i].name, name) == 0)
            return f->figures[i].value;
    return 0;
}

bool findings_add(struct findings *all, const struct finding *f, struct err *e, const char *fmt,
                  ...)
{
    if (!mem_fit(&all->v, &all->cap, all->n + 1, e))
        return false;
    struct finding *to = &all->v[all->n];
    *to = *f;
    va_list args;
    va_start(args, fmt);
    bool ok = mem_vformat(&to->sentence, e, fmt, args);
    va_end(args);
    all->n += ok;
    return ok;
}

void findings_free(struct findings *all)
{
    for (size_t i = 0; i < all->n; i++)
        free(all->v[i].sentence);
    free(all->v);
    *all = (struct findings){0};
}

bool findings_have_problem(const struct findings *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].severity == FINDING_PROBLEM)
            return true;
    return false;
}

/* ---- Causes ---- */

/* An event in one phase of a run explains nothing in another. */
static bool are_of_two_phases(const struct finding *a, const struct finding *b)
{
    return a->phase != NULL && b->phase != NULL && a->phase != b->phase;
}

/* Links findings to their causes. Of two findings that explain each other the later one is the
 * cause. */
static void link_causes(struct findings *all, int64_t near_ns)
{
    for (size_t i = 0; i < all->n; i++) {
        struct finding *f = &all->v[i];
        for (size_t k = 0; k < all->n && f->n_because < FINDING_MAX_CAUSES; k++) {
            const struct finding *cause = &all->v[k];
            bool back = false;

            for (size_t b = 0; b < cause->n_because; b++)
                back = back || cause->because[b] == i;
            if (k != i && !back && !are_of_two_phases(cause, f) &&
                finding_explains(cause, f, near_ns))
                f->because[f->n_because++] = k;
        }
    }
}

/* Whether a finding, or what explains it, is a problem or by design. */
static bool is_told(const struct findings *all, size_t i, const struct finding *f, int depth)
{
    const struct finding *x = &all->v[i];
    bool is = x->severity == FINDING_PROBLEM || (x->kind->is_design && !f->kind->stays);

    for (size_t b = 0; !is && depth > 0 && b < x->n_because; b++)
        is = is_told(all, x->because[b], f, depth - 1);
    return is;
}

/* Makes consequences notices. A problem stays in each chain: if all causes are notices, the
 * costliest becomes the problem if it is a third of the loss, and else the consequence stays it.
 * What is so by design needs no problem. */
static void judge(struct findings *all)
{
    for (size_t i = 0; i < all->n; i++) {
        struct finding *f = &all->v[i], *costliest = NULL;
        bool told = false;

        for (size_t b = 0; b < f->n_because; b++) {
            struct finding *cause = &all->v[f->because[b]];
            told = told || is_told(all, f->because[b], f, FINDING_MAX_CAUSES);
            if (costliest == NULL || cause->lost_frac > costliest->lost_frac)
                costliest = cause;
        }
        if (costliest == NULL || f->severity == FINDING_NOTICE)
            continue;
        if (!told && !f->kind->stays && finding_costs_a_third(costliest, f))
            costliest->severity = told = FINDING_PROBLEM;
        f->severity = told ? FINDING_NOTICE : FINDING_PROBLEM;
    }
}

/* ---- Rank ---- */

static int compare_rank(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;

    if (x->severity != y->severity)
        return x->severity > y->severity ? -1 : 1;
    if ((x->n_because > 0) != (y->n_because > 0))
        return x->n_because > 0 ? 1 : -1;
    if (x->kind->is_end != y->kind->is_end)
        return x->kind->is_end ? -1 : 1;
    if (x->lost_frac != y->lost_frac)
        return x->lost_frac > y->lost_frac ? -1 : 1;
    return strcmp(x->sentence, y->sentence);
}

static int compare_indexes(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Sorts, and lets `because` follow. */
static bool sort(struct findings *all, struct err *e)
{
    size_t *now;

    if (!mem_new(&now, all->n, e))
        return false;
    for (size_t i = 0; i < all->n; i++)
        all->v[i].place = i;
    if (all->n > 0)
        qsort(all->v, all->n, sizeof *all->v, compare_rank);
    for (size_t i = 0; i < all->n; i++)
        now[all->v[i].place] = i;
    for (size_t i = 0; i < all->n; i++) {
        struct finding *f = &all->v[i];
        for (size_t k = 0; k < f->n_because; k++)
            f->because[k] = now[f->because[k]];
        qsort(f->because, f->n_because, sizeof *f->because, compare_indexes);
    }
    free(now);
    return true;
}

bool findings_rank(struct findings *all, int64_t run_ns, struct err *e)
{
    int64_t near_ns = int64_max(run_ns / 30, NS_PER_S / 2);

    link_causes(all, near_ns);
    judge(all);
    return sort(all, e);
}
