#include "analyze/tools/profile/run.h"

#include "analyze/tools/profile/units.h"
#include "libcommon/mem.h"

#include <unistd.h>

#define SHARE_OF_ONE_OP 0.95 /* least share of one operation for a run to be of this operation */

void profile_run_free(struct profile_run *r)
{
    profile_free(&r->p);
    profile_sources_free(&r->sources);
    profile_sources_free(&r->base);
}

static bool find(struct profile_sources *to, const char *const *paths, size_t n, const char *kind,
                 bool before, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (!profile_sources_add(to, paths[i], e))
            return false;
    return profile_sources_keep(to, kind, before, e);
}

bool profile_run_read(struct profile_run *r, const struct profile_wanted *w, struct err *e)
{
    bool has_base = w->n_base > 0, own_base = !has_base && w->is_diff;

    if (!find(&r->sources, w->paths, w->n_paths, w->kind, false, e) ||
        (has_base && !find(&r->base, w->base, w->n_base, w->kind, false, e)) ||
        (own_base && !find(&r->base, w->paths, w->n_paths, w->kind, true, e)))
        return false;
    return profile_sources_read(&r->sources, &r->p, false, e) &&
           profile_sources_read(&r->base, &r->p, true, e);
}

/* Counts the requests of one operation. */
static void count_table(struct cost_load *load, const struct table *t, struct profile_window w)
{
    for (size_t i = 0; i < t->n; i++) {
        int64_t end_ns = table_end(t, i);
        if (w.end_ns > w.start_ns && (end_ns < w.start_ns || end_ns > w.end_ns))
            continue;
        load->n++;
        load->n_bytes += table_failed(t, i) ? 0 : (double)packed_get(&t->bytes, i);
    }
}

void profile_run_count(struct profile_run *r, const struct dataset *d, bool base)
{
    struct cost_load *load = &r->loads[base];
    uint64_t most = 0;

    *load = (struct cost_load){0};
    for (size_t i = 0; i < d->n_tables; i++) {
        uint64_t before = load->n;
        count_table(load, &d->tables[i], r->p.windows[base]);
        if (load->n - before > most) {
            most = load->n - before;
            snprintf(load->op, sizeof load->op, "%s", d->ops.v[d->tables[i].op]);
        }
    }
    if ((double)most < SHARE_OF_ONE_OP * (double)load->n)
        *load->op = '\0';
}

char *profile_beside(const char *path, const char *from, const char *to)
{
    size_t n = strlen(path), n_from = strlen(from);
    char *name = NULL;

    if (n <= n_from || strcmp(path + n - n_from, from) != 0 ||
        !mem_format(&name, NULL, "%.*s%s", (int)(n - n_from), path, to))
        return NULL;
    if (access(name, R_OK) == 0)
        return name;
    free(name);
    return NULL;
}

void profile_run_nodes(struct sheet *s, const struct profile_run *r)
{
    size_t type = profile_type_index(&r->p, NULL, NULL);
    const char *unit = r->p.types[type].unit;

    sheet_table(s, "lllrr", "Profiles");
    SHEET_HEADINGS(s, "Node", "File", "Kind", r->p.types[type].name, "Busy CPUs");
    for (size_t i = 0; i < r->sources.n; i++) {
        const struct profile_source *x = &r->sources.v[i];
        const char *slash = strrchr(x->path, '/');

        SHEET_ROW(s, TEXT_PLAIN, x->node, slash != NULL ? slash + 1 : x->path, x->kind,
                  profile_format(x->total, unit, "auto").s);
        if (x->busy_cpus > 0)
            sheet_cell(s, "%.2f", x->busy_cpus);
        else
            sheet_cell(s, "%s", "");
    }
    profile_run_odd(s, r);
}

void profile_run_odd(struct sheet *s, const struct profile_run *r)
{
    size_t type = profile_type_index(&r->p, NULL, NULL);
    double ratio;
    const struct profile_source *odd = profile_sources_outlier(&r->sources, &ratio);

    if (odd != NULL)
        sheet_line(s, TEXT_WARNING, "%s stands out: %s of %s, %.2f times the median of the nodes",
                   *odd->node != '\0' ? odd->node : odd->path,
                   profile_format(odd->total, r->p.types[type].unit, "auto").s,
                   r->p.types[type].name, ratio);
}
