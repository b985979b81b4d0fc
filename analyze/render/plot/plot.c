#include "analyze/render/plot/plot.h"

#include "analyze/render/plot/charts_internal.h"
#include "analyze/stats/stats.h"
#include "analyze/summary/model/role.h"
#include "analyze/write/outfile.h"
#include "libcommon/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct plot_kind *const plot_kinds[] = {
    &plot_kind_throughput,   &plot_kind_hosts,        &plot_kind_latency,   &plot_kind_latency_heat,
    &plot_kind_spectrum,     &plot_kind_host_latency, &plot_kind_errors,    &plot_kind_cdf,
    &plot_kind_latency_size, &plot_kind_sizes,        &plot_kind_in_flight, &plot_kind_clients,
    &plot_kind_autoterm,     &plot_kind_groups,       &plot_kind_response,  NULL,
};

struct plot_listed plot_listed(bool of_comparison, size_t i)
{
    const struct plot_kind *x = of_comparison ? NULL : plot_kinds[i];

    return of_comparison ? plot_compare_listed(i)
           : x == NULL   ? (struct plot_listed){0}
                         : (struct plot_listed){x->name, x->title, x->is_by_name};
}

bool plot_wants(const struct plot_options *o, const char *chart)
{
    for (size_t i = 0; i < o->n_charts; i++)
        if (strcmp(o->charts[i], chart) == 0)
            return true;
    return o->n_charts == 0;
}

static void picture_free(struct plot_picture *x)
{
    free(x->op);
    free(x->title);
    free(x->data);
    free(x->picture);
    free(x->narrow);
    free(x->readings);
    free(x->missing);
}

void plot_set_free(struct plot_set *s)
{
    for (size_t i = 0; i < s->n; i++)
        picture_free(&s->v[i]);
    free(s->v);
    *s = (struct plot_set){0};
}

/* ---- Names of files ---- */

/* Sets *stem to "throughput-GET"; characters that a shell or a file system may not accept become
 * '_'. */
static bool stem_of(char **stem, const char *chart, const char *op, struct err *e)
{
    if (op == NULL)
        return mem_text(stem, chart, e);
    if (!mem_format(stem, e, "%s-%.60s", chart, *op != '\0' ? op : "all"))
        return false;
    for (char *c = *stem; *c != '\0'; c++) {
        bool plain = (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z') ||
                     (*c >= '0' && *c <= '9') || *c == '-' || *c == '_';
        *c = plain ? *c : '_';
    }
    return true;
}

static bool is_taken(const struct plot_set *s, const char *path)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->v[i].data, path) == 0)
            return true;
    return false;
}

/* Sets the paths FOLDER/STEM.tsv, FOLDER/STEM.svg and FOLDER/STEM.narrow.svg, with a number if
 * another operation has that name. */
static bool choose_paths(const struct plot_set *s, struct plot_picture *x, const char *stem,
                         const struct plot_options *o, struct err *e)
{
    char number[16] = "";
    for (unsigned k = 2;; k++) {
        if (!mem_format(&x->data, e, "%s/%s%s.tsv", o->folder, stem, number))
            return false;
        if (!is_taken(s, x->data))
            break;
        free(x->data);
        snprintf(number, sizeof number, "-%u", k);
    }
    return mem_format(&x->picture, e, "%s/%s%s.%s", o->folder, stem, number, o->format) &&
           (!o->with_narrow ||
            mem_format(&x->narrow, e, "%s/%s%s.narrow.%s", o->folder, stem, number, o->format));
}

/* ---- One chart ---- */

enum outfile_replaces plot_replaces(const char *picture, bool force)
{
    const char *end = strrchr(picture, '.');
    char *data;
    bool ours = mem_format(&data, NULL, "%.*s.tsv", (int)(end - picture), picture) &&
                outfile_is_ours(data, OUTFILE_CHART);

    free(data);
    return force || ours ? OUTFILE_ANYTHING : OUTFILE_NOTHING;
}

static bool write_data(const struct plot_picture *x, const struct plot_chart *c, const void *ctx,
                       const struct plot_options *o, struct err *e)
{
    struct outfile out;

    return outfile_open(&out, x->data, o->force ? OUTFILE_ANYTHING : OUTFILE_CHART, e) &&
           outfile_finish(&out, c->write(out.f, ctx, o->no_titles ? "" : x->title) || mem_none(e),
                          e);
}

static bool spares_captures(const char *path, const struct plot_options *o, struct err *e)
{
    for (size_t i = 0; i < sizeof o->captures / sizeof *o->captures; i++)
        if (!outfile_spares(path, o->captures[i].v, o->captures[i].n, e))
            return false;
    return true;
}

bool plot_add(struct plot_set *s, const struct plot_chart *c, const char *op, const void *ctx,
              const struct plot_options *o, struct err *e)
{
    int height = c->height > 0 ? c->height : o->height;
    struct plot_picture x = {.asked = c->name,
                             .chart = c->name,
                             .caption = c->caption,
                             .width = o->width > 0 ? o->width : PLOT_WIDTH,
                             .height = height > 0 ? height : PLOT_HEIGHT,
                             .narrow_height = height > 0 ? height : PLOT_NARROW_HEIGHT};
    const char *own_stem = o->stem != NULL ? o->stem : c->stem;
    char *stem = NULL;
    const char *what = op == NULL ? "" : *op != '\0' ? op : "All operations";
    bool has_label = o->label != NULL && *o->label != '\0';

    bool ok =
        mem_text(&x.op, op != NULL ? op : "", e) &&
        mem_format(&x.title, e, "%s%s%s%s%s", has_label ? o->label : "",
                   has_label ? " \xC2\xB7 " : "", what, op != NULL ? " \xC2\xB7 " : "", c->title) &&
        (own_stem != NULL ? mem_text(&stem, own_stem, e) : stem_of(&stem, c->name, op, e)) &&
        choose_paths(s, &x, stem, o, e);
    free(stem);
    /* A title without a label and an operation begins with a capital letter. */
    if (ok && !has_label && op == NULL)
        *x.title = (char)toupper((unsigned char)*x.title);
    if (!ok || !mem_fit(&s->v, &s->cap, s->n + 1, e) || !spares_captures(x.data, o, e) ||
        !spares_captures(x.picture, o, e) ||
        !outfile_check(x.picture, plot_replaces(x.picture, o->force), e) ||
        !write_data(&x, c, ctx, o, e)) {
        picture_free(&x);
        return false;
    }
    s->v[s->n++] = x;
    return true;
}

/* ---- The charts of a run ---- */

struct run_chart {
    const struct plot_kind *kind;
    const struct plot_data *data;
};

static bool write_run_chart(FILE *f, const void *ctx, const char *title)
{
    const struct run_chart *c = ctx;
    return c->kind->write(f, c->data, title);
}

/* Whether a chart is drawn. One that is asked for by name is drawn wherever there is data for it.
 * `all`: the data of all operations together if they are mixed, else p. */
static bool is_due(const struct plot_kind *kind, const struct plot_data *p,
                   const struct plot_data *all, const struct plot_options *o)
{
    if ((o->with_readings && kind->is_course) ||
        (p->index < 0 && !p->a->total.present && !kind->of_parties) ||
        (kind->of_requests && p->a->dataset->n_tables == 0) ||
        (kind->has_data != NULL && !kind->has_data(p)))
        return false;
    return o->n_charts > 0 ||
           (!kind->is_by_name && (kind->is_worth == NULL || kind->is_worth(p, all)));
}

static bool add_readings(struct plot_picture *x, const struct run_chart *c, struct err *e)
{
    size_t n;
    FILE *f = open_memstream(&x->readings, &n);

    if (f == NULL)
        return mem_none(e);
    bool ok = c->kind->readings(f, c->data) && !ferror(f);
    ok = fclose(f) == 0 && x->readings != NULL && ok;
    return ok || mem_none(e);
}

static bool add_charts(struct plot_set *s, struct plot_data *p, const struct plot_data *all,
                       const struct plot_options *o, struct err *e)
{
    bool ok = true;
    p->lists_findings = o->lists_findings;
    p->replay = o->replays != NULL ? stopping_of(o->replays, p->op) : NULL;
    for (size_t i = 0; ok && p->n_rows > 0 && plot_kinds[i] != NULL; i++) {
        const struct plot_kind *kind = plot_kinds[i];
        bool is_apart = kind->of_parties && p->index < 0 && p->a->total.series_of != NULL;

        if (kind->else_kind != NULL && p->a->dataset->n_tables == 0)
            kind = kind->else_kind;
        const struct run_chart data = {kind, p};

        if (!plot_wants(o, plot_kinds[i]->name) || !is_due(kind, p, all, o))
            continue;
        const struct plot_chart chart = {
            kind->name,
            kind->title,
            kind->caption,
            write_run_chart,
            .stem = is_apart ? plot_kinds[i]->name : NULL,
            .height = kind->height != NULL && o->height == 0 ? kind->height(p) : 0};
        ok = plot_add(s, &chart, p->op, &data, o, e);
        if (!ok)
            break;
        s->v[s->n - 1].asked = plot_kinds[i]->name;
        ok = !o->with_readings || kind->readings == NULL || add_readings(&s->v[s->n - 1], &data, e);
    }
    return ok;
}

/* Adds the charts of the n operations of `index`; has_total: the first is all operations
 * together. */
static bool add_operations(struct plot_set *s, const struct analysis *a, const int *index, size_t n,
                           bool has_total, const struct plot_options *o, struct err *e)
{
    struct plot_data *v = NULL;
    bool ok = mem_new(&v, n, e) && plot_data_init(v, n, a, index, e);

    for (size_t i = 0; ok && i < n; i++)
        ok = add_charts(s, &v[i], has_total ? &v[0] : &v[i], o, e);
    for (size_t i = 0; v != NULL && i < n; i++)
        plot_data_fini(&v[i]);
    free(v);
    return ok;
}

/* Adds the only picture: of what the report is about. If that has no such chart: of the operation
 * with the most requests instead of all together, of all parties together instead of one operation.
 */
static bool add_one(struct plot_set *s, const struct analysis *a, const struct plot_options *o,
                    struct err *e)
{
    int main = role_main(a), other = main < 0 ? 0 : -1;

    for (size_t k = 1; main < 0 && k < a->n_operations; k++)
        if (a->operations[k].n_requests > a->operations[other].n_requests)
            other = (int)k;
    return add_operations(s, a, &main, 1, main < 0, o, e) &&
           (s->n > 0 || (other < 0 && a->total.series_of == NULL) ||
            add_operations(s, a, &other, 1, false, o, e));
}

bool plot_add_analysis(struct plot_set *s, const struct analysis *a, const struct plot_options *o,
                       struct err *e)
{
    int main = role_main(a), *index = NULL;
    bool has_total = main < 0 && a->n_operations > 1;
    bool has_parties = !has_total && a->total.series_of != NULL && a->n_operations > 0;
    size_t n = 0;

    if (o->stem != NULL)
        return a->n_operations == 0 || add_one(s, a, o, e);
    if (!mem_new(&index, a->n_operations + 2, e))
        return false;
    if (has_parties)
        index[n++] = -1;
    if (has_total)
        index[n++] = main;
    for (size_t k = 0; k < a->n_operations; k++)
        if ((!o->benchmark_only || role_is_benchmark(a->operations[k].role)) &&
            (o->operations == NULL || o->operations[k]))
            index[n++] = (int)k;
    bool ok = add_operations(s, a, index, n, has_total, o, e);
    free(index);
    return ok;
}
