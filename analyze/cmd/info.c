#include "analyze/base/progress.h"
#include "analyze/capture/stream/survey.h"
#include "analyze/capture/stream/survey_sums.h"
#include "analyze/cmd/commands.h"
#include "analyze/cmd/options.h"
#include "analyze/cmd/output.h"
#include "analyze/data/rank_clock.h"
#include "analyze/read/aggbytes.h"
#include "analyze/read/aggpipe.h"
#include "analyze/render/json/documents.h"
#include "analyze/write/json.h"
#include "analyze/write/json_in.h"
#include "analyze/write/outfile.h"
#include "analyze/write/sheet.h"
#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <stdlib.h>
#include <string.h>

/* The text shows at most this many operations, hosts and clients; --json shows all. */
#define MAX_SHOWN 20

struct info_given {
    struct load_input input;
    struct output_options output;
};

static const struct cli_group groups[] = {
    {"Output", NULL, output_form_table, offsetof(struct info_given, output)},
    {"Output", NULL, output_file_table, offsetof(struct info_given, output)},
    {"Reading", NULL, load_input_table, offsetof(struct info_given, input)},
    {"Reading", NULL, load_threads_table, offsetof(struct info_given, input)},
    {0},
};

static const struct cli_example examples[] = {
    {"s3analyze info run.csv.zst", "what is in it, and how it was recorded"},
    {"s3analyze info --json *.csv.zst", "the same of many captures, for programs"},
    {0},
};

static const struct info_given defaults = {.output = {.path = "-"}};

/* ---- Text ---- */

/* Adds a row: a name, and a formatted value. */
#define FACT(s, style, what, ...) (SHEET_ROW(s, style, what), sheet_cell(s, __VA_ARGS__))

static void put_time_span(struct sheet *t, const struct survey_sum *sum)
{
    SHEET_ROW(t, TEXT_PLAIN, "time");
    if (sum->n == 0)
        sheet_cell(t, "no requests");
    else
        sheet_cell(t, "%s to %s (%s)", rfc3339_format(sum->first_start_ns).s,
                   rfc3339_format(sum->last_end_ns).s,
                   units_duration(sum->last_end_ns - sum->first_start_ns).s);
}

static void put_parts(struct sheet *t, const char *what, const struct survey_parts *parts)
{
    for (size_t i = 0; i < parts->n && i < MAX_SHOWN; i++) {
        const struct survey_part *p = &parts->v[i];
        SHEET_ROW(t, TEXT_PLAIN, i == 0 ? what : "");
        bool failed = p->sum.n_errors > 0;
        sheet_cell(t, "%s  %s%s%s%s", intern_shown(p->name), units_count((int64_t)p->sum.n).s,
                   failed ? ", " : "", failed ? units_count((int64_t)p->sum.n_errors).s : "",
                   failed ? " failed" : "");
    }
    if (parts->n > MAX_SHOWN)
        FACT(t, TEXT_FAINT, "", "and %s more: --json has them all",
             units_count((int64_t)parts->n - MAX_SHOWN).s);
}

static void put_dropped(struct sheet *t, const struct recfile_info *info)
{
    for (int i = 0; i < N_DROPS; i++) {
        if (!info->n_dropped[i])
            continue;
        FACT(t, TEXT_WARNING, "dropped", "%s; the first: %s",
             recfile_dropped(info, (enum recfile_drop)i).s, info->first_drop[i]);
    }
    if (info->n_unverified)
        FACT(t, TEXT_WARNING, "unverified", "%s of frames that fail their checksum",
             units_counted((int64_t)info->n_unverified, "row").s);
}

/* ---- What s3load wrote in its comments, in words ---- */

static const char *string_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s != NULL && *s != '\0' ? s : NULL;
}

static int64_t int_of(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

static void put_start(struct sheet *t, const json_t *o)
{
    static const struct {
        const char *key, *what;
    } settings[] = {{"start", "begun"},  {"version", "version"}, {"run_id", "run"},
                    {"label", "label"},  {"host", "on"},         {"bucket", "bucket"},
                    {"region", "region"}};
    if (string_of(o, "command_line") != NULL)
        SHEET_ROW(t, TEXT_PLAIN, "recorded by", string_of(o, "command_line"));
    else if (string_of(o, "command") != NULL)
        SHEET_ROW(t, TEXT_PLAIN, "recorded by", string_of(o, "command"));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (string_of(o, settings[i].key) != NULL)
            SHEET_ROW(t, TEXT_PLAIN, settings[i].what, string_of(o, settings[i].key));
    if (json_is_integer(json_object_get(o, "seed")))
        FACT(t, TEXT_PLAIN, "seed", "%" JSON_INTEGER_FORMAT,
             json_integer_value(json_object_get(o, "seed")));
}

/* Shows how far the servers' clocks are ahead of the recorder's, or behind. */
static void put_clocks(struct sheet *t, const json_t *o)
{
    const char *what = "clocks";
    const json_t *server;
    size_t i;

    json_array_foreach(json_object_get(o, "clock"), i, server) {
        int64_t low_ns, high_ns;
        if (!rank_clock_server(server, &low_ns, &high_ns))
            continue;
        bool behind = high_ns <= 0;
        FACT(t, TEXT_PLAIN, what, "%s is %s%s to %s %s",
             string_of(server, "endpoint") ? string_of(server, "endpoint") : "?",
             units_duration(llabs(behind ? high_ns : low_ns)).s,
             low_ns < 0 && !behind ? " behind" : "",
             units_duration(llabs(behind ? low_ns : high_ns)).s, behind ? "behind" : "ahead");
        what = "";
    }
}

static void put_reason(struct sheet *t, const json_t *o)
{
    static const char *const words[][2] = {
        {"duration", "its duration was over"},
        {"done", "all was done"},
        {"signal", "a signal interrupted it"},
        {"autoterm", "autoterm: the throughput had become stable"},
        {"error", "an error ended it"}};
    const char *end = string_of(o, "end"), *error = string_of(o, "error");

    for (size_t i = 0; end != NULL && i < sizeof words / sizeof *words; i++)
        if (strcmp(end, words[i][0]) == 0)
            end = words[i][1];
    FACT(t, error != NULL ? TEXT_WARNING : TEXT_PLAIN, "ended", "%s%s%s",
         end != NULL     ? end
         : error != NULL ? "by an error"
                         : "no reason given",
         error != NULL ? ": " : "", error != NULL ? error : "");
}

static void put_end(struct sheet *t, const json_t *o)
{
    put_reason(t, o);
    if (recorded_lacks_benchmark(o))
        SHEET_ROW(t, TEXT_WARNING, "benchmark", "it never began: only the preparation is recorded");
    else
        FACT(t, TEXT_PLAIN, "benchmark", "%s requests in %s, %s failed; %s connects",
             units_count(int_of(o, "requests")).s, units_duration(int_of(o, "bench_ns")).s,
             units_count(int_of(o, "errors")).s, units_count(int_of(o, "connects")).s);
    if (int_of(o, "not_begun") > 0)
        FACT(t, TEXT_WARNING, "never begun", "%s requests that were due",
             units_count(int_of(o, "not_begun")).s);
    if (int_of(o, "resent") > 0)
        FACT(t, TEXT_WARNING, "sent twice", "%s, as the server had closed the kept connection",
             units_count(int_of(o, "resent")).s);
    FACT(t, TEXT_PLAIN, "preparation", "%s objects in %s, %s failed",
         units_count(int_of(o, "prepared")).s, units_duration(int_of(o, "prepare_ns")).s,
         units_count(int_of(o, "not_prepared")).s);
    bool bound = json_is_true(json_object_get(o, "client_bound"));
    FACT(t, bound ? TEXT_WARNING : TEXT_PLAIN, "client",
         "busiest thread %.0f %% of a CPU, %s user, %s system%s",
         json_number_value(json_object_get(o, "max_thread_cpu_pct")),
         units_duration(int_of(o, "cpu_user_ns")).s, units_duration(int_of(o, "cpu_system_ns")).s,
         bound ? ": it was the limit" : "");
    if (int_of(o, "capture_waits") > 0)
        FACT(t, TEXT_WARNING, "waits", "%s for the capture to be written, %s in all",
             units_count(int_of(o, "capture_waits")).s,
             units_duration(int_of(o, "capture_waits_ns")).s);
}

static bool is_end(const json_t *o)
{
    const char *event = string_of(o, "event");
    return event != NULL && strcmp(event, "end") == 0;
}

/* Shows what s3load wrote in its comments. Returns false if out of memory. */
static bool put_s3load(struct sheet *t, const struct survey *s, bool *has_command)
{
    json_t *start = NULL, *end = NULL;
    bool ok = json_in_parse(survey_s3load_json(s, false), &start, NULL) &&
              json_in_parse(survey_s3load_json(s, true), &end, NULL);

    if (ok && start != NULL) {
        *has_command = string_of(start, "command_line") || string_of(start, "command");
        put_start(t, start);
        if (is_end(end)) {
            put_end(t, end);
        } else {
            SHEET_ROW(t, TEXT_WARNING, "ended",
                      "not by itself: it was killed, or the file was cut");
        }
        put_clocks(t, is_end(end) ? end : start);
    }
    json_decref(start);
    json_decref(end);
    return ok;
}

/* Shows what the recordings of other programs lack. Returns false if out of memory. */
static bool put_imports(struct sheet *t, const struct survey *s)
{
    struct recorded r = {0};
    struct lineset said = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < s->comments.n; i++) {
        const char *line = keptlines_get(&s->comments, i);
        ok = recorded_add(&r, &said, line, strlen(line), NULL);
    }
    if (r.imports.n > 0) {
        FACT(t, TEXT_PLAIN, "known to", "starts %s, durations %s; threads are guessed",
             units_duration(r.imports.start_ns).s, units_duration(r.imports.duration_ns).s);
        FACT(t, TEXT_WARNING, "not recorded", "%s", r.imports.absent);
    }
    json_decref(r.settings);
    lineset_fini(&said);
    return ok;
}

static void put_capture(struct sheet *t, const char *path, const struct survey *s)
{
    const struct recfile_info *info = &s->info;
    const char *command = survey_command_line(s);
    bool told = false;

    sheet_line(t, TEXT_HEADING, "%s", path);
    sheet_table(t, "lw", "");
    SHEET_ROW(t, TEXT_PLAIN, "format");
    bool has_rows = info->generation >= 0;
    if (!has_rows)
        sheet_cell(t, "%s, %s: no single requests",
                   info->generation == RECFILE_SUMS ? "sums by second" : "aggregated capture",
                   units_size((double)info->n_file_bytes).s);
    else if (info->compressed)
        sheet_cell(t, "%s, zstd: %s, %s skippable", recfile_generation(info),
                   units_counted((int64_t)info->n_frames, "frame").s,
                   units_count((int64_t)info->n_skippable_frames).s);
    else
        sheet_cell(t, "%s, not compressed", recfile_generation(info));
    if (has_rows) {
        FACT(t, TEXT_PLAIN, "size", "%s, %s of text", units_size((double)info->n_file_bytes).s,
             units_size((double)info->n_text_bytes).s);
        FACT(t, TEXT_PLAIN, "rows", "%s in %s, %s", units_count((int64_t)info->n_rows).s,
             units_counted((int64_t)info->n_lines, "line").s,
             units_counted(info->n_headers, "header line").s);
    }
    put_time_span(t, &s->sum);
    SHEET_ROW(t, TEXT_PLAIN, "threads", units_count((int64_t)s->n_threads).s);
    put_parts(t, "operations", &s->ops);
    put_parts(t, "hosts", &s->hosts);
    put_parts(t, "clients", &s->clients);
    if (info->has_intended)
        SHEET_ROW(t, TEXT_PLAIN, "open loop", "with the times at which requests were due");
    if (survey_n_merged(s))
        FACT(t, TEXT_PLAIN, "merged from", "%s",
             units_counted((int64_t)survey_n_merged(s), "capture").s);
    if (!put_s3load(t, s, &told))
        t->failed = true;
    if (command && !told)
        SHEET_ROW(t, TEXT_PLAIN, "recorded by", command);
    if (!put_imports(t, s))
        t->failed = true;
    put_dropped(t, info);
}

/* ---- JSON ---- */

static void put_sum(struct json_out *w, const struct survey_sum *sum)
{
    JSON_PUT(w, "n_requests", sum->n);
    JSON_PUT(w, "n_errors", sum->n_errors);
    /* A sum beyond the range of an integer becomes a real number. */
    json_out_value(w, "n_bytes",
                   sum->n_bytes <= INT64_MAX ? json_integer((int64_t)sum->n_bytes)
                                             : json_out_real((double)sum->n_bytes));
    bool is_timed = sum->first_start_ns <= sum->last_end_ns;
    json_put_time_if(w, "first_start", is_timed, sum->first_start_ns);
    json_put_time_if(w, "last_end", is_timed, sum->last_end_ns);
    JSON_PUT_IF(w, "duration_ns", is_timed, sum->last_end_ns - sum->first_start_ns);
}

static void json_parts(struct json_out *w, const char *key, const char *name,
                       const struct survey_parts *parts)
{
    JSON_OBJECTS(w, key, i, parts->n) {
        JSON_PUT(w, name, parts->v[i].name);
        put_sum(w, &parts->v[i].sum);
    }
}

static void put_json(struct json_out *w, const char *path, const struct survey *s)
{
    const struct recfile_info *info = &s->info;
    json_t *parsed, *closing = NULL;

    if (!json_in_parse(survey_s3load_json(s, false), &parsed, NULL) ||
        !json_in_parse(survey_s3load_json(s, true), &closing, NULL))
        w->failed = true;
    json_out_object(w, NULL);
    JSON_PUT(w, "path", path);
    JSON_PUT(w, "generation", recfile_generation(info));
    if (info->generation < 0) {
        JSON_MEMBERS(w, info, n_file_bytes, has_intended);
    } else {
        JSON_MEMBERS(w, info, compressed, n_file_bytes, n_text_bytes, n_frames, n_skippable_frames,
                     n_rows, n_lines, n_headers, has_intended);
        JSON_PUT(w, "n_dropped", recfile_n_dropped(info));
        JSON_PUT(w, "n_unverified", info->n_unverified);
    }
    JSON_PUT(w, "n_threads", s->n_threads);
    put_sum(w, &s->sum);
    JSON_PUT(w, "n_merged", survey_n_merged(s));
    JSON_PUT(w, "command", survey_command_line(s));
    json_out_value(w, "s3load", parsed ? parsed : json_null());
    json_out_value(w, "s3load_end", is_end(closing) ? json_incref(closing) : json_null());
    json_decref(closing);
    json_parts(w, "operations", "op", &s->ops);
    json_parts(w, "hosts", "host", &s->hosts);
    json_parts(w, "clients", "client_id", &s->clients);
    json_capture_dropped(w, info);
    JSON_ARRAY(w, "comments", i, s->comments.n)
        JSON_PUT(w, NULL, keptlines_get(&s->comments, i));
    if (s->comments.n_left_out > 0)
        JSON_PUT(w, "n_comments_left_out", s->comments.n_left_out);
    json_out_end(w);
}

/* ---- The command ---- */

/* An operand as it was read. */
struct source {
    bool is_read;
    struct survey survey;
};

static bool read_sums(struct survey *s, const char *path, bool is_foreign, struct err *e)
{
    struct sums sums = {0};
    bool ok = (is_foreign ? sums_of_foreign(&sums, path, e) : sums_read(&sums, path, e)) &&
              survey_sums(s, &sums, path, e);

    sums_free(&sums);
    return ok;
}

/* Reads the operands. Reports those that cannot be read, and returns their number. */
static size_t read_all(struct source *sources, const struct info_given *o,
                       const struct cli_args *args)
{
    struct progress progress;
    const struct recfile_options how = {.salvage = o->input.salvage,
                                        .threads = (unsigned)o->input.threads,
                                        .progress = progress_update,
                                        .progress_ctx = &progress};
    size_t n_failed = 0;

    for (size_t i = 0; i < args->n_operands; i++) {
        struct source *x = &sources[i];
        struct err e = {0};

        progress_init(&progress, o->input.quiet);
        const char *path = args->operands[i];
        bool can_be_read = aggpipe_spool(&path, 1, &e);
        enum aggbytes_kind kind = aggbytes_kind(path);
        x->is_read = can_be_read && (kind != AGGBYTES_NONE
                                         ? read_sums(&x->survey, path, kind == AGGBYTES_FOREIGN, &e)
                                         : survey_read(&x->survey, path, &how, false, &e));
        progress_fini(&progress);
        if (x->is_read)
            continue;
        cli_failed(args, &e);
        n_failed++;
    }
    return n_failed;
}

static bool report(struct source *sources, const struct info_given *o, const struct cli_args *args,
                   struct err *e)
{
    struct outfile out;
    bool ok;

    if (!outfile_open(&out, o->output.path, output_replaces(&o->output), e))
        return false;
    if (o->output.json) {
        struct json_out w;
        json_out_begin(&w, out.f, "s3analyze/info/1");
        JSON_ARRAY(&w, "captures", i, args->n_operands) {
            if (sources[i].is_read)
                put_json(&w, args->operands[i], &sources[i].survey);
        }
        ok = json_out_finish(&w, e);
    } else {
        const struct sheet_form form = output_form(&o->output, out.f);
        struct sheet s = {0};

        for (size_t i = 0; i < args->n_operands; i++) {
            if (!sources[i].is_read)
                continue;
            sheet_gap(&s);
            put_capture(&s, args->operands[i], &sources[i].survey);
        }
        ok = sheet_end(&s, &form, out.f, e);
    }
    return outfile_finish(&out, ok, e);
}

static int run(const struct cli_args *args, void *options)
{
    const struct info_given *o = options;
    struct err e = {0};
    size_t n_failed = 0;

    if (!outfile_spares(o->output.path, args->operands, args->n_operands, &e) ||
        !output_fits(&o->output, args, &e))
        return cli_wrong_usage(args, "%s", e.msg);
    struct source *sources;
    bool ok = mem_cleared(&sources, args->n_operands, &e) && output_can_write(&o->output, &e);
    if (ok)
        n_failed = read_all(sources, o, args);
    if (ok && n_failed < args->n_operands)
        ok = report(sources, o, args, &e);
    for (size_t i = 0; sources && i < args->n_operands; i++)
        survey_free(&sources[i].survey);
    free(sources);
    if (!ok)
        return cli_failed(args, &e);
    return n_failed > 0 ? EXIT_FAILED : EXIT_DONE;
}

const struct cli_command cmd_info = {
    .name = "info",
    .summary = "say what is in a capture and how it was recorded",
    .text =
        "Reads each capture to its end. Says its format, size, time span, operations, hosts, "
        "clients and threads, and the recorder's command line. If one cannot be read, the others "
        "are shown all the same, and the exit status is 1.",
    COMMANDS_ON_CAPTURES(struct info_given),
};
