/* We use the old SHA256 functions: OpenSSL keeps the contexts of newer digests in its own memory,
 * which core dumps contain. */
#define OPENSSL_API_COMPAT 0x10101000L

#include "loadgen/s3/s3.h"

#include "libcommon/mem.h"
#include "libcommon/secret.h"

#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK_BYTES 64
#define DAY_S       86400

/* The last second of the year 9999. */
#define MAX_TIME_S 253402300799

/* All data from which the keys could be derived. */
struct sigv4_work {
    SHA256_CTX inner;  /* state after signing key xor ipad */
    SHA256_CTX outer;  /* state after signing key xor opad */
    SHA256_CTX digest; /* the digest in progress */
    unsigned char key[SIGV4_HASH_BYTES];
    unsigned char block[BLOCK_BYTES];
    char canonical[SIGV4_CANONICAL_MAX];
};

void sigv4_hex(const unsigned char hash[static SIGV4_HASH_BYTES], char hex[static SIGV4_HASH_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < SIGV4_HASH_BYTES; i++) {
        hex[2 * i] = digits[hash[i] >> 4];
        hex[2 * i + 1] = digits[hash[i] & 15];
    }
    hex[2 * SIGV4_HASH_BYTES] = '\0';
}

bool sigv4_init(struct sigv4 *s, const char *access_key, const char *secret_key, const char *token,
                const char *region, const char *service, struct err *e)
{
    size_t n_secret = strlen(secret_key);
    bool has_token = token != NULL && token[0] != '\0';

    *s = (struct sigv4){.day = -1, .time_s = -1};
    s->access_key = strdup(access_key);
    s->secret = secret_alloc(n_secret + 5);
    s->token = has_token ? secret_copy(token, strlen(token)) : NULL;
    s->region = strdup(region);
    s->service = strdup(service);
    s->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    s->work = secret_alloc(sizeof *s->work);
    if (!s->access_key || !s->secret || has_token != (s->token != NULL) || !s->region ||
        !s->service || !s->sha256 || !s->work) {
        sigv4_fini(s);
        return mem_none(e);
    }
    memcpy(s->secret, "AWS4", 4);
    memcpy(s->secret + 4, secret_key, n_secret + 1);
    return true;
}

void sigv4_fini(struct sigv4 *s)
{
    free(s->access_key);
    secret_free(s->secret);
    secret_free(s->token);
    free(s->region);
    free(s->service);
    EVP_MD_free(s->sha256);
    secret_free(s->work);
    *s = (struct sigv4){0};
}

/* Starts c with the key, padded with zeros to a block and xored with `pad`. */
static bool start_hmac(struct sigv4 *s, SHA256_CTX *c, unsigned char pad)
{
    unsigned char *block = s->work->block;

    memset(block, pad, BLOCK_BYTES);
    for (size_t i = 0; i < SIGV4_HASH_BYTES; i++)
        block[i] ^= s->work->key[i];
    return SHA256_Init(c) && SHA256_Update(c, block, BLOCK_BYTES);
}

/* Computes HMAC-SHA256 with the signing key (RFC 2104). */
static bool sign_text(struct sigv4 *s, const char *text, size_t n,
                      unsigned char out[static SIGV4_HASH_BYTES])
{
    SHA256_CTX *c = &s->work->digest;

    *c = s->work->inner;
    if (!SHA256_Update(c, text, n) || !SHA256_Final(out, c))
        return false;
    *c = s->work->outer;
    return SHA256_Update(c, out, SIGV4_HASH_BYTES) && SHA256_Final(out, c);
}

/* Derives the key and the scope for the day of s->date. */
static bool set_day(struct sigv4 *s, struct err *e)
{
    struct strbuf t = strbuf_on(s->scope, sizeof s->scope);
    const char *parts[] = {s->region, s->service, "aws4_request"};
    unsigned char *key = s->work->key;

    strbuf_put(&t, s->date, 8);
    bool ok = HMAC(s->sha256, s->secret, (int)strlen(s->secret), (unsigned char *)s->date, 8, key,
                   NULL) != NULL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && ok; i++) {
        strbuf_add(&t, "/", parts[i], NULL);
        ok = HMAC(s->sha256, key, SIGV4_HASH_BYTES, (const unsigned char *)parts[i],
                  strlen(parts[i]), key, NULL) != NULL;
    }
    ok = ok && start_hmac(s, &s->work->inner, 0x36) && start_hmac(s, &s->work->outer, 0x5c);
    if (!ok)
        return err_set(e, "cannot derive a signing key");
    return !t.failed || err_set(e, "the region's name is too long to sign with");
}

static bool set_time(struct sigv4 *s, int64_t time_s, struct err *e)
{
    struct tm tm;
    time_t time = (time_t)time_s;

    if (time_s < 0 || time_s > MAX_TIME_S || gmtime_r(&time, &tm) == NULL)
        return err_set(e, "cannot sign for a time outside the years 1970 to 9999");
    s->time_s = -1;
    strftime(s->date, sizeof s->date, "%Y%m%dT%H%M%SZ", &tm);
    if (s->day != time_s / DAY_S) {
        s->day = -1;
        if (!set_day(s, e))
            return false;
        s->day = time_s / DAY_S;
    }
    s->time_s = time_s;
    return true;
}

/* Writes a header's value, trimmed and with single spaces within. */
static void put_value(struct strbuf *t, const char *value)
{
    size_t from = t->n;

    for (const char *p = value; *p != '\0';) {
        size_t n = strcspn(p, " \t");
        if (n > 0 && t->n > from)
            strbuf_puts(t, " ");
        strbuf_put(t, p, n);
        for (p += n; *p == ' ' || *p == '\t'; p++)
            ;
    }
}

/* Collects the headers to sign, sorted by name. Returns their number; 0 on failure. */
static size_t collect_headers(const struct sigv4 *s, const struct sigv4_request *r,
                              struct sigv4_header sorted[static SIGV4_HEADERS_MAX], struct err *e)
{
    const struct sigv4_header own[] = {
        {"host", r->host},
        {"x-amz-content-sha256", strcmp(s->service, "s3") == 0 ? r->payload_hash : NULL},
        {"x-amz-date", s->date},
        {"x-amz-security-token", s->token},
    };
    size_t n_own = sizeof own / sizeof *own;
    size_t n = 0;

    if (r->n_headers + n_own > SIGV4_HEADERS_MAX) {
        err_set(e, "more than %zu headers to sign", SIGV4_HEADERS_MAX - n_own);
        return 0;
    }
    for (size_t i = 0; i < n_own + r->n_headers; i++) {
        const struct sigv4_header *h = i < n_own ? &own[i] : &r->headers[i - n_own];
        if (h->value == NULL)
            continue;
        size_t at = n++;
        for (; at > 0 && strcmp(sorted[at - 1].name, h->name) > 0; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = *h;
    }
    return n;
}

static void put_signed_names(struct strbuf *t, const struct sigv4_header *headers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        strbuf_add(t, i > 0 ? ";" : "", headers[i].name, NULL);
}

static bool hash_canonical(struct sigv4 *s, const struct sigv4_request *r,
                           const struct sigv4_header *headers, size_t n_headers,
                           unsigned char hash[static SIGV4_HASH_BYTES], struct err *e)
{
    char *canonical = s->work->canonical;
    struct strbuf t = strbuf_on(canonical, SIGV4_CANONICAL_MAX);

    strbuf_add(&t, r->method, "\n", r->path, "\n", r->query, "\n", NULL);
    for (size_t i = 0; i < n_headers; i++) {
        strbuf_add(&t, headers[i].name, ":", NULL);
        put_value(&t, headers[i].value);
        strbuf_puts(&t, "\n");
    }
    strbuf_puts(&t, "\n");
    put_signed_names(&t, headers, n_headers);
    strbuf_add(&t, "\n", r->payload_hash, NULL);
    if (t.failed)
        return err_set(e, "the request is too long to sign");
    SHA256_CTX *c = &s->work->digest;
    return (SHA256_Init(c) && SHA256_Update(c, canonical, t.n) && SHA256_Final(hash, c)) ||
           err_set(e, "cannot digest a request");
}

void sigv4_put_lines(struct strbuf *out, const struct sigv4_header *headers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        strbuf_add(out, headers[i].name, ": ", headers[i].value, "\r\n", NULL);
    }
}

bool sigv4_sign(struct sigv4 *s, const struct sigv4_request *r, struct strbuf *out, struct err *e)
{
    struct sigv4_header headers[SIGV4_HEADERS_MAX];
    unsigned char hash[SIGV4_HASH_BYTES];
    char hex[SIGV4_HASH_SIZE];

    if (r->time_s != s->time_s && !set_time(s, r->time_s, e))
        return false;
    size_t n_headers = collect_headers(s, r, headers, e);
    if (n_headers == 0 || !hash_canonical(s, r, headers, n_headers, hash, e))
        return false;

    /* The canonical request is no longer needed: reuse its buffer for the string to sign. */
    char *canonical = s->work->canonical;
    struct strbuf t = strbuf_on(canonical, SIGV4_CANONICAL_MAX);
    sigv4_hex(hash, hex);
    strbuf_add(&t, "AWS4-HMAC-SHA256\n", s->date, "\n", s->scope, "\n", hex, NULL);
    if (!sign_text(s, canonical, t.n, hash))
        return err_set(e, "cannot sign a request");

    sigv4_hex(hash, hex);
    sigv4_put_lines(out, headers, n_headers);
    strbuf_add(out, "Authorization: AWS4-HMAC-SHA256 Credential=", s->access_key, "/", s->scope,
               ",SignedHeaders=", NULL);
    put_signed_names(out, headers, n_headers);
    strbuf_add(out, ",Signature=", hex, "\r\n", NULL);
    return !out->failed || err_set(e, "the signed headers do not fit into %zu bytes", out->cap - 1);
}
