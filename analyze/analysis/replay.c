#include "analyze/analysis/replay.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stdlib.h>

static int compare_ends(const void *a, const void *b)
{
    const struct replay_item *x = a, *y = b;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

bool replay_init(struct replay *r, const struct table *const *tables, size_t n_tables,
                 struct err *e)
{
    size_t n = 0;
    for (size_t k = 0; k < n_tables; k++)
        n += tables[k]->n;
    *r = (struct replay){.tables = tables, .n_tables = n_tables, .first_start_ns = INT64_MAX};
    if (!mem_new(&r->items, n, e))
        return false;
    for (size_t k = 0; k < n_tables; k++) {
        const struct table *t = tables[k];
        for (size_t i = 0; i < t->n; i++) {
            r->items[r->n++] = (struct replay_item){table_end(t, i), (uint32_t)k, (uint32_t)i};
            r->first_start_ns = int64_min(t->start[i], r->first_start_ns);
        }
    }
    qsort(r->items, r->n, sizeof *r->items, compare_ends);
    return true;
}

void replay_fini(struct replay *r)
{
    free(r->items);
    *r = (struct replay){0};
}

struct cursor {
    const struct replay *r;
    size_t next;
};

static bool next_request(void *ctx, uint32_t *thread, struct attribution_request *out)
{
    struct cursor *c = ctx;
    if (c->next == c->r->n)
        return false;
    const struct replay_item *item = &c->r->items[c->next++];
    const struct table *t = c->r->tables[item->table];
    uint32_t id = table_thread(t, item->row);
    *thread = c->r->n_tables == 1 ? id : (uint32_t)table_thread_index(t, id);
    *out = (struct attribution_request){
        .start_ns = t->start[item->row],
        .end_ns = item->end_ns,
        .bytes = packed_get(&t->bytes, item->row),
        .n_objects = packed_get(&t->objects, item->row),
        .ok = !table_failed(t, item->row),
    };
    return true;
}

bool replay_run(const struct replay *r, int64_t dur_ns, double pct, struct autoterm_stop *stop,
                struct err *e)
{
    struct cursor c = {r, 0};
    return autoterm_replay(r->first_start_ns, dur_ns, pct, next_request, &c, stop, e);
}
