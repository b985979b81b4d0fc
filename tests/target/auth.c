#include "tests/target/auth.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SKEW_MAX_S (15 * 60)

struct credentials {
    char key[256];
    char day[16];
    char region[64];
    char service[16];
    char signed_headers[1024];
    char signature[80];
};

/* Copies the value of NAME=VALUE up to a comma or the end. */
static bool field(const char *header, const char *name, char *dst, size_t size)
{
    const char *at = strstr(header, name);

    if (at == NULL)
        return false;
    at += strlen(name);
    size_t n = strcspn(at, ", ");
    if (n == 0 || n >= size)
        return false;
    memcpy(dst, at, n);
    dst[n] = '\0';
    return true;
}

static bool parse(const char *header, struct credentials *c)
{
    char scope[512];
    char end[16];

    if (strncmp(header, "AWS4-HMAC-SHA256 ", 17) != 0 ||
        !field(header, "Credential=", scope, sizeof scope) ||
        !field(header, "SignedHeaders=", c->signed_headers, sizeof c->signed_headers) ||
        !field(header, "Signature=", c->signature, sizeof c->signature))
        return false;
    return sscanf(scope, "%255[^/]/%15[^/]/%63[^/]/%15[^/]/%15s", c->key, c->day, c->region,
                  c->service, end) == 5 &&
           strcmp(end, "aws4_request") == 0;
}

static void sha256_hex(const void *data, size_t n, char out[static 65])
{
    unsigned char hash[32] = {0};

    EVP_Digest(data, n, hash, NULL, EVP_sha256(), NULL);
    buf_hex(hash, sizeof hash, out);
}

static int by_name_and_value(const void *a, const void *b)
{
    const struct request_param *p = a;
    const struct request_param *q = b;
    int order = strcmp(p->name, q->name);

    return order != 0 ? order : strcmp(p->value, q->value);
}

/* Writes names and values, decoded and encoded again, in order. */
static void canonical_query(struct buf *out, const struct request *r)
{
    struct request_param coded[REQUEST_PARAMS_MAX];
    struct buf bufs[2 * REQUEST_PARAMS_MAX] = {{0}};

    for (size_t i = 0; i < r->n_params; i++) {
        buf_percent(&bufs[2 * i], r->params[i].name, strlen(r->params[i].name), false);
        buf_percent(&bufs[2 * i + 1], r->params[i].value, strlen(r->params[i].value), false);
        coded[i].name = bufs[2 * i].n > 0 ? bufs[2 * i].p : "";
        coded[i].value = bufs[2 * i + 1].n > 0 ? bufs[2 * i + 1].p : "";
        out->failed = out->failed || bufs[2 * i].failed || bufs[2 * i + 1].failed;
    }
    qsort(coded, r->n_params, sizeof *coded, by_name_and_value);
    for (size_t i = 0; i < r->n_params; i++) {
        buf_str(out, i > 0 ? "&" : "");
        buf_str(out, coded[i].name);
        buf_str(out, "=");
        buf_str(out, coded[i].value);
    }
    for (size_t i = 0; i < 2 * r->n_params; i++)
        buf_fini(&bufs[i]);
}

/* Writes the path, decoded and encoded again. */
static void canonical_path(struct buf *out, const struct request *r)
{
    buf_str(out, "/");
    if (!r->virtual_host) {
        buf_percent(out, r->bucket, strlen(r->bucket), true);
        if (strchr(r->raw_path + 1, '/') != NULL)
            buf_str(out, "/");
    }
    buf_percent(out, r->key, strlen(r->key), true);
}

static void canonical_value(struct buf *out, const char *value)
{
    bool first = true;

    for (value += strspn(value, " \t"); *value != '\0'; value += strspn(value, " \t")) {
        size_t n = strcspn(value, " \t");
        buf_str(out, first ? "" : " ");
        buf_put(out, value, n);
        value += n;
        first = false;
    }
}

static void canonical_headers(struct buf *out, const struct request *r, const char *names)
{
    char copy[1024];
    char *rest = NULL;

    strcpy(copy, names);
    for (char *name = strtok_r(copy, ";", &rest); name; name = strtok_r(NULL, ";", &rest)) {
        const char *value = request_header(r, name);
        buf_str(out, name);
        buf_str(out, ":");
        canonical_value(out, value != NULL ? value : "");
        buf_str(out, "\n");
    }
}

static bool is_signed(const char *names, const char *name)
{
    size_t n = strlen(name);

    for (const char *p = names; *p != '\0'; p += *p == ';') {
        size_t len = strcspn(p, ";");
        if (len == n && strncasecmp(p, name, n) == 0)
            return true;
        p += len;
    }
    return false;
}

struct unsigned_search {
    const char *names;
    bool found;
};

static enum MHD_Result look_for_unsigned(void *cls, enum MHD_ValueKind kind, const char *name,
                                         const char *value)
{
    struct unsigned_search *s = cls;

    (void)kind;
    (void)value;
    bool must = strcasecmp(name, "host") == 0 || strncasecmp(name, "x-amz-", 6) == 0 ||
                strcasecmp(name, "content-md5") == 0;
    s->found = s->found || (must && !is_signed(s->names, name));
    return MHD_YES;
}

/* Replaces the key by the HMAC of the text with it. */
static void step(unsigned char key[static 32], const char *text)
{
    unsigned char out[32];

    HMAC(EVP_sha256(), key, 32, (const unsigned char *)text, strlen(text), out, NULL);
    memcpy(key, out, 32);
}

static void sign(const struct auth *a, const struct credentials *c, const char *text,
                 char out[static 65])
{
    char first[300];
    unsigned char key[32] = {0};

    int n = snprintf(first, sizeof first, "AWS4%s", a->secret_key);
    HMAC(EVP_sha256(), first, n, (const unsigned char *)c->day, strlen(c->day), key, NULL);
    step(key, c->region);
    step(key, c->service);
    step(key, "aws4_request");
    step(key, text);
    buf_hex(key, sizeof key, out);
}

static const char *check_date(const char *date, const struct credentials *c)
{
    struct tm tm = {0};
    const char *end = date == NULL ? NULL : strptime(date, "%Y%m%dT%H%M%SZ", &tm);

    if (end == NULL || *end != '\0' || strncmp(date, c->day, 8) != 0)
        return "AccessDenied";
    long skew_s = (long)(timegm(&tm) - time(NULL));
    return labs(skew_s) > SKEW_MAX_S ? "RequestTimeTooSkewed" : NULL;
}

static const char *check_payload(const struct request *r, const char *declared)
{
    char hash[65];

    if (declared == NULL)
        return "InvalidRequest";
    if (strncmp(declared, "STREAMING-", 10) == 0)
        return "NotImplemented";
    if (strcmp(declared, "UNSIGNED-PAYLOAD") == 0)
        return NULL;
    sha256_hex(r->n_body > 0 ? r->body->data : "", r->n_body, hash);
    return strcmp(hash, declared) == 0 ? NULL : "XAmzContentSHA256Mismatch";
}

const char *auth_check(const struct auth *a, const struct request *r, struct buf *detail)
{
    struct credentials c = {0};
    const char *header = request_header(r, "authorization");
    const char *date = request_header(r, "x-amz-date");
    const char *payload = request_header(r, "x-amz-content-sha256");
    const char *token = request_header(r, "x-amz-security-token");

    if (header == NULL)
        return "AccessDenied";
    if (!parse(header, &c) || strcmp(c.region, a->region) != 0 || strcmp(c.service, "s3") != 0)
        return "AuthorizationHeaderMalformed";
    if (strcmp(c.key, a->access_key) != 0)
        return "InvalidAccessKeyId";
    if (a->session_token != NULL && (token == NULL || strcmp(token, a->session_token) != 0))
        return "InvalidToken";
    const char *code = check_date(date, &c);
    if (code != NULL)
        return code;
    struct unsigned_search search = {c.signed_headers, false};
    MHD_get_connection_values(r->connection, MHD_HEADER_KIND, look_for_unsigned, &search);
    if (search.found)
        return "AccessDenied";

    struct buf canonical = {0};
    buf_str(&canonical, r->method);
    buf_str(&canonical, "\n");
    canonical_path(&canonical, r);
    buf_str(&canonical, "\n");
    canonical_query(&canonical, r);
    buf_str(&canonical, "\n");
    canonical_headers(&canonical, r, c.signed_headers);
    buf_str(&canonical, "\n");
    buf_str(&canonical, c.signed_headers);
    buf_str(&canonical, "\n");
    buf_str(&canonical, payload != NULL ? payload : "");

    char hash[65];
    char text[512];
    char signature[65];
    sha256_hex(canonical.p, canonical.n, hash);
    snprintf(text, sizeof text, "AWS4-HMAC-SHA256\n%s\n%s/%s/%s/aws4_request\n%s", date, c.day,
             c.region, c.service, hash);
    sign(a, &c, text, signature);
    bool match = !canonical.failed && strcmp(signature, c.signature) == 0;
    if (!match) {
        buf_str(detail, text);
        buf_str(detail, "\n\n");
        buf_put(detail, canonical.p, canonical.n);
    }
    buf_fini(&canonical);
    return match ? check_payload(r, payload) : "SignatureDoesNotMatch";
}
