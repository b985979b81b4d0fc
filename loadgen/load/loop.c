#include "loadgen/load/load.h"

#include "libcommon/mem.h"
#include "libcommon/secret.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS_MAX 256

#define SLICE_NS INT64_C(100000)

/* The longest wait. If a turn takes more than twice as long, the process was stopped. */
#define WAIT_MAX_NS (100 * NS_PER_MS)

/* Time between two looks at all connections that are being established, which may be thousands. */
#define CHECK_NS (10 * NS_PER_MS)

/* The most requests that begin before the loop looks at arrivals again. Beginning requests must not
 * delay the timestamps of arrivals. */
#define BEGUN_MAX 8

/* Workers that wait for an object or a host try again after this time. */
#define PARKED_NS (1 * NS_PER_MS)

/* ---- The queue ---- */

void loop_again(struct worker *w)
{
    if (!w->queued)
        STAILQ_INSERT_TAIL(&w->loop->queue.again, w, next_again);
    w->queued = true;
}

void loop_park(struct worker *w)
{
    struct queue *q = &w->loop->queue;

    w->state = WORKER_PARKED;
    if (STAILQ_EMPTY(&q->parked))
        q->parked_due_ns = clock_now_ns() + PARKED_NS;
    STAILQ_INSERT_HEAD(&q->parked, w, next);
}

void loop_end(struct worker *w)
{
    w->state = WORKER_ENDED;
    w->has_op = false;
    w->has_ticket = false;
    w->loop->queue.n_active--;
}

int64_t loop_due_ns(const struct phase *phase, uint64_t ticket)
{
    uint64_t number = phase->first_ticket + ticket * phase->ticket_step;
    double after_ns = (double)number * 1e9 / phase->rate;
    double room_ns = (double)(CLOCK_NEVER - phase->start_ns);

    return after_ns < room_ns ? phase->start_ns + (int64_t)after_ns : CLOCK_NEVER;
}

/* A due time given out counts towards the limit even if its worker is late; otherwise punctual
 * workers would replace the late requests. */
bool loop_is_due(struct worker *w, int64_t now_ns)
{
    struct phase *phase = w->loop->phase;

    if (phase->rate <= 0)
        return true;
    if (!w->has_ticket) {
        uint64_t ticket = atomic_fetch_add(&phase->n_tickets, 1);
        w->due_ns = ticket < phase->max_tickets ? loop_due_ns(phase, ticket) : CLOCK_NEVER;
        w->has_ticket = true;
    }
    if (w->due_ns >= phase->end_ns) {
        loop_end(w);
        return false;
    }
    if (w->due_ns <= now_ns)
        return true;
    /* Due times are given out in order, so appending keeps the list sorted. */
    w->state = WORKER_WAITING;
    STAILQ_INSERT_TAIL(&w->loop->queue.waiting, w, next);
    return false;
}

/* ---- Events ---- */

static void after_connecting(struct loop *l, struct conn *c)
{
    struct worker *w = c->user;

    if (c->state == CONN_CONNECTING || w == NULL)
        return;
    if (c->state == CONN_READY)
        pool_connected(&l->pool, c);
    worker_on_connected(w);
    if (w->state == WORKER_IDLE)
        loop_again(w);
}

/* Lets libcurl connect; for `event` see conn_dialer_act. */
static void dial(struct loop *l, const struct epoll_event *event)
{
    struct conn_dialer *d = &l->pool.dialer;

    conn_dialer_act(d, event);
    for (struct conn *c; (c = conn_dialer_next(d)) != NULL;)
        after_connecting(l, c);
}

static void on_event(struct loop *l, const struct epoll_event *event)
{
    struct conn *c = event->data.ptr;

    if (event->data.ptr == l) {
        eventfd_t n;
        eventfd_read(l->wake, &n);
    } else if (conn_is_dialers(event)) {
        dial(l, event);
    } else if (c->state == CONN_CONNECTING) {
        conn_shake_hands(c);
        after_connecting(l, c);
    } else if (c->user == NULL) {
        pool_look(&l->pool, c);
    } else {
        struct worker *w = c->user;
        worker_on_event(w, (event->events & ~(uint32_t)EPOLLOUT) != 0,
                        (event->events & EPOLLOUT) != 0);
        if (w->state == WORKER_IDLE)
            loop_again(w);
    }
}

/* ---- One turn ---- */

/* Runs up to BEGUN_MAX of the workers that asked to run again. Each runs once, though it may ask
 * again. */
static void run_again(struct queue *q)
{
    struct worker *last = NULL;

    for (int i = 0; i < BEGUN_MAX; i++) {
        struct worker *w = STAILQ_FIRST(&q->again);
        if (w == NULL || w == last)
            break;
        STAILQ_REMOVE_HEAD(&q->again, next_again);
        w->queued = false;
        if (w->state == WORKER_PREPARING)
            worker_prepare(w);
        else
            worker_on_event(w, true, false);
        worker_run(w);
        if (last == NULL && w->queued)
            last = w;
    }
}

/* Runs the workers at the front of a list that are due. */
static void run_due(struct worker_list *list, int64_t now_ns)
{
    for (struct worker *w; (w = STAILQ_FIRST(list)) != NULL && w->due_ns <= now_ns;) {
        STAILQ_REMOVE_HEAD(list, next);
        w->state = WORKER_IDLE;
        worker_run(w);
    }
}

static void run_parked(struct queue *q)
{
    struct worker_list all = STAILQ_HEAD_INITIALIZER(all);

    STAILQ_CONCAT(&all, &q->parked);
    run_due(&all, CLOCK_NEVER);
}

static void run_connecting(struct loop *l, int64_t now_ns)
{
    if (l->pool.dialer.due_ns <= now_ns)
        dial(l, NULL);
    if (l->pool.check_ns > now_ns)
        return;
    l->pool.check_ns = now_ns + CHECK_NS;
    for (struct conn *c = LIST_FIRST(&l->pool.connecting), *next; c != NULL; c = next) {
        next = LIST_NEXT(c, link);
        conn_on_timer(c, now_ns);
        after_connecting(l, c);
    }
}

static bool in_flight(const struct worker *w)
{
    return w->state == WORKER_CONNECTING || w->state == WORKER_SENDING ||
           w->state == WORKER_RECEIVING;
}

static void fail_late(struct loop *l, int64_t now_ns)
{
    struct engine *g = l->engine;
    struct queue *q = &l->queue;
    char why[80];

    snprintf(why, sizeof why, "timeout: no complete answer within %g s",
             (double)g->request_timeout_ns / (double)NS_PER_S);
    q->timeout_ns = CLOCK_NEVER;
    for (unsigned i = 0; i < l->n_workers; i++) {
        struct worker *w = &l->workers[i];
        if (!in_flight(w))
            continue;
        if (w->deadline_ns <= now_ns) {
            if (w->state == WORKER_CONNECTING)
                hosts_cannot_connect(&g->hosts, w->host, now_ns);
            w->result.timed_out = true;
            worker_fail(w, why);
            worker_run(w);
        } else {
            q->timeout_ns = int64_min(q->timeout_ns, w->deadline_ns);
        }
    }
}

/* Makes all waiting workers notice the stop; with ENGINE_ABORT, fails requests in flight. */
static void act_on_stop(struct loop *l, int stop)
{
    l->stop_seen = stop;
    run_due(&l->queue.waiting, CLOCK_NEVER);
    run_parked(&l->queue);
    for (unsigned i = 0; stop == ENGINE_ABORT && i < l->n_workers; i++) {
        if (in_flight(&l->workers[i])) {
            worker_fail(&l->workers[i], "interrupted");
            worker_run(&l->workers[i]);
        }
    }
}

/* Counts the thread's waits, and the retransmits of open connections. Those of a connection that
 * ends are counted then. */
static void count_seldom(struct loop *l, int64_t now_ns)
{
    l->count_ns = now_ns + NS_PER_S;
    atomic_store(&l->waited_ns, clock_thread_share(l->engine->root).waited_ns);
    for (unsigned i = 0; i < l->n_workers; i++)
        if (l->workers[i].conn != NULL)
            pool_count_retransmits(&l->pool, l->workers[i].conn);
    pool_count_idle(&l->pool);
}

/* Returns when there is something to do; 0: now. */
static int64_t next_due_ns(const struct loop *l)
{
    const struct queue *q = &l->queue;
    int64_t due_ns = int64_min(q->timeout_ns, l->pool.dialer.due_ns);

    if (!STAILQ_EMPTY(&q->again))
        return 0;
    if (!STAILQ_EMPTY(&q->waiting))
        due_ns = int64_min(due_ns, STAILQ_FIRST(&q->waiting)->due_ns);
    if (!STAILQ_EMPTY(&q->parked))
        due_ns = int64_min(due_ns, q->parked_due_ns);
    if (!LIST_EMPTY(&l->pool.connecting))
        due_ns = int64_min(due_ns, l->pool.check_ns);
    return l->recording ? int64_min(due_ns, recorder_due_ns(&l->port)) : due_ns;
}

static int wait_for_events(struct loop *l, struct epoll_event *events, int64_t now_ns)
{
    int64_t due_ns = int64_min(next_due_ns(l), now_ns + WAIT_MAX_NS);
    int64_t wait_ns = due_ns > now_ns ? due_ns - now_ns : 0;
    struct timespec t = {wait_ns / NS_PER_S, wait_ns % NS_PER_S};

    int n = epoll_pwait2(l->epoll, events, EVENTS_MAX, &t, NULL);
    if (n < 0 && (errno == ENOSYS || errno == EPERM)) {
        /* Linux before 5.11, and containers that do not know epoll_pwait2, wait in ms. */
        int64_t ms = (wait_ns + NS_PER_MS - 1) / NS_PER_MS;
        n = epoll_wait(l->epoll, events, EVENTS_MAX, (int)ms);
    }
    return n;
}

static void turn(struct loop *l)
{
    struct epoll_event events[EVENTS_MAX];
    int n = wait_for_events(l, events, clock_now_ns());

    l->n_digested = 0;
    for (int i = 0; i < n; i++)
        on_event(l, &events[i]);
    pool_free_dead(&l->pool);

    int64_t now_ns = clock_now_ns();
    if (l->recording && now_ns - l->turned_ns > 2 * WAIT_MAX_NS && l->n_stops < LOOP_MAX_STOPS)
        l->stops[l->n_stops++] = (struct loop_stop){l->turned_ns, now_ns - l->turned_ns};
    l->turned_ns = now_ns;
    if (l->count_ns <= now_ns)
        count_seldom(l, now_ns);
    int stop = atomic_load_explicit(&l->engine->stop, memory_order_relaxed);
    run_again(&l->queue);
    run_due(&l->queue.waiting, now_ns);
    if (!STAILQ_EMPTY(&l->queue.parked) && l->queue.parked_due_ns <= now_ns)
        run_parked(&l->queue);
    run_connecting(l, now_ns);
    if (l->queue.timeout_ns <= now_ns)
        fail_late(l, now_ns);
    if (stop != l->stop_seen)
        act_on_stop(l, stop);
    if (l->recording && recorder_due_ns(&l->port) <= now_ns)
        recorder_flush(&l->port, now_ns);
}

/* Asks the scheduler for short time slices, so that this thread runs soon after it wakes up. With
 * long ones a busy thread, such as our own writer, delays it by some ms. Linux before 6.12 ignores
 * this. */
static void ask_for_short_slices(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline_ns, period_ns;
    } attributes = {.size = sizeof attributes, .runtime_ns = SLICE_NS};

    /* Keep another policy that the user chose, for example with chrt. */
    if (sched_getscheduler(0) != SCHED_OTHER)
        return;
    attributes.nice = getpriority(PRIO_PROCESS, 0);
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

static void run(struct loop *l)
{
    ask_for_short_slices();
    l->queue.n_active = l->n_workers;
    l->queue.timeout_ns = CLOCK_NEVER;
    l->stop_seen = ENGINE_RUN;
    l->turned_ns = clock_now_ns();
    for (unsigned i = 0; i < l->n_workers; i++) {
        l->workers[i].state = WORKER_IDLE;
        l->workers[i].card = -1;
        l->workers[i].has_op = false;
        l->workers[i].has_ticket = false;
        loop_again(&l->workers[i]);
    }
    while (l->queue.n_active > 0) {
        turn(l);
        atomic_store_explicit(&l->cpu_ns, clock_read_ns(CLOCK_THREAD_CPUTIME_ID),
                              memory_order_relaxed);
    }
    count_seldom(l, clock_now_ns());
    if (l->recording)
        recorder_flush(&l->port, clock_now_ns());
    /* Close connections that we no longer need: a server may be at its limit, and other loops need
     * some. */
    while (l->phase->closes && pool_drop_idle(&l->pool))
        ;
    pool_free_dead(&l->pool);
}

/* ---- Start and end ---- */

/* Asks for huge pages: the CPU knows the places of few pages, and with thousands of workers each
 * request needs others. A system that has none changes nothing. */
static void use_huge_pages(void *memory, size_t n)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)memory + page - 1) / page * page;
    uintptr_t to = ((uintptr_t)memory + n) / page * page;

    if (from < to)
        madvise((void *)from, to - from, MADV_HUGEPAGE);
}

static void fini(struct loop *l)
{
    for (unsigned i = 0; i < l->n_workers; i++)
        worker_fini(&l->workers[i]);
    pool_fini(&l->pool);
    sigv4_fini(&l->signer);
    EVP_MD_free(l->md5);
    free(l->workers);
    free(l->dates);
    free(l->buf);
    secret_free(l->head);
    secret_free(l->out);
    if (l->wake >= 0)
        close(l->wake);
    if (l->epoll >= 0)
        close(l->epoll);
    *l = (struct loop){.epoll = -1, .wake = -1};
}

bool loop_init(struct loop *l, struct engine *g, unsigned index, struct recorder *recorder,
               uint32_t first_thread, unsigned n_workers, struct err *e)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = l};

    *l = (struct loop){.engine = g, .recording = recorder != NULL};
    STAILQ_INIT(&l->queue.again);
    STAILQ_INIT(&l->queue.waiting);
    STAILQ_INIT(&l->queue.parked);
    if (recorder != NULL)
        recorder_port_init(&l->port, recorder, index);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    l->dates = calloc(g->hosts.n, sizeof *l->dates);
    l->buf = malloc(LOOP_READ_BYTES);
    l->head = secret_alloc(S3OP_HEAD_MAX);
    l->out = secret_alloc(WORKER_OUT_BYTES);
    l->md5 = EVP_MD_fetch(NULL, "MD5", NULL);
    bool ok = (l->epoll >= 0 && l->wake >= 0 &&
               epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->wake, &event) == 0) ||
              err_errno(e, errno, "cannot set up epoll");
    ok = ok && ((l->dates != NULL && l->buf != NULL && l->head != NULL && l->out != NULL &&
                 l->md5 != NULL) ||
                mem_none(e));
    ok = ok && pool_init(&l->pool, g, l->epoll, n_workers, e);
    if (ok && g->keys[0] != NULL)
        ok =
            sigv4_init(&l->signer, g->keys[0], g->keys[1], g->keys[2], g->op_style.region, "s3", e);
    ok = ok && mem_cleared(&l->workers, n_workers, e);
    if (ok)
        use_huge_pages(l->workers, n_workers * sizeof *l->workers);
    for (; ok && l->n_workers < n_workers; l->n_workers++)
        ok = worker_init(&l->workers[l->n_workers], l, first_thread + l->n_workers, e);
    if (!ok)
        fini(l);
    return ok;
}

/* ---- The crew ---- */

unsigned crew_n_loops(unsigned n_workers, unsigned n_threads)
{
    cpu_set_t cpus;
    unsigned n = 1;

    if (n_threads > 0)
        return n_threads < n_workers ? n_threads : n_workers;
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        n = (unsigned)CPU_COUNT(&cpus);
    unsigned quota = cgroups_read("").cpus;
    n = n < quota ? n : quota;
    return n < n_workers ? n : n_workers;
}

bool crew_init(struct crew *c, struct engine *g, struct recorder *recorder, unsigned n_loops,
               uint32_t first_thread, unsigned n_workers, struct err *e)
{
    *c = (struct crew){.engine = g};
    if (!mem_cleared(&c->loops, n_loops, e))
        return false;
    for (; c->n_loops < n_loops; c->n_loops++) {
        unsigned i = c->n_loops;
        unsigned n = n_workers / n_loops + (i < n_workers % n_loops);

        if (!loop_init(&c->loops[i], g, i, recorder, first_thread, n, e)) {
            crew_fini(c);
            return false;
        }
        first_thread += n;
    }
    return true;
}

void crew_fini(struct crew *c)
{
    for (unsigned i = 0; i < c->n_loops; i++)
        fini(&c->loops[i]);
    free(c->loops);
    *c = (struct crew){0};
}

void crew_record(struct crew *c, bool on)
{
    for (unsigned i = 0; i < c->n_loops; i++)
        c->loops[i].recording = on;
}

void crew_stop(struct crew *c, enum engine_stop stop)
{
    engine_set_stop(c->engine, stop);
    for (unsigned i = 0; i < c->n_loops; i++)
        eventfd_write(c->loops[i].wake, 1);
    eventfd_write(c->engine->event, 1);
}

static void *run_loop(void *user)
{
    struct loop *l = user;

    run(l);
    atomic_fetch_sub(&l->crew->n_busy, 1);
    eventfd_write(l->engine->event, 1);
    return NULL;
}

bool crew_run(struct crew *c, struct phase *phase, int (*tick)(void *ctx), void *ctx, struct err *e)
{
    unsigned n = 0;
    bool ok = true;

    atomic_store(&c->n_busy, 0);
    for (; ok && n < c->n_loops; n++) {
        struct loop *l = &c->loops[n];
        l->crew = c;
        l->phase = phase;
        atomic_store(&l->cpu_ns, 0);
        atomic_fetch_add(&c->n_busy, 1);
        int failed = pthread_create(&l->thread, NULL, run_loop, l);
        if (failed != 0) {
            atomic_fetch_sub(&c->n_busy, 1);
            ok = err_errno(e, failed, "cannot start a thread");
            crew_stop(c, ENGINE_ABORT);
            break;
        }
    }
    for (int wait_ms = 0; atomic_load(&c->n_busy) > 0; wait_ms = tick(ctx)) {
        struct pollfd p = {.fd = c->engine->event, .events = POLLIN};
        eventfd_t value;

        if (poll(&p, 1, wait_ms) > 0)
            eventfd_read(c->engine->event, &value);
    }
    for (unsigned i = 0; i < n; i++) {
        pthread_join(c->loops[i].thread, NULL);
        const char *why = c->loops[i].error.msg;
        ok = ok && (*why == '\0' || err_set(e, "%s", why));
    }
    return ok;
}

struct crew_counts crew_counts(const struct crew *c)
{
    struct crew_counts n = {0};

    for (unsigned i = 0; i < c->n_loops; i++) {
        const struct loop *l = &c->loops[i];

        n.n_connected -= atomic_load_explicit(&l->pool.n_connecting, memory_order_relaxed);
        n.n_running += atomic_load_explicit(&l->n_running, memory_order_relaxed);
        n.n_connects += atomic_load_explicit(&l->pool.n_connects, memory_order_relaxed);
        n.n_retransmits += atomic_load_explicit(&l->pool.n_retransmits, memory_order_relaxed);
        n.n_resent += atomic_load_explicit(&l->n_resent, memory_order_relaxed);
        n.waited_ns += atomic_load_explicit(&l->waited_ns, memory_order_relaxed);
        n.digest_ns += atomic_load_explicit(&l->digest_ns, memory_order_relaxed);
        n.most_cpu_ns =
            int64_max(n.most_cpu_ns, atomic_load_explicit(&l->cpu_ns, memory_order_relaxed));
    }
    n.n_connected += n.n_running;
    return n;
}
