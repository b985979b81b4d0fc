#include "analyze/cmd/loaded.h"

#include "analyze/analysis/analysis.h"
#include "analyze/cmd/aggregate.h"
#include "analyze/cmd/options.h"
#include "analyze/cmd/sums.h"

bool loaded_lacks_rows(const struct cli_args *args)
{
    return options_first(args->operands, args->n_operands, RUN_OF_AGGREGATES) != NULL ||
           options_first(args->operands, args->n_operands, RUN_OF_SUMS) != NULL;
}

bool loaded_without_rows(struct loaded *l, const struct cli_args *args,
                         const struct load_filter *filter, const struct load_analysis *analysis,
                         const struct load_input *input, bool full_series, struct err *e)
{
    struct analysis_options how = load_analysis_options(filter, analysis, input);
    const char *const *paths = args->operands;

    if (options_first(paths, args->n_operands, RUN_OF_AGGREGATES) != NULL)
        return aggregate_read(&l->aggregate, &l->d, &l->a, args, &filter->ops, e);
    how.full_series = full_series;
    return sums_alone(args, e) &&
           sums_load(&l->sums, paths, args->n_operands, &filter->ops, input->together, e) &&
           (l->sums.n_ops > 0 || err_set(e, "%s: no requests", paths[0])) &&
           sums_analyze(&l->a, &l->d, &l->sums, paths[0], &how, e);
}

void loaded_free(struct loaded *l)
{
    analysis_free(&l->a);
    dataset_free(&l->d);
    sums_free(&l->sums);
    aggregate_free(&l->aggregate);
}
