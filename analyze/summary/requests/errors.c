/* Groups failed requests by normalised message, and by host within a group. */
#include "analyze/summary/requests/errors.h"

#include "analyze/base/intern.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

static int compare_cells(const void *a, const void *b)
{
    const struct error_cell *x = a, *y = b;
    int c = strcmp(x->message, y->message);

    return c != 0 ? c : strcmp(x->at.host, y->at.host);
}

static int compare_groups(const void *a, const void *b)
{
    const struct error_group *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->message, y->message);
}

/* Makes a group from cells sorted by host; cells of one host are merged. */
static bool fill_group(struct error_group *g, const struct error_cell *cells, size_t n,
                       struct err *e)
{
    *g = (struct error_group){
        .message = cells[0].message, .first_ns = INT64_MAX, .last_ns = INT64_MIN};
    if (!mem_new(&g->hosts, n, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct error_host *x = &cells[i].at;
        if (i == 0 || strcmp(x->host, cells[i - 1].at.host) != 0)
            g->hosts[g->n_hosts++] = (struct error_host){x->host, 0, x->first_ns, x->last_ns};
        struct error_host *to = &g->hosts[g->n_hosts - 1];
        to->count += x->count;
        to->first_ns = int64_min(x->first_ns, to->first_ns);
        to->last_ns = int64_max(x->last_ns, to->last_ns);
        g->count += x->count;
        g->first_ns = int64_min(x->first_ns, g->first_ns);
        g->last_ns = int64_max(x->last_ns, g->last_ns);
    }
    return true;
}

/* Joins the groups after the first 999 into one, "other". */
static bool limit_groups(struct operation *op, struct err *e)
{
    const size_t n_kept = ANALYSIS_MAX_ERROR_GROUPS - 1;
    size_t n = 0;

    if (op->n_error_groups <= ANALYSIS_MAX_ERROR_GROUPS)
        return true;
    for (size_t i = n_kept; i < op->n_error_groups; i++)
        n += op->errors[i].n_hosts;
    struct error_cell *cells;
    if (!mem_new(&cells, n, e))
        return false;
    for (n = 0; op->n_error_groups > n_kept; op->n_error_groups--) {
        struct error_group *last = &op->errors[op->n_error_groups - 1];
        for (size_t k = 0; k < last->n_hosts; k++)
            cells[n++] = (struct error_cell){"other", last->hosts[k]};
        free(last->hosts);
    }
    qsort(cells, n, sizeof *cells, compare_cells);
    bool ok = fill_group(&op->errors[op->n_error_groups++], cells, n, e);
    free(cells);
    return ok;
}

bool analysis_errors_of(struct operation *op, struct error_cell *cells, size_t n, struct err *e)
{
    size_t n_groups = 0;

    if (n == 0)
        return true;
    qsort(cells, n, sizeof *cells, compare_cells);
    for (size_t i = 0; i < n; i++)
        n_groups += i == 0 || strcmp(cells[i].message, cells[i - 1].message) != 0;
    if (!mem_new(&op->errors, n_groups, e))
        return false;
    for (size_t from = 0, to; from < n; from = to) {
        to = from + 1;
        while (to < n && strcmp(cells[to].message, cells[from].message) == 0)
            to++;
        if (!fill_group(&op->errors[op->n_error_groups++], &cells[from], to - from, e))
            return false;
    }
    qsort(op->errors, n_groups, sizeof *op->errors, compare_groups);
    return limit_groups(op, e);
}

/* Counts a failed request under its message and host. `ids` numbers the cells by both. */
static bool add_row(struct error_cell **cells, struct intern *ids, const struct dataset *d,
                    const struct table *t, size_t row, struct err *e)
{
    const uint32_t key[] = {table_error(t, row), dataset_place(d, t, table_place(t, row))->host};
    size_t n = ids->n;
    uint32_t id = intern_add(ids, (struct slice){(const char *)key, sizeof key});
    int64_t end_ns = table_end(t, row);

    if (id == INTERN_NONE)
        return mem_none(e);
    if (id == n) {
        if (!mem_more(cells, n, e))
            return false;
        (*cells)[id] =
            (struct error_cell){d->errors.v[key[0]], {d->hosts.v[key[1]], 0, end_ns, end_ns}};
    }
    struct error_host *x = &(*cells)[id].at;
    x->count++;
    x->first_ns = int64_min(end_ns, x->first_ns);
    x->last_ns = int64_max(end_ns, x->last_ns);
    return true;
}

bool analysis_errors(struct operation *op, const struct dataset *d, const struct table *t,
                     struct err *e)
{
    struct intern ids = {0};
    struct error_cell *cells = NULL;
    bool ok = true;

    for (size_t i = 0; ok && i < t->n; i++)
        if (table_failed(t, i))
            ok = add_row(&cells, &ids, d, t, i, e);
    ok = ok && analysis_errors_of(op, cells, ids.n, e);
    free(cells);
    intern_fini(&ids);
    return ok;
}

void analysis_errors_free(struct operation *op)
{
    for (size_t i = 0; i < op->n_error_groups; i++)
        free(op->errors[i].hosts);
    free(op->errors);
}
