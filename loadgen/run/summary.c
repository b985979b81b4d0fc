#include "loadgen/run/summary.h"

#include "libcommon/rfc3339.h"
#include "libcommon/version.h"

#include <inttypes.h>
#include <string.h>

/* Bounds that no clock reaches: nothing is known. */
static bool is_known(const struct loop_date *d)
{
    return d->lower_ns != INT64_MIN && d->upper_ns != INT64_MAX;
}

/* What all loops together know of a host's clock. */
static struct loop_date combine(const struct control *control, const struct crew *crew, size_t host)
{
    struct loop_date all = control->loop.dates[host];

    for (unsigned i = 0; crew != NULL && i < crew->n_loops; i++) {
        const struct loop_date *d = &crew->loops[i].dates[host];
        all.lower_ns = d->lower_ns > all.lower_ns ? d->lower_ns : all.lower_ns;
        all.upper_ns = d->upper_ns < all.upper_ns ? d->upper_ns : all.upper_ns;
    }
    return all;
}

int64_t summary_host_off_ns(const struct control *control, const struct crew *crew, size_t host)
{
    struct loop_date d = combine(control, crew, host);

    return !is_known(&d) ? 0 : d.lower_ns > 0 ? d.lower_ns : d.upper_ns < 0 ? d.upper_ns : 0;
}

/* For each server whose clock was seen: it is ahead of ours by at least and at most so much. */
static void put_clocks(struct strbuf *b, const struct control *control, const struct crew *crew)
{
    const struct engine *g = control->loop.engine;
    const char *comma = "";

    strbuf_puts(b, "\"clock\":[");
    for (size_t i = 0; i < g->hosts.n; i++) {
        struct loop_date d = combine(control, crew, i);
        if (!is_known(&d))
            continue;
        strbuf_printf(b, "%s{\"endpoint\":", comma);
        strbuf_json(b, g->host[i].endpoint);
        strbuf_printf(b, ",\"ahead_min_ns\":%" PRId64 ",\"ahead_max_ns\":%" PRId64 "}", d.lower_ns,
                      d.upper_ns);
        comma = ",";
    }
    strbuf_puts(b, "]");
}

static void put_string(struct strbuf *b, const char *name, const char *value)
{
    strbuf_printf(b, "\"%s\":", name);
    if (value != NULL)
        strbuf_json(b, value);
    else
        strbuf_puts(b, "null");
    strbuf_puts(b, ",");
}

static void put_head(struct strbuf *b, const struct summary *s)
{
    put_string(b, "run_id", s->run_id);
    put_string(b, "command", s->command);
    put_string(b, "command_line", s->command_line);
    put_string(b, "label", s->label);
    put_string(b, "host", s->host);
    put_string(b, "version", version_string);
    strbuf_printf(b, "\"seed\":%" PRIu64 ",", s->seed);
    put_string(b, "start", rfc3339_format(s->start_ns).s);
}

/* Options that are secret, or say only how to begin or what becomes of the results. */
static bool is_setting(const struct cli_option *o)
{
    static const char *const others[] = {"access-key", "secret-key", "session-token", "profile",
                                         "bucket",     "benchdata",  "label",         "json",
                                         "quiet",      "yes",        "seed",          "syncstart"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(o->name, others[i]) == 0)
            return false;
    return true;
}

static void put_setting(struct strbuf *b, const struct cli_option *o, const void *field)
{
    const char *unit = o->type == CLI_DURATION ? "_ns" : o->type == CLI_SIZE ? "_bytes" : "";

    strbuf_printf(b, ",\"%s%s\":", o->name, unit);
    switch (o->type) {
    case CLI_FLAG:
        strbuf_puts(b, *(const bool *)field ? "true" : "false");
        break;
    case CLI_STRING:
        if (*(const char *const *)field != NULL)
            strbuf_json(b, *(const char *const *)field);
        else
            strbuf_puts(b, "null");
        break;
    case CLI_CHOICE:
        strbuf_json(b, o->choices[*(const int *)field]);
        break;
    case CLI_DOUBLE:
    case CLI_PCT:
    case CLI_RATE:
        strbuf_printf(b, "%.17g", *(const double *)field);
        break;
    default:
        strbuf_printf(b, "%" PRId64, *(const int64_t *)field);
    }
}

static void put_settings(struct strbuf *b, const struct cli_command *command,
                         const struct options *options)
{
    char proxy[CONN_PROXY_MAX];

    strbuf_puts(b, "\"settings\":{\"proxy\":");
    if (conn_proxy(options->tls, options->no_proxy, proxy) != NULL)
        strbuf_json(b, proxy);
    else
        strbuf_puts(b, "null");
    for (const struct cli_group *g = command->groups; g->options != NULL; g++)
        for (const struct cli_option *o = g->options; o->type != CLI_NONE; o++)
            if (is_setting(o))
                put_setting(b, o, (const char *)options + g->base + o->offset);
    strbuf_puts(b, "},");
}

void summary_put_start(struct strbuf *b, const struct summary *s, const struct control *control,
                       const struct cli_command *command, const struct options *o)
{
    strbuf_puts(b, "s3load/1 {\"event\":\"start\",");
    put_head(b, s);
    put_string(b, "bucket", o->bucket);
    put_settings(b, command, o);
    put_clocks(b, control, NULL);
    strbuf_puts(b, "}");
}

static void put_result(struct strbuf *b, const struct summary *s)
{
    const struct recorder_counts *c = &s->counts;

    put_string(b, "end", s->end);
    put_string(b, "error", s->error);
    strbuf_printf(b,
                  "\"requests\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"objects\":%" PRIu64
                  ",\"bytes\":%" PRIu64 ",\"connects\":%" PRIu64 ",",
                  c->n_requests, c->n_errors, c->n_objects, c->n_bytes, s->n_connects);
    strbuf_printf(b,
                  "\"prepared\":%" PRIu64 ",\"not_prepared\":%" PRIu64 ",\"prepare_ns\":%" PRId64
                  ",\"bench_ns\":%" PRId64 ",",
                  s->n_prepared, s->n_not_prepared, s->prepare_ns, s->bench_ns);
    strbuf_printf(b,
                  "\"cpu_user_ns\":%" PRId64 ",\"cpu_system_ns\":%" PRId64 ",\"digest_ns\":%" PRId64
                  ",\"max_thread_cpu_pct\":%.1f,\"client_bound\":%s,",
                  s->user_ns, s->system_ns, s->digest_ns, s->max_thread_pct,
                  s->max_thread_pct > SUMMARY_BOUND_PCT ? "true" : "false");
    strbuf_printf(b, "\"capture_waits\":%" PRIu64 ",\"capture_waits_ns\":%" PRId64 ",", s->n_waits,
                  s->waits_ns);
    strbuf_printf(b, "\"clock_change_ns\":%" PRId64 ",", s->clock_change_ns);
    strbuf_printf(b, "\"object_waits\":%" PRIu64 ",\"resent\":%" PRIu64 ",", s->n_object_waits,
                  s->n_resent);
    if (s->open_loop)
        strbuf_printf(b, "\"not_begun\":%" PRIu64 ",", s->n_not_begun);
    if (s->autoterm.stopped)
        strbuf_printf(
            b, "\"autoterm\":{\"at_s\":%" PRId64 ",\"bytes_per_s\":%.17g,\"objects_per_s\":%.17g},",
            s->autoterm.at_s, s->autoterm.window.bytes_per_s, s->autoterm.window.objects_per_s);
}

void summary_put_end(struct strbuf *b, const struct summary *s, const struct control *control,
                     const struct crew *crew)
{
    strbuf_puts(b, "s3load/1 {\"event\":\"end\",");
    put_result(b, s);
    put_clocks(b, control, crew);
    strbuf_puts(b, "}");
}

void summary_put_json(struct strbuf *b, const struct summary *s)
{
    strbuf_puts(b, "{\"schema\":\"s3load/run/1\",");
    put_head(b, s);
    put_result(b, s);
    strbuf_puts(b, "\"capture\":");
    if (s->capture != NULL)
        strbuf_json(b, s->capture);
    else
        strbuf_puts(b, "null");
    strbuf_puts(b, "}\n");
}
