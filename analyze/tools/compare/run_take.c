/* Fills runs from analyses, whether these were made of requests or of seconds. */
#include "analyze/tools/compare/run.h"

#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

/* Points *name to a copy that the run owns; NULL stays NULL. */
static bool own_name(struct run *r, const char **name, struct err *e)
{
    if (*name == NULL)
        return true;
    uint32_t id = intern_add(&r->names, slice_of(*name));
    if (id == INTERN_NONE)
        return mem_none(e);
    *name = r->names.strings[id].p;
    return true;
}

bool run_take_findings(struct run *r, const struct findings *from, struct err *e)
{
    for (size_t i = 0; i < from->n; i++) {
        struct finding f = from->v[i];
        /* This finding is about files of sums. Here the sums were made from a capture. */
        if (r->source != RUN_OF_SUMS && strcmp(f.kind->name, "from-sums") == 0)
            continue;
        bool ok = own_name(r, &f.op, e) && own_name(r, &f.party, e) && own_name(r, &f.client, e);
        for (size_t k = 0; ok && k < f.n_others; k++)
            ok = own_name(r, &f.others[k], e);
        if (!ok || !findings_add(&r->findings, &f, e, "%s", from->v[i].sentence))
            return false;
    }
    return true;
}

bool run_asks_for_autoterm(const char *text)
{
    const char *at = strstr(text, "--autoterm");
    for (; at != NULL; at = strstr(at + 1, "--autoterm")) {
        const char *value = at + strlen("--autoterm");
        if (*value == '\0' || *value == ' ' || *value == '"' || strncmp(value, "=true", 5) == 0)
            return true;
    }
    return false;
}

void run_take_recorded(struct run *r, const struct dataset *d)
{
    const struct dataset_input *first = &d->inputs[0];
    r->n_file_bytes = first->info.n_file_bytes;
    r->recorded = first->recorded;
    json_incref(r->recorded.settings);
    for (size_t i = 0; i < d->n_inputs; i++)
        for (size_t k = 0; k < d->inputs[i].comments.n; k++)
            r->autoterm |= run_asks_for_autoterm(keptlines_get(&d->inputs[i].comments, k));
}

bool run_op_init(struct run_op *op, const char *name, struct err *e)
{
    *op = (struct run_op){.n_parts = 1};
    if (!mem_text(&op->op, name, e) || !mem_cleared(&op->parts, 1, e))
        return false;
    op->report.op = op->op;
    return true;
}

void run_fill_shares(struct run *r)
{
    double n = 0;
    for (size_t i = 0; i < r->n_ops; i++)
        n += (double)r->ops[i].report.n_requests;
    for (size_t i = 0; i < r->n_ops; i++)
        r->ops[i].share = n > 0 ? (double)r->ops[i].report.n_requests / n : 0;
}
