#include "loadgen/run/bench.h"

#include <ifaddrs.h>
#include <inttypes.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <unistd.h>

#define EVERY_NS (10 * NS_PER_S)
#define UNKNOWN  INT64_C(-1)

/* ---- What the kernel reports ---- */

static int64_t read_interface(const struct machine *m, const char *file)
{
    char path[64 + IF_NAMESIZE];

    snprintf(path, sizeof path, "/sys/class/net/%s/%s", m->interface, file);
    return kernel_number(m->engine->root, path, "");
}

/* Writes the frequency governor of the first CPU whose governor is not "performance"; else
 * "performance"; "": unknown. */
static void read_governor(const struct machine *m, char text[static 64])
{
    long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
    char path[80];

    text[0] = '\0';
    for (long i = 0; i < n_cpus && (text[0] == '\0' || strcmp(text, "performance") == 0); i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/cpufreq/scaling_governor", i);
        if (kernel_text(m->engine->root, path, text, 64))
            text[strcspn(text, "\n")] = '\0';
    }
}

/* ---- The figures ---- */

/* Adds a figure that was read in units of `unit`, unless it is unknown or beyond 64 bits. Leaves it
 * out if memory runs out. */
static void put(json_t *figures, const char *name, int64_t value, int64_t unit)
{
    if (value >= 0 && value < INT64_MAX / unit)
        json_object_set_new(figures, name, json_integer(value * unit));
}

static void put_cpu_times(const struct machine *m, json_t *figures)
{
    int64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
    int64_t t[8]; /* user, nice, system, idle, waiting, interrupts, soft interrupts, stolen */
    char text[512];

    put(figures, "cpu_ns", clock_read_ns(CLOCK_PROCESS_CPUTIME_ID), 1);
    if (!kernel_text(m->engine->root, "/proc/stat", text, sizeof text) ||
        sscanf(text,
               "cpu %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
               " %" SCNd64 " %" SCNd64,
               &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) != 8)
        return;
    for (const int *i = (const int[]){1, 2, 5, 6, 0}; *i > 0; i++)
        t[0] = int64_add_clamped(t[0], t[*i]);
    put(figures, "busy_ns", t[0], tick_ns);
    put(figures, "steal_ns", t[7], tick_ns);
}

/* Returns the figures that only grow. */
static json_t *counters(const struct machine *m, int64_t n_retransmits)
{
    struct cgroups groups = cgroups_read(m->engine->root);
    int64_t rx = read_interface(m, "statistics/rx_dropped");
    int64_t tx = read_interface(m, "statistics/tx_dropped");
    json_t *figures = json_object();

    put_cpu_times(m, figures);
    put(figures, "cpu_stall_ns", kernel_number(m->engine->root, "/proc/pressure/cpu", "total="),
        NS_PER_US);
    put(figures, "memory_stall_ns",
        kernel_number(m->engine->root, "/proc/pressure/memory", "total="), NS_PER_US);
    put(figures, "n_throttled", groups.n_throttled, 1);
    put(figures, "throttled_ns", groups.throttled_ns, 1);
    put(figures, "rx_bytes", read_interface(m, "statistics/rx_bytes"), 1);
    put(figures, "tx_bytes", read_interface(m, "statistics/tx_bytes"), 1);
    put(figures, "n_dropped", rx >= 0 && tx >= 0 ? int64_add_clamped(rx, tx) : UNKNOWN, 1);
    put(figures, "n_retransmits", n_retransmits, 1);
    return figures;
}

/* Tests supply the status and the error in a file. */
static void put_clock(const struct machine *m, json_t *figures)
{
    struct timex t = {0};
    bool known = m->engine->root[0] == '\0' && adjtimex(&t) >= 0;

    if (m->engine->root[0] != '\0') {
        t.maxerror = (long)kernel_number(m->engine->root, "/adjtimex", "maxerror ");
        t.status = (int)kernel_number(m->engine->root, "/adjtimex", "status ");
        known = t.maxerror >= 0 && t.status >= 0;
    }
    if (!known)
        return;
    put(figures, "clock_error_ns", t.maxerror, NS_PER_US);
    put(figures, "clock_synchronised", (t.status & STA_UNSYNC) == 0, 1);
}

/* Adds the figures that may also fall. */
static void put_state(const struct machine *m, json_t *figures)
{
    int64_t n_running, mbits = read_interface(m, "speed");
    int64_t no_turbo =
        kernel_number(m->engine->root, "/sys/devices/system/cpu/intel_pstate/no_turbo", "");
    unsigned quota = cgroups_read(m->engine->root).cpus;
    char text[512];

    put(figures, "cpus", sysconf(_SC_NPROCESSORS_ONLN), 1);
    if (kernel_text(m->engine->root, "/proc/loadavg", text, sizeof text) &&
        sscanf(text, "%*f %*f %*f %" SCNd64, &n_running) == 1)
        put(figures, "n_running", n_running, 1);
    put(figures, "quota_cpus", quota < UINT_MAX ? quota : UNKNOWN, 1);
    /* Drivers report -1 or 0 if they know no speed. */
    put(figures, "link_bits_per_s", mbits > 0 ? mbits : UNKNOWN, 1000000);
    put_clock(m, figures);
    put(figures, "turbo",
        no_turbo >= 0 ? no_turbo == 0
                      : kernel_number(m->engine->root, "/sys/devices/system/cpu/cpufreq/boost", ""),
        1);
}

/* ---- The interface to an address ---- */

/* Finds our own address on the way to another one: connects a UDP socket, which sends nothing, and
 * reads the local address that the kernel chose. */
static bool local_address(const char *address, struct sockaddr_storage *local)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *to = NULL;
    socklen_t n = sizeof *local;

    if (getaddrinfo(address, "9", &hints, &to) != 0)
        return false;
    int fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool ok = fd >= 0 && connect(fd, to->ai_addr, to->ai_addrlen) == 0 &&
              getsockname(fd, (struct sockaddr *)local, &n) == 0;
    if (fd >= 0)
        close(fd);
    freeaddrinfo(to);
    return ok;
}

static bool same_address(const struct sockaddr *a, const struct sockaddr_storage *b)
{
    if (a == NULL || a->sa_family != b->ss_family)
        return false;
    return a->sa_family == AF_INET
               ? memcmp(&((const struct sockaddr_in *)a)->sin_addr,
                        &((const struct sockaddr_in *)b)->sin_addr, sizeof(struct in_addr)) == 0
               : memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                        &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr)) == 0;
}

/* Writes the name of the interface that leads to a numeric address; "": unknown. */
static void find_interface(const char *address, char name[static IF_NAMESIZE])
{
    struct sockaddr_storage local;
    struct ifaddrs *all = NULL;

    name[0] = '\0';
    if (!local_address(address, &local) || getifaddrs(&all) != 0)
        return;
    for (const struct ifaddrs *i = all; i != NULL && name[0] == '\0'; i = i->ifa_next)
        if (same_address(i->ifa_addr, &local))
            snprintf(name, IF_NAMESIZE, "%s", i->ifa_name);
    freeifaddrs(all);
}

/* ---- During a run ---- */

void machine_init(struct machine *m, const struct engine *g)
{
    char host[NAMES_HOST_MAX];
    char route[NAMES_ROUTE_MAX];

    *m = (struct machine){.engine = g, .setup = clock_thread_share(g->root)};
    name_split(g->hosts.host[0].peer, host);
    /* HOST:PORT:ADDRESS,ADDRESS with IPv6 addresses in brackets */
    if (g->names != NULL && names_route(g->names, 0, route)) {
        const char *at = strchr(strchr(route, ':') + 1, ':') + 1;
        at += *at == '[';
        snprintf(host, sizeof host, "%.*s", (int)strcspn(at, "],"), at);
    }
    find_interface(host, m->interface);
}

void machine_fini(struct machine *m)
{
    json_decref(m->base);
    json_decref(m->end);
    json_decref(m->retransmits);
}

/* Records the retransmits since the last check, or up to a second before it, as loops count once a
 * second. Times are by the capture's clock. Leaves them out if memory runs out. */
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

void machine_start(struct machine *m, const struct crew *crew)
{
    m->n_retransmits = crew_counts(crew).n_retransmits;
    m->base_ns = m->looked_ns = clock_now_ns();
    m->next_ns = m->base_ns + EVERY_NS;
    m->base = counters(m, m->n_retransmits);
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

/* Returns the current figures, except for retransmits by time. NULL: out of memory. */
static json_t *read_all(struct machine *m, const struct crew *crew)
{
    struct crew_counts counts = crew_counts(crew);
    int64_t now_ns = clock_now_ns();
    json_t *counted = counters(m, counts.n_retransmits);
    const char *name;
    json_t *value;
    char governor[64];

    if (m->base_ns > 0)
        look(m, counts.n_retransmits, now_ns);
    read_governor(m, governor);
    /* A text that is not UTF-8 is left out: json_string returns NULL. */
    json_t *o =
        json_pack("{s:I, s:I, s:o*, s:o*}", "at_ns", (json_int_t)(now_ns + m->engine->offset_ns),
                  "over_ns", (json_int_t)(m->base_ns > 0 ? now_ns - m->base_ns : 0), "governor",
                  governor[0] != '\0' ? json_string(governor) : NULL, "interface",
                  m->interface[0] != '\0' ? json_string(m->interface) : NULL);
    json_object_foreach(counted, name, value)
    {
        const json_t *from = json_object_get(m->base, name);
        if (from != NULL)
            put(o, name, json_integer_value(value) - json_integer_value(from), 1);
    }
    if (m->base_ns > 0) {
        put(o, "wait_ns", counts.waited_ns, 1);
        put(o, "loops", crew->n_loops, 1);
    }
    put(o, "setup_cpu_ns", m->setup.ran_ns, 1);
    put(o, "setup_wait_ns", m->setup.waited_ns, 1);
    put_state(m, o);
    json_decref(counted);
    return o;
}

void machine_end(struct machine *m, const struct crew *crew)
{
    m->end = read_all(m, crew);
}

json_t *machine_json(struct machine *m, const struct crew *crew)
{
    json_t *o = m->end != NULL ? json_copy(m->end) : read_all(m, crew);

    if (m->retransmits != NULL)
        json_object_set_new(o, "retransmits", m->retransmits);
    m->retransmits = NULL;
    return o;
}
