/* What s3load says about the machines that it ran on (docs/machine.md): objects "machine" in its
 * opening and closing comments, and comments "s3load/machine/1 {...}" in between. Each tells what
 * was counted since the benchmark began, so that the last one tells all of a run. */
#ifndef S3_ANALYZE_DATA_MACHINE_H
#define S3_ANALYZE_DATA_MACHINE_H

#include "analyze/data/rank_clock.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACHINE_CLIENT_BYTES 80

/* Only so many times of retransmits are kept: those with the most. */
#define MACHINE_MAX_RETRANSMITS 64

/* What may make a measurement unfit, and how it is measured: the value of a fault. */
enum machine_fault {
    MACHINE_STOLEN,         /* percent of all CPU time that the hypervisor gave to others */
    MACHINE_STOLEN_BRIEFLY, /* likewise, the most between two comments */
    MACHINE_THROTTLED,      /* percent of the time, summed over CPUs; a quota stopped threads */
    MACHINE_GOVERNOR,       /* none: frequencies follow the load */
    MACHINE_BUSY,           /* percent of all CPU time */
    MACHINE_LINK_FULL,      /* percent of what the link can carry in one direction */
    MACHINE_LINK_EXCEEDED,  /* likewise, of the bodies of requests */
    MACHINE_UNSYNCHRONISED, /* none: the kernel does not know of a source for its clock */
    MACHINE_N_FAULTS
};

/* A fault of one or several clients. */
struct machine_found {
    uint64_t n_clients;                /* that have it; 0: none */
    double value;                      /* of the worst */
    char client[MACHINE_CLIENT_BYTES]; /* its name */
    char what[32];                     /* its governor; else "" */
};

/* What connections sent again, by the clock of the rows. */
struct machine_retransmits {
    int64_t start_ns, end_ns, n;
};

/* What was last told of a run. Numbers that were not told are -1. */
struct machine_told {
    char client[MACHINE_CLIENT_BYTES];
    char governor[32];
    bool is_local; /* the server is on the same machine: its CPU time is in `busy` */
    int64_t
        begin_ns; /* of the benchmark, by the machine's clock: with the client it names the run */
    int64_t over_ns, cpus, busy_ns, steal_ns, n_throttled, throttled_ns;
    int64_t rx_bytes, tx_bytes, link_bits_per_s, synchronised;
    int64_t body_bytes, body_ns; /* of the bodies, and the time that they took */
    double worst_steal_pct;
};

/* Of all runs in a capture. All zero: nothing was told. */
struct machine {
    struct machine_found found[MACHINE_N_FAULTS]; /* but for the last run */
    struct machine_told last;
    struct machine_retransmits retransmits[MACHINE_MAX_RETRANSMITS];
    size_t n_retransmits;
    double n_sent_again, told_ns; /* all retransmits, and the time of all runs that told of them */
};

/* Takes an object; `comment` is the closing comment that holds it, NULL: another one. `clock` is
 * that of its run. */
void machine_take(struct machine *m, const json_t *told, const json_t *comment,
                  const struct rank_clock *clock);

/* Adds the faults of all runs to `found`. */
void machine_find(const struct machine *m, struct machine_found found[MACHINE_N_FAULTS]);

#endif
