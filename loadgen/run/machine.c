#include "loadgen/run/machine.h"

#include "libcommon/units.h"
#include "loadgen/net/interface.h"
#include "loadgen/util/cgroups.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#define EVERY_NS (10 * NS_PER_S)
#define UNKNOWN  INT64_C(-1)

static const char *const NAMES[MACHINE_N_FIGURES] = {
    "cpu_ns",      "busy_ns",         "steal_ns",       "memory_stall_ns",
    "n_throttled", "throttled_ns",    "rx_bytes",       "tx_bytes",
    "n_dropped",   "n_retransmits",   "cpus",           "n_running",
    "quota_cpus",  "link_bits_per_s", "clock_error_ns", "clock_synchronised",
    "turbo",
};

/* ---- What the kernel tells ---- */

/* Reads the first bytes of a file below the root. False: it cannot be read. */
static bool read_text(const struct machine *m, const char *path, char *text, size_t size)
{
    char name[8400];

    snprintf(name, sizeof name, "%s%s", m->root, path);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Returns the number that follows `key` in a file. */
static int64_t read_number(const struct machine *m, const char *path, const char *key)
{
    char text[4096];
    int64_t value = UNKNOWN;
    const char *at = read_text(m, path, text, sizeof text) ? strstr(text, key) : NULL;

    return at != NULL && sscanf(at + strlen(key), "%" SCNd64, &value) == 1 ? value : UNKNOWN;
}

static int64_t times(int64_t value, int64_t unit)
{
    return value < 0 || value > INT64_MAX / unit ? UNKNOWN : value * unit;
}

static void read_cpus(const struct machine *m, int64_t *v)
{
    int64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
    int64_t t[8]; /* user, nice, system, idle, waiting, interrupts, soft interrupts, stolen */
    char text[512];

    v[MACHINE_CPU] = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
    v[MACHINE_CPUS] = sysconf(_SC_NPROCESSORS_ONLN);
    if (read_text(m, "/proc/stat", text, sizeof text) &&
        sscanf(text,
               "cpu %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
               " %" SCNd64 " %" SCNd64,
               &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) == 8) {
        v[MACHINE_BUSY] = times(t[0] + t[1] + t[2] + t[5] + t[6], tick_ns);
        v[MACHINE_STEAL] = times(t[7], tick_ns);
    }
    if (read_text(m, "/proc/loadavg", text, sizeof text) &&
        sscanf(text, "%*f %*f %*f %" SCNd64, &v[MACHINE_RUNNING]) != 1)
        v[MACHINE_RUNNING] = UNKNOWN;
    int64_t no_turbo = read_number(m, "/sys/devices/system/cpu/intel_pstate/no_turbo", "");
    v[MACHINE_TURBO] =
        no_turbo >= 0 ? no_turbo == 0 : read_number(m, "/sys/devices/system/cpu/cpufreq/boost", "");
    v[MACHINE_MEMORY] = times(read_number(m, "/proc/pressure/memory", "total="), NS_PER_US);
}

/* Writes the frequency governor of the first CPU that has another one than "performance", or that.
 * "": unknown. */
static void read_governor(const struct machine *m, char text[static 64])
{
    bool known = false;
    char path[80];

    for (long i = 0, n = sysconf(_SC_NPROCESSORS_CONF); i < n; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/cpufreq/scaling_governor", i);
        if (!read_text(m, path, text, 64))
            continue;
        known = true;
        text[strcspn(text, "\n")] = '\0';
        if (strcmp(text, "performance") != 0)
            return;
    }
    strcpy(text, known ? "performance" : "");
}

struct throttling {
    const struct machine *m;
    int64_t n, ns;
};

/* Adds a control group. Version 1 counts ns, version 2 us. */
static void add_group(void *ctx, const char *group)
{
    struct throttling *t = ctx;
    char path[8300];

    snprintf(path, sizeof path, "%s/cpu.stat", group + strlen(t->m->root));
    int64_t n = read_number(t->m, path, "nr_throttled");
    int64_t ns = read_number(t->m, path, "throttled_time");
    if (ns < 0)
        ns = times(read_number(t->m, path, "throttled_usec"), NS_PER_US);
    if (n < 0 || ns < 0)
        return;
    t->n = n + (t->n > 0 ? t->n : 0);
    t->ns = ns + (t->ns > 0 ? t->ns : 0);
}

static void read_groups(const struct machine *m, int64_t *v)
{
    struct throttling t = {m, UNKNOWN, UNKNOWN};
    char groups[4200], root[4200];

    snprintf(groups, sizeof groups, "%s/proc/self/cgroup", m->root);
    snprintf(root, sizeof root, "%s/sys/fs/cgroup", m->root);
    cgroups_each(groups, root, add_group, &t);
    unsigned quota = cgroups_cpus(groups, root);
    v[MACHINE_QUOTA] = quota < UINT_MAX ? quota : UNKNOWN;
    v[MACHINE_N_THROTTLED] = t.n;
    v[MACHINE_THROTTLED] = t.ns;
}

static int64_t read_interface(const struct machine *m, const char *file)
{
    char path[64 + IF_NAMESIZE];

    snprintf(path, sizeof path, "/sys/class/net/%s/%s", m->interface, file);
    return m->interface[0] != '\0' ? read_number(m, path, "") : UNKNOWN;
}

static void read_network(const struct machine *m, int64_t *v)
{
    int64_t rx = read_interface(m, "statistics/rx_dropped");
    int64_t tx = read_interface(m, "statistics/tx_dropped");

    v[MACHINE_RX] = read_interface(m, "statistics/rx_bytes");
    v[MACHINE_TX] = read_interface(m, "statistics/tx_bytes");
    v[MACHINE_DROPS] = rx >= 0 && tx >= 0 ? rx + tx : UNKNOWN;
    /* -1 and 0 are what drivers say that know no speed. */
    int64_t mbits = read_interface(m, "speed");
    v[MACHINE_LINK] = mbits > 0 ? times(mbits, 1000000) : UNKNOWN;
}

/* Tests plant the status and the error in a file. */
static void read_clock(const struct machine *m, int64_t *v)
{
    struct timex t = {0};
    bool known = m->root[0] == '\0' && adjtimex(&t) >= 0;

    if (m->root[0] != '\0') {
        t.maxerror = (long)read_number(m, "/adjtimex", "maxerror ");
        t.status = (int)read_number(m, "/adjtimex", "status ");
        known = t.maxerror >= 0 && t.status >= 0;
    }
    if (!known)
        return;
    v[MACHINE_SYNCHRONISED] = (t.status & STA_UNSYNC) == 0;
    v[MACHINE_CLOCK_ERROR] = times(t.maxerror, NS_PER_US);
}

static void read_all(const struct machine *m, const struct crew *crew, int64_t *v)
{
    for (size_t i = 0; i < MACHINE_N_FIGURES; i++)
        v[i] = UNKNOWN;
    read_cpus(m, v);
    read_groups(m, v);
    read_network(m, v);
    read_clock(m, v);
    v[MACHINE_RETRANSMITS] = crew_counts(crew).n_retransmits;
}

/* ---- In the course of a run ---- */

void machine_init(struct machine *m, const struct engine *g)
{
    const char *root = getenv("S3LOAD_TEST_ROOT");
    char host[NAMES_HOST_MAX];
    char route[NAMES_ROUTE_MAX];

    *m = (struct machine){.engine = g, .root = root != NULL ? root : ""};
    name_split(g->host[0].name, host);
    /* HOST:PORT:ADDRESS,ADDRESS, where addresses of version 6 stand in brackets */
    if (g->names != NULL && names_route(g->names, 0, route)) {
        const char *at = strchr(strchr(route, ':') + 1, ':') + 1;
        at += *at == '[';
        snprintf(host, sizeof host, "%.*s", (int)strcspn(at, "],"), at);
    }
    interface_to(host, m->interface);
}

void machine_fini(struct machine *m)
{
    json_decref(m->retransmits);
}

/* Notes what was sent again since the last look, or before it: loops count once a second. Times are
 * by the capture's clock. What does not fit into memory is not told. */
static void look(struct machine *m, int64_t n_retransmits, int64_t now_ns)
{
    int64_t n = n_retransmits - m->n_retransmits, offset_ns = m->engine->offset_ns;

    if (n > 0 && m->retransmits == NULL)
        m->retransmits = json_array();
    if (n > 0)
        json_array_append_new(m->retransmits,
                              json_pack("[I, I, I]",
                                        (json_int_t)(m->looked_ns - NS_PER_S + offset_ns),
                                        (json_int_t)(now_ns + offset_ns), (json_int_t)n));
    m->n_retransmits = n_retransmits;
    m->looked_ns = now_ns;
}

/* Reads everything. */
static void take(struct machine *m, const struct crew *crew)
{
    m->at_ns = clock_now_ns();
    read_all(m, crew, m->now);
    if (m->base_ns > 0)
        look(m, m->now[MACHINE_RETRANSMITS], m->at_ns);
}

void machine_start(struct machine *m, const struct crew *crew)
{
    take(m, crew);
    memcpy(m->base, m->now, sizeof m->base);
    m->base_ns = m->looked_ns = m->at_ns;
    m->next_ns = m->base_ns + EVERY_NS;
    m->n_retransmits = m->base[MACHINE_RETRANSMITS];
}

void machine_end(struct machine *m, const struct crew *crew)
{
    take(m, crew);
    m->end_ns = m->at_ns;
}

bool machine_tick(struct machine *m, const struct crew *crew, int64_t now_ns)
{
    if (now_ns - m->looked_ns >= NS_PER_S)
        look(m, crew_counts(crew).n_retransmits, now_ns);
    if (now_ns < m->next_ns)
        return false;
    m->next_ns = now_ns + EVERY_NS;
    return true;
}

json_t *machine_tell(struct machine *m, const struct crew *crew)
{
    size_t first = m->base_ns > 0 ? 0 : MACHINE_N_COUNTERS;
    char governor[64];

    if (m->end_ns == 0)
        take(m, crew);
    read_governor(m, governor);
    /* A text that is not UTF-8 is left out. */
    json_t *o =
        json_pack("{s:I, s:I, s:o*, s:o*}", "at_ns", (json_int_t)(m->at_ns + m->engine->offset_ns),
                  "over_ns", (json_int_t)(m->base_ns > 0 ? m->at_ns - m->base_ns : 0), "governor",
                  governor[0] != '\0' ? json_string(governor) : NULL, "interface",
                  m->interface[0] != '\0' ? json_string(m->interface) : NULL);
    bool ok = o != NULL;
    for (size_t i = first; i < MACHINE_N_FIGURES; i++) {
        int64_t from = i < MACHINE_N_COUNTERS ? m->base[i] : 0;
        if (m->now[i] != UNKNOWN && from != UNKNOWN)
            ok &= json_object_set_new(o, NAMES[i], json_integer(m->now[i] - from)) == 0;
    }
    if (m->retransmits != NULL)
        ok &= json_object_set_new(o, "retransmits", m->retransmits) == 0;
    m->retransmits = NULL;
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}
