#include "analyze/data/machine.h"

#include "analyze/write/json_in.h"

#include <string.h>

/* A value above its limit is a fault. Below, machines differ by chance, or it changes nothing. */
#define STEAL_PCT     1
#define THROTTLED_PCT 0
#define BUSY_PCT      90
#define LINK_PCT      95
#define EXCEEDED_PCT  100

/* A thread has waited for a CPU if it waited longer than it ran, and this share of the time. With a
 * server on the same machine that may be the server's doing. Then others must have taken CPU time
 * before the load began, too. */
#define WAITED_PCT       1
#define WAITED_READY_PCT 50
#define WAITED_SETUP_PCT 20

/* Larger percentages or times are nonsense and ignored. */
#define PCT_MAX  1e6
#define TIME_MAX (INT64_MAX / 4)

static int64_t number(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);

    return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value)
                                                                    : -1;
}

/* Returns 100 * part / whole; -1: one of them is not known. */
static double share_pct(double part, double whole)
{
    double pct = whole > 0 && part >= 0 ? 100 * part / whole : -1;

    return pct <= PCT_MAX ? pct : -1;
}

/* Returns the percentage of the time in which a thread was ready and had to wait; -1: unknown. */
static double waited_pct(int64_t wait_ns, int64_t cpu_ns)
{
    return cpu_ns >= 0 ? share_pct((double)wait_ns, (double)wait_ns + (double)cpu_ns) : -1;
}

/* Returns the CPU time available so far; negative: unknown. */
static double cpu_ns(const struct machine_told *t)
{
    return (double)t->over_ns * (double)t->cpus;
}

static void find(struct machine_found *f, const struct machine_told *t, double value, double least)
{
    if (value <= least)
        return;
    if (f->n_clients++ > 0 && value <= f->value)
        return;
    f->value = value;
    memcpy(f->client, t->client, sizeof f->client);
    memcpy(f->what, t->governor, sizeof f->what);
}

/* Adds the faults of a run. */
static void find_last(const struct machine_told *t, struct machine_found *found)
{
    double capacity = (double)t->link_bits_per_s / 8 * (double)t->over_ns / 1e9;
    double bodies = (double)t->link_bits_per_s / 8 * (double)t->body_ns / 1e9;
    double least = t->rx_bytes < t->tx_bytes ? (double)t->rx_bytes : (double)t->tx_bytes;
    double most = t->rx_bytes > t->tx_bytes ? (double)t->rx_bytes : (double)t->tx_bytes;
    double ways = least > most / 10 ? 2 : 1; /* a mix of uploads and downloads uses both */
    bool tuned = t->governor[0] == '\0' || strcmp(t->governor, "performance") == 0;
    double steal = share_pct((double)t->steal_ns, cpu_ns(t));

    if (t->over_ns <= 0)
        return;
    find(&found[MACHINE_STOLEN], t, steal, STEAL_PCT);
    if (steal <= STEAL_PCT)
        find(&found[MACHINE_STOLEN_BRIEFLY], t, t->worst_steal_pct, STEAL_PCT);
    if (t->n_throttled > 0)
        find(&found[MACHINE_THROTTLED], t, share_pct((double)t->throttled_ns, (double)t->over_ns),
             THROTTLED_PCT);
    find(&found[MACHINE_GOVERNOR], t, !tuned, 0);
    if (!t->is_local)
        find(&found[MACHINE_BUSY], t, share_pct((double)t->busy_ns, cpu_ns(t)), BUSY_PCT);
    if ((!t->is_local || waited_pct(t->setup_wait_ns, t->setup_cpu_ns) > WAITED_SETUP_PCT) &&
        waited_pct(t->wait_ns, t->cpu_ns) > WAITED_READY_PCT)
        find(&found[MACHINE_WAITED], t,
             share_pct((double)t->wait_ns, (double)t->loops * (double)t->over_ns), WAITED_PCT);
    find(&found[MACHINE_LINK_FULL], t, share_pct(most, capacity), LINK_PCT);
    find(&found[MACHINE_LINK_EXCEEDED], t, share_pct((double)t->body_bytes, ways * bodies),
         EXCEEDED_PCT);
    find(&found[MACHINE_UNSYNCHRONISED], t, t->synchronised == 0, 0);
}

/* Adds an interval with retransmits. A full list drops the interval with the fewest. */
static void take_retransmits(struct machine *m, const json_t *o, const struct rank_clock *clock)
{
    struct machine_retransmits r = {json_integer_value(json_array_get(o, 0)),
                                    json_integer_value(json_array_get(o, 1)),
                                    json_integer_value(json_array_get(o, 2))};
    struct machine_retransmits *to = m->retransmits;

    if (r.n <= 0 || r.start_ns < 0 || r.end_ns <= r.start_ns || r.end_ns > TIME_MAX)
        return;
    int64_t ahead_ns = rank_clock_ahead(clock, r.start_ns);
    r.start_ns -= ahead_ns;
    r.end_ns -= ahead_ns;
    m->n_sent_again += (double)r.n;
    for (size_t i = 1; i < m->n_retransmits; i++)
        to = m->retransmits[i].n < to->n ? &m->retransmits[i] : to;
    if (m->n_retransmits < MACHINE_MAX_RETRANSMITS)
        m->retransmits[m->n_retransmits++] = r;
    else if (to->n < r.n)
        *to = r;
}

static struct machine_told read_told(const json_t *o)
{
    int64_t at_ns = number(o, "at_ns"), over_ns = number(o, "over_ns");
    struct machine_told t = {
        .begin_ns = over_ns > 0 ? at_ns - over_ns : 0,
        .over_ns = over_ns,
        .cpus = number(o, "cpus"),
        .cpu_ns = number(o, "cpu_ns"),
        .loops = number(o, "loops"),
        .wait_ns = number(o, "wait_ns"),
        .setup_cpu_ns = number(o, "setup_cpu_ns"),
        .setup_wait_ns = number(o, "setup_wait_ns"),
        .busy_ns = number(o, "busy_ns"),
        .steal_ns = number(o, "steal_ns"),
        .n_throttled = number(o, "n_throttled"),
        .throttled_ns = number(o, "throttled_ns"),
        .rx_bytes = number(o, "rx_bytes"),
        .tx_bytes = number(o, "tx_bytes"),
        .link_bits_per_s = number(o, "link_bits_per_s"),
        .synchronised = number(o, "clock_synchronised"),
        .body_bytes = -1,
    };
    const char *interface = json_string_value(json_object_get(o, "interface"));

    json_in_text(t.client, sizeof t.client, o, "client");
    json_in_text(t.governor, sizeof t.governor, o, "governor");
    t.is_local = interface != NULL && strcmp(interface, "lo") == 0;
    return t;
}

/* Returns the percentage of CPU time stolen between two comments of a run. */
static double steal_since(const struct machine_told *old, const struct machine_told *now)
{
    struct machine_told between = {.over_ns = now->over_ns - old->over_ns, .cpus = now->cpus};
    int64_t from_ns = old->steal_ns > 0 ? old->steal_ns : 0;

    return share_pct((double)(now->steal_ns - from_ns), cpu_ns(&between));
}

void machine_take(struct machine *m, const json_t *told, const json_t *comment,
                  const struct rank_clock *clock)
{
    const json_t *item;
    size_t i;

    if (!json_is_object(told))
        return;
    struct machine_told now = read_told(told);
    if (now.over_ns <= 0)
        return;
    bool goes_on = strcmp(now.client, m->last.client) == 0 && now.begin_ns == m->last.begin_ns &&
                   now.over_ns >= m->last.over_ns;
    if (!goes_on)
        find_last(&m->last, m->found);
    m->told_ns += (double)now.over_ns - (goes_on ? (double)m->last.over_ns : 0);
    if (goes_on) {
        double pct = now.over_ns > m->last.over_ns ? steal_since(&m->last, &now) : -1;
        now.worst_steal_pct = pct > m->last.worst_steal_pct ? pct : m->last.worst_steal_pct;
    }
    if (comment != NULL) {
        now.body_bytes = number(comment, "bytes");
        now.body_ns = number(comment, "bench_ns");
    }
    m->last = now;
    json_array_foreach(json_object_get(told, "retransmits"), i, item)
        take_retransmits(m, item, clock);
}

void machine_find(const struct machine *m, struct machine_found found[MACHINE_N_FAULTS])
{
    for (size_t i = 0; i < MACHINE_N_FAULTS; i++) {
        struct machine_found *to = &found[i];
        const struct machine_found *from = &m->found[i];
        uint64_t n = to->n_clients + from->n_clients;

        if (from->n_clients > 0 && (to->n_clients == 0 || from->value > to->value))
            *to = *from;
        to->n_clients = n;
    }
    find_last(&m->last, found);
}
