#include "analyze/cmd/loaded.h"

#include "analyze/analysis/run/analysis.h"
#include "analyze/cmd/options.h"
#include "analyze/cmd/sums.h"

bool loaded_lacks_rows(const struct cli_args *args)
{
    return options_first(args->operands, args->n_operands, RUN_OF_AGGREGATES) != NULL ||
           options_first(args->operands, args->n_operands, RUN_OF_SUMS) != NULL;
}

/* Reads an aggregated capture; only the operations `ops`, or all if empty. Fails if an option needs
 * requests, or if it is not the only operand. */
static bool load_foreign(struct sums *s, const char *path, const struct cli_args *args,
                         const struct cli_list *ops, struct err *e)
{
    static const char *const more[] = {"analyze.dur", "range", NULL};

    /* If it is damaged, the error says that first. */
    return options_need_no_requests(args, more, path, "an aggregated capture", e) &&
           sums_of_foreign(s, path, e) &&
           (args->n_operands == 1 ||
            err_set(e,
                    "%s: an aggregated capture cannot be analysed with others: analyze it alone, "
                    "or compare runs with s3analyze cmp",
                    path)) &&
           sums_keep(s, ops->v, ops->n, e);
}

bool loaded_without_rows(struct loaded *l, const struct cli_args *args,
                         const struct load_filter *filter, const struct load_analysis *analysis,
                         const struct load_input *input, bool full_series, struct err *e)
{
    struct analysis_options how = load_analysis_options(filter, analysis, input);
    const char *const *paths = args->operands;

    how.full_series = full_series;
    const char *foreign = options_first(paths, args->n_operands, RUN_OF_AGGREGATES);
    bool ok = foreign != NULL ? load_foreign(&l->sums, foreign, args, &filter->ops, e)
                              : sums_alone(args, e) && sums_load(&l->sums, paths, args->n_operands,
                                                                 &filter->ops, input->together, e);
    return ok && sums_analyze(&l->a, &l->d, &l->sums, paths[0], &how, e);
}

void loaded_free(struct loaded *l)
{
    analysis_free(&l->a);
    dataset_free(&l->d);
    sums_free(&l->sums);
}
