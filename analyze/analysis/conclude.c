#include "analyze/analysis/conclude.h"

#include "analyze/findings/findings.h"
#include "libcommon/units.h"

#include <stdlib.h>
#include <string.h>

#define LEFT_OUT_SAID    .01
#define LEFT_OUT_PROBLEM .10

/* What a warning is as a finding. */
struct kind_of_warning {
    const char *code, *kind;
    enum finding_severity severity;
};

/* Warnings that are not here are said by a finding of the course, and better. */
static const struct kind_of_warning kinds[] = {
    {"dropped-rows", "damaged", FINDING_PROBLEM},
    {"unverified-rows", "unverified", FINDING_PROBLEM},
    {"several-headers", "several-headers", FINDING_NOTICE},
    {"copied-capture", "copied-capture", FINDING_PROBLEM},
    {"identical-rows", "copied-capture", FINDING_PROBLEM},
    {"overlapping-runs", "overlapping-runs", FINDING_PROBLEM},
    {"idle-gap", "idle-gap", FINDING_NOTICE},
    {"nothing-left", "few-samples", FINDING_PROBLEM},
    {"few-samples", "few-samples", FINDING_NOTICE},
    {"short-range", "short-range", FINDING_NOTICE},
    {"uneven-hosts", "uneven-hosts", FINDING_NOTICE},
    {"cut-off", "cut-off", FINDING_NOTICE},
    {"ended-by-error", "ended-by-error", FINDING_PROBLEM},
    {"generator-bound", "generator-bound", FINDING_PROBLEM},
    {"not-begun", "not-begun", FINDING_PROBLEM},
    {"clocks-apart", "clocks-apart", FINDING_PROBLEM},
    {"reconnects", "reconnects", FINDING_NOTICE},
    {"resent", "resent", FINDING_NOTICE},
};

/* Whether the entry belongs to the benchmark: all operations of a mix, else the last to begin. */
static bool is_benchmark(const struct plan *p, size_t k)
{
    return p->a->mixed || k + 1 == p->n;
}

bool conclude_course(struct plan *p, struct err *e)
{
    struct findings *out = &p->a->findings;
    const struct table **tables = malloc((p->n + 1) * sizeof *tables);
    size_t n = 0;
    bool ok = tables != NULL || err_set(e, "out of memory");

    for (size_t k = 0; ok && k < p->n; k++) {
        const struct table *t = p->entries[k].table;
        if (is_benchmark(p, k))
            tables[n++] = t;
        else if (t->n > 0)
            ok = findings_find_errors(out, p->d, &t, 1, e);
    }
    ok = ok && findings_find(out, p->d, tables, n, &p->run_ns, e);
    free(tables);
    return ok;
}

/* ---- What the warnings amount to ---- */

static const struct kind_of_warning *kind_of(const char *code)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].code, code) == 0)
            return &kinds[i];
    return NULL;
}

static bool is_preparation(const struct plan *p, const char *op)
{
    for (size_t k = 0; op != NULL && k < p->n; k++)
        if (strcmp(p->entries[k].name, op) == 0)
            return !is_benchmark(p, k);
    return false;
}

/* Operations of the benchmark of which warning i and later ones say the same; 0: an earlier one
 * did. */
static size_t count_alike(const struct plan *p, size_t i)
{
    const struct warning *v = p->a->warnings;
    size_t n = 0;
    if (v[i].op == NULL)
        return 1;
    for (size_t k = 0; k < p->a->n_warnings; k++) {
        bool alike =
            v[k].op != NULL && strcmp(v[k].code, v[i].code) == 0 && !is_preparation(p, v[k].op);
        if (alike && k < i)
            return 0;
        n += alike;
    }
    return n;
}

static bool add_warning(struct plan *p, size_t i, struct err *e)
{
    struct findings *out = &p->a->findings;
    const struct warning *w = &p->a->warnings[i];
    const struct kind_of_warning *kind = kind_of(w->code);
    size_t n_alike = count_alike(p, i);

    if (kind == NULL || is_preparation(p, w->op) || n_alike == 0)
        return true;
    bool said = strcmp(kind->kind, "idle-gap") == 0 &&
                (findings_have(out, "stall") || findings_have(out, "absent-client"));
    if (said)
        return true;
    struct finding f = finding_of(kind->kind, kind->severity, 0);
    f.op = n_alike == 1 ? w->op : NULL;
    for (size_t k = 0; k < w->n_figures; k++)
        finding_figure(&f, w->figures[k].name, w->figures[k].value);
    return n_alike == 1
               ? findings_add(out, &f, e, "%s", w->message)
               : findings_add(out, &f, e, "%s (%zu operations alike)", w->message, n_alike);
}

static bool add_left_out(struct plan *p, struct err *e)
{
    const struct analysis *a = p->a;
    double share = a->n_rows > 0 ? (double)a->left_out.by_range / (double)a->n_rows : 0;

    if (share < LEFT_OUT_SAID)
        return true;
    struct finding f =
        finding_of("left-out", share >= LEFT_OUT_PROBLEM ? FINDING_PROBLEM : FINDING_NOTICE, share);
    finding_figure(&f, "n", (double)a->left_out.by_range);
    finding_figure(&f, "share", share);
    return findings_add(&p->a->findings, &f, e,
                        "%s of %s requests are in no figure: they lie outside of the time that is "
                        "analysed (--range full counts them)",
                        units_count(a->left_out.by_range).s, units_count(a->n_rows).s);
}

bool conclude(struct plan *p, struct err *e)
{
    struct analysis *a = p->a;
    bool ok = add_left_out(p, e);

    for (size_t i = 0; ok && i < a->n_warnings; i++)
        ok = add_warning(p, i, e);
    return ok && findings_rank(&a->findings, p->run_ns, e);
}
