/* The waiting workers of a loop. They wait for the next turn, for a request's due time, for an
 * object or a host, or for an answer. */
#ifndef S3_LOADGEN_LOAD_QUEUE_H
#define S3_LOADGEN_LOAD_QUEUE_H

#include <stdint.h>

struct worker;

struct queue {
    struct worker *again; /* workers to run in the next turn, in order */
    struct worker **again_end;
    struct worker *waiting; /* sorted by due_ns */
    struct worker **waiting_end;
    struct worker *parked;
    int64_t parked_due_ns; /* when parked workers try again */
    int64_t timeout_ns;    /* not later than the first deadline of a request */
    unsigned n_active;     /* workers that have not ended */
};

void queue_init(struct queue *q);

/* Lets the worker run in the next turn. */
void queue_again(struct queue *q, struct worker *w);

/* Lets the worker wait until its due_ns, which must not be before those of other waiting workers.
 */
void queue_wait(struct queue *q, struct worker *w);

/* Lets the worker wait until an object or a host may be available. */
void queue_park(struct queue *q, struct worker *w);

/* Sets the time at which the worker's request fails. */
void queue_set_deadline(struct queue *q, struct worker *w, int64_t deadline_ns);

/* Remove and return the next worker that asked to run again; the next one due by now_ns. NULL:
 * none. */
struct worker *queue_next(struct queue *q);
struct worker *queue_due(struct queue *q, int64_t now_ns);

/* Removes all parked workers and returns them as a list linked by `next`. */
struct worker *queue_unpark(struct queue *q);

/* Returns when the first worker is due; 0: now. */
int64_t queue_due_ns(const struct queue *q);

#endif
