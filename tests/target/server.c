#include "tests/target/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* Most bytes given to libmicrohttpd at once. */
#define BLOCK_BYTES (256 * 1024)

/* Memory per connection, for headers and buffers. */
#define CONNECTION_MEMORY (128 * 1024)

/* How soon a sleeping request notices that the server stops. */
#define SLEEP_STEP_NS 100000000

/* Sleeps until the time of CLOCK_MONOTONIC, or until the server stops. */
static void sleep_until(const struct server *s, int64_t until_ns)
{
    while (!atomic_load(&s->stopping)) {
        int64_t now_ns = request_now_ns(CLOCK_MONOTONIC);
        if (now_ns >= until_ns)
            return;
        int64_t step_ns = until_ns - now_ns > SLEEP_STEP_NS ? now_ns + SLEEP_STEP_NS : until_ns;
        struct timespec t = {step_ns / 1000000000, step_ns % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    }
}

/* ---- The log ---- */

static void log_request(struct server *s, const struct request *r, bool complete)
{
    struct buf line = {0};
    const char *agent = request_header(r, "user-agent");

    if (s->log == NULL)
        return;
    buf_printf(&line, "%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t",
               r->start_ns, r->received_ns, r->queued_ns, r->first_ns, r->last_ns);
    buf_printf(&line, "%" PRId64 "\t%" PRId64 "\t%d\t%s\t%s\t", r->end_ns, r->start_real_ns,
               r->server, r->op, r->method);
    buf_percent(&line, r->bucket, strlen(r->bucket), true);
    buf_str(&line, "\t");
    buf_percent(&line, r->key, strlen(r->key), true);
    buf_printf(&line, "\t%d\t%zu\t%zu\t%" PRIu64 "\t%s\t%d\t", r->reply.status, r->n_body,
               r->n_sent, r->reply.n_objects, r->fault, complete);
    buf_str(&line, agent != NULL ? agent : "");
    buf_str(&line, "\n");
    /* One call per line, so that lines of several threads do not mix. */
    if (!line.failed)
        fwrite(line.p, 1, line.n, s->log);
    buf_fini(&line);
}

/* ---- Answers ---- */

/* Resets the connection now; libmicrohttpd would close it in order. */
static void reset(struct request *r)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const struct sockaddr none = {.sa_family = AF_UNSPEC};

    /* Connecting a TCP socket to AF_UNSPEC sends a reset (connect(2)). */
    r->fault = "reset";
    if (info != NULL)
        connect(info->connect_fd, &none, sizeof none);
}

struct sending {
    struct request *r;
    const struct server *server;
};

/* Gives libmicrohttpd the next part of a body, with the faults of the plan. */
static ssize_t read_body(void *cls, uint64_t pos, char *out, size_t max)
{
    struct sending *sending = cls;
    struct request *r = sending->r;
    struct reply *reply = &r->reply;
    const char *data = reply->blob != NULL ? reply->blob->data + reply->offset : reply->xml.p;
    size_t length = reply->blob != NULL ? reply->length : reply->xml.n;
    size_t middle = length / 2;
    bool breaks = r->plan.reset || r->plan.truncate;
    size_t end = breaks ? middle : length;

    if (pos >= length)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (pos >= end) {
        if (r->plan.reset)
            reset(r);
        else
            r->fault = "truncate";
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    size_t n = end - (size_t)pos < max ? end - (size_t)pos : max;
    if (r->plan.bytes_per_s > 0) {
        /* Send the bytes of a hundredth of a second at a time. */
        size_t step = (size_t)(r->plan.bytes_per_s / 100) + 1;
        n = n < step ? n : step;
        r->fault = "slow";
        double due_s = (double)pos / r->plan.bytes_per_s;
        sleep_until(sending->server, r->queued_ns + (int64_t)(due_s * 1e9));
    }
    memcpy(out, data + pos, n);
    if (r->plan.corrupt && reply->blob != NULL && middle >= pos && middle < pos + n) {
        out[middle - pos] ^= 1;
        r->fault = "corrupt";
    }
    r->n_sent += n;
    r->last_ns = request_now_ns(CLOCK_MONOTONIC);
    if (pos == 0)
        r->first_ns = r->last_ns;
    return (ssize_t)n;
}

static struct MHD_Response *make_response(struct server *s, struct request *r)
{
    const struct reply *reply = &r->reply;
    size_t length = reply->blob != NULL ? reply->length : reply->xml.n;
    struct sending *sending = malloc(sizeof *sending);

    if (sending == NULL)
        return NULL;
    *sending = (struct sending){r, s};
    bool chunked = r->plan.chunked && length > 0 && !request_is(r, "HEAD");
    uint64_t declared = chunked ? MHD_SIZE_UNKNOWN : length;
    struct MHD_Response *response =
        MHD_create_response_from_callback(declared, BLOCK_BYTES, read_body, sending, free);
    if (response == NULL) {
        free(sending);
        return NULL;
    }
    for (size_t i = 0; i < reply->n_headers; i++)
        MHD_add_response_header(response, reply->headers[i].name, reply->headers[i].value);
    if (reply->xml.n > 0)
        MHD_add_response_header(response, "Content-Type", "application/xml");
    return response;
}

static void fail(struct request *r)
{
    int status = r->plan.fail_status;

    reply_error(&r->reply, status == 503 || status == 429 ? "SlowDown" : "InternalError",
                "A fault on request.");
    r->reply.status = status;
    r->fault = "fail";
}

static enum MHD_Result answer(struct server *s, struct request *r)
{
    r->received_ns = request_now_ns(CLOCK_MONOTONIC);
    r->plan = faults_draw(&s->faults, r->server, r->op, r->received_ns);
    if (r->plan.fail_status != 0)
        fail(r);
    else
        s3_handle(&s->s3, r);

    if (r->plan.latency_ns > 0)
        sleep_until(s, r->received_ns + r->plan.latency_ns);
    if (r->plan.stalled_until_ns > 0) {
        r->fault = "stall";
        sleep_until(s, r->plan.stalled_until_ns);
    }
    size_t length = r->reply.blob != NULL ? r->reply.length : r->reply.xml.n;
    if (r->plan.reset && (length == 0 || strcmp(r->method, "HEAD") == 0)) {
        reset(r);
        return MHD_NO;
    }
    struct MHD_Response *response = make_response(s, r);
    if (response == NULL)
        return MHD_NO;
    r->queued_ns = request_now_ns(CLOCK_MONOTONIC);
    enum MHD_Result result = MHD_queue_response(r->connection, (unsigned)r->reply.status, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- Libmicrohttpd's calls ---- */

static void *on_uri(void *cls, const char *uri, struct MHD_Connection *connection)
{
    const struct server_port *p = cls;
    struct request *r = request_new(p->index, uri);

    if (r != NULL)
        r->connection = connection;
    return r;
}

/* Leaves paths and queries as they were sent. */
static size_t no_unescape(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls;
    (void)connection;
    return strlen(text);
}

/* Handles the headers: finds the operation, and decides whether to accept the body. */
static void begin(const struct server *s, struct request *r, const char *method)
{
    const char *length = request_header(r, "content-length");
    const char *coding = request_header(r, "transfer-encoding");

    snprintf(r->method, sizeof r->method, "%s", method);
    r->refused = request_parse(r, s->s3.domain);
    if (r->refused != NULL)
        return;
    r->op = s3_op(r);
    if (coding != NULL) {
        r->refused = "MissingContentLength";
    } else if (length != NULL && strcmp(length, "0") != 0) {
        char *end = NULL;
        errno = 0;
        unsigned long long n = strtoull(length, &end, 10);
        if (errno != 0 || *end != '\0' || n > (unsigned long long)s->options.max_body_bytes)
            r->refused = "EntityTooLarge";
        else if ((r->body = blob_new((size_t)n)) == NULL)
            r->refused = "SlowDown";
    }
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *n_data, void **req_cls)
{
    const struct server_port *p = cls;
    struct request *r = *req_cls;

    (void)connection;
    (void)url;
    (void)version;
    if (r == NULL)
        return MHD_NO;
    if (r->method[0] == '\0') {
        begin(p->server, r, method);
        return MHD_YES;
    }
    if (*n_data == 0)
        return answer(p->server, r);
    if (r->body != NULL && r->n_body + *n_data <= r->body->size)
        memcpy(r->body->data + r->n_body, data, *n_data);
    r->n_body += *n_data;
    *n_data = 0;
    return MHD_YES;
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **req_cls,
                         enum MHD_RequestTerminationCode code)
{
    const struct server_port *p = cls;
    struct request *r = *req_cls;

    (void)connection;
    if (r == NULL)
        return;
    r->end_ns = request_now_ns(CLOCK_MONOTONIC);
    if (r->method[0] != '\0')
        log_request(p->server, r, code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    request_free(r);
    *req_cls = NULL;
}

/* ---- Start and end ---- */

bool server_init(struct server *s, const struct server_options *options, struct err *e)
{
    s->options = *options;
    atomic_init(&s->stopping, false);
    s->log = NULL;
    if (options->log != NULL) {
        s->log = fopen(options->log, "w");
        if (s->log == NULL)
            return err_errno(e, errno, "cannot write '%s'", options->log);
        /* Every line reaches the file at once: tests read it while we run. */
        setvbuf(s->log, NULL, _IOLBF, 1 << 16);
        fputs(
            "start_ns\treceived_ns\tqueued_ns\tfirst_ns\tlast_ns\tend_ns\tstart_real_ns\tserver\top"
            "\tmethod\tbucket\tkey\tstatus\tbytes_in\tbytes_out\tn_objects\tfault\tcomplete"
            "\tuser_agent\n",
            s->log);
    }
    store_init(&s->s3.store);
    return true;
}

void server_fini(struct server *s)
{
    store_fini(&s->s3.store);
    if (s->log != NULL)
        fclose(s->log);
}

bool server_listen(struct server_port *p, struct server *s, int index, unsigned port, struct err *e)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)s->options.cert_pem},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)s->options.key_pem},
        {MHD_OPTION_END, 0, NULL},
    };

    if (s->options.cert_pem != NULL)
        flags |= MHD_USE_TLS;
    else
        tls[0].option = MHD_OPTION_END;
    if (inet_pton(AF_INET, s->options.address, &address.sin_addr) != 1)
        return err_set(e, "'%s' is not an IPv4 address", s->options.address);

    *p = (struct server_port){.server = s, .index = index};
    p->daemon = MHD_start_daemon(
        flags, (uint16_t)port, NULL, NULL, on_request, p, MHD_OPTION_SOCK_ADDR, &address,
        MHD_OPTION_URI_LOG_CALLBACK, on_uri, p, MHD_OPTION_UNESCAPE_CALLBACK, no_unescape, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, p, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)s->options.idle_timeout_s, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        p->daemon == NULL ? NULL : MHD_get_daemon_info(p->daemon, MHD_DAEMON_INFO_BIND_PORT);
    if (info == NULL)
        return err_set(e, "cannot listen on port %u", port);
    p->port = info->port;
    return true;
}

void server_close(struct server_port *p)
{
    if (p->daemon != NULL)
        MHD_stop_daemon(p->daemon);
    p->daemon = NULL;
}
