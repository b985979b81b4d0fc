#include "analyze/summary/requests/slowest.h"

#include <string.h>

struct picked {
    const struct table *t;
    size_t row;
    int64_t dur_ns;
};

/* Slower requests come first, then earlier ones. Other columns break ties, so that the order of the
 * rows does not matter. */
static bool is_before(const struct dataset *d, const struct picked *a, const struct picked *b)
{
    return a->dur_ns != b->dur_ns ? a->dur_ns > b->dur_ns
                                  : dataset_compare(d, a->t, a->row, b->t, b->row) < 0;
}

static void pick(const struct dataset *d, struct picked *v, size_t *n, const struct picked *x)
{
    if (*n == ANALYSIS_SLOWEST && !is_before(d, x, &v[*n - 1]))
        return;
    size_t at = *n < ANALYSIS_SLOWEST ? (*n)++ : *n - 1;
    for (; at > 0 && is_before(d, x, &v[at - 1]); at--)
        v[at] = v[at - 1];
    v[at] = *x;
}

size_t analysis_slowest(const struct analysis *a, int index, struct slow_request *v)
{
    const struct dataset *d = a->dataset;
    struct picked picked[ANALYSIS_SLOWEST];
    size_t n = 0;

    for (size_t i = 0; i < d->n_tables; i++) {
        const struct table *t = &d->tables[i];
        if (index >= 0 && strcmp(d->ops.v[t->op], a->operations[index].op) != 0)
            continue;
        for (size_t row = 0; row < t->n; row++) {
            const struct picked x = {t, row, packed_get(&t->dur, row)};
            if (n < ANALYSIS_SLOWEST || x.dur_ns >= picked[n - 1].dur_ns)
                pick(d, picked, &n, &x);
        }
    }
    for (size_t i = 0; i < n; i++) {
        const struct table *t = picked[i].t;
        size_t row = picked[i].row;
        const struct place *place = dataset_place(d, t, table_place(t, row));

        v[i] = (struct slow_request){
            .op = d->ops.v[t->op],
            .host = d->hosts.v[place->host],
            .client = d->clients.v[place->client],
            .error = d->errors.v[table_error(t, row)],
            .key = t->object != NULL && t->object[row] != 0
                       ? slowest_key(&t->slowest, t->object[row])
                       : NULL,
            .thread = d->threads[table_thread_index(t, table_thread(t, row))],
            .start_ns = t->start[row],
            .dur_ns = picked[i].dur_ns,
            .bytes = packed_get(&t->bytes, row),
        };
    }
    return n;
}
