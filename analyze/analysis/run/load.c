#include "analyze/analysis/run/load.h"

#include "analyze/analysis/run/analysis.h"
#include "analyze/base/paths.h"
#include "analyze/base/progress.h"
#include "analyze/read/recfile.h"
#include "analyze/summary/estimate/confidence.h"
#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"

#include <stdlib.h>
#include <string.h>

bool load_check_times(const struct load_filter *f, struct err *e)
{
    /* A moment and a time into the run can be compared only once the run's start is known. */
    if (!f->from.given || !f->to.given || f->from.is_relative != f->to.is_relative ||
        f->from.is_of_day || f->to.is_of_day || f->from.ns < f->to.ns)
        return true;
    return err_set(e, ANALYSIS_TIMES_CROSSED);
}

void load_say_dropped(const struct load_input *input, const struct recfile_info *info)
{
    char line[sizeof info->first_drop[0] + sizeof(struct recfile_dropped) + 32];

    for (int k = 0; input->say_dropped != NULL && k < N_DROPS; k++)
        if (info->n_dropped[k] > 0) {
            snprintf(line, sizeof line, "dropped %s; the first: %s",
                     recfile_dropped(info, (enum recfile_drop)k).s, info->first_drop[k]);
            input->say_dropped(line);
        }
}

bool load_dataset(struct dataset *d, const char *const *paths, size_t n_paths,
                  const struct load_filter *filter, const struct load_input *input, struct err *e)
{
    const struct dataset_filter keep = {.ops = filter->ops.v,
                                        .n_ops = filter->ops.n,
                                        .host = filter->host,
                                        .client = filter->client,
                                        .sizes = filter->sizes};
    struct progress progress;
    const struct recfile_options options = {.salvage = input->salvage,
                                            .threads = (unsigned)input->threads,
                                            .progress = progress_update,
                                            .progress_ctx = &progress};

    if (!paths_differ(paths, n_paths, e))
        return false;
    progress_init(&progress, input->quiet);
    bool ok = dataset_load(d, paths, n_paths, &keep, &options, e);
    progress_fini(&progress);
    /* If no row is left, the error says the damage. */
    for (size_t i = 0; ok && d->n_rows > 0 && i < d->n_inputs; i++)
        load_say_dropped(input, &d->inputs[i].info);
    if (!ok || d->n_rows > 0)
        return ok;
    for (size_t i = 0; i < d->n_inputs; i++) {
        const char *first = recfile_first_drop(&d->inputs[i].info);
        if (first != NULL)
            return err_set(e, "%s: no requests are left; the first damage: %s", paths[i], first);
    }
    const struct dataset_input *in = &d->inputs[0];
    if (in->first_start_ns > in->last_end_ns && in->recorded.n_runs > 0)
        return err_set(
            e,
            "%s: no requests: s3load was ended before it recorded one; mixed and versioned do "
            "not record their preparation",
            paths[0]);
    return filter->sizes.given
               ? err_set(e, "%s: no requests of %s (--size); analyze -v shows the sizes", paths[0],
                         filter_sizes_text(&filter->sizes).s)
               : err_set(e, "%s: no requests", paths[0]);
}

static bool overlaps_another(const struct dataset *d, const struct dataset_input *in)
{
    bool others = false;
    for (size_t i = 0; i < d->n_inputs; i++) {
        const struct dataset_input *other = &d->inputs[i];
        if (other == in || other->first_start_ns > other->last_end_ns)
            continue;
        others = true;
        if (other->first_start_ns < in->last_end_ns && in->first_start_ns < other->last_end_ns)
            return true;
    }
    return !others;
}

bool load_ran_together(const struct dataset *d, const struct load_input *input, struct err *e)
{
    for (size_t i = 0; i < d->n_inputs && !input->together; i++) {
        const struct dataset_input *in = &d->inputs[i];
        if (in->first_start_ns <= in->last_end_ns && !overlaps_another(d, in))
            return err_set(
                e,
                "%s runs from %s to %s, when no other input does: they are not of one "
                "run (table lists runs and cmp compares them; --together takes them for one)",
                in->path, rfc3339_moment(in->first_start_ns).s, rfc3339_moment(in->last_end_ns).s);
    }
    return true;
}

struct analysis_options load_analysis_options(const struct load_filter *filter,
                                              const struct load_analysis *analysis,
                                              const struct load_input *input)
{
    return (struct analysis_options){
        .segment_ns = analysis->segment_ns,
        .skip_ns = analysis->skip_ns,
        .from = filter->from,
        .to = filter->to,
        .range = (enum range_kind)analysis->range,
        .co_interval_ns = analysis->co_interval_ns,
        .depth = analysis->depth,
        .threads = (unsigned)input->threads,
    };
}

static bool is_steady(void *ctx, const struct table *t, size_t i)
{
    return t->start[i] >= *(const int64_t *)ctx;
}

static bool failed_before(const struct operation *op, int64_t ns)
{
    bool any = false;

    for (size_t i = 0; i < op->n_error_groups; i++)
        any |= op->errors[i].first_ns < ns;
    return any;
}

/* Returns the warm-up that is found in operation k, NULL: none is. Where operations are mixed, all
 * have the longest. */
static const struct finding *warm_up_of(const struct analysis *a, size_t k)
{
    const struct finding *longest = NULL;

    for (size_t i = 0; i < a->findings.n; i++) {
        const struct finding *f = &a->findings.v[i];
        const char *op = f->op != NULL ? f->op : f->phase;

        if (f->kind->is_beginning &&
            (a->mixed || op == NULL || strcmp(op, a->operations[k].op) == 0) &&
            (longest == NULL || f->end_ns > longest->end_ns))
            longest = f;
    }
    return longest;
}

/* Drops the requests that start in a warm-up, and adds its length to cut_ns[k] of each operation.
 * What follows a warm-up that was dropped may show another one; all are at most a quarter of the
 * run. Returns false if there is nothing to drop. */
static bool drop_warm_up(const struct analysis *a, struct dataset *d, int64_t *cut_ns)
{
    bool any = false;

    for (size_t k = 0; k < a->n_operations; k++) {
        const struct operation *op = &a->operations[k];
        const struct finding *f = warm_up_of(a, k);
        struct table *t = dataset_table(d, op->op);

        /* Requests that fail are no warm-up. */
        if (f == NULL || t == NULL || op->n_requests == 0 || failed_before(op, f->end_ns))
            continue;
        int64_t end_ns = f->end_ns, length_ns = end_ns - f->start_ns + cut_ns[k];
        if (cut_ns[k] > 0 && length_ns > (op->end_ns - f->start_ns + cut_ns[k]) / 4)
            continue;
        cut_ns[k] = length_ns;
        any = true;
        table_retain(t, is_steady, &end_ns);
    }
    return any;
}

static int64_t count_requests(const struct analysis *a)
{
    int64_t n = 0;
    for (size_t k = 0; k < a->n_operations; k++)
        n += a->operations[k].n_requests;
    return n;
}

bool load_run_analysis(struct analysis *a, struct dataset *d, const struct load_filter *filter,
                       const struct load_analysis *analysis, const struct load_input *input,
                       bool full_series, struct err *e)
{
    struct analysis_options how = load_analysis_options(filter, analysis, input);
    how.full_series = full_series;
    if (!analysis_run(a, d, &how, e))
        return false;
    size_t n = a->n_operations;
    int64_t *cut_ns;
    bool ok = mem_cleared(&cut_ns, n, e);
    while (ok && analysis->steady && drop_warm_up(a, d, cut_ns)) {
        /* The first analysis has already applied these options. */
        how.from.given = how.to.given = false;
        how.skip_ns = 0;
        int64_t run_start_ns = a->run_start_ns;
        struct left_out before = a->left_out;
        int64_t n_left = count_requests(a);
        analysis_free(a);
        ok = analysis_run(a, d, &how, e);
        a->run_start_ns = run_start_ns;
        before.range = a->left_out.range;
        before.by_warm_up += n_left - a->left_out.by_range - count_requests(a);
        before.by_range += a->left_out.by_range;
        a->left_out = before;
    }
    for (size_t k = 0; ok && k < n && k < a->n_operations; k++)
        if (a->operations[k].statistics != NULL)
            a->operations[k].statistics->cut_ns = cut_ns[k];
    free(cut_ns);
    return ok;
}

bool load_sums_of_dataset(struct sums *s, struct dataset *d, const struct load_input *input,
                          struct err *e)
{
    const struct load_filter all = {0};
    const struct load_analysis how = {.depth = ANALYSIS_BRIEF};
    struct analysis a = {0};
    bool ok = sums_of_dataset(s, d, (unsigned)input->threads, e) &&
              (d->n_rows == 0 || load_run_analysis(&a, d, &all, &how, input, false, e));

    if (ok)
        sums_take_intervals(s, &a);
    analysis_free(&a);
    return ok;
}
