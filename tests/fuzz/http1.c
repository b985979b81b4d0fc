/* HTTP/1.1 responses: the result does not depend on where they are split, a body has the length
 * that its header says, and an error stays an error.
 *
 * Input: a byte of flags, a byte with the size of the pieces, the response. */
#include "tests/fuzz/fuzz.h"

#include "analyze/base/intern.h"
#include "loadgen/net/net.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* The result of a response. */
struct outcome {
    enum http1_end end;
    uint64_t headers; /* a hash */
    size_t n_headers;
    uint64_t body; /* likewise */
    uint64_t n_body, n_used;
    int status;
    bool keep_alive;
    uint64_t content_length;
    char why[sizeof((struct err *)0)->msg];
};

static void on_header(void *user, struct slice name, struct slice value)
{
    struct outcome *o = user;

    assert(name.n > 0);
    for (size_t i = 0; i < name.n; i++)
        assert(name.p[i] > ' ' && name.p[i] != ':' && name.p[i] < 0x7f &&
               !(name.p[i] >= 'A' && name.p[i] <= 'Z'));
    assert(value.n == 0 || (value.p[0] != ' ' && value.p[value.n - 1] != ' '));
    assert(memchr(value.p, '\r', value.n) == NULL && memchr(value.p, '\n', value.n) == NULL);
    o->headers = o->headers * 31 + intern_hash(name.p, name.n) + 7 * intern_hash(value.p, value.n);
    o->n_headers++;
}

static void on_body(void *user, const char *p, size_t n)
{
    struct outcome *o = user;

    assert(n > 0);
    for (size_t i = 0; i < n; i++)
        o->body = o->body * 1099511628211u + (unsigned char)p[i];
    o->n_body += n;
}

/* Feeds n bytes in pieces of at most `piece`. */
static struct outcome read_response(const char *data, size_t n, size_t piece, bool head_only)
{
    static struct http1 h;
    struct outcome o = {.end = HTTP1_MORE};

    http1_start(&h, head_only, on_header, on_body, &o);
    for (size_t at = 0; o.end == HTTP1_MORE && at < n; at += piece) {
        size_t left = n - at < piece ? n - at : piece;
        size_t used = 0;
        o.end = http1_feed(&h, data + at, left, &used);
        o.n_used += used;
        assert(used == left || (used < left && o.end != HTTP1_MORE));
    }
    if (o.end == HTTP1_MORE)
        o.end = http1_close(&h);
    assert(o.end == HTTP1_DONE || o.end == HTTP1_ERROR);
    assert((o.end == HTTP1_ERROR) == (h.err.msg[0] != '\0'));
    if (o.end == HTTP1_DONE) {
        assert(h.status >= 200 && h.status <= 999);
        o.status = h.status;
        o.content_length = h.content_length;
        o.keep_alive = h.keep_alive;
        if (o.content_length != HTTP1_UNKNOWN && o.n_body > 0)
            assert(o.n_body == o.content_length);
        assert(!head_only || o.n_body == 0);
    }
    memcpy(o.why, h.err.msg, sizeof o.why);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_input in = {data, n};
    bool head_only = fuzz_take(&in, 1) & 1;
    size_t piece = 1 + (size_t)fuzz_take(&in, 1);
    const char *response = (const char *)in.p;
    struct outcome whole = read_response(response, in.n, in.n + 1, head_only);
    struct outcome parts = read_response(response, in.n, piece, head_only);

    assert(whole.end == parts.end && whole.status == parts.status);
    assert(strcmp(whole.why, parts.why) == 0);
    assert(whole.n_headers == parts.n_headers && whole.headers == parts.headers);
    assert(whole.n_body == parts.n_body && whole.body == parts.body);
    assert(whole.keep_alive == parts.keep_alive && whole.content_length == parts.content_length);
    assert(whole.end != HTTP1_DONE || whole.n_used == parts.n_used);
    return 0;
}
