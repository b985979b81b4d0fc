#include "tests/target/list.h"

#include "libcommon/rfc3339.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_KEYS 1000

struct listing {
    struct buf *xml;
    const char *prefix;
    size_t n_prefix;
    size_t max_keys;
    bool url; /* keys are URL-encoded */
};

static void put_key(const struct listing *l, const char *name, const char *key, size_t n)
{
    struct buf *xml = l->xml;
    char copy[1025];

    buf_printf(xml, "<%s>", name);
    if (l->url) {
        buf_percent(xml, key, n, true);
    } else {
        snprintf(copy, sizeof copy, "%.*s", (int)n, key);
        buf_xml(xml, copy);
    }
    buf_printf(xml, "</%s>", name);
}

static struct listing start(struct request *r, struct bucket *b, const char *root)
{
    const char *prefix = request_param(r, "prefix");
    const char *max_keys = request_param(r, "max-keys");
    const char *encoding = request_param(r, "encoding-type");
    struct listing l = {.xml = &r->reply.xml, .prefix = prefix != NULL ? prefix : ""};

    l.n_prefix = strlen(l.prefix);
    l.max_keys = max_keys != NULL ? (size_t)strtoul(max_keys, NULL, 10) : MAX_KEYS;
    if (l.max_keys > MAX_KEYS)
        l.max_keys = MAX_KEYS;
    l.url = encoding != NULL && strcmp(encoding, "url") == 0;
    r->reply.status = 200;
    buf_printf(l.xml, REPLY_PROLOG "<%s" REPLY_NS "><Name>%s</Name>", root, b->name);
    put_key(&l, "Prefix", l.prefix, l.n_prefix);
    buf_printf(l.xml, "<MaxKeys>%zu</MaxKeys>", l.max_keys);
    if (l.url)
        buf_str(l.xml, "<EncodingType>url</EncodingType>");
    return l;
}

static void finish(const struct listing *l, const char *root, bool truncated)
{
    buf_printf(l->xml, "<IsTruncated>%s</IsTruncated></%s>", truncated ? "true" : "false", root);
}

/* Whether a fault leaves the object out. */
static bool is_hidden(const struct request *r, const struct object *o)
{
    size_t n = strlen(o->key);

    return r->plan.hide != NULL && n > 0 && strchr(r->plan.hide, o->key[n - 1]) != NULL;
}

/* Writes the elements of a version that both kinds of lists have. */
static void put_version(const struct listing *l, const char *key, const struct version *v)
{
    put_key(l, "Key", key, strlen(key));
    buf_printf(l->xml, "<LastModified>%s</LastModified>", rfc3339_format(v->time_s * 1000000000).s);
    if (!v->is_marker)
        buf_printf(l->xml,
                   "<ETag>&quot;%s&quot;</ETag><Size>%zu</Size><StorageClass>%s</StorageClass>",
                   v->etag, v->blob->size, v->storage_class[0] ? v->storage_class : "STANDARD");
}

/* Returns the index of the first object from i on that does not begin with the n bytes at
 * prefix. */
static size_t after_prefix(const struct bucket *b, size_t i, const char *prefix, size_t n)
{
    while (i < b->n_objects && strncmp(b->objects[i]->key, prefix, n) == 0)
        i++;
    return i;
}

/* A continuation token is 'k' or 'p' (a key or a common prefix came last) and the hexadecimal
 * digits of the key or prefix. */
static void put_token(struct buf *xml, char kind, const char *key, size_t n)
{
    buf_printf(xml, "<NextContinuationToken>%c", kind);
    for (size_t i = 0; i < n; i++)
        buf_printf(xml, "%02x", (unsigned char)key[i]);
    buf_str(xml, "</NextContinuationToken>");
}

/* Finds the object to continue with after `token`; false: it is not one of our tokens. */
static bool resume(const struct bucket *b, const char *token, size_t *at)
{
    char key[1025];
    size_t n = strlen(token);

    if (n < 1 || n > 2049 || n % 2 == 0 || (token[0] != 'k' && token[0] != 'p') ||
        strspn(token + 1, "0123456789abcdef") != n - 1)
        return false;
    for (size_t i = 0; i < n / 2; i++) {
        unsigned value = 0;
        sscanf(token + 1 + 2 * i, "%2x", &value);
        key[i] = (char)value;
    }
    key[n / 2] = '\0';
    *at = store_from(b, key);
    if (token[0] == 'p')
        *at = after_prefix(b, *at, key, n / 2);
    else if (*at < b->n_objects && strcmp(b->objects[*at]->key, key) == 0)
        ++*at;
    return true;
}

void list_objects(struct request *r, struct bucket *b)
{
    struct listing l = start(r, b, "ListBucketResult");
    const char *delimiter = request_param(r, "delimiter");
    const char *after = request_param(r, "start-after");
    const char *token = request_param(r, "continuation-token");
    size_t i = store_from(b, l.prefix);
    size_t n_listed = 0;
    bool truncated = false;
    char last_kind = 'k';
    const char *last = "";
    size_t n_last = 0;

    if (token != NULL) {
        if (!resume(b, token, &i)) {
            reply_error(&r->reply, "InvalidArgument", "The continuation token is not valid.");
            return;
        }
    } else if (after != NULL && strcmp(after, l.prefix) >= 0) {
        i = store_from(b, after);
        if (i < b->n_objects && strcmp(b->objects[i]->key, after) == 0)
            i++;
    }
    while (i < b->n_objects && strncmp(b->objects[i]->key, l.prefix, l.n_prefix) == 0) {
        const struct object *o = b->objects[i];
        const char *cut =
            delimiter != NULL && *delimiter != '\0' ? strstr(o->key + l.n_prefix, delimiter) : NULL;
        if (o->latest->is_marker || is_hidden(r, o)) {
            i++;
            continue;
        }
        if (n_listed == l.max_keys) {
            truncated = true;
            break;
        }
        last = o->key;
        if (cut != NULL) {
            n_last = (size_t)(cut - o->key) + strlen(delimiter);
            last_kind = 'p';
            buf_str(l.xml, "<CommonPrefixes>");
            put_key(&l, "Prefix", o->key, n_last);
            buf_str(l.xml, "</CommonPrefixes>");
            i = after_prefix(b, i, o->key, n_last);
        } else {
            n_last = strlen(o->key);
            last_kind = 'k';
            buf_str(l.xml, "<Contents>");
            put_version(&l, o->key, o->latest);
            buf_str(l.xml, "</Contents>");
            i++;
        }
        n_listed++;
    }
    buf_printf(l.xml, "<KeyCount>%zu</KeyCount>", n_listed);
    if (truncated && n_listed > 0)
        put_token(l.xml, last_kind, last, n_last);
    r->reply.n_objects = n_listed;
    finish(&l, "ListBucketResult", truncated && n_listed > 0);
}

void list_versions(struct request *r, struct bucket *b)
{
    struct listing l = start(r, b, "ListVersionsResult");
    const char *key_marker = request_param(r, "key-marker");
    const char *id_marker = request_param(r, "version-id-marker");
    size_t i = store_from(b, l.prefix);
    const struct version *v = NULL;
    const char *last_id = NULL;
    const char *last_key = "";
    size_t n_listed = 0;
    bool truncated = false;

    if (key_marker != NULL && *key_marker != '\0' && strcmp(key_marker, l.prefix) >= 0) {
        i = store_from(b, key_marker);
        if (i < b->n_objects && strcmp(b->objects[i]->key, key_marker) == 0) {
            /* If the marked version was deleted meanwhile, list all that is left of the key. */
            const struct version *marked =
                id_marker != NULL ? store_version(b->objects[i], id_marker) : NULL;
            v = marked != NULL ? marked->older : NULL;
            i += v == NULL && (marked != NULL || id_marker == NULL);
        }
    }
    for (; i < b->n_objects && !truncated; i++, v = NULL) {
        const struct object *o = b->objects[i];
        if (strncmp(o->key, l.prefix, l.n_prefix) != 0)
            break;
        if (is_hidden(r, o))
            continue;
        for (v = v != NULL ? v : o->latest; v != NULL; v = v->older) {
            if (n_listed == l.max_keys) {
                truncated = true;
                break;
            }
            const char *element = v->is_marker ? "DeleteMarker" : "Version";
            buf_printf(l.xml, "<%s>", element);
            put_version(&l, o->key, v);
            buf_printf(l.xml, "<VersionId>%s</VersionId><IsLatest>%s</IsLatest></%s>", v->id,
                       v == o->latest ? "true" : "false", element);
            last_key = o->key;
            last_id = v->id;
            n_listed++;
        }
    }
    truncated = truncated && last_id != NULL;
    if (truncated) {
        put_key(&l, "NextKeyMarker", last_key, strlen(last_key));
        buf_printf(l.xml, "<NextVersionIdMarker>%s</NextVersionIdMarker>", last_id);
    }
    r->reply.n_objects = n_listed;
    finish(&l, "ListVersionsResult", truncated);
}

void list_uploads(struct request *r, struct bucket *b)
{
    struct listing l = start(r, b, "ListMultipartUploadsResult");
    const char *marker = request_param(r, "upload-id-marker");
    const struct upload *u = b->uploads;
    const struct upload *last = NULL;
    size_t n_listed = 0;

    for (; marker != NULL && u != NULL && strcmp(u->id, marker) != 0; u = u->next)
        ;
    u = marker != NULL && u != NULL ? u->next : u;
    /* Uploads come in the order of our own list, so the id marker is enough to continue. */
    for (; u != NULL && n_listed < l.max_keys; u = u->next) {
        if (strncmp(u->key, l.prefix, l.n_prefix) != 0)
            continue;
        buf_str(l.xml, "<Upload>");
        put_key(&l, "Key", u->key, strlen(u->key));
        buf_printf(l.xml, "<UploadId>%s</UploadId><Initiated>%s</Initiated></Upload>", u->id,
                   rfc3339_format(u->time_s * 1000000000).s);
        last = u;
        n_listed++;
    }
    if (u != NULL && last != NULL) {
        put_key(&l, "NextKeyMarker", last->key, strlen(last->key));
        buf_printf(l.xml, "<NextUploadIdMarker>%s</NextUploadIdMarker>", last->id);
    }
    r->reply.n_objects = n_listed;
    finish(&l, "ListMultipartUploadsResult", u != NULL && last != NULL);
}
