/* The workers of a loop that wait: for the next turn, for the time a request is due, for an object
 * or a host, for an answer. */
#ifndef S3_LOADGEN_LOAD_QUEUE_H
#define S3_LOADGEN_LOAD_QUEUE_H

#include <stdint.h>

struct worker;

struct queue {
    struct worker *again; /* to be run in the next turn, in order */
    struct worker **again_end;
    struct worker *waiting; /* in order of due_ns */
    struct worker **waiting_end;
    struct worker *parked;
    int64_t parked_due_ns; /* when to try those again */
    int64_t timeout_ns;    /* the first deadline of a request, or earlier */
    unsigned n_active;     /* workers that have not ended */
};

void queue_init(struct queue *q);

/* Puts the worker among those that run in the next turn. */
void queue_again(struct queue *q, struct worker *w);

/* Lets it wait until its due_ns, which must not be before that of any other that waits. */
void queue_wait(struct queue *q, struct worker *w);

/* Lets it wait until there may be an object or a host. */
void queue_park(struct queue *q, struct worker *w);

/* Keeps the time at which its request is to fail. */
void queue_set_deadline(struct queue *q, struct worker *w, int64_t deadline_ns);

/* The next one to be run again; the next one that is due by now_ns. NULL: none. */
struct worker *queue_next(struct queue *q);
struct worker *queue_due(struct queue *q, int64_t now_ns);

/* Takes out all that are parked, and returns them as a list by `next`. */
struct worker *queue_unpark(struct queue *q);

/* When the first of them is due; 0: now. */
int64_t queue_due_ns(const struct queue *q);

#endif
