#include "loadgen/run/bench.h"

#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/secret.h"
#include "libcommon/visible.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICK_MS 100

/* ---- The bucket ---- */

static bool confirm(struct bench *b, struct err *e)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char answer[16] = "";

    if (b->o->data.yes)
        return true;
    if (!isatty(STDIN_FILENO))
        return err_set(e, "--clear-bucket deletes all that bucket '%s' holds: --yes confirms it",
                       b->o->bucket);
    char *bucket = visible_copy(b->o->bucket, NULL);
    if (bucket == NULL)
        return mem_none(e);
    fprintf(stderr, "Delete all that bucket '%s' holds? Type yes: ", bucket);
    free(bucket);
    /* A signal goes to a thread of its own and does not interrupt fgets, so wait for input
     * before. */
    while (poll(&input, 1, TICK_MS) == 0) {
        team_poll(&b->team);
        if (bench_is_interrupted(b))
            return err_set(e, "interrupted");
    }
    if (fgets(answer, sizeof answer, stdin) == NULL || strcmp(answer, "yes\n") != 0)
        return err_set(e, "nothing was deleted");
    return true;
}

/* Checks for objects of others. They are never touched; ours are put beside them only if the user
 * says so. */
static bool check_content(struct bench *b, struct err *e)
{
    const struct options *o = b->o;
    struct bucket_content content;

    if (o->data.no_clear || *o->prefix != '\0' || o->data.list_existing || o->data.clear_bucket)
        return true;
    if (!bucket_look(&b->control, &content, e))
        return false;
    if (content.n_foreign > 0)
        return err_set(e,
                       "bucket '%s' holds %s%s of others: name another bucket, or put "
                       "objects beside them with --prefix TEXT or --noclear (they are not touched)",
                       o->bucket, content.more_foreign ? "at least " : "",
                       units_counted((int64_t)content.n_foreign, "object").s);
    if (content.n_runs > 0 && b->screen.enabled) {
        bool prefixed = *content.prefix != '\0';
        char *words[] = {"s3load",       "clean", "--dry-run", prefixed ? "--prefix" : NULL,
                         content.prefix, NULL};
        char what[120];

        snprintf(what, sizeof what, "The bucket holds objects of %s of s3load, which this shows",
                 units_counted((int64_t)content.n_runs, "other run").s);
        bench_show_command(stderr, what, words);
    }
    return true;
}

/* Prints what may take long: the wait for --syncstart, the uploads before the benchmark; even if
 * standard error is no terminal. */
static void say_plan(const struct bench *b)
{
    const struct options *o = b->o;
    double n = (double)work_n_prepare(&b->work), size = (double)o->data.size_bytes;
    const char *most = o->data.random_sizes ? "up to " : "";

    if (o->syncstart != NULL && !o->show.quiet)
        fprintf(stderr, "The run starts in %s, at %.19sZ (--syncstart)\n",
                units_duration(o->load.syncstart_ns - clock_real_ns()).s,
                rfc3339_format(o->load.syncstart_ns).s);
    if (b->kind->prepares && !o->data.list_existing && !o->show.quiet)
        fprintf(stderr, "Preparing %s of %s%s, %s%s in all\n",
                units_counted((int64_t)n, "object").s, most, units_size(size).s, most,
                units_size(n * size).s);
}

/* Warns of a proxy that the environment names, as the run measures the proxy too. */
static void say_proxy(const struct bench *b)
{
    const struct engine *g = &b->engine;
    const char *except = getenv("no_proxy") != NULL ? getenv("no_proxy") : getenv("NO_PROXY");

    if (g->proxied_by != NULL)
        bench_say_of_all(b,
                         "requests go through the proxy %s, as %s says%s%s; --no-proxy changes it",
                         g->proxy, g->proxied_by, except != NULL ? ", but for no_proxy=" : "",
                         except != NULL ? except : "");
}

/* Makes the bucket and checks its contents. Only rank 0 does this. */
static bool make_bucket(struct bench *b, struct err *e)
{
    bool made = false;

    if (b->team.rank > 0)
        return true;
    say_proxy(b);
    return bucket_make(&b->control, &b->work, &made, e) && check_content(b, e) &&
           (!b->o->data.clear_bucket || confirm(b, e)) &&
           bucket_ready(&b->control, &b->work, made, e);
}

/* With --list-existing, fills this rank's pool with its share of the objects in the bucket. */
static bool take_existing(struct bench *b, struct err *e)
{
    uint64_t max = b->o->data.objects_given ? (uint64_t)b->o->data.n_objects : 0;

    return !b->o->data.list_existing || bucket_list(&b->control, &b->work, max, e);
}

/* Prints where captures and objects are left if the run is killed: launchers may kill all ranks at
 * once, before they can print anything. */
static void say_parts(const struct bench *b)
{
    const struct options *o = b->o;
    char last[sizeof b->out.part];

    if (o->show.quiet)
        return;
    parts_name(b->out.path, b->team.size - 1, last, sizeof last);
    if (!o->show.stress)
        bench_say_of_all(b, "run %s, %d ranks, which record into %s to %s", b->o->run_id,
                         b->team.size, b->out.part, last);
    visible_line(stderr, "If it is killed, this deletes its objects: %s", b->cleans);
}

/* Empties the bucket with --clear-bucket, now that all ranks record. Only rank 0 does this. */
static bool clear_bucket(struct bench *b, struct err *e)
{
    struct err cause = {0};
    enum s3op_kind kind;

    if (b->team.rank > 0)
        return true;
    if (b->has_parts)
        say_parts(b);
    say_plan(b);
    if (!b->o->data.clear_bucket)
        return true;
    b->sweep.root = "";
    return (bucket_listing(&b->control, "", &kind, &cause) &&
            sweep_all(&b->sweep, SWEEP_NOTHING, SWEEP_PREFIX, kind, &cause)) ||
           err_set(e, "cannot clear bucket '%s': %s", b->o->bucket, cause.msg);
}

/* ---- End ---- */

/* Makes s3analyze print a report and judge assertions. With --json only its exit status is used. */
static bool analyse(struct bench *b, struct err *e)
{
    const struct cli_list *slo = &b->o->show.slo;
    char **words;
    size_t n = 2;

    if (!mem_cleared(&words, 2 * slo->n + 5, e))
        return false;
    words[0] = "s3analyze";
    words[1] = "analyze";
    for (size_t i = 0; i < slo->n; i++) {
        words[n++] = "--slo";
        words[n++] = (char *)slo->v[i];
    }
    words[n++] = "--";
    words[n] = b->out.path;
    int to = b->o->show.json ? SIBLING_NOWHERE : STDOUT_FILENO;
    int status = sibling_run(words, to, team_tick, &b->team);
    bool judged = slo->n > 0 && status != -1;
    if (judged) {
        b->judged = status;
    } else if (status != EXIT_DONE) {
        words[n] = b->summary.capture_goes ? b->out.sums : b->out.path;
        bench_show_command(b->o->show.json ? stderr : stdout, "To analyse it", words);
    }
    free(words);
    return slo->n == 0 || judged || err_set(e, "s3analyze could not judge the assertions");
}

/* Prints the result of the run, and makes s3analyze print more. False: *e says why. */
static bool report(struct bench *b, struct err *e)
{
    const struct summary *s = &b->summary;
    struct strbuf text = {0};

    if (b->o->show.json)
        summary_put_json(&text, b);
    else if (s->bench_ns > 0 || bench_is_interrupted(b) || s->prepare_ns > 0)
        summary_put_line(&text, b);
    bool ok = !text.failed || mem_none(e);
    if (ok && text.n > 0)
        fputs(text.s, b->out.to_stdout ? stderr : stdout);
    strbuf_fini(&text);
    bool judges = b->o->show.slo.n > 0;
    if (!ok || (b->o->show.json && !judges) || s->capture == NULL || b->out.to_stdout)
        return ok;
    if (!b->o->show.json)
        visible_line(stdout, "Capture: %s%s", b->out.path,
                     s->capture_goes ? " (deleted after this report: --aggregate-only)" : "");
    if (s->counts.n_requests > 0)
        return analyse(b, e);
    if (judges && s->bench_ns > 0) {
        bench_say_of_all(b, "the benchmark ended before its first request: --slo is undecided");
        b->judged = EXIT_UNDECIDED;
    }
    return true;
}

/* Warns of what may have distorted the measurement, and the report of s3analyze does not say. */
static void warn(const struct bench *b)
{
    const struct summary *s = &b->summary;

    if (s->n_waits > 0)
        bench_say_of_all(b, "workers waited %s, %s in all, for the capture to be written",
                         units_counted((int64_t)s->n_waits, "time").s,
                         units_duration(s->waits_ns).s);
    if (s->n_object_waits > 0)
        bench_say_of_all(b,
                         "workers waited %s for an object that no other used: there are too few "
                         "for --concurrent",
                         units_counted((int64_t)s->n_object_waits, "time").s);
}

/* Warns of servers with wrong clocks. */
static void warn_of_clocks(const struct bench *b)
{
    int64_t off_ns = 0;
    size_t n_off = 0;
    size_t worst = 0;

    for (size_t i = 0; i < b->engine.hosts.n; i++) {
        int64_t ns = summary_host_off_ns(b, i);
        n_off += llabs(ns) > NS_PER_S;
        if (llabs(ns) > llabs(off_ns)) {
            off_ns = ns;
            worst = i;
        }
    }
    if (n_off > 0)
        bench_say(b,
                  "the clocks of %zu of %zu servers are off by more than 1 s: that of %s is at "
                  "least %s %s this machine's",
                  n_off, b->engine.hosts.n, b->engine.hosts.host[worst].endpoint,
                  units_duration(llabs(off_ns)).s, off_ns > 0 ? "ahead of" : "behind");
}

static bool tell(struct bench *b, struct err *e)
{
    if (b->control.crew.n_loops > 0)
        warn_of_clocks(b);
    if (b->crew.n_loops == 0)
        return true;
    /* Rank 0 has the figures of all ranks, unless one is lost. */
    if (b->team.rank == 0 || b->team.lost)
        warn(b);
    bool ok = bench_sum_up(b, e);
    ok = (b->team.rank > 0 || report(b, e)) && ok;
    ok = bench_finish_sums(b, e) && ok;
    /* Cleaning may take long; show the result before it. */
    fflush(stdout);
    return ok;
}

/* Counts what was stored and in no listing of any rank: servers may list late, or give keys other
 * names. Tries to delete what is in the pool by name. */
static void check_listed(struct bench *b, bool deletes, enum s3op_kind kind)
{
    struct work *k = &b->work;
    const struct strbuf mine = {.s = (char *)k->noted, .n = k->n_noted * sizeof *k->noted};

    team_meet(&b->team, true, NULL);
    for (int by = 1; by < b->team.size && !b->team.lost; by++) {
        struct strbuf theirs = {0};
        bool ok = team_swap(&b->team, by, &mine, &theirs, NULL);

        const uint64_t(*noted)[WORK_N_NOTED] = (void *)theirs.s;
        for (size_t i = 0; ok && i < k->n_noted && i < theirs.n / sizeof *noted; i++)
            k->noted[i][WORK_LISTED] |= noted[i][WORK_LISTED];
        if (!b->team.lost)
            strbuf_fini(&theirs);
    }
    b->n_stored = work_count_stored(k, false);
    /* Where there are versions, a name alone only hides the object. */
    if (deletes && (kind == S3OP_LIST || b->kind->versions) && work_count_stored(k, true) > 0) {
        sweep_pass(&b->sweep, SWEEP_NAMES, S3OP_DELETE, NULL);
        sweep_pass(&b->sweep, SWEEP_NAMES, S3OP_STAT, NULL);
    }
    b->n_unlisted = work_count_stored(k, true);
    team_meet(&b->team, true, NULL);
}

/* Whether this run is to delete anything at its end. */
static bool is_to_clean(const struct bench *b)
{
    return b->uploaded && b->crew.n_loops > 0 && (!b->o->data.no_clear || b->kind->uploads);
}

/* The last ending. Deletes what this run has uploaded; with --noclear only its unfinished uploads,
 * which no one can use. Each rank deletes the folders of its workers, then rank 0 deletes the rest.
 * On failure *e says why something may be left. */
static bool clean(struct bench *b, struct err *e)
{
    struct sweep *s = &b->sweep;
    enum s3op_kind kind = S3OP_LIST;
    struct err cause = {0};
    struct err unknown = {0};

    if (!is_to_clean(b))
        return team_meet(&b->team, true, e);
    b->waiting_ns = 0;
    b->said_waiting = false;
    s->root = b->work.root;
    atomic_store(&s->n_deleted, 0);
    bool ok = (signals_let_finish(&b->signals) || err_set(&cause, "interrupted")) &&
              work_begin_listing(&b->work, (uint64_t)b->team.all.max[TEAM_NEW], &cause);
    /* Servers may list an object after it was deleted, or show its versions and markers. */
    s->n_most = b->team.lost ? UINT64_MAX : 1000 + 4 * b->work.n_ids;
    bool deletes = ok && !b->o->data.no_clear;
    /* If uploads were answered with versions, deleting without them would only hide the objects. */
    if (deletes && !bucket_listing(&b->control, s->root, &kind, &unknown)) {
        deletes = !b->kind->versions && !atomic_load(&b->work.saw_version);
        if (b->control.result.timed_out)
            err_set(&s->ended, "%s", unknown.msg);
    }
    if (deletes && !b->o->data.no_prefix)
        sweep_pass(s, SWEEP_DIRS, kind, NULL);
    team_meet(&b->team, true, NULL);
    /* If an answer was lost, there may be an upload that we do not know. MinIO lists an upload only
     * if the prefix is its whole key, or in a list of the whole bucket. */
    bool lost = b->summary.counts.n_errors > 0 || b->summary.n_resent > 0;
    enum sweep_scope uploads = !b->kind->uploads ? SWEEP_NOTHING
                               : lost            ? SWEEP_BUCKET
                                                 : SWEEP_PREFIX;
    if (b->team.rank == 0)
        ok = ok && sweep_all(s, uploads, deletes ? SWEEP_PREFIX : SWEEP_NOTHING, kind, &cause) &&
             (unknown.msg[0] == '\0' || err_set(&cause, "%s", unknown.msg));
    if (!b->o->data.no_clear)
        check_listed(b, deletes, kind);
    if (b->team.rank > 0)
        return true;
    if (s->other.msg[0] != '\0')
        bench_say_of_all(b, SWEEP_KEEPS, s->other.msg);
    bool unlisted = ok && !b->team.lost && b->team.all.sum[TEAM_UNLISTED] > 0;
    if (unlisted)
        ok =
            err_set(&cause, "%s of %s %s not listed", units_count(b->team.all.sum[TEAM_UNLISTED]).s,
                    units_counted(b->team.all.sum[TEAM_STORED], "object").s,
                    b->team.all.sum[TEAM_UNLISTED] == 1 ? "was" : "were");
    ok = ok && (!b->team.lost || team_lost(&b->team, &cause));
    return ok || err_set(e, "%s", cause.msg);
}

/* ---- The plan ---- */

/* The stages of a run. All ranks meet after each stage. If one fails, all continue with the
 * endings. */
/* clang-format off */
static const struct stage {
    bool (*run)(struct bench *b, struct err *e);
    bool unless_interrupted;
} plan[] = {
    {bench_set_up, false},
    {make_bucket, false},
    {take_existing, false},
    {bench_record, false},
    {bench_make_crew, false},
    {clear_bucket, false},
    {bench_prepare, false},
    {serverprof_begin, true},
    {bench_warm_up, true},
    {bench_agree_on_start, true},
    {bench_load, true},
    {bench_has_succeeded, true},
};

/* The endings run in any case, whatever failed. */
static bool (*const endings[])(struct bench *b, struct err *e) = {
    bench_close_capture,
    serverprof_end,
    bench_gather,
    tell,
    clean,
};
/* clang-format on */

#define N_STAGES  (sizeof plan / sizeof *plan)
#define N_ENDINGS (sizeof endings / sizeof *endings)

/* Prints how a failed run ended, in at most three lines: what happened on this rank, what is left
 * on the server, and the command that deletes it. */
static void say_end(const struct bench *b, const struct err ended[static N_ENDINGS])
{
    bool cleans = is_to_clean(b);
    const struct err *left = &ended[N_ENDINGS - 1];
    struct strbuf what = {0};

    if (strcmp(b->failed.msg, team_other_failed) != 0 &&
        (!bench_is_interrupted(b) || strcmp(b->failed.msg, "interrupted") != 0))
        strbuf_puts(&what, b->failed.msg);
    for (const struct err *e = ended; e < left + !cleans; e++)
        if (e->msg[0] != '\0' && strcmp(e->msg, b->failed.msg) != 0 &&
            strcmp(e->msg, team_other_failed) != 0)
            strbuf_printf(&what, "%s%s", what.n > 0 ? "; " : "", e->msg);
    if (what.n > 0)
        bench_say(b, "%s", what.s);
    strbuf_fini(&what);
    if (!cleans || left->msg[0] == '\0')
        return;
    bool known = strcmp(left->msg, b->failed.msg) == 0;
    bench_say_of_all(b, "%s of this run may be left under %s in bucket '%s'%s%s%s",
                     b->o->data.no_clear ? "unfinished uploads" : "objects", b->work.root,
                     b->o->bucket, known ? "" : " (", known ? "" : left->msg, known ? "" : ")");
    visible_line(stderr, "To delete them, as far as the server lists them: %s", b->cleans);
}

static int run(struct bench *b)
{
    struct err errors[N_ENDINGS] = {{{0}, false}};
    bool ok = true;

    for (const struct stage *s = plan; ok && s < &plan[N_STAGES]; s++) {
        /* Whether a signal came before the last meeting; the same in all ranks. */
        bool over = b->team.lost ? bench_is_interrupted(b) : b->team.all.max[TEAM_SIGNAL] > 0;
        if (!s->unless_interrupted || !over)
            ok = s->run(b, &b->failed);
        ok = team_meet(&b->team, ok, &b->failed);
    }
    for (size_t i = 0; i < N_ENDINGS; i++)
        ok = endings[i](b, &errors[i]) && ok;
    b->status = ok ? b->judged : EXIT_FAILED;
    say_end(b, errors);
    if (atomic_load(&b->signals.n) > 0)
        b->status = 128 + atomic_load(&b->signals.first);
    team_meet(&b->team, true, NULL);
    if (b->team.lost)
        team_abort(&b->team, b->status > EXIT_FAILED ? b->status : EXIT_FAILED);
    return (int)b->team.all.max[TEAM_STATUS];
}

/* ---- Ranks ---- */

/* Runs the plan, or what the command does instead. Returns the exit code. */
static int start(const char *program, const struct cli_command *command, const struct options *o)
{
    struct bench *b = calloc(1, sizeof *b);

    if (b == NULL) {
        fprintf(stderr, "%s: out of memory\n", program);
        return EXIT_FAILED;
    }
    b->args = (struct cli_args){.program = program, .command = command};
    b->o = o;
    b->kind = command->ctx;
    b->team = (struct team){.rank = ranks_rank(),
                            .size = b->kind->instead != NULL ? 1 : ranks_size(),
                            .timeout_ns = o->ranks.timeout_ns,
                            .fill = bench_figures,
                            .ctx = b};
    int status = b->kind->instead != NULL ? b->kind->instead(b) : run(b);
    bench_tear_down(b);
    free(b);
    return status;
}

/* Sends the command and its options to the other ranks. */
static bool hand_out(const struct cli_command *command, const struct options *o, struct err *e)
{
    size_t n = 0;

    if (ranks_size() == 1)
        return true;
    char *data = options_pack(o, &n);
    bool ok = data != NULL ? team_begin(command->name, data, n, e) : mem_none(e);
    secret_free(data);
    return ok;
}

/* Refuses a mix of nothing, and --bytes for a command that moves none: it would never end. */
static bool check_load(const struct cli_command *command, const struct options *o, struct err *e)
{
    const struct workload *kind = command->ctx;
    double shares = o->request.get_share + o->request.stat_share + o->request.put_share +
                    o->request.delete_share;

    if (kind->mixed && shares <= 0)
        return err_set(e, "the shares of the mix are all 0: give --get-distrib or another one");
    for (const char *p = o->prefix, *end; (end = strchr(p, '/')) != NULL; p = end + 1)
        if (!o->data.list_existing && end - p <= 2 && p + strspn(p, ".") == end)
            return err_set(e,
                           "--prefix '%s': some servers change keys that begin with '/' or have an "
                           "empty part, '.' or '..', and cleaning would not find them",
                           o->prefix);
    return !kind->no_payload || o->load.n_bytes == 0 ||
           err_set(e, "--bytes: %s moves no bytes of objects: use --requests or --duration",
                   command->name);
}

bool bench_complete(const struct cli_args *args, struct options *o, struct err *e)
{
    return options_complete(o, args, e) && check_load(args->command, o, e);
}

int bench_main(const struct cli_args *args, void *options)
{
    const struct workload *kind = args->command->ctx;
    struct options *o = options;
    struct err e = {0};
    int status;

    bool ok = kind->instead != NULL ? options_complete(o, args, &e) : bench_complete(args, o, &e);
    bool wrong = !ok && !o->failed;
    ok = ok && (kind->instead != NULL || hand_out(args->command, o, &e));
    if (ok)
        status = start(args->program, args->command, o);
    else
        status = wrong ? cli_wrong_usage(args, "%s", e.msg) : cli_failed(args, &e);
    options_free(o);
    return status;
}

int bench_follow(const struct cli_program *program)
{
    struct team_order head;
    struct options o;
    struct err e = {0};
    char *data = NULL;

    while (team_follow(&head, &data)) {
        const struct cli_command *const *c = program->commands;
        while (strcmp((*c)->name, head.command) != 0)
            c++;
        if (!options_unpack(&o, data, head.n_options, &e))
            team_fail(e.msg);
        secret_free(data);
        start(program->name, *c, &o);
        options_free(&o);
    }
    return head.status;
}
