/* Failed requests in groups of the same normalised message, and by host within a group. */
#include "analyze/analysis/analysis_internal.h"

#include "analyze/base/intern.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

/* Failed requests of one message to one host. */
struct cell {
    uint32_t message, host;
    int64_t count, first_ns, last_ns;
};

struct cells {
    struct intern ids; /* of message and host, as bytes */
    struct cell *v;    /* by id */
};

static bool cells_add(struct cells *c, uint32_t message, uint32_t host, int64_t end_ns)
{
    const uint32_t key[] = {message, host};
    size_t n = c->ids.n;
    uint32_t id = intern_add(&c->ids, (struct slice){(const char *)key, sizeof key});

    if (id == INTERN_NONE || (id == n && !mem_more(&c->v, n, NULL)))
        return false;
    if (id == n)
        c->v[id] = (struct cell){message, host, 0, INT64_MAX, INT64_MIN};
    struct cell *x = &c->v[id];
    x->count++;
    x->first_ns = end_ns < x->first_ns ? end_ns : x->first_ns;
    x->last_ns = end_ns > x->last_ns ? end_ns : x->last_ns;
    return true;
}

static int compare_messages(const void *a, const void *b)
{
    const struct error_group *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->message, y->message);
}

static int compare_hosts(const void *a, const void *b)
{
    const struct error_host *x = a, *y = b;
    return strcmp(x->host, y->host);
}

/* By message, so that the cells of a group stand together. */
static int compare_cells(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    if (x->message != y->message)
        return x->message < y->message ? -1 : 1;
    return (x->host > y->host) - (x->host < y->host);
}

static bool fill_group(struct error_group *g, const struct dataset *d, const struct cell *cells,
                       size_t n)
{
    *g = (struct error_group){
        .message = d->errors.v[cells[0].message],
        .first_ns = INT64_MAX,
        .last_ns = INT64_MIN,
        .hosts = malloc(n * sizeof *g->hosts),
        .n_hosts = n,
    };
    if (g->hosts == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct cell *x = &cells[i];
        g->hosts[i] = (struct error_host){d->hosts.v[x->host], x->count, x->first_ns, x->last_ns};
        g->count += x->count;
        g->first_ns = x->first_ns < g->first_ns ? x->first_ns : g->first_ns;
        g->last_ns = x->last_ns > g->last_ns ? x->last_ns : g->last_ns;
    }
    qsort(g->hosts, n, sizeof *g->hosts, compare_hosts);
    return true;
}

/* Adds group `from` to `to`: hosts of both lists are in order. */
static bool merge_group(struct error_group *to, const struct error_group *from)
{
    struct error_host *hosts = malloc((to->n_hosts + from->n_hosts) * sizeof *hosts);
    if (hosts == NULL)
        return false;
    size_t n = 0, i = 0, j = 0;
    while (i < to->n_hosts || j < from->n_hosts) {
        int c = i == to->n_hosts     ? 1
                : j == from->n_hosts ? -1
                                     : compare_hosts(&to->hosts[i], &from->hosts[j]);
        hosts[n] = c <= 0 ? to->hosts[i++] : from->hosts[j++];
        if (c == 0) {
            const struct error_host *x = &from->hosts[j++];
            hosts[n].count += x->count;
            hosts[n].first_ns = x->first_ns < hosts[n].first_ns ? x->first_ns : hosts[n].first_ns;
            hosts[n].last_ns = x->last_ns > hosts[n].last_ns ? x->last_ns : hosts[n].last_ns;
        }
        n++;
    }
    free(to->hosts);
    to->hosts = hosts;
    to->n_hosts = n;
    to->count += from->count;
    to->first_ns = from->first_ns < to->first_ns ? from->first_ns : to->first_ns;
    to->last_ns = from->last_ns > to->last_ns ? from->last_ns : to->last_ns;
    return true;
}

/* Joins all but the first 999 groups to one, "other". */
static bool limit_groups(struct operation *op)
{
    if (op->n_error_groups <= ANALYSIS_MAX_ERROR_GROUPS)
        return true;
    struct error_group *other = &op->errors[ANALYSIS_MAX_ERROR_GROUPS - 1];
    other->message = "other";
    while (op->n_error_groups > ANALYSIS_MAX_ERROR_GROUPS) {
        struct error_group *last = &op->errors[op->n_error_groups - 1];
        if (!merge_group(other, last))
            return false;
        free(last->hosts);
        op->n_error_groups--;
    }
    return true;
}

bool analysis_errors(struct operation *op, const struct dataset *d, const struct table *t,
                     struct err *e)
{
    struct cells cells = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < t->n; i++)
        if (table_failed(t, i))
            ok = cells_add(&cells, table_error(t, i), dataset_place(d, t, table_place(t, i))->host,
                           table_end(t, i));
    size_t n_groups = 0, n = cells.ids.n;
    if (ok && n > 0) {
        qsort(cells.v, n, sizeof *cells.v, compare_cells);
        for (size_t i = 0; i < n; i++)
            n_groups += i == 0 || cells.v[i].message != cells.v[i - 1].message;
        ok = mem_cleared(&op->errors, n_groups, e);
    }
    for (size_t from = 0, to; ok && from < n; from = to) {
        to = from + 1;
        while (to < n && cells.v[to].message == cells.v[from].message)
            to++;
        ok = fill_group(&op->errors[op->n_error_groups++], d, &cells.v[from], to - from);
    }
    if (ok && n_groups > 0)
        qsort(op->errors, n_groups, sizeof *op->errors, compare_messages);
    ok = ok && limit_groups(op);
    free(cells.v);
    intern_fini(&cells.ids);
    return ok || mem_none(e);
}

void analysis_errors_free(struct operation *op)
{
    for (size_t i = 0; i < op->n_error_groups; i++)
        free(op->errors[i].hosts);
    free(op->errors);
}
