/* nullserver: the cheapest HTTP server that s3load can run against, to measure s3load and not a
 * server. It has one thread, epoll and fixed answers; it stores and verifies nothing.
 *
 *   nullserver [--port N] [--hosts N] [--body SIZE] [--delay DURATION] [--log FILE] [--tls CERT]
 *              [--close]
 *
 * GET answers SIZE bytes (4KiB), HEAD their size, PUT takes its body, DELETE answers 204; a list is
 * empty, a batch DELETE succeeds. With --hosts it listens on so many ports. --tls makes a
 * certificate, writes it to CERT, and gives sessions to resume; --close closes each connection
 * after one answer. With --delay each answer begins that long after its request was read, by
 * timerfd. The log, kept in memory and written at SIGINT or SIGTERM, has a line per request:
 * CLOCK_MONOTONIC ns when its last byte was read, when its answer was wholly sent, and its
 * User-Agent. */
#include "libcommon/units.h"
#include "tests/target/cert.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define HEAD_MAX    16384
#define READ_BYTES  (256 * 1024)
#define CONNS_MAX   65536
#define AGENT_BYTES 64

/* Epoll's numbers of what is no connection; the listener of fd is LISTENER + fd. */
enum { TIMER = CONNS_MAX, SIGNALS, LISTENER };

struct answer {
    char *all; /* head and body */
    size_t n;
};

struct conn {
    bool open;
    SSL *ssl;            /* NULL: plain */
    uint32_t generation; /* of the file descriptor's use */
    size_t n_head;
    uint64_t body_rest; /* bytes of the request's body still to be read */
    bool head_done;
    const struct answer *answer; /* being sent or delayed; NULL: reading */
    size_t n_sent;
    int64_t read_ns;
    char agent[AGENT_BYTES];
    char head[HEAD_MAX];
};

struct delayed {
    int64_t due_ns;
    int fd;
    uint32_t generation;
};

struct log_entry {
    int64_t read_ns, sent_ns;
    char agent[AGENT_BYTES];
};

struct null_server {
    int epoll, timer, signals;
    int64_t delay_ns;
    struct answer get, head, put, deleted, list, batch;
    struct conn *conns[CONNS_MAX]; /* by file descriptor */
    struct delayed *queue; /* a ring buffer: the delay is fixed, so the first answer is due first */
    size_t first, n_queued;
    struct log_entry *log;
    size_t n_log, log_cap;
    bool logging;
    bool closing;     /* close each connection after an answer */
    SSL_CTX *context; /* NULL: plain */
    char block[READ_BYTES];
};

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "nullserver: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void *allocate(void *old, size_t n)
{
    void *p = realloc(old, n);

    if (p == NULL)
        die("out of memory");
    return p;
}

static void set_answer(struct answer *a, const char *status, const char *body, size_t n_body,
                       bool send_body, bool close)
{
    char head[256];
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %s\r\nETag: \"d41d8cd98f00b204e9800998ecf8427e\"\r\n%s", status,
                     close ? "Connection: close\r\n" : "");

    if (strncmp(status, "204", 3) != 0)
        n += snprintf(head + n, sizeof head - (size_t)n, "Content-Length: %zu\r\n", n_body);
    n += snprintf(head + n, sizeof head - (size_t)n, "\r\n");
    a->n = (size_t)n + (send_body ? n_body : 0);
    a->all = allocate(NULL, a->n);
    memcpy(a->all, head, (size_t)n);
    memcpy(a->all + n, body, a->n - (size_t)n);
}

static void set_answers(struct null_server *s, size_t n_body)
{
    static const char list[] = "<ListBucketResult><KeyCount>0</KeyCount>"
                               "<IsTruncated>false</IsTruncated></ListBucketResult>";
    static const char batch[] = "<DeleteResult/>";
    char *body = allocate(NULL, n_body + 1);

    memset(body, 'x', n_body);
    set_answer(&s->get, "200 OK", body, n_body, true, s->closing);
    set_answer(&s->head, "200 OK", body, n_body, false, s->closing);
    set_answer(&s->put, "200 OK", "", 0, true, s->closing);
    set_answer(&s->deleted, "204 No Content", "", 0, true, s->closing);
    set_answer(&s->list, "200 OK", list, strlen(list), true, s->closing);
    set_answer(&s->batch, "200 OK", batch, strlen(batch), true, s->closing);
    free(body);
}

/* Returns a result like that of send and recv. */
static ssize_t io_result(SSL *ssl, int n)
{
    int why = SSL_get_error(ssl, n);

    errno = why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? EAGAIN : EPROTO;
    return n > 0 ? n : why == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

static ssize_t io_send(const struct conn *c, int fd, const char *data, size_t n)
{
    return c->ssl == NULL ? send(fd, data, n, MSG_NOSIGNAL)
                          : io_result(c->ssl, SSL_write(c->ssl, data, (int)n));
}

static ssize_t io_recv(const struct conn *c, int fd, char *data, size_t n)
{
    return c->ssl == NULL ? recv(fd, data, n, 0)
                          : io_result(c->ssl, SSL_read(c->ssl, data, (int)n));
}

static void watch(const struct null_server *s, int fd, int id, uint32_t events, int op)
{
    struct epoll_event event = {.events = events, .data.u32 = (uint32_t)id};

    if (epoll_ctl(s->epoll, op, fd, &event) != 0)
        die("epoll_ctl");
}

static void close_conn(struct null_server *s, int fd)
{
    struct conn *c = s->conns[fd];

    c->open = false;
    if (c->ssl != NULL && SSL_is_init_finished(c->ssl))
        SSL_shutdown(c->ssl);
    SSL_free(c->ssl);
    c->ssl = NULL;
    close(fd);
}

static void log_answer(struct null_server *s, const struct conn *c)
{
    if (!s->logging)
        return;
    if (s->n_log == s->log_cap) {
        s->log_cap = s->log_cap == 0 ? 65536 : 2 * s->log_cap;
        s->log = allocate(s->log, s->log_cap * sizeof *s->log);
    }
    struct log_entry *entry = &s->log[s->n_log++];
    entry->read_ns = c->read_ns;
    entry->sent_ns = now_ns();
    memcpy(entry->agent, c->agent, sizeof entry->agent);
}

static const struct answer *choose(const struct null_server *s, const struct conn *c)
{
    size_t n_line = strcspn(c->head, "\r");
    const char *query = memchr(c->head, '?', n_line);
    size_t n_query = query != NULL ? n_line - (size_t)(query - c->head) : 0;

    switch (c->head[0]) {
    case 'G':
        return query != NULL && memmem(query, n_query, "list-type=", 10) != NULL ? &s->list
                                                                                 : &s->get;
    case 'H':
        return &s->head;
    case 'D':
        return &s->deleted;
    case 'P':
        return c->head[1] == 'O' ? &s->batch : &s->put;
    default:
        return &s->put;
    }
}

static void header_value(const struct conn *c, const char *name, char *out, size_t size)
{
    const char *at = strcasestr(c->head, name);

    out[0] = '\0';
    if (at == NULL)
        return;
    at += strlen(name);
    at += strspn(at, " ");
    snprintf(out, size, "%.*s", (int)strcspn(at, "\r"), at);
}

/* Sends as much as the connection takes; false: the connection is closed. */
static bool send_answer(struct null_server *s, int fd)
{
    struct conn *c = s->conns[fd];
    const struct answer *a = c->answer;

    while (c->n_sent < a->n) {
        ssize_t n = io_send(c, fd, a->all + c->n_sent, a->n - c->n_sent);
        if (n < 0 && errno == EAGAIN) {
            watch(s, fd, fd, EPOLLOUT, EPOLL_CTL_MOD);
            return true;
        }
        if (n < 0) {
            close_conn(s, fd);
            return false;
        }
        c->n_sent += (size_t)n;
    }
    log_answer(s, c);
    c->answer = NULL;
    c->n_head = 0;
    c->head_done = false;
    if (s->closing)
        close_conn(s, fd);
    return !s->closing;
}

static void arm(struct null_server *s)
{
    struct itimerspec t = {0};

    if (s->n_queued > 0) {
        int64_t due_ns = s->queue[s->first].due_ns;
        t.it_value = (struct timespec){due_ns / 1000000000, due_ns % 1000000000};
    }
    timerfd_settime(s->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

/* Answers a request that has been read completely. */
static bool respond(struct null_server *s, int fd)
{
    struct conn *c = s->conns[fd];

    c->answer = choose(s, c);
    c->n_sent = 0;
    if (s->logging) {
        c->read_ns = now_ns();
        header_value(c, "\nuser-agent:", c->agent, sizeof c->agent);
    }
    if (s->delay_ns == 0)
        return send_answer(s, fd);

    size_t at = (s->first + s->n_queued++) % CONNS_MAX;
    s->queue[at] = (struct delayed){now_ns() + s->delay_ns, fd, c->generation};
    if (s->n_queued == 1)
        arm(s);
    return true;
}

/* Takes n bytes of a request; false: the connection is closed. There is no pipelining. */
static bool take(struct null_server *s, int fd, const char *data, size_t n)
{
    struct conn *c = s->conns[fd];

    if (!c->head_done) {
        size_t old = c->n_head;
        size_t room = sizeof c->head - 1 - old;
        size_t copied = n < room ? n : room;
        memcpy(c->head + old, data, copied);
        c->head[old + copied] = '\0';
        char *end = strstr(c->head + (old > 3 ? old - 3 : 0), "\r\n\r\n");
        if (end == NULL && n >= room) {
            close_conn(s, fd);
            return false;
        }
        if (end == NULL) {
            c->n_head += n;
            return true;
        }
        char length[24];
        end[2] = '\0';
        size_t n_taken = (size_t)(end - c->head) + 4 - old;
        c->head_done = true;
        header_value(c, "\ncontent-length:", length, sizeof length);
        c->body_rest = strtoull(length, NULL, 10);
        data += n_taken;
        n -= n_taken;
    }
    (void)data;
    c->body_rest -= n < c->body_rest ? n : c->body_rest;
    return c->body_rest > 0 || respond(s, fd);
}

static void on_readable(struct null_server *s, int fd)
{
    const struct conn *c = s->conns[fd];
    bool more = true;

    while (more) {
        ssize_t n = io_recv(c, fd, s->block, sizeof s->block);
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0)
            close_conn(s, fd);
        /* A TLS connection may hold bytes that epoll does not report. */
        more = n > 0 && take(s, fd, s->block, (size_t)n) && c->ssl != NULL;
    }
}

static void on_timer(struct null_server *s)
{
    uint64_t n_expired = 0;
    int64_t now = now_ns();

    if (read(s->timer, &n_expired, sizeof n_expired) < 0 && errno != EAGAIN)
        die("timerfd");
    while (s->n_queued > 0 && s->queue[s->first].due_ns <= now) {
        struct delayed d = s->queue[s->first];
        s->first = (s->first + 1) % CONNS_MAX;
        s->n_queued--;
        if (s->conns[d.fd]->open && s->conns[d.fd]->generation == d.generation)
            send_answer(s, d.fd);
        now = now_ns();
    }
    arm(s);
}

static void on_connect(struct null_server *s, int listener)
{
    int one = 1;
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0)
        return;
    if (fd >= CONNS_MAX) {
        close(fd);
        return;
    }
    if (s->conns[fd] == NULL) {
        s->conns[fd] = allocate(NULL, sizeof *s->conns[fd]);
        s->conns[fd]->generation = 0;
        s->conns[fd]->ssl = NULL;
    }
    struct conn *c = s->conns[fd];
    c->open = true;
    c->generation++;
    c->n_head = 0;
    c->head_done = false;
    c->answer = NULL;
    if (s->context != NULL) {
        c->ssl = SSL_new(s->context);
        if (c->ssl == NULL || !SSL_set_fd(c->ssl, fd))
            die("TLS");
        SSL_set_accept_state(c->ssl);
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    watch(s, fd, fd, EPOLLIN, EPOLL_CTL_ADD);
}

static void on_event(struct null_server *s, const struct epoll_event *event)
{
    int fd = (int)event->data.u32;
    struct conn *c = s->conns[fd];

    if (!c->open)
        return;
    if (event->events & (EPOLLERR | EPOLLHUP)) {
        close_conn(s, fd);
    } else if (c->answer == NULL) {
        on_readable(s, fd);
    } else if (event->events & EPOLLOUT) {
        if (send_answer(s, fd) && c->answer == NULL)
            watch(s, fd, fd, EPOLLIN, EPOLL_CTL_MOD);
    } else {
        /* Bytes came while an answer is delayed: the peer has closed the connection, or
         * pipelines. */
        close_conn(s, fd);
    }
}

static void serve(struct null_server *s)
{
    struct epoll_event events[256];

    for (;;) {
        int n = epoll_wait(s->epoll, events, 256, -1);
        if (n < 0 && errno != EINTR)
            die("epoll_wait");
        for (int i = 0; i < n; i++) {
            switch (events[i].data.u32) {
            case TIMER:
                on_timer(s);
                break;
            case SIGNALS:
                return;
            default:
                if (events[i].data.u32 >= LISTENER)
                    on_connect(s, (int)events[i].data.u32 - LISTENER);
                else
                    on_event(s, &events[i]);
            }
        }
    }
}

/* Listens on the port (0: any), and prints it. */
static void listen_on(struct null_server *s, int64_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof address;
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, n) != 0 || listen(fd, 1024) != 0)
        die("cannot listen");
    getsockname(fd, (struct sockaddr *)&address, &n);
    watch(s, fd, LISTENER + fd, EPOLLIN, EPOLL_CTL_ADD);
    printf("listening on http://127.0.0.1:%u\n", ntohs(address.sin_port));
}

static void set_up(struct null_server *s)
{
    sigset_t stop;

    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    s->signals = signalfd(-1, &stop, SFD_CLOEXEC);
    s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (s->signals < 0 || s->timer < 0 || s->epoll < 0)
        die("cannot set up");
    watch(s, s->timer, TIMER, EPOLLIN, EPOLL_CTL_ADD);
    watch(s, s->signals, SIGNALS, EPOLLIN, EPOLL_CTL_ADD);
}

static void set_up_tls(struct null_server *s, const char *path)
{
    char *texts[2];
    struct err e = {0};

    if (!cert_make(NULL, NULL, &texts[0], &texts[1], &e))
        die(e.msg);
    BIO *cert_bio = BIO_new_mem_buf(texts[0], -1);
    BIO *key_bio = BIO_new_mem_buf(texts[1], -1);
    X509 *cert = PEM_read_bio_X509(cert_bio, NULL, NULL, NULL);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL);
    FILE *f = fopen(path, "w");

    s->context = SSL_CTX_new(TLS_server_method());
    if (cert == NULL || key == NULL || s->context == NULL ||
        SSL_CTX_use_certificate(s->context, cert) != 1 ||
        SSL_CTX_use_PrivateKey(s->context, key) != 1)
        die("TLS");
    SSL_CTX_set_mode(s->context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (f == NULL || fputs(texts[0], f) < 0 || fclose(f) != 0)
        die(path);
    X509_free(cert);
    EVP_PKEY_free(key);
    BIO_free(cert_bio);
    BIO_free(key_bio);
    free(texts[0]);
    free(texts[1]);
}

static void write_log(const struct null_server *s, const char *path)
{
    FILE *f = fopen(path, "w");

    if (f == NULL)
        die(path);
    fputs("read_ns\tsent_ns\tuser_agent\n", f);
    for (size_t i = 0; i < s->n_log; i++)
        fprintf(f, "%" PRId64 "\t%" PRId64 "\t%s\n", s->log[i].read_ns, s->log[i].sent_ns,
                s->log[i].agent);
    if (fclose(f) != 0)
        die(path);
}

int main(int argc, char **argv)
{
    static struct null_server server;
    static const struct option options[] = {
        {"port", required_argument, NULL, 'p'}, {"hosts", required_argument, NULL, 'h'},
        {"body", required_argument, NULL, 'b'}, {"delay", required_argument, NULL, 'd'},
        {"log", required_argument, NULL, 'l'},  {"tls", required_argument, NULL, 't'},
        {"close", no_argument, NULL, 'c'},      {0}};
    int64_t port = 0;
    int64_t n_hosts = 1;
    int64_t body_bytes = 4096;
    const char *log = NULL;
    const char *cert = NULL;
    struct err e = {0};
    int c = 0;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        bool ok = true;
        if (c == 'p')
            ok = units_parse_int(optarg, &port, &e);
        else if (c == 'h')
            ok = units_parse_int(optarg, &n_hosts, &e);
        else if (c == 'b')
            ok = units_parse_size(optarg, &body_bytes, &e);
        else if (c == 'd')
            ok = units_parse_duration(optarg, false, &server.delay_ns, &e);
        else if (c == 'l')
            log = optarg;
        else if (c == 't')
            cert = optarg;
        else if (c == 'c')
            server.closing = true;
        else
            return EXIT_USAGE;
        if (!ok || port < 0 || port > 65535 || body_bytes < 0) {
            fprintf(stderr, "nullserver: '%s': %s\n", optarg, e.msg);
            return EXIT_USAGE;
        }
    }
    signal(SIGPIPE, SIG_IGN);
    if (cert != NULL)
        set_up_tls(&server, cert);
    server.logging = log != NULL;
    server.queue = allocate(NULL, CONNS_MAX * sizeof *server.queue);
    set_answers(&server, (size_t)body_bytes);
    set_up(&server);
    for (int64_t i = 0; i < n_hosts; i++)
        listen_on(&server, i == 0 ? port : 0);
    fflush(stdout);
    serve(&server);
    if (log != NULL)
        write_log(&server, log);
    return EXIT_DONE;
}
