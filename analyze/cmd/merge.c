#include "analyze/capture/stream/merge.h"
#include "analyze/capture/stream/capture_out.h"
#include "analyze/cmd/commands.h"
#include "analyze/cmd/options.h"
#include "analyze/cmd/output.h"
#include "analyze/cmd/sums.h"
#include "analyze/read/aggpipe.h"
#include "analyze/write/json.h"
#include "analyze/write/outfile.h"
#include "analyze/write/sheet.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* More compressing threads gain nothing, since one thread merges, and each takes memory. */
#define WRITE_THREADS 2

struct merge_given {
    struct capture_out_options output;
    struct load_input input;
    struct cli_list shifts;       /* "K=D" */
    struct output_options report; /* its path is unused */
};

static const struct cli_option time_table[] = {
    {"shift", CLI_STRINGS, offsetof(struct merge_given, shifts), "K=+-DUR",
     .help = "move all times of the K-th input (the first is 1)"},
    {0},
};

static const struct cli_group groups[] = {
    {"Output", NULL, output_form_table, offsetof(struct merge_given, report)},
    {"Output", NULL, capture_out_table, offsetof(struct merge_given, output)},
    {"Clocks", NULL, time_table, 0},
    {"Reading", NULL, load_input_table, offsetof(struct merge_given, input)},
    {"Reading", NULL, load_threads_table, offsetof(struct merge_given, input)},
    {0},
};

static const struct cli_example examples[] = {
    {"s3analyze merge -o all.csv.zst client1.csv.zst client2.csv.zst", "the clients of one run"},
    {"s3analyze merge -o all.csv.zst --shift 2=-1.5s a.csv.zst b.csv.zst",
     "the second one's clock is 1.5 s ahead"},
    {0},
};

static const struct merge_given defaults = {0};

/* ---- Options ---- */

/* Parses "2=-1.5s". */
static bool parse_shift(const char *text, size_t n_inputs, struct merge_shift *shift, struct err *e)
{
    const char *equals = strchr(text, '=');
    struct err why = {0};
    char number[24];
    int64_t k = 0;

    if (equals && (size_t)(equals - text) < sizeof number) {
        memcpy(number, text, (size_t)(equals - text));
        number[equals - text] = '\0';
        if (!units_parse_int(number, &k, &why))
            k = 0;
    }
    if (k < 1 || (uint64_t)k > n_inputs)
        return err_set(e,
                       "--shift %s: expected the number of an input, 1 to %zu, and a duration: "
                       "--shift 2=-1.5s",
                       text, n_inputs);
    shift->input = (size_t)k;
    return units_parse_duration(equals + 1, true, &shift->by_ns, &why) ||
           err_set(e, "--shift %s: %s", text, why.msg);
}

static bool parse_shifts(const struct merge_given *o, size_t n_inputs, struct merge_shift *shifts,
                         struct err *e)
{
    for (size_t i = 0; i < o->shifts.n; i++)
        if (!parse_shift(o->shifts.v[i], n_inputs, &shifts[i], e))
            return false;
    return true;
}

static bool check_output(const struct merge_given *o, const struct cli_args *args, struct err *e)
{
    if (!o->output.path)
        return err_set(e, "-o FILE is missing: where is the merged capture to go?");
    if (o->report.json && outfile_is_stdout(o->output.path))
        return err_set(e, "the capture and the report both want standard output: give the capture "
                          "a file");
    return outfile_spares(o->output.path, args->operands, args->n_operands, e);
}

/* ---- Report ---- */

/* Formats an offset: "+1.5s", "-200ms". */
static struct units_text offset(int64_t ns)
{
    return units_format("%c%.40s", ns < 0 ? '-' : '+', units_duration(ns < 0 ? -ns : ns).s);
}

static void put_input(struct sheet *t, const struct merge *m, const struct merge_input *in)
{
    SHEET_ROW(t, TEXT_PLAIN, in->name, units_count((int64_t)in->survey.sum.n).s);
    if (!merge_has_rows(in))
        return;
    sheet_cell(t, "%" PRIu64 "-%" PRIu64, in->thread_bases[0], in->thread_top - 1);
    SHEET_CELLS(t, units_duration(in->end_ns - in->start_ns).s,
                offset(in->start_ns - m->start_ns).s, offset(in->end_ns - m->end_ns).s,
                m->n_inputs == 1 ? "" : units_duration(in->overlap_ns).s);
    if (in->has_clock)
        sheet_cell(t, "%s %s (+-%s)", units_duration(llabs(in->clock_ns)).s,
                   in->clock_ns < 0 ? "behind" : "ahead", units_duration(in->clock_error_ns).s);
    else
        sheet_cell(t, "%s", "");
    sheet_cell(t, "%s", in->shift_ns != 0 ? offset(in->shift_ns).s : "");
}

/* The clocks of all inputs. */
struct clocks {
    bool any_servers, any_shift; /* some input has a server's clock; some is shifted */
    size_t n_ranks;              /* inputs recorded by ranks */
    int64_t error_ns;            /* the largest error of these ranks' clocks */
};

static struct clocks clocks_of(const struct merge *m)
{
    struct clocks c = {0};

    for (size_t i = 0; i < m->n_inputs; i++) {
        const struct merge_input *in = &m->inputs[i];
        c.any_servers |= in->has_clock;
        c.any_shift |= in->shift_ns != 0;
        c.n_ranks += in->clock.n_ranks > 0;
        c.error_ns = int64_max(c.error_ns, in->clock.error_ns);
    }
    return c;
}

static bool report_text(const struct merge *m, const struct merge_given *o, FILE *f, struct err *e)
{
    const struct sheet_form form = output_form(&o->report, f);
    struct sheet s = {0};
    const struct clocks clocks = clocks_of(m);

    sheet_line(&s, TEXT_HEADING, "%s: %s of %s", o->output.path,
               units_counted((int64_t)m->n_rows, "request").s,
               units_counted((int64_t)m->n_inputs, "capture").s);
    sheet_table(&s, "lrrrrrrrr", "");
    SHEET_HEADINGS(&s, "capture", "requests", "threads", "runs", "starts", "ends",
                   m->n_inputs == 1 ? "" : "overlap", clocks.any_servers ? "servers' clock" : "",
                   clocks.any_shift ? "shift" : "");
    for (size_t i = 0; i < m->n_inputs; i++)
        put_input(&s, m, &m->inputs[i]);
    if (m->n_inputs > 1 && m->common_start_ns <= m->common_end_ns)
        sheet_line(&s, TEXT_PLAIN, "All run from %s for %s.", rfc3339_format(m->common_start_ns).s,
                   units_duration(m->common_end_ns - m->common_start_ns).s);
    if (clocks.n_ranks > 1)
        sheet_line(&s, TEXT_PLAIN,
                   "All times are by the clock of rank 0, with which those of the others agree "
                   "within %s.",
                   units_duration(clocks.error_ns).s);
    for (size_t i = 0; i < m->notes.n; i++)
        sheet_line(&s, TEXT_WARNING, "Note: %s", m->notes.v[i].message);
    if (m->n_inputs > 1 && !clocks.any_servers && clocks.n_ranks < m->n_inputs)
        sheet_line(&s, TEXT_FAINT,
                   "No capture says how its clock ran: whether the clocks agree is not known.");
    return sheet_end(&s, &form, f, e);
}

static void put_json_input(struct json_out *w, const struct merge *m, const struct merge_input *in)
{
    bool has_rows = merge_has_rows(in);

    JSON_PUT(w, "path", in->path);
    JSON_PUT(w, "n_rows", in->survey.sum.n);
    JSON_PUT(w, "n_threads", in->survey.n_threads);
    JSON_PUT(w, "thread_base", in->thread_bases[0]);
    json_put_time_if(w, "first_start", has_rows, in->start_ns);
    json_put_time_if(w, "last_end", has_rows, in->end_ns);
    JSON_PUT_IF(w, "start_offset_ns", has_rows, in->start_ns - m->start_ns);
    JSON_PUT_IF(w, "end_offset_ns", has_rows, in->end_ns - m->end_ns);
    JSON_MEMBERS(w, in, overlap_ns, shift_ns);
    JSON_PUT_IF(w, "clock_offset_ns", in->has_clock, in->clock_ns);
    JSON_PUT_IF(w, "clock_error_ns", in->has_clock, in->clock_error_ns);
    JSON_PUT(w, "n_duplicates", in->n_duplicates);
}

static bool report_json(const struct merge *m, const struct merge_given *o, FILE *f, struct err *e)
{
    bool common = m->common_start_ns <= m->common_end_ns;
    struct json_out w;

    json_out_begin(&w, f, "s3analyze/merge/1");
    JSON_PUT(&w, "path", o->output.path);
    JSON_PUT(&w, "n_rows", m->n_rows);
    json_put_time_if(&w, "common_start", common, m->common_start_ns);
    json_put_time_if(&w, "common_end", common, m->common_end_ns);
    JSON_OBJECTS(&w, "inputs", i, m->n_inputs)
        put_json_input(&w, m, &m->inputs[i]);
    JSON_OBJECTS(&w, "notes", i, m->notes.n)
        JSON_MEMBERS(&w, &m->notes.v[i], code, message);
    return json_out_finish(&w, e);
}

/* Writes the report to standard output, or to standard error if the capture goes there. */
static bool report(const struct merge *m, const struct merge_given *o, struct err *e)
{
    FILE *f = outfile_is_stdout(o->output.path) ? stderr : stdout;

    return o->report.json ? report_json(m, o, f, e) : report_text(m, o, f, e);
}

/* ---- The command ---- */

static bool write_capture(struct merge *m, const struct merge_given *o,
                          const struct merge_options *how, struct err *e)
{
    struct capture_out out;

    return capture_out_open(&out, &o->output, e) &&
           capture_out_finish(&out,
                              capture_out_start(&out, m->has_intended, WRITE_THREADS, e) &&
                                  merge_write(m, how, out.writer, e),
                              e);
}

/* Adds up files of sums. */
static bool merge_sums(const struct merge_given *o, const struct cli_args *args, struct err *e)
{
    enum outfile_replaces replaces = o->output.force ? OUTFILE_ANYTHING : OUTFILE_NOTHING;
    const struct cli_list all = {0};
    struct sums s = {0};

    if (o->shifts.n > 0 || o->report.json)
        return err_set(e, "%s: --%s is for captures, this is a file of sums",
                       options_first(args->operands, args->n_operands, RUN_OF_SUMS),
                       o->shifts.n > 0 ? "shift" : "json");
    bool ok = outfile_check(o->output.path, replaces, e) &&
              sums_load(&s, args->operands, args->n_operands, &all, o->output.force, e) &&
              sums_save(&s, o->output.path, replaces, e);
    sums_free(&s);
    return ok;
}

static bool merge(const struct merge_given *o, const struct cli_args *args,
                  const struct merge_shift *shifts, struct err *e)
{
    struct merge m = {0};
    struct progress progress;
    const struct merge_options how = {.shifts = shifts,
                                      .n_shifts = o->shifts.n,
                                      .force = o->output.force,
                                      .salvage = o->input.salvage,
                                      .threads = (unsigned)o->input.threads,
                                      .progress = &progress};

    if (!aggpipe_spool(args->operands, args->n_operands, e))
        return false;
    if (options_first(args->operands, args->n_operands, RUN_OF_SUMS) != NULL)
        return merge_sums(o, args, e);
    progress_init(&progress, o->input.quiet);
    bool ok = capture_out_check(&o->output, e) && options_have_rows(args, e) &&
              merge_plan(&m, args->operands, args->n_operands, &how, e) && merge_add_notes(&m, e) &&
              write_capture(&m, o, &how, e);
    progress_fini(&progress);
    ok = ok && report(&m, o, e);
    merge_free(&m);
    return ok;
}

static int run(const struct cli_args *args, void *options)
{
    const struct merge_given *o = options;
    struct err e = {0};
    struct merge_shift *shifts;

    if (!check_output(o, args, &e))
        return cli_wrong_usage(args, "%s", e.msg);
    if (!mem_new(&shifts, o->shifts.n, &e))
        return cli_failed(args, &e);
    int status = !parse_shifts(o, args->n_operands, shifts, &e) ? cli_wrong_usage(args, "%s", e.msg)
                 : merge(o, args, shifts, &e)                   ? EXIT_DONE
                                                                : cli_failed(args, &e);
    free(shifts);
    return status;
}

const struct cli_command cmd_merge = {
    .name = "merge",
    .summary = "join the captures of several clients",
    .text = "Writes one capture with the requests of all inputs in order of start. The threads of "
            "each further input get numbers above those before. Inputs that hold the same requests "
            "are refused. Inputs that do not overlap in time are refused without --force.\n\n"
            "Rows that wait for earlier ones take up to 64 MiB of memory, then a temporary file in "
            "TMPDIR (default /var/tmp).",
    COMMANDS_ON_CAPTURES(struct merge_given),
};
