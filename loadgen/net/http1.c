#include "loadgen/net/net.h"

#include <string.h>
#include <strings.h>

enum state {
    STATUS_LINE,
    HEADER_LINE,
    BODY_LENGTH,
    BODY_CLOSE,
    CHUNK_SIZE,
    CHUNK_DATA,
    CHUNK_END,
    TRAILER_LINE,
    DONE,
    FAILED
};

void http1_start(struct http1 *h, bool head_only, http1_header_fn *on_header,
                 http1_body_fn *on_body, void *user)
{
    h->status = 0;
    h->content_length = HTTP1_UNKNOWN;
    h->keep_alive = false;
    h->at = (struct http1_progress){
        .on_header = on_header, .on_body = on_body, .user = user, .head_only = head_only};
    err_clear(&h->err);
}

/* The characters of a token (RFC 9110, 5.6.2). */
static const bool TOKEN[256] = {
    ['!'] = true,         ['#' ... '\''] = true, ['*'] = true,         ['+'] = true,
    ['-'] = true,         ['.'] = true,          ['0' ... '9'] = true, ['A' ... 'Z'] = true,
    ['^' ... 'z'] = true, ['|'] = true,          ['~'] = true,
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool has_control(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (((unsigned char)s[i] < ' ' && s[i] != '\t') || s[i] == 0x7f)
            return true;
    return false;
}

/* True if s equals `token`, ignoring case. */
static bool same_token(struct slice s, const char *token)
{
    return s.n == strlen(token) && strncasecmp(s.p, token, s.n) == 0;
}

static bool status_line(struct http1 *h, const char *s, size_t n)
{
    bool ok = n >= 12 && memcmp(s, "HTTP/1.", 7) == 0 && (s[7] == '0' || s[7] == '1') &&
              s[8] == ' ' && is_digit(s[9]) && is_digit(s[10]) && is_digit(s[11]) &&
              (n == 12 || s[12] == ' ');

    if (!ok)
        return err_set(&h->err, "the response does not begin with an HTTP/1.1 status line");
    h->status = (s[9] - '0') * 100 + (s[10] - '0') * 10 + (s[11] - '0');
    if (h->status < 100)
        return err_set(&h->err, "HTTP status %03d", h->status);
    h->at.http_1_0 = s[7] == '0';
    h->keep_alive = !h->at.http_1_0;
    h->content_length = HTTP1_UNKNOWN;
    h->at.chunked = false;
    return true;
}

static bool content_length(struct http1 *h, struct slice s)
{
    uint64_t value = 0;
    size_t i = 0;

    for (; i < s.n && is_digit(s.p[i]); i++)
        value = value * 10 + (uint64_t)(s.p[i] - '0');
    /* 18 digits fit in 64 bits. */
    if (i < s.n || s.n == 0 || s.n > 18)
        return err_set(&h->err, "bad Content-Length");
    if (h->content_length != HTTP1_UNKNOWN && h->content_length != value)
        return err_set(&h->err, "two different Content-Length headers");
    h->content_length = value;
    return true;
}

/* Reads the tokens of a Connection header, separated by commas. */
static void connection(struct http1 *h, struct slice value)
{
    while (value.p != NULL)
        if (same_token(slice_trim(slice_take(&value, ',')), "close"))
            h->keep_alive = false;
}

static bool header(struct http1 *h, struct slice name, struct slice value)
{
    if (slice_is(name, "content-length") && !content_length(h, value))
        return false;
    if (slice_is(name, "connection"))
        connection(h, value);
    if (slice_is(name, "transfer-encoding")) {
        if (h->at.chunked || !same_token(value, "chunked"))
            return err_set(&h->err, "a Transfer-Encoding other than chunked");
        h->at.chunked = true;
    }
    if (h->status >= 200)
        h->at.on_header(h->at.user, name, value);
    return true;
}

/* Splits a header or trailer line and checks its characters. Skips a header whose name is longer
 * than any we know. */
static bool field_line(struct http1 *h, const char *s, size_t n, bool trailer)
{
    char name[64];
    size_t n_name = 0;

    if (is_space(s[0]))
        return err_set(&h->err, "a folded header line");
    while (n_name < n && TOKEN[(unsigned char)s[n_name]]) {
        if (n_name < sizeof name)
            name[n_name] = lower(s[n_name]);
        n_name++;
    }
    if (n_name == 0 || n_name == n || s[n_name] != ':')
        return err_set(&h->err, "a header line without a name and a colon");
    return trailer || n_name > sizeof name ||
           header(h, (struct slice){name, n_name},
                  slice_trim((struct slice){s + n_name + 1, n - n_name - 1}));
}

/* Handles the blank line after headers: another head or the body comes next. */
static bool head_end(struct http1 *h)
{
    if (h->at.chunked && h->at.http_1_0)
        return err_set(&h->err, "Transfer-Encoding in an HTTP/1.0 response");
    if (h->at.chunked)
        h->content_length = HTTP1_UNKNOWN; /* RFC 9112, 6.3 */
    if (h->status == 101)
        return err_set(&h->err, "the server switches protocols");
    if (h->status < 200) {
        if (++h->at.n_interim > HTTP1_INTERIM_MAX)
            return err_set(&h->err, "more than %d interim responses", HTTP1_INTERIM_MAX);
        h->at.state = STATUS_LINE;
        return true;
    }
    h->at.n_head = 0;
    if (h->at.head_only || h->status == 204 || h->status == 304 || h->content_length == 0) {
        h->at.state = DONE;
    } else if (h->at.chunked) {
        h->at.state = CHUNK_SIZE;
    } else if (h->content_length != HTTP1_UNKNOWN) {
        h->at.rest = h->content_length;
        h->at.state = BODY_LENGTH;
    } else {
        h->keep_alive = false;
        h->at.state = BODY_CLOSE;
    }
    return true;
}

static bool chunk_size(struct http1 *h, const char *s, size_t n)
{
    uint64_t value = 0;
    size_t i = 0;

    for (; i < n; i++) {
        char c = lower(s[i]);
        unsigned digit = is_digit(c) ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);

        if (!is_digit(c) && !(c >= 'a' && c <= 'f'))
            break;
        if (i == 15)
            return err_set(&h->err, "a chunk size of more than 15 digits");
        value = value << 4 | digit;
    }
    bool extension = i < n && (s[i] == ';' || is_space(s[i]));
    if (i == 0 || (i < n && !extension))
        return err_set(&h->err, "bad chunk size");
    h->at.rest = value;
    h->at.state = value > 0 ? CHUNK_DATA : TRAILER_LINE;
    return true;
}

/* Handles a line (without CR LF). */
static bool take_line(struct http1 *h, const char *s, size_t n)
{
    switch ((enum state)h->at.state) {
    case STATUS_LINE:
        h->at.state = HEADER_LINE;
        return status_line(h, s, n);
    case HEADER_LINE:
        return n > 0 ? field_line(h, s, n, false) : head_end(h);
    case CHUNK_SIZE:
        return chunk_size(h, s, n);
    case CHUNK_END:
        h->at.state = CHUNK_SIZE;
        return n == 0 || err_set(&h->err, "a chunk is longer than its size");
    default:
        if (n > 0)
            return field_line(h, s, n, true);
        h->at.state = DONE;
        return true;
    }
}

/* Takes bytes up to the end of a line or of the input; handles a line once it is complete. */
static bool feed_line(struct http1 *h, const char *data, size_t n, size_t *used)
{
    const char *lf = memchr(data, '\n', n);
    size_t len = lf == NULL ? n : (size_t)(lf - data);

    *used = lf == NULL ? n : len + 1;
    /* A TLS record begins with one of these bytes: an alert or a handshake. Within a body they are
     * data. */
    if (h->at.state == STATUS_LINE && h->at.n_head == 0 && (data[0] == 0x15 || data[0] == 0x16))
        return err_set(&h->err, "%s", HTTP1_SPEAKS_TLS);
    if (h->at.n_line + len > HTTP1_LINE_MAX + 1)
        return err_set(&h->err, "a header line of more than %d bytes", HTTP1_LINE_MAX);

    /* Lines with chunk sizes and chunk ends do not count as headers. */
    if (h->at.state != CHUNK_SIZE && h->at.state != CHUNK_END)
        h->at.n_head += *used;
    if (h->at.n_head > HTTP1_HEAD_MAX)
        return err_set(&h->err, "more than %d bytes of headers", HTTP1_HEAD_MAX);

    const char *line = data;
    if (lf == NULL || h->at.n_line > 0) {
        memcpy(h->line + h->at.n_line, data, len);
        h->at.n_line += len;
        line = h->line;
        len = h->at.n_line;
    }
    if (lf == NULL)
        return true;
    h->at.n_line = 0;
    if (len == 0 || line[len - 1] != '\r')
        return err_set(&h->err, "a line ends without CR");
    if (has_control(line, len - 1))
        return err_set(&h->err, "a control character in the response headers");
    return take_line(h, line, len - 1);
}

/* Passes bytes of the body to the caller. Returns how many of the n bytes are of the body. */
static size_t take_body(struct http1 *h, const char *data, size_t n)
{
    if (h->at.state != BODY_CLOSE) {
        n = n < h->at.rest ? n : (size_t)h->at.rest;
        h->at.rest -= n;
        if (h->at.rest == 0)
            h->at.state = h->at.state == BODY_LENGTH ? DONE : CHUNK_END;
    }
    h->at.n_body += n;
    h->at.on_body(h->at.user, data, n);
    return n;
}

enum http1_end http1_feed(struct http1 *h, const char *data, size_t n, size_t *used)
{
    *used = 0;
    while (*used < n && h->at.state != DONE && h->at.state != FAILED) {
        const char *p = data + *used;
        size_t taken = n - *used;

        if (h->at.state == BODY_LENGTH || h->at.state == BODY_CLOSE || h->at.state == CHUNK_DATA) {
            taken = take_body(h, p, taken);
        } else if (!feed_line(h, p, taken, &taken)) {
            h->at.state = FAILED;
            h->keep_alive = false;
        }
        *used += taken;
    }
    return h->at.state == DONE ? HTTP1_DONE : h->at.state == FAILED ? HTTP1_ERROR : HTTP1_MORE;
}

enum http1_end http1_close(struct http1 *h)
{
    h->keep_alive = false;
    if (h->at.state == DONE || h->at.state == BODY_CLOSE) {
        h->at.state = DONE;
        return HTTP1_DONE;
    }
    if (h->at.state == STATUS_LINE && h->at.n_head == 0)
        err_set(&h->err, "connection closed before a response");
    else if (h->at.state == STATUS_LINE || h->at.state == HEADER_LINE)
        err_set(&h->err, "connection closed within the response headers");
    else if (h->at.state == BODY_LENGTH)
        err_set(&h->err, "connection closed after %llu of %llu body bytes",
                (unsigned long long)h->at.n_body, (unsigned long long)h->content_length);
    else
        err_set(&h->err, "connection closed within a chunked body, after %llu bytes",
                (unsigned long long)h->at.n_body);
    h->at.state = FAILED;
    return HTTP1_ERROR;
}

uint64_t http1_rest(const struct http1 *h)
{
    return h->at.state == BODY_LENGTH ? h->at.rest : HTTP1_UNKNOWN;
}
