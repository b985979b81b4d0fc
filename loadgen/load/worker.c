#include "loadgen/load/load.h"

#include "libcommon/mem.h"
#include "libcommon/secret.h"

#include <string.h>

/* The most work for digests in one turn of the loop, in bytes: arrivals during that time get late
 * timestamps. */
#define DIGEST_BYTES (2 * WORKER_CHUNK_BYTES)

/* The most bytes to send for one worker before the other workers' turn. */
#define TURN_BYTES (1024 * 1024)

/* ---- Start and end ---- */

bool worker_init(struct worker *w, struct loop *l, uint32_t thread, struct err *e)
{
    w->loop = l;
    w->thread = thread;
    w->card = -1;
    rng_init(&w->rng, l->engine->seed, engine_stream(l->engine, thread));
    w->body.out = secret_alloc(WORKER_OUT_BYTES);
    w->body.sha256_ctx = EVP_MD_CTX_new();
    w->body.md5_ctx = EVP_MD_CTX_new();
    return (w->body.out != NULL && w->body.sha256_ctx != NULL && w->body.md5_ctx != NULL) ||
           mem_none(e);
}

/* Returns where the next call stores its error. All calls of a loop share it, since an error on the
 * stack would cost the zeroing of 1 KiB each time. */
static struct err *failure(struct worker *w)
{
    err_clear(&w->loop->failure);
    return &w->loop->failure;
}

static void give_conn(struct worker *w, bool keep)
{
    pool_give(&w->loop->pool, w->conn, keep, w->loop->now_ns);
    w->conn = NULL;
}

void worker_fini(struct worker *w)
{
    if (w->conn != NULL)
        give_conn(w, false);
    xml_fini(&w->xml);
    pages_clear(&w->pages);
    secret_free(w->body.out);
    EVP_MD_CTX_free(w->body.sha256_ctx);
    EVP_MD_CTX_free(w->body.md5_ctx);
}

/* ---- The row ---- */

static int64_t recorded_ns(const struct worker *w, int64_t ns)
{
    return ns == CLOCK_NEVER ? RECORD_NO_TIME : ns + w->loop->engine->offset_ns;
}

static void record(struct worker *w)
{
    const struct engine *g = w->loop->engine;
    const struct worker_result *r = &w->result;
    const struct s3op *op = &w->op;
    const struct record row = {
        .start_ns = recorded_ns(w, r->start_ns),
        .end_ns = recorded_ns(w, r->end_ns),
        .first_byte_ns = recorded_ns(w, r->first_byte_ns),
        .last_byte_ns = recorded_ns(w, r->last_byte_ns),
        .intended_ns = w->has_ticket ? recorded_ns(w, w->due_ns) : RECORD_NO_TIME,
        .bytes = (int64_t)r->n_bytes,
        .n_objects = (int64_t)r->n_objects,
        .thread = w->thread,
        .op = slice_of(S3OP[op->kind].name),
        .client = slice_of(g->client),
        .endpoint = slice_of(g->hosts.host[w->host].endpoint),
        .file = {op->key, op->n_key},
        .error = slice_of(r->error),
    };

    w->n_rows++;
    recorder_add(&w->loop->port, &row, op->bench);
}

/* Ends a request at end_ns and makes its row; `keep`: its connection can be used again. */
static void finish(struct worker *w, int64_t end_ns, bool keep)
{
    struct loop *l = w->loop;
    bool failed = w->result.error[0] != '\0';

    w->result.end_ns = end_ns;
    if (w->conn != NULL) {
        if (w->conn->state == CONN_READY)
            hosts_was_in_use(&l->engine->hosts, w->host, end_ns);
        give_conn(w, keep);
    }
    hosts_release(&l->engine->hosts, w->host, end_ns);
    engine_count(&l->n_running, -1);
    if (l->recording && (w->op.recorded || failed))
        record(w);
    w->state = WORKER_IDLE;
    w->has_ticket = false;
    w->result.xml = w->answer.uses_xml ? &w->xml : NULL;
    if (l->phase->done != NULL)
        l->phase->done(l->phase->ctx, w, &w->op, &w->result);
}

static void read_answer(struct worker *w);

void worker_fail(struct worker *w, const char *why)
{
    /* Count the bytes that have arrived, also those still in the socket. */
    if (w->op.kind == S3OP_GET && w->state == WORKER_RECEIVING && w->conn != NULL &&
        !w->answer.broken) {
        read_answer(w);
        if (w->state != WORKER_RECEIVING)
            return;
    }
    answer_set_error(w, "%s", why);
    finish(w, clock_now_ns(), false);
}

/* ---- The body ---- */

/* Whether the request is made in the buffers of the loop, which are in the cache: it fits, and most
 * are sent at once. With thousands of workers the buffers of all would displace each other. */
static bool is_small(const struct worker *w)
{
    return s3op_n_body(&w->op) <= WORKER_CHUNK_BYTES;
}

/* Returns where a piece of the body goes; the head ends there. */
static char *chunk_of(const struct worker *w)
{
    return (is_small(w) ? w->loop->out : w->body.out) + S3OP_HEAD_MAX;
}

/* Makes the next piece of the body. */
static void make_chunk(struct worker *w)
{
    const struct s3op *op = &w->op;
    uint64_t rest = s3op_n_body(op) - w->body.n_made;
    size_t n = rest < WORKER_CHUNK_BYTES ? (size_t)rest : WORKER_CHUNK_BYTES;
    char *to = chunk_of(w);

    if (op->body != NULL)
        memcpy(to, op->body + w->body.n_made, n);
    else
        payload_fill(&w->loop->engine->payload, op->payload_seed,
                     op->payload_offset + w->body.n_made, to, n);
    w->body.n_made += n;
    w->body.send = to;
    w->body.send_end = to + n;
}

/* What is computed of the body before the request begins. */
struct digests {
    bool sha256; /* for the signature, or as the checksum */
    bool md5, crc;
};

static struct digests digests_of(const struct worker *w)
{
    const struct engine *g = w->loop->engine;
    const struct s3op_style *style = &g->op_style;
    enum checksum_kind kind = s3op_takes_checksum(style, &w->op) ? style->checksum : CHECKSUM_NONE;
    bool is_signed = g->keys[0] != NULL && style->sign_payload && s3op_n_body(&w->op) > 0;

    return (struct digests){.sha256 = is_signed || kind == CHECKSUM_SHA256,
                            .md5 = s3op_needs_md5(style, &w->op),
                            .crc = kind == CHECKSUM_CRC32C || kind == CHECKSUM_CRC64NVME};
}

static bool digest_chunk(struct worker *w, struct digests d)
{
    struct loop *l = w->loop;
    size_t n = (size_t)(w->body.send_end - w->body.send);
    bool ok = true;

    if (w->body.n_digested == 0) {
        const EVP_MD *sha256 = l->signer.sha256 != NULL ? l->signer.sha256 : EVP_sha256();
        w->body.crc = 0;
        ok = (!d.sha256 || EVP_DigestInit_ex2(w->body.sha256_ctx, sha256, NULL)) &&
             (!d.md5 || EVP_DigestInit_ex2(w->body.md5_ctx, l->md5, NULL));
    }
    w->body.n_digested += n;
    if (d.crc)
        w->body.crc = checksum_crc(&l->engine->checksum, w->body.crc, w->body.send, n);
    return ok && (!d.sha256 || EVP_DigestUpdate(w->body.sha256_ctx, w->body.send, n)) &&
           (!d.md5 || EVP_DigestUpdate(w->body.md5_ctx, w->body.send, n));
}

static bool end_digests(struct worker *w, struct digests d)
{
    unsigned char raw[EVP_MAX_MD_SIZE];

    if (d.sha256) {
        if (!EVP_DigestFinal_ex(w->body.sha256_ctx, raw, NULL))
            return false;
        sigv4_hex(raw, w->body.hash);
        EVP_EncodeBlock((unsigned char *)w->body.checksum, raw, SIGV4_HASH_BYTES);
    }
    if (d.crc)
        checksum_text(&w->loop->engine->checksum, w->body.crc, w->body.checksum);
    if (d.md5) {
        if (!EVP_DigestFinal_ex(w->body.md5_ctx, raw, NULL))
            return false;
        EVP_EncodeBlock((unsigned char *)w->body.md5, raw, 16);
    }
    return true;
}

/* ---- Sending ---- */

#define AGENT_BYTES (sizeof "s3load/1 " + ENGINE_CLIENT_BYTES + 2 * (1 + ROWFORMAT_NUMBER_BYTES))

/* Writes "s3load/1 CLIENT/THREAD/SEQ", by which lines of a server's log can be matched with rows of
 * the capture. Requests without a row have no SEQ. */
static void user_agent(const struct worker *w, char text[static AGENT_BYTES])
{
    char *p = stpcpy(stpcpy(text, "s3load/1 "), w->loop->engine->client);

    if (w->loop->recording) {
        *p++ = '/';
        p = rowformat_put_number(p, w->thread);
    }
    if (w->op.recorded) {
        *p++ = '/';
        p = rowformat_put_number(p, w->n_rows);
    }
    *p = '\0';
}

/* Builds the request, followed by the first piece of its body. */
static bool build(struct worker *w)
{
    struct loop *l = w->loop;
    struct engine *g = l->engine;
    struct err *e = failure(w);
    char agent[AGENT_BYTES];
    bool has_body = s3op_n_body(&w->op) > 0;
    bool lists = s3op_does(w->op.kind, S3OP_LISTS);
    const char *hash = !has_body                  ? SIGV4_EMPTY_PAYLOAD
                       : g->op_style.sign_payload ? w->body.hash
                                                  : SIGV4_UNSIGNED;

    /* Of a body of several pieces that was digested the last one is left. */
    if (!is_small(w))
        w->body.n_made = 0;
    if (has_body && w->body.n_made == 0)
        make_chunk(w);
    user_agent(w, agent);
    const struct s3op_head head = {
        .host = g->hosts.host[w->host].header,
        .virtual_host = g->hosts.host[w->host].virtual_host,
        .payload_hash = hash,
        .checksum = w->body.checksum,
        .content_md5 = s3op_needs_md5(&g->op_style, &w->op) ? w->body.md5 : NULL,
        .user_agent = agent,
        .token = lists ? pages_token(answer_pages(w)) : NULL,
        .token_id = lists ? pages_token_id(answer_pages(w)) : NULL,
        .time_s = engine_sign_ns(&g->hosts.host[w->host]) / NS_PER_S,
    };
    struct sigv4 *signer = g->keys[0] != NULL ? &l->signer : NULL;
    size_t n = s3op_build(&g->op_style, signer, &w->op, &head, l->head, S3OP_HEAD_MAX, e);
    if (n == 0)
        return answer_set_error(w, "%s", e->msg);
    w->body.send = has_body ? memcpy(chunk_of(w) - n, l->head, n) : l->head;
    if (!has_body)
        w->body.send_end = l->head + n;
    return true;
}

/* Takes what cannot be sent at once out of the buffers of the loop. */
static void keep_rest(struct worker *w)
{
    size_t n = (size_t)(w->body.send_end - w->body.send);

    if (is_small(w)) {
        w->body.send = memmove(w->body.out, w->body.send, n);
        w->body.send_end = w->body.out + n;
    }
}

/* Sends as much as the connection takes. */
static void send_more(struct worker *w)
{
    struct err *e = failure(w);
    size_t n_sent = 0;

    for (;;) {
        if (w->body.send == w->body.send_end) {
            if (w->body.n_made == s3op_n_body(&w->op))
                break;
            make_chunk(w);
        }
        ssize_t n = n_sent < TURN_BYTES
                        ? w->conn->wire->send(w->conn, w->body.send,
                                              (size_t)(w->body.send_end - w->body.send), e)
                        : CONN_AGAIN;
        if (n == CONN_AGAIN) {
            keep_rest(w);
            conn_want_write(w->conn, true);
            return;
        }
        if (n == CONN_ERROR) {
            /* The server may have answered before it closed. */
            w->answer.broken = true;
            w->state = WORKER_RECEIVING;
            w->cause = *e;
            read_answer(w);
            if (w->state == WORKER_RECEIVING)
                worker_fail(w, w->cause.msg);
            return;
        }
        w->body.send += n;
        n_sent += (size_t)n;
    }
    if (w->op.n_payload > 0)
        w->result.last_byte_ns = clock_now_ns();
    conn_want_write(w->conn, false);
    w->state = WORKER_RECEIVING;
}

/* Takes a connection; sends at once if it is established, else later. */
static void start_sending(struct worker *w)
{
    struct err *e = failure(w);

    w->conn = pool_take(&w->loop->pool, w, w->host, w->resent, e);
    if (w->conn == NULL) {
        worker_fail(w, e->msg);
    } else if (w->conn->state == CONN_READY) {
        w->state = WORKER_SENDING;
        send_more(w);
    } else {
        keep_rest(w);
        w->state = WORKER_CONNECTING;
    }
}

/* Sends another request for the same row, or repeats the request (resent). */
static void send_anew(struct worker *w, bool resent)
{
    w->body.n_made = 0;
    if (!answer_expect(w) || !build(w)) {
        finish(w, clock_now_ns(), false);
        return;
    }
    w->resent = resent;
    start_sending(w);
}

void worker_on_connected(struct worker *w)
{
    struct loop *l = w->loop;
    struct hosts *hosts = &l->engine->hosts;
    bool lacked_descriptor = w->conn->local_errno == EMFILE || w->conn->local_errno == ENFILE;

    if (w->conn->state == CONN_READY) {
        hosts_connected(hosts, w->host);
        w->state = WORKER_SENDING;
        send_more(w);
    } else if (lacked_descriptor && pool_drop_idle(&l->pool)) {
        give_conn(w, false);
        start_sending(w);
    } else {
        if (w->conn->local_errno != 0)
            l->pool.connect_ns = clock_now_ns() + HOSTS_PAUSE_NS;
        else
            hosts_cannot_connect(hosts, w->host, clock_now_ns());
        worker_fail(w, w->conn->message);
    }
}

/* Requests the next page of a listing, in the same row and with the same deadline. */
static void next_page(struct worker *w)
{
    struct loop *l = w->loop;
    struct err *e = failure(w);

    if (!pages_next(&w->pages, &w->xml, e))
        answer_set_error(w, "%s", e->msg);
    else if (w->op.recorded && atomic_load(&l->engine->interrupted))
        answer_set_error(w, "interrupted after a page of the listing");
    if (w->result.error[0] != '\0') {
        finish(w, l->now_ns, w->answer.keep);
        return;
    }
    give_conn(w, w->answer.keep);
    send_anew(w, false);
}

/* If the server closed an idle connection while the request was on its way, sends the request once
 * more, on a new connection and in the same row. Returns false if that is not the case. */
static bool resend(struct worker *w)
{
    struct loop *l = w->loop;

    /* Do not repeat a request that is late or must end. */
    if (w->answer.has_begun || !conn_ended_reused(w->conn) || l->now_ns >= w->deadline_ns ||
        atomic_load_explicit(&l->engine->stop, memory_order_relaxed) == ENGINE_ABORT)
        return false;
    give_conn(w, false);
    w->result.last_byte_ns = CLOCK_NEVER;
    l->pool.looks = true;
    if (l->recording)
        engine_count(&l->n_resent, 1);
    send_anew(w, true);
    return true;
}

static void act_on(struct worker *w, enum answer verdict, const char *why)
{
    if (verdict == ANSWER_NEXT_PAGE) {
        next_page(w);
    } else if (verdict == ANSWER_DONE) {
        finish(w, w->loop->now_ns, w->answer.keep);
    } else if (!resend(w)) {
        answer_break(w, why);
        finish(w, w->loop->now_ns, false);
    }
}

static void read_answer(struct worker *w)
{
    struct loop *l = w->loop;
    struct conn *c = w->conn;
    struct err *e = failure(w);
    size_t n_read = 0;

    do {
        bool skip = false;
        size_t most = answer_wants(w, &skip);

        ssize_t n = (skip ? c->wire->skip : c->wire->recv)(c, l->buf, most, e);
        l->now_ns = clock_now_ns();
        if (n == CONN_AGAIN)
            return;
        enum answer verdict = n >= 0 ? answer_feed(w, l->buf, (size_t)n) : ANSWER_BROKEN;
        if (verdict != ANSWER_MORE) {
            act_on(w, verdict, n == CONN_ERROR ? e->msg : w->http.err.msg);
            return;
        }
        n_read += (size_t)n;
    } while (c->wire->buffers && n_read < LOOP_READ_BYTES);
    if (c->wire->buffers)
        loop_again(w);
}

/* ---- The next request ---- */

static bool is_stopped(const struct worker *w)
{
    return atomic_load_explicit(&w->loop->engine->stop, memory_order_relaxed) != ENGINE_RUN;
}

/* Chooses a host and begins the request; its payload is already digested. */
static void launch(struct worker *w)
{
    struct loop *l = w->loop;
    struct engine *g = l->engine;
    int64_t picked_ns = clock_now_ns();
    size_t host = hosts_pick(&g->hosts, l->pool.idle, l->pool.connect_ns <= picked_ns, picked_ns);

    if (host == HOSTS_NONE) {
        w->has_op = true;
        w->body.n_made = 0;
        loop_park(w);
        return;
    }
    w->has_op = false;
    w->host = (uint32_t)host;
    memset(&w->result, 0, offsetof(struct worker_result, error) + 1);
    w->result.etag[0] = w->result.version[0] = '\0';
    w->result.first_byte_ns = w->result.last_byte_ns = CLOCK_NEVER;
    w->result.n_bytes = w->op.n_payload;
    w->result.n_objects = w->op.n_objects;
    if (s3op_does(w->op.kind, S3OP_LISTS))
        pages_clear(&w->pages);
    engine_count(&l->n_running, 1);
    bool ok = answer_expect(w) && build(w);
    int64_t now_ns = clock_now_ns();
    w->result.start_ns = now_ns;
    if (w->op.bench && l->port.first_start_ns == CLOCK_NEVER)
        l->port.first_start_ns = now_ns + g->offset_ns;
    if (!ok) {
        finish(w, now_ns, false);
        return;
    }
    w->deadline_ns = now_ns + g->request_timeout_ns;
    l->queue.timeout_ns = int64_min(l->queue.timeout_ns, w->deadline_ns);
    start_sending(w);
}

static void prepare_later(struct worker *w)
{
    w->state = WORKER_PREPARING;
    loop_again(w);
}

/* Digests a piece of the payload. Once all of it is digested, the request begins, unless the run
 * was stopped meanwhile. */
void worker_prepare(struct worker *w)
{
    const struct digests d = digests_of(w);
    uint64_t n_body = s3op_n_body(&w->op);

    if (w->state == WORKER_PREPARING && is_stopped(w)) {
        loop_end(w);
        return;
    }
    if (d.sha256 || d.md5 || d.crc) {
        uint64_t rest = n_body - w->body.n_digested;
        size_t n = (size_t)(rest < WORKER_CHUNK_BYTES ? rest : WORKER_CHUNK_BYTES) *
                   (d.sha256 + d.md5 + 1);

        /* The first piece of a turn is always digested, even if its digests exceed the limit. */
        if (w->loop->n_digested > 0 && w->loop->n_digested + n > DIGEST_BYTES) {
            prepare_later(w);
            return;
        }
        w->loop->n_digested += n;
        int64_t from_ns = clock_now_ns();
        if (n_body > 0)
            make_chunk(w);
        bool ok = digest_chunk(w, d);
        engine_count(&w->loop->digest_ns, clock_now_ns() - from_ns);
        if (ok && w->body.n_digested < n_body) {
            prepare_later(w);
            return;
        }
        /* EVP works in memory only: it fails only if out of memory. */
        if (!ok || !end_digests(w, d)) {
            err_set(&w->loop->error, "cannot digest a payload");
            engine_set_stop(w->loop->engine, ENGINE_STOP);
            loop_end(w);
            return;
        }
    }
    launch(w);
}

static void take(struct worker *w)
{
    struct phase *phase = w->loop->phase;
    int64_t now_ns = clock_now_ns();

    if (is_stopped(w) || now_ns >= phase->end_ns) {
        loop_end(w);
        return;
    }
    if (w->has_op) {
        launch(w);
        return;
    }
    if (!loop_is_due(w, now_ns))
        return;

    memset(&w->op, 0, offsetof(struct s3op, key) + 1);
    w->op.recorded = true;
    w->op.n_objects = 1;
    switch (phase->next(phase->ctx, w, &w->op)) {
    case PHASE_OP:
        w->body.n_made = w->body.n_digested = 0;
        w->body.send = w->body.send_end = w->body.out;
        worker_prepare(w);
        break;
    case PHASE_WAIT:
        loop_park(w);
        break;
    default:
        loop_end(w);
    }
}

void worker_run(struct worker *w)
{
    /* After a request that fails at once, let the loop do other work first. */
    if (w->state == WORKER_IDLE)
        take(w);
    if (w->state == WORKER_IDLE)
        loop_again(w);
}

void worker_on_event(struct worker *w, bool readable, bool writable)
{
    struct conn *c = w->conn;

    if (readable && (w->state == WORKER_SENDING || w->state == WORKER_RECEIVING))
        read_answer(w);
    if (writable && w->state == WORKER_SENDING && w->conn == c)
        send_more(w);
}
