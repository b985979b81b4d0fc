/* What a client's machine does while it measures: CPUs, memory, network, clock and limits
 * (docs/machine.md). The figures come from /proc, /sys and the sockets of our connections. What a
 * system does not tell is unknown. */
#ifndef S3_LOADGEN_RUN_MACHINE_H
#define S3_LOADGEN_RUN_MACHINE_H

#include "loadgen/load/crew.h"

#include <jansson.h>
#include <net/if.h>

/* The figures. Those before MACHINE_N_COUNTERS count from machine_start on. */
enum machine_figure {
    MACHINE_CPU,         /* CPU time of this process, ns */
    MACHINE_BUSY,        /* CPU time of all processes, ns */
    MACHINE_STEAL,       /* CPU time that the hypervisor gave to others, ns */
    MACHINE_MEMORY,      /* time in which a task waited for memory (PSI), ns */
    MACHINE_N_THROTTLED, /* how often quotas of control groups stopped threads */
    MACHINE_THROTTLED,   /* for how long, ns; the sum over CPUs */
    MACHINE_RX,          /* bytes of the interface */
    MACHINE_TX,
    MACHINE_DROPS,       /* packets that it dropped */
    MACHINE_RETRANSMITS, /* TCP segments that our connections sent again */
    MACHINE_N_COUNTERS,
    MACHINE_CPUS = MACHINE_N_COUNTERS,
    MACHINE_RUNNING,      /* tasks that run or wait for a CPU */
    MACHINE_QUOTA,        /* CPUs that quotas allow, rounded up */
    MACHINE_LINK,         /* speed of the interface, bits per second */
    MACHINE_CLOCK_ERROR,  /* the largest that the kernel thinks possible, ns */
    MACHINE_SYNCHRONISED, /* 1: the kernel's clock is, 0: it is not */
    MACHINE_TURBO,        /* 1: on, 0: off */
    MACHINE_N_FIGURES,
};

struct machine {
    const struct engine *engine;
    const char *root;            /* where /proc and /sys are; "" but in tests */
    char interface[IF_NAMESIZE]; /* the one that leads to the first host; "": unknown */
    int64_t base[MACHINE_N_COUNTERS];
    int64_t base_ns;                  /* when counting began; 0: it has not */
    int64_t end_ns;                   /* when it ended; 0: it has not */
    int64_t next_ns;                  /* when the next comment is due */
    int64_t looked_ns, n_retransmits; /* when we last looked for them, and how many there were */
    json_t *retransmits; /* those that were not told: [[from, to, how many], ...]; NULL: none */
    int64_t at_ns;       /* when the figures were last read */
    int64_t now[MACHINE_N_FIGURES]; /* -1: unknown */
};

/* Finds the interface. Borrows the engine, which must be set up. */
void machine_init(struct machine *m, const struct engine *g);

void machine_fini(struct machine *m);

/* Begins to count. */
void machine_start(struct machine *m, const struct crew *crew);

/* Ends counting. */
void machine_end(struct machine *m, const struct crew *crew);

/* Looks for retransmits if a second is over. Returns true if a comment is due. */
bool machine_tick(struct machine *m, const struct crew *crew, int64_t now_ns);

/* Returns an object with all that is known now, for a comment; counts are those since
 * machine_start, and left out before it. NULL: out of memory. */
json_t *machine_tell(struct machine *m, const struct crew *crew);

#endif
