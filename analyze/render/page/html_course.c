#include "analyze/render/page/html_internal.h"

#include "analyze/render/page/chart.h"
#include "analyze/render/report/run_sheet.h"
#include "analyze/summary/model/role.h"
#include "analyze/write/html.h"
#include "libcommon/mem.h"

#include <stdlib.h>

#define MAIN_BINS 160
#define OP_BINS   120
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
static bool choose_shown(struct html_course *c, const struct analysis *a, struct err *e)
{
    const struct operation **v = NULL;

    if (!mem_cleared(&c->shown, c->n_ops, e) || !mem_new(&v, c->n_ops, e))
        return false;
    for (size_t k = 0; k < c->n_ops; k++)
        v[k] = &a->operations[k];
    qsort(v, c->n_ops, sizeof *v, by_requests);
    for (size_t k = 0; k < (c->n_ops > MOST_OPERATIONS ? SHOWN_OF_MORE : c->n_ops); k++)
        c->shown[v[k] - a->operations] = true;
    free(v);
    if (c->main >= 0)
        c->shown[c->main] = true;
    for (size_t k = 0; k < c->n_ops; k++)
        c->n_shown += c->shown[k];
    return true;
}

size_t html_course_choose(const struct html_course *c, size_t chosen[HTML_COURSE_CHOSEN])
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_ops; i++) {
        size_t n_larger = 0;
        for (size_t k = 0; k < c->n_ops; k++)
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

static bool fill_fine(struct html_course *c, const struct analysis *a, struct err *e)
{
    size_t chosen[HTML_COURSE_CHOSEN];
    size_t n = c->main < 0 ? html_course_choose(c, chosen) : 0;

    if (!mem_cleared(&c->fine, c->n_ops + 1, e) || !init_fine(&c->fine[0], &c->all, a, c->main, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t k = chosen[i];
        if (!init_fine(&c->fine[1 + k], &c->ops[k], a, (int)k, e))
            return false;
    }
    return true;
}

bool html_course_init(struct html_course *c, const struct analysis *a, struct err *e)
{
    *c = (struct html_course){.main = -1, .all = {.op = "all operations together"}};
    if (a->n_operations == 0)
        return true;
    c->main = role_main(a);
    if (!mem_cleared(&c->ops, a->n_operations, e) || !mem_cleared(&c->tables, a->n_operations, e) ||
        !mem_cleared(&c->beside, a->n_operations, e))
        return false;
    c->n_ops = a->n_operations;
    for (size_t k = 0; k < c->n_ops; k++)
        c->beside[k] = run_sheet_beside(a->operations[k].role);
    bool ok = choose_shown(c, a, e) && plot_timeline_init(&c->all, a, c->main, MAIN_BINS, e);
    for (size_t k = 0; ok && k < c->n_ops; k++) {
        const struct operation *op = &a->operations[k];

        c->ops[k].op = op->op;
        if (!c->shown[k])
            continue;
        c->tables[k] =
            (struct html_tables){op->n_requests > 0, op->n_host_results > 0,
                                 op->n_client_results > 0, op->n_error_groups > 0, false};
        ok = plot_timeline_init(&c->ops[k], a, (int)k, OP_BINS, e);
    }
    return ok && fill_fine(c, a, e);
}

void html_course_fini(struct html_course *c)
{
    for (size_t k = 0; k < c->n_ops; k++)
        plot_timeline_fini(&c->ops[k]);
    for (size_t k = 0; c->fine != NULL && k < c->n_ops + 1; k++)
        plot_timeline_fini(&c->fine[k]);
    free(c->fine);
    plot_timeline_fini(&c->all);
    free(c->ops);
    free(c->tables);
    free(c->beside);
    free(c->shown);
}

int html_course_series(const struct html_course *c, size_t k)
{
    int n = 1;

    for (size_t i = 0; i < k; i++)
        n += c->shown[i];
    return n;
}

void html_course_section(FILE *f, const char *section, const char *op, const char *beside)
{
    if (beside != NULL)
        fprintf(f, "<details id=\"%s\"><summary>%s: ", section, beside);
    else
        fprintf(f, "<h2 id=\"%s\">", section);
    html_text(f, op);
    fputs(beside != NULL ? "</summary>\n" : "</h2>\n", f);
}

void html_course_section_end(FILE *f, bool folded)
{
    fputs(folded ? "</details>\n" : "", f);
}

bool html_course_sections(FILE *f, const struct html_course *c,
                          bool (*put)(const void *ctx, FILE *f, const char *section, size_t k,
                                      struct err *e),
                          const void *ctx, struct err *e)
{
    char section[24];

    for (int folded = 0; folded < 2; folded++) {
        for (size_t k = 0; k < c->n_ops; k++) {
            if (!c->shown[k] || (c->beside[k] != NULL) != (folded == 1))
                continue;
            snprintf(section, sizeof section, "op%zu", k);
            html_course_section(f, section, c->ops[k].op, c->beside[k]);
            if (!put(ctx, f, section, k, e))
                return false;
            html_course_section_end(f, folded == 1);
        }
    }
    return true;
}
