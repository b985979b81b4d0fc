#include "tests/target/object.h"

#include "libcommon/rfc3339.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void base64(const unsigned char *bytes, size_t n, char *out)
{
    EVP_EncodeBlock((unsigned char *)out, bytes, (int)n);
}

static void no_such_key(struct reply *reply, const char *version_id)
{
    if (version_id != NULL)
        reply_error(reply, "NoSuchVersion", "The specified version does not exist.");
    else
        reply_error(reply, "NoSuchKey", "The specified key does not exist.");
}

static void describe(struct reply *reply, const struct bucket *b, const struct version *v)
{
    char date[64];
    struct tm tm;
    time_t t = (time_t)v->time_s;

    gmtime_r(&t, &tm);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    reply_header(reply, "Last-Modified", "%s", date);
    reply_header(reply, "ETag", "\"%s\"", v->etag);
    reply_header(reply, "Accept-Ranges", "bytes");
    reply_header(reply, "Content-Type", "application/octet-stream");
    if (b->versioning != VERSIONING_OFF)
        reply_header(reply, "x-amz-version-id", "%s", v->id);
    if (v->sse_s3)
        reply_header(reply, "x-amz-server-side-encryption", "AES256");
    if (v->sse_c_key_md5[0] != '\0')
        reply_header(reply, "x-amz-server-side-encryption-customer-key-md5", "%s",
                     v->sse_c_key_md5);
    if (v->storage_class[0] != '\0')
        reply_header(reply, "x-amz-storage-class", "%s", v->storage_class);
}

/* Reads the header Range of a request for an object of `size` bytes: bytes=A-B, bytes=A- or
 * bytes=-N. Without a range the reply is the whole object. */
static bool range(struct request *r, size_t size)
{
    struct reply *reply = &r->reply;
    const char *text = request_header(r, "range");
    unsigned long long from = 0;
    unsigned long long to = 0;
    int n = 0;

    reply->status = 200;
    reply->offset = 0;
    reply->length = size;
    if (text == NULL || strncmp(text, "bytes=", 6) != 0)
        return true;
    text += 6;
    if (sscanf(text, "%llu-%llu%n", &from, &to, &n) == 2 && text[n] == '\0' && text[0] != '-') {
        if (from > to)
            return true; /* RFC 9110: ignore a malformed range */
    } else if (sscanf(text, "%llu-%n", &from, &n) == 1 && n > 0 && text[n] == '\0') {
        to = size - 1;
    } else if (text[0] == '-' && sscanf(text + 1, "%llu%n", &to, &n) == 1 && text[1 + n] == '\0') {
        from = to < size ? size - to : 0;
        if (to == 0)
            from = size;
        to = size - 1;
    } else {
        return true;
    }
    if (from >= size) {
        reply_error(reply, "InvalidRange", "The requested range is not satisfiable");
        return false;
    }
    if (to >= size)
        to = size - 1;
    reply->status = 206;
    reply->offset = (size_t)from;
    reply->length = (size_t)(to - from + 1);
    reply_header(reply, "Content-Range", "bytes %llu-%llu/%zu", from, to, size);
    return true;
}

void object_get(struct request *r, struct bucket *b)
{
    const char *id = request_param(r, "versionId");
    const char *key_md5 = request_header(r, "x-amz-server-side-encryption-customer-key-md5");
    struct object *o = store_object(b, r->key);
    struct version *v = o == NULL ? NULL : store_version(o, id);

    if (v == NULL || (v->is_marker && id == NULL)) {
        no_such_key(&r->reply, v == NULL ? id : NULL);
        if (v != NULL)
            reply_header(&r->reply, "x-amz-delete-marker", "true");
        return;
    }
    if (v->is_marker) {
        reply_error(&r->reply, "MethodNotAllowed", "The version is a delete marker.");
        return;
    }
    if (strcmp(v->sse_c_key_md5, key_md5 != NULL ? key_md5 : "") != 0) {
        reply_error(&r->reply, "InvalidRequest",
                    "The object was stored with another or no key of the customer.");
        return;
    }
    if (!range(r, v->blob->size))
        return;
    describe(&r->reply, b, v);
    r->reply.blob = blob_ref(v->blob);
    r->reply.n_objects = 1;
}

/* Copies a header of a PUT, or of the start of a multipart upload. */
static void copy_header(const struct request *r, const char *name, char *dst, size_t size)
{
    const char *value = request_header(r, name);

    snprintf(dst, size, "%s", value != NULL ? value : "");
}

struct version *object_new_version(const struct request *r, struct blob *blob)
{
    struct version *v = calloc(1, sizeof *v);

    if (v == NULL)
        return NULL;
    v->time_s = time(NULL);
    v->blob = blob_ref(blob);
    v->sse_s3 = request_header(r, "x-amz-server-side-encryption") != NULL;
    copy_header(r, "x-amz-server-side-encryption-customer-key-md5", v->sse_c_key_md5,
                sizeof v->sse_c_key_md5);
    copy_header(r, "x-amz-storage-class", v->storage_class, sizeof v->storage_class);
    return v;
}

struct blob *object_blob(struct request *r)
{
    struct blob *blob = r->body != NULL ? blob_ref(r->body) : blob_new(0);
    const char *declared = request_header(r, "content-md5");
    char md5[32];

    if (blob == NULL) {
        reply_out_of_memory(&r->reply);
        return NULL;
    }
    EVP_Digest(blob->data, blob->size, blob->md5, NULL, EVP_md5(), NULL);
    base64(blob->md5, sizeof blob->md5, md5);
    if (declared != NULL && strcmp(declared, md5) != 0) {
        reply_error(&r->reply, "BadDigest", "The Content-MD5 is not that of the body.");
        blob_unref(blob);
        return NULL;
    }
    return blob;
}

bool object_store(struct store *s, struct request *r, struct bucket *b, struct version *v)
{
    if (!store_put(s, b, r->key, v))
        return reply_out_of_memory(&r->reply);
    r->reply.status = 200;
    r->reply.n_objects = 1;
    if (b->versioning != VERSIONING_OFF)
        reply_header(&r->reply, "x-amz-version-id", "%s", v->id);
    return true;
}

void object_put(struct store *s, struct request *r, struct bucket *b, struct blob *blob)
{
    struct version *v = object_new_version(r, blob);

    if (v == NULL) {
        reply_out_of_memory(&r->reply);
        return;
    }
    buf_hex(blob->md5, sizeof blob->md5, v->etag);
    if (object_store(s, r, b, v))
        reply_header(&r->reply, "ETag", "\"%s\"", v->etag);
}

static bool retained(const struct request *r, const struct version *v)
{
    const char *bypass = request_header(r, "x-amz-bypass-governance-retention");

    if (v->retain_mode[0] == '\0' || v->retain_until_s <= time(NULL))
        return false;
    return strcmp(v->retain_mode, "COMPLIANCE") == 0 || bypass == NULL ||
           strcasecmp(bypass, "true") != 0;
}

struct deleted {
    const char *error; /* code; NULL: done */
    bool is_marker;    /* a delete marker was made or removed */
    char marker_id[20];
};

/* Deletes a key or one version of it. A key or version that does not exist counts as deleted. */
static struct deleted delete_one(struct store *s, const struct request *r, struct bucket *b,
                                 const char *key, const char *id)
{
    struct deleted d = {0};
    struct object *o = store_object(b, key);
    struct version *v = o == NULL ? NULL : store_version(o, id);

    if (id == NULL && b->versioning != VERSIONING_OFF) {
        struct version *marker = calloc(1, sizeof *marker);
        if (marker == NULL) {
            d.error = "InternalError";
            return d;
        }
        marker->is_marker = true;
        marker->time_s = time(NULL);
        if (!store_put(s, b, key, marker)) {
            d.error = "InternalError";
            return d;
        }
        d.is_marker = true;
        strcpy(d.marker_id, marker->id);
        return d;
    }
    if (v == NULL)
        return d;
    if (retained(r, v)) {
        d.error = "AccessDenied";
        return d;
    }
    d.is_marker = v->is_marker;
    strcpy(d.marker_id, v->id);
    store_drop(b, key, v);
    return d;
}

void object_delete(struct store *s, struct request *r, struct bucket *b)
{
    const char *id = request_param(r, "versionId");
    struct deleted d = delete_one(s, r, b, r->key, id);

    if (d.error != NULL) {
        reply_error(&r->reply, d.error, "The object is protected by retention.");
        return;
    }
    r->reply.status = 204;
    r->reply.n_objects = 1;
    if (d.is_marker)
        reply_header(&r->reply, "x-amz-delete-marker", "true");
    if (d.is_marker || id != NULL)
        reply_header(&r->reply, "x-amz-version-id", "%s", d.is_marker ? d.marker_id : id);
}

struct batch {
    struct store *s;
    struct request *r;
    struct bucket *b;
    const char *key;
    const char *id;
    bool quiet;
    size_t n;
};

static void on_delete(void *user, const char *name, const char *text)
{
    struct batch *batch = user;
    struct buf *xml = &batch->r->reply.xml;

    if (strcmp(name, "Quiet") == 0)
        batch->quiet = strcmp(text, "true") == 0;
    else if (strcmp(name, "Key") == 0)
        batch->key = text;
    else if (strcmp(name, "VersionId") == 0)
        batch->id = text;
    if (strcmp(name, "Object") != 0 || batch->key == NULL)
        return;

    struct deleted d = delete_one(batch->s, batch->r, batch->b, batch->key, batch->id);
    batch->n++;
    batch->r->reply.n_objects += d.error == NULL;
    if (d.error != NULL || !batch->quiet) {
        const char *element = d.error != NULL ? "Error" : "Deleted";
        buf_printf(xml, "<%s>", element);
        buf_element(xml, "Key", batch->key);
        if (batch->id != NULL)
            buf_element(xml, "VersionId", batch->id);
        if (d.error != NULL) {
            buf_element(xml, "Code", d.error);
            buf_element(xml, "Message", "The object is protected by retention.");
        } else if (d.is_marker) {
            buf_element(xml, "DeleteMarker", "true");
            buf_element(xml, "DeleteMarkerVersionId", d.marker_id);
        }
        buf_printf(xml, "</%s>", element);
    }
    batch->key = NULL;
    batch->id = NULL;
}

void object_delete_batch(struct store *s, struct request *r, struct bucket *b)
{
    struct batch batch = {.s = s, .r = r, .b = b};
    char *text = request_text(r);

    if (request_header(r, "content-md5") == NULL &&
        request_header(r, "x-amz-sdk-checksum-algorithm") == NULL) {
        free(text);
        reply_error(&r->reply, "InvalidRequest", "Content-MD5 is missing.");
        return;
    }
    r->reply.status = 200;
    buf_str(&r->reply.xml, REPLY_PROLOG "<DeleteResult" REPLY_NS ">");
    bool ok = text != NULL && request_xml(text, on_delete, &batch);
    buf_str(&r->reply.xml, "</DeleteResult>");
    free(text);
    if (!ok || batch.n == 0 || batch.n > 1000)
        reply_error(&r->reply, "MalformedXML", "The list of objects to delete is malformed.");
}

void object_retention(struct request *r, struct bucket *b)
{
    const char *id = request_param(r, "versionId");
    struct object *o = store_object(b, r->key);
    struct version *v = o == NULL ? NULL : store_version(o, id);
    struct request_document d = {0};
    int64_t until_ns = 0;

    if (!b->object_lock) {
        reply_error(&r->reply, "InvalidRequest", "The bucket has no object lock.");
    } else if (v == NULL || v->is_marker) {
        no_such_key(&r->reply, id);
    } else if (request_is(r, "GET")) {
        if (v->retain_mode[0] == '\0') {
            reply_error(&r->reply, "NoSuchObjectLockConfiguration", "No retention.");
            return;
        }
        r->reply.status = 200;
        buf_str(&r->reply.xml, REPLY_PROLOG "<Retention" REPLY_NS ">");
        buf_element(&r->reply.xml, "Mode", v->retain_mode);
        buf_element(&r->reply.xml, "RetainUntilDate",
                    rfc3339_format(v->retain_until_s * 1000000000).s);
        buf_str(&r->reply.xml, "</Retention>");
    } else if (request_document(r, &d)) {
        if ((strcmp(d.mode, "GOVERNANCE") != 0 && strcmp(d.mode, "COMPLIANCE") != 0) ||
            !rfc3339_parse(d.until, strlen(d.until), &until_ns)) {
            reply_error(&r->reply, "MalformedXML", "The retention is malformed.");
        } else if (until_ns / 1000000000 < v->retain_until_s && retained(r, v)) {
            reply_error(&r->reply, "AccessDenied", "The retention cannot be shortened.");
        } else {
            strcpy(v->retain_mode, d.mode);
            v->retain_until_s = until_ns / 1000000000;
            r->reply.status = 200;
            r->reply.n_objects = 1;
        }
    }
}
