#include "analyze/render/page/html_internal.h"

#include "analyze/render/page/chart.h"
#include "analyze/summary/model/role.h"
#include "analyze/write/html.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

#define BINS      264 /* the width of a drawing in pixels, by 3 */
#define FINE_BINS 2000

/* A page is to be written in 3 s and stay below 2 MB: of more than MOST_OPERATIONS, SHOWN_OF_MORE
 * are shown. */
#define MOST_OPERATIONS 24
#define SHOWN_OF_MORE   6

static int by_requests(const void *x, const void *y)
{
    const struct operation *a = *(const struct operation *const *)x;
    const struct operation *b = *(const struct operation *const *)y;

    return a->n_requests != b->n_requests ? (a->n_requests < b->n_requests ? 1 : -1)
                                          : (a > b) - (a < b);
}

/* Chooses the operations with the most requests, and the one that the page is about. */
static bool choose_shown(struct html_course *c, struct err *e)
{
    const struct operation **v = NULL, *ops = c->a->operations;
    size_t n = c->a->n_operations;

    if (!mem_cleared(&c->shown, n, e) || !mem_new(&v, n, e))
        return false;
    for (size_t k = 0; k < n; k++)
        v[k] = &ops[k];
    qsort(v, n, sizeof *v, by_requests);
    for (size_t k = 0; k < (n > MOST_OPERATIONS ? SHOWN_OF_MORE : n); k++)
        c->shown[v[k] - ops] = true;
    free(v);
    if (c->main >= 0)
        c->shown[c->main] = true;
    for (size_t k = 0; k < n; k++)
        c->n_shown += c->shown[k];
    return true;
}

size_t html_course_choose(const struct html_course *c, size_t chosen[HTML_COURSE_CHOSEN])
{
    size_t n = 0;

    for (size_t i = 0; i < c->a->n_operations; i++) {
        size_t n_larger = 0;
        for (size_t k = 0; k < c->a->n_operations; k++)
            n_larger += c->ops[k].n_requests > c->ops[i].n_requests ||
                        (c->ops[k].n_requests == c->ops[i].n_requests && k < i);
        if (n_larger < HTML_COURSE_CHOSEN && chart_most(&c->ops[i], PLOT_P99) > 0)
            chosen[n++] = i;
    }
    return n;
}

/* Fills in the timeline of an operation (-1: of all together) with shorter bins than *coarse; n is
 * 0 if there are none. */
static bool init_fine(struct plot_timeline *t, const struct plot_timeline *coarse,
                      const struct analysis *a, int index, struct err *e)
{
    bool ok = plot_timeline_init(t, a, index, FINE_BINS, e);

    if (ok && t->n > coarse->n)
        return true;
    plot_timeline_fini(t);
    *t = (struct plot_timeline){.n = 0};
    return ok;
}

static bool fill_fine(struct html_course *c, struct err *e)
{
    size_t chosen[HTML_COURSE_CHOSEN];
    size_t n = c->main < 0 ? html_course_choose(c, chosen) : 0;

    if (!mem_cleared(&c->fine, c->a->n_operations + 1, e) ||
        !init_fine(&c->fine[0], &c->all, c->a, c->main, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t k = chosen[i];
        if (!init_fine(&c->fine[1 + k], &c->ops[k], c->a, (int)k, e) ||
            !plot_timeline_band(&c->ops[k], &c->fine[1 + k], PLOT_P99, e))
            return false;
    }
    return plot_timeline_band(&c->all, &c->fine[0], PLOT_THROUGHPUT, e) &&
           plot_timeline_band(&c->all, &c->fine[0], PLOT_P99, e);
}

/* Fills in the course of who the worst finding names that names anybody. */
static bool fill_party(struct html_course *c, struct err *e)
{
    const struct findings *all = &c->a->findings;
    int index = c->main;

    for (size_t i = 0; i < all->n && c->named == NULL; i++)
        if (all->v[i].scope == SCOPE_SYSTEM
                ? finding_value(&all->v[i], "max_bytes") > 0
                : all->v[i].scope == SCOPE_THREAD || all->v[i].party != NULL)
            c->named = &all->v[i];
    if (c->named == NULL)
        return true;
    for (size_t k = 0; c->named->op != NULL && k < c->a->n_operations; k++)
        if (strcmp(c->a->operations[k].op, c->named->op) == 0)
            index = (int)k;
    return plot_timeline_party(&c->party, c->a, index, c->named, BINS, e);
}

bool html_course_init(struct html_course *c, const struct analysis *a, struct err *e)
{
    *c = (struct html_course){.a = a, .main = -1, .all = {.op = "all operations together"}};
    if (a->n_operations == 0)
        return true;
    c->main = role_main(a);
    bool ok = mem_cleared(&c->ops, a->n_operations, e) && choose_shown(c, e) &&
              plot_timeline_init(&c->all, a, c->main, BINS, e);
    for (size_t k = 0; ok && k < a->n_operations; k++)
        if (c->shown[k])
            ok = plot_timeline_init(&c->ops[k], a, (int)k, BINS, e);
    return ok && fill_fine(c, e) && fill_party(c, e);
}

void html_course_fini(struct html_course *c)
{
    for (size_t k = 0; c->ops != NULL && k < c->a->n_operations; k++)
        plot_timeline_fini(&c->ops[k]);
    for (size_t k = 0; c->fine != NULL && k < c->a->n_operations + 1; k++)
        plot_timeline_fini(&c->fine[k]);
    free(c->fine);
    plot_timeline_fini(&c->all);
    plot_timeline_fini(&c->party);
    free(c->ops);
    free(c->shown);
}

int html_course_series(const struct html_course *c, size_t k)
{
    int n = 1;

    for (size_t i = 0; i < k; i++)
        n += c->shown[i];
    return n;
}

void html_section(FILE *f, const char *section, const char *op, const char *fold)
{
    if (fold != NULL)
        fprintf(f, "<details id=\"%s\"><summary>%s: ", section, fold);
    else
        fprintf(f, "<h2 id=\"%s\">", section);
    html_text(f, op);
    fputs(fold != NULL ? "</summary>\n" : "</h2>\n", f);
}

void html_section_end(FILE *f, const char *fold)
{
    fputs(fold != NULL ? "</details>\n" : "", f);
}
