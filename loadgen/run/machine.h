/* What a client's machine does while it measures: CPUs, memory, network, clock and limits
 * (docs/machine.md, which explains the figures). They come from /proc, /sys and the sockets of our
 * connections. What a system does not tell is left out. */
#ifndef S3_LOADGEN_RUN_MACHINE_H
#define S3_LOADGEN_RUN_MACHINE_H

#include "loadgen/load/crew.h"

#include <jansson.h>
#include <net/if.h>

struct machine {
    const struct engine *engine;
    const char *root;                 /* where /proc and /sys are; "" but in tests */
    char interface[IF_NAMESIZE];      /* the one that leads to the first host; "": unknown */
    json_t *base;                     /* the counters when counting began; NULL: it has not */
    json_t *end;                      /* all figures when it ended; NULL: it has not */
    int64_t base_ns;                  /* when it began; 0: it has not */
    int64_t next_ns;                  /* when the next comment is due */
    int64_t looked_ns, n_retransmits; /* when we last looked for them, and how many there were */
    json_t *retransmits; /* those that were not told: [[from, to, how many], ...]; NULL: none */
};

/* Finds the interface. Borrows the engine, which must be set up. */
void machine_init(struct machine *m, const struct engine *g);

void machine_fini(struct machine *m);

/* Begin and end counting. */
void machine_start(struct machine *m, const struct crew *crew);
void machine_end(struct machine *m, const struct crew *crew);

/* Looks for retransmits if a second is over. Returns true if a comment is due. */
bool machine_tick(struct machine *m, const struct crew *crew, int64_t now_ns);

/* Returns an object with all that is known now, for a comment; counts are those since
 * machine_start, and left out before it. NULL: out of memory. */
json_t *machine_tell(struct machine *m, const struct crew *crew);

#endif
