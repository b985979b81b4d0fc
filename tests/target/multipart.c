#include "tests/target/multipart.h"

#include "tests/target/object.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void multipart_initiate(struct store *s, struct request *r, struct bucket *b)
{
    struct upload *u = store_start_upload(s, b, r->key);

    if (u == NULL) {
        reply_out_of_memory(&r->reply);
        return;
    }
    r->reply.status = 200;
    buf_str(&r->reply.xml, REPLY_PROLOG "<InitiateMultipartUploadResult" REPLY_NS ">");
    buf_element(&r->reply.xml, "Bucket", b->name);
    buf_element(&r->reply.xml, "Key", r->key);
    buf_element(&r->reply.xml, "UploadId", u->id);
    buf_str(&r->reply.xml, "</InitiateMultipartUploadResult>");
}

static void put_part(struct request *r, struct upload *u, struct blob *blob)
{
    const char *number = request_param(r, "partNumber");
    int n = number != NULL ? atoi(number) : 0;
    char etag[40];

    if (n < 1 || n > 10000) {
        reply_error(&r->reply, "InvalidArgument", "Part numbers are 1 to 10000.");
        return;
    }
    if (!upload_put(u, n, blob)) {
        reply_out_of_memory(&r->reply);
        return;
    }
    buf_hex(blob->md5, sizeof blob->md5, etag);
    reply_header(&r->reply, "ETag", "\"%s\"", etag);
    r->reply.status = 200;
    r->reply.n_objects = 1;
}

struct completion {
    const struct upload *u;
    int number;
    char etag[64];
    int last;
    size_t n_parts;
    bool bad;
};

/* Handles an element of the request that completes an upload. Each part must exist, in order, with
 * its ETag; the request must name all uploaded parts. */
static void on_part(void *user, const char *name, const char *text)
{
    struct completion *c = user;

    if (strcmp(name, "PartNumber") == 0) {
        c->number = atoi(text);
    } else if (strcmp(name, "ETag") == 0) {
        size_t quote = text[0] == '"';
        snprintf(c->etag, sizeof c->etag, "%.*s", (int)strcspn(text + quote, "\""), text + quote);
    } else if (strcmp(name, "Part") == 0) {
        char etag[40] = "";
        for (size_t i = 0; i < c->u->n_parts; i++)
            if (c->u->parts[i].number == c->number)
                buf_hex(c->u->parts[i].blob->md5, 16, etag);
        c->bad = c->bad || c->number <= c->last || strcmp(etag, c->etag) != 0;
        c->last = c->number;
        c->n_parts++;
    }
}

static void complete(struct store *s, struct request *r, struct bucket *b, struct upload *u)
{
    struct completion c = {.u = u};
    char *text = request_text(r);
    bool ok = text != NULL && request_xml(text, on_part, &c);
    size_t size = 0;
    size_t n = 0;

    free(text);
    if (!ok || c.bad || c.n_parts == 0 || c.n_parts != u->n_parts) {
        reply_error(&r->reply, ok ? "InvalidPart" : "MalformedXML", "The parts do not match.");
        return;
    }
    for (size_t i = 0; i < u->n_parts; i++)
        size += u->parts[i].blob->size;
    struct blob *blob = blob_new(size);
    unsigned char *sums = malloc(16 * u->n_parts);
    struct version *v = blob != NULL && sums != NULL ? object_new_version(r, blob) : NULL;
    if (v != NULL) {
        for (size_t i = 0; i < u->n_parts; i++) {
            const struct blob *part = u->parts[i].blob;
            memcpy(blob->data + n, part->data, part->size);
            memcpy(sums + 16 * i, part->md5, 16);
            n += part->size;
        }
        EVP_Digest(sums, 16 * u->n_parts, blob->md5, NULL, EVP_md5(), NULL);
        buf_hex(blob->md5, sizeof blob->md5, v->etag);
        snprintf(v->etag + 32, sizeof v->etag - 32, "-%zu", u->n_parts);
        if (object_store(s, r, b, v)) {
            buf_str(&r->reply.xml, REPLY_PROLOG "<CompleteMultipartUploadResult" REPLY_NS ">");
            buf_element(&r->reply.xml, "Bucket", b->name);
            buf_element(&r->reply.xml, "Key", r->key);
            buf_element(&r->reply.xml, "ETag", v->etag);
            buf_str(&r->reply.xml, "</CompleteMultipartUploadResult>");
            store_end_upload(b, u);
        }
    } else {
        reply_out_of_memory(&r->reply);
    }
    blob_unref(blob);
    free(sums);
}

void multipart_handle(struct store *s, struct request *r, struct bucket *b, struct blob *blob)
{
    struct upload *u = store_upload(b, r->key, request_param(r, "uploadId"));

    if (u == NULL) {
        reply_error(&r->reply, "NoSuchUpload", "The upload does not exist.");
    } else if (request_is(r, "PUT")) {
        put_part(r, u, blob);
    } else if (request_is(r, "POST")) {
        complete(s, r, b, u);
    } else if (request_is(r, "DELETE")) {
        store_end_upload(b, u);
        r->reply.status = 204;
    } else {
        reply_error(&r->reply, "NotImplemented", "The target does not know this request.");
    }
}
