#include "analyze/findings/finding.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct finding finding_of(const char *kind, enum finding_severity severity, double lost_frac)
{
    return (struct finding){
        .kind = kind, .severity = severity, .lost_frac = lost_frac, .ratio = NAN};
}

void finding_figure(struct finding *f, const char *name, double value)
{
    if (f->n_figures < FINDING_MAX_FIGURES)
        f->figures[f->n_figures++] = (struct finding_figure){name, value};
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

bool findings_have(const struct findings *all, const char *kind)
{
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->v[i].kind, kind) == 0)
            return true;
    return false;
}

/* ---- Causes ---- */

static bool is(const struct finding *f, const char *kind)
{
    return strcmp(f->kind, kind) == 0;
}

static bool is_level(const struct finding *f)
{
    return is(f, "drop") || is(f, "rise") || is(f, "drift") || is(f, "warm-up");
}

/* The moment of a change of level. */
static int64_t moment_ns(const struct finding *f)
{
    return is(f, "warm-up") ? f->end_ns : f->start_ns;
}

static bool is_near(bool given, int64_t at_ns, int64_t ns, int64_t near_ns)
{
    return given && llabs(at_ns - ns) <= near_ns;
}

static bool begins_or_ends_near(const struct finding *f, int64_t ns, int64_t near_ns)
{
    return is_near(f->has_start, f->start_ns, ns, near_ns) ||
           is_near(f->has_end, f->end_ns, ns, near_ns);
}

static bool overlap(const struct finding *a, const struct finding *b)
{
    return a->has_start && a->has_end && b->has_start && b->has_end && a->start_ns < b->end_ns &&
           b->start_ns < a->end_ns;
}

/* What can bend the rate of a closed loop or of the whole system at its own moments. */
static bool can_move_the_level(const struct finding *f)
{
    return is(f, "errors") || is(f, "slow-host") || is(f, "slow-client") || is(f, "slow-op") ||
           is(f, "absent-client") || is(f, "backlog") || is(f, "stuck-thread") || is(f, "stall") ||
           is(f, "stopped");
}

/* Whether half of *f at least is in the time of *cause, or so soon after it. */
static bool mostly_in(const struct finding *f, const struct finding *cause, int64_t after_ns)
{
    int64_t start_ns = int64_max(f->start_ns, cause->start_ns);
    int64_t end_ns = int64_min(f->end_ns, cause->end_ns + after_ns);

    return f->has_start && f->has_end && end_ns - start_ns >= (f->end_ns - f->start_ns) / 2;
}

static bool explains(const struct finding *cause, const struct finding *f, int64_t near_ns)
{
    near_ns = int64_max(f->within_ns, near_ns);
    if (is(cause, "clock-step"))
        return is(f, "no-success") || strstr(f->sentence, "RequestTimeTooSkewed") != NULL ||
               (is(f, "errors") && strstr(f->sentence, "HTTP 403") != NULL);
    if (is(cause, "no-success") && (is(f, "warm-up") || is_level(f)))
        return true;
    if (is(cause, "stopped") && (is(f, "stall") || is(f, "stuck-thread") || is(f, "errors")))
        return mostly_in(f, cause, is(f, "errors") ? near_ns : 0);
    /* Clients that each had a time of their own, by design. */
    if (is_level(f) && is(cause, "absent-client") && cause->scope == SCOPE_SYSTEM)
        return true;
    if (is(f, "drift"))
        return (cause->has_start || cause->has_end) &&
               (is(cause, "slow-host") || is(cause, "slow-client") || is(cause, "slow-op") ||
                is(cause, "absent-client") || is(cause, "backlog"));
    if (is_level(f))
        return can_move_the_level(cause) && begins_or_ends_near(cause, moment_ns(f), near_ns);
    if (is(f, "swings"))
        return is(cause, "pauses") || (is(cause, "errors") && cause->lost_frac >= f->lost_frac / 2);
    if (is(f, "slow-op"))
        return is(cause, "slow-host") && cause->op == f->op &&
               is_near(cause->has_start, cause->start_ns, f->start_ns, near_ns);
    if (is(f, "backlog"))
        return (is(cause, "slow-host") || is(cause, "slow-op") || is(cause, "stopped")) &&
               is_near(cause->has_start, cause->start_ns, f->start_ns, near_ns);
    if (is(f, "errors")) /* requests that hung until their time-out */
        return is(cause, "stall") && overlap(cause, f) && f->start_ns >= cause->start_ns;
    if (is(f, "slow-client"))
        return is(cause, "slow-host") && f->ratio < cause->ratio && !isnan(cause->ratio) &&
               cause->lost_frac > f->lost_frac;
    if (is(f, "left-out") || is(f, "short-range"))
        return is(cause, "absent-client") || is(cause, "stuck-thread") || is(cause, "slow-host") ||
               is(cause, "slow-client");
    if (is(f, "few-samples"))
        return (is(cause, "errors") && f->op != NULL && cause->op == f->op) ||
               (cause->lost_frac > .5 &&
                (is(cause, "left-out") || (is(cause, "errors") && cause->op == NULL)));
    if (is(f, "uneven-hosts"))
        return (is(cause, "slow-host") || is(cause, "stall") || is(cause, "errors")) &&
               cause->scope == SCOPE_HOST;
    return false;
}

static bool is_problem_behind(const struct findings *all, const struct finding *f)
{
    for (size_t b = 0; b < f->n_because; b++)
        if (all->v[f->because[b]].severity == FINDING_PROBLEM)
            return true;
    return false;
}

/* Causes are findings that are themselves unexplained or stand before in the list. */
static void tie(struct findings *all, int64_t near_ns)
{
    for (size_t i = 0; i < all->n; i++) {
        struct finding *f = &all->v[i];
        for (size_t k = 0; k < all->n && f->n_because < FINDING_MAX_CAUSES; k++) {
            const struct finding *cause = &all->v[k];
            bool back = false;

            for (size_t b = 0; b < cause->n_because; b++)
                back = back || cause->because[b] == i;
            if (k != i && !back && explains(cause, f, near_ns))
                f->because[f->n_because++] = k;
        }
        /* What is left out stays a problem where its cause is by design, and so none. */
        bool by_design = f->n_because > 0 && is(f, "left-out") && !is_problem_behind(all, f);
        if (f->n_because > 0 && !by_design)
            f->severity = FINDING_NOTICE;
    }
}

/* ---- Rank ---- */

/* A store that died comes first, whatever else it cost. */
static bool is_end(const struct finding *f)
{
    return strcmp(f->kind, "no-success") == 0;
}

static int compare_rank(const void *a, const void *b, void *findings)
{
    const struct finding *v = findings;
    const struct finding *x = &v[*(const size_t *)a], *y = &v[*(const size_t *)b];

    if (x->severity != y->severity)
        return x->severity > y->severity ? -1 : 1;
    if ((x->n_because > 0) != (y->n_because > 0))
        return x->n_because > 0 ? 1 : -1;
    if (is_end(x) != is_end(y))
        return is_end(x) ? -1 : 1;
    if (x->lost_frac != y->lost_frac)
        return x->lost_frac > y->lost_frac ? -1 : 1;
    return strcmp(x->sentence, y->sentence);
}

static int compare_indexes(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Sorts by way of an array of indexes, so that `because` can follow. */
static bool sort(struct findings *all, struct err *e)
{
    size_t n = all->n, *order = NULL, *place = NULL;
    struct finding *sorted = NULL;
    bool ok = mem_new(&order, n, e) && mem_new(&place, n, e) && mem_new(&sorted, n, e);

    for (size_t i = 0; ok && i < n; i++)
        order[i] = i;
    if (ok)
        qsort_r(order, n, sizeof *order, compare_rank, all->v);
    for (size_t i = 0; ok && i < n; i++)
        place[order[i]] = i;
    for (size_t i = 0; ok && i < n; i++) {
        sorted[i] = all->v[order[i]];
        for (size_t k = 0; k < sorted[i].n_because; k++)
            sorted[i].because[k] = place[sorted[i].because[k]];
        qsort(sorted[i].because, sorted[i].n_because, sizeof *sorted[i].because, compare_indexes);
    }
    if (ok && n > 0)
        memcpy(all->v, sorted, n * sizeof *sorted);
    free(order);
    free(place);
    free(sorted);
    return ok;
}

bool findings_rank(struct findings *all, int64_t run_ns, struct err *e)
{
    int64_t near_ns = run_ns / 30 > 500000000 ? run_ns / 30 : 500000000;
    tie(all, near_ns);
    return sort(all, e);
}
