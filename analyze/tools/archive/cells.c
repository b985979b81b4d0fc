#include "analyze/tools/archive/cells.h"

#include "analyze/stats/stats.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether a run can be of any size: none of its requests succeeded. */
static bool has_no_size(const struct columns_row *r)
{
    return isnan(r->op->setting[RUN_OBJECT_SIZE]) &&
           (double)r->op->n_errors == r->op->setting[RUN_OPERATIONS];
}

/* Whether two runs have one value of a key. */
static bool share(const struct columns_row *a, const struct columns_row *b, struct columns_order by)
{
    struct compare_spans p = {.n_runs = 0}, q = {.n_runs = 0};

    if (by.column->form == COLUMNS_SIZE && (has_no_size(a) || has_no_size(b)))
        return true;
    if (!a->op->sizes_differ || !b->op->sizes_differ || by.column->form != COLUMNS_SIZE)
        return columns_compare(a, b, by) == 0;
    compare_spans_add(&p, a->op);
    compare_spans_add(&q, b->op);
    return !compare_spans_differ(RUN_OBJECT_SIZE, &p, &q, 0);
}

bool cells_are_one(const struct columns_row *a, const struct columns_row *b,
                   const struct columns_order *by)
{
    while (by->column != NULL && share(a, b, *by))
        by++;
    return by->column == NULL;
}

struct columns_text cells_name(const struct columns_row *cell, const struct columns_order *by)
{
    struct columns_text t = {""};

    for (size_t n = 0; by->column != NULL; by++) {
        const struct columns_value v = columns_get(cell, by->column);

        if (v.text != NULL || !isnan(v.number.value))
            n += (size_t)snprintf(t.s + n, sizeof t.s - n, "%s%.20s", n > 0 ? " " : "",
                                  columns_show(by->column, &v, false).s);
    }
    return t;
}

/* ---- Cells and systems ---- */

/* Returns the number of a run's system; adds it if it is new. */
static bool find_system(struct cells *c, const struct columns_row *run, size_t *k, struct err *e)
{
    for (*k = 0; *k < c->n_systems && strcmp(c->systems[*k], run->run->system.s) != 0;)
        ++*k;
    if (*k == CELLS_MAX_SYSTEMS)
        return err_usage(e, "these are more than %d systems", CELLS_MAX_SYSTEMS);
    c->systems[*k] = run->run->system.s;
    c->n_systems += *k == c->n_systems;
    return true;
}

/* Returns the number of a run's cell, of which cells[] has one run each; adds it if it is new. */
static size_t find_cell(struct cells *c, struct columns_row *cells, const struct columns_row *run)
{
    size_t k = 0;

    while (k < c->n_cells && !cells_are_one(&cells[k], run, c->how->by))
        k++;
    if (k == c->n_cells)
        cells[c->n_cells++] = *run;
    return k;
}

static int by_place(const void *a, const void *b)
{
    const struct columns_row *x = a, *y = b;

    return x->place != y->place ? (x->place > y->place) - (x->place < y->place)
                                : (x->run > y->run) - (x->run < y->run);
}

/* Sorts the rows by cell, system and run. */
static bool place_rows(struct cells *c, struct columns_table *t, struct err *e)
{
    struct columns_row *cells;
    size_t system;
    bool ok = mem_new(&cells, t->n, e);

    qsort(t->rows, t->n, sizeof *t->rows, by_place); /* by run: they have no places yet */
    for (size_t i = 0; ok && i < t->n; i++)
        ok = find_system(c, &t->rows[i], &system, e);
    qsort_r(t->rows, t->n, sizeof *t->rows, columns_compare_all, (void *)c->how->by);
    for (size_t i = 0; ok && i < t->n; i++) {
        ok = find_system(c, &t->rows[i], &system, e);
        t->rows[i].place = find_cell(c, cells, &t->rows[i]) * CELLS_MAX_SYSTEMS + system;
    }
    qsort(t->rows, t->n, sizeof *t->rows, by_place);
    free(cells);
    return ok;
}

/* ---- Figures ---- */

/* Runs of a cell and system are repetitions of each other. */
static bool check_alike(const struct columns_row *runs, size_t n, struct err *e)
{
    struct archive_difference d;

    for (size_t i = 1; i < n; i++)
        if (archive_differ(&runs[0].run->kept, &runs[i].run->kept, false, &d))
            return err_usage(
                e,
                "%s: %s and %s count as repetitions, but differ in %s: %s and %s. Give "
                "runs that are alike, or let table --by or --where tell them apart",
                runs[0].run->system.s, runs[0].run->label.s, runs[i].run->label.s, d.what, d.a,
                d.b);
    return true;
}

/* Returns the metric that is shown of n runs of a cell. */
static enum run_metric shown(enum run_metric metric, const struct columns_row *runs, size_t n)
{
    for (size_t i = 0; metric == RUN_THROUGHPUT && i < n; i++)
        if (!isnan(archive_value(runs[i].op, RUN_OBJECTS))) /* not all of its requests failed */
            metric = archive_rate_metric(runs[i].op);
    return metric;
}

/* Fills a figure of n runs; v gets their values. */
static void fill_figure(struct cells_figure *x, const struct columns_row *runs, size_t n,
                        enum run_metric metric, double *v)
{
    *x = (struct cells_figure){NAN, NAN, NAN, .v = v, .runs = runs, .n_runs = n};
    for (size_t i = 0; i < n; i++) {
        if (isnan(archive_value(runs[i].op, metric)))
            continue;
        v[x->n++] = archive_value(runs[i].op, metric);
        x->least = fmin(x->least, runs[i].op->figure[metric].least);
        x->greatest = fmax(x->greatest, runs[i].op->figure[metric].most);
        x->is_bounded |= archive_is_bounded(runs[i].op, metric);
    }
    if (x->n > 0)
        x->median = stats_sort_median(v, x->n);
}

/* Returns the number of rows from the i-th on that have a place below `end`. */
static size_t n_below(const struct columns_table *t, size_t i, size_t end)
{
    size_t n = 0;

    while (i + n < t->n && t->rows[i + n].place < end)
        n++;
    return n;
}

/* Makes the lines of a metric. */
static bool fill_lines(struct cells *c, const struct columns_table *t, enum run_metric metric,
                       double *v, struct err *e)
{
    bool ok = true;

    for (size_t i = 0, cell = 0; ok && cell < c->n_cells; cell++) {
        size_t place = cell * CELLS_MAX_SYSTEMS;
        struct cells_figure *x = &c->figures[c->n_lines * c->n_systems];
        struct cells_line *line = &c->lines[c->n_lines++];

        *line = (struct cells_line){.cell = &t->rows[i], .of = x};
        line->metric = shown(metric, &t->rows[i], n_below(t, i, place + CELLS_MAX_SYSTEMS));
        for (size_t k = 0; ok && k < c->n_systems; k++) {
            size_t n = n_below(t, i, place + k + 1);

            fill_figure(&x[k], &t->rows[i], n, line->metric, v + i);
            ok = check_alike(x[k].runs, n, e);
            if (n > 0 && !line->is_apart)
                line->is_apart = archive_differ(&line->cell->run->kept, &x[k].runs->run->kept,
                                                false, &line->apart);
            i += n;
        }
    }
    return ok;
}

/* ---- The best of a line ---- */

static double failed_frac(const struct cells_figure *x)
{
    double failed = 0, all = 0;

    for (size_t i = 0; i < x->n_runs; i++) {
        failed += (double)x->runs[i].op->n_errors;
        all += x->runs[i].op->setting[RUN_OPERATIONS];
    }
    return failed / all;
}

/* Finds the best of a line, and compares it with each other one. It must be better than each: an
 * intersection-union test, whose p is the largest (Berger, Technometrics 24, 1982, p. 295). No more
 * of its requests may have failed: failing is fast. */
static bool find_best(struct cells_line *line, size_t n, struct err *e)
{
    const struct metric *m = &metrics[line->metric];
    const struct cells_figure *best = NULL, *end = line->of + n;

    for (const struct cells_figure *x = line->of; x < end; x++)
        if (x->n > 0 && (best == NULL || (x->median > best->median) == m->up_is_better))
            best = x;
    line->closest.p = -1;
    for (const struct cells_figure *x = line->of; best != NULL && x < end; x++) {
        struct stats_cmp cmp;

        if (x == best || x->n == 0)
            continue;
        if (!stats_cmp_groups(x->v, x->n, best->v, best->n, m->kind == METRIC_DIFFERENCE, &cmp, e))
            return false;
        if (!cmp.ok || best->is_bounded || x->is_bounded || stats_is_same(&cmp, m->delta) ||
            failed_frac(best) > failed_frac(x))
            best = NULL;
        else if (cmp.p > line->closest.p)
            line->closest = cmp;
    }
    line->best = line->is_apart || line->closest.p < 0 ? NULL : best;
    return true;
}

/* Keeps the best that the verdict calls better, after Holm's correction over all lines. */
static bool judge(struct cells *c, struct err *e)
{
    double *p;
    bool ok = mem_new(&p, c->n_lines, e), beyond;

    for (size_t i = 0; ok && i < c->n_lines; i++) {
        ok = find_best(&c->lines[i], c->n_systems, e);
        p[i] = c->lines[i].best != NULL ? c->lines[i].closest.p : NAN;
    }
    ok = ok && stats_holm(p, c->n_lines, e);
    for (size_t i = 0; ok && i < c->n_lines; i++) {
        struct cells_line *x = &c->lines[i];
        const struct metric *m = &metrics[x->metric];

        if (x->best == NULL)
            continue;
        stats_adjust(&x->closest, NULL, NULL, p[i]);
        if (stats_verdict(&x->closest, (struct stats_question){m->up_is_better, m->delta},
                          &beyond) != STATS_BETTER)
            x->best = NULL;
    }
    free(p);
    return ok;
}

bool cells_make(struct cells *c, struct columns_table *t, const struct cells_options *how,
                struct err *e)
{
    *c = (struct cells){.how = how};
    bool ok = place_rows(c, t, e);
    size_t n = how->n_metrics * c->n_cells;

    ok = ok && mem_new(&c->lines, n, e) && mem_new(&c->figures, n * c->n_systems, e) &&
         mem_new(&c->values, how->n_metrics * t->n, e);
    for (size_t m = 0; ok && m < how->n_metrics; m++)
        ok = fill_lines(c, t, how->metrics[m], c->values + m * t->n, e);
    return ok && judge(c, e);
}

void cells_free(struct cells *c)
{
    free(c->lines);
    free(c->figures);
    free(c->values);
    *c = (struct cells){0};
}
