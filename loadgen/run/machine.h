/* The state of a client's machine while it measures: CPUs, memory, network, clock and limits
 * (docs/machine.md explains the figures). They come from /proc, /sys and the sockets of our
 * connections. Figures that a system does not report are left out. */
#ifndef S3_LOADGEN_RUN_MACHINE_H
#define S3_LOADGEN_RUN_MACHINE_H

#include "loadgen/load/crew.h"

#include <jansson.h>
#include <net/if.h>

struct machine {
    const struct engine *engine;
    struct clock_share setup;    /* of the main thread before it sent anything */
    char interface[IF_NAMESIZE]; /* interface that leads to the first host; "": unknown */
    json_t *base;                /* counters at the start of counting; NULL: it has not begun */
    json_t *end;                 /* all figures at the end of counting; NULL: it has not ended */
    int64_t base_ns;             /* start of counting; 0: it has not begun */
    int64_t next_ns;             /* when the next comment is due */
    int64_t looked_ns, n_retransmits; /* the last check for retransmits: time, and number */
    json_t *retransmits; /* not yet in a comment: [[from, to, how many], ...]; NULL: none */
};

/* Finds the interface. Borrows the engine, which must be set up. The main thread calls it. */
void machine_init(struct machine *m, const struct engine *g);

void machine_fini(struct machine *m);

/* Begin and end counting. */
void machine_start(struct machine *m, const struct crew *crew);
void machine_end(struct machine *m, const struct crew *crew);

/* Checks for retransmits if a second has passed. Returns true if a comment is due. */
bool machine_tick(struct machine *m, const struct crew *crew, int64_t now_ns);

/* Returns an object with all current figures, for a comment. Counts start at machine_start, and are
 * left out before it. NULL: out of memory. */
json_t *machine_json(struct machine *m, const struct crew *crew);

#endif
