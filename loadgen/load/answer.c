#include "loadgen/load/load.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool answer_set_error(struct worker *w, const char *fmt, ...)
{
    va_list args;

    if (w->result.error[0] != '\0')
        return false;
    va_start(args, fmt);
    vsnprintf(w->result.error, sizeof w->result.error, fmt, args);
    va_end(args);
    for (char *p = w->result.error; *p != '\0'; p++)
        if (*p == '\r' || *p == '\n')
            *p = ' ';
    return false;
}

/* ---- While the answer arrives ---- */

static void keep_text(char *dst, size_t size, struct slice value)
{
    if (value.n >= size)
        return;
    memcpy(dst, value.p, value.n);
    dst[value.n] = '\0';
}

/* Returns the beginning of a URL that names the server; empty: it names none. */
static struct slice origin(struct slice url)
{
    const char *host = memmem(url.p, url.n, "://", 3);
    const char *from = host != NULL ? host + 3 : url.p + url.n;
    const char *end = memchr(from, '/', (size_t)(url.p + url.n - from));

    return (struct slice){url.p, host == NULL ? 0 : end != NULL ? (size_t)(end - url.p) : url.n};
}

/* True if a Content-Range, "bytes FIRST-LAST/SIZE", is the requested range. Any SIZE will do. */
static bool is_range_of(const struct s3op *op, struct slice value)
{
    char text[80];
    char *last = NULL;

    if (value.n < 7 || value.n >= sizeof text || strncasecmp(value.p, "bytes ", 6) != 0)
        return false;
    keep_text(text, sizeof text, value);
    bool first_fits = strtoull(text + 6, &last, 10) == op->offset;
    return first_fits && *last == '-' &&
           strtoull(last + 1, &last, 10) == op->offset + op->length - 1 && *last == '/';
}

static void see_date(struct worker *w, struct slice value)
{
    const struct loop *l = w->loop;
    int64_t offset_ns = l->engine->offset_ns;

    dates_saw(&l->dates[w->host], w->result.start_ns + offset_ns, l->now_ns + offset_ns, value.p,
              value.n);
}

static void on_header(void *user, struct slice name, struct slice value)
{
    struct worker *w = user;

    if (slice_is(name, "date"))
        see_date(w, value);
    else if (slice_is(name, "etag"))
        keep_text(w->result.etag, sizeof w->result.etag, value);
    else if (slice_is(name, "x-amz-version-id"))
        keep_text(w->result.version, sizeof w->result.version, value);
    else if (slice_is(name, "content-range"))
        w->answer.range_fits = is_range_of(&w->op, value);
    else if (slice_is(name, "x-amz-bucket-region"))
        keep_text(w->answer.region, sizeof w->answer.region, value);
    else if (slice_is(name, "location"))
        keep_text(w->answer.elsewhere, sizeof w->answer.elsewhere, origin(value));
}

/* Notes if a code of S3 says that the same request may succeed later, whatever the status is. */
static void see_code(struct worker *w, const char *code)
{
    w->result.busy |= strncmp(code, "SlowDown", 8) == 0 || strcmp(code, "InternalError") == 0 ||
                      strcmp(code, "ServiceUnavailable") == 0;
}

/* Counts the keys that a batch could not delete, and keeps the reason for the first one. */
static bool on_deleted(void *user, const struct xml_entry *entry, struct err *e)
{
    struct worker *w = user;

    (void)e;
    if (entry->kind != XML_FAILED_KEY)
        return true;
    see_code(w, entry->code);
    if (w->result.n_refused++ == 0)
        err_set(&w->cause, "%s%s%s", entry->code[0] != '\0' ? entry->code : "no reason given",
                entry->message[0] != '\0' ? ": " : "", entry->message);
    return true;
}

static bool on_listed(void *user, const struct xml_entry *entry, struct err *e)
{
    struct worker *w = user;

    return pages_take(answer_pages(w), w->op.key, entry, e) &&
           (w->op.on_entry == NULL || w->op.on_entry(w->op.user, entry, e));
}

/* Prepares the worker's XML reader for a document. */
static bool start_xml(struct worker *w, const char *prefix, xml_entry_fn *on_entry)
{
    struct err e = {0};

    if (!xml_start(&w->xml, prefix, on_entry, w, &e))
        return answer_set_error(w, "%s", e.msg);
    w->xml.wanted = S3OP[w->op.kind].answer;
    return true;
}

/* ---- Judging the answer ---- */

static bool is_success(const struct worker *w)
{
    return w->http.status >= 200 && w->http.status < 300;
}

/* Returns the length of the first line of an error's body if it is plain text, such as a TLS port's
 * answer to plain HTTP; else 0. */
static size_t plain_text(const struct worker *w)
{
    const char *s = w->answer.error_text;
    size_t n = 0;

    while (n < w->answer.n_error_text && s[n] >= ' ' && s[n] <= '~')
        n++;
    bool whole = n == w->answer.n_error_text || s[n] == '\r' || s[n] == '\n';
    return whole && n > 0 && s[0] != '<' && s[0] != '{' ? n : 0;
}

/* Whether the answer is that of a TLS port to plain HTTP, of Go or of nginx. */
static bool speaks_tls(const struct worker *w)
{
    return w->http.status == 400 && !w->loop->engine->op_style.tls &&
           memmem(w->answer.error_text, w->answer.n_error_text, "HTTPS", 5) != NULL;
}

/* Servers refuse signatures whose time is 15 minutes off. We allow a minute less, as the Date that
 * we compare with may be older. */
#define SKEW_NS (14 * 60 * NS_PER_S)

/* If the server refuses our time, uses the server's time from now on. The answer to a HEAD has no
 * error code, so its Date decides. */
static void note_skew(struct worker *w, const char *code)
{
    const struct loop *l = w->loop;
    const struct date_bracket *d = &l->dates[w->host];
    struct host *host = &l->engine->hosts.host[w->host];

    w->result.skewed = w->http.status == 403 && d->text[0] != '\0' &&
                       (strcmp(code, "RequestTimeTooSkewed") == 0 ||
                        llabs(d->date_ns - engine_sign_ns(host)) > SKEW_NS);
    if (w->result.skewed)
        atomic_store(&host->time_offset_ns, d->date_ns - l->now_ns);
}

/* Sets the error for a status: "HTTP 503 SlowDown: Reduce your request rate.". Uses what has
 * arrived if the body is truncated. Appends `why`: "", or what happened next. */
static void set_http_error(struct worker *w, const char *why)
{
    const struct xml *x = &w->xml;
    bool is_document = w->answer.uses_xml || w->answer.n_error_text > 0;
    const char *code = is_document && x->root == XML_ERROR ? xml_text(x, XML_CODE) : "";
    const char *region = w->loop->engine->op_style.region;
    struct err text = {0};

    note_skew(w, code);
    see_code(w, code);
    if (*code != '\0') {
        const char *message = xml_text(x, XML_MESSAGE);
        err_set(&text, "%s%s%s", code, *message != '\0' ? ": " : "", message);
    } else if (speaks_tls(w)) {
        err_set(&text, ": %s", HTTP1_SPEAKS_TLS);
    } else if (plain_text(w) > 0) {
        err_set(&text, ": %.*s", (int)plain_text(w), w->answer.error_text);
    }
    const char *blank = text.msg[0] != '\0' && text.msg[0] != ':' ? " " : "";
    char hint[300] = "";
    if (w->answer.region[0] != '\0' && strcmp(w->answer.region, region) != 0)
        snprintf(hint, sizeof hint, " (the bucket is in region %s, not %.100s: --region %s)",
                 w->answer.region, region, w->answer.region);
    else if (w->answer.elsewhere[0] != '\0' && w->http.status >= 300 && w->http.status < 400)
        snprintf(hint, sizeof hint,
                 " (the server sends on to %s, which s3load does not follow: name it with --host)",
                 w->answer.elsewhere);
    answer_set_error(w, "HTTP %d%s%s%s%s", w->http.status, blank, text.msg, why, hint);
}

/* True if the server keeps no list of unfinished uploads, or reports an empty one as rclone
 * does. */
static bool has_no_uploads(const struct worker *w)
{
    int status = w->http.status;

    return w->op.kind == S3OP_LIST_UPLOADS &&
           (status == 501 || status == 405 ||
            (status == 404 && w->answer.n_error_text > 0 &&
             strcmp(xml_text(&w->xml, XML_CODE), "NoSuchUpload") == 0));
}

static void check_get(struct worker *w)
{
    const struct s3op *op = &w->op;

    /* Some servers send a range with status 200. A longer body is the whole object. */
    if (!op->whole && w->http.status != 206 && w->answer.n_read > op->length)
        answer_set_error(w, "HTTP %d to a request for a range", w->http.status);
    else if (op->whole && w->http.status == 206)
        answer_set_error(w, "HTTP 206 to a request for a whole object");
    else if (!op->whole && w->http.status == 206 && !w->answer.range_fits)
        answer_set_error(w, "HTTP 206 with another range than asked for, or none");
    else if (w->answer.n_read != op->length)
        answer_set_error(w, "%llu bytes came, %llu were expected",
                         (unsigned long long)w->answer.n_read, (unsigned long long)op->length);
}

static void check_document(struct worker *w)
{
    struct xml *x = &w->xml;
    struct err e = {0};

    if (!w->answer.failed && !xml_feed(x, NULL, 0, true, &e))
        answer_set_error(w, "%s", e.msg);
    else if (x->root == XML_ERROR)
        set_http_error(w, "");
    else if (x->root != S3OP[w->op.kind].answer)
        answer_set_error(w, "HTTP %d with another document than asked for: <%s>", w->http.status,
                         x->name);
    else if (w->op.kind == S3OP_INITIATE && *xml_text(x, XML_ID) == '\0')
        answer_set_error(w, "HTTP %d without the UploadId that was asked for", w->http.status);
    else if (w->op.kind == S3OP_LIST && !x->is_truncated && w->result.n_objects < w->op.min_objects)
        answer_set_error(w, "%llu objects listed, %llu of this run are there",
                         (unsigned long long)w->result.n_objects,
                         (unsigned long long)w->op.min_objects);
    if (w->op.kind == S3OP_DELETE_BATCH && w->result.n_refused > w->op.n_objects) {
        answer_set_error(w, "more objects were not deleted than the %llu asked for: %s",
                         (unsigned long long)w->op.n_objects, w->cause.msg);
        w->result.n_objects = 0;
    } else if (w->op.kind == S3OP_DELETE_BATCH && w->result.n_refused > 0) {
        answer_set_error(w, "%llu of %llu objects were not deleted: %s",
                         (unsigned long long)w->result.n_refused,
                         (unsigned long long)w->op.n_objects, w->cause.msg);
        w->result.n_objects = w->op.n_objects - w->result.n_refused;
    }
}

/* True if a listing continues with another page, in the same row. If one page was requested, empty
 * pages do not count: a server may send them if all their objects were deleted. */
static bool is_to_go_on(const struct worker *w)
{
    const struct s3op *op = &w->op;

    if (!s3op_does(op->kind, S3OP_LISTS) || w->result.error[0] != '\0' || !w->xml.is_truncated)
        return false;
    return !op->one_page || (op->pages == NULL && w->xml.n_entries == 0);
}

static enum answer on_complete(struct worker *w, bool left_over)
{
    bool early = w->state == WORKER_SENDING || w->answer.broken;

    w->answer.keep = w->http.keep_alive && !left_over && !early;
    w->result.status = w->http.status;
    if (has_no_uploads(w))
        w->xml.root = XML_UPLOADS;
    else if (!is_success(w))
        set_http_error(w, "");
    else if (early)
        answer_set_error(w, "HTTP %d before the request was sent", w->http.status);
    else if (w->op.kind == S3OP_GET)
        check_get(w);
    else if (w->answer.uses_xml)
        check_document(w);
    else if (w->answer.n_error_text > 0 && w->xml.root == XML_ERROR)
        /* a server cannot change the status once it has begun its answer */
        set_http_error(w, "");
    else if (w->op.kind == S3OP_PUT_PART && w->result.etag[0] == '\0')
        answer_set_error(w, "HTTP %d without the ETag that completing an upload takes",
                         w->http.status);
    if (!is_success(w))
        w->result.n_objects = w->op.kind == S3OP_DELETE_BATCH ? 0 : w->op.n_objects;
    if (w->conn->low_water != 1)
        conn_expect(w->conn, 0);
    return is_to_go_on(w) ? ANSWER_NEXT_PAGE : ANSWER_DONE;
}

/* Reads a piece of a document. For a listing the first element counts as the first byte. */
static void read_document(struct worker *w, const char *data, size_t n)
{
    struct xml *x = &w->xml;
    struct err e = {0};
    uint64_t n_before = x->n_entries;

    if (!xml_feed(x, data, n, false, &e)) {
        answer_set_error(w, "%s", e.msg);
        w->answer.failed = true;
    }
    if (s3op_does(w->op.kind, S3OP_LISTS)) {
        w->result.n_objects += x->n_entries - n_before;
        if (x->n_entries > 0 && w->result.first_byte_ns == CLOCK_NEVER)
            w->result.first_byte_ns = w->loop->now_ns;
    }
}

/* Reads a piece of a body that is an error, or may be. */
static void read_error(struct worker *w, const char *data, size_t n)
{
    struct err e = {0};
    size_t room = sizeof w->answer.error_text - w->answer.n_error_text;

    if (w->answer.n_error_text == 0)
        w->answer.failed = !start_xml(w, "", NULL);
    memcpy(w->answer.error_text + w->answer.n_error_text, data, n < room ? n : room);
    w->answer.n_error_text += n < room ? n : room;
    w->answer.failed = w->answer.failed || !xml_feed(&w->xml, data, n, false, &e);
}

/* Writes a piece of the body to op.to. */
static void write_body(struct worker *w, const char *data, size_t n)
{
    if (w->answer.failed)
        return;
    if (w->answer.n_read + n > w->op.max_bytes)
        answer_set_error(w, "the answer has more than %s", units_size((double)w->op.max_bytes).s);
    else if (fwrite(data, 1, n, w->op.to) != n)
        answer_set_error(w, "the answer cannot be written: %s", strerror(errno));
    w->answer.failed = w->result.error[0] != '\0';
}

static void on_body(void *user, const char *data, size_t n)
{
    struct worker *w = user;

    if (!is_success(w)) {
        read_error(w, data, n);
        return;
    }
    if (w->op.kind == S3OP_GET) {
        if (w->result.first_byte_ns == CLOCK_NEVER)
            w->result.first_byte_ns = w->loop->now_ns;
        if (w->op.verify && !w->answer.failed &&
            !payload_matches(&w->loop->engine->payload, w->op.payload_seed,
                             w->op.offset + w->answer.n_read, data, n)) {
            answer_set_error(w, "the body is not what was uploaded, within %zu bytes from %llu on",
                             n, (unsigned long long)(w->op.offset + w->answer.n_read));
            w->answer.failed = true;
        }
        w->result.n_bytes += n;
    } else if (w->op.to != NULL) {
        write_body(w, data, n);
    } else if (!w->answer.uses_xml) {
        read_error(w, data, n);
    } else if (!w->answer.failed) {
        read_document(w, data, n);
    }
    w->answer.n_read += n;
}

bool answer_expect(struct worker *w)
{
    http1_start(&w->http, S3OP[w->op.kind].method[0] == 'H', on_header, on_body, w);
    memset(&w->answer, 0, offsetof(struct worker_answer, region) + 1);
    w->answer.elsewhere[0] = '\0';
    w->answer.uses_xml = S3OP[w->op.kind].answer != XML_NOTHING;
    w->resent = false;
    if (!w->answer.uses_xml)
        return true;
    err_clear(&w->cause);
    pages_begin(answer_pages(w));
    return s3op_does(w->op.kind, S3OP_LISTS) ? start_xml(w, w->op.key, on_listed)
                                             : start_xml(w, "", on_deleted);
}

void answer_break(struct worker *w, const char *why)
{
    if (w->answer.broken)
        why = w->cause.msg;
    if (w->http.status >= 300) {
        struct err text = {0};
        err_set(&text, ", %s", why);
        set_http_error(w, text.msg);
    } else
        answer_set_error(w, "%s", why);
    w->result.cut = true;
    /* An interim response (100 Continue) is no answer. */
    w->result.status = w->http.status >= 200 ? w->http.status : 0;
    if (w->op.kind == S3OP_DELETE_BATCH)
        w->result.n_objects = 0;
}

/* Lets many bytes arrive before the next wakeup, if the first byte has its time and the length of
 * the rest is known. */
static void expect_rest(struct worker *w)
{
    uint64_t rest = http1_rest(&w->http);

    if (w->answer.n_read > 0 && w->result.first_byte_ns != CLOCK_NEVER && rest != HTTP1_UNKNOWN)
        conn_expect(w->conn, rest);
}

/* With the head of a body that is only counted we read this much, not all that has come. */
#define HEAD_BYTES (16 * 1024)

size_t answer_wants(const struct worker *w, bool *skip)
{
    bool counts = w->op.kind == S3OP_GET && !w->op.verify;

    *skip = counts && is_success(w) && http1_rest(&w->http) != HTTP1_UNKNOWN;
    /* One more call costs as much as copying some 16 KiB. */
    return counts && w->http.status == 0 && w->op.length > (uint64_t)2 * HEAD_BYTES
               ? HEAD_BYTES
               : LOOP_READ_BYTES;
}

enum answer answer_feed(struct worker *w, const char *data, size_t n)
{
    size_t used = 0;

    w->answer.has_begun = w->answer.has_begun || n > 0;
    switch (n > 0 ? http1_feed(&w->http, data, n, &used) : http1_close(&w->http)) {
    case HTTP1_DONE:
        return on_complete(w, used < n);
    case HTTP1_ERROR:
        return ANSWER_BROKEN;
    default:
        expect_rest(w);
        return ANSWER_MORE;
    }
}
