#include "loadgen/run/bench_setup.h"

#include "libcommon/mem.h"
#include "libcommon/secret.h"
#include "libcommon/units.h"
#include "libcommon/visible.h"
#include "loadgen/load/worker.h"
#include "loadgen/ranks/lead.h"
#include "loadgen/ranks/parts.h"
#include "loadgen/run/bucket.h"
#include "loadgen/run/cleanup.h"
#include "loadgen/util/clock.h"
#include "loadgen/util/sibling.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#define TICK_MS 100

/* How long a look at the clock is put off while the start is waited for. */
#define START_NAP_NS (10 * CLOCK_NS_PER_MS)

/* Ranks start so much later than they agree on it: all must know of it by then. */
#define START_NS (200 * CLOCK_NS_PER_MS)

/* ---- The bucket ---- */

static bool confirm(struct bench *b, struct err *e)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char answer[16] = "";

    if (b->o->yes)
        return true;
    if (!isatty(STDIN_FILENO))
        return err_set(e, "--clear-bucket deletes all that bucket '%s' holds: add --yes to say so",
                       b->o->bucket);
    fputs("Delete all that bucket '", stderr);
    visible_put(stderr, b->o->bucket);
    fputs("' holds? Type yes: ", stderr);
    /* Signals go to a thread of their own and end no read. */
    while (poll(&input, 1, TICK_MS) == 0) {
        team_poll(&b->team);
        if (bench_is_interrupted(b))
            return err_set(e, "interrupted");
    }
    if (fgets(answer, sizeof answer, stdin) == NULL || strcmp(answer, "yes\n") != 0)
        return err_set(e, "nothing was deleted");
    return true;
}

/* Data of others is not touched, and not mixed with ours unless that is meant. */
static bool check_content(struct bench *b, struct err *e)
{
    const struct options *o = b->o;
    struct bucket_content content;

    if (o->no_clear || *o->prefix != '\0' || o->list_existing || o->clear_bucket)
        return true;
    if (!bucket_look(&b->control, &content, e))
        return false;
    if (content.n_foreign > 0)
        return err_set(e,
                       "bucket '%s' holds %s%llu object%s of others: name another bucket, or say "
                       "with --prefix TEXT or --noclear that objects are to be put beside them "
                       "(they are not touched)",
                       o->bucket, content.more_foreign ? "at least " : "",
                       (unsigned long long)content.n_foreign, content.n_foreign == 1 ? "" : "s");
    if (content.n_runs > 0 && b->screen.enabled) {
        bool prefixed = *content.prefix != '\0';
        char *words[] = {"s3load",       "clean", "--dry-run", prefixed ? "--prefix" : NULL,
                         content.prefix, NULL};
        char what[120];

        snprintf(what, sizeof what,
                 "The bucket holds objects of %llu other run%s of s3load, which this shows",
                 (unsigned long long)content.n_runs, content.n_runs == 1 ? "" : "s");
        bench_show_command(stderr, what, words);
    }
    return true;
}

/* Makes and looks at the bucket, which is rank 0's. */
static bool make_bucket(struct bench *b, struct err *e)
{
    bool made = false;

    if (b->team.rank > 0)
        return true;
    bench_say_proxy(b);
    bool ok = bucket_make(&b->control, &b->work, &made, e) && check_content(b, e) &&
              (!b->o->clear_bucket || confirm(b, e)) &&
              bucket_ready(&b->control, &b->work, made, e);
    if (ok)
        bench_say_plan(b);
    return ok;
}

/* Takes what the bucket holds into the pool, if only that is to be used, and begins the capture. */
static bool record(struct bench *b, struct err *e)
{
    uint64_t max = b->o->objects_given ? (uint64_t)b->o->n_objects : 0;

    team_measure_clock(&b->team, b->engine.offset_ns, 0);
    return (!b->o->list_existing || bucket_list(&b->control, &b->work, max, e)) &&
           bench_start_recording(b, e);
}

static bool clear_bucket(struct bench *b, struct err *e)
{
    b->has_parts = b->team.size > 1;
    if (b->team.rank > 0)
        return true;
    if (b->has_parts)
        bench_say_parts(b);
    return !b->o->clear_bucket || cleanup_clear_bucket(b, e);
}

/* ---- Preparation and start ---- */

static bool prepare(struct bench *b, struct err *e)
{
    struct work *k = &b->work;
    int64_t from_ns = clock_now_ns();

    if (b->o->list_existing)
        return true;
    b->uploaded = true;
    snprintf(b->left, sizeof b->left,
             "\ns3load: objects may be left: s3load clean --run %s, with the bucket and prefix of "
             "this run, deletes them\n",
             b->run_id);
    if (b->team.rank == 0)
        atomic_store(&b->signals.left, b->left);
    if (!b->kind->prepares)
        return true;
    b->preparing = true;
    b->phase = (struct phase){.next = work_prepare_next,
                              .done = work_prepare_done,
                              .ctx = k,
                              .start_ns = from_ns,
                              .end_ns = CLOCK_NEVER};
    bool ok = bench_run_phase(b, e);
    b->preparing = false;
    b->summary.n_prepared = k->n_objects;
    b->summary.n_not_prepared = k->n_failed;
    b->summary.prepare_ns = clock_now_ns() - from_ns;
    if (!ok || bench_is_interrupted(b) || b->team.all.sum[TEAM_ENDING] > 0)
        return ok;
    if (k->n_objects == 0)
        return err_set(e, "none of the first %llu uploads succeeded: %s",
                       (unsigned long long)k->n_failed, k->error.msg);
    if (k->n_failed > 0)
        bench_say(b, "%llu of %llu uploads of the preparation failed, the first with: %s",
                  (unsigned long long)k->n_failed, (unsigned long long)work_n_prepare_own(k),
                  k->error.msg);
    if (b->kind->mixed && k->n_objects < k->n_workers)
        bench_say(b, "there are fewer objects (%zu) than workers (%u): some will wait for one",
                  k->n_objects, k->n_workers);
    k->n_failed = 0;
    err_clear(&k->error);
    if (b->kind->versions && k->objects[0].version == NULL)
        return err_set(e, "the server gives its objects no version ids");
    return true;
}

/* Brings what was uploaded to the ranks that are to use it, by --read-shift. */
static bool shift_pools(struct bench *b, struct err *e)
{
    int by = (int)(b->o->ranks.read_shift % b->team.size);
    unsigned from = (unsigned)((b->team.rank + by) % b->team.size);
    struct strbuf mine = {0};
    struct strbuf theirs = {0};

    if (by == 0)
        return true;
    work_pack_pool(&b->work, &mine);
    bool packed = !mine.failed;
    /* Without memory it is an empty pool that goes out, so that none waits in vain. */
    if (!packed)
        strbuf_clear(&mine);
    bool ok = team_swap(&b->team, by, &mine, &theirs, e) && (packed || mem_none(e)) &&
              work_unpack_pool(&b->work, theirs.s, theirs.n, from, e);
    if (!b->team.lost) {
        strbuf_fini(&mine);
        strbuf_fini(&theirs);
    }
    return ok;
}

/* Finds when to start, not before --syncstart, by the clock of what rank 0 records. */
static bool agree_on_start(struct bench *b, struct err *e)
{
    bool ok = shift_pools(b, e);
    team_measure_clock(&b->team, b->engine.offset_ns, 1);
    int64_t now_ns = clock_now_ns() + b->engine.offset_ns;
    int64_t rest_ns = b->o->syncstart != NULL ? b->o->syncstart_ns - clock_real_ns() : 0;
    int64_t least_ns = b->team.size > 1 ? START_NS : 0;

    if (b->team.rank > 0)
        return ok;
    if (b->o->syncstart != NULL && rest_ns <= least_ns)
        bench_say_of_all(b, "--syncstart passed during the preparation: the run starts late");
    b->agreed_ns = now_ns + (rest_ns > least_ns ? rest_ns : least_ns);
    return ok;
}

/* To the start: of one rank that of --syncstart, by the wall clock, which may be set meanwhile; of
 * several what they have agreed on. */
static int64_t rest_ns(const struct bench *b)
{
    if (b->team.size > 1)
        return b->start_ns - clock_now_ns();
    return b->o->syncstart != NULL ? b->o->syncstart_ns - clock_real_ns() : 0;
}

static void wait_for_start(struct bench *b)
{
    b->start_ns = b->team.all.max[TEAM_START_NS] + b->team.clocks[1].ahead_ns - b->engine.offset_ns;
    int64_t ns = rest_ns(b);
    if (ns < 0 && b->team.size > 1)
        bench_say(b, "learned of the start %s late", units_duration(-ns).s);
    for (; ns > 0 && !bench_is_interrupted(b); ns = rest_ns(b)) {
        team_poll(&b->team);
        bench_renew_credentials(b);
        clock_sleep_ns(clock_earlier(ns, START_NAP_NS));
    }
}

/* ---- The benchmark ---- */

static int64_t ns_of(struct timeval t)
{
    return t.tv_sec * CLOCK_NS_PER_S + t.tv_usec * 1000;
}

/* Requests of an open loop, of this rank, that were due before the end and were never begun. */
static uint64_t not_begun(const struct phase *p, int64_t end_ns, uint64_t n_begun)
{
    int64_t until_ns = clock_earlier(end_ns, p->end_ns);
    double seconds = (double)(until_ns - p->start_ns) / 1e9;
    double n_least = (seconds * p->rate - (double)p->first_ticket) / (double)p->ticket_step - 2;
    uint64_t n_due = n_least > (double)n_begun ? (uint64_t)n_least : n_begun;

    /* A quotient in floating point may be off by one: their due times say which is the last. */
    while (p->rate > 0 && worker_due_ns(p, n_due) < until_ns)
        n_due++;
    return n_due - n_begun;
}

/* Whether the time is over; in an open loop, for the next request that would be due. */
static bool is_through(const struct phase *p, int64_t now_ns)
{
    uint64_t n = p->rate > 0 ? atomic_load(&p->n_tickets) : 0;

    return now_ns >= p->end_ns || (n > 0 && worker_due_ns(p, n - 1) >= p->end_ns);
}

/* What was done and used up to a moment. */
struct reading {
    struct recorder_state recorded;
    struct crew_counts crew;
    struct rusage cpu;
};

static struct reading take_reading(struct bench *b)
{
    struct reading r;

    recorder_drain(b->recorder);
    getrusage(RUSAGE_SELF, &r.cpu);
    r.recorded = recorder_look(b->recorder);
    r.crew = crew_counts(&b->crew);
    return r;
}

/* The figures of the benchmark, between two readings. */
static void sum_up_bench(struct bench *b, const struct reading *from, const struct reading *to)
{
    struct summary *s = &b->summary;
    const struct recorder_counts *old = &from->recorded.counts;
    const struct recorder_counts *now = &to->recorded.counts;
    int64_t writer_ns = to->recorded.cpu_ns - from->recorded.cpu_ns;
    int64_t loop_ns = to->crew.most_cpu_ns;

    s->counts =
        (struct recorder_counts){now->n_requests - old->n_requests, now->n_errors - old->n_errors,
                                 now->n_objects - old->n_objects, now->n_bytes - old->n_bytes};
    s->n_connects = (uint64_t)(to->crew.n_connects - from->crew.n_connects);
    s->digest_ns = to->crew.digest_ns - from->crew.digest_ns;
    s->user_ns = ns_of(to->cpu.ru_utime) - ns_of(from->cpu.ru_utime);
    s->system_ns = ns_of(to->cpu.ru_stime) - ns_of(from->cpu.ru_stime);
    s->max_thread_pct = 100 * (double)(loop_ns > writer_ns ? loop_ns : writer_ns) /
                        (double)(s->bench_ns > 0 ? s->bench_ns : 1);
    s->n_object_waits = b->work.n_object_waits;
    s->n_waits = to->recorded.n_waits;
    s->waits_ns = to->recorded.waits_ns;
    s->autoterm = to->recorded.stop;
}

static bool load(struct bench *b, struct err *e)
{
    struct summary *s = &b->summary;
    struct recorder_tick dropped;

    wait_for_start(b);
    if (bench_is_interrupted(b))
        return true;
    const struct reading before = take_reading(b);
    int64_t from_ns = b->team.size == 1 ? clock_now_ns() : b->start_ns;
    recorder_take_tick(b->recorder, &dropped);
    s->end = NULL;
    b->phase = (struct phase){.next = work_bench_next,
                              .done = work_bench_done,
                              .ctx = &b->work,
                              .start_ns = from_ns,
                              .end_ns = CLOCK_NEVER - b->o->duration_ns > from_ns
                                            ? from_ns + b->o->duration_ns
                                            : CLOCK_NEVER,
                              .rate = b->o->rate,
                              .first_ticket = b->engine.rank,
                              .ticket_step = b->engine.n_ranks};
    bool ok = bench_run_phase(b, e);
    int64_t end_ns = clock_now_ns();
    const struct reading after = take_reading(b);
    s->bench_ns = end_ns - from_ns;
    sum_up_bench(b, &before, &after);
    s->n_not_begun = not_begun(&b->phase, end_ns, s->counts.n_requests);
    bool drained = s->end == NULL && work_is_drained(&b->work);
    if (drained)
        s->end = "no objects left";
    if (s->end == NULL)
        s->end = bench_is_interrupted(b)         ? "signal"
                 : is_through(&b->phase, end_ns) ? "duration"
                                                 : "done";
    if (ok && drained)
        return err_set(e, "no objects left, as uploads failed, the first request to fail with: %s",
                       b->work.first_error.msg);
    if (ok && b->work.n_failed > 0)
        return err_set(e, "%s", b->work.error.msg);
    return ok;
}

/* Whether anything succeeded, of all ranks: who has errors says the first. */
static bool has_succeeded(struct bench *b, struct err *e)
{
    const char *of_all = b->team.size > 1 ? " of all ranks" : "";
    const char *first = b->work.first_error.msg;
    struct recorder_counts all;

    /* The first sums beyond the team's own are these counts. */
    memcpy(&all, &b->team.all.sum[TEAM_FREE], sizeof all);
    bool none = all.n_requests > 0 && all.n_errors == all.n_requests;
    bool no_part = b->kind->uploads && all.n_bytes == 0 && all.n_errors > 0;
    bool no_batch = b->o->batch > 1 && strncmp(first, "HTTP 501", 8) == 0;
    if (!none && !no_part)
        return true;
    if (b->summary.counts.n_errors == 0)
        return err_set(e, "%s", team_other_failed);
    if (none)
        return err_set(e, "none of %llu request%s%s succeeded, the first failed with: %s%s",
                       (unsigned long long)all.n_requests, all.n_requests == 1 ? "" : "s", of_all,
                       first, no_batch ? "; try --batch 1" : "");
    return err_set(e, "no part was uploaded, the first request to fail did with: %s", first);
}

/* ---- End ---- */

static bool close_capture(struct bench *b, struct err *e)
{
    if (b->failed.msg[0] != '\0')
        b->summary.error = b->failed.msg;
    if (bench_is_interrupted(b) && b->summary.end == NULL)
        b->summary.end = "signal";
    if (b->has_parts)
        team_measure_clock(&b->team, b->engine.offset_ns, 2);
    b->out.closed = bench_close_capture(b, e);
    return b->out.closed;
}

/* Makes one capture of the parts, and one summary of the figures of all ranks. */
static bool gather(struct bench *b, struct err *e)
{
    bool recorded = !b->o->stress;

    if (!b->has_parts)
        return true;
    /* What all tell from here on is what is in the closed parts. One that could not be written to
     * its end has what was written, which counts too. */
    bool ok = team_meet(&b->team, true, NULL);
    if (ok && recorded)
        ok = parts_gather(&b->team, b->out.path, e);
    bool lost = b->team.lost;
    if (lost && recorded)
        bench_say(b, "its requests are recorded in %s", b->out.part);
    if (!lost && ok && b->out.closed && !b->o->ranks.keep_parts && recorded)
        unlink(b->out.part);
    if (b->team.rank == 0 && !ok && recorded)
        bench_say_merge(b);
    if (b->team.rank == 0 && lost)
        bench_say_of_all(b, "what a lost rank has left in the bucket s3load clean --run %s deletes",
                         b->run_id);
    if (b->team.rank == 0 && !lost)
        bench_take_totals(b);
    b->summary.alone = lost;
    b->summary.capture = ok && recorded ? b->out.path : NULL;
    return ok || !recorded;
}

/* --aggregate, --aggregate-only: the capture's sums, beside it. What is killed meanwhile leaves the
 * capture, of which they can be made at any time. */
static bool sum_up(struct bench *b, struct err *e)
{
    char *words[] = {"s3analyze", "aggregate", "--quiet",   "-o",
                     b->out.sums, "--",        b->out.path, NULL};

    if (b->out.sums[0] == '\0' || b->summary.capture == NULL)
        return true;
    if (!sibling_run(words, false, team_tick, &b->team))
        return err_set(e, "the capture's sums could not be made (s3analyze aggregate makes them)");
    b->summary.sums = b->out.sums;
    b->summary.capture_goes = b->o->aggregate_only;
    return true;
}

/* Writes what came of the run. False: there was no memory for that. */
static bool report(struct bench *b, struct err *e)
{
    const struct summary *s = &b->summary;
    struct strbuf text = {0};
    char *words[] = {"s3analyze", "analyze", "--", b->out.path, NULL};

    if (b->o->json)
        summary_put_json(&text, s);
    else if (s->bench_ns > 0 || bench_is_interrupted(b))
        summary_put_line(&text, s);
    bool ok = !text.failed || mem_none(e);
    if (ok && text.n > 0)
        fputs(text.s, b->out.to_stdout ? stderr : stdout);
    strbuf_fini(&text);
    if (!ok || b->o->json || s->capture == NULL || b->out.to_stdout)
        return ok;
    if (!s->capture_goes)
        visible_line(stdout, "Capture: %s", b->out.path);
    if (s->counts.n_requests > 0 && !sibling_run(words, false, team_tick, &b->team)) {
        words[3] = s->capture_goes ? b->out.sums : b->out.path;
        bench_show_command(stdout, "To analyse it", words);
    }
    return true;
}

/* The capture may go once its sums are on the disk. */
static bool drop_capture(const struct bench *b, struct err *e)
{
    int fd = open(b->out.sums, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0 && unlink(b->out.path) == 0;
    int why = errno;

    if (fd >= 0)
        close(fd);
    return ok || err_errno(e, why, "'%s' stays beside its sums", b->out.path);
}

/* Says where the sums are, once the capture's figures are shown. */
static bool finish_sums(const struct bench *b, struct err *e)
{
    if (b->summary.sums == NULL)
        return true;
    if (b->o->aggregate_only && !drop_capture(b, e))
        return false;
    visible_line(b->o->json ? stderr : stdout, "Sums%s: %s",
                 b->o->aggregate_only ? ", in place of the capture" : "", b->out.sums);
    return true;
}

static bool tell(struct bench *b, struct err *e)
{
    if (b->control.crew.n_loops > 0)
        bench_warn_of_clocks(b);
    if (b->crew.n_loops == 0)
        return true;
    /* Rank 0 has the sums of all, unless one is lost. */
    if (b->team.rank == 0 || b->team.lost)
        bench_warn(b);
    bool ok = sum_up(b, e);
    ok = (b->team.rank > 0 || report(b, e)) && ok;
    ok = finish_sums(b, e) && ok;
    /* Cleaning may take long, and what was measured does not wait for it. */
    fflush(stdout);
    return ok;
}

/* ---- The plan ---- */

/* All ranks meet after each stage. Where one fails or is interrupted, all go on to the end. */
static const struct stage {
    bool (*run)(struct bench *b, struct err *e);
    bool unless_interrupted;
} plan[] = {
    /* clang-format off */
    {bench_set_up, false},
    {make_bucket, false},
    {record, false},
    {clear_bucket, false},
    {prepare, false},
    {agree_on_start, true},
    {load, true},
    {has_succeeded, true},
};

/* What follows in any case, whatever failed. */
static bool (*const endings[])(struct bench *b, struct err *e) = {
    close_capture,
    gather,
    tell,
    cleanup_run,
};
/* clang-format on */

#define N_STAGES  (sizeof plan / sizeof *plan)
#define N_ENDINGS (sizeof endings / sizeof *endings)

/* Whether a signal came, as all ranks know it since they last met. */
static bool is_over(const struct bench *b)
{
    return b->team.lost ? bench_is_interrupted(b) : b->team.all.max[TEAM_SIGNAL] > 0;
}

static int run(struct bench *b)
{
    struct err errors[N_ENDINGS] = {{""}};
    bool ok = true;

    for (const struct stage *s = plan; ok && s < &plan[N_STAGES]; s++) {
        if (!s->unless_interrupted || !is_over(b))
            ok = s->run(b, &b->failed);
        ok = team_meet(&b->team, ok, &b->failed);
    }
    for (size_t i = 0; i < N_ENDINGS; i++)
        ok = endings[i](b, &errors[i]) && ok;
    b->status = ok ? EXIT_DONE : EXIT_FAILED;
    if (!bench_is_interrupted(b) || strcmp(b->failed.msg, "interrupted") != 0)
        bench_complain(b, &b->failed);
    for (size_t i = 0; i < N_ENDINGS; i++)
        if (strcmp(errors[i].msg, b->failed.msg) != 0)
            bench_complain(b, &errors[i]);
    if (atomic_load(&b->signals.n) > 0)
        b->status = 128 + atomic_load(&b->signals.first);
    team_meet(&b->team, true, NULL);
    if (b->team.lost)
        team_abort(&b->team, b->status > EXIT_FAILED ? b->status : EXIT_FAILED);
    return (int)b->team.all.max[TEAM_STATUS];
}

/* ---- Ranks ---- */

static int start(const char *program, const struct cli_command *command, struct orders *d)
{
    struct bench *b = calloc(1, sizeof *b);

    if (b == NULL) {
        fprintf(stderr, "%s: out of memory\n", program);
        return EXIT_FAILED;
    }
    b->args = (struct cli_args){.program = program, .command = command};
    b->o = &d->options;
    b->kind = command->ctx;
    b->orders = d;
    b->team = (struct team){.rank = ranks_rank(),
                            .size = ranks_size(),
                            .timeout_ns = d->options.ranks.timeout_ns,
                            .fill = bench_figures,
                            .ctx = b};
    /* Work that is no benchmark is done by rank 0, which the others know nothing of. */
    if (b->kind->run != NULL)
        b->team.size = 1;
    int status = b->kind->run != NULL ? b->kind->run(b) : run(b);
    bench_tear_down(b);
    free(b);
    return status;
}

/* Tells the others what to do. */
static bool hand_out(const struct cli_command *command, const struct orders *d, struct err *e)
{
    size_t n = 0;

    if (ranks_size() == 1)
        return true;
    char *data = orders_pack(d, &n);
    bool ok = data != NULL ? lead_hand_out(command->name, data, n, e) : mem_none(e);
    secret_free(data);
    return ok;
}

int bench_main(const struct cli_args *args, void *options)
{
    const struct workload *kind = args->command->ctx;
    struct options *o = options;
    struct err e = {""};

    if (!options_complete(o, args, &e)) {
        int status = o->failed ? cli_failed(args, &e) : cli_wrong_usage(args, "%s", e.msg);
        options_free(o);
        return status;
    }
    const struct cli_command *const command[] = {args->command, NULL};
    char *command_line = options_redacted(command, args->argc, args->argv);
    struct orders d = {.options = *o};
    d.options.command_line = command_line;
    bool ok = command_line != NULL || mem_none(&e);
    ok = ok && bench_choose_names(&d, args->command->name, &e) &&
         (kind->run != NULL || hand_out(args->command, &d, &e));
    int status = ok ? start(args->program, args->command, &d) : cli_failed(args, &e);
    free(command_line);
    options_free(&d.options);
    return status;
}

/* What the other ranks do with what rank 0 has handed out. */
static bool obey(const void *ctx, const char *name, char *data, size_t n, struct err *e)
{
    const struct cli_program *program = ctx;
    struct orders d;

    for (const struct cli_command *const *c = program->commands; *c != NULL; c++) {
        if (strcmp((*c)->name, name) != 0)
            continue;
        bool ok = orders_unpack(&d, data, n, e);
        secret_free(data);
        if (!ok)
            return false;
        start(program->name, *c, &d);
        options_free(&d.options);
        return true;
    }
    return err_set(e, "command '%s' is not known", name);
}

int bench_follow(const struct cli_program *program)
{
    return lead_follow(program->name, obey, program);
}
