/* Findings of an analysis, kept beyond it. */
#include "analyze/compare/run.h"

#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

/* The name, owned by the run; NULL stays NULL. */
static bool own_name(struct run *r, const char **name, struct err *e)
{
    if (*name == NULL)
        return true;
    uint32_t id = intern_add(&r->names, (struct slice){*name, strlen(*name)});
    if (id == INTERN_NONE)
        return mem_none(e);
    *name = r->names.strings[id].p;
    return true;
}

bool run_take_findings(struct run *r, const struct findings *from, struct err *e)
{
    for (size_t i = 0; i < from->n; i++) {
        struct finding f = from->v[i];
        if (!own_name(r, &f.op, e) || !own_name(r, &f.party, e) ||
            !findings_add(&r->findings, &f, e, "%s", from->v[i].sentence))
            return false;
    }
    return true;
}
