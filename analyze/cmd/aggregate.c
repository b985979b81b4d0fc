#include "analyze/cmd/aggregate.h"

#include "analyze/cmd/options.h"
#include "analyze/data/filter.h"

static bool is_alone(const struct cli_args *args, struct err *e)
{
    static const char *const more[] = {"analyze.dur", "range", "analyze.out.total", NULL};
    const char *path = options_first(args->operands, args->n_operands, RUN_OF_AGGREGATES);
    struct aggregate a = {0};

    if (!options_need_no_requests(args, more, path, "an aggregated capture", e))
        return false;
    if (args->n_operands == 1)
        return true;
    /* If it is damaged, the error says that instead. */
    bool ok = aggregate_load(&a, path, e);
    aggregate_free(&a);
    return ok && err_set(e,
                         "%s: an aggregated capture cannot be analysed with others: analyze it "
                         "alone, or compare runs with s3analyze cmp",
                         path);
}

bool aggregate_read(struct aggregate *of, struct dataset *d, struct analysis *a,
                    const struct cli_args *args, const struct cli_list *ops, struct err *e)
{
    return is_alone(args, e) && aggregate_load(of, args->operands[0], e) &&
           (of->total.x->n_requests > 0 || err_set(e, "%s: no requests", of->file.path)) &&
           aggregate_keep(of, ops->v, ops->n, e) && aggregate_analyze(a, d, of, false, e);
}
