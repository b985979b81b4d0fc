#include "libcommon/units.h"
#include "loadgen/run/bench_setup.h"
#include "loadgen/run/sibling.h"
#include "loadgen/util/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The start is so much later than the agreement on it: all must know of it by then. */
#define START_NS (200 * CLOCK_NS_PER_MS)

/* How often the others are looked at while a request or a child process of ours lasts. */
#define POLL_MS 5

#define CPU_SCALE 100

/* ---- Autoterm ---- */

/* Each whole second after the first start there is a vote, in three rounds of telling: whether all
 * loops of all ranks have reported past it, the range that all threads share, what was done before
 * the ends of the segments that it is cut into. All see the same and find the same, which is what
 * a replay of the merged capture finds. */
enum vote_max { MINUS_FIRST, MINUS_UNTIL, RANGE_START, MINUS_RANGE_END, N_VOTE_MAXES };

/* An amount in words whose sums cannot wrap around, but for those that may. */
#define N_WORDS     6
#define VOTE_SUM    (TEAM_FREE + SUMMARY_N_NUMBERS)
#define N_FRAC_BITS 32

_Static_assert(VOTE_SUM + N_WORDS * AUTOTERM_N_ENDS <= RANKS_N_SUMS, "room for them");
_Static_assert((int)TEAM_MORE + (int)N_VOTE_MAXES <= RANKS_N_MAXES, "room for them");

static void tell_amounts(struct bench *b, int64_t ahead_ns, int64_t *word)
{
    struct autoterm_amount amount[AUTOTERM_N_ENDS];
    struct autoterm_cut cut = b->vote.cut;

    cut.range_start_ns += ahead_ns;
    cut.start_ns += ahead_ns;
    recorder_amounts(b->recorder, &cut, amount);
    for (size_t i = 0; i < AUTOTERM_N_ENDS; i++) {
        *word++ = (int64_t)amount[i].bytes;
        *word++ = (int64_t)amount[i].n_objects;
        for (int k = 0; k < N_WORDS - 2; k++)
            *word++ = (int64_t)(uint32_t)(amount[i].object_frac >> k * N_FRAC_BITS);
    }
}

static void vote_tell(struct bench *b, struct ranks_figures *f)
{
    int64_t ahead_ns = b->clocks[1].ahead_ns;
    int64_t *max = &f->max[TEAM_MORE];
    struct segment_range range = {INT64_MIN, INT64_MAX};
    int64_t first_ns;
    int64_t until_ns;
    struct err e = {""};

    recorder_reported(b->recorder, &first_ns, &until_ns);
    max[MINUS_FIRST] = first_ns == CLOCK_NEVER ? -CLOCK_NEVER : ahead_ns - first_ns;
    max[MINUS_UNTIL] = until_ns == INT64_MIN ? CLOCK_NEVER : ahead_ns - until_ns;
    if (b->vote.step == VOTE_RANGE &&
        !recorder_range_at(b->recorder, b->vote.instant_ns + ahead_ns, &range, &e))
        err_set(&b->error, "%s", e.msg);
    /* A rank without requests so far has no say. */
    bool has_range = b->vote.step == VOTE_RANGE && range.start_ns != INT64_MAX;
    max[RANGE_START] = has_range ? range.start_ns - ahead_ns : -CLOCK_NEVER;
    max[MINUS_RANGE_END] = has_range ? ahead_ns - range.end_ns : -CLOCK_NEVER;
    if (b->vote.step == VOTE_AMOUNTS)
        tell_amounts(b, ahead_ns, &f->sum[VOTE_SUM]);
}

static bool judge(const struct bench *b, const int64_t *word, struct autoterm_window *window)
{
    struct autoterm_amount amount[AUTOTERM_N_ENDS] = {0};

    for (size_t i = 0; i < AUTOTERM_N_ENDS; i++) {
        amount[i].bytes = (uint64_t)*word++;
        amount[i].n_objects = (uint64_t)*word++;
        for (int k = 0; k < N_WORDS - 2; k++)
            amount[i].object_frac += (unsigned __int128)(uint64_t)*word++ << k * N_FRAC_BITS;
    }
    return autoterm_judge(b->o->autoterm_pct, &b->vote.cut, amount, window);
}

/* Takes the vote a step further. True: the next round is to be at once. */
static bool vote_go_on(struct bench *b, const struct ranks_figures *all)
{
    struct vote *v = &b->vote;
    const int64_t *max = &all->max[TEAM_MORE];
    const struct segment_range range = {max[RANGE_START], -max[MINUS_RANGE_END]};
    struct autoterm_stop stop = {.stopped = false};

    if (v->step == VOTE_REPORTED) {
        if (max[MINUS_FIRST] == -CLOCK_NEVER || recorder_look(b->recorder).stop.stopped)
            return false;
        v->instant_ns = -max[MINUS_FIRST] + (v->at_s + 1) * CLOCK_NS_PER_S;
        if (v->instant_ns >= -max[MINUS_UNTIL])
            return false;
        v->step = VOTE_RANGE;
        return true;
    }
    if (v->step == VOTE_RANGE && range.start_ns != -CLOCK_NEVER &&
        autoterm_cut_range(b->o->autoterm_dur_ns, &range, &v->cut)) {
        v->step = VOTE_AMOUNTS;
        return true;
    }
    stop.at_s = ++v->at_s;
    stop.stopped = v->step == VOTE_AMOUNTS && judge(b, &all->sum[VOTE_SUM], &stop.window);
    v->step = VOTE_REPORTED;
    if (stop.stopped)
        recorder_stop(b->recorder, &stop);
    return !stop.stopped;
}

/* ---- Telling ---- */

void bench_figures(void *ctx, struct ranks_figures *f)
{
    struct bench *b = ctx;

    if (b->recorder != NULL)
        f->sum[TEAM_ERRORS] = (int64_t)recorder_look(b->recorder).counts.n_errors;
    f->sum[TEAM_TICK_ERRORS] = (int64_t)b->tick.counts.n_errors;
    f->sum[TEAM_TICK_OBJECTS] = (int64_t)b->tick.counts.n_objects;
    f->sum[TEAM_TICK_BYTES] = (int64_t)b->tick.counts.n_bytes;
    f->sum[TEAM_ENDING] = atomic_load(&b->signals.n) > 0 || b->error.msg[0] != '\0';
    f->sum[TEAM_RUNNING] = b->n_running;
    f->sum[TEAM_DONE] = (int64_t)atomic_load(b->cleaning ? &b->work.n_deleted : &b->work.n_done);
    if (b->recorder != NULL && b->o->autoterm)
        vote_tell(b, f);
    for (size_t i = 0; i < SUMMARY_N_NUMBERS; i++)
        memcpy(&f->sum[TEAM_FREE + i], (const char *)&b->summary + SUMMARY_NUMBERS[i].offset,
               sizeof f->sum[0]);
    f->max[TEAM_SIGNAL] = atomic_load(&b->signals.first);
    f->max[TEAM_STATUS] = b->status;
    f->max[TEAM_CPU_PCT] = (int64_t)(b->cpu_pct * CPU_SCALE);
    f->max[TEAM_P50_NS] = b->tick.p50_ns;
    f->max[TEAM_P99_NS] = b->tick.p99_ns;
    f->max[TEAM_START_NS] = b->agreed_ns;
    f->max[TEAM_BENCH_NS] = b->summary.bench_ns;
    f->max[TEAM_THREAD_PCT] = (int64_t)(b->summary.max_thread_pct * CPU_SCALE);
}

/* Goes on with the vote, by what all have told. */
bool bench_told(void *ctx, const struct ranks_figures *all)
{
    struct bench *b = ctx;

    return b->recorder != NULL && b->o->autoterm && vote_go_on(b, all);
}

int bench_poll(void *ctx)
{
    struct bench *b = ctx;

    team_poll(&b->team);
    return POLL_MS;
}

void bench_show_team(struct bench *b, int64_t now_ns, const char *state)
{
    const struct ranks_figures *all = &b->team.all;
    const struct recorder_tick tick = {
        {.n_errors = (uint64_t)all->sum[TEAM_TICK_ERRORS],
         .n_objects = (uint64_t)all->sum[TEAM_TICK_OBJECTS],
         .n_bytes = (uint64_t)all->sum[TEAM_TICK_BYTES]},
        all->max[TEAM_P50_NS], /* of the slowest rank */
        all->max[TEAM_P99_NS],
    };

    screen_line(&b->screen, now_ns, &tick, (unsigned)all->sum[TEAM_RUNNING],
                (double)all->max[TEAM_CPU_PCT] / CPU_SCALE, state);
}

/* ---- Before the start ---- */

bool bench_shift_pools(struct bench *b, struct err *e)
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
    bool ok = team_swap(&b->team, by, &mine, &theirs, e);
    ok = ok && (packed || err_set(e, "out of memory"));
    ok = ok && work_unpack_pool(&b->work, theirs.s, theirs.n, from, e);
    if (!b->team.lost) {
        strbuf_fini(&mine);
        strbuf_fini(&theirs);
    }
    return ok;
}

/* Chooses a start, not before --syncstart, by the clock of what rank 0 records. */
static int64_t choose_start(const struct bench *b)
{
    int64_t now_ns = clock_now_ns() + b->engine.offset_ns;
    int64_t rest_ns = b->o->syncstart != NULL ? b->o->syncstart_ns - clock_real_ns() : 0;

    if (b->o->syncstart != NULL && rest_ns < START_NS)
        bench_say_late(b);
    return now_ns + (rest_ns > START_NS ? rest_ns : START_NS);
}

bool bench_agree_on_start(struct bench *b, bool ok, struct err *e)
{
    struct team *t = &b->team;

    if (t->size == 1)
        return ok;
    bench_measure_clocks(b, 1);
    if (t->rank == 0)
        b->agreed_ns = choose_start(b);
    if (!team_meet(t, ok, e))
        return false;
    b->start_ns = t->all.max[TEAM_START_NS] + b->clocks[1].ahead_ns - b->engine.offset_ns;
    if (clock_now_ns() > b->start_ns)
        bench_say(b, "learned of the start %s late",
                  units_duration(clock_now_ns() - b->start_ns).s);
    return true;
}

void bench_measure_clocks(struct bench *b, size_t i)
{
    if (b->team.size > 1 && !b->team.lost)
        team_measure_clock(&b->team, b->engine.offset_ns, &b->clocks[i]);
}

/* ---- One capture ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static void free_parts(const struct bench *b, char **parts, bool gathered)
{
    for (int i = 0; parts != NULL && i < b->team.size; i++) {
        if (gathered && i > 0)
            unlink(parts[i]);
        free(parts[i]);
    }
    free(parts);
}

/* The parts as rank 0 sees them: its own where it lies, the others in `folder`, or, with NULL,
 * under the names that they have where they are. */
static char **name_parts(const struct bench *b, const char *folder)
{
    char **parts = calloc((size_t)b->team.size, sizeof *parts);
    bool ok = parts != NULL;

    for (int i = 0; ok && i < b->team.size; i++) {
        char name[sizeof b->part];
        bench_name_part(b, i, name);
        bool there = folder != NULL && i > 0;
        ok = asprintf(&parts[i], "%s%s%s", there ? folder : "", there ? "/" : "",
                      there ? last_part(name) : name) >= 0;
        if (!ok)
            parts[i] = NULL;
    }
    if (ok)
        return parts;
    free_parts(b, parts, false);
    return NULL;
}

static bool receive_parts(struct bench *b, char *const *parts, struct err *e)
{
    bool ok = true;

    /* One that cannot be kept is received all the same. */
    for (int i = 1; i < b->team.size && !b->team.lost; i++)
        ok = team_receive_file(&b->team, i, parts != NULL ? parts[i] : "/dev/full", e) && ok;
    return ok;
}

/* Merges in the folder and then names the result, which so appears whole or not at all. */
static bool merge(struct bench *b, char *const *parts, const char *folder, struct err *e)
{
    char *merged = NULL;

    if (asprintf(&merged, "%s/merged.csv.zst", folder) < 0)
        return err_set(e, "out of memory");
    bool ok = sibling_merge(merged, parts, (size_t)b->team.size, bench_poll, b) ||
              err_set(e, "s3analyze could not put the captures of the ranks together");
    ok = ok && (link(merged, b->path) == 0 || err_errno(e, errno, "cannot make '%s'", b->path));
    unlink(merged);
    free(merged);
    return ok;
}

/* Says how to do by hand what was not done. */
static void say_merge(const struct bench *b)
{
    char **parts = name_parts(b, NULL);
    char **words = parts != NULL ? calloc((size_t)b->team.size + 4, sizeof *words) : NULL;

    if (words != NULL) {
        char *const head[] = {"s3analyze", "merge", "-o", (char *)b->path};
        memcpy(words, head, sizeof head);
        memcpy(words + 4, parts, (size_t)b->team.size * sizeof *words);
        bench_show_command(stderr, "To put the captures together, once they are in one place",
                           b->team.size + 4, words);
    }
    free(words);
    free_parts(b, parts, false);
}

void bench_say_parts(const struct bench *b)
{
    const struct options *o = b->o;
    const char *const words[] = {"s3load",   "clean",   "--run",    b->run_id, "--host", o->hosts,
                                 "--bucket", o->bucket, "--prefix", o->prefix, "--tls"};
    char part[sizeof b->part];

    if (o->quiet)
        return;
    bench_name_part(b, b->team.size - 1, part);
    if (!o->stress)
        bench_say_of_all(b, "run %s, %d ranks, which record into %s to %s", b->run_id, b->team.size,
                         b->part, part);
    bench_show_command(stderr, "If it is killed, this deletes its objects", 10 + o->tls,
                       (char **)words);
}

/* Rank 0 gathers and merges; the others send. Twice all meet: when all is there, and when it is
 * one.
 */
static bool put_together(struct bench *b, struct err *e)
{
    char folder[sizeof b->path + 16];
    char **parts = NULL;
    bool leads = b->team.rank == 0;
    bool has_folder = false;
    bool ok = true;

    if (leads) {
        snprintf(folder, sizeof folder, "%s.parts-XXXXXX", b->path);
        has_folder = mkdtemp(folder) != NULL;
        if (!has_folder)
            ok = err_errno(e, errno, "cannot make a folder beside '%s'", b->path);
        parts = has_folder ? name_parts(b, folder) : NULL;
        ok = ok && (parts != NULL || err_set(e, "out of memory"));
        ok = receive_parts(b, parts, e) && ok;
    } else {
        ok = team_send_file(&b->team, b->part, e) && ok;
    }
    ok = team_meet(&b->team, ok, e);
    if (ok && leads)
        ok = merge(b, parts, folder, e);
    free_parts(b, parts, true);
    if (has_folder)
        rmdir(folder);
    return team_meet(&b->team, ok, e);
}

struct recorder_counts bench_counts_of_all(const struct bench *b)
{
    const int64_t *sum = &b->team.all.sum[TEAM_FREE];

    if (b->team.size == 1 || b->team.lost)
        return b->summary.counts;
    return (struct recorder_counts){(uint64_t)sum[0], (uint64_t)sum[1], (uint64_t)sum[2],
                                    (uint64_t)sum[3]};
}

static void take_totals(struct bench *b)
{
    const struct ranks_figures *all = &b->team.all;

    for (size_t i = 0; i < SUMMARY_N_NUMBERS; i++)
        if (SUMMARY_NUMBERS[i].adds_up)
            memcpy((char *)&b->summary + SUMMARY_NUMBERS[i].offset, &all->sum[TEAM_FREE + i],
                   sizeof all->sum[0]);
    b->summary.bench_ns = all->max[TEAM_BENCH_NS];
    b->summary.max_thread_pct = (double)all->max[TEAM_THREAD_PCT] / CPU_SCALE;
}

bool bench_gather(struct bench *b, bool closed, struct err *e)
{
    if (!b->has_parts)
        return true;
    /* The first to meet, so that what all tell is what is in the closed parts. */
    bool ok = team_meet(&b->team, true, NULL);
    const struct ranks_figures all = b->team.all;
    /* A part that could not be written to its end has what was written, which counts too. */
    if (!b->o->stress && !b->team.lost)
        ok = put_together(b, e);
    if (b->team.lost && !b->o->stress)
        bench_say(b, "its requests are recorded in %s", b->part);
    if (!b->team.lost && ok && closed && !b->o->ranks.keep_parts && !b->o->stress)
        unlink(b->part);
    if (b->team.rank == 0 && !ok && !b->o->stress)
        say_merge(b);
    if (b->team.rank == 0 && b->team.lost)
        bench_say_of_all(b, "what a lost rank has left in the bucket s3load clean --run %s deletes",
                         b->run_id);
    if (b->team.rank == 0 && !b->team.lost) {
        b->team.all = all;
        take_totals(b);
    }
    b->summary.alone = b->team.lost;
    b->summary.capture = ok && !b->o->stress ? b->path : NULL;
    return ok || b->o->stress;
}
