#include "analyze/data/recorded.h"

#include "analyze/write/json.h"
#include "analyze/write/json_in.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/slice.h"
#include "libcommon/units.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A change above CLOCK_SET_NS is more than NTP makes. Servers refuse requests signed by a clock
 * that is off by REFUSED_NS. */
#define CLOCK_SET_NS NS_PER_S
#define REFUSED_NS   (15 * NS_PER_M)

#define NOT_BEGUN_PROBLEM                                                                          \
    .01 /* share of the requests that were due, as of those that began late                        \
         */

/* A larger resolution is nonsense: it is cut to this. */
#define MAX_RESOLUTION_NS NS_PER_H

static int64_t count_of(const json_t *o, const char *key)
{
    return int64_max(json_integer_value(json_object_get(o, key)), 0);
}

/* Adds o's count. A hostile comment may hold any number. */
static void add_count(int64_t *sum, const json_t *o, const char *key)
{
    *sum = int64_add_clamped(*sum, count_of(o, key));
}

/* A run's closing comment replaces the clock of its opening comment. */
static void take_clock(struct recorded *r, const json_t *o, bool opens)
{
    if (opens) {
        r->clock = (struct rank_clock){0};
        r->others_error_ns = r->clock_error_ns;
    }
    rank_clock_take(&r->clock, o);
    r->n_ranks += opens && r->clock.n_ranks > 0;
    r->clock_error_ns = int64_max(r->clock.error_ns, r->others_error_ns);
}

/* Adds a stop. If there is no room, it replaces the shortest one, unless it is shorter still. */
static void take_stop(struct recorded *r, const json_t *o)
{
    struct recorded_stop stop = {count_of(o, "at_ns"), count_of(o, "length_ns")};
    struct recorded_stop *to = r->stop;

    if (stop.length_ns == 0 || stop.start_ns > INT64_MAX / 2 || stop.length_ns > INT64_MAX / 2)
        return;
    stop.start_ns = int64_max(stop.start_ns - rank_clock_ahead(&r->clock, stop.start_ns), 0);
    for (size_t i = 1; i < r->n_stops; i++)
        to = r->stop[i].length_ns < to->length_ns ? &r->stop[i] : to;
    if (r->n_stops < RECORDED_MAX_STOPS)
        r->stop[r->n_stops++] = stop;
    else if (to->length_ns < stop.length_ns)
        *to = stop;
}

bool recorded_lacks_benchmark(const json_t *end)
{
    const json_t *ns = json_object_get(end, "bench_ns");

    return json_is_integer(ns) && json_integer_value(ns) == 0;
}

void recorded_only(struct recorded *r, const char *op)
{
    if (r->n_runs > r->n_closed && strcmp(op, r->preparation) == 0)
        r->n_no_benchmark += r->n_runs - r->n_closed;
}

static void close_run(struct recorded *r, const json_t *o)
{
    const char *error = json_string_value(json_object_get(o, "error"));
    const char *end = json_string_value(json_object_get(o, "end"));
    double pct = json_number_value(json_object_get(o, "max_thread_cpu_pct"));
    int64_t change_ns = json_integer_value(json_object_get(o, "clock_change_ns"));
    const json_t *stop;
    size_t i;

    if (change_ns > INT64_MIN && llabs(change_ns) > llabs(r->clock_change_ns))
        r->clock_change_ns = change_ns;
    json_array_foreach(json_object_get(o, "stops"), i, stop)
        take_stop(r, stop);
    r->n_closed++;
    if (error != NULL && r->n_failed++ == 0)
        snprintf(r->error, sizeof r->error, "%s", error);
    r->n_interrupted += end != NULL && strcmp(end, "signal") == 0;
    r->n_client_bound += json_is_true(json_object_get(o, "client_bound"));
    r->n_no_benchmark += recorded_lacks_benchmark(o);
    add_count(&r->n_requests, o, "requests");
    add_count(&r->n_connects, o, "connects");
    add_count(&r->n_not_begun, o, "not_begun");
    add_count(&r->n_resent, o, "resent");
    if (pct > r->max_thread_cpu_pct)
        r->max_thread_cpu_pct = pct;
}

static void take_import(struct recorded_imports *m, const json_t *o)
{
    m->n++;
    m->start_ns = int64_max(m->start_ns, int64_min(count_of(o, "start_ns"), MAX_RESOLUTION_NS));
    m->duration_ns =
        int64_max(m->duration_ns, int64_min(count_of(o, "duration_ns"), MAX_RESOLUTION_NS));
    json_in_text(m->from, sizeof m->from, o, "from");
    json_in_text(m->absent, sizeof m->absent, o, "absent");
    m->is_cut |= json_is_true(json_object_get(o, "cut"));
}

static void take_damage(struct recorded_damage *d, const json_t *o)
{
    if (d->n_dropped == 0)
        json_in_text(d->first, sizeof d->first, o, "first");
    add_count(&d->n_dropped, o, "n_dropped");
    add_count(&d->n_holes, o, "n_holes");
}

bool recorded_damage_line(char **line, const struct recfile_info *info, struct err *e)
{
    const char *first = recfile_first_drop(info);

    *line = NULL;
    if (first == NULL)
        return true;
    json_t *o =
        json_pack("{s:s,s:I,s:I,s:o}", "event", "damage", "n_dropped",
                  (json_int_t)recfile_n_dropped(info), "n_holes",
                  (json_int_t)(info->n_dropped[DROP_DAMAGED_FRAME] + info->n_dropped[DROP_GARBAGE]),
                  "first", json_out_text(first));
    char *text = o != NULL ? json_dumps(o, JSON_COMPACT) : NULL;
    bool ok = text != NULL ? mem_format(line, e, "s3analyze/damage/1 %s", text) : mem_none(e);
    free(text);
    json_decref(o);
    return ok;
}

static bool take(struct recorded *r, const char *text, struct err *e)
{
    json_t *o;

    if (!json_in_parse(text, &o, e))
        return false;
    const char *event = json_string_value(json_object_get(o, "event"));
    bool opens = event != NULL && strcmp(event, "start") == 0;
    bool imports = event != NULL && strcmp(event, "import") == 0;
    if (imports)
        take_import(&r->imports, o);
    bool damaged = event != NULL && strcmp(event, "damage") == 0;
    if (damaged)
        take_damage(&r->damage, o);
    if (imports || damaged) {
        json_decref(o);
        return true;
    }
    take_clock(r, o, opens);
    machine_take(&r->machine, json_object_get(o, "machine"), o, &r->clock);
    if (opens) {
        json_t *settings = json_object_get(o, "settings");
        const char *before = json_string_value(json_object_get(o, "preparation"));

        if (r->n_runs == 0 && json_is_object(settings))
            r->settings = json_incref(settings);
        if (r->n_runs == 0)
            json_in_text(r->label, sizeof r->label, o, "label");
        if (r->n_runs++ == 0 && before != NULL)
            snprintf(r->preparation, sizeof r->preparation, "%s", before);
        else if (before == NULL || strcmp(r->preparation, before) != 0)
            r->preparation[0] = '\0';
    } else if (event != NULL && strcmp(event, "end") == 0)
        close_run(r, o);
    json_decref(o);
    return true;
}

/* Takes a comment about the machine that was written during a run. */
static bool take_machine(struct recorded *r, const char *text, struct err *e)
{
    json_t *o;

    if (!json_in_parse(text, &o, e))
        return false;
    machine_take(&r->machine, o, NULL, &r->clock);
    json_decref(o);
    return true;
}

bool recorded_add(struct recorded *r, struct lineset *said, const char *line, size_t n,
                  struct err *e)
{
    static const struct {
        const char *schema;
        bool is_machine;
    } kinds[] = {{"s3load/1 ", false},
                 {"s3analyze/import/1 ", false},
                 {"s3analyze/damage/1 ", false},
                 {"s3load/machine/1 ", true}};
    struct slice rest = {line, n};

    while (rest.n > 0 && (*rest.p == '#' || *rest.p == ' '))
        rest = slice_from(rest, 1);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!slice_begins(rest, kinds[i].schema))
            continue;
        rest = slice_from(rest, strlen(kinds[i].schema));
        char *text = strndup(rest.p, rest.n);
        bool ok = text == NULL          ? mem_none(e)
                  : kinds[i].is_machine ? take_machine(r, text, e)
                                        : take(r, text, e) && lineset_add(said, text, e);
        free(text);
        return ok;
    }
    return true;
}

bool recorded_take(struct recorded *r, const struct lineset *said, struct err *e)
{
    bool ok = true;

    for (size_t i = 0; ok && i < said->n; i++)
        ok = take(r, said->line[i], e);
    return ok;
}

/* ---- Notes ---- */

/* The notes so far. */
struct list {
    struct recorded_note *v;
    size_t n;
};

#define FIGURES(...) ((struct recorded_figure[RECORDED_MAX_FIGURES]){__VA_ARGS__})

static struct recorded_note *__attribute__((format(printf, 5, 6)))
put(struct list *l, const char *code, bool is_problem, const struct recorded_figure *figures,
    const char *fmt, ...)
{
    struct recorded_note *to = &l->v[l->n++];
    va_list args;

    *to = (struct recorded_note){.code = code, .is_problem = is_problem};
    memcpy(to->figures, figures, sizeof to->figures);
    va_start(args, fmt);
    vsnprintf(to->message, sizeof to->message, fmt, args);
    va_end(args);
    return to;
}

/* Puts the notes about some or all of the runs. */
static void put_runs(struct list *l, const struct recorded *r)
{
    const struct {
        const char *code, *figure;
        uint64_t n; /* runs */
        bool is_problem;
        const char *one, *several; /* said of the only run; of n of several runs */
        const char *cause;
    } kinds[] = {
        {"no-benchmark", "n_no_benchmark", r->n_no_benchmark, true,
         "The run ended before its benchmark began: all requests are those of the preparation",
         "ended before their benchmark began: all their requests are those of the preparation", ""},
        {"ended-by-error", "n_failed", r->n_failed, true,
         "The run was ended by an error: ", "were ended by an error, the first by: ", r->error},
        {"cut-off", "n_cut_off", r->n_runs > r->n_closed ? r->n_runs - r->n_closed : 0, false,
         "s3load's closing comment is missing: the run was killed, or the file cut, before its end",
         "have no closing comment of s3load: they were killed, or cut, before their end", ""},
        {"interrupted", "n_interrupted", r->n_interrupted, false,
         "The run was interrupted: a signal ended it before its time",
         "were interrupted: a signal ended them before their time", ""},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct recorded_figure *figures =
            FIGURES({kinds[i].figure, (double)kinds[i].n}, {"n_runs", (double)r->n_runs});

        if (kinds[i].n > 0 && r->n_runs == 1)
            put(l, kinds[i].code, kinds[i].is_problem, figures, "%s%s", kinds[i].one,
                kinds[i].cause);
        else if (kinds[i].n > 0)
            put(l, kinds[i].code, kinds[i].is_problem, figures, "%s of %s runs %s%s",
                units_count((int64_t)kinds[i].n).s, units_count((int64_t)r->n_runs).s,
                kinds[i].several, kinds[i].cause);
    }
}

static void put_imports(struct list *l, const struct recorded_imports *m)
{
    char known[120] = "";

    if (m->is_cut)
        put(l, "imported-cut", true, FIGURES({NULL, 0}),
            "The recording of %s may have ended early: the run may have gone on", m->from);
    if (m->start_ns > 0 || m->duration_ns > 0)
        snprintf(known, sizeof known, " starts are known to %.40s, durations to %.40s;",
                 units_duration(m->start_ns).s, units_duration(m->duration_ns).s);
    if (m->n > 0)
        put(l, "imported", false,
            FIGURES({"start_resolution_ns", (double)m->start_ns},
                    {"duration_resolution_ns", (double)m->duration_ns}),
            "Imported from %s:%s it lacks %s; threads are as few as the times allow", m->from,
            known, m->absent);
}

/* Whether s3load connected for at least half of the requests. The first connection of each thread
 * does not count. */
static bool connects_often(const struct recorded *r, uint64_t n_threads)
{
    int64_t n = r->n_connects - (int64_t)n_threads;
    return n > 0 && n >= r->n_requests / 2;
}

size_t recorded_notes(const struct recorded *r, uint64_t n_threads,
                      struct recorded_note notes[RECORDED_MAX_NOTES])
{
    struct list l = {notes, 0};
    int64_t n_due = int64_add_clamped(r->n_requests, r->n_not_begun);
    int64_t step_ns = llabs(r->clock_change_ns);

    put_imports(&l, &r->imports);
    put_runs(&l, r);
    if (r->n_client_bound > 0)
        put(&l, "generator-bound", true, FIGURES({"max_thread_cpu_pct", r->max_thread_cpu_pct}),
            "A thread of s3load was busy for %.0f %% of the time: the figures are those of the "
            "load generator, not of the server",
            r->max_thread_cpu_pct);
    if (r->n_not_begun > 0)
        put(&l, "not-begun", (double)r->n_not_begun >= NOT_BEGUN_PROBLEM * (double)n_due,
            FIGURES({"n_not_begun", (double)r->n_not_begun}, {"n_due", (double)n_due}),
            "%s of %s due requests were never begun: response times leave them out",
            units_count(r->n_not_begun).s, units_count(n_due).s);
    if (r->n_resent > 0)
        put(&l, "resent", false, FIGURES({"n_resent", (double)r->n_resent}),
            "s3load sent %s twice, as the server had closed the kept connection without an "
            "answer: durations count from the first time on",
            units_counted(r->n_resent, "request").s);
    if (connects_often(r, n_threads))
        put(&l, "reconnects", false,
            FIGURES({"n_connects", (double)r->n_connects}, {"n_requests", (double)r->n_requests}),
            "s3load connected %s times for %s requests: connections were not kept, and durations "
            "hold the time to connect",
            units_count(r->n_connects).s, units_count(r->n_requests).s);
    if (step_ns > CLOCK_SET_NS)
        put(&l, "clock-step", step_ns >= REFUSED_NS,
            FIGURES({"clock_change_ns", (double)r->clock_change_ns}),
            "The clock of s3load's machine was set %s by %s during the run, or it slept%s",
            r->clock_change_ns < 0 ? "back" : "forward", units_duration(step_ns).s,
            step_ns >= REFUSED_NS ? ": servers refuse what is signed with such a clock" : "");
    for (size_t i = 0; i < r->n_stops; i++)
        put(&l, "stopped", false, FIGURES({"length_ns", (double)r->stop[i].length_ns}),
            "s3load itself was stopped for %s from %.*s, or got no CPU: it sent and read nothing",
            units_duration(r->stop[i].length_ns).s, 10, rfc3339_format(r->stop[i].start_ns).s + 11)
            ->when = r->stop[i];
    return l.n;
}
