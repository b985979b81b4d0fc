/* rawclient: the cheapest HTTP client that can put the same load on a server as s3load, to measure
 * s3load against. It has one thread, epoll and plain sockets. It signs, and hashes what it uploads,
 * but checks little, records nothing, and knows one host.
 *
 *   rawclient --port N --op get|put|stat [--size SIZE] [--in-flight N] [--duration DUR]
 *             [--unsigned] [--tls CERT] [--close]
 *
 * With --tls CERT it uses TLS, verifies the server's certificate, and resumes sessions; with
 * --close it takes a new connection for each request, as the server closes them. It prints the
 * requests and the CPU time (user and system) they took, in ns, once all connections were begun. */
#include "libcommon/units.h"
#include "loadgen/s3/s3.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define IN_FLIGHT_MAX 8192
#define HEAD_MAX      2048
#define READ_BYTES    (512 * 1024)
#define LOW_WATER_MIN (128 * 1024)

struct conn {
    int fd;
    SSL *ssl; /* NULL: plain */
    bool is_shaking;
    size_t n_head;      /* bytes of the response's head so far */
    uint64_t body_rest; /* bytes of the response's body still to come */
    bool in_body;
    int low_water;
    char head[HEAD_MAX];
};

struct client {
    struct sigv4 signer;
    const char *method;
    bool is_get, is_put, is_unsigned, reconnects;
    SSL_CTX *context; /* NULL: plain */
    SSL_SESSION *session;
    struct sockaddr_in address;
    int epoll;
    char host[32];
    char *body;
    size_t size;
    uint64_t n_begun, n_done;
    size_t n_running;     /* connections with a request or a handshake */
    int64_t connected_ns; /* CPU time until all connections were begun */
    bool ending;
    struct conn conns[IN_FLIGHT_MAX];
    char *buf;
    char *out;
};

static void die(const char *what)
{
    fprintf(stderr, "rawclient: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void begin(struct client *c, struct conn *conn)
{
    char path[64];
    char hash[SIGV4_HASH_SIZE];
    struct err e = {0};
    bool body = c->is_put && c->size > 0;

    snprintf(path, sizeof path, "/bucket/s3load-raw/%016" PRIx64, c->n_begun++);
    if (body && !c->is_unsigned) {
        unsigned char raw[SIGV4_HASH_BYTES];
        EVP_Digest(c->body, c->size, raw, NULL, c->signer.sha256, NULL);
        sigv4_hex(raw, hash);
    }
    const struct sigv4_request r = {
        .method = c->method,
        .host = c->host,
        .path = path,
        .query = "",
        .payload_hash = !body            ? SIGV4_EMPTY_PAYLOAD
                        : c->is_unsigned ? SIGV4_UNSIGNED
                                         : hash,
        .time_s = time(NULL),
    };
    int n = snprintf(c->out, HEAD_MAX, "%s %s HTTP/1.1\r\n", c->method, path);
    struct strbuf headers = strbuf_on(c->out + n, HEAD_MAX);
    if (!sigv4_sign(&c->signer, &r, &headers, &e))
        die(e.msg);
    n += (int)headers.n;
    if (body)
        n += snprintf(c->out + n, HEAD_MAX, "Content-Length: %zu\r\n\r\n", c->size);
    else
        n += snprintf(c->out + n, HEAD_MAX, "\r\n");
    if (body)
        memcpy(c->out + n, c->body, c->size);
    size_t all = (size_t)n + (body ? c->size : 0);
    for (size_t sent = 0; sent < all;) {
        ssize_t k = conn->ssl != NULL ? SSL_write(conn->ssl, c->out + sent, (int)(all - sent))
                                      : send(conn->fd, c->out + sent, all - sent, MSG_NOSIGNAL);
        if (k < 0)
            die("send");
        sent += (size_t)k;
    }
    conn->n_head = 0;
    conn->in_body = false;
}

static void set_low_water(struct conn *conn)
{
    int want = conn->body_rest < READ_BYTES ? (int)conn->body_rest : READ_BYTES;

    if (conn->ssl != NULL || (conn->low_water == 1 && want < LOW_WATER_MIN) ||
        want == conn->low_water)
        return;
    conn->low_water = want > 0 ? want : 1;
    setsockopt(conn->fd, SOL_SOCKET, SO_RCVLOWAT, &conn->low_water, sizeof conn->low_water);
}

/* Finds the end of the response's head, and the length of its body. */
static bool take_head(struct client *c, struct conn *conn, size_t n)
{
    size_t take = n < HEAD_MAX - 1 - conn->n_head ? n : HEAD_MAX - 1 - conn->n_head;

    memcpy(conn->head + conn->n_head, c->buf, take);
    conn->n_head += take;
    conn->head[conn->n_head] = '\0';
    char *end = strstr(conn->head, "\r\n\r\n");
    if (end == NULL)
        return false;
    char *length = strstr(conn->head, "Content-Length: ");
    if (strncmp(conn->head, "HTTP/1.1 200", 12) != 0 || length == NULL)
        die("the server does not answer 200 with a Content-Length");
    size_t n_head = (size_t)(end + 4 - conn->head);
    conn->body_rest = c->is_get ? strtoull(length + 16, NULL, 10) : 0;
    conn->in_body = true;
    n -= take - (conn->n_head - n_head);
    conn->body_rest -= n < conn->body_rest ? n : conn->body_rest;
    return true;
}

static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    struct client *c = SSL_get_app_data(ssl);

    SSL_SESSION_free(c->session);
    c->session = session;
    return 1;
}

static void set_up_tls(struct client *c, const char *cert)
{
    c->context = SSL_CTX_new(TLS_client_method());
    if (c->context == NULL || !SSL_CTX_load_verify_file(c->context, cert))
        die("TLS");
    SSL_CTX_set_verify(c->context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_session_cache_mode(c->context,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
    SSL_CTX_sess_set_new_cb(c->context, keep_session);
    SSL_CTX_set_read_ahead(c->context, 1);
    SSL_CTX_set_default_read_buffer_len(c->context, 65536);
}

static void shake_hands(struct client *c, struct conn *conn)
{
    int n = SSL_do_handshake(conn->ssl);

    if (n != 1 && SSL_get_error(conn->ssl, n) != SSL_ERROR_WANT_READ)
        die("handshake");
    conn->is_shaking = n != 1;
    if (!conn->is_shaking)
        begin(c, conn);
}

static void start(struct client *c, struct conn *conn)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = conn};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int one = 1;

    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0 ||
        connect(fd, (struct sockaddr *)&c->address, sizeof c->address) != 0 ||
        epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        die("cannot connect");
    conn->fd = fd;
    conn->low_water = 1;
    if (c->context == NULL) {
        begin(c, conn);
        return;
    }
    conn->ssl = SSL_new(c->context);
    if (conn->ssl == NULL || fcntl(fd, F_SETFL, O_NONBLOCK) != 0 || !SSL_set_fd(conn->ssl, fd) ||
        !X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(conn->ssl), "127.0.0.1") ||
        !SSL_set_app_data(conn->ssl, c) ||
        (c->session != NULL && !SSL_set_session(conn->ssl, c->session)))
        die("TLS");
    SSL_set_connect_state(conn->ssl);
    shake_hands(c, conn);
}

static void end(struct conn *conn)
{
    if (conn->ssl != NULL) {
        SSL_shutdown(conn->ssl);
        SSL_free(conn->ssl);
    }
    conn->ssl = NULL;
    close(conn->fd);
}

/* Handles the bytes of one read; false: there are no more now. */
static bool read_some(struct client *c, struct conn *conn)
{
    ssize_t n = conn->ssl != NULL ? SSL_read(conn->ssl, c->buf, READ_BYTES)
                                  : recv(conn->fd, c->buf, READ_BYTES, MSG_DONTWAIT);

    if (n <= 0) {
        if (conn->ssl != NULL ? SSL_get_error(conn->ssl, (int)n) == SSL_ERROR_WANT_READ
                              : n < 0 && errno == EAGAIN)
            return false;
        die("receive");
    }
    if (!conn->in_body) {
        if (!take_head(c, conn, (size_t)n))
            return true;
    } else {
        conn->body_rest -= (uint64_t)n < conn->body_rest ? (uint64_t)n : conn->body_rest;
    }
    set_low_water(conn);
    if (conn->body_rest > 0)
        return true;
    c->n_done++;
    if (c->reconnects)
        end(conn);
    if (c->ending)
        c->n_running--;
    else if (c->reconnects)
        start(c, conn);
    else
        begin(c, conn);
    return false;
}

static void on_readable(struct client *c, struct conn *conn)
{
    if (conn->is_shaking)
        shake_hands(c, conn);
    else
        while (read_some(c, conn) && conn->ssl != NULL)
            ;
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t cpu_ns(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
           (int64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static void run(struct client *c, int64_t port, size_t in_flight, int64_t duration_ns)
{
    struct epoll_event events[256];

    c->epoll = epoll_create1(EPOLL_CLOEXEC);
    c->address = (struct sockaddr_in){.sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)port),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    c->n_running = in_flight;
    for (size_t i = 0; i < in_flight; i++)
        start(c, &c->conns[i]);
    c->connected_ns = cpu_ns();
    int64_t end_ns = now_ns() + duration_ns;
    while (c->n_running > 0) {
        int n = epoll_wait(c->epoll, events, 256, 1000);
        c->ending = now_ns() >= end_ns;
        for (int i = 0; i < n; i++)
            on_readable(c, events[i].data.ptr);
    }
    close(c->epoll);
}

int main(int argc, char **argv)
{
    static struct client c;
    static const struct option options[] = {{"port", required_argument, NULL, 'p'},
                                            {"op", required_argument, NULL, 'o'},
                                            {"size", required_argument, NULL, 's'},
                                            {"in-flight", required_argument, NULL, 'n'},
                                            {"duration", required_argument, NULL, 'd'},
                                            {"unsigned", no_argument, NULL, 'u'},
                                            {"tls", required_argument, NULL, 't'},
                                            {"close", no_argument, NULL, 'c'},
                                            {0}};
    int64_t port = 0;
    int64_t size = 4096;
    int64_t in_flight = 8;
    int64_t duration_ns = INT64_C(1000000000);
    const char *op = "get";
    struct err e = {0};
    int k = 0;

    while ((k = getopt_long(argc, argv, "", options, NULL)) != -1) {
        bool ok = true;
        if (k == 'p')
            ok = units_parse_int(optarg, &port, &e);
        else if (k == 's')
            ok = units_parse_size(optarg, &size, &e);
        else if (k == 'n')
            ok = units_parse_int(optarg, &in_flight, &e);
        else if (k == 'd')
            ok = units_parse_duration(optarg, false, &duration_ns, &e);
        else if (k == 'o')
            op = optarg;
        else if (k == 'u')
            c.is_unsigned = true;
        else if (k == 't')
            set_up_tls(&c, optarg);
        else if (k == 'c')
            c.reconnects = true;
        else
            return EXIT_USAGE;
        if (!ok || in_flight < 1 || in_flight > IN_FLIGHT_MAX) {
            fprintf(stderr, "rawclient: '%s': %s\n", optarg, e.msg);
            return EXIT_USAGE;
        }
    }
    c.is_get = strcmp(op, "get") == 0;
    c.is_put = strcmp(op, "put") == 0;
    c.method = c.is_get ? "GET" : c.is_put ? "PUT" : "HEAD";
    c.size = (size_t)size;
    c.body = malloc(c.size + 1);
    c.buf = malloc(READ_BYTES);
    c.out = malloc(3 * HEAD_MAX + c.size);
    snprintf(c.host, sizeof c.host, "127.0.0.1:%d", (int)port);
    if (c.body == NULL || c.buf == NULL || c.out == NULL ||
        !sigv4_init(&c.signer, "AKIAIOSFODNN7EXAMPLE", "secret", NULL, "us-east-1", "s3", &e))
        die("out of memory");
    /* Pages that were never written to would all be one page of zeros, which is always in the
     * CPU's cache. */
    memset(c.body, 'x', c.size + 1);
    run(&c, port, (size_t)in_flight, duration_ns);
    printf("%" PRIu64 " %" PRId64 "\n", c.n_done, cpu_ns() - c.connected_ns);
    return EXIT_DONE;
}
