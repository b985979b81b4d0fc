#include "analyze/tools/plan/plan.h"
#include "analyze/cmd/archive.h"
#include "analyze/cmd/commands.h"
#include "analyze/render/json/documents.h"
#include "analyze/render/page/pages.h"
#include "analyze/render/report/plan_sheet.h"
#include "libcommon/mem.h"
#include "libcommon/visible.h"

#include <math.h>
#include <time.h>

struct plan_given {
    struct plan_asked asked;
    struct archive_given common; /* only the options of the output are used */
    const char *dir;
    bool begin, next;
};

static const struct cli_option own_table[] = {
    {"next", CLI_FLAG, offsetof(struct plan_given, next),
     .help = "print the next run's name and options, or nothing; status 3: the last run was ended "
             "by an error, or no request succeeded"},
    {"html", CLI_CUSTOM, offsetof(struct plan_given, common.output.html), "FILE",
     .help = "write a page with a chart too", .parse = output_parse_path},
    {"markdown", CLI_FLAG, offsetof(struct plan_given, common.output.markdown),
     .help = "print Markdown"},
    {0},
};

#define AT(field) offsetof(struct plan_given, field)

static const struct cli_option begin_table[] = {
    {"begin", CLI_FLAG, AT(begin), .help = "make the plan's folder (s3load repeat does)"},
    {"dir", CLI_STRING, AT(dir), "DIR", .help = "that folder"},
    {"slo", CLI_STRINGS, AT(asked.slo), "TEXT", .help = SLO_HELP},
    {"precision", CLI_PCT, AT(asked.precision_pct), "PCT",
     .help = "capacity: how far apart the ends may be", .min = .1, .max = 100},
    {"from", CLI_RATE, AT(asked.from), "N", .help = "capacity: the first rate", .min = 1e-3,
     .max = 1e9},
    {"max-runs", CLI_INT, AT(asked.max_runs), "N", .help = "runs at most; of ab: on each side",
     .min = 1, .max = PLAN_MOST_RUNS},
    {"concurrent", CLI_LIST, AT(asked.concurrent), "N,...", .help = "sweep: requests in flight"},
    {"rate", CLI_LIST, AT(asked.rate), "N,...", .help = "sweep: or requests per second"},
    {"runs", CLI_INT, AT(asked.n_each), "N", .help = "sweep: runs at each level", .min = 1,
     .max = PLAN_MOST_RUNS},
    {"before", CLI_STRING, AT(asked.before), "ARGS", .help = "ab: options of one side"},
    {"after", CLI_STRING, AT(asked.after), "ARGS", .help = "ab: options of the other side"},
    {"gate", CLI_LIST, AT(asked.gate), "METRIC:PCT,...",
     .help = "ab: allowed worsening, as of cmp"},
    {"seed", CLI_INT, AT(asked.seed), "N", .help = "seed of random orders", .min = 0,
     .max = INFINITY},
    {"command", CLI_STRING, AT(asked.command), "TEXT", .help = "what is repeated, to show it"},
    {"given", CLI_LIST, AT(asked.given), "NAME,...", .help = "options that it has"},
    {"run-duration", CLI_DURATION, AT(asked.run_ns), "DUR", .help = "its limit of time"},
    {"run-requests", CLI_INT, AT(asked.n_requests), "N", .help = "its limit of requests", .min = 0,
     .max = INFINITY},
    {0},
};

static const struct cli_group groups[] = {
    {"Output", NULL, own_table, 0},
    {"Output", NULL, output_form_table, AT(common.output)},
    {"Output", NULL, output_file_table, AT(common.output)},
    {"A new plan", "begin", begin_table, 0},
    {0},
};

static const struct cli_exit exits[] = {
    {"1, 3", "ab: after is worse than the gate allows; capacity: no rate is low enough; any plan: "
             "undecided"},
    {0},
};

static const struct cli_example examples[] = {
    {"s3analyze plan capacity-run", "what was found so far"}, {0}};

static const struct plan_given defaults = {
    .common = {.output = {.path = "-", .verbose = true}},
    .asked = {.from = 100, .precision_pct = 5, .n_each = 3, .max_runs = 25, .command = ""}};

static bool begin(const struct cli_args *args, struct plan_given *o, struct err *e)
{
    if (!cli_given(args, "seed"))
        o->asked.seed = (int64_t)time(NULL);
    return plan_begin(o->dir, &o->asked, e);
}

/* Checks that no output overwrites what the plan reads: itself, its limits and its runs. */
static bool spares_inputs(const struct plan *p, const struct plan_given *o, struct err *e)
{
    const struct output_options *out = &o->common.output;
    bool ok = output_spares(out, (const char *const *)&p->path, 1, e) &&
              output_spares_slo(out, &p->asked.slo, e);

    for (size_t i = 0; ok && i < p->n; i++)
        ok = output_spares(out, (const char *const *)&p->runs[i].path, 1, e);
    return ok;
}

/* Prints the next run. If the last one does not count, says why. The status tells whether the next
 * one is likely to end in the same way. */
static enum exit_code show_next(const struct cli_args *args, const struct plan *p)
{
    const struct plan_run *last = p->n > 0 ? &p->runs[p->n - 1] : NULL;

    if (p->next.done)
        return EXIT_DONE;
    visible_line(stdout, "%s", plan_next_line(p).s);
    if (last == NULL || last->why_not == NULL)
        return EXIT_DONE;
    visible_line(stderr, "%s: %s does not count: %s", args->program, figures_file(last->path),
                 last->why_not);
    return last->is_broken ? EXIT_UNDECIDED : EXIT_DONE;
}

/* Prints the next run, or reports what was found. */
static bool show(const struct cli_args *args, const struct plan_given *o, enum exit_code *code,
                 struct err *e)
{
    const struct archive_writers writers = {plan_sheet, o->common.output.json ? plan_json : NULL,
                                            plan_html};
    struct plan p = {0};
    bool ok = plan_load(&p, args->operands[0], e) && spares_inputs(&p, o, e) &&
              output_fits(&o->common.output, args, e);

    if (ok && o->next)
        *code = show_next(args, &p);
    if (ok && !o->next) {
        ok = archive_write(&o->common, args, &writers, &p, e);
        *code = slo_code(p.answer);
    }
    plan_free(&p);
    return ok;
}

/* Checks that options of a new plan come with --begin, and the outputs. */
static bool check_usage(const struct cli_args *args, const struct plan_given *o, struct err *e)
{
    for (const struct cli_option *x = begin_table; !o->begin && x->name != NULL; x++)
        if (cli_given(args, x->name))
            return err_set(e, "--%s is for a new plan, with --begin", x->name);
    return output_check(&o->common.output, e);
}

static int run(const struct cli_args *args, void *options)
{
    struct plan_given *o = options;
    struct err e = {0};
    enum exit_code code = EXIT_DONE;

    if (!check_usage(args, o, &e))
        return cli_wrong_usage(args, "%s", e.msg);
    if (!o->begin)
        return show(args, o, &code, &e) ? (int)code : cli_failed(args, &e);
    int kind = cli_choice(plan_kind_names, args->operands[0]);
    if (kind < 0)
        return cli_wrong_usage(args, "'%s' is no plan: capacity, sweep or ab", args->operands[0]);
    o->asked.kind = (enum plan_kind)kind;
    if (o->dir == NULL)
        return cli_wrong_usage(args, "--begin needs --dir DIR");
    if (!plan_check(&o->asked, &e))
        return cli_wrong_usage(args, "%s", e.msg);
    return begin(args, o, &e) ? EXIT_DONE : cli_failed(args, &e);
}

const struct cli_command cmd_plan = {
    .name = "plan",
    .summary = "say how far a series of runs is, and what it found",
    .text =
        "Reads the folder of s3load repeat: plan.json and a capture for each run. Says what was "
        "found, or how far the search is, with a line for each run. With --next it prints what "
        "s3load is to run next; nothing when the plan is decided.",
    COMMANDS_TAKE("DIR", 1, 1, struct plan_given),
    .exits = exits,
};
