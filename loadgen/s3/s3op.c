#include "loadgen/s3/s3.h"

#include "libcommon/mem.h"
#include "libcommon/rowformat.h"
#include "libcommon/secret.h"

#include <errno.h>
#include <openssl/evp.h>
#include <strings.h>
#include <sys/random.h>

/* The key of SSE-C, and room for it in base64 with a NUL. */
#define KEY_BYTES      32
#define KEY_TEXT_BYTES 48

#define ROW(kind, ...) {__VA_ARGS__},
const struct s3op_row S3OP[] = {S3OP_KINDS(ROW)};

uint64_t s3op_n_body(const struct s3op *op)
{
    return op->body != NULL ? op->n_body : op->n_payload;
}

bool s3op_needs_md5(const struct s3op_style *s, const struct s3op *op)
{
    return s3op_does(op->kind, S3OP_MD5) || (s->md5 && s3op_does(op->kind, S3OP_UPLOADS));
}

/* Indexed by enum checksum_kind. */
const char *const S3OP_CHECKSUMS[] = {"none", "CRC32C", "CRC64NVME", "SHA256", NULL};

bool s3op_takes_checksum(const struct s3op_style *s, const struct s3op *op)
{
    return s->checksum != CHECKSUM_NONE && s3op_does(op->kind, S3OP_UPLOADS);
}

bool s3op_make_key(struct s3op_style *s, struct err *e)
{
    unsigned char md5[EVP_MAX_MD_SIZE];
    char *text = secret_alloc(KEY_TEXT_BYTES + KEY_BYTES);

    s->sse_c_key = text;
    if (text == NULL)
        return mem_none(e);
    unsigned char *key = (unsigned char *)text + KEY_TEXT_BYTES;
    if (getrandom(key, KEY_BYTES, 0) != KEY_BYTES)
        return err_errno(e, errno, "cannot get random bytes");
    bool ok = EVP_Digest(key, KEY_BYTES, md5, NULL, EVP_md5(), NULL) == 1;
    EVP_EncodeBlock((unsigned char *)text, key, KEY_BYTES);
    EVP_EncodeBlock((unsigned char *)s->sse_c_key_md5, md5, 16);
    return ok || err_set(e, "cannot digest the key");
}

static bool ends_with(const char *s, size_t n, const char *end)
{
    size_t n_end = strlen(end);

    return n > n_end && strncasecmp(s + n - n_end, end, n_end) == 0;
}

bool s3op_uses_virtual_host(const struct s3op_style *s, const char *host)
{
    static const char *const want_it[] = {".amazonaws.com", ".amazonaws.com.cn",
                                          "storage.googleapis.com", ".aliyuncs.com"};
    size_t n = strcspn(host, ":");

    n -= n > 0 && host[n - 1] == '.'; /* an absolute name */
    if (s->lookup != S3OP_LOOKUP_AUTO)
        return s->lookup == S3OP_LOOKUP_HOST;
    /* A certificate for *.host does not match a name with two more labels; no name has a colon. */
    if (strpbrk(s->bucket, s->tls ? ".:" : ":") != NULL)
        return false;
    for (size_t i = 0; i < sizeof want_it / sizeof *want_it; i++)
        if (ends_with(host, n, want_it[i]))
            return true;
    return false;
}

static void put_number(struct strbuf *o, const char *before, uint64_t value)
{
    char digits[ROWFORMAT_NUMBER_BYTES];

    strbuf_puts(o, before);
    strbuf_put(o, digits, (size_t)(rowformat_put_number(digits, value) - digits));
}

/* Adds a parameter, percent-encoded. value NULL: adds nothing. */
static void put_param(struct strbuf *o, const char *name, const char *value)
{
    if (value == NULL)
        return;
    strbuf_add(o, o->n > 0 ? "&" : "", name, "=", NULL);
    uri_encode(o, value, strlen(value), false);
}

/* Writes the query sorted by name, as signatures require. */
static void put_query(struct strbuf *o, const struct s3op *op, const struct s3op_head *h)
{
    const char *resource = S3OP[op->kind].resource;

    strbuf_puts(o, op->query != NULL ? op->query : "");
    if (op->kind == S3OP_LIST) {
        put_param(o, "continuation-token", h->token);
        put_param(o, "encoding-type", "url");
        put_param(o, "list-type", "2");
        if (op->max_keys > 0)
            put_number(o, "&max-keys=", op->max_keys);
        put_param(o, "prefix", op->key);
        put_param(o, "start-after", op->start_after);
    } else if (s3op_does(op->kind, S3OP_LISTS)) {
        put_param(o, "encoding-type", "url");
        put_param(o, "key-marker", h->token);
        put_param(o, "prefix", op->key);
        put_param(o, op->kind == S3OP_LIST_VERSIONS ? "version-id-marker" : "upload-id-marker",
                  h->token_id);
        put_param(o, resource, "");
    } else if (resource != NULL) {
        put_param(o, resource, "");
    } else if (op->kind == S3OP_PUT_PART) {
        put_number(o, "partNumber=", op->part);
    }
    put_param(o, "uploadId", op->upload_id);
    put_param(o, "versionId", op->version_id);
}

/* True if the key goes into the path. Listings have a prefix in the query instead. */
static bool has_key(const struct s3op *op)
{
    return op->n_key > 0 && !s3op_does(op->kind, S3OP_LISTS);
}

static void put_path(struct strbuf *o, const struct s3op_style *s, const struct s3op *op,
                     bool virtual_host)
{
    if (op->path != NULL) {
        strbuf_puts(o, op->path);
        return;
    }
    if (!virtual_host) {
        strbuf_puts(o, "/");
        uri_encode(o, s->bucket, strlen(s->bucket), true);
    }
    if (virtual_host || has_key(op))
        strbuf_puts(o, "/");
    if (has_key(op))
        uri_encode(o, op->key, op->n_key, true);
}

/* Headers to sign, besides those that sigv4_sign adds. */
struct headers {
    struct sigv4_header v[12];
    size_t n;
    char range[64];
};

static void add(struct headers *h, const char *name, const char *value)
{
    if (value != NULL)
        h->v[h->n++] = (struct sigv4_header){name, value};
}

static void add_headers(struct headers *h, const struct s3op_style *s, const struct s3op *op,
                        const struct s3op_head *head)
{
    static const char *const checksum_headers[] = {
        NULL, "x-amz-checksum-crc32c", "x-amz-checksum-crc64nvme", "x-amz-checksum-sha256"};
    static const char sse_c[] = "x-amz-server-side-encryption-customer-algorithm";

    if (op->kind == S3OP_GET && !op->whole) {
        struct strbuf o = strbuf_on(h->range, sizeof h->range);
        put_number(&o, "bytes=", op->offset);
        put_number(&o, "-", op->offset + op->length - 1);
        add(h, "range", h->range);
    }
    add(h, "content-md5", head->content_md5);
    if (s3op_takes_checksum(s, op))
        add(h, checksum_headers[s->checksum], head->checksum);
    if (op->kind == S3OP_INITIATE && s->checksum != CHECKSUM_NONE)
        add(h, "x-amz-checksum-algorithm", S3OP_CHECKSUMS[s->checksum]);
    if (s3op_does(op->kind, S3OP_CREATES)) {
        add(h, "content-type", "application/octet-stream");
        add(h, "x-amz-storage-class", s->storage_class);
        add(h, "x-amz-server-side-encryption", s->sse_s3 ? "AES256" : NULL);
    }
    if (s3op_does(op->kind, S3OP_ENCRYPTS) && s->sse_c_key != NULL) {
        add(h, sse_c, "AES256");
        add(h, "x-amz-server-side-encryption-customer-key", s->sse_c_key);
        add(h, "x-amz-server-side-encryption-customer-key-md5", s->sse_c_key_md5);
    }
    add(h, op->header, op->header_value);
    if (s3op_does(op->kind, S3OP_DELETES) && s->object_lock)
        add(h, "x-amz-bypass-governance-retention", "true");
}

size_t s3op_build(const struct s3op_style *s, struct sigv4 *signer, const struct s3op *op,
                  const struct s3op_head *head, char *out, size_t size, struct err *e)
{
    char path_text[URI_MAX(S3OP_KEY_MAX) + 80];
    char query_text[S3OP_HEAD_MAX / 2];
    struct strbuf path = strbuf_on(path_text, sizeof path_text);
    struct strbuf query = strbuf_on(query_text, sizeof query_text);

    /* A head may hold the SSE-C key: leave no copy on the stack. */
    struct strbuf o = strbuf_on(out, size);
    struct headers headers;

    headers.n = 0;
    put_path(&path, s, op, head->virtual_host);
    put_query(&query, op, head);
    /* A signer adds this header by itself. */
    add(&headers, "host", signer == NULL ? head->host : NULL);
    add_headers(&headers, s, op, head);

    strbuf_add(&o, S3OP[op->kind].method, " ", path.s, query.n > 0 ? "?" : "", query.s,
               " HTTP/1.1\r\n", NULL);
    if (path.failed || query.failed || o.failed) {
        err_set(e, "the request is too long");
        return 0;
    }
    const struct sigv4_request r = {
        .method = S3OP[op->kind].method,
        .host = head->host,
        .path = path.s,
        .query = query.s,
        .headers = headers.v,
        .n_headers = headers.n,
        .payload_hash = head->payload_hash,
        .time_s = head->time_s,
    };
    if (signer == NULL)
        sigv4_put_lines(&o, r.headers, r.n_headers);
    else if (!sigv4_sign(signer, &r, &o, e))
        return 0;
    strbuf_add(&o, "User-Agent: ", head->user_agent, NULL);
    /* OpenStack Swift waits for the body of a DELETE that has no length. */
    char method = S3OP[op->kind].method[0];
    if (method == 'P' || method == 'D')
        put_number(&o, "\r\nContent-Length: ", s3op_n_body(op));
    strbuf_puts(&o, "\r\n\r\n");
    if (o.failed) {
        err_set(e, "the request's headers do not fit into %zu bytes", size);
        return 0;
    }
    return o.n;
}
