#include "analyze/plot/replay.h"

#include "analyze/analysis/replay.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

static bool add(struct plot_replays *r, const char *op, const struct table *const *tables,
                size_t n_tables, struct err *e)
{
    struct replay replay;
    struct plot_replay *x = &r->v[r->n++];

    *x = (struct plot_replay){.op = op};
    bool ok = replay_init(&replay, tables, n_tables, e) &&
              replay_run(&replay, r->dur_ns, r->pct, &x->stop, e);
    replay_fini(&replay);
    return ok;
}

bool plot_replays_init(struct plot_replays *r, const struct dataset *d, bool mixed, int64_t dur_ns,
                       double pct, struct err *e)
{
    *r = (struct plot_replays){.dur_ns = dur_ns, .pct = pct};
    const struct table **tables = NULL;
    bool ok = mem_cleared(&r->v, d->n_tables, e) && mem_cleared(&tables, d->n_tables, e);
    for (size_t i = 0; ok && i < d->n_tables; i++)
        tables[i] = &d->tables[i];
    if (ok && mixed)
        ok = add(r, "", tables, d->n_tables, e);
    for (size_t i = 0; ok && !mixed && i < d->n_tables; i++)
        ok = add(r, d->ops.v[d->tables[i].op], &tables[i], 1, e);
    free(tables);
    return ok;
}

void plot_replays_free(struct plot_replays *r)
{
    free(r->v);
    *r = (struct plot_replays){0};
}

const struct plot_replay *plot_replays_of(const struct plot_replays *r, const char *op)
{
    for (size_t i = 0; r != NULL && i < r->n; i++)
        if (strcmp(r->v[i].op, op) == 0)
            return &r->v[i];
    return NULL;
}
