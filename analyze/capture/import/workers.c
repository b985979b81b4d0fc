#include "analyze/capture/import/workers.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stdlib.h>

static bool is_before(const struct worker *a, const struct worker *b)
{
    return a->free_ns != b->free_ns ? a->free_ns < b->free_ns : a->thread < b->thread;
}

/* Puts x in place of the first worker. */
static void replace_first(struct workers *w, struct worker x)
{
    size_t i = 0;

    for (;;) {
        size_t k = 2 * i + 1;

        k += k + 1 < w->n && is_before(&w->v[k + 1], &w->v[k]);
        if (k >= w->n || !is_before(&w->v[k], &x))
            break;
        w->v[i] = w->v[k];
        i = k;
    }
    w->v[i] = x;
}

static bool add(struct workers *w, struct worker x, struct err *e)
{
    if (!mem_fit(&w->v, &w->cap, w->n + 1, e))
        return false;
    size_t i = w->n++;
    for (; i > 0 && is_before(&x, &w->v[(i - 1) / 2]); i = (i - 1) / 2)
        w->v[i] = w->v[(i - 1) / 2];
    w->v[i] = x;
    return true;
}

bool workers_take(struct workers *w, int64_t *start_ns, int64_t duration_ns, int64_t resolution_ns,
                  uint32_t *thread, struct err *e)
{
    if (w->n == 0 || w->v[0].free_ns - resolution_ns > *start_ns) {
        if (w->n > UINT32_MAX)
            return err_set(e, "more than 4294967296 requests at a time");
        *thread = (uint32_t)w->n;
        return add(w, (struct worker){*start_ns + duration_ns, *thread}, e);
    }
    *thread = w->v[0].thread;
    *start_ns = int64_max(*start_ns, w->v[0].free_ns);
    replace_first(w, (struct worker){*start_ns + duration_ns, *thread});
    return true;
}

void workers_fini(struct workers *w)
{
    free(w->v);
    *w = (struct workers){0};
}
