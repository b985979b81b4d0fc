#include "analyze/tools/plan/plan.h"

#include "analyze/tools/compare/compare.h"
#include "analyze/tools/plan/plan_internal.h"
#include "analyze/write/outfile.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH     "%s/plan.json"
#define SCHEMA   "s3analyze/plan/1"
#define MAX_FILE (1 << 20) /* bytes of plan.json */

const char *const plan_kind_names[] = {"capacity", "sweep", "ab", NULL};

/* ---- The question ---- */

static bool parse_levels(struct plan *p, struct err *e)
{
    const struct plan_asked *a = &p->asked;
    const struct cli_list *list = a->rate.n > 0 ? &a->rate : &a->concurrent;
    struct err why = {0};
    int64_t whole = 0;

    p->by_rate = a->rate.n > 0;
    p->n_levels = list->n;
    if ((a->rate.n > 0) == (a->concurrent.n > 0) || list->n > PLAN_MOST_LEVELS)
        return err_set(e,
                       "a sweep needs --concurrent 1,2,4,... or --rate 100,200,..., up to %d "
                       "levels",
                       PLAN_MOST_LEVELS);
    for (size_t i = 0; i < list->n; i++) {
        bool ok = p->by_rate ? units_parse_rate(list->v[i], &p->levels[i], &why)
                             : units_parse_int(list->v[i], &whole, &why);
        if (!p->by_rate)
            p->levels[i] = (double)whole;
        if (!ok || p->levels[i] <= 0)
            return err_set(e, "level %s: %s", list->v[i], ok ? "expected more than 0" : why.msg);
        for (size_t k = 0; k < i; k++)
            if (p->levels[k] == p->levels[i])
                return err_set(e, "level %s is given twice", list->v[i]);
    }
    return true;
}

/* Refuses options of the runs that the plan sets, or that leave no capture. */
static bool spares_plan(const struct plan_asked *a, struct err *e)
{
    const char *const owned[][2] = {
        {a->kind == PLAN_CAPACITY ? "rate" : "", "the search begins at --from"},
        {a->rate.n > 0 ? "rate" : "", "give the rates before --, with --rate"},
        {a->concurrent.n > 0 ? "concurrent" : "", "give them before --, with --concurrent"},
        {"benchdata", "captures go to --dir"},
        {"stress", "the plan needs the captures"},
        {"aggregate-only", "the plan needs the captures"},
    };

    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        for (size_t k = 0; k < a->given.n; k++)
            if (strcmp(a->given.v[k], owned[i][0]) == 0)
                return err_set(e, "--%s is not for the runs: %s", owned[i][0], owned[i][1]);
    return true;
}

/* Sets p->least_rate. Refuses runs that are too short to meet an assertion even at the first rate:
 * the search could never decide. */
static bool parse_length(struct plan *p, struct err *e)
{
    const struct plan_asked *a = &p->asked;
    double most = a->n_requests > 0 ? (double)a->n_requests : INFINITY,
           run_s = a->run_ns > 0 ? (double)a->run_ns / 1e9 : INFINITY;

    for (size_t i = 0; i < p->slo.n; i++) {
        const struct slo_assertion *of = &p->slo.v[i];
        double least = ceil(slo_least_requests(of));

        if (least == 0)
            continue;
        if (!isfinite(least))
            return err_set(e, "no number of requests shows that %s", of->text);
        /* The last request may be due when the run ends. */
        double at_from_s = (least + 1) / a->from;
        if (most < least || run_s < at_from_s)
            return err_set(e,
                           "runs this short never decide %s: that takes %.0f requests, and at "
                           "--from %g --duration %.0fs",
                           of->text, least, a->from, ceil(at_from_s));
        p->least_rate = fmax(p->least_rate, (least + 1) / run_s);
    }
    return true;
}

/* Fills *p from p->asked, as far as possible without runs. */
static bool parse_asked(struct plan *p, struct err *e)
{
    const struct plan_asked *a = &p->asked;
    struct compare_gate gates[RUN_N_COMPARED];

    if (a->kind == PLAN_SWEEP)
        return parse_levels(p, e);
    if (a->kind == PLAN_CAPACITY)
        return (a->slo.n > 0 || err_set(e, "capacity needs --slo: what the server must keep")) &&
               slo_parse(&p->slo, &a->slo, e) && parse_length(p, e);
    if (a->before == NULL || a->after == NULL || a->gate.n == 0 || a->gate.n > RUN_N_COMPARED)
        return err_set(e, "ab needs --before, --after and --gate, such as --gate throughput:5%%");
    return compare_parse_gates(&a->gate, gates, e);
}

bool plan_check(const struct plan_asked *a, struct err *e)
{
    struct plan p = {.asked = *a};
    bool ok = spares_plan(a, e) && parse_asked(&p, e);

    slo_free(&p.slo);
    return ok;
}

/* ---- plan.json ---- */

/* Return NULL if out of memory, or if a text is not UTF-8. */

static json_t *texts_of(const struct cli_list *l)
{
    json_t *list = json_array();
    bool ok = true;

    for (size_t i = 0; ok && i < l->n; i++)
        ok = json_array_append_new(list, json_string(l->v[i])) == 0;
    if (ok)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *json_of(const struct plan_asked *a)
{
    return json_pack("{ss ss ss so so so so ss ss sf sf sI sI sI sI sI}", "schema", SCHEMA, "plan",
                     plan_kind_names[a->kind], "command", a->command, "slo", texts_of(&a->slo),
                     "gate", texts_of(&a->gate), "concurrent", texts_of(&a->concurrent), "rate",
                     texts_of(&a->rate), "before", a->before != NULL ? a->before : "", "after",
                     a->after != NULL ? a->after : "", "from", a->from, "precision_pct",
                     a->precision_pct, "runs", (json_int_t)a->n_each, "max_runs",
                     (json_int_t)a->max_runs, "seed", (json_int_t)a->seed, "run_ns",
                     (json_int_t)a->run_ns, "requests", (json_int_t)a->n_requests);
}

static json_t *read_json(const char *path, struct err *e)
{
    json_error_t why = {.text = "no plan is there: give the folder that s3load repeat --dir made"};
    struct stat st;
    bool fits = stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= MAX_FILE;
    json_t *json = fits ? json_load_file(path, JSON_REJECT_DUPLICATES, &why) : NULL;
    const char *schema = json_string_value(json_object_get(json, "schema"));

    if (json != NULL && schema != NULL && strcmp(schema, SCHEMA) == 0)
        return json;
    json_decref(json);
    err_set(e, json != NULL ? "%s: no plan of this version" : "%s: %s", path, why.text);
    return NULL;
}

/* Whether two plans have the same question, with any seeds: *old gets that of *new. It also gets
 * what plans of version 1.0 do not have. */
static bool is_same(json_t *old, json_t *new)
{
    json_object_set(old, "seed", json_object_get(new, "seed"));
    json_object_update_missing(old, new);
    return json_equal(old, new);
}

static bool write_json(const json_t *json, const char *path, enum outfile_replaces replaces,
                       struct err *e)
{
    struct outfile out;

    return outfile_open(&out, path, replaces, e) &&
           outfile_finish(&out, json_dumpf(json, out.f, JSON_INDENT(2)) == 0 || mem_none(e), e);
}

/* Puts another plan in the place of one that has no runs yet: as a rule its options were wrong. */
static bool replace(const json_t *new, const char *path, const char *folder, struct err *e)
{
    struct plan there = {0};
    bool ok = plan_list_runs(&there, folder, e);

    if (ok && there.n > 0)
        ok = err_set(e, "%s asks for something else, and has runs: choose another folder", path);
    plan_free(&there);
    return ok && write_json(new, path, OUTFILE_ANYTHING, e);
}

bool plan_begin(const char *folder, const struct plan_asked *a, struct err *e)
{
    char *path = NULL;
    json_t *new = json_of(a), *old = NULL;
    bool ok = (new != NULL || err_set(e, "an option is not UTF-8")) &&
              mem_format(&path, e, PATH, folder) &&
              (mkdir(folder, 0777) == 0 || errno == EEXIST ||
               err_errno(e, errno, "cannot make folder %s", folder));

    if (ok && access(path, F_OK) == 0) {
        old = read_json(path, e);
        ok = old != NULL && (is_same(old, new) || replace(new, path, folder, e));
    } else if (ok) {
        ok = write_json(new, path, OUTFILE_NOTHING, e);
    }
    json_decref(old);
    json_decref(new);
    free(path);
    return ok;
}

/* ---- Reading ---- */

static bool take_texts(struct cli_list *l, const json_t *list, struct err *e)
{
    l->n = json_array_size(list);
    if (l->n > PLAN_MOST_RUNS || !mem_cleared(&l->v, l->n, e))
        return err_set(e, "too many values");
    for (size_t i = 0; i < l->n; i++) {
        l->v[i] = json_string_value(json_array_get(list, i));
        if (l->v[i] == NULL)
            return err_set(e, "a value that is no text");
    }
    return true;
}

static bool take_asked(struct plan *p, struct err *e)
{
    struct plan_asked *a = &p->asked;
    const char *kind = "";
    json_t *slo, *gate, *concurrent, *rate;
    json_int_t n_each, max_runs, seed, run_ns = 0, n_requests = 0;
    json_error_t why;

    if (json_unpack_ex(p->json, &why, 0, "{ss ss so so so so ss ss sF sF sI sI sI s?I s?I}", "plan",
                       &kind, "command", &a->command, "slo", &slo, "gate", &gate, "concurrent",
                       &concurrent, "rate", &rate, "before", &a->before, "after", &a->after, "from",
                       &a->from, "precision_pct", &a->precision_pct, "runs", &n_each, "max_runs",
                       &max_runs, "seed", &seed, "run_ns", &run_ns, "requests", &n_requests) != 0)
        return err_set(e, "%s", why.text);
    int k = cli_choice(plan_kind_names, kind);
    if (k < 0)
        return err_set(e, "no plan is called '%s'", kind);
    a->kind = (enum plan_kind)k;
    a->n_each = n_each;
    a->max_runs = max_runs;
    a->seed = seed;
    a->run_ns = run_ns;
    a->n_requests = n_requests;
    if (!(a->from > 0 && a->from <= 1e9 && a->precision_pct > 0 && n_each >= 1 && max_runs >= 1 &&
          n_each <= PLAN_MOST_RUNS && max_runs <= PLAN_MOST_RUNS))
        return err_set(e, "a number is out of range");
    return take_texts(&a->slo, slo, e) && take_texts(&a->gate, gate, e) &&
           take_texts(&a->concurrent, concurrent, e) && take_texts(&a->rate, rate, e) &&
           parse_asked(p, e);
}

/* What comes next, and what the runs so far say. */
static void decide(struct plan *p)
{
    uint64_t seed = (uint64_t)p->asked.seed;
    size_t max_runs = (size_t)p->asked.max_runs;
    const struct plan_capacity capacity = {p->asked.from, p->asked.precision_pct / 100,
                                           p->least_rate, max_runs, seed};

    switch (p->asked.kind) {
    case PLAN_CAPACITY:
        p->next = plan_capacity_next(&capacity, p->points, p->n_points);
        p->found = plan_capacity_found(p->points, p->n_points);
        p->answer = p->found.confirmed     ? SLO_MET
                    : p->found.flat_to > 0 ? SLO_MISSED
                                           : SLO_UNDECIDED;
        /* s3load will not reach a higher rate the next time, or the machine will be as busy. */
        if ((p->n > 0 && p->runs[p->n - 1].not_offered) || p->n_disturbed >= max_runs)
            p->next.done = true;
        break;
    case PLAN_SWEEP:
        p->next = plan_sweep_next(p->levels, p->n_levels, (size_t)p->asked.n_each, seed, p->points,
                                  p->n_points);
        p->answer = p->next.done || p->n >= PLAN_MOST_RUNS ? SLO_MET : SLO_UNDECIDED;
        break;
    case PLAN_AB:
        p->next = plan_ab_next(p->gates, p->n_gates, max_runs, seed, p->points, p->n_points);
        p->answer = plan_ab_answer(p->gates, p->n_gates, p->points, p->n_points);
        break;
    }
    if (p->n >= PLAN_MOST_RUNS)
        p->next.done = true;
}

bool plan_load(struct plan *p, const char *folder, struct err *e)
{
    struct err why = {0};
    bool ok = mem_format(&p->path, e, PATH, folder) && (p->json = read_json(p->path, e)) != NULL &&
              (take_asked(p, &why) || err_set(e, "%s: %s", p->path, why.msg)) &&
              plan_load_runs(p, folder, e);

    if (ok)
        decide(p);
    return ok;
}

void plan_free(struct plan *p)
{
    plan_free_runs(p);
    slo_free(&p->slo);
    free(p->asked.slo.v);
    free(p->asked.gate.v);
    free(p->asked.concurrent.v);
    free(p->asked.rate.v);
    json_decref(p->json);
    free(p->path);
    *p = (struct plan){0};
}

/* ---- What comes next ---- */

struct plan_line plan_next_line(const struct plan *p)
{
    const struct plan_asked *a = &p->asked;
    bool after = p->next.level > 0;
    struct plan_line line;
    int n =
        snprintf(line.s, sizeof line.s, "run-%03u-", p->n > 0 ? p->runs[p->n - 1].number + 1 : 1);
    char *to = line.s + n;
    size_t room = sizeof line.s - (size_t)n;

    if (a->kind == PLAN_AB)
        n = snprintf(to, room, "%s %s", after ? "after" : "before", after ? a->after : a->before);
    else
        n = snprintf(to, room, "%.10g --%s %.10g", p->next.level,
                     a->kind == PLAN_SWEEP && !p->by_rate ? "concurrent" : "rate", p->next.level);
    if (n < 0 || (size_t)n >= room)
        line.s[0] = '\0';
    return line;
}

double plan_change_frac(const struct plan *p, size_t gate, double theta)
{
    return metrics[p->gates[gate].metric].kind == METRIC_DIFFERENCE ? theta : expm1(theta);
}
