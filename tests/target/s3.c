#include "tests/target/s3.h"

#include "tests/target/list.h"
#include "tests/target/multipart.h"
#include "tests/target/object.h"

#include <stdlib.h>
#include <string.h>

static bool has(const struct request *r, const char *param)
{
    return request_param(r, param) != NULL;
}

const char *s3_op(const struct request *r)
{
    if (*r->key == '\0') {
        if (request_is(r, "GET") && has(r, "versions"))
            return "LISTVERSIONS";
        if (request_is(r, "GET") && has(r, "list-type"))
            return "LIST";
        if (request_is(r, "GET") && has(r, "uploads"))
            return "LISTUPLOADS";
        return request_is(r, "POST") && has(r, "delete") ? "DELETE" : "BUCKET";
    }
    if (has(r, "retention"))
        return "RETENTION";
    if (has(r, "uploads"))
        return "INITIATE";
    if (has(r, "uploadId"))
        return request_is(r, "PUT") ? "PUTPART" : request_is(r, "POST") ? "COMPLETE" : "ABORT";
    return request_is(r, "HEAD") ? "STAT" : r->method;
}

static bool good_bucket_name(const char *name)
{
    size_t n = strlen(name);

    /* Ceph has tenant:bucket. */
    return n >= 3 && n <= 63 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-:") == n;
}

static void put_bucket(struct s3 *s, struct request *r, struct bucket *b)
{
    const char *lock = request_header(r, "x-amz-bucket-object-lock-enabled");

    if (b != NULL) {
        reply_error(&r->reply, "BucketAlreadyOwnedByYou", "The bucket exists.");
    } else if (!good_bucket_name(r->bucket)) {
        reply_error(&r->reply, "InvalidBucketName", "The name is not valid.");
    } else if ((b = store_create(&s->store, r->bucket)) == NULL) {
        reply_out_of_memory(&r->reply);
    } else {
        b->object_lock = lock != NULL && strcasecmp(lock, "true") == 0;
        b->versioning = b->object_lock ? VERSIONING_ENABLED : VERSIONING_OFF;
        reply_header(&r->reply, "Location", "/%s", b->name);
        r->reply.status = 200;
    }
}

static void versioning(struct request *r, struct bucket *b)
{
    struct request_document d = {0};
    static const char *const names[] = {"", "Enabled", "Suspended"};

    if (request_is(r, "GET")) {
        buf_str(&r->reply.xml, REPLY_PROLOG "<VersioningConfiguration" REPLY_NS ">");
        if (b->versioning != VERSIONING_OFF)
            buf_element(&r->reply.xml, "Status", names[b->versioning]);
        buf_str(&r->reply.xml, "</VersioningConfiguration>");
        r->reply.status = 200;
    } else if (request_document(r, &d)) {
        bool enabled = strcmp(d.status, "Enabled") == 0;
        if (!enabled && strcmp(d.status, "Suspended") != 0) {
            reply_error(&r->reply, "MalformedXML", "Status is Enabled or Suspended.");
        } else if (!enabled && b->object_lock) {
            reply_error(&r->reply, "InvalidBucketState", "Object lock needs versioning.");
        } else {
            b->versioning = enabled ? VERSIONING_ENABLED : VERSIONING_SUSPENDED;
            r->reply.status = 200;
        }
    }
}

/* Handles a policy or a lifecycle, which are only stored. */
static void document(struct request *r, char **kept, const char *missing)
{
    if (request_is(r, "GET") && *kept == NULL) {
        reply_error(&r->reply, missing, "There is none.");
    } else if (request_is(r, "GET")) {
        buf_str(&r->reply.xml, *kept);
        r->reply.status = 200;
    } else {
        free(*kept);
        *kept = request_is(r, "PUT") ? request_text(r) : NULL;
        r->reply.status = request_is(r, "PUT") ? 200 : 204;
    }
}

static void list_buckets(struct s3 *s, struct reply *reply)
{
    buf_str(&reply->xml, REPLY_PROLOG "<ListAllMyBucketsResult" REPLY_NS "><Buckets>");
    for (struct bucket *b = s->store.buckets; b != NULL; b = b->next) {
        buf_str(&reply->xml, "<Bucket>");
        buf_element(&reply->xml, "Name", b->name);
        buf_str(&reply->xml, "</Bucket>");
    }
    buf_str(&reply->xml, "</Buckets></ListAllMyBucketsResult>");
    reply->status = 200;
}

static void get_bucket(struct s3 *s, struct request *r, struct bucket *b)
{
    if (has(r, "versioning")) {
        versioning(r, b);
    } else if (has(r, "versions")) {
        list_versions(r, b);
    } else if (has(r, "list-type")) {
        list_objects(r, b);
    } else if (has(r, "location")) {
        buf_str(&r->reply.xml, REPLY_PROLOG "<LocationConstraint" REPLY_NS ">");
        buf_xml(&r->reply.xml, s->auth.region);
        buf_str(&r->reply.xml, "</LocationConstraint>");
        r->reply.status = 200;
    } else if (has(r, "object-lock") && b->object_lock) {
        buf_str(&r->reply.xml,
                REPLY_PROLOG "<ObjectLockConfiguration" REPLY_NS "><ObjectLockEnabled>Enabled"
                             "</ObjectLockEnabled></ObjectLockConfiguration>");
        r->reply.status = 200;
    } else if (has(r, "object-lock")) {
        reply_error(&r->reply, "ObjectLockConfigurationNotFoundError", "There is no object lock.");
    } else if (has(r, "uploads")) {
        list_uploads(r, b);
    } else {
        reply_error(&r->reply, "NotImplemented", "The target does not know this request.");
    }
}

static void handle_bucket(struct s3 *s, struct request *r, struct bucket *b)
{
    if (b != NULL && has(r, "policy")) {
        document(r, &b->policy, "NoSuchBucketPolicy");
    } else if (b != NULL && has(r, "lifecycle")) {
        document(r, &b->lifecycle, "NoSuchLifecycleConfiguration");
    } else if (request_is(r, "PUT") && !has(r, "versioning")) {
        put_bucket(s, r, b);
    } else if (b == NULL) {
        reply_error(&r->reply, "NoSuchBucket", "The specified bucket does not exist.");
    } else if (request_is(r, "PUT")) {
        versioning(r, b);
    } else if (request_is(r, "GET")) {
        get_bucket(s, r, b);
    } else if (request_is(r, "HEAD")) {
        r->reply.status = 200;
    } else if (request_is(r, "POST") && has(r, "delete") && s->refuses_batches) {
        reply_error(&r->reply, "NotImplemented", "The target was told to know no batches.");
    } else if (request_is(r, "POST") && has(r, "delete")) {
        object_delete_batch(&s->store, r, b);
    } else if (request_is(r, "DELETE") && b->n_objects > 0) {
        reply_error(&r->reply, "BucketNotEmpty", "The bucket is not empty.");
    } else if (request_is(r, "DELETE")) {
        store_remove(&s->store, b);
        r->reply.status = 204;
    } else {
        reply_error(&r->reply, "NotImplemented", "The target does not know this request.");
    }
}

static void handle_object(struct s3 *s, struct request *r, struct bucket *b, struct blob *blob)
{
    if (b == NULL)
        reply_error(&r->reply, "NoSuchBucket", "The specified bucket does not exist.");
    else if (has(r, "retention") && (request_is(r, "GET") || request_is(r, "PUT")))
        object_retention(r, b);
    else if (request_is(r, "POST") && has(r, "uploads"))
        multipart_initiate(&s->store, r, b);
    else if (has(r, "uploadId"))
        multipart_handle(&s->store, r, b, blob);
    else if (request_is(r, "GET") || request_is(r, "HEAD"))
        object_get(r, b);
    else if (request_is(r, "PUT") && request_header(r, "x-amz-copy-source") == NULL)
        object_put(&s->store, r, b, blob);
    else if (request_is(r, "DELETE"))
        object_delete(&s->store, r, b);
    else
        reply_error(&r->reply, "NotImplemented", "The target does not know this request.");
}

void s3_handle(struct s3 *s, struct request *r)
{
    struct buf detail = {0};
    const char *code = r->refused != NULL ? r->refused : auth_check(&s->auth, r, &detail);

    if (code != NULL) {
        reply_error(&r->reply, code, detail.n > 0 ? detail.p : "The request is refused.");
        buf_fini(&detail);
        return;
    }

    /* Compute digests outside the lock. */
    struct blob *blob = object_blob(r);
    if (blob == NULL)
        return;
    pthread_mutex_lock(&s->store.lock);
    if (*r->bucket == '\0' && request_is(r, "GET")) {
        list_buckets(s, &r->reply);
    } else if (*r->bucket == '\0') {
        reply_error(&r->reply, "NotImplemented", "The target does not know this request.");
    } else {
        struct bucket *b = store_bucket(&s->store, r->bucket);
        if (*r->key == '\0')
            handle_bucket(s, r, b);
        else
            handle_object(s, r, b, blob);
    }
    pthread_mutex_unlock(&s->store.lock);
    blob_unref(blob);
    if (r->reply.xml.failed) {
        r->reply.xml.failed = false;
        reply_out_of_memory(&r->reply);
    }
}
