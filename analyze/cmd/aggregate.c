#include "analyze/cmd/aggregate.h"

#include "analyze/analysis/aggregate.h"
#include "analyze/report/aggregate.h"
#include "analyze/report/series.h"
#include "analyze/write/outfile.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

const char *aggregate_among(const char *const *paths, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (aggfile_is(paths[i]))
            return paths[i];
    return NULL;
}

bool aggregate_refuse(const char *const *paths, size_t n, const char *why, struct err *e)
{
    const char *path = aggregate_among(paths, n);
    return path == NULL ||
           err_set(e, "%s: this is an aggregated capture, without requests: %s", path, why);
}

bool aggregate_alone(const struct cli_args *args, struct err *e)
{
    static const char *const names[] = {"analyze.host", "analyze.client",   "from",  "to",
                                        "analyze.dur",  "analyze.skip",     "range", "steady",
                                        "co-interval",  "analyze.out.total"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cli_given(args, names[i]))
            return err_set(
                e, "%s: --%s needs single requests, which an aggregated capture does not have",
                args->operands[0], names[i] + (strncmp(names[i], "analyze.", 8) == 0 ? 8 : 0));
    if (args->n_operands > 1)
        return err_set(e,
                       "%s: an aggregated capture is analysed alone: sums of several runs say "
                       "nothing of either; "
                       "s3analyze cmp compares them",
                       aggregate_among(args->operands, args->n_operands));
    return true;
}

/* Keeps the operations that --op names. */
static bool choose_ops(struct aggregate *a, const struct cli_list *ops, struct err *e)
{
    size_t n = 0;
    if (ops->n == 0)
        return true;
    for (size_t i = 0; i < ops->n; i++) {
        bool found = false;
        for (size_t k = 0; k < a->ops.n; k++)
            found |= strcasecmp(ops->v[i], a->ops.v[k].x->name) == 0;
        if (!found)
            return err_set(e, "%s: no operation %s", a->file.path, ops->v[i]);
    }
    for (size_t k = 0; k < a->ops.n; k++) {
        bool wanted = false;
        for (size_t i = 0; i < ops->n; i++)
            wanted |= strcasecmp(ops->v[i], a->ops.v[k].x->name) == 0;
        if (wanted)
            a->ops.v[n++] = a->ops.v[k];
        else
            free(a->ops.v[k].latency.classes);
    }
    a->ops.n = n;
    return true;
}

static bool write_report(const struct aggregate *a, const struct findings *found,
                         const struct aggregate_outputs *o, struct err *e)
{
    struct outfile out;
    if (!outfile_open(&out, o->output->path, output_replaces(o->output), e))
        return false;
    bool ok;
    if (o->output->json) {
        ok = aggregate_json(a, found, out.f, e);
    } else {
        struct text text = {.f = out.f, .colour = output_wants_colour(o->output, out.f)};
        aggregate_text(a, found, o->verbose, &text);
        ok = !text.failed || mem_none(e);
    }
    return outfile_finish(&out, ok, e);
}

static bool write_series(const struct aggregate *a, const struct aggregate_outputs *o,
                         struct err *e)
{
    struct outfile out;
    if (o->series == NULL)
        return true;
    if (!outfile_open(&out, o->series, output_replaces_series(o->output), e))
        return false;
    bool ok = report_csv_aggregate(a, report_csv_format(o->series), o->csv_safe, out.f, e);
    return outfile_finish(&out, ok, e);
}

static bool write_page(const struct aggregate *a, const struct findings *found,
                       const struct aggregate_outputs *o, const struct cli_args *args,
                       struct err *e)
{
    struct outfile out;
    if (o->html == NULL)
        return true;
    if (!outfile_open(&out, o->html, output_replaces_page(o->output), e))
        return false;
    char *command = output_command(args);
    const struct report_html_options how = {o->label, command, ""};
    bool ok = command != NULL ? aggregate_html(a, found, &how, out.f, e) : mem_none(e);
    free(command);
    return outfile_finish(&out, ok, e);
}

bool aggregate_analyze(const struct cli_args *args, const struct aggregate_outputs *o,
                       const struct cli_list *ops, bool *problem, struct err *e)
{
    struct aggregate a = {0};
    struct findings found = {0};
    bool ok = aggregate_alone(args, e) && aggregate_load(&a, args->operands[0], e) &&
              choose_ops(&a, ops, e) && aggregate_find(&found, &a, e) &&
              write_report(&a, &found, o, e) && write_series(&a, o, e) &&
              write_page(&a, &found, o, args, e);

    *problem = findings_have_problem(&found);
    findings_free(&found);
    aggregate_free(&a);
    return ok;
}
