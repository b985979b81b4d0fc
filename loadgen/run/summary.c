#include "loadgen/run/bench.h"

#include "libcommon/rfc3339.h"
#include "libcommon/utf8.h"
#include "libcommon/version.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Combines the bounds that all loops know for a host's clock. False: nothing is known. */
static bool combine(const struct bench *b, size_t host, struct date_bracket *all)
{
    *all = b->control.crew.loops[0].dates[host];
    for (unsigned i = 0; i < b->crew.n_loops; i++)
        dates_join(all, &b->crew.loops[i].dates[host]);
    return dates_settle(all);
}

int64_t summary_host_off_ns(const struct bench *b, size_t host)
{
    struct date_bracket d;

    return !combine(b, host, &d) ? 0
           : d.lower_ns > 0      ? d.lower_ns
           : d.upper_ns < 0      ? d.upper_ns
                                 : 0;
}

/* A JSON object that is being filled. */
struct doc {
    json_t *json;
    bool failed;
};

/* Adds a value. NULL: it could not be allocated. */
static void put(struct doc *d, const char *name, json_t *value)
{
    d->failed |= json_object_set_new(d->json, name, value) != 0;
}

static void put_text(struct doc *d, const char *name, const char *value)
{
    char *text = value != NULL ? utf8_repaired(value) : NULL;

    put(d, name, value != NULL ? json_string(text) : json_null());
    free(text);
}

static int add_text(const char *text, size_t n, void *user)
{
    strbuf_put(user, text, n);
    return 0;
}

static void write_doc(struct strbuf *b, const char *kind, struct doc *d)
{
    /* Print 0.1, not 0.10000000000000001. */
    size_t flags = JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(DBL_DIG);

    strbuf_puts(b, kind);
    b->failed |= d->failed || json_dump_callback(d->json, add_text, b, flags) != 0;
    json_decref(d->json);
}

/* Writes for each server the least and the most by which its clock is ahead of ours. */
static void put_clocks(struct doc *d, const struct bench *b)
{
    const struct engine *g = b->control.crew.engine;
    json_t *clocks = json_array();

    for (size_t i = 0; i < g->hosts.n; i++) {
        struct date_bracket date;
        if (!combine(b, i, &date))
            continue;
        json_t *clock =
            json_pack("{s:s, s:I, s:I}", "endpoint", g->hosts.host[i].endpoint, "ahead_min_ns",
                      (json_int_t)date.lower_ns, "ahead_max_ns", (json_int_t)date.upper_ns);
        d->failed |= json_array_append_new(clocks, clock) != 0;
    }
    put(d, "clock", clocks);
}

/* Writes when the first loop did not run; then no loop ran. */
static void put_stops(struct doc *d, const struct crew *crew)
{
    json_t *stops = json_array();

    for (unsigned i = 0; crew->n_loops > 0 && i < crew->loops[0].n_stops; i++) {
        const struct loop_stop *s = &crew->loops[0].stops[i];
        json_t *stop =
            json_pack("{s:I, s:I}", "at_ns", (json_int_t)(s->start_ns + crew->engine->offset_ns),
                      "length_ns", (json_int_t)s->length_ns);

        d->failed |= json_array_append_new(stops, stop) != 0;
    }
    put(d, "stops", stops);
}

/* With several ranks, writes which one this is, and n measurements of its clock against rank 0's.
 */
static void put_rank(struct doc *d, const struct bench *b, size_t first, size_t n)
{
    if (b->team.size == 1)
        return;
    json_t *clocks = json_array();
    for (size_t i = first; i < first + n; i++) {
        const struct team_clock *c = &b->team.clocks[i];
        if (c->at_ns == 0)
            continue;
        json_t *clock = json_pack("{s:I, s:I, s:I}", "at_ns", (json_int_t)c->at_ns, "ahead_ns",
                                  (json_int_t)c->ahead_ns, "error_ns", (json_int_t)c->error_ns);
        d->failed |= json_array_append_new(clocks, clock) != 0;
    }
    put(d, "rank", json_integer(b->team.rank));
    put(d, "ranks", json_integer(b->team.size));
    put(d, "rank_clock", clocks);
}

static json_t *machine_of(struct bench *b)
{
    struct doc d = {.json = machine_json(&b->machine, &b->crew)};

    put_text(&d, "client", b->engine.client);
    if (!d.failed)
        return d.json;
    json_decref(d.json);
    return NULL;
}

static void put_head(struct doc *d, const struct bench *b)
{
    put_text(d, "run_id", b->o->run_id);
    put_text(d, "command", b->args.command->name);
    put_text(d, "command_line", b->o->command_line);
    put_text(d, "label", b->o->label);
    put_text(d, "host", b->host);
    put_text(d, "version", version_string);
    put(d, "seed", json_integer((json_int_t)b->o->load.seed));
    put_text(d, "start", rfc3339_format(b->summary.start_ns).s);
}

static void put_setting(struct doc *d, const struct cli_option *o, const void *field)
{
    const char *unit = o->type == CLI_DURATION ? "_ns" : o->type == CLI_SIZE ? "_bytes" : "";
    char name[64];

    snprintf(name, sizeof name, "%s%s", o->name, unit);
    switch (o->type) {
    case CLI_FLAG:
        put(d, name, json_boolean(*(const bool *)field));
        break;
    case CLI_STRING:
        put_text(d, name, *(const char *const *)field);
        break;
    case CLI_CHOICE:
        put_text(d, name, o->choices[*(const int *)field]);
        break;
    case CLI_DOUBLE:
    case CLI_PCT:
    case CLI_RATE:
        put(d, name, json_real(*(const double *)field));
        break;
    default:
        put(d, name, json_integer(*(const int64_t *)field));
    }
}

void summary_put_start(struct strbuf *to, struct bench *b)
{
    const struct options *options = b->o;
    const struct cli_command *command = b->args.command;
    const struct workload *kind = command->ctx;
    const struct engine *g = &b->engine;
    struct doc d = {.json = json_object()};
    struct doc settings = {.json = json_object()};

    put_text(&d, "event", "start");
    put_head(&d, b);
    put_text(&d, "bucket", options->bucket);
    bool prepares = kind->prepares && !kind->mixed && !options->data.list_existing;
    put_text(&d, "preparation", prepares ? S3OP[S3OP_PUT].name : NULL);
    put_text(&settings, "proxy", g->proxied_by != NULL ? g->proxy : NULL);
    for (const struct cli_group *g = command->groups; g->options != NULL; g++)
        for (const struct cli_option *o = g->options; o->type != CLI_NONE; o++)
            if (o->is == CLI_SETTING)
                put_setting(&settings, o, (const char *)options + g->base + o->offset);
    d.failed |= settings.failed;
    put_rank(&d, b, 0, 1);
    put(&d, "settings", settings.json);
    put_clocks(&d, b);
    put(&d, "machine", machine_of(b));
    write_doc(to, "s3load/1 ", &d);
}

const struct summary_number SUMMARY_NUMBERS[SUMMARY_N_NUMBERS] = {
    {"requests", offsetof(struct summary, counts.n_requests), true},
    {"errors", offsetof(struct summary, counts.n_errors), true},
    {"objects", offsetof(struct summary, counts.n_objects), true},
    {"bytes", offsetof(struct summary, counts.n_bytes), true},
    {"connects", offsetof(struct summary, n_connects), true},
    {"prepared", offsetof(struct summary, n_prepared), true},
    {"not_prepared", offsetof(struct summary, n_not_prepared), true},
    {"prepare_ns", offsetof(struct summary, prepare_ns), false},
    {"bench_ns", offsetof(struct summary, bench_ns), false},
    {"cpu_user_ns", offsetof(struct summary, user_ns), true},
    {"cpu_system_ns", offsetof(struct summary, system_ns), true},
    {"digest_ns", offsetof(struct summary, digest_ns), true},
    {"capture_waits", offsetof(struct summary, n_waits), true},
    {"capture_waits_ns", offsetof(struct summary, waits_ns), true},
    {"clock_change_ns", offsetof(struct summary, clock_change_ns), false},
    {"object_waits", offsetof(struct summary, n_object_waits), true},
    {"resent", offsetof(struct summary, n_resent), true},
    {"not_begun", offsetof(struct summary, n_not_begun), true},
};

static void put_result(struct doc *d, const struct bench *b)
{
    const struct summary *s = &b->summary;

    put_text(d, "end", s->end);
    put_text(d, "error", s->error);
    for (const struct summary_number *n = SUMMARY_NUMBERS; n < &SUMMARY_NUMBERS[SUMMARY_N_NUMBERS];
         n++) {
        json_int_t value = 0;
        memcpy(&value, (const char *)s + n->offset, sizeof value);
        /* A closed loop has no due times. */
        if (b->o->load.rate > 0 || n->offset != offsetof(struct summary, n_not_begun))
            put(d, n->name, json_integer(value));
    }
    put(d, "max_thread_cpu_pct", json_real(round(s->max_thread_pct * 10) / 10));
    put(d, "client_bound", json_boolean(s->max_thread_pct > SUMMARY_BOUND_PCT));
    if (s->autoterm.stopped)
        put(d, "autoterm",
            json_pack("{s:I, s:f, s:f}", "at_s", (json_int_t)s->autoterm.at_s, "bytes_per_s",
                      s->autoterm.window.bytes_per_s, "objects_per_s",
                      s->autoterm.window.objects_per_s));
}

void summary_put_end(struct strbuf *to, struct bench *b)
{
    struct doc d = {.json = json_object()};

    put_text(&d, "event", "end");
    put_result(&d, b);
    put_rank(&d, b, 1, 2);
    put_stops(&d, &b->crew);
    put_clocks(&d, b);
    put(&d, "machine", machine_of(b));
    write_doc(to, "s3load/1 ", &d);
}

void summary_put_machine(struct strbuf *to, struct bench *b)
{
    write_doc(to, "s3load/machine/1 ", &(struct doc){.json = machine_of(b)});
}

#define LINE_WIDTH 80

void summary_put_line(struct strbuf *to, const struct bench *b)
{
    const struct summary *s = &b->summary;
    char run[80];

    int n_run = snprintf(run, sizeof run, "(run %s, seed %llu)", b->o->run_id,
                         (unsigned long long)b->o->load.seed);
    bool unbegun = s->bench_ns == 0;
    bool stopped = s->end != NULL && strcmp(s->end, "signal") == 0;

    strbuf_printf(to, "%s%s: ", b->args.command->name, s->alone ? ", rank 0 alone" : "");
    if (unbegun)
        strbuf_printf(to, "%s before the benchmark: %s prepared, %s failed",
                      stopped ? "interrupted" : "ended",
                      units_counted((int64_t)s->n_prepared, "object").s,
                      units_count((int64_t)s->n_not_prepared).s);
    else
        strbuf_printf(to, "%s, %s failed, in %s",
                      units_counted((int64_t)s->counts.n_requests, "request").s,
                      units_count((int64_t)s->counts.n_errors).s, units_duration(s->bench_ns).s);
    if (!unbegun && s->n_not_prepared > 0)
        strbuf_printf(to, "; %s of the preparation failed",
                      units_counted((int64_t)s->n_not_prepared, "upload").s);
    strbuf_puts(to, !unbegun && stopped ? "; interrupted" : "");
    strbuf_printf(to, "%c%s\n", to->n + 1 + (size_t)n_run > LINE_WIDTH ? '\n' : ' ', run);
}

void summary_put_json(struct strbuf *to, const struct bench *b)
{
    const struct summary *s = &b->summary;
    struct doc d = {.json = json_object()};

    put_text(&d, "schema", "s3load/run/1");
    put_head(&d, b);
    if (s->alone)
        put(&d, "rank", json_integer(b->team.rank));
    put_result(&d, b);
    put_text(&d, "capture", s->capture_goes ? NULL : s->capture);
    put_text(&d, "sums", s->sums);
    write_doc(to, "", &d);
    strbuf_puts(to, "\n");
}
