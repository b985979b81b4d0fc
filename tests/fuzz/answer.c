/* A worker and any bytes from the server: the result is a row with a status and a message of one
 * line, or success with what was asked for.
 *
 * Input: a byte with the kind of request, a byte of flags, the bytes that the server sends before
 * it closes. */
#include "tests/fuzz/fuzz.h"

#include "libcommon/units.h"
#include "loadgen/load/load.h"
#include "loadgen/util/util.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LENGTH   10    /* of the object that a GET asks for */
#define MAX_SENT 60000 /* goes into a socket at once */

static struct engine engine = {
    .op_style = {.bucket = "bucket", .region = "us-east-1"},
    .client = "client",
    .request_timeout_ns = NS_PER_S,
};
static struct loop loop;
static int n_done;

static void on_done(void *ctx, struct worker *w, const struct s3op *op,
                    const struct worker_result *r)
{
    (void)ctx, (void)w;
    n_done++;
    assert(strlen(r->error) < sizeof r->error);
    assert(strpbrk(r->error, "\r\n") == NULL);
    assert(r->status == 0 || (r->status >= 200 && r->status <= 999));
    assert(r->n_bytes <= MAX_SENT && strpbrk(r->etag, "\r\n") == NULL);
    if (r->error[0] != '\0')
        return;
    /* This status means that the server keeps no list of unfinished uploads. */
    assert((r->status >= 200 && r->status < 300) ||
           (op->kind == S3OP_LIST_UPLOADS &&
            (r->status == 501 || r->status == 405 || r->status == 404)));
    if (op->kind == S3OP_GET)
        assert(r->n_bytes == LENGTH);
    if (op->kind == S3OP_LIST)
        assert(r->xml->root == XML_LIST && r->n_objects <= r->xml->n_entries);
}

static struct phase phase = {.done = on_done};

static void set_up(void)
{
    struct err e = {0};

    if (loop.engine != NULL)
        return;
    assert(engine_init(&engine, "host:1", HOSTS_WEIGHED, &e));
    assert(loop_init(&loop, &engine, 0, NULL, 0, 1, &e));
    loop.phase = &phase;
}

/* An established connection; `fd` is our end. */
static struct conn *connect_to(int fd, struct worker *w)
{
    struct conn *c = calloc(1, sizeof *c);

    assert(c != NULL);
    *c = (struct conn){.state = CONN_READY,
                       .wire = &conn_plain,
                       .user = w,
                       .fd = fd,
                       .dialer = &loop.pool.dialer,
                       .low_water = 1};
    return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_input in = {data, n};
    struct pages pages = {0};
    int ends[2];

    set_up();
    enum s3op_kind kind = (enum s3op_kind)(fuzz_take(&in, 1) % S3OP_N_KINDS);
    uint64_t flags = fuzz_take(&in, 1);
    struct worker *w = &loop.workers[0];
    if (in.n > MAX_SENT)
        return 0;
    assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    assert(in.n == 0 || write(ends[1], in.p, in.n) == (ssize_t)in.n);
    close(ends[1]);

    w->op = (struct s3op){.kind = kind,
                          .key = "key",
                          .n_key = 3,
                          .one_page = true,
                          .pages = &pages, /* so it asks for no other page if this one is empty */
                          .length = LENGTH,
                          .whole = flags & 1,
                          .verify = flags & 2,
                          .n_objects = 1};
    w->result = (struct worker_result){.start_ns = clock_now_ns(),
                                       .first_byte_ns = CLOCK_NEVER,
                                       .last_byte_ns = CLOCK_NEVER,
                                       .end_ns = CLOCK_NEVER};
    w->state = flags & 4 ? WORKER_SENDING : WORKER_RECEIVING;
    w->conn = connect_to(ends[0], w);
    w->host = (uint32_t)hosts_pick(&engine.hosts, NULL, true, clock_now_ns());
    atomic_fetch_add(&loop.n_running, 1);
    assert(answer_expect(w));
    n_done = 0;
    for (int i = 0; w->state != WORKER_IDLE; i++) {
        assert(i < 100);
        worker_on_event(w, true, false);
    }
    assert(n_done == 1 && w->conn == NULL && loop.n_running == 0);
    pages_clear(&pages);
    /* Of connections that were given back the state tells whether they were kept or closed. */
    struct conn *kept = LIST_FIRST(&loop.pool.idle[0]);
    LIST_INIT(&loop.pool.idle[0]);
    if (kept != NULL) {
        conn_close(kept);
        free(kept);
    }
    for (struct conn *dead; (dead = LIST_FIRST(&loop.pool.dead)) != NULL;) {
        LIST_REMOVE(dead, link);
        assert(dead->state == CONN_CLOSED);
        free(dead);
    }
    return 0;
}
