#include "analyze/cmd/sums.h"

#include "analyze/analysis/run/load.h"
#include "analyze/cmd/commands.h"
#include "analyze/cmd/options.h"
#include "analyze/cmd/output.h"
#include "analyze/data/filter.h"
#include "analyze/read/aggbytes.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

bool sums_alone(const struct cli_args *args, struct err *e)
{
    return options_need_no_requests(args, (const char *const[]){NULL},
                                    options_first(args->operands, args->n_operands, RUN_OF_SUMS),
                                    "a file of sums", e);
}

/* ---- Reading ---- */

/* When a file's requests ran, and a fingerprint: no two runs have the same durations to the
 * nanosecond. */
struct running {
    int64_t start_ns, end_ns; /* end < start: no requests */
    unsigned __int128 print;
};

static struct running running_of(const struct sums *s)
{
    struct running t = {INT64_MAX, INT64_MIN, 0};
    for (size_t k = 0; k < s->n_ops; k++) {
        const struct sums_part *p = &s->ops[k].all;
        t.start_ns = int64_min(t.start_ns, p->start_ns);
        t.end_ns = int64_max(t.end_ns, p->end_ns);
        t.print += p->duration.moments.squares + (uint64_t)p->n_requests;
    }
    return t;
}

static bool are_same(const struct running *a, const struct running *b)
{
    return a->start_ns == b->start_ns && a->end_ns == b->end_ns && a->print == b->print;
}

/* Checks that every file with requests overlaps another one. */
static bool ran_together(const struct running *t, const char *const *paths, size_t n, struct err *e)
{
    size_t n_used = 0;
    for (size_t i = 0; i < n; i++)
        n_used += t[i].start_ns <= t[i].end_ns;
    for (size_t i = 0; i < n && n_used > 1; i++) {
        bool meets = t[i].start_ns > t[i].end_ns;
        for (size_t k = 0; k < n; k++)
            meets |= k != i && t[k].start_ns <= t[i].end_ns && t[i].start_ns <= t[k].end_ns;
        if (!meets)
            return err_set(e, "%s: overlaps in time with no other file: these are several runs",
                           paths[i]);
    }
    return true;
}

bool sums_load(struct sums *s, const char *const *paths, size_t n, const struct cli_list *ops,
               bool together, struct err *e)
{
    struct running *times = NULL;
    bool ok = mem_cleared(&times, n + 1, e);

    *s = (struct sums){0};
    for (size_t i = 0; ok && i < n; i++) {
        struct sums one = {0};
        if (aggbytes_kind(paths[i]) != AGGBYTES_OF_SUMS)
            ok = err_set(e,
                         "%s: this is no file of sums, as %s is: s3analyze aggregate makes one of "
                         "a capture",
                         paths[i], options_first(paths, n, RUN_OF_SUMS));
        ok = ok && sums_read(&one, paths[i], e);
        if (ok)
            times[i] = running_of(&one);
        for (size_t k = 0; ok && !together && k < i; k++)
            if (one.n_ops > 0 && are_same(&times[k], &times[i]))
                ok = err_set(e, "%s and %s hold the same sums", paths[k], paths[i]);
        if (ok && !sums_merge(s, &one, e)) {
            const struct err why = *e;
            err_clear(e);
            ok = err_set(e, "%s: cannot be added to the files before it: %s", paths[i], why.msg);
        }
        sums_free(&one);
    }
    ok = ok && (together || ran_together(times, paths, n, e)) && sums_keep(s, ops->v, ops->n, e);
    free(times);
    return ok;
}

/* ---- Writing ---- */

bool sums_save(const struct sums *s, const char *path, enum outfile_replaces replaces,
               struct err *e)
{
    struct outfile out;

    return outfile_open(&out, path, replaces, e) &&
           outfile_finish(&out, sums_write(s, out.f, e), e);
}

/* ---- The command ---- */

struct aggregate_given {
    struct load_input input;
    struct output_options output; /* path and force */
};

static const struct cli_group groups[] = {
    {"Output", NULL, output_file_table, offsetof(struct aggregate_given, output)},
    {"Reading", NULL, load_together_table, offsetof(struct aggregate_given, input)},
    {"Reading", NULL, load_input_table, offsetof(struct aggregate_given, input)},
    {"Reading", NULL, load_threads_table, offsetof(struct aggregate_given, input)},
    {0},
};

static const struct aggregate_given defaults = {.input = {.say_dropped = options_say_dropped}};

static const struct cli_example examples[] = {
    {"s3analyze aggregate -o run.sums.zst run.csv.zst", "keep the figures, not the requests"},
    {"s3analyze merge -o all.sums.zst c0.sums.zst c1.sums.zst",
     "join the sums of the clients of one run"},
    {0},
};

static bool aggregate(const struct aggregate_given *o, const struct cli_args *args, struct err *e)
{
    const struct load_filter all = {0};
    struct dataset d = {0};
    struct sums s = {0};
    bool ok = output_can_write(&o->output, e) && options_have_rows(args, e) &&
              load_dataset(&d, args->operands, args->n_operands, &all, &o->input, e) &&
              load_ran_together(&d, &o->input, e) && load_sums_of_dataset(&s, &d, &o->input, e) &&
              sums_save(&s, o->output.path, output_replaces(&o->output), e);

    sums_free(&s);
    dataset_free(&d);
    return ok;
}

static int run(const struct cli_args *args, void *options)
{
    const struct aggregate_given *o = options;
    struct err e = {0};

    if (o->output.path == NULL)
        return cli_wrong_usage(args, "-o FILE is missing: where to write the sums");
    if (!output_spares(&o->output, args->operands, args->n_operands, &e))
        return cli_wrong_usage(args, "%s", e.msg);
    return aggregate(o, args, &e) ? EXIT_DONE : cli_failed(args, &e);
}

const struct cli_command cmd_aggregate = {
    .name = "aggregate",
    .summary = "reduce a capture to its sums, without single requests",
    .text =
        "Writes sums by second, host, client, operation and class of sizes, and histograms of "
        "durations, times to first byte and rates, in place of single requests (docs/sums.md). "
        "analyze, cmp and merge read such a file. Requests, errors, bytes and objects are exact, "
        "percentiles within 0.1 %, with the intervals of p50, p90 and p99. What needs single "
        "requests is lost, such as first accesses, and figures between two seconds.\n\n"
        "Several captures are read as if merged. Sums can also be merged later: the result is the "
        "same, without the intervals.",
    COMMANDS_ON_CAPTURES(struct aggregate_given),
};
