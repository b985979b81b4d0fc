#include "tests/target/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t request_now_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct request *request_new(int server, const char *raw)
{
    struct request *r = calloc(1, sizeof *r);
    size_t n_path = strcspn(raw, "?");

    if (r == NULL)
        return NULL;
    r->start_ns = request_now_ns(CLOCK_MONOTONIC);
    r->start_real_ns = request_now_ns(CLOCK_REALTIME);
    r->server = server;
    r->op = "OTHER";
    r->bucket = "";
    r->key = "";
    r->fault = "";
    r->raw_path = strndup(raw, n_path);
    r->raw_query = strdup(raw[n_path] == '?' ? raw + n_path + 1 : "");
    if (r->raw_path == NULL || r->raw_query == NULL) {
        request_free(r);
        return NULL;
    }
    return r;
}

void request_free(struct request *r)
{
    buf_fini(&r->reply.xml);
    blob_unref(r->reply.blob);
    blob_unref(r->body);
    free(r->raw_path);
    free(r->raw_query);
    free(r->target);
    free(r->query);
    free(r);
}

const char *request_header(const struct request *r, const char *name)
{
    return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

const char *request_param(const struct request *r, const char *name)
{
    for (size_t i = 0; i < r->n_params; i++)
        if (strcmp(r->params[i].name, name) == 0)
            return r->params[i].value;
    return NULL;
}

/* Decodes %XX in place; false: malformed, or the text has a NUL byte. */
static bool decode(char *s)
{
    char *to = s;

    for (; *s != '\0'; s++) {
        unsigned value = 0;
        if (*s != '%') {
            *to++ = *s;
            continue;
        }
        if (strspn(s + 1, "0123456789abcdefABCDEF") < 2 || sscanf(s + 1, "%2x", &value) != 1 ||
            value == 0)
            return false;
        *to++ = (char)value;
        s += 2;
    }
    *to = '\0';
    return true;
}

static bool parse_query(struct request *r)
{
    char *rest = r->query;

    while (rest != NULL) {
        char *item = strsep(&rest, "&");
        if (*item == '\0')
            continue;
        if (r->n_params == REQUEST_PARAMS_MAX)
            return false;
        char *value = strchr(item, '=');
        if (value != NULL)
            *value++ = '\0';
        else
            value = item + strlen(item);
        if (!decode(item) || !decode(value))
            return false;
        r->params[r->n_params++] = (struct request_param){item, value};
    }
    return true;
}

/* Returns the length of the bucket's name in a virtual host "bucket.domain[:port]"; 0: there is
 * none. */
static size_t virtual_bucket(const char *host, const char *domain)
{
    size_t n_domain = strlen(domain);
    size_t n_host = strcspn(host, ":");

    if (n_host <= n_domain + 1 || host[n_host - n_domain - 1] != '.' ||
        strncasecmp(host + n_host - n_domain, domain, n_domain) != 0)
        return 0;
    return n_host - n_domain - 1;
}

const char *request_parse(struct request *r, const char *domain)
{
    const char *host = request_header(r, "host");
    size_t n_bucket = host != NULL && domain != NULL ? virtual_bucket(host, domain) : 0;
    size_t n_path = strlen(r->raw_path);

    /* "bucket" NUL "key" NUL */
    r->target = malloc(n_bucket + n_path + 2);
    r->query = strdup(r->raw_query);
    if (r->target == NULL || r->query == NULL)
        return "InternalError";
    if (r->raw_path[0] != '/')
        return "InvalidURI";
    r->virtual_host = n_bucket > 0;
    if (r->virtual_host) {
        memcpy(r->target, host, n_bucket);
        r->target[n_bucket] = '\0';
        r->key = strcpy(r->target + n_bucket + 1, r->raw_path + 1);
    } else {
        strcpy(r->target, r->raw_path + 1);
        char *slash = strchr(r->target, '/');
        if (slash != NULL)
            *slash++ = '\0';
        r->key = slash != NULL ? slash : "";
    }
    r->bucket = r->target;
    if (!decode(r->target) || (*r->key != '\0' && !decode((char *)r->key)) || !parse_query(r))
        return "InvalidURI";
    return strlen(r->key) > 1024 ? "KeyTooLongError" : NULL;
}

void reply_header(struct reply *reply, const char *name, const char *fmt, ...)
{
    va_list args;

    if (reply->n_headers == REPLY_HEADERS_MAX)
        return;
    struct reply_header *h = &reply->headers[reply->n_headers++];
    h->name = name;
    va_start(args, fmt);
    vsnprintf(h->value, sizeof h->value, fmt, args);
    va_end(args);
}

static int status_of(const char *code)
{
    static const struct {
        const char *code;
        int status;
    } statuses[] = {
        {"AccessDenied", 403},
        {"InvalidAccessKeyId", 403},
        {"InvalidToken", 403},
        {"SignatureDoesNotMatch", 403},
        {"RequestTimeTooSkewed", 403},
        {"NoSuchBucket", 404},
        {"NoSuchKey", 404},
        {"NoSuchVersion", 404},
        {"NoSuchUpload", 404},
        {"NoSuchBucketPolicy", 404},
        {"NoSuchLifecycleConfiguration", 404},
        {"ObjectLockConfigurationNotFoundError", 404},
        {"NoSuchObjectLockConfiguration", 404},
        {"MethodNotAllowed", 405},
        {"BucketAlreadyOwnedByYou", 409},
        {"BucketNotEmpty", 409},
        {"InvalidBucketState", 409},
        {"MissingContentLength", 411},
        {"InvalidRange", 416},
        {"InternalError", 500},
        {"NotImplemented", 501},
        {"SlowDown", 503},
    };

    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (strcmp(statuses[i].code, code) == 0)
            return statuses[i].status;
    return 400;
}

void reply_error(struct reply *reply, const char *code, const char *message)
{
    buf_fini(&reply->xml);
    blob_unref(reply->blob);
    reply->blob = NULL;
    reply->n_objects = 0;
    reply->status = status_of(code);
    buf_str(&reply->xml, REPLY_PROLOG "<Error><Code>");
    buf_xml(&reply->xml, code);
    buf_str(&reply->xml, "</Code><Message>");
    buf_xml(&reply->xml, message);
    buf_str(&reply->xml, "</Message></Error>");
}

/* Decodes the references of XML text in place. */
static bool decode_xml(char *s)
{
    static const struct {
        const char *name;
        char c;
    } named[] = {{"lt;", '<'}, {"gt;", '>'}, {"amp;", '&'}, {"quot;", '"'}, {"apos;", '\''}};
    char *to = s;

    while (*s != '\0') {
        if (*s != '&') {
            *to++ = *s++;
            continue;
        }
        s++;
        if (*s == '#') {
            bool hex = s[1] == 'x';
            char *end = NULL;
            unsigned long c = strtoul(s + (hex ? 2 : 1), &end, hex ? 16 : 10);
            /* Beyond ASCII clients send UTF-8. */
            if (*end != ';' || c == 0 || c > 127)
                return false;
            *to++ = (char)c;
            s = end + 1;
            continue;
        }
        size_t i = 0;
        while (i < 5 && strncmp(s, named[i].name, strlen(named[i].name)) != 0)
            i++;
        if (i == 5)
            return false;
        *to++ = named[i].c;
        s += strlen(named[i].name);
    }
    *to = '\0';
    return true;
}

bool request_xml(char *text, void (*on_text)(void *user, const char *name, const char *text),
                 void *user)
{
    char *open[16];
    size_t depth = 0;
    char *content = text;
    char *p = strchr(text, '<');

    while (p != NULL) {
        char *end = strchr(p, '>');
        if (end == NULL)
            return false;
        *p = '\0';
        *end = '\0';
        char *name = p + 1;
        bool closes = *name == '/';
        bool empty = end[-1] == '/' && !closes;
        if (closes) {
            if (depth == 0 || strcmp(open[--depth], name + 1) != 0 || !decode_xml(content))
                return false;
            on_text(user, name + 1, content);
        } else if (*name != '?' && *name != '!') {
            name[strcspn(name, " \t\r\n/")] = '\0';
            if (empty)
                on_text(user, name, "");
            else if (depth == sizeof open / sizeof *open)
                return false;
            else
                open[depth++] = name;
        }
        content = end + 1;
        p = strchr(content, '<');
    }
    return depth == 0;
}

bool request_is(const struct request *r, const char *method)
{
    return strcmp(r->method, method) == 0;
}

char *request_text(const struct request *r)
{
    return strndup(r->n_body > 0 ? r->body->data : "", r->n_body);
}

bool reply_out_of_memory(struct reply *reply)
{
    reply_error(reply, "InternalError", "out of memory");
    return false;
}

static void on_field(void *user, const char *name, const char *text)
{
    struct request_document *d = user;

    if (strcmp(name, "Status") == 0)
        snprintf(d->status, sizeof d->status, "%s", text);
    else if (strcmp(name, "Mode") == 0)
        snprintf(d->mode, sizeof d->mode, "%s", text);
    else if (strcmp(name, "RetainUntilDate") == 0)
        snprintf(d->until, sizeof d->until, "%s", text);
}

bool request_document(struct request *r, struct request_document *d)
{
    char *text = request_text(r);
    bool ok = text != NULL && request_xml(text, on_field, d);

    free(text);
    if (!ok)
        reply_error(&r->reply, "MalformedXML", "The document is malformed.");
    return ok;
}
