#include "libcommon/visible.h"
#include "loadgen/run/bench.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS 100

/* Time between checks while a round of the ranks is in progress: a round takes several checks. */
#define JOINING_MS 10

/* After this time rank 0 knows the figures of the last second of all ranks. */
#define TOLD_NS (3 * TICK_MS * NS_PER_MS)

#define CPU_SCALE     100
#define BAR_WIDTH     30
#define HEADING_EVERY 20 /* lines */

bool bench_is_interrupted(const struct bench *b)
{
    return atomic_load(&b->signals.n) > 0 || b->team.all.max[TEAM_SIGNAL] > 0;
}

void bench_figures(void *ctx, struct ranks_figures *f)
{
    struct bench *b = ctx;
    const struct second *s = &b->second;

    if (b->recorder != NULL)
        f->sum[TEAM_ERRORS] = (int64_t)recorder_look(b->recorder).counts.n_errors;
    f->sum[TEAM_TICK_ERRORS] = (int64_t)s->tick.counts.n_errors;
    f->sum[TEAM_TICK_OBJECTS] = (int64_t)s->tick.counts.n_objects;
    f->sum[TEAM_TICK_BYTES] = (int64_t)s->tick.counts.n_bytes;
    f->sum[TEAM_ENDING] = atomic_load(&b->signals.n) > 0 || b->error.msg[0] != '\0';
    f->sum[TEAM_RUNNING] = s->n_running;
    f->sum[TEAM_DONE] =
        (int64_t)atomic_load(b->doing == BENCH_CLEANING ? &b->sweep.n_deleted : &b->work.n_done);
    f->sum[TEAM_STORED] = (int64_t)b->n_stored;
    f->sum[TEAM_UNLISTED] = (int64_t)b->n_unlisted;
    for (size_t i = 0; i < SUMMARY_N_NUMBERS; i++)
        memcpy(&f->sum[TEAM_FREE + i], (const char *)&b->summary + SUMMARY_NUMBERS[i].offset,
               sizeof f->sum[0]);
    f->max[TEAM_SIGNAL] = atomic_load(&b->signals.first);
    f->max[TEAM_STATUS] = b->status;
    f->max[TEAM_CPU_PCT] = (int64_t)(s->cpu_pct * CPU_SCALE);
    f->max[TEAM_NEW] = (int64_t)atomic_load(&b->work.n_new);
    f->max[TEAM_P50_NS] = s->tick.p50_ns;
    f->max[TEAM_P99_NS] = s->tick.p99_ns;
    f->max[TEAM_START_NS] = b->agreed_ns;
    f->max[TEAM_BENCH_NS] = b->summary.bench_ns;
    f->max[TEAM_THREAD_PCT] = (int64_t)(b->summary.max_thread_pct * CPU_SCALE);
}

void bench_take_totals(struct bench *b)
{
    const struct ranks_figures *all = &b->team.all;

    for (size_t i = 0; i < SUMMARY_N_NUMBERS; i++)
        if (SUMMARY_NUMBERS[i].adds_up)
            memcpy((char *)&b->summary + SUMMARY_NUMBERS[i].offset, &all->sum[TEAM_FREE + i],
                   sizeof all->sum[0]);
    b->summary.bench_ns = all->max[TEAM_BENCH_NS];
    b->summary.max_thread_pct = (double)all->max[TEAM_THREAD_PCT] / CPU_SCALE;
}

static void take_second(struct bench *b, int64_t now_ns)
{
    const struct crew_counts crew = crew_counts(&b->crew);
    struct second *s = &b->second;

    recorder_take_tick(b->recorder, &s->tick);
    s->n_running = crew.n_running;
    s->cpu_pct = 100 * (double)(crew.most_cpu_ns - s->cpu_ns) / (double)(now_ns - s->at_ns);
    s->cpu_ns = crew.most_cpu_ns;
    s->at_ns = now_ns;
}

/* Whether the second that ends at *next_ns is over. If so, sets *next_ns to the end of the next
 * second. */
static bool is_second(int64_t *next_ns, int64_t now_ns)
{
    if (now_ns < *next_ns)
        return false;
    *next_ns += NS_PER_S;
    if (*next_ns <= now_ns)
        *next_ns = now_ns + NS_PER_S;
    return true;
}

static void show_bar(struct bench *b, int64_t now_ns)
{
    static const char full[] = "##############################";
    int64_t n_done = b->team.all.sum[TEAM_DONE];
    double n = (double)work_n_prepare(&b->work);
    double share = n > 0 ? (double)n_done / n : 0;

    if (b->doing == BENCH_CLEANING)
        fprintf(stderr, "\r\033[KCleaning: %s", units_count(n_done).s);
    else if (b->doing == BENCH_WARMING)
        fprintf(stderr, "\r\033[KWarming up, %.0fs of %s",
                (double)(now_ns - b->screen.start_ns) / 1e9,
                units_duration(b->o->load.warmup_ns).s);
    else
        fprintf(stderr, "\r\033[KPreparing [%-*.*s] %3.0f %% of %s (%s), %.0fs", BAR_WIDTH,
                (int)(share * BAR_WIDTH), full, 100 * share, units_count((int64_t)n).s,
                units_size(n * (double)b->o->data.size_bytes).s,
                (double)(now_ns - b->screen.start_ns) / 1e9);
    b->screen.bar_shown = true;
}

static void end_bar(struct screen *s)
{
    if (s->bar_shown)
        fputs("\r\033[K", stderr);
    s->bar_shown = false;
}

/* Prints the line of a second. Its quantiles are those of the slowest rank. */
static void show_line(struct bench *b, int64_t now_ns)
{
    const int64_t *sum = b->team.all.sum;
    const int64_t *max = b->team.all.max;
    const struct units_text p50 = units_duration(max[TEAM_P50_NS]);
    const struct units_text p99 = units_duration(max[TEAM_P99_NS]);
    bool known = max[TEAM_P50_NS] > 0;

    if (b->screen.n_lines++ % HEADING_EVERY == 0)
        fprintf(stderr, "%7s  %11s  %9s  %6s  %7s  %7s  %6s  %4s\n", "time", "throughput", "obj/s",
                "failed", "p50", "p99", "active", "CPU");
    fprintf(stderr, "%6.0fs  %11s  %9s  %6s  %7s  %7s  %6lld  %3.0f" UNITS_CELL_PCT,
            (double)(now_ns - b->screen.start_ns) / 1e9,
            units_byte_rate((double)sum[TEAM_TICK_BYTES]).s,
            units_rate((double)sum[TEAM_TICK_OBJECTS]).s, units_count(sum[TEAM_TICK_ERRORS]).s,
            known ? p50.s : "-", known ? p99.s : "-", (long long)sum[TEAM_RUNNING],
            (double)max[TEAM_CPU_PCT] / CPU_SCALE);
    if (b->o->load.autoterm)
        fputs(b->team.vote.stop.stopped ? " stable" : " unstable", stderr);
    fputs("\n", stderr);
}

static void show(struct bench *b, int64_t now_ns)
{
    if (!b->screen.enabled)
        return;
    if (b->doing != BENCH_LOADING)
        show_bar(b, now_ns);
    else if (is_second(&b->screen.next_ns, now_ns))
        show_line(b, now_ns);
}

static void end_phase(struct bench *b, const char *end)
{
    b->summary.end = end;
    crew_stop(&b->crew, ENGINE_STOP);
}

/* Whether the run ends because no server could be connected to for too long. */
static bool gives_up(struct bench *b, int64_t now_ns)
{
    int64_t down_ns = hosts_all_down_since(&b->engine.hosts);

    return down_ns != CLOCK_NEVER && now_ns - down_ns > b->o->net.give_up_ns &&
           crew_counts(&b->crew).n_connected <= 0;
}

static void judge(struct bench *b, bool told)
{
    const struct options *o = b->o;
    int64_t n_errors = b->team.all.sum[TEAM_ERRORS];

    if (recorder_failed(b->recorder, &b->error)) {
        crew_stop(&b->crew, ENGINE_ABORT);
        end_phase(b, "error");
    } else if (o->load.max_errors > 0 && n_errors >= o->load.max_errors) {
        err_set(&b->error, "%s failed, and --max-errors is %s: the run ends",
                units_counted(n_errors, "request").s, units_count(o->load.max_errors).s);
        end_phase(b, "error");
    } else if (b->doing == BENCH_LOADING && b->team.vote.stop.stopped) {
        end_phase(b, "autoterm");
    } else if (b->team.lost) {
        team_lost(&b->team, &b->error);
        end_phase(b, "error");
    } else if (told && b->team.all.sum[TEAM_ENDING] > 0) {
        end_phase(b, bench_is_interrupted(b) ? "signal" : "error");
    }
}

/* Records the state of the machine. If the writer is still busy with the last comment, drops this
 * one. */
static void watch_machine(struct bench *b, int64_t now_ns)
{
    struct strbuf comment = {0};

    if (!machine_tick(&b->machine, &b->crew, now_ns))
        return;
    summary_put_machine(&comment, b);
    if (comment.failed || !recorder_comment(b->recorder, comment.s))
        strbuf_fini(&comment);
}

/* If the process has not ended a while after a signal, says what it waits for and how to end it. */
static void say_waiting(struct bench *b, int64_t now_ns)
{
    if (!bench_is_interrupted(b) || b->said_waiting || b->team.rank > 0)
        return;
    if (b->waiting_ns == 0)
        b->waiting_ns = now_ns;
    if (now_ns - b->waiting_ns < SIGNALS_ONE_NS)
        return;
    b->said_waiting = true;
    end_bar(&b->screen);
    if (b->signals.finishing)
        bench_say_of_all(b, "the run's objects are being deleted: a second Ctrl-C stops that");
    else
        bench_say_of_all(b,
                         "waiting for requests in flight, up to %s (--request-timeout): a second "
                         "Ctrl-C ends them",
                         units_duration(b->o->net.request_timeout_ns).s);
}

int bench_tick(void *b)
{
    struct bench *bench = b;

    if (bench->prof.asking && atomic_load(&bench->signals.n) > bench->prof.n_signals)
        crew_stop(&bench->control.crew, ENGINE_ABORT);
    say_waiting(bench, clock_now_ns());
    return team_tick(&bench->team);
}

/* Shows progress, and ends the phase if there is a reason. Called ten times a second, more often
 * during a round of the ranks, and at each event. */
static int look(void *ctx)
{
    struct bench *b = ctx;
    int64_t now_ns = clock_now_ns();

    if (b->doing == BENCH_LOADING && is_second(&b->second.next_ns, now_ns))
        take_second(b, now_ns);
    if (b->doing == BENCH_LOADING)
        watch_machine(b, now_ns);
    bool told = team_poll(&b->team);
    show(b, now_ns);
    say_waiting(b, now_ns);
    if (atomic_load(&b->engine.stop) == ENGINE_RUN && gives_up(b, now_ns)) {
        err_set(&b->error,
                "no host can be connected to, for %s now (--give-up-after): the run ends",
                units_duration(b->o->net.give_up_ns).s);
        end_phase(b, "error");
    }
    /* Cleaning is not recorded, and the command `clean` has no recorder at all. */
    if (atomic_load(&b->engine.stop) == ENGINE_RUN && b->doing != BENCH_CLEANING)
        judge(b, told);
    return b->team.joining ? JOINING_MS : TICK_MS;
}

bool bench_run_phase(struct bench *b, enum bench_doing doing, const struct phase *p, struct err *e)
{
    int64_t now_ns = clock_now_ns();

    b->doing = doing;
    b->phase = *p;
    /* An error that ended the benchmark must not end its cleaning. */
    if (doing == BENCH_CLEANING)
        err_clear(&b->error);
    b->second = (struct second){.at_ns = now_ns, .next_ns = now_ns + NS_PER_S};
    b->screen.start_ns = now_ns;
    b->screen.next_ns = now_ns + NS_PER_S + (b->team.size > 1 ? TOLD_NS : 0);
    bool ok = crew_run(&b->crew, &b->phase, look, b, e);
    end_bar(&b->screen);
    b->doing = BENCH_LOADING;
    if (b->error.msg[0] != '\0')
        return err_set(e, "%s", b->error.msg);
    return ok;
}

/* ---- Lines on standard error ---- */

/* Writes a line in one piece, as launchers mix the output of several ranks. */
__attribute__((format(printf, 3, 0))) static void say(const struct bench *b, const char *who,
                                                      const char *fmt, va_list args)
{
    char text[4096];

    vsnprintf(text, sizeof text, fmt, args);
    visible_line(stderr, "%s: %s%s", b->args.program, who, text);
}

void bench_say(const struct bench *b, const char *fmt, ...)
{
    char who[sizeof b->host + 32] = "";
    va_list args;

    if (b->team.size > 1)
        snprintf(who, sizeof who, "rank %d (%s): ", b->team.rank, b->host);
    va_start(args, fmt);
    say(b, who, fmt, args);
    va_end(args);
}

void bench_say_of_all(const struct bench *b, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(b, "", fmt, args);
    va_end(args);
}

void bench_show_command(FILE *out, const char *what, char *const *words)
{
    char *line = options_redacted((const struct cli_command *const[]){NULL}, words);

    if (line != NULL)
        visible_line(out, "%s: %s", what, line);
    free(line);
}
