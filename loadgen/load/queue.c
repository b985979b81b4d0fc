#include "loadgen/load/load.h"

#include "loadgen/util/util.h"

/* Workers that wait for an object or a host try again after this time. */
#define PARKED_NS (1 * NS_PER_MS)

void queue_init(struct queue *q)
{
    *q = (struct queue){.timeout_ns = CLOCK_NEVER};
    q->again_end = &q->again;
    q->waiting_end = &q->waiting;
}

void queue_again(struct queue *q, struct worker *w)
{
    if (w->queued)
        return;
    w->queued = true;
    w->next_again = NULL;
    *q->again_end = w;
    q->again_end = &w->next_again;
}

/* Due times are given out in order, so appending keeps the list sorted. */
void queue_wait(struct queue *q, struct worker *w)
{
    w->state = WORKER_WAITING;
    w->next = NULL;
    *q->waiting_end = w;
    q->waiting_end = &w->next;
}

void queue_park(struct queue *q, struct worker *w)
{
    w->state = WORKER_PARKED;
    if (q->parked == NULL)
        q->parked_due_ns = clock_now_ns() + PARKED_NS;
    w->next = q->parked;
    q->parked = w;
}

void queue_set_deadline(struct queue *q, struct worker *w, int64_t deadline_ns)
{
    w->deadline_ns = deadline_ns;
    q->timeout_ns = int64_min(q->timeout_ns, deadline_ns);
}

struct worker *queue_next(struct queue *q)
{
    struct worker *w = q->again;

    if (w == NULL)
        return NULL;
    q->again = w->next_again;
    if (q->again == NULL)
        q->again_end = &q->again;
    w->queued = false;
    return w;
}

struct worker *queue_due(struct queue *q, int64_t now_ns)
{
    struct worker *w = q->waiting;

    if (w == NULL || w->due_ns > now_ns)
        return NULL;
    q->waiting = w->next;
    if (q->waiting == NULL)
        q->waiting_end = &q->waiting;
    w->state = WORKER_IDLE;
    return w;
}

struct worker *queue_unpark(struct queue *q)
{
    struct worker *list = q->parked;

    q->parked = NULL;
    for (struct worker *w = list; w != NULL; w = w->next)
        w->state = WORKER_IDLE;
    return list;
}

int64_t queue_due_ns(const struct queue *q)
{
    int64_t due_ns = q->timeout_ns;

    if (q->again != NULL)
        return 0;
    if (q->waiting != NULL)
        due_ns = int64_min(due_ns, q->waiting->due_ns);
    return q->parked != NULL ? int64_min(due_ns, q->parked_due_ns) : due_ns;
}
