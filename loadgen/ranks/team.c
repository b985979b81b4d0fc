#include "loadgen/ranks/ranks.h"

#include "libcommon/mem.h"
#include "libcommon/secret.h"
#include "libcommon/version.h"
#include "loadgen/load/recorder.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* A round, in which the ranks exchange figures, begins this long after the previous one began, or
 * at once if a rank waits at a meeting. */
#define EVERY_NS (50 * NS_PER_MS)

/* Time between checks of a call in progress: the short one for the first N_SHORT_SLEEPS checks,
 * then the long one. */
#define SLEEP_NS       INT64_C(100000)
#define LONG_SLEEP_NS  (2 * NS_PER_MS)
#define N_SHORT_SLEEPS 100

/* Up to N_PINGS exchanges within PINGS_NS measure a clock, but at least N_LEAST. The shortest one
 * gives the result. */
#define N_PINGS  200
#define N_LEAST  10
#define PINGS_NS (50 * NS_PER_MS)

/* How long we poll without sleeping: for an answer, and for a block, which MPI may move in small
 * pieces, one at each check. */
#define PING_BUSY_NS  NS_PER_MS
#define BLOCK_BUSY_NS (10 * NS_PER_MS)

#define BLOCK_BYTES (1 << 20)

/* Time between calls of team_poll while we wait for something else, in ms. */
#define POLL_MS 5

const char team_other_failed[] = "another rank has failed";

/* Sleeps between two checks of a call; longer after many. */
static void nap(unsigned *n)
{
    clock_sleep_ns((*n)++ < N_SHORT_SLEEPS ? SLEEP_NS : LONG_SLEEP_NS);
}

/* ---- --autoterm ---- */

/* There is a vote for each whole second after the first start. It takes three rounds, in which the
 * ranks find out whether all loops of all ranks have reported up to that second; the range that all
 * threads share; and what was done in the segments of this range. All ranks see the same figures
 * and come to the same verdict, which a replay of the merged capture would also give. */

/* Indexes of the last maxima. */
enum { MINUS_FIRST = RANKS_N_MAXES - RANKS_N_VOTES, MINUS_UNTIL, RANGE_START, MINUS_RANGE_END };

/* Adds the vote to the figures of this rank, whose clock is ahead of rank 0's by ahead_ns. */
static void vote_add(struct vote *v, int64_t ahead_ns, struct ranks_figures *mine)
{
    struct segment_range range = {INT64_MIN, INT64_MAX};
    struct autoterm_cut cut = v->cut;
    int64_t *max = mine->max;
    int64_t first_ns;
    int64_t until_ns;

    if (v->recorder == NULL)
        return;
    recorder_reported(v->recorder, &first_ns, &until_ns);
    max[MINUS_FIRST] = first_ns == CLOCK_NEVER ? -CLOCK_NEVER : ahead_ns - first_ns;
    max[MINUS_UNTIL] = until_ns == INT64_MIN ? CLOCK_NEVER : ahead_ns - until_ns;
    if (v->step == VOTE_RANGE)
        recorder_range_at(v->recorder, v->instant_ns + ahead_ns, &range, v->error);
    /* A rank without any request does not take part yet. */
    bool has_range = v->step == VOTE_RANGE && range.start_ns != INT64_MAX;
    max[RANGE_START] = has_range ? range.start_ns - ahead_ns : -CLOCK_NEVER;
    max[MINUS_RANGE_END] = has_range ? ahead_ns - range.end_ns : -CLOCK_NEVER;
    cut.range_start_ns += ahead_ns;
    cut.start_ns += ahead_ns;
    if (v->step == VOTE_AMOUNTS)
        recorder_amounts(v->recorder, &cut, mine->amount);
}

/* Takes the figures of all ranks. Returns true if the next round is to begin at once. */
static bool vote_go_on(struct vote *v, const struct ranks_figures *all)
{
    const int64_t *max = all->max;
    const struct segment_range range = {max[RANGE_START], -max[MINUS_RANGE_END]};
    struct autoterm_stop *stop = &v->stop;

    if (v->recorder == NULL || stop->stopped)
        return false;
    if (v->step == VOTE_REPORTED) {
        if (max[MINUS_FIRST] == -CLOCK_NEVER)
            return false;
        v->instant_ns = -max[MINUS_FIRST] + (stop->at_s + 1) * NS_PER_S;
        if (v->instant_ns >= -max[MINUS_UNTIL])
            return false;
        v->step = VOTE_RANGE;
        return true;
    }
    if (v->step == VOTE_RANGE && range.start_ns != -CLOCK_NEVER &&
        autoterm_cut_range(v->dur_ns, &range, &v->cut)) {
        v->step = VOTE_AMOUNTS;
        return true;
    }
    stop->at_s++;
    stop->stopped =
        v->step == VOTE_AMOUNTS && autoterm_judge(v->pct, &v->cut, all->amount, &stop->window);
    v->step = VOTE_REPORTED;
    return !stop->stopped;
}

/* ---- Rounds, in which the ranks exchange figures ---- */

static void fill(struct team *t, struct ranks_figures *mine)
{
    *mine = (struct ranks_figures){0};
    t->fill(t->ctx, mine);
    vote_add(&t->vote, t->clocks[1].ahead_ns, mine);
    mine->sum[TEAM_FAILED] = t->failed;
    mine->max[TEAM_STEP] = -t->step;
}

bool team_poll(struct team *t)
{
    int64_t now_ns = clock_now_ns();

    if (t->lost)
        return false;
    if (t->size == 1) {
        do
            fill(t, &t->all);
        while (vote_go_on(&t->vote, &t->all));
        return true;
    }
    if (!t->joining && now_ns < t->next_ns && !t->meeting)
        return false;
    if (!t->joining) {
        fill(t, &t->sent);
        t->begun_ns = now_ns;
        t->joining = ranks_join(&t->call, &t->sent, &t->coming);
        t->lost = !t->joining;
    }
    bool done = !t->lost && ranks_done(&t->call);
    t->joining &= !done;
    t->lost |= done ? t->call.failed : now_ns - t->begun_ns > t->timeout_ns;
    if (!done || t->lost)
        return false;
    t->all = t->coming;
    t->next_ns = vote_go_on(&t->vote, &t->all) ? now_ns : t->begun_ns + EVERY_NS;
    return true;
}

bool team_lost(const struct team *t, struct err *e)
{
    return err_set(e, "a rank has not answered for %s (--rank-timeout), or is lost",
                   units_duration(t->timeout_ns).s);
}

int team_tick(void *team)
{
    team_poll(team);
    return POLL_MS;
}

bool team_meet(struct team *t, bool ok, struct err *e)
{
    unsigned n_naps = 0;

    t->step++;
    t->failed = !ok;
    t->meeting = true;
    while (!t->lost && !(team_poll(t) && -t->all.max[TEAM_STEP] >= t->step))
        nap(&n_naps);
    t->meeting = false;
    t->failed = false;
    if (t->lost)
        return ok && team_lost(t, e);
    return ok && (t->all.sum[TEAM_FAILED] == 0 || err_set(e, "%s", team_other_failed));
}

/* Waits until a call is over; does not sleep for the first busy_ns. Returns false if the call will
 * never be over. */
static bool wait_for(struct team *t, struct ranks_call *c, int64_t busy_ns)
{
    int64_t until_ns = clock_now_ns() + busy_ns;
    unsigned n_naps = 0;

    while (!ranks_done(c)) {
        if (clock_now_ns() < until_ns) {
            sched_yield();
            continue;
        }
        team_poll(t);
        if (t->lost)
            return false;
        nap(&n_naps);
    }
    return !c->failed;
}

/* Sends `data` of rank 0 to all ranks. Only before the first meeting or after the last. */
static bool hand_out(void *data, size_t n)
{
    struct ranks_call c = {.begun = false};
    int rank = ranks_rank();
    bool ok = true;

    for (int i = 1; i < ranks_size() && ok; i++) {
        unsigned n_naps = 0;
        if (rank == 0 || rank == i)
            ok = ranks_pass(&c, rank == 0, rank == 0 ? i : 0, data, n);
        while (ok && !ranks_done(&c))
            nap(&n_naps);
        ok = ok && !c.failed;
    }
    return ok;
}

/* ---- Commands ---- */

bool team_begin(const char *command, char *options, size_t n, struct err *e)
{
    struct team_order head = {.n_options = n};

    snprintf(head.version, sizeof head.version, "%s", version_string);
    snprintf(head.command, sizeof head.command, "%s", command);
    return (hand_out(&head, sizeof head) && hand_out(options, n)) ||
           err_set(e, "the other ranks cannot be told what to do");
}

int team_dismiss(int status)
{
    struct team_order head = {.status = status};

    hand_out(&head, sizeof head);
    return status;
}

_Noreturn void team_fail(const char *why)
{
    fprintf(stderr, "%s: rank %d: %s\n", ranks_program, ranks_rank(), why);
    ranks_abort(EXIT_FAILED);
}

bool team_follow(struct team_order *head, char **options)
{
    if (!hand_out(head, sizeof *head))
        team_fail("rank 0 is lost");
    if (head->command[0] == '\0')
        return false;
    if (strncmp(head->version, version_string, sizeof head->version - 1) != 0)
        team_fail("this is another version of the program than that of rank 0");
    *options = secret_alloc(head->n_options);
    if (*options == NULL)
        team_fail("out of memory");
    if (!hand_out(*options, head->n_options))
        team_fail("rank 0 is lost");
    return true;
}

/* ---- Clocks ---- */

static bool receive(struct team *t, int from, int64_t busy_ns)
{
    struct ranks_call c;

    return ranks_pass(&c, false, from, &t->pong, sizeof t->pong) && wait_for(t, &c, busy_ns);
}

static bool tell(struct team *t, int to, int64_t what)
{
    struct ranks_call c;

    t->ping = what;
    return ranks_pass(&c, true, to, &t->ping, sizeof t->ping) && wait_for(t, &c, PING_BUSY_NS);
}

/* Rank 0 answers each message with the time at which it came, until the last message. */
static bool answer(struct team *t, int to, int64_t offset_ns)
{
    do {
        if (!receive(t, to, PING_BUSY_NS) || !tell(t, to, clock_now_ns() + offset_ns))
            return false;
    } while (t->pong != 0);
    return true;
}

/* Measures the clock by exchanges with rank 0. Rank 0 read its clock at some time within the
 * exchange, so the error is at most half the length of the shortest exchange. */
static bool ask(struct team *t, int64_t offset_ns, struct team_clock *clock)
{
    int64_t begin_ns = clock_now_ns();
    int64_t shortest_ns = INT64_MAX;

    for (int64_t i = 0, more = 1; more != 0; i++) {
        int64_t from_ns = clock_now_ns();
        more = i + 1 < N_PINGS && (i < N_LEAST || from_ns - begin_ns < PINGS_NS);
        if (!tell(t, 0, more) || !receive(t, 0, PING_BUSY_NS))
            return false;
        int64_t took_ns = clock_now_ns() - from_ns;
        if (took_ns >= shortest_ns)
            continue;
        shortest_ns = took_ns;
        clock->at_ns = from_ns + took_ns / 2 + offset_ns;
        clock->ahead_ns = clock->at_ns - t->pong;
        clock->error_ns = (took_ns + 1) / 2;
    }
    return true;
}

void team_measure_clock(struct team *t, int64_t offset_ns, size_t i)
{
    struct team_clock *clock = &t->clocks[i];

    if (t->lost)
        return;
    *clock = (struct team_clock){.at_ns = clock_now_ns() + offset_ns};
    /* Measure one rank at a time: rank 0 cannot answer two at once without delay. */
    for (int other = 1; t->rank == 0 && other < t->size && !t->lost; other++)
        if (!tell(t, other, 1) || !answer(t, other, offset_ns))
            t->lost = true;
    if (t->rank > 0 && (!receive(t, 0, 0) || !ask(t, offset_ns, clock)))
        t->lost = true;
}

/* ---- Data ---- */

/* Sends n_out bytes to rank - by, and receives n_in bytes from rank + by. */
static bool exchange(struct team *t, int by, void *out, size_t n_out, void *in, size_t n_in)
{
    struct ranks_call sent, received;

    return ranks_pass(&received, false, (t->rank + by) % t->size, in, n_in) &&
           ranks_pass(&sent, true, (t->rank + t->size - by) % t->size, out, n_out) &&
           wait_for(t, &received, 0) && wait_for(t, &sent, 0);
}

bool team_swap(struct team *t, int by, const struct strbuf *out, struct strbuf *in, struct err *e)
{
    t->ping = (int64_t)out->n;
    bool ok = exchange(t, by, &t->ping, sizeof t->ping, &t->pong, sizeof t->pong) &&
              strbuf_reserve(in, (size_t)t->pong) &&
              exchange(t, by, out->s, out->n, in->s, (size_t)t->pong);

    in->n = ok ? (size_t)t->pong : 0;
    t->lost = t->lost || !ok;
    return ok || err_set(e, "what was uploaded cannot be told to another rank");
}

/* Copies the file in blocks. The first block that is not full is the last one. */
bool team_copy_file(struct team *t, int from, const char *path, struct err *e)
{
    struct ranks_call c;
    bool sends = t->rank == from;
    char *block = malloc(BLOCK_BYTES);
    FILE *file = fopen(path, sends ? "re" : "wxe");
    bool ok = file != NULL || err_errno(e, errno, "cannot %s '%s'", sends ? "read" : "make", path);

    ok = ok && (block != NULL || mem_none(e));
    t->lost = t->lost || (block == NULL && !sends);
    for (size_t n = BLOCK_BYTES; n == BLOCK_BYTES && !t->lost;) {
        if (sends)
            n = ok ? fread(block, 1, BLOCK_BYTES, file) : 0;
        team_poll(t);
        bool begun = ranks_pass(&c, sends, sends ? 0 : from, block, sends ? n : BLOCK_BYTES);
        t->lost = t->lost || !begun || !wait_for(t, &c, BLOCK_BUSY_NS);
        n = sends || t->lost ? n : c.n;
        if (ok && !sends && !t->lost && fwrite(block, 1, n, file) != n)
            ok = err_errno(e, errno, "cannot write '%s'", path);
        else if (ok && sends && ferror(file))
            ok = err_errno(e, errno, "cannot read '%s'", path);
    }
    if (file != NULL && fclose(file) != 0 && ok)
        ok = err_errno(e, errno, "cannot write '%s'", path);
    /* If a rank is lost, MPI may still use the block. */
    if (!t->lost)
        free(block);
    return ok && (!t->lost || err_set(e, "the capture of rank %d does not reach rank 0", from));
}

/* ---- The end ---- */

/* Waits until all ranks but the lost one have reported that they have ended. */
static void await_others(const struct team *t, int64_t until_ns)
{
    struct ranks_call *calls = calloc((size_t)t->size, sizeof *calls);
    char *other = malloc((size_t)t->size);
    bool ok = calls != NULL && other != NULL;

    for (int i = 1; ok && i < t->size; i++)
        ok = ranks_pass(&calls[i], false, i, &other[i], 1);
    for (int n = t->size; ok && n > 1 && clock_now_ns() < until_ns; clock_sleep_ns(LONG_SLEEP_NS)) {
        n = 0;
        for (int i = 1; i < t->size; i++)
            n += !ranks_done(&calls[i]);
    }
    /* Do not free: MPI may write to this memory while the lost rank lives. */
}

_Noreturn void team_abort(struct team *t, int status)
{
    struct ranks_call c;
    int64_t until_ns = clock_now_ns() + t->timeout_ns;
    char done = 1;

    /* If a message was on its way when the rank was lost, rank 0 may take it for this one. That
     * does no harm: its sender has little left to do. */
    if (t->rank > 0 && ranks_pass(&c, true, 0, &done, 1))
        while (clock_now_ns() < until_ns)
            clock_sleep_ns(LONG_SLEEP_NS);
    else if (t->rank == 0)
        await_others(t, until_ns);
    ranks_abort(status);
}
