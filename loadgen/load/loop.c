#include "loadgen/load/loop.h"

#include "loadgen/util/clock.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS_MAX 256

#define SLICE_NS INT64_C(100000)

/* New requests begun before arrivals are looked at again: what has arrived is stamped first, so
 * that beginning requests does not bend the times of others. */
#define BEGUN_MAX 8

/* How often those who wait for an object or a host look again. */
#define PARKED_NS (1 * CLOCK_NS_PER_MS)

/* ---- Lists ---- */

void loop_again(struct loop *l, struct worker *w)
{
    if (w->queued)
        return;
    w->queued = true;
    w->next_again = NULL;
    *l->again_end = w;
    l->again_end = &w->next_again;
}

/* Tickets are handed out in order of their times, so the list is in order too. */
void loop_wait(struct loop *l, struct worker *w)
{
    w->state = WORKER_WAITING;
    w->next = NULL;
    *l->waiting_end = w;
    l->waiting_end = &w->next;
}

void loop_park(struct loop *l, struct worker *w)
{
    w->state = WORKER_PARKED;
    if (l->parked == NULL)
        l->parked_due_ns = clock_now_ns() + PARKED_NS;
    w->next = l->parked;
    l->parked = w;
}

void loop_set_deadline(struct loop *l, struct worker *w, int64_t deadline_ns)
{
    w->deadline_ns = deadline_ns;
    if (deadline_ns < l->timeout_ns)
        l->timeout_ns = deadline_ns;
}

static void unlink_conn(struct conn **list, const struct conn *c)
{
    while (*list != NULL && *list != c)
        list = &(*list)->next;
    if (*list != NULL)
        *list = c->next;
}

static void bury(struct loop *l, struct conn *c)
{
    conn_close(c);
    c->user = NULL;
    c->next = l->dead;
    l->dead = c;
}

static void free_dead(struct loop *l)
{
    while (l->dead != NULL) {
        struct conn *c = l->dead;
        l->dead = c->next;
        conn_free(c);
    }
}

/* ---- Connections ---- */

/* More idle connections than this, beside one for each host, are closed. */
#define IDLE_PER_WORKER 2

struct conn *loop_take_conn(struct loop *l, struct worker *w, uint32_t host, struct err *e)
{
    struct conn *c = NULL;

    while (!w->resent && (c = l->idle[host]) != NULL) {
        l->idle[host] = c->next;
        l->n_idle--;
        if (!l->looks || conn_is_alive(c)) {
            c->user = w;
            return c;
        }
        bury(l, c);
    }
    /* After a failure of ours one worker at a time tries again. */
    if (l->connect_ns != 0)
        l->connect_ns = clock_now_ns() + HOSTS_PAUSE_NS;
    char route[NAMES_ROUTE_MAX];
    struct engine *g = l->engine;
    bool known = g->names != NULL && names_route(g->names, host, route);
    c = conn_open(&g->conn_style, g->host[host].name, known ? route : NULL, host,
                  &l->sessions[host], l->epoll, e);
    if (c == NULL)
        return NULL;
    loop_count(&l->n_connects, 1);
    loop_count(&l->n_connecting, 1);
    c->user = w;
    c->next = l->connecting;
    l->connecting = c;
    return c;
}

bool loop_drop_idle(struct loop *l)
{
    struct conn **oldest = NULL;

    for (size_t i = 0; l->n_idle > 0 && i < l->engine->hosts.n; i++) {
        struct conn **last = &l->idle[i];
        while (*last != NULL && (*last)->next != NULL)
            last = &(*last)->next;
        if (*last != NULL && (oldest == NULL || (*last)->idle_since_ns < (*oldest)->idle_since_ns))
            oldest = last;
    }
    if (oldest == NULL)
        return false;
    struct conn *c = *oldest;
    *oldest = NULL;
    l->n_idle--;
    bury(l, c);
    return true;
}

void loop_give_conn(struct loop *l, struct conn *c, bool keep)
{
    if (c->state == CONN_CONNECTING || c->state == CONN_FAILED) {
        unlink_conn(&l->connecting, c);
        loop_count(&l->n_connecting, -1);
    }
    if (!keep || c->state != CONN_READY) {
        bury(l, c);
        return;
    }
    c->user = NULL;
    c->idle_since_ns = l->now_ns;
    c->next = l->idle[c->host];
    l->idle[c->host] = c;
    size_t most = l->engine->hosts.n + (size_t)IDLE_PER_WORKER * l->n_workers;
    if (++l->n_idle > (most < l->engine->idle_max ? most : l->engine->idle_max))
        loop_drop_idle(l);
}

/* libcurl has done something. */
static void after_connecting(struct loop *l, struct conn *c)
{
    struct worker *w = c->user;

    if (c->state == CONN_CONNECTING || w == NULL)
        return;
    if (c->state == CONN_READY) {
        unlink_conn(&l->connecting, c);
        loop_count(&l->n_connecting, -1);
        l->connect_ns = 0;
    }
    worker_on_connected(w);
    if (w->state == WORKER_IDLE)
        loop_again(l, w);
}

static void on_idle_event(struct loop *l, struct conn *c)
{
    if (c->state != CONN_READY || conn_is_alive(c))
        return;
    unlink_conn(&l->idle[c->host], c);
    l->n_idle--;
    l->looks = true;
    bury(l, c);
}

static void on_event(struct loop *l, const struct epoll_event *event)
{
    uintptr_t tag = (uintptr_t)event->data.ptr;

    if (event->data.ptr == l) {
        eventfd_t n;
        eventfd_read(l->wake, &n);
    } else if (tag & 1) {
        struct conn_socket *s = (struct conn_socket *)(tag - 1);
        conn_on_socket(s, event->events);
        after_connecting(l, s->conn);
    } else {
        struct conn *c = event->data.ptr;
        struct worker *w = c->user;
        if (w == NULL) {
            on_idle_event(l, c);
            return;
        }
        worker_on_event(w, (event->events & ~(uint32_t)EPOLLOUT) != 0,
                        (event->events & EPOLLOUT) != 0);
        if (w->state == WORKER_IDLE)
            loop_again(l, w);
    }
}

/* ---- One turn ---- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Runs some of those that asked for it; they may ask again. */
static void run_again(struct loop *l)
{
    struct worker *last = NULL;

    for (int i = 0; i < BEGUN_MAX && l->again != NULL && l->again != last; i++) {
        struct worker *w = l->again;
        l->again = w->next_again;
        if (l->again == NULL)
            l->again_end = &l->again;
        w->queued = false;
        if (w->state == WORKER_PREPARING)
            worker_prepare(w);
        else if (w->state == WORKER_SENDING || w->state == WORKER_RECEIVING)
            worker_on_event(w, true, false);
        worker_run(w);
        if (last == NULL && w->queued)
            last = w;
    }
}

static void run_due(struct loop *l, int64_t now_ns)
{
    while (l->waiting != NULL && l->waiting->due_ns <= now_ns) {
        struct worker *w = l->waiting;
        l->waiting = w->next;
        if (l->waiting == NULL)
            l->waiting_end = &l->waiting;
        w->state = WORKER_IDLE;
        worker_run(w);
    }
}

static void run_parked(struct loop *l)
{
    struct worker *list = l->parked;

    l->parked = NULL;
    while (list != NULL) {
        struct worker *w = list;
        list = w->next;
        w->state = WORKER_IDLE;
        worker_run(w);
    }
}

static void run_curl_timers(struct loop *l, int64_t now_ns)
{
    for (struct conn *c = l->connecting, *next; c != NULL; c = next) {
        next = c->next;
        conn_on_timer(c, now_ns);
        after_connecting(l, c);
    }
}

static void fail_late(struct loop *l, int64_t now_ns)
{
    char why[80];

    snprintf(why, sizeof why, "timeout: no complete answer within %g s",
             (double)l->engine->request_timeout_ns / (double)CLOCK_NS_PER_S);
    l->timeout_ns = CLOCK_NEVER;
    for (unsigned i = 0; i < l->n_workers; i++) {
        struct worker *w = &l->workers[i];
        if (!worker_in_flight(w))
            continue;
        if (w->deadline_ns <= now_ns) {
            if (w->state == WORKER_CONNECTING)
                hosts_cannot_connect(&l->engine->hosts, w->host, now_ns);
            worker_fail(w, why);
            worker_run(w);
        } else {
            l->timeout_ns = earlier(l->timeout_ns, w->deadline_ns);
        }
    }
}

/* The run is to end: those who sleep wake up to see it. */
static void act_on_stop(struct loop *l, int stop)
{
    l->stop_seen = stop;
    run_due(l, CLOCK_NEVER);
    run_parked(l);
    for (unsigned i = 0; stop == ENGINE_ABORT && i < l->n_workers; i++) {
        if (worker_in_flight(&l->workers[i])) {
            worker_fail(&l->workers[i], "interrupted");
            worker_run(&l->workers[i]);
        }
    }
}

static void flush_rows(struct loop *l, int64_t now_ns)
{
    if (l->recording && recorder_due_ns(&l->port) <= now_ns)
        recorder_flush(&l->port, now_ns);
}

static int64_t next_due_ns(const struct loop *l)
{
    int64_t due_ns = l->timeout_ns;

    if (l->again != NULL)
        return 0;
    if (l->waiting != NULL)
        due_ns = earlier(due_ns, l->waiting->due_ns);
    if (l->parked != NULL)
        due_ns = earlier(due_ns, l->parked_due_ns);
    for (const struct conn *c = l->connecting; c != NULL; c = c->next)
        due_ns = earlier(due_ns, conn_due_ns(c));
    if (l->recording)
        due_ns = earlier(due_ns, recorder_due_ns(&l->port));
    return due_ns;
}

static int wait_for_events(struct loop *l, struct epoll_event *events, int64_t now_ns)
{
    int64_t due_ns = next_due_ns(l);
    int64_t wait_ns = due_ns > now_ns ? due_ns - now_ns : 0;
    struct timespec t = {wait_ns / CLOCK_NS_PER_S, wait_ns % CLOCK_NS_PER_S};

    int n = epoll_pwait2(l->epoll, events, EVENTS_MAX, due_ns == CLOCK_NEVER ? NULL : &t, NULL);
    if (n < 0 && (errno == ENOSYS || errno == EPERM)) {
        /* Linux before 5.11, or a container that does not know the call, counts in ms. */
        int64_t ms = (wait_ns + CLOCK_NS_PER_MS - 1) / CLOCK_NS_PER_MS;
        ms = ms < 60000 ? ms : 60000;
        n = epoll_wait(l->epoll, events, EVENTS_MAX, due_ns == CLOCK_NEVER ? -1 : (int)ms);
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
    free_dead(l);

    int64_t now_ns = clock_now_ns();
    int stop = atomic_load_explicit(&l->engine->stop, memory_order_relaxed);
    run_again(l);
    run_due(l, now_ns);
    if (l->parked != NULL && l->parked_due_ns <= now_ns)
        run_parked(l);
    if (l->connecting != NULL)
        run_curl_timers(l, now_ns);
    if (l->timeout_ns <= now_ns)
        fail_late(l, now_ns);
    if (stop != l->stop_seen)
        act_on_stop(l, stop);
    flush_rows(l, now_ns);
}

/* Asks the scheduler to run this thread soon after it wakes up, for little at a time: else a thread
 * that computes, our own writer too, holds it up by some ms. Linux before 6.12 ignores it. */
static void ask_for_short_slices(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline_ns, period_ns;
    } attributes = {.size = sizeof attributes, .runtime_ns = SLICE_NS};

    /* Another policy was chosen for us. */
    if (sched_getscheduler(0) != SCHED_OTHER)
        return;
    attributes.nice = getpriority(PRIO_PROCESS, 0);
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

bool loop_run(struct loop *l, struct phase *phase, struct err *e)
{
    ask_for_short_slices();
    l->phase = phase;
    l->n_active = l->n_workers;
    l->stop_seen = ENGINE_RUN;
    l->timeout_ns = CLOCK_NEVER;
    for (unsigned i = 0; i < l->n_workers; i++) {
        l->workers[i].state = WORKER_IDLE;
        l->workers[i].card = -1;
        l->workers[i].has_op = false;
        l->workers[i].has_ticket = false;
        loop_again(l, &l->workers[i]);
    }
    while (l->n_active > 0) {
        turn(l);
        atomic_store_explicit(&l->cpu_ns, clock_thread_cpu_ns(), memory_order_relaxed);
    }
    if (l->recording)
        recorder_flush(&l->port, clock_now_ns());
    free_dead(l);
    return l->error.msg[0] == '\0' || err_set(e, "%s", l->error.msg);
}

void loop_wake(struct loop *l)
{
    eventfd_write(l->wake, 1);
}

/* ---- Clocks of the servers ---- */

void loop_saw_date(struct loop *l, uint32_t host, int64_t send_ns, const char *text, size_t n)
{
    struct loop_date *d = &l->dates[host];
    struct tm tm = {0};

    send_ns += l->engine->offset_ns;
    if (n >= sizeof d->text)
        return;
    if (memcmp(d->text, text, n) == 0 && d->text[n] == '\0') {
        d->last_send_ns = send_ns;
        return;
    }
    /* The old second was still on when the last request that got it was sent. */
    if (d->text[0] != '\0')
        d->upper_ns = earlier(d->upper_ns, d->date_ns + CLOCK_NS_PER_S - d->last_send_ns);
    memcpy(d->text, text, n);
    d->text[n] = '\0';
    const char *end = strptime(d->text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    time_t date_s = end != NULL && *end == '\0' ? timegm(&tm) : -1;
    if (date_s < 0 || date_s >= INT64_MAX / CLOCK_NS_PER_S) {
        d->text[0] = '\0';
        return;
    }
    /* The new one had begun when its answer was here. */
    d->date_ns = date_s * CLOCK_NS_PER_S;
    d->last_send_ns = send_ns;
    int64_t lower_ns = d->date_ns - (l->now_ns + l->engine->offset_ns);
    d->lower_ns = lower_ns > d->lower_ns ? lower_ns : d->lower_ns;
    d->upper_ns = earlier(d->upper_ns, d->date_ns + CLOCK_NS_PER_S - send_ns);
}

/* ---- Start and end ---- */

static bool init_dates(struct loop *l)
{
    l->dates = calloc(l->engine->hosts.n, sizeof *l->dates);
    for (size_t i = 0; l->dates != NULL && i < l->engine->hosts.n; i++) {
        l->dates[i].lower_ns = INT64_MIN;
        l->dates[i].upper_ns = INT64_MAX;
    }
    return l->dates != NULL;
}

bool loop_init(struct loop *l, struct engine *g, unsigned index, struct recorder *recorder,
               uint32_t first_thread, unsigned n_workers, struct err *e)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = l};

    *l = (struct loop){.engine = g, .index = index, .epoll = -1, .wake = -1};
    l->again_end = &l->again;
    l->waiting_end = &l->waiting;
    l->recording = recorder != NULL;
    if (recorder != NULL)
        recorder_port_init(&l->port, recorder, index);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    bool ok =
        l->epoll >= 0 && l->wake >= 0 && epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->wake, &event) == 0;
    if (!ok) {
        err_errno(e, errno, "cannot set up epoll");
        loop_fini(l);
        return false;
    }
    l->buf = malloc(LOOP_READ_BYTES);
    l->idle = calloc(g->hosts.n, sizeof *l->idle);
    l->sessions = calloc(g->hosts.n, sizeof *l->sessions);
    l->workers = calloc(n_workers, sizeof *l->workers);
    l->md5 = EVP_MD_fetch(NULL, "MD5", NULL);
    ok = (l->buf != NULL && l->idle != NULL && l->sessions != NULL && l->workers != NULL &&
          l->md5 != NULL && init_dates(l)) ||
         err_set(e, "out of memory");
    ok = ok &&
         (g->credentials == NULL || credentials_update_signer(g->credentials, g->op_style.region,
                                                              &l->signer, &l->signer_version, e));
    for (; ok && l->n_workers < n_workers; l->n_workers++)
        ok = worker_init(&l->workers[l->n_workers], l, first_thread + l->n_workers, e);
    if (!ok)
        loop_fini(l);
    return ok;
}

void loop_fini(struct loop *l)
{
    for (unsigned i = 0; i < l->n_workers; i++)
        worker_fini(&l->workers[i]);
    for (size_t i = 0; l->idle != NULL && i < l->engine->hosts.n; i++) {
        while (l->idle[i] != NULL) {
            struct conn *c = l->idle[i];
            l->idle[i] = c->next;
            bury(l, c);
        }
    }
    free_dead(l);
    for (size_t i = 0; l->sessions != NULL && i < l->engine->hosts.n; i++)
        SSL_SESSION_free(l->sessions[i]);
    sigv4_fini(&l->signer);
    EVP_MD_free(l->md5);
    free(l->workers);
    free(l->idle);
    free(l->sessions);
    free(l->dates);
    free(l->buf);
    if (l->wake >= 0)
        close(l->wake);
    if (l->epoll >= 0)
        close(l->epoll);
    *l = (struct loop){.epoll = -1, .wake = -1};
}
