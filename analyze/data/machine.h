/* Reads what s3load says about the machines that it ran on (docs/machine.md): objects "machine" in
 * its opening and closing comments, and comments "s3load/machine/1 {...}" in between. All counts
 * begin with the benchmark, so the last comment covers the whole run. */
#ifndef S3_ANALYZE_DATA_MACHINE_H
#define S3_ANALYZE_DATA_MACHINE_H

#include "analyze/data/rank_clock.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACHINE_CLIENT_BYTES 80

/* Most intervals with retransmits that are kept: those with the most retransmits. */
#define MACHINE_MAX_RETRANSMITS 64

/* Faults of a machine that make a measurement unreliable, each with the meaning of its value. */
enum machine_fault {
    MACHINE_STOLEN,         /* percent of all CPU time that the hypervisor gave to others */
    MACHINE_STOLEN_BRIEFLY, /* the same, the highest between two comments */
    MACHINE_THROTTLED,      /* percent of the time for which a CPU quota stopped threads, summed
                               over CPUs */
    MACHINE_GOVERNOR,       /* no value: CPU frequencies follow the load */
    MACHINE_BUSY,           /* percent of all CPU time */
    MACHINE_WAITED,         /* percent of the time that s3load's threads waited for a CPU, a mean */
    MACHINE_LINK_FULL,      /* percent of what the link can carry in one direction */
    MACHINE_LINK_EXCEEDED,  /* the same, computed from the bodies of requests */
    MACHINE_UNSYNCHRONISED, /* no value: the kernel says that its clock is not synchronised */
    MACHINE_N_FAULTS
};

/* A fault of one or several clients. */
struct machine_found {
    uint64_t n_clients;                /* clients with the fault; 0: none */
    double value;                      /* of the worst client */
    char client[MACHINE_CLIENT_BYTES]; /* the worst client's name */
    char what[32];                     /* its governor; else "" */
};

/* Number of TCP retransmits in an interval, by the clock of the rows. */
struct machine_retransmits {
    int64_t start_ns, end_ns, n;
};

/* The latest counts of a run. -1: not recorded. */
struct machine_told {
    char client[MACHINE_CLIENT_BYTES];
    char governor[32];
    bool is_local;    /* the server is on the same machine: its CPU time is in `busy` */
    int64_t begin_ns; /* start of the benchmark by the machine's clock: identifies the run, with the
                         client */
    int64_t over_ns, cpus, busy_ns, steal_ns, n_throttled, throttled_ns;
    int64_t cpu_ns, loops, wait_ns, setup_cpu_ns, setup_wait_ns;
    int64_t rx_bytes, tx_bytes, link_bits_per_s, synchronised;
    int64_t body_bytes, body_ns; /* bytes of request bodies, and the duration of the benchmark */
    double worst_steal_pct;
};

/* The machines of all runs in a capture. All zero: nothing was recorded. */
struct machine {
    struct machine_found found[MACHINE_N_FAULTS]; /* of all runs except the last */
    struct machine_told last;
    struct machine_retransmits retransmits[MACHINE_MAX_RETRANSMITS];
    size_t n_retransmits;
    double n_sent_again, told_ns; /* all retransmits, and the total time of the runs that counted
                                     them */
};

/* Adds an object "machine". `comment` is the closing comment that it is in; NULL: another comment.
 * `clock` is the clock of its run. */
void machine_take(struct machine *m, const json_t *told, const json_t *comment,
                  const struct rank_clock *clock);

/* Adds the faults of all runs to `found`. */
void machine_find(const struct machine *m, struct machine_found found[MACHINE_N_FAULTS]);

#endif
