#define CURL_DISABLE_DEPRECATION /* of curl_multi_socket_all */

#include "loadgen/net/net.h"

#include "libcommon/mem.h"
#include "libcommon/secret.h"
#include "loadgen/util/util.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* A body is read in pieces of up to LOW_WATER_MAX. Waiting for less than LOW_WATER_MIN more is not
 * worth it. */
#define LOW_WATER_MAX (512 * 1024)
#define LOW_WATER_MIN (128 * 1024)

/* Ready connections are watched for data and for the peer's close. */
#define READY_EVENTS (EPOLLIN | EPOLLRDHUP)

/* HTTP_PROXY is not among them: CGI programs get a request header under that name. */
static const struct {
    const char *name;
    bool plain, tls; /* it counts for connections without TLS, with TLS */
} PROXIES[] = {{"http_proxy", true, false},
               {"https_proxy", false, true},
               {"HTTPS_PROXY", false, true},
               {"all_proxy", true, true},
               {"ALL_PROXY", true, true}};
#define N_PROXIES (sizeof PROXIES / sizeof *PROXIES)

const char *conn_proxy(bool tls, bool no_proxy, char text[static CONN_PROXY_MAX])
{
    for (size_t i = 0; i < N_PROXIES && !no_proxy; i++) {
        const char *value = getenv(PROXIES[i].name);

        if (!(tls ? PROXIES[i].tls : PROXIES[i].plain) || value == NULL || *value == '\0')
            continue;
        const char *scheme = strstr(value, "://");
        int n_scheme = scheme != NULL ? (int)(scheme + 3 - value) : 0;
        const char *at = strrchr(value + n_scheme, '@');
        snprintf(text, CONN_PROXY_MAX, "%.*s%s", n_scheme, value,
                 at != NULL ? at + 1 : value + n_scheme);
        return PROXIES[i].name;
    }
    return NULL;
}

/* Gives libcurl no socket, and keeps the address that it wants to connect to. */
static curl_socket_t on_asked(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)purpose;
    memcpy(user, &address->addr, sizeof(struct sockaddr_in));
    return CURL_SOCKET_BAD;
}

/* With the proxy libcurl would connect to port 1, without it to port 2. Nothing is sent: only the
 * port that it asks for counts. */
bool conn_uses_proxy(const char *host)
{
    CURL *easy = curl_easy_init();
    struct curl_slist *direct = curl_slist_append(NULL, "::127.0.0.1:2");
    struct sockaddr_in at = {0};

    if (curl_easy_setopt(easy, CURLOPT_URL, host) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_PROXY, "127.0.0.1:1") == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_CONNECT_TO, direct) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &at) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_asked) == CURLE_OK)
        curl_easy_perform(easy);
    curl_easy_cleanup(easy);
    curl_slist_free_all(direct);
    return at.sin_port != htons(2);
}

static void *alloc_items(size_t n, size_t size)
{
    return size == 0 || n <= SIZE_MAX / size ? secret_alloc(n * size) : NULL;
}

static char *copy_text(const char *text)
{
    return secret_copy(text, strlen(text));
}

/* If the variable holds a password, moves its value to memory of secret.h. Child processes still
 * inherit it. */
static bool hide(const char *name, bool *found)
{
    char *value = getenv(name);

    if (value == NULL || strchr(value, '@') == NULL)
        return true;
    *found = true;
    size_t n = strlen(name) + 1 + strlen(value) + 1;
    char *text = secret_alloc(n);
    if (text == NULL)
        return false;
    snprintf(text, n, "%s=%s", name, value);
    memset(value, 'x', strlen(value));
    return putenv(text) == 0;
}

bool conn_global_init(void)
{
    bool found = false;
    bool ok = true;

    for (size_t i = 0; i < N_PROXIES; i++)
        ok = hide(PROXIES[i].name, &found) && ok;
    /* Keep libcurl's copies out of core dumps too. */
    return ok && (found ? curl_global_init_mem(CURL_GLOBAL_DEFAULT, secret_alloc, secret_free,
                                               secret_resize, copy_text, alloc_items)
                        : curl_global_init(CURL_GLOBAL_DEFAULT)) == CURLE_OK;
}

static struct conn *conn_of(CURL *easy)
{
    struct conn *c = NULL;

    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&c);
    return c;
}

/* Watches a socket of libcurl. Its event data is twice the file descriptor plus one, hence odd;
 * that of our own sockets is a pointer, hence even.
 *
 * CURL_POLL_REMOVE does nothing: libcurl 7.88 reports it after it has closed a socket that could
 * not connect; by then another thread may have a socket of the same number. Closing a socket ends
 * its watch. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *known)
{
    struct conn_dialer *d = user;
    struct epoll_event event = {.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) |
                                          (what & CURL_POLL_OUT ? EPOLLOUT : 0u),
                                .data.u64 = (uint64_t)fd << 1 | 1};

    (void)known;
    if (what == CURL_POLL_REMOVE)
        return 0;
    if (epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &event) == 0) {
        d->n_opened--;
    } else if (errno != EEXIST || epoll_ctl(d->epoll, EPOLL_CTL_MOD, fd, &event) != 0) {
        /* An error returned to libcurl would end all connections in progress. */
        struct conn *c = conn_of(easy);
        c->local_errno = errno;
        c->due_ns = 0;
    }
    return 0;
}

/* Opens a socket for libcurl, which itself would not report why it failed. */
static curl_socket_t on_open(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct conn *c = user;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);

    (void)purpose;
    if (fd < 0 && errno != EAFNOSUPPORT)
        c->local_errno = errno;
    c->dialer->n_opened++;
    return fd;
}

bool conn_dialer_init(struct conn_dialer *d, const struct conn_style *style, int epoll,
                      struct err *e)
{
    *d = (struct conn_dialer){.style = style, .epoll = epoll, .due_ns = CLOCK_NEVER};
    d->multi = curl_multi_init();
    return (d->multi != NULL &&
            curl_multi_setopt(d->multi, CURLMOPT_SOCKETFUNCTION, on_socket) == CURLM_OK &&
            curl_multi_setopt(d->multi, CURLMOPT_SOCKETDATA, d) == CURLM_OK) ||
           err_set(e, "curl: cannot set up connections");
}

void conn_dialer_fini(struct conn_dialer *d)
{
    while (d->n_spares > 0)
        curl_easy_cleanup(d->spare[--d->n_spares]);
    curl_multi_cleanup(d->multi);
    d->multi = NULL;
}

/* Makes a libcurl handle with the settings of all connections of a run. */
static CURL *new_easy(const struct conn_style *style)
{
    CURL *easy = curl_easy_init();
    bool ok = easy != NULL;

    ok = ok && curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
    /* A slow name server must not delay the end of a connection that was given up. */
    ok = ok && curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http") == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_PROXY, style->proxy) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                                (long)(style->connect_timeout_ns / NS_PER_MS)) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open) == CURLE_OK;
    if (!ok) {
        curl_easy_cleanup(easy);
        return NULL;
    }
    return easy;
}

/* Asks libcurl when it wants to be called next. Call it after each call of libcurl. */
static void set_due(struct conn_dialer *d)
{
    long ms = -1;

    curl_multi_timeout(d->multi, &ms);
    ms = d->stuck ? 0 : ms;
    d->due_ns = ms < 0 ? CLOCK_NEVER : ms == 0 ? 0 : clock_now_ns() + ms * NS_PER_MS;
}

static bool dial(struct conn *c)
{
    struct conn_dialer *d = c->dialer;
    char url[300];
    char host[NAMES_HOST_MAX];

    snprintf(url, sizeof url, "http://%s%s/", c->name,
             d->style->context != NULL && name_split(c->name, host) == NULL ? ":443" : "");
    c->easy = d->n_spares > 0 ? d->spare[--d->n_spares] : new_easy(d->style);
    bool ok = c->easy != NULL;
    ok = ok && curl_easy_setopt(c->easy, CURLOPT_URL, url) == CURLE_OK;
    ok = ok && curl_easy_setopt(c->easy, CURLOPT_RESOLVE, c->route) == CURLE_OK;
    ok = ok && curl_easy_setopt(c->easy, CURLOPT_PRIVATE, c) == CURLE_OK;
    ok = ok && curl_easy_setopt(c->easy, CURLOPT_OPENSOCKETDATA, c) == CURLE_OK;
    ok = ok && curl_easy_setopt(c->easy, CURLOPT_ERRORBUFFER, c->message) == CURLE_OK;
    ok = ok && curl_multi_add_handle(d->multi, c->easy) == CURLM_OK;
    set_due(d);
    return ok;
}

struct conn *conn_open(struct conn_dialer *d, const char *name, const char *route, uint32_t host,
                       SSL_SESSION **session, struct err *e)
{
    struct conn *c = NULL;

    if (!mem_new(&c, 1, e))
        return NULL;
    *c = (struct conn){
        .state = CONN_CONNECTING,
        .host = host,
        .fd = -1,
        .dialer = d,
        .wire = d->style->context != NULL ? &tls_wire : &conn_plain,
        .opened_ns = clock_now_ns(),
        .due_ns = CLOCK_NEVER,
        .name = name,
        .session = session,
        .low_water = 1,
        .route = route != NULL ? curl_slist_append(NULL, route) : NULL,
    };
    if (!dial(c)) {
        conn_close(c);
        free(c);
        err_set(e, "curl: cannot set up a connection");
        return NULL;
    }
    return c;
}

/* Ends libcurl's part in a connection; libcurl closes its own sockets. */
static void hang_up(struct conn *c)
{
    struct conn_dialer *d = c->dialer;

    if (c->easy != NULL) {
        curl_multi_remove_handle(d->multi, c->easy);
        curl_easy_setopt(c->easy, CURLOPT_ERRORBUFFER, NULL);
        if (d->n_spares < CONN_SPARES_MAX)
            d->spare[d->n_spares++] = c->easy;
        else
            curl_easy_cleanup(c->easy);
        set_due(d);
    }
    c->easy = NULL;
    curl_slist_free_all(c->route);
    c->route = NULL;
}

void conn_close(struct conn *c)
{
    if (c->state == CONN_CLOSED)
        return;
    if (c->fd >= 0) {
        if (c->wire->end != NULL)
            c->wire->end(c);
        epoll_ctl(c->dialer->epoll, EPOLL_CTL_DEL, c->fd, NULL);
        close(c->fd);
    }
    c->fd = -1;
    hang_up(c);
    c->due_ns = CLOCK_NEVER;
    c->state = CONN_CLOSED;
}

static void fail(struct conn *c, const char *who, const char *why)
{
    struct err e = {0};
    long os_error = 0;

    if (c->easy != NULL && curl_easy_getinfo(c->easy, CURLINFO_OS_ERRNO, &os_error) == CURLE_OK &&
        (os_error == EADDRNOTAVAIL || os_error == ENOBUFS || os_error == ENOMEM))
        c->local_errno = (int)os_error;
    if (c->local_errno != 0)
        err_set(&e, "this machine cannot open a connection: %s", strerror(c->local_errno));
    else
        err_set(&e, "%s%s", who, why);
    memcpy(c->message, e.msg, sizeof c->message - 1);
    c->message[sizeof c->message - 1] = '\0';
    c->state = CONN_FAILED;
    c->due_ns = CLOCK_NEVER;
}

/* Fails a connection for a reason on this machine. No host counts as down. */
static void fail_here(struct conn *c, int error)
{
    c->local_errno = error;
    fail(c, "", "");
}

static bool watch(struct conn *c, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = c};
    int op = c->watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;

    if (c->watched != events && epoll_ctl(c->dialer->epoll, op, c->fd, &event) != 0)
        return false;
    c->watched = events;
    return true;
}

void conn_shake_hands(struct conn *c)
{
    uint32_t events = READY_EVENTS;
    struct err e = {0};
    ssize_t n = c->wire->shake_hands != NULL ? c->wire->shake_hands(c, &events, &e) : 1;

    if (n == CONN_ERROR) {
        fail(c, "", e.msg);
    } else if (n == 0) {
        fail(c, "TLS: ", "the server closed the connection");
    } else {
        c->state = n > 0 ? CONN_READY : CONN_CONNECTING;
        c->due_ns = n > 0 ? CLOCK_NEVER : c->due_ns;
        if (!watch(c, events))
            fail_here(c, errno);
    }
}

/* Takes over the socket once libcurl has connected. */
static void take_over(struct conn *c)
{
    curl_socket_t fd = CURL_SOCKET_BAD;

    if (curl_easy_getinfo(c->easy, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK ||
        fd == CURL_SOCKET_BAD) {
        fail(c, "curl: ", curl_easy_strerror(CURLE_COULDNT_CONNECT));
        return;
    }
    /* libcurl closes its own file descriptor, but our copy would keep the watch alive. */
    epoll_ctl(c->dialer->epoll, EPOLL_CTL_DEL, fd, NULL);
    c->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (c->fd < 0) {
        fail_here(c, errno);
        return;
    }
    hang_up(c);
    c->due_ns = c->opened_ns + c->dialer->style->connect_timeout_ns;
    conn_shake_hands(c);
}

/* Reports no errors: libcurl's error of a connection comes as a message (conn_dialer_next).
 *
 * If an address refuses, or fails at once, libcurl 7.88 tries the name's next address only at a
 * timer, up to seconds later. curl_multi_socket_all makes it go on. As that visits all connections,
 * it is called once for all events of a turn. */
void conn_dialer_act(struct conn_dialer *d, const struct epoll_event *event)
{
    uint32_t events = event != NULL ? event->events : 0;
    bool failed = (events & (EPOLLERR | EPOLLHUP)) != 0;
    int n_running = 0;

    if (event == NULL && d->stuck)
        curl_multi_socket_all(d->multi, &n_running);
    else
        curl_multi_socket_action(
            d->multi, event != NULL ? (curl_socket_t)(event->data.u64 >> 1) : CURL_SOCKET_TIMEOUT,
            (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                (failed ? CURL_CSELECT_ERR : 0),
            &n_running);
    d->stuck = failed || d->n_opened > 0 || (event != NULL && d->stuck);
    d->n_opened = 0;
    set_due(d);
}

struct conn *conn_dialer_next(struct conn_dialer *d)
{
    int n_left = 0;
    const CURLMsg *message = curl_multi_info_read(d->multi, &n_left);

    if (message == NULL)
        return NULL;
    CURLcode result = message->data.result;
    struct conn *c = conn_of(message->easy_handle);
    /* A text with '@' may quote a proxy's URL with its password. */
    bool says = c->message[0] != '\0' && strchr(c->message, '@') == NULL;
    if (result == CURLE_OK)
        take_over(c);
    else if (result == CURLE_OUT_OF_MEMORY)
        fail_here(c, ENOMEM);
    else
        fail(c, "curl: ", says ? c->message : curl_easy_strerror(result));
    return c;
}

void conn_on_timer(struct conn *c, int64_t now_ns)
{
    if (c->state == CONN_CONNECTING && c->due_ns <= now_ns)
        fail(c, "TLS: ", "the handshake timed out");
}

/* ---- Plain connections ---- */

static ssize_t from_errno(struct conn *c, const char *what, struct err *e)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return CONN_AGAIN;
    conn_note_end(c, errno);
    err_errno(e, errno, "%s", what);
    return CONN_ERROR;
}

static ssize_t plain_send(struct conn *c, const void *data, size_t n, struct err *e)
{
    ssize_t sent = send(c->fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT);

    return sent >= 0 ? sent : from_errno(c, "send", e);
}

static ssize_t received(struct conn *c, ssize_t got, struct err *e)
{
    if (got == 0)
        conn_note_end(c, EPIPE);
    return got >= 0 ? got : from_errno(c, "receive", e);
}

static ssize_t plain_recv(struct conn *c, void *buf, size_t n, struct err *e)
{
    return received(c, recv(c->fd, buf, n, MSG_DONTWAIT), e);
}

/* With MSG_TRUNC the bytes of a TCP connection are dropped in the kernel. A kernel that does not
 * know this refuses, or copies. */
static ssize_t plain_skip(struct conn *c, void *buf, size_t n, struct err *e)
{
    ssize_t got = recv(c->fd, buf, n, MSG_DONTWAIT | MSG_TRUNC);

    return got < 0 && (errno == EINVAL || errno == EOPNOTSUPP) ? plain_recv(c, buf, n, e)
                                                               : received(c, got, e);
}

const struct conn_wire conn_plain = {
    .send = plain_send,
    .recv = plain_recv,
    .skip = plain_skip,
};

/* ---- Waiting ---- */

void conn_want_write(struct conn *c, bool want)
{
    watch(c, READY_EVENTS | (want ? EPOLLOUT : 0u));
}

void conn_expect(struct conn *c, uint64_t rest)
{
    int want = rest == 0 ? 1 : rest < LOW_WATER_MAX ? (int)rest : LOW_WATER_MAX;

    if (c->wire->buffers || (c->low_water == 1 && want < LOW_WATER_MIN) || want == c->low_water)
        return;
    if (setsockopt(c->fd, SOL_SOCKET, SO_RCVLOWAT, &want, sizeof want) == 0)
        c->low_water = want;
}

bool conn_is_alive(struct conn *c)
{
    char byte;

    /* A TLS connection may have records without data, which a read consumes. */
    return c->state == CONN_READY && c->wire->recv(c, &byte, 1, NULL) == CONN_AGAIN;
}

uint32_t conn_new_retransmits(struct conn *c)
{
    struct tcp_info info;
    socklen_t n = sizeof info;
    uint32_t told = c->n_retransmits;

    if (c->fd < 0 || getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &n) != 0)
        return 0;
    c->n_retransmits = info.tcpi_total_retrans;
    return c->n_retransmits - told;
}
