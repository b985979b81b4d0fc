#include "loadgen/run/bench.h"

#include <sys/resource.h>

/* Time between readings of the clock while we wait for the start. */
#define START_NAP_NS (10 * NS_PER_MS)

/* Time from agreeing on the start to the start; all ranks must know it by then. */
#define START_NS (200 * NS_PER_MS)

/* ---- Preparation and start ---- */

/* Returns what to do about a common failure; "": nothing is known. */
static const char *advice(const struct bench *b, const char *failure)
{
    if (b->o->request.batch > 1 && strncmp(failure, "HTTP 501", 8) == 0)
        return "; try --batch 1";
    if (strncmp(failure, "HTTP 413", 8) != 0)
        return "";
    return b->kind->uploads
               ? " (too much for the server, or for a proxy): try a smaller --part.size"
               : " (too much for the server, or for a proxy): try a smaller --obj.size";
}

bool bench_prepare(struct bench *b, struct err *e)
{
    struct work *k = &b->work;
    int64_t from_ns = clock_now_ns();

    if (b->o->data.list_existing)
        return true;
    b->uploaded = true;
    if (!b->kind->prepares)
        return true;
    const struct phase phase = {.next = work_prepare_next,
                                .done = work_prepare_done,
                                .ctx = k,
                                .start_ns = from_ns,
                                .end_ns = CLOCK_NEVER};
    bool ok = bench_run_phase(b, BENCH_PREPARING, &phase, e);
    b->summary.n_prepared = k->n_objects;
    b->summary.n_not_prepared = k->n_failed;
    b->summary.prepare_ns = clock_now_ns() - from_ns;
    if (!ok || bench_is_interrupted(b) || b->team.all.sum[TEAM_ENDING] > 0)
        return ok;
    if (k->n_objects == 0)
        return err_set(e, "none of the first %llu uploads succeeded: %s%s",
                       (unsigned long long)k->n_failed, k->error.msg, advice(b, k->error.msg));
    if (k->n_failed > 0)
        bench_say(b, "%s of %s uploads of the preparation failed, the first with: %s",
                  units_count((int64_t)k->n_failed).s,
                  units_count((int64_t)work_n_prepare_own(k)).s, k->error.msg);
    if (b->kind->mixed && k->n_objects < k->n_workers)
        bench_say(b, "there are fewer objects (%zu) than workers (%u): some will wait for one",
                  k->n_objects, k->n_workers);
    k->n_failed = 0;
    err_clear(&k->error);
    if (b->kind->versions && k->objects[0].version == NULL)
        return err_set(e, "the server gives its objects no version ids");
    return true;
}

/* Makes a phase of the benchmark's requests; duration_ns 0: it ends when they are done. */
static struct phase load_phase(struct bench *b, int64_t from_ns, int64_t duration_ns)
{
    bool ends = duration_ns > 0 && CLOCK_NEVER - duration_ns > from_ns;

    return (struct phase){.next = work_bench_next,
                          .done = work_bench_done,
                          .ctx = &b->work,
                          .start_ns = from_ns,
                          .end_ns = ends ? from_ns + duration_ns : CLOCK_NEVER,
                          .rate = b->o->load.rate,
                          .first_ticket = b->engine.rank,
                          .ticket_step = b->engine.n_ranks,
                          .max_tickets = b->work.max_requests};
}

bool bench_warm_up(struct bench *b, struct err *e)
{
    struct phase phase = load_phase(b, clock_now_ns(), b->o->load.warmup_ns);

    if (b->o->load.warmup_ns == 0)
        return true;
    phase.max_tickets = UINT64_MAX;
    b->work.warms_up = true;
    crew_record(&b->crew, false);
    bool ok = bench_run_phase(b, BENCH_WARMING, &phase, e);
    crew_record(&b->crew, true);
    work_end_warm_up(&b->work);
    return ok;
}

/* Sets the time of the start, not before --syncstart, by the clock of rank 0's capture. */
bool bench_agree_on_start(struct bench *b, struct err *e)
{
    (void)e;
    team_measure_clock(&b->team, b->engine.offset_ns, 1);
    int64_t now_ns = clock_now_ns() + b->engine.offset_ns;
    int64_t rest_ns = b->o->syncstart != NULL ? b->o->load.syncstart_ns - clock_real_ns() : 0;
    int64_t least_ns = b->team.size > 1 ? START_NS : 0;

    if (b->team.rank > 0)
        return true;
    if (b->o->syncstart != NULL && rest_ns <= least_ns)
        bench_say_of_all(b, "--syncstart passed during the preparation: the run starts late");
    b->agreed_ns = now_ns + int64_max(rest_ns, least_ns);
    return true;
}

/* Returns the time until the start. A single rank compares --syncstart with the wall clock, which
 * may be set meanwhile; several ranks use the start that they agreed on. */
static int64_t rest_ns(const struct bench *b)
{
    if (b->team.size > 1)
        return b->start_ns - clock_now_ns();
    return b->o->syncstart != NULL ? b->o->load.syncstart_ns - clock_real_ns() : 0;
}

static void wait_for_start(struct bench *b)
{
    b->start_ns = b->team.all.max[TEAM_START_NS] + b->team.clocks[1].ahead_ns - b->engine.offset_ns;
    int64_t ns = rest_ns(b);
    if (ns < 0 && b->team.size > 1)
        bench_say(b, "learned of the start %s late", units_duration(-ns).s);
    for (; ns > 0 && !bench_is_interrupted(b); ns = rest_ns(b)) {
        team_poll(&b->team);
        clock_sleep_ns(int64_min(ns, START_NAP_NS));
    }
}

/* ---- The benchmark ---- */

static int64_t ns_of(struct timeval t)
{
    return t.tv_sec * NS_PER_S + t.tv_usec * 1000;
}

/* Counts this rank's requests of an open loop that were due before the end and did not begin. */
static uint64_t not_begun(const struct phase *p, int64_t end_ns, uint64_t n_begun)
{
    int64_t until_ns = int64_min(end_ns, p->end_ns);
    double seconds = (double)(until_ns - p->start_ns) / 1e9;
    double n_least = (seconds * p->rate - (double)p->first_ticket) / (double)p->ticket_step - 2;
    uint64_t n_due = n_least > (double)n_begun ? (uint64_t)n_least : n_begun;

    /* The floating-point quotient may be off by one, so compare due times. */
    while (p->rate > 0 && loop_due_ns(p, n_due) < until_ns)
        n_due++;
    return n_due - n_begun;
}

/* Whether the time is over, or in an open loop will be over when the next request is due. */
static bool is_through(const struct phase *p, int64_t now_ns)
{
    uint64_t n = p->rate > 0 ? atomic_load(&p->n_tickets) : 0;

    return now_ns >= p->end_ns || (n > 0 && loop_due_ns(p, n - 1) >= p->end_ns);
}

/* Totals up to a moment: what was done, and what resources were used. */
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

/* Sets the benchmark's figures in the summary: the differences of two readings. */
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
    s->max_thread_pct =
        100 * (double)int64_max(loop_ns, writer_ns) / (double)int64_max(s->bench_ns, 1);
    s->n_object_waits = b->work.n_object_waits;
    s->n_waits = to->recorded.n_waits;
    s->waits_ns = to->recorded.waits_ns;
    s->autoterm = b->team.vote.stop;
}

bool bench_load(struct bench *b, struct err *e)
{
    struct summary *s = &b->summary;
    struct recorder_tick dropped;

    wait_for_start(b);
    if (bench_is_interrupted(b))
        return true;
    const struct reading before = take_reading(b);
    int64_t from_ns = b->team.size == 1 ? clock_now_ns() : b->start_ns;
    recorder_take_tick(b->recorder, &dropped);
    machine_start(&b->machine, &b->crew);
    s->end = NULL;
    const struct phase phase = load_phase(b, from_ns, b->o->load.duration_ns);
    bool ok = bench_run_phase(b, BENCH_LOADING, &phase, e);
    int64_t end_ns = clock_now_ns();
    const struct reading after = take_reading(b);
    machine_end(&b->machine, &b->crew);
    team_poll(&b->team);
    s->bench_ns = end_ns - from_ns;
    sum_up_bench(b, &before, &after);
    s->n_not_begun =
        work_is_done(&b->work) ? 0 : not_begun(&b->phase, end_ns, s->counts.n_requests);
    bool drained = s->end == NULL && b->work.drained;
    if (drained)
        s->end = "no objects left";
    if (s->end == NULL)
        s->end = bench_is_interrupted(b)         ? "signal"
                 : work_is_done(&b->work)        ? "done"
                 : is_through(&b->phase, end_ns) ? "duration"
                                                 : "done";
    if (ok && drained)
        return err_set(e, "no objects are left, as uploads failed, the first with: %s",
                       b->work.first_error.msg);
    if (ok && b->work.n_failed > 0)
        return err_set(e, "%s", b->work.error.msg);
    return ok;
}

/* Fails if no request succeeded. Each rank that had errors reports its first one. */
bool bench_has_succeeded(struct bench *b, struct err *e)
{
    const char *of_all = b->team.size > 1 ? " of all ranks" : "";
    const char *first = b->work.first_error.msg;
    struct recorder_counts all;

    /* These counts are the first four of SUMMARY_NUMBERS. */
    memcpy(&all, &b->team.all.sum[TEAM_FREE], sizeof all);
    bool none = all.n_requests > 0 && all.n_errors == all.n_requests;
    bool no_part = b->kind->uploads && all.n_bytes == 0 && all.n_errors > 0;
    if (!none && !no_part)
        return true;
    if (b->summary.counts.n_errors == 0)
        return err_set(e, "%s", team_other_failed);
    if (none)
        return err_set(e, "none of %s%s succeeded, the first failed with: %s%s",
                       units_counted((int64_t)all.n_requests, "request").s, of_all, first,
                       advice(b, first));
    return err_set(e, "no part was uploaded; the first failure: %s%s", first, advice(b, first));
}
