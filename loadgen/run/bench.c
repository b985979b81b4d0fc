#include "loadgen/run/bench_setup.h"

#include "libcommon/units.h"
#include "libcommon/visible.h"
#include "loadgen/load/worker.h"
#include "loadgen/run/bucket.h"
#include "loadgen/run/cleanup.h"
#include "loadgen/run/sibling.h"
#include "loadgen/util/clock.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define TICK_MS 100

/* How often what ranks tell is looked at: it takes several looks to go round. */
#define JOINING_MS 10

/* What a rank knows of its last second has come to rank 0 after some ticks. */
#define TOLD_NS (3 * TICK_MS * CLOCK_NS_PER_MS)

/* How long a look at the clock is put off while the start is waited for. */
#define START_NAP_NS (10 * CLOCK_NS_PER_MS)

bool bench_is_interrupted(const struct bench *b)
{
    return atomic_load(&b->signals.n) > 0 || b->team.all.max[TEAM_SIGNAL] > 0;
}

/* Whether it was, as all ranks know it since they last met. */
static bool is_over_for_all(const struct bench *b)
{
    return b->team.size > 1 && !b->team.lost ? b->team.all.max[TEAM_SIGNAL] > 0
                                             : bench_is_interrupted(b);
}

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
        char *words[] = {"s3load", "clean", "--dry-run", "--prefix", content.prefix};
        char what[120];

        snprintf(what, sizeof what,
                 "The bucket holds objects of %llu other run%s of s3load, which this shows",
                 (unsigned long long)content.n_runs, content.n_runs == 1 ? "" : "s");
        bench_show_command(stderr, what, *content.prefix != '\0' ? 5 : 3, words);
    }
    return true;
}

/* ---- Phases ---- */

/* `part` of `whole` in percent; 0: there is no whole. */
static double pct_of(int64_t part_ns, int64_t whole_ns)
{
    return whole_ns > 0 ? 100 * (double)part_ns / (double)whole_ns : 0;
}

/* Takes what this rank did in the last second. */
static void take_second(struct bench *b, int64_t now_ns)
{
    const struct crew_counts crew = crew_counts(&b->crew);

    recorder_take_tick(b->recorder, &b->tick);
    b->n_running = crew.n_running;
    b->cpu_pct = pct_of(crew.most_cpu_ns - b->shown_cpu_ns, now_ns - b->shown_at_ns);
    b->shown_cpu_ns = crew.most_cpu_ns;
    b->shown_at_ns = now_ns;
}

static void show(struct bench *b, int64_t now_ns)
{
    struct work *k = &b->work;
    bool alone = b->team.size == 1;

    if (b->preparing) {
        uint64_t n_done = alone ? atomic_load(&k->n_done) : (uint64_t)b->team.all.sum[TEAM_DONE];
        screen_bar(&b->screen, now_ns, "Preparing", n_done, work_n_prepare(k),
                   (double)work_n_prepare(k) * (double)b->o->size_bytes);
    } else if (b->cleaning) {
        uint64_t n_done = alone ? atomic_load(&k->n_deleted) : (uint64_t)b->team.all.sum[TEAM_DONE];
        screen_bar(&b->screen, now_ns, "Cleaning", n_done, 0, 0);
    } else {
        bool due = screen_is_due(&b->screen, now_ns);
        const char *state = "";

        if (alone ? due : now_ns >= b->shown_at_ns + CLOCK_NS_PER_S)
            take_second(b, now_ns);
        if (due && b->o->autoterm)
            state = recorder_look(b->recorder).stop.stopped ? "stable" : "unstable";
        if (due && alone)
            screen_line(&b->screen, now_ns, &b->tick, (unsigned)b->n_running, b->cpu_pct, state);
        else if (due)
            bench_show_team(b, now_ns, state);
    }
}

static void end_phase(struct bench *b, enum engine_stop stop, const char *end)
{
    b->summary.end = end;
    crew_stop(&b->crew, stop);
}

/* Keys that cannot be renewed are used until the server refuses them, which is in the rows. */
static void renew_credentials(struct bench *b)
{
    struct err e = {""};

    if (b->engine.credentials != NULL && !credentials_renew(&b->credentials, &e))
        bench_say(b, "cannot renew the credentials: %s", e.msg);
}

/* Shows how the run goes, and ends the phase where it must. It is called ten times a second, when
 * something happens, and while ranks tell each other. */
static void look(struct bench *b)
{
    int64_t now_ns = clock_now_ns();

    bool told = team_poll(&b->team);
    show(b, now_ns);
    renew_credentials(b);
    if (b->finishing && bench_is_interrupted(b) && !b->said_finishing) {
        screen_end_bar(&b->screen);
        if (b->team.rank == 0)
            bench_say_of_all(b, "the run's objects are being deleted: a second signal stops that");
        b->said_finishing = true;
    }
    if (atomic_load(&b->engine.stop) != ENGINE_RUN)
        return;
    int64_t down_ns = hosts_all_down_since(&b->engine.hosts);
    /* What is cleaned is not recorded, and `clean` has no recorder at all. */
    const struct recorder_state state =
        b->cleaning ? (struct recorder_state){0} : recorder_look(b->recorder);
    uint64_t n_errors =
        b->team.size == 1 ? state.counts.n_errors : (uint64_t)b->team.all.sum[TEAM_ERRORS];
    if (!b->cleaning && recorder_failed(b->recorder, &b->error)) {
        end_phase(b, ENGINE_ABORT, "error");
    } else if (down_ns != CLOCK_NEVER && now_ns - down_ns > b->o->give_up_ns &&
               crew_counts(&b->crew).n_connected <= 0) {
        err_set(&b->error,
                "no host can be connected to, for %s now (--give-up-after): the run ends",
                units_duration(b->o->give_up_ns).s);
        end_phase(b, ENGINE_STOP, "error");
    } else if (!b->cleaning && b->o->max_errors > 0 && n_errors >= (uint64_t)b->o->max_errors) {
        err_set(&b->error, "%llu request%s failed, and --max-errors is %lld: the run ends",
                (unsigned long long)n_errors, n_errors == 1 ? "" : "s",
                (long long)b->o->max_errors);
        end_phase(b, ENGINE_STOP, "error");
    } else if (!b->preparing && !b->cleaning && state.stop.stopped) {
        end_phase(b, ENGINE_STOP, "autoterm");
    } else if (!b->cleaning && b->team.lost) {
        err_set(&b->error, "a rank has not answered for %s (--rank-timeout), or is lost",
                units_duration(b->o->ranks.timeout_ns).s);
        end_phase(b, ENGINE_STOP, "error");
    } else if (!b->cleaning && told && b->team.all.sum[TEAM_ENDING] > 0) {
        end_phase(b, ENGINE_STOP, bench_is_interrupted(b) ? "signal" : "error");
    }
}

static int tick(void *ctx)
{
    struct bench *b = ctx;

    look(b);
    return b->team.joining ? JOINING_MS : TICK_MS;
}

bool bench_run_phase(struct bench *b, struct err *e)
{
    b->shown_at_ns = clock_now_ns();
    b->shown_cpu_ns = 0;
    screen_begin(&b->screen, b->shown_at_ns, b->team.size > 1 ? TOLD_NS : 0);
    bool ok = crew_run(&b->crew, &b->phase, tick, b, e);
    screen_end_bar(&b->screen);
    if (b->error.msg[0] != '\0')
        return err_set(e, "%s", b->error.msg);
    return ok;
}

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
    int64_t ns = rest_ns(b);

    if (b->team.size == 1 && b->o->syncstart != NULL && ns <= 0)
        bench_say_late(b);
    for (; ns > 0 && !bench_is_interrupted(b); ns = rest_ns(b)) {
        team_poll(&b->team);
        renew_credentials(b);
        clock_sleep_ns(clock_earlier(ns, START_NAP_NS));
    }
}

static int64_t ns_of(struct timeval t)
{
    return t.tv_sec * CLOCK_NS_PER_S + t.tv_usec * 1000;
}

/* Requests of an open loop that are due before a time, of this rank: as their due times say, which
 * a quotient in floating point misses by one. */
static uint64_t due_before(const struct phase *p, int64_t ns)
{
    double about = ((double)(ns - p->start_ns) / 1e9 * p->rate - (double)p->first_ticket) /
                   (double)p->ticket_step;
    uint64_t n = about > 0 ? (uint64_t)fmin(about, 0x1p63) : 0;

    while (n > 0 && worker_due_ns(p, n - 1) >= ns)
        n--;
    while (worker_due_ns(p, n) < ns)
        n++;
    return n;
}

/* Those that were due before the end and were never begun. */
static uint64_t not_begun(const struct bench *b, int64_t end_ns, uint64_t n_begun)
{
    int64_t until_ns = end_ns < b->phase.end_ns ? end_ns : b->phase.end_ns;
    uint64_t n_due = b->phase.rate > 0 ? due_before(&b->phase, until_ns) : 0;

    return n_due > n_begun ? n_due - n_begun : 0;
}

/* Whether the time is over; in an open loop, for the next request that would be due. */
static bool is_over(const struct bench *b, int64_t now_ns)
{
    const struct phase *p = &b->phase;

    return now_ns >= p->end_ns || (p->rate > 0 && p->end_ns != CLOCK_NEVER &&
                                   atomic_load(&p->n_tickets) > due_before(p, p->end_ns));
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
    s->max_thread_pct = pct_of(loop_ns > writer_ns ? loop_ns : writer_ns, s->bench_ns);
    s->n_object_waits = b->work.n_object_waits;
    s->n_waits = to->recorded.n_waits;
    s->waits_ns = to->recorded.waits_ns;
    s->autoterm = to->recorded.stop;
}

static bool bench(struct bench *b, struct err *e)
{
    struct summary *s = &b->summary;
    struct recorder_tick dropped;
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
    s->n_not_begun = not_begun(b, end_ns, s->counts.n_requests);
    bool drained = s->end == NULL && work_is_drained(&b->work);
    if (drained)
        s->end = "no objects left";
    if (s->end == NULL)
        s->end = bench_is_interrupted(b) ? "signal" : is_over(b, end_ns) ? "duration" : "done";
    if (ok && drained)
        return err_set(e, "no objects left, as uploads failed, the first request to fail with: %s",
                       b->work.first_error.msg);
    if (ok && b->work.n_failed > 0)
        return err_set(e, "%s", b->work.error.msg);
    return ok;
}

/* Whether anything succeeded, of all ranks: who has errors says the first. */
static bool succeeded(const struct bench *b, struct err *e)
{
    const struct recorder_counts all = bench_counts_of_all(b);
    const char *of_all = b->team.size > 1 ? " of all ranks" : "";
    const char *first = b->work.first_error.msg;
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

/* Writes what came of the run. False: there was no memory for that. */
static bool report(struct bench *b)
{
    FILE *out = b->to_stdout ? stderr : stdout;
    struct strbuf text = {0};

    if (b->o->json)
        summary_put_json(&text, &b->summary);
    else if (b->summary.bench_ns > 0 || bench_is_interrupted(b))
        summary_put_line(&text, &b->summary);
    bool ok = !text.failed;
    if (ok && text.n > 0)
        fputs(text.s, out);
    strbuf_fini(&text);
    if (!ok || b->o->json)
        return ok;
    if (b->summary.capture == NULL || b->to_stdout)
        return true;
    if (!b->summary.capture_goes)
        visible_line(stdout, "Capture: %s", b->path);
    if (b->summary.counts.n_requests > 0 && !sibling_analyze(b->path, bench_poll, b)) {
        char *words[] = {"s3analyze", "analyze", "--", b->summary.capture_goes ? b->sums : b->path};
        bench_show_command(stdout, "To analyse it", sizeof words / sizeof *words, words);
    }
    return true;
}

/* --aggregate, --aggregate-only: the capture's sums, beside it. What is killed meanwhile leaves the
 * capture, of which they can be made at any time. */
static bool sum_up(struct bench *b, struct err *e)
{
    if (b->sums[0] == '\0' || b->summary.capture == NULL)
        return true;
    if (!sibling_aggregate(b->sums, b->path, bench_poll, b))
        return err_set(e, "the capture's sums could not be made (s3analyze aggregate makes them)");
    b->summary.sums = b->sums;
    b->summary.capture_goes = b->o->aggregate_only;
    return true;
}

/* The capture may go once its sums are on the disk. */
static bool drop_capture(const struct bench *b, struct err *e)
{
    int fd = open(b->sums, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0 && unlink(b->path) == 0;
    int why = errno;

    if (fd >= 0)
        close(fd);
    return ok || err_errno(e, why, "'%s' stays beside its sums", b->path);
}

/* Says where the sums are, once the capture's figures are shown. */
static bool finish_sums(const struct bench *b, struct err *e)
{
    if (b->summary.sums == NULL)
        return true;
    if (b->o->aggregate_only && !drop_capture(b, e))
        return false;
    visible_line(b->o->json ? stderr : stdout, "Sums%s: %s",
                 b->o->aggregate_only ? ", in place of the capture" : "", b->sums);
    return true;
}

/* A proxy that a desktop's environment names would be what is measured. */
static void say_proxy(const struct bench *b)
{
    char proxy[CONN_PROXY_MAX];
    const char *name = conn_proxy(b->o->tls, b->o->no_proxy, proxy);
    const char *except = getenv("no_proxy") != NULL ? getenv("no_proxy") : getenv("NO_PROXY");

    if (name == NULL)
        return;
    bench_say_of_all(b, "requests go through the proxy %s, as %s says%s%s; --no-proxy changes that",
                     proxy, name, except != NULL ? ", but for no_proxy=" : "",
                     except != NULL ? except : "");
}

/* Makes and looks at the bucket, which is rank 0's. */
static bool set_up_bucket(struct bench *b, struct err *e)
{
    bool made = false;

    if (b->team.rank > 0)
        return true;
    say_proxy(b);
    bool ok = bucket_make(&b->control, &b->work, &made, e) && check_content(b, e) &&
              (!b->o->clear_bucket || confirm(b, e)) &&
              bucket_ready(&b->control, &b->work, made, e);
    if (ok)
        bench_say_plan(b);
    return ok;
}

/* Does all that comes before the capture is closed. Where ranks meet they find the same, and go on
 * or leave together. */
static bool measure(struct bench *b, struct err *e)
{
    uint64_t max = b->o->objects_given ? (uint64_t)b->o->n_objects : 0;

    if (!team_meet(&b->team, set_up_bucket(b, e), e))
        return false;
    bench_measure_clocks(b, 0);
    bool ok = !b->o->list_existing || bucket_list(&b->control, &b->work, max, e);
    ok = ok && bench_start_recording(b, e);
    if (!team_meet(&b->team, ok, e))
        return false;
    b->has_parts = b->team.size > 1;
    if (b->has_parts && b->team.rank == 0)
        bench_say_parts(b);
    ok = !b->o->clear_bucket || b->team.rank > 0 || cleanup_clear_bucket(b, e);
    ok = team_meet(&b->team, ok, e) && prepare(b, e);
    ok = team_meet(&b->team, ok, e);
    if (ok && !is_over_for_all(b))
        ok = bench_agree_on_start(b, bench_shift_pools(b, e), e);
    if (ok && !is_over_for_all(b))
        wait_for_start(b);
    ok = ok && (is_over_for_all(b) || bench(b, e));
    ok = team_meet(&b->team, ok, e) && (is_over_for_all(b) || succeeded(b, e));
    if (!ok)
        b->summary.error = e->msg;
    if (bench_is_interrupted(b) && b->summary.end == NULL)
        b->summary.end = "signal";
    return ok;
}

int bench_run(struct bench *b)
{
    struct err e = {""};
    struct err closing = {""};
    struct err gathering = {""};
    struct err cleaning = {""};
    bool ok = bench_set_up(b, &e);

    ok = team_meet(&b->team, ok, &e) && measure(b, &e);
    if (b->has_parts)
        bench_measure_clocks(b, 2);
    bool closed = bench_close_capture(b, &closing);
    bool gathered = bench_gather(b, closed, &gathering);
    if (b->control.crew.n_loops > 0)
        bench_warn_of_clocks(b);
    if (b->crew.n_loops > 0) {
        /* Rank 0 has the sums of all, unless one is lost. */
        if (b->team.rank == 0 || b->team.lost)
            bench_warn(b);
        if (gathered)
            ok = sum_up(b, &e) && ok;
        if (b->team.rank == 0 && !report(b) && ok)
            ok = err_set(&e, "out of memory");
        ok = finish_sums(b, &e) && ok;
        /* Cleaning may take long, and what was measured does not wait for it. */
        fflush(stdout);
    }
    bool cleaned = cleanup_run(b, &cleaning);
    b->status = ok && closed && gathered && cleaned ? EXIT_DONE : EXIT_FAILED;
    if (!ok && !(bench_is_interrupted(b) && strcmp(e.msg, "interrupted") == 0))
        bench_complain(b, &e);
    if (!closed && strcmp(closing.msg, e.msg) != 0)
        bench_complain(b, &closing);
    if (!gathered)
        bench_complain(b, &gathering);
    if (!cleaned)
        bench_complain(b, &cleaning);
    if (atomic_load(&b->signals.n) > 0)
        b->status = 128 + atomic_load(&b->signals.first);
    team_meet(&b->team, true, NULL);
    if (b->team.lost)
        team_abort(&b->team, b->status > EXIT_FAILED ? b->status : EXIT_FAILED);
    return b->team.size > 1 ? (int)b->team.all.max[TEAM_STATUS] : b->status;
}
